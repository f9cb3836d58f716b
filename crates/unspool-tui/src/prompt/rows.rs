//! Wraps the prompt's text into screen rows.
//!
//! Rows break after spaces, or between grapheme clusters in a word longer than a
//! row. Each position of the text belongs to exactly one row: the end of a
//! wrapped row belongs to the next one. A paste is one character of the text and
//! a label on the screen.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unspool::layout::width;

use super::pasted::Pasted;
use crate::paint;

/// A row, as a byte range of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) range: Range<usize>,
    /// True if a line of the text ends here.
    ends: bool,
}

/// The rows of a text.
pub(super) struct Rows<'a> {
    text: &'a str,
    pasted: &'a Pasted,
    pub(super) all: Vec<Row>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(text: &'a str, pasted: &'a Pasted, room: usize) -> Self {
        let mut rows = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            break_line(line, start, room.max(1), pasted, &mut rows);
            start += line.len() + 1;
        }
        Self {
            text,
            pasted,
            all: rows,
        }
    }

    /// Returns the clusters of a row with their byte offsets, escaped for
    /// display.
    pub(super) fn clusters(&self, row: usize) -> impl Iterator<Item = (usize, Cow<'a, str>)> {
        let range = self.all.get(row).map_or(0..0, |row| row.range.clone());
        let start = range.start;
        let text = self.text.get(range).unwrap_or_default();
        let pasted = self.pasted;
        text.grapheme_indices(true)
            .map(move |(at, cluster)| (start + at, shown(cluster, pasted)))
    }

    /// Returns row and column of a byte offset.
    pub(super) fn place(&self, cursor: usize) -> (usize, usize) {
        let row = self
            .all
            .iter()
            .position(|row| cursor < row.range.end || (row.ends && cursor == row.range.end));
        let row = row.unwrap_or(self.all.len().saturating_sub(1));
        let before = self.clusters(row).take_while(|(at, _)| *at < cursor);
        (row, before.map(|(_, cluster)| width(&cluster)).sum())
    }

    /// Returns the byte offset closest to a column of a row.
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        let Some(range) = self.all.get(row).map(|row| row.range.clone()) else {
            return self.text.len();
        };
        let mut end = 0;
        let mut last = range.start;
        for (at, cluster) in self.clusters(row) {
            let wide = width(&cluster);
            // A click on the left half of a wide character is before it, on the
            // right half after it.
            if column < end + wide.div_ceil(2) {
                return at;
            }
            end += wide;
            last = at;
        }
        let ends = self.all.get(row).is_some_and(|row| row.ends);
        if ends { range.end } else { last }
    }
}

/// Escapes a cluster, or returns the label of a paste.
fn shown<'a>(cluster: &'a str, pasted: &'a Pasted) -> Cow<'a, str> {
    match pasted.label(cluster) {
        Some(label) => Cow::Borrowed(label),
        None => paint::shown(cluster),
    }
}

fn break_line(line: &str, start: usize, room: usize, pasted: &Pasted, rows: &mut Vec<Row>) {
    let mut from = 0;
    let mut taken = 0;
    // Byte offset after the last space, and the width up to it.
    let mut blank: Option<(usize, usize)> = None;
    for (at, cluster) in line.grapheme_indices(true) {
        #[cfg(test)]
        pasted.count();
        let wide = width(&shown(cluster, pasted));
        if taken + wide > room && at > from {
            let (end, kept) = blank.take().unwrap_or((at, taken));
            rows.push(row(start, from..end, false));
            from = end;
            taken -= kept;
        }
        taken += wide;
        if cluster == " " {
            blank = Some((at + 1, taken));
        }
    }
    rows.push(row(start, from..line.len(), true));
}

fn row(start: usize, range: Range<usize>, ends: bool) -> Row {
    Row {
        range: start + range.start..start + range.end,
        ends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, room: usize) -> Vec<String> {
        let pasted = Pasted::default();
        let rows = Rows::new(text, &pasted, room);
        let row = |row| rows.clusters(row).map(|(_, shown)| shown).collect();
        (0..rows.all.len()).map(row).collect()
    }

    #[test]
    fn rows_are_broken_at_words() {
        assert_eq!(texts("one two three", 8), ["one two ", "three"]);
        assert_eq!(texts("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(texts("a bcdefghij", 4), ["a ", "bcde", "fghi", "j"]);
        assert_eq!(texts("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(texts("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(texts("", 5), [""]);
        assert_eq!(texts("漢", 1), ["漢"], "too narrow for anything");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(texts("\u{1b}[2J\u{202e}", 40), ["\\x1B[2J\\u{202E}"]);
        assert_eq!(texts("👩‍👩‍👧 שלום", 40), ["👩‍👩‍👧 שלום"]);
    }

    #[test]
    fn offsets_and_positions_convert_both_ways() {
        let pasted = Pasted::default();
        let text = "ab 漢字e\u{301} 👩‍👩‍👧x\nsecond";
        for room in 2..20 {
            let rows = Rows::new(text, &pasted, room);
            let ends = text.grapheme_indices(true).map(|(at, _)| at);
            for at in ends.chain([text.len()]) {
                let (row, column) = rows.place(at);
                assert_eq!(rows.at(row, column), at, "{room} {row} {column}");
            }
        }
    }
}
