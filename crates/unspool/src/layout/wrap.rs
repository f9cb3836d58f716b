//! Wraps a line of styled spans to a width.
//!
//! [`Break::AtWords`] breaks where UAX #14 allows it and drops the blanks
//! there; a word longer than a line is cut at the column. [`Break::Anywhere`]
//! always breaks at the column. Both break only between grapheme clusters, even
//! if a cluster spans two spans, and take one pass. `\n` in a span always ends
//! a line. Lines that are mostly ASCII use a faster path with the same result.
//!
//! The callers in `layout` write the prefixes: the widths here exclude them,
//! and can differ between the first line and the others.

mod ascii;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::doc::{Line, Span};
use crate::layout::{Piece, width};

/// The width of the first line and of the others; `None` is unlimited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) first: Option<usize>,
    pub(super) rest: Option<usize>,
}

impl Room {
    /// Creates equal widths for all lines.
    pub(super) fn even(cells: Option<usize>) -> Self {
        Self {
            first: cells,
            rest: cells,
        }
    }

    /// Returns the width of the line with this index.
    fn of_line(self, index: usize) -> Option<usize> {
        if index == 0 { self.first } else { self.rest }
    }
}

/// Allowed break positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words.
    AtWords,
    /// At any column.
    Anywhere,
}

/// Wraps between words; returns at least one line.
pub(super) fn wrap(line: &[Span], room: Room) -> Vec<Line> {
    broken(line, room, Break::AtWords)
}

/// Wraps a line; returns at least one line.
pub(super) fn broken(line: &[Span], room: Room, breaks: Break) -> Vec<Line> {
    if fits(line, room) {
        return vec![line.to_vec()];
    }
    let mut found = Vec::new();
    ranges(line, room, breaks, &mut found);
    let mut cursor = Cursor::new(line);
    let line = |range| {
        let mut line = Line::new();
        cursor.take(range, &mut |piece| line.push(piece.into()));
        line
    };
    found.iter().map(line).collect()
}

/// Writes the byte ranges of the wrapped lines to `found`: at least one,
/// ascending.
pub(super) fn ranges(line: &[Span], room: Room, breaks: Break, found: &mut Vec<Range<usize>>) {
    found.clear();
    let text = joined(line);
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    for end in ends {
        let part = text.get(start..end).unwrap_or_default();
        if !ascii::Breaker::new(part, start, room, breaks, found).run() {
            Breaker::new(part, start, room, breaks, found).run();
        }
        start = end + 1;
    }
}

/// Returns the width of the widest part that [`wrap`] would not break.
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

/// Returns the width of the widest line of a text with newlines.
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

/// Returns true if a text fits on one line.
pub(super) fn fits(line: &[Span], room: Room) -> bool {
    let is_narrow = room.first.is_none_or(|cells| {
        let length: usize = line.iter().map(|span| span.text.len()).sum();
        // No character takes more cells than bytes.
        length <= cells || (!is_surely_wider(line, cells) && width::of_line(line) <= cells)
    });
    is_narrow && line.iter().all(|span| !span.text.contains('\n'))
}

/// Returns true if the ASCII letters and blanks alone exceed the width. Stops
/// as soon as they do.
fn is_surely_wider(line: &[Span], cells: usize) -> bool {
    const CHUNK: usize = 64;
    let mut left = cells;
    let mut chunks = line
        .iter()
        .flat_map(|span| span.text.as_bytes().chunks(CHUNK));
    chunks.any(|chunk| {
        let counted = |byte: &u8| u8::from(byte.is_ascii_alphabetic()) | u8::from(*byte == b' ');
        let count = usize::from(chunk.iter().map(counted).sum::<u8>());
        let is_over = count > left;
        left = left.saturating_sub(count);
        is_over
    })
}

pub(super) fn joined(line: &[Span]) -> Cow<'_, str> {
    match line {
        [span] => Cow::Borrowed(&span.text),
        _ => line.iter().map(|span| span.text.as_str()).collect(),
    }
}

/// Returns the break opportunities, ascending.
fn opportunities(text: &str) -> impl Iterator<Item = usize> + '_ {
    unicode_linebreak::linebreaks(text)
        .map(|(at, _)| at)
        .filter(|at| !is_after_leading_hyphen(text, *at) && !is_after_scheme(text, *at))
}

/// Returns true if a break would separate the hyphens from an option such as
/// `--all`: rule `LB20a` of Unicode 16, which `unicode-linebreak` lacks.
fn is_after_leading_hyphen(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let word = before.trim_end_matches('-');
    word.len() < before.len()
        && word
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || "([{\"'`".contains(c))
}

/// Returns true if a break would separate an address from its scheme.
fn is_after_scheme(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with("://"))
}

/// Wraps one text without newlines.
struct Breaker<'a> {
    text: &'a str,
    /// Added to offsets in the text.
    offset: usize,
    room: Room,
    /// True if blanks may overflow a line, where they are dropped.
    hang: bool,
    ranges: &'a mut Vec<Range<usize>>,
    /// The start and width of the open line.
    start: usize,
    cells: usize,
    /// The last break opportunity of the open line, and the width there.
    chance: Option<(usize, usize)>,
}

impl<'a> Breaker<'a> {
    fn new(
        text: &'a str,
        offset: usize,
        room: Room,
        breaks: Break,
        ranges: &'a mut Vec<Range<usize>>,
    ) -> Self {
        Self {
            text,
            offset,
            room,
            hang: breaks == Break::AtWords,
            ranges,
            start: 0,
            cells: 0,
            chance: None,
        }
    }

    fn run(&mut self) {
        let text = self.text;
        if self.room.first.is_some() {
            if self.hang {
                self.place_all(opportunities(text));
            } else {
                self.place_all(std::iter::empty());
            }
        }
        self.end_line(text.len());
    }

    fn place_all(&mut self, opportunities: impl Iterator<Item = usize>) {
        let mut opportunities = opportunities.peekable();
        width::each_cluster(self.text, &mut |at, cluster, cells| {
            while opportunities.next_if(|next| *next < at).is_some() {}
            if opportunities.next_if_eq(&at).is_some() {
                self.chance = Some((at, self.cells));
            }
            self.place(at, cluster, cells);
        });
    }

    /// Adds a cluster to the open line, ending lines as needed.
    fn place(&mut self, at: usize, cluster: &str, cells: usize) {
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
            self.place(start + offset, cluster, width::cluster(cluster));
        }
    }

    fn overflows(&self, cells: usize) -> bool {
        self.room
            .of_line(self.ranges.len())
            .is_some_and(|room| self.cells + cells > room)
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
        let start = self.offset + self.start;
        self.ranges.push(start..start + kept.len());
    }
}

/// Returns the pieces of ascending byte ranges of a line.
pub(super) struct Cursor<'a> {
    rest: &'a [Span],
    /// The offset of `rest`.
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a [Span]) -> Self {
        Self {
            rest: line,
            offset: 0,
        }
    }

    pub(super) fn take(&mut self, range: &Range<usize>, visit: &mut dyn FnMut(Piece<'a>)) {
        while let Some((span, others)) = self.rest.split_first() {
            let end = self.offset + span.text.len();
            let from = range.start.clamp(self.offset, end) - self.offset;
            let to = range.end.clamp(self.offset, end) - self.offset;
            if let Some(text) = span.text.get(from..to).filter(|text| !text.is_empty()) {
                visit(Piece {
                    text,
                    style: span.style,
                    link: span.link.as_deref(),
                });
            }
            if range.end < end {
                break;
            }
            self.offset = end;
            self.rest = others;
        }
    }
}
