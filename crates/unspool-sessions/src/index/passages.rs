//! Splits a session into passages: consecutive texts, small enough for a match to be
//! meaningful and large enough for the index to stay small. The same session is always
//! split in the same way, so that a passage can be found again by its number.

use std::borrow::Cow;

use unspool::Event;
use unspool::event::Body;

use crate::error::Result;
use crate::input::Batch;
use crate::ledger::Key;
use crate::row::{Opener, Row};

/// Approximate bytes of text in a passage.
const SIZE: usize = 1 << 16;

/// Consecutive texts of a session.
#[derive(Default)]
pub(super) struct Passage {
    /// Prompts, answers, thoughts, plans, notices.
    pub(super) said: String,
    /// Tool calls: names, commands, files.
    pub(super) done: String,
    /// Tool output, context and unknown frames.
    pub(super) shown: String,
}

impl Passage {
    pub(super) fn len(&self) -> usize {
        self.said.len() + self.done.len() + self.shown.len()
    }

    pub(super) fn hash(&self) -> i64 {
        let mut hash = 0_u64;
        for text in [&self.said, &self.done, &self.shown] {
            hash = hash.rotate_left(21) ^ Key::new(text).0;
        }
        hash.cast_signed()
    }
}

/// Stops the reading of a session.
struct Enough;

/// Splits a session into passages.
pub(super) struct Passages<T: FnMut(Passage) -> bool> {
    current: Passage,
    /// Kind and id of the message that is being streamed.
    growing: Option<(&'static str, String)>,
    take: T,
    /// False once the taker wants no more.
    wanted: bool,
}

impl<T: FnMut(Passage) -> bool> Passages<T> {
    /// Reads a session and hands out its passages until `take` returns false.
    pub(super) fn of(row: &Row, opener: &mut Opener<'_>, take: T) -> Result<()> {
        let mut passages = Self {
            current: Passage::default(),
            growing: None,
            take,
            wanted: true,
        };
        let mut read = Ok(());
        for mut input in opener.inputs(row)? {
            let events = input.events(row.agents.reader_options(), |batch| {
                if let Batch::Event(event) = batch {
                    passages.event(event);
                }
                if passages.wanted { Ok(()) } else { Err(Enough) }
            });
            read = read.and(events.unwrap_or(Ok(())));
        }
        if passages.wanted && passages.current.len() > 0 {
            let last = std::mem::take(&mut passages.current);
            (passages.take)(last);
        }
        Ok(read?)
    }

    fn event(&mut self, mut event: Event) {
        let (kind, body) = (event.body.kind(), &event.body);
        let growing = match body {
            Body::Text(message) | Body::Reasoning(message) if message.delta => {
                Some((kind, message.id.clone()))
            }
            Body::ToolOutput(output) => Some((kind, output.id.clone())),
            _ => None,
        };
        let continues = growing.is_some() && self.growing == growing;
        self.growing = growing;
        let field: fn(&mut Passage) -> &mut String = match body {
            // Capabilities and usage are not part of the conversation.
            Body::State(_) | Body::Usage(_) => return,
            Body::ToolUse(_) | Body::Edit(_) => |passage| &mut passage.done,
            Body::ToolOutput(_) | Body::ToolResult(_) | Body::Context(_) | Body::Unknown(_) => {
                |passage| &mut passage.shown
            }
            _ => |passage| &mut passage.said,
        };
        match body {
            Body::ToolUse(call) => {
                let name = call.name.clone();
                self.text(field, &name, false);
            }
            // The folder is repeated often, and is not worth a match.
            Body::Session(session) => {
                let title = session.title.clone();
                return self.text(field, &title, false);
            }
            _ => {}
        }
        event.change_texts(&mut |_, text| {
            self.text(field, text, continues);
            None
        });
    }

    fn text(&mut self, field: fn(&mut Passage) -> &mut String, text: &str, continues: bool) {
        let mut rest = text;
        let mut continues = continues;
        while self.wanted && !rest.is_empty() {
            let room = SIZE.saturating_sub(self.current.len()).max(1);
            let (piece, further) = cut(rest, room);
            let column = field(&mut self.current);
            if !continues && !column.is_empty() {
                column.push('\n');
            }
            column.push_str(&apart(piece));
            continues = false;
            rest = further;
            if !rest.is_empty() || self.current.len() >= SIZE {
                let full = std::mem::take(&mut self.current);
                self.wanted = (self.take)(full);
            }
        }
    }
}

/// Splits a text at a size, at the end of a line or else of a word.
fn cut(text: &str, room: usize) -> (&str, &str) {
    if text.len() <= room {
        return (text, "");
    }
    let mut room = room;
    while !text.is_char_boundary(room) {
        room += 1;
    }
    let (head, _) = text.split_at(room);
    let end = |(at, found): (usize, &str)| at + found.len();
    let line = head.rmatch_indices('\n').next();
    let word = || head.rmatch_indices(|c: char| !c.is_alphanumeric()).next();
    let end = line.or_else(word).map_or(room, end);
    text.split_at(end)
}

/// Inserts a boundary between characters of scripts without spaces: the index takes
/// everything up to the next boundary as one word.
pub(super) fn apart(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(is_apart) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() * 2);
    let mut before = false;
    for character in text.chars() {
        let now = is_apart(character);
        if (now || before) && !spaced.is_empty() {
            spaced.push(BOUNDARY);
        }
        spaced.push(character);
        before = now;
    }
    Cow::Owned(spaced)
}

/// The boundary: an invisible character.
pub(super) const BOUNDARY: char = '\u{200B}';

/// Returns true for Chinese and Japanese characters.
fn is_apart(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_lines_and_nothing_is_lost() {
        assert_eq!(cut("one\ntwo three", 6), ("one\n", "two three"));
        assert_eq!(cut("one two", 5), ("one ", "two"));
        assert_eq!(cut("漢字", 1), ("漢", "字"));
        assert_eq!(cut("short", 9), ("short", ""));
    }

    #[test]
    fn characters_without_blanks_between_them_are_words() {
        assert_eq!(apart("ab漢字c"), "ab\u{200B}漢\u{200B}字\u{200B}c");
        assert!(matches!(apart("été 한국"), Cow::Borrowed(_)));
    }
}
