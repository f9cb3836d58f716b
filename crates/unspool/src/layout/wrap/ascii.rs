//! Breaks a line that is mostly ASCII, where a byte is a cell.
//!
//! The clusters that are something else are looked up once. Where one of them is
//! partly ASCII, or hardly any room is left, [`Breaker::run`] leaves the line to
//! the longer way.
//!
//! Most lines end at a blank between two words. Such a place is found by looking
//! back from the column, without asking UAX #14 about each character on the way:
//! between the characters of [`is_inner`] it never allows a break, and before
//! one of [`is_first`] behind blanks it always does, unless a bracket stands
//! before the blanks. Every other line asks.

use std::iter::Peekable;
use std::ops::Range;

use super::{Break, Room, opportunities};
use crate::layout::width;

/// With less room than this, or wider clusters, a cluster may not fit a line.
const LEAST_ROOM: usize = 4;

/// A cluster that is not ASCII: where it starts and ends, and its cells.
struct Other {
    start: usize,
    end: usize,
    cells: usize,
}

pub(super) struct Breaker<'a> {
    text: &'a str,
    /// What is added to places in the text.
    offset: usize,
    room: Room,
    hang: bool,
    ranges: &'a mut Vec<Range<usize>>,
    chances: Option<Chances<'a>>,
    others: Vec<Other>,
    /// How many of the others stand before the open line.
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
            others: Vec::new(),
            passed: 0,
        }
    }

    /// Breaks the line; `false` if that has to be done another way.
    pub(super) fn run(&mut self) -> bool {
        if !self.text.is_ascii() && !self.find_others() {
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

    fn find_others(&mut self) -> bool {
        let rooms = [self.room.first, self.room.rest];
        if rooms.into_iter().flatten().any(|room| room < LEAST_ROOM) {
            return false;
        }
        let others = &mut self.others;
        let mut widest = 0;
        let is_apart = width::each_other(self.text, &mut |start, cluster, cells| {
            let end = start + cluster.len();
            others.push(Other { start, end, cells });
            widest = widest.max(cells);
        });
        is_apart && widest <= LEAST_ROOM
    }

    /// Where the first cluster stands for which a line has no room.
    fn full(&mut self, start: usize, room: usize) -> usize {
        let before = |other: &&Other| other.start < start;
        let rest = self.others.get(self.passed..).unwrap_or_default();
        self.passed += rest.iter().take_while(before).count();
        let (mut at, mut left) = (start, room);
        for other in self.others.get(self.passed..).unwrap_or_default() {
            let gap = other.start - at;
            if gap > left || other.cells > left - gap {
                return at + gap.min(left);
            }
            left -= gap + other.cells;
            at = other.end;
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

    /// Where the line from `start` ends that has no room behind `full`. Blanks
    /// need none.
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
            None => self.asked(start, over),
        };
        chance.unwrap_or(over.max(start + 1))
    }

    /// The last place up to `over` where UAX #14 allows a break.
    fn asked(&mut self, start: usize, over: usize) -> Option<usize> {
        let text = self.text;
        let chances = self.chances.get_or_insert_with(|| Chances::new(text));
        let last = chances.last_up_to(over, &self.others);
        last.filter(|chance| *chance > start)
    }
}

/// The length of what stands before the last word of a line, whose next byte is
/// given; 0 if it is all one word, none if it has to be asked.
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

/// Letters, digits, quotation marks, and signs that act like letters.
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

/// The same and the separators, which may not begin a line.
fn is_inner(byte: u8) -> bool {
    is_first(byte) || matches!(byte, b'.' | b',' | b':' | b';')
}

/// The places where a text may be broken, looked up as far as needed.
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

    /// Leaves those inside of a cluster out.
    fn last_up_to(&mut self, end: usize, others: &[Other]) -> Option<usize> {
        while let Some(place) = self.places.next_if(|place| *place <= end) {
            let before = others.partition_point(|other| other.start < place);
            let cluster = before.checked_sub(1).and_then(|last| others.get(last));
            if cluster.is_none_or(|cluster| cluster.end <= place) {
                self.last = Some(place);
            }
        }
        self.last
    }
}
