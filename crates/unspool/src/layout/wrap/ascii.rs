//! Wraps lines that are mostly ASCII, where a byte is a cell.
//!
//! The other clusters are located once. If one of them is partly ASCII, or the
//! line is too narrow, [`Breaker::run`] returns `false` and the general code
//! takes over.
//!
//! Most lines end at a blank between two words. That position is found by
//! searching back from the column, without asking UAX #14 about each character:
//! it never allows a break between the characters of [`is_inner`], and always
//! allows one before a character of [`is_first`] after blanks, unless a bracket
//! precedes the blanks. Only the remaining lines consult UAX #14.

use std::iter::Peekable;
use std::ops::Range;

use super::{Break, Room, opportunities};
use crate::layout::width;

/// Minimum width, and maximum cluster width, that this path handles.
const LEAST_ROOM: usize = 4;

/// A cluster that is not ASCII: start, end and width.
struct NonAscii {
    start: usize,
    end: usize,
    cells: usize,
}

pub(super) struct Breaker<'a> {
    text: &'a str,
    /// Added to offsets in the text.
    offset: usize,
    room: Room,
    hang: bool,
    ranges: &'a mut Vec<Range<usize>>,
    chances: Option<Chances<'a>>,
    non_ascii: Vec<NonAscii>,
    /// Number of non-ASCII clusters before the open line.
    passed: usize,
}

impl<'a> Breaker<'a> {
    pub(super) fn new(
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
            chances: None,
            non_ascii: Vec::new(),
            passed: 0,
        }
    }

    /// Wraps the line; returns `false` if the general code must do it.
    pub(super) fn run(&mut self) -> bool {
        if !self.text.is_ascii() && !self.find_non_ascii() {
            return false;
        }
        let text = if self.hang {
            self.text.trim_end_matches(' ')
        } else {
            self.text
        };
        let mut start = 0;
        while let Some(room) = self.room.of_line(self.ranges.len()) {
            let full = self.full(start, room);
            if full >= text.len() {
                break;
            }
            let end = if self.hang {
                self.end_of_words(start, full)
            } else {
                full.max(start + 1)
            };
            self.push(start, end);
            start = end;
        }
        self.push(start, text.len().max(start));
        true
    }

    fn find_non_ascii(&mut self) -> bool {
        let rooms = [self.room.first, self.room.rest];
        if rooms.into_iter().flatten().any(|room| room < LEAST_ROOM) {
            return false;
        }
        let non_ascii = &mut self.non_ascii;
        let mut widest = 0;
        let is_apart = width::each_non_ascii(self.text, &mut |start, cluster, cells| {
            let end = start + cluster.len();
            non_ascii.push(NonAscii { start, end, cells });
            widest = widest.max(cells);
        });
        is_apart && widest <= LEAST_ROOM
    }

    /// Returns the offset of the first cluster that does not fit.
    fn full(&mut self, start: usize, room: usize) -> usize {
        let before = |cluster: &&NonAscii| cluster.start < start;
        let rest = self.non_ascii.get(self.passed..).unwrap_or_default();
        self.passed += rest.iter().take_while(before).count();
        let (mut at, mut left) = (start, room);
        for cluster in self.non_ascii.get(self.passed..).unwrap_or_default() {
            let gap = cluster.start - at;
            if gap > left || cluster.cells > left - gap {
                return at + gap.min(left);
            }
            left -= gap + cluster.cells;
            at = cluster.end;
        }
        at + left
    }

    fn push(&mut self, start: usize, end: usize) {
        let line = self.text.get(start..end).unwrap_or_default();
        let kept = if self.hang {
            line.trim_end_matches(' ')
        } else {
            line
        };
        let start = self.offset + start;
        self.ranges.push(start..start + kept.len());
    }

    /// Returns the end of the line that starts at `start` and is full at
    /// `full`. Trailing blanks need no space.
    fn end_of_words(&mut self, start: usize, full: usize) -> usize {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(full..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        let over = full + blanks;
        let before = bytes.get(start..over).unwrap_or_default();
        let chance = match bytes.get(over) {
            Some(byte) if is_inner(*byte) => simple_chance(before, *byte),
            _ => None,
        };
        let chance = match chance {
            Some(length) => (length > 0).then_some(start + length),
            None => self.uax14_break(start, over),
        };
        chance.unwrap_or(over.max(start + 1))
    }

    /// Returns the last break up to `over` that UAX #14 allows.
    fn uax14_break(&mut self, start: usize, over: usize) -> Option<usize> {
        let text = self.text;
        let chances = self.chances.get_or_insert_with(|| Chances::new(text));
        let last = chances.last_up_to(over, &self.non_ascii);
        last.filter(|chance| *chance > start)
    }
}

/// Returns the length of the text before the last word, given the byte after
/// it; 0 if it is a single word, `None` if UAX #14 must decide.
fn simple_chance(before: &[u8], next: u8) -> Option<usize> {
    let word = before.iter().rev().take_while(|byte| is_inner(**byte));
    let length = before.len() - word.count();
    let first = before.get(length).copied().unwrap_or(next);
    let Some((head, [b' '])) = before
        .get(..length)
        .and_then(|head| head.split_at_checked(length.checked_sub(1)?))
    else {
        return (length == 0).then_some(0);
    };
    let last = head.iter().rev().find(|byte| **byte != b' ')?;
    let is_free = last.is_ascii_graphic() && !matches!(last, b'(' | b'[' | b'{');
    (is_free && is_first(first)).then_some(length)
}

/// Returns true for letters, digits, quotation marks and symbols that act like
/// letters.
fn is_first(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'*'
                | b'='
                | b'<'
                | b'>'
                | b'@'
                | b'&'
                | b'~'
                | b'^'
                | b'#'
                | b'`'
                | b'"'
                | b'\''
        )
}

/// Returns true for the same characters and for separators, which cannot start
/// a line.
fn is_inner(byte: u8) -> bool {
    is_first(byte) || matches!(byte, b'.' | b',' | b':' | b';')
}

/// The break opportunities of a text, computed lazily.
struct Chances<'a> {
    places: Peekable<Box<dyn Iterator<Item = usize> + 'a>>,
    last: Option<usize>,
}

impl<'a> Chances<'a> {
    fn new(text: &'a str) -> Self {
        let places: Box<dyn Iterator<Item = usize> + 'a> = Box::new(opportunities(text));
        Self {
            places: places.peekable(),
            last: None,
        }
    }

    /// Returns the last opportunity up to `end` that is not inside a cluster.
    fn last_up_to(&mut self, end: usize, non_ascii: &[NonAscii]) -> Option<usize> {
        while let Some(place) = self.places.next_if(|place| *place <= end) {
            let before = non_ascii.partition_point(|cluster| cluster.start < place);
            let cluster = before.checked_sub(1).and_then(|last| non_ascii.get(last));
            if cluster.is_none_or(|cluster| cluster.end <= place) {
                self.last = Some(place);
            }
        }
        self.last
    }
}
