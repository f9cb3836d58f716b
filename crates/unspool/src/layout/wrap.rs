//! Breaks a line of styled spans into lines of at most so many cells.
//!
//! [`wrap`] breaks where UAX #14 allows it and drops the blanks there; a word
//! that is longer than a line is cut at the column. [`cut`] breaks at the
//! column only. Both break between grapheme clusters, also where a cluster
//! reaches over the border of two spans, and both in one pass. `\n` in a span
//! ends a line in every case.
//!
//! Called by the other files of `layout`. The prefix of a line is theirs: the
//! widths given here are what is left beside it, for the first line and for
//! all others.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::doc::{Line, Span};
use crate::layout::width;

/// The room for the first line and for each of the others; none is endless.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) first: Option<usize>,
    pub(super) rest: Option<usize>,
}

impl Room {
    /// The same for all lines.
    pub(super) fn even(cells: Option<usize>) -> Self {
        Self {
            first: cells,
            rest: cells,
        }
    }
}

/// Breaks at words. Gives at least one line.
pub(super) fn wrap(line: &[Span], room: Room) -> Vec<Line> {
    if fits(line, room) {
        return vec![line.to_vec()];
    }
    let text = joined(line);
    let mut breaker = Breaker::new(&text, room, true);
    if room.first.is_some() {
        breaker.run(opportunities(&text));
    } else {
        breaker.run(std::iter::empty());
    }
    slice(line, &breaker.ranges)
}

/// Breaks at the column. Gives at least one line.
pub(super) fn cut(line: &[Span], room: Room) -> Vec<Line> {
    if fits(line, room) {
        return vec![line.to_vec()];
    }
    let text = joined(line);
    let mut breaker = Breaker::new(&text, room, false);
    breaker.run(std::iter::empty());
    slice(line, &breaker.ranges)
}

/// The cells of the widest part that [`wrap`] would not break.
pub(super) fn longest_word(line: &[Span]) -> usize {
    let text = joined(line);
    let mut start = 0;
    let mut longest = 0;
    for end in opportunities(&text).chain([text.len()]) {
        let word = text.get(start..end).unwrap_or_default();
        longest = longest.max(width::width(word.trim_end_matches([' ', '\n'])));
        start = end;
    }
    longest
}

/// The cells of the widest line between the line ends of a text.
pub(super) fn longest_line(line: &[Span]) -> usize {
    if line.iter().all(|span| !span.text.contains('\n')) {
        return width::of_line(line);
    }
    joined(line)
        .split('\n')
        .map(width::width)
        .max()
        .unwrap_or(0)
}

fn fits(line: &[Span], room: Room) -> bool {
    line.iter().all(|span| !span.text.contains('\n'))
        && room.first.is_none_or(|cells| {
            // No character takes more cells than bytes.
            line.iter().map(|span| span.text.len()).sum::<usize>() <= cells
                || width::of_line(line) <= cells
        })
}

fn joined(line: &[Span]) -> Cow<'_, str> {
    match line {
        [span] => Cow::Borrowed(&span.text),
        _ => line.iter().map(|span| span.text.as_str()).collect(),
    }
}

/// Where a line may be broken, ascending.
fn opportunities(text: &str) -> impl Iterator<Item = usize> {
    unicode_linebreak::linebreaks(text)
        .map(|(at, _)| at)
        .filter(|at| !is_after_leading_hyphen(text, *at) && !is_after_scheme(text, *at))
}

/// Whether a break would tear the hyphens off an option such as `--all`. This
/// is rule `LB20a` of Unicode 16, which `unicode-linebreak` does not know yet.
fn is_after_leading_hyphen(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let word = before.trim_end_matches('-');
    word.len() < before.len()
        && word
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || "([{\"'`".contains(c))
}

/// Whether a break would tear the scheme off an address.
fn is_after_scheme(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with("://"))
}

/// The state of breaking one text.
struct Breaker<'a> {
    text: &'a str,
    room: Room,
    /// Blanks may hang over the end of a line, where they are dropped.
    hang: bool,
    ranges: Vec<Range<usize>>,
    /// Where the open line starts, and how wide it is.
    start: usize,
    cells: usize,
    /// The last place where the open line can be broken, and its width there.
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
        if text.is_ascii() {
            for at in 0..text.len() {
                step(self, at, text.get(at..=at).unwrap_or_default());
            }
        } else {
            for (at, cluster) in text.grapheme_indices(true) {
                step(self, at, cluster);
            }
        }
        self.end_line(text.len());
    }

    /// Adds a cluster to the open line, after ending lines as needed.
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

    /// Adds a cluster that is wider than a line, character by character.
    fn place_parts(&mut self, at: usize, cluster: &str) {
        for (offset, character) in cluster.char_indices() {
            let cells = width::cluster(character.encode_utf8(&mut [0; 4]));
            self.make_room(at + offset, cells);
            self.cells += cells;
        }
    }

    /// Ends lines until there is room for what starts at `at`, or the open
    /// line is empty.
    fn make_room(&mut self, at: usize, cells: usize) {
        while self.overflows(cells) && self.start < at {
            match self.chance.take() {
                Some((chance, before)) if chance > self.start => {
                    self.end_line(chance);
                    self.restart(chance, self.cells - before);
                    if self.overflows(0) {
                        self.place_again(at);
                    }
                }
                _ => {
                    self.end_line(at);
                    self.restart(at, 0);
                }
            }
        }
    }

    /// Cuts a word that was carried to a line with less room than it had.
    fn place_again(&mut self, end: usize) {
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

/// The spans of each range of bytes; the ranges ascend.
fn slice(line: &[Span], ranges: &[Range<usize>]) -> Vec<Line> {
    let mut rest = line;
    let mut offset = 0;
    let mut lines = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut part = Line::new();
        while let Some((span, others)) = rest.split_first() {
            let end = offset + span.text.len();
            let from = range.start.clamp(offset, end) - offset;
            let to = range.end.clamp(offset, end) - offset;
            if let Some(text) = span.text.get(from..to).filter(|text| !text.is_empty()) {
                part.push(Span {
                    text: text.to_owned(),
                    style: span.style,
                    link: span.link.clone(),
                });
            }
            if range.end < end {
                break;
            }
            offset = end;
            rest = others;
        }
        lines.push(part);
    }
    lines
}
