//! The reference implementation of wrapping: cluster by cluster, with every
//! break that UAX #14 allows. Tests compare the optimised code with it.

use std::ops::Range;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Break, Room, opportunities, ranges};
use crate::doc::{Span, Style};
use crate::layout::width;

fn reference(text: &str, room: Room, breaks: Break) -> Vec<Range<usize>> {
    let mut breaker = Breaker::new(text, room, breaks == Break::AtWords);
    if breaks == Break::AtWords && room.first.is_some() {
        breaker.run(opportunities(text));
    } else {
        breaker.run(std::iter::empty());
    }
    breaker.ranges
}

/// Wraps one text.
struct Breaker<'a> {
    text: &'a str,
    room: Room,
    /// True if blanks may overflow a line, where they are dropped.
    hang: bool,
    ranges: Vec<Range<usize>>,
    /// The start and width of the open line.
    start: usize,
    cells: usize,
    /// The last break opportunity of the open line, and the width there.
    chance: Option<(usize, usize)>,
}

impl<'a> Breaker<'a> {
    fn new(text: &'a str, room: Room, hang: bool) -> Self {
        Self {
            text,
            room,
            hang,
            ranges: Vec::new(),
            start: 0,
            cells: 0,
            chance: None,
        }
    }

    fn run(&mut self, opportunities: impl Iterator<Item = usize>) {
        let text = self.text;
        let mut opportunities = opportunities.peekable();
        let mut step = |breaker: &mut Self, at: usize, cluster: &str| {
            while opportunities.next_if(|next| *next < at).is_some() {}
            if opportunities.next_if_eq(&at).is_some() {
                breaker.chance = Some((at, breaker.cells));
            }
            breaker.place(at, cluster);
        };
        for (at, cluster) in text.grapheme_indices(true) {
            step(self, at, cluster);
        }
        self.end_line(text.len());
    }

    /// Adds a cluster to the open line, ending lines as needed.
    fn place(&mut self, at: usize, cluster: &str) {
        if cluster == "\n" {
            self.end_line(at);
            self.restart(at + 1, 0);
            return;
        }
        let cells = width::cluster(cluster);
        if cluster == " " && self.hang {
            self.cells += cells;
            return;
        }
        self.make_room(at, cells);
        if self.overflows(cells) && cluster.chars().nth(1).is_some() {
            self.place_parts(at, cluster);
        } else {
            self.cells += cells;
        }
    }

    /// Adds a cluster wider than a line, character by character.
    fn place_parts(&mut self, at: usize, cluster: &str) {
        for (offset, character) in cluster.char_indices() {
            let cells = width::cluster(character.encode_utf8(&mut [0; 4]));
            self.make_room(at + offset, cells);
            self.cells += cells;
        }
    }

    /// Ends lines until the text at `at` fits or the open line is empty.
    fn make_room(&mut self, at: usize, cells: usize) {
        while self.overflows(cells) && self.start < at {
            match self.chance.take() {
                Some((chance, before)) if chance > self.start => {
                    self.end_line(chance);
                    self.restart(chance, self.cells - before);
                    if self.overflows(0) {
                        self.place_carried(at);
                    }
                }
                _ => {
                    self.end_line(at);
                    self.restart(at, 0);
                }
            }
        }
    }

    /// Places a word again that was carried to a narrower line.
    fn place_carried(&mut self, end: usize) {
        let start = self.start;
        self.restart(start, 0);
        let word = self.text.get(start..end).unwrap_or_default();
        for (offset, cluster) in word.grapheme_indices(true) {
            self.place(start + offset, cluster);
        }
    }

    fn overflows(&self, cells: usize) -> bool {
        let room = if self.ranges.is_empty() {
            self.room.first
        } else {
            self.room.rest
        };
        room.is_some_and(|room| self.cells + cells > room)
    }

    fn restart(&mut self, start: usize, cells: usize) {
        self.start = start;
        self.cells = cells;
        self.chance = None;
    }

    fn end_line(&mut self, end: usize) {
        let line = self.text.get(self.start..end).unwrap_or_default();
        let kept = if self.hang {
            line.trim_end_matches(' ')
        } else {
            line
        };
        self.ranges.push(self.start..self.start + kept.len());
    }
}

fn check(text: &str, room: Room) -> Result<(), TestCaseError> {
    let line = [Span::new(text, Style::default())];
    for breaks in [Break::AtWords, Break::Anywhere] {
        let mut found = Vec::new();
        ranges(&line, room, breaks, &mut found);
        prop_assert_eq!(
            found,
            reference(text, room, breaks),
            "{:?} {:?}",
            text,
            room
        );
    }
    Ok(())
}

#[test]
fn every_ascii_triple_breaks_like_the_reference() {
    let signs: Vec<char> = (' '..='~').filter(|c| !c.is_ascii_alphanumeric()).collect();
    let signs: Vec<char> = signs.into_iter().chain(['a', '7']).collect();
    for a in &signs {
        for b in &signs {
            for c in &signs {
                for text in [
                    format!("x {a}{b}{c} y"),
                    format!("{a} {b} {c}z"),
                    format!("{a}{b} {c}8"),
                ] {
                    for cells in 1..=text.len() {
                        check(&text, Room::even(Some(cells))).unwrap_or_else(|e| panic!("{e}"));
                    }
                }
            }
        }
    }
}

#[test]
fn no_line_ends_inside_a_cluster() {
    // UAX #14 allows a break between the sign and the emoji, which form one
    // cluster.
    let text = "http://aa.a.aa//a//aaaa aaa aaaa \u{600}👩\u{200D}👧%0A0";
    let room = Room {
        first: Some(10),
        rest: Some(4),
    };
    check(text, room).unwrap_or_else(|error| panic!("{error}"));
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,9} ",
        3 => "[ -~]{0,12}",
        1 => " {1,5}",
        1 => "-{1,4}[a-z]{1,4}",
        1 => "https?://[a-z.]{1,9}/[a-z/]{0,9}",
        1 => Just("\n".to_owned()),
        1 => prop::sample::select(&["漢字", "é", "…", "👩\u{200D}👧", "e\u{301}", "한국", "ｶﾞ", "🇩🇪", "— ", "“a”", "─", "❤\u{FE0F}",
            " \u{301}", "1\u{FE0F}\u{20E3}", "שלום-", "\u{600}", "（漢）", "。"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn optimised_wrapping_equals_the_reference(
        ascii in any::<bool>(),
        pieces in prop::collection::vec(piece(), 0..25),
        first in 1usize..40,
        rest in 1usize..40,
    ) {
        let mut text = pieces.concat();
        if ascii {
            text.retain(|c| c.is_ascii());
        }
        check(&text, Room { first: Some(first), rest: Some(rest) })?;
        check(&text, Room::even(None))?;
    }
}
