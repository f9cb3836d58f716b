//! Text with a cursor, and the keys that change it as in a shell.
//!
//! The cursor stands between clusters, so that no key tears what a person sees
//! as one character; it is always at the boundary of a character. Undoing goes
//! back to whole texts, which are small: what is long is held elsewhere and
//! stands here as one character.
//!
//! Called by `prompt`, and by `field` for texts of one line.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

/// Steps that can be undone.
const STEPS: usize = 100;

/// A text and where the cursor stands in it.
type State = (String, usize);

/// Text with a cursor.
#[derive(Default)]
pub(crate) struct Buffer {
    text: String,
    cursor: usize,
    past: Vec<State>,
    future: Vec<State>,
    /// What was deleted last by word or line.
    killed: String,
    /// Whether letters still belong to the step that is undone at once.
    is_typing: bool,
}

/// What an editing key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// It is no editing key.
    Foreign,
    /// There was nothing to do, such as going left at the start.
    Idle,
    /// The cursor moved, or the text changed.
    Done,
}

impl Buffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where the cursor is, in bytes.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// What stands before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// What stands behind the cursor.
    pub(crate) fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Another text, with the cursor at its end; there is nothing to undo.
    pub(crate) fn set(&mut self, text: String) {
        *self = Self {
            cursor: text.len(),
            text,
            killed: std::mem::take(&mut self.killed),
            ..Self::default()
        };
    }

    /// Puts the cursor at a byte, or before the character that it is in.
    pub(crate) fn go(&mut self, place: usize) {
        let mut place = place.min(self.text.len());
        while !self.text.is_char_boundary(place) {
            place -= 1;
        }
        self.cursor = place;
        self.is_typing = false;
    }

    /// Puts a text where the cursor is.
    pub(crate) fn insert(&mut self, text: &str) {
        self.keep();
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces what stands from a byte up to the cursor.
    pub(crate) fn replace_from(&mut self, start: usize, text: &str) {
        if start <= self.cursor && self.text.is_char_boundary(start) {
            self.keep();
            self.text.replace_range(start..self.cursor, text);
            self.cursor = start + text.len();
        }
    }

    /// Types a letter; those of a word are undone at once.
    pub(crate) fn type_in(&mut self, letter: char) {
        let goes_on = self.is_typing && !letter.is_whitespace();
        if !goes_on {
            self.keep();
        }
        self.text.insert(self.cursor, letter);
        self.cursor += letter.len_utf8();
        self.is_typing = true;
    }

    pub(crate) fn undo(&mut self) -> bool {
        let Some(state) = self.past.pop() else {
            return false;
        };
        let now = self.swap(state);
        self.future.push(now);
        true
    }

    pub(crate) fn redo(&mut self) -> bool {
        let Some(state) = self.future.pop() else {
            return false;
        };
        let now = self.swap(state);
        self.past.push(now);
        true
    }

    fn swap(&mut self, (text, cursor): State) -> State {
        self.is_typing = false;
        let text = std::mem::replace(&mut self.text, text);
        (text, std::mem::replace(&mut self.cursor, cursor))
    }

    /// Remembers the text before it changes.
    fn keep(&mut self) {
        self.past.push((self.text.clone(), self.cursor));
        if self.past.len() > STEPS {
            self.past.remove(0);
        }
        self.future.clear();
        self.is_typing = false;
    }

    /// What a key does to the text and the cursor. Letters are not taken here.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Edit {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_done = match key.code {
            KeyCode::Backspace if control || alt => self.delete(self.word_left(), true),
            KeyCode::Backspace => self.delete(self.left(), false),
            KeyCode::Delete if control || alt => self.delete(self.word_right(), true),
            KeyCode::Delete => self.delete(self.right(), false),
            KeyCode::Left if control || alt => self.moved(self.word_left()),
            KeyCode::Right if control || alt => self.moved(self.word_right()),
            KeyCode::Left => self.moved(self.left()),
            KeyCode::Right => self.moved(self.right()),
            KeyCode::Home if control => self.moved(0),
            KeyCode::End if control => self.moved(self.text.len()),
            KeyCode::Home => self.moved(self.line_start()),
            KeyCode::End => self.moved(self.line_end()),
            KeyCode::Char(letter) if control => return self.control(letter),
            KeyCode::Char('b') if alt => self.moved(self.word_left()),
            KeyCode::Char('f') if alt => self.moved(self.word_right()),
            KeyCode::Char('d') if alt => self.delete(self.word_right(), true),
            _ => return Edit::Foreign,
        };
        told(is_done)
    }

    /// A letter with Ctrl. A terminal sends Ctrl-_ as Ctrl-7 and Ctrl-^ as
    /// Ctrl-6.
    fn control(&mut self, letter: char) -> Edit {
        told(match letter {
            'h' => self.delete(self.left(), false),
            'a' => self.moved(self.line_start()),
            'e' => self.moved(self.line_end()),
            'b' => self.moved(self.left()),
            'f' => self.moved(self.right()),
            'd' => self.delete(self.right(), false),
            'w' => self.delete(self.word_left(), true),
            'u' => self.delete(self.line_start(), true),
            'k' => self.delete(self.line_end(), true),
            'y' if !self.killed.is_empty() => {
                let killed = self.killed.clone();
                self.insert(&killed);
                true
            }
            'y' => false,
            '_' | '/' | '7' => self.undo(),
            '^' | '6' => self.redo(),
            _ => return Edit::Foreign,
        })
    }

    fn moved(&mut self, place: usize) -> bool {
        let is_moved = place != self.cursor;
        self.go(place);
        is_moved
    }

    /// Deletes what is between the cursor and another place.
    fn delete(&mut self, place: usize, keeps: bool) -> bool {
        let range = place.min(self.cursor)..place.max(self.cursor);
        let Some(deleted) = self.text.get(range.clone()).filter(|it| !it.is_empty()) else {
            return false;
        };
        if keeps {
            self.killed = deleted.to_owned();
        }
        self.keep();
        self.cursor = range.start;
        self.text.replace_range(range, "");
        true
    }

    fn left(&self) -> usize {
        let cluster = self.before().graphemes(true).next_back();
        self.cursor - cluster.map_or(0, str::len)
    }

    fn right(&self) -> usize {
        let cluster = self.after().graphemes(true).next();
        self.cursor + cluster.map_or(0, str::len)
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        let end = self.after().find('\n');
        end.map_or(self.text.len(), |end| self.cursor + end)
    }

    /// The start of the word before the cursor, in its line.
    fn word_left(&self) -> usize {
        let start = self.line_start();
        let line = self.text.get(start..self.cursor).unwrap_or_default();
        let words = line.split_word_bound_indices().rev();
        let mut words = words.filter(|(_, word)| !word.trim().is_empty());
        let found = words.next().map(|(at, _)| start + at);
        found.unwrap_or(if start == self.cursor {
            self.left()
        } else {
            start
        })
    }

    /// The end of the word behind the cursor, in its line.
    fn word_right(&self) -> usize {
        let end = self.line_end();
        let line = self.text.get(self.cursor..end).unwrap_or_default();
        let mut words = line.split_word_bound_indices();
        let found = words.find(|(_, word)| !word.trim().is_empty());
        let found = found.map(|(at, word)| self.cursor + at + word.len());
        found.unwrap_or(if end == self.cursor {
            self.right()
        } else {
            end
        })
    }
}

fn told(is_done: bool) -> Edit {
    if is_done { Edit::Done } else { Edit::Idle }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(buffer: &mut Buffer, code: KeyCode) -> Edit {
        buffer.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn control(buffer: &mut Buffer, letter: char) -> Edit {
        buffer.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
    }

    fn of(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.set(text.to_owned());
        buffer
    }

    #[test]
    fn the_cursor_goes_by_what_is_seen_as_one_character() {
        let mut buffer = of("e\u{301}👩‍👩‍👧漢");
        for cursor in ["e\u{301}👩‍👩‍👧".len(), "e\u{301}".len(), 0] {
            assert_eq!(press(&mut buffer, KeyCode::Left), Edit::Done);
            assert_eq!(buffer.cursor(), cursor);
        }
        assert_eq!(press(&mut buffer, KeyCode::Left), Edit::Idle);
        press(&mut buffer, KeyCode::Right);
        press(&mut buffer, KeyCode::Delete);
        assert_eq!(buffer.text(), "e\u{301}漢");
        press(&mut buffer, KeyCode::Backspace);
        assert_eq!(buffer.text(), "漢");
    }

    #[test]
    fn words_and_lines_are_deleted_and_put_back() {
        let mut buffer = of("one two\nthree four");
        control(&mut buffer, 'w');
        assert_eq!(buffer.text(), "one two\nthree ");
        control(&mut buffer, 'u');
        assert_eq!(buffer.text(), "one two\n");
        press(&mut buffer, KeyCode::Up);
        control(&mut buffer, 'y');
        assert_eq!(buffer.text(), "one two\nthree ");
        buffer.go(3);
        control(&mut buffer, 'k');
        assert_eq!(buffer.text(), "one\nthree ");
        control(&mut buffer, 'a');
        assert_eq!(control(&mut buffer, 'u'), Edit::Idle);
    }

    #[test]
    fn undoing_goes_by_words_and_can_be_taken_back() {
        let mut buffer = Buffer::default();
        "ab cd".chars().for_each(|letter| buffer.type_in(letter));
        assert_eq!(control(&mut buffer, '7'), Edit::Done);
        assert_eq!(buffer.text(), "ab");
        control(&mut buffer, '_');
        assert_eq!(buffer.text(), "");
        assert_eq!(control(&mut buffer, '_'), Edit::Idle);
        control(&mut buffer, '6');
        control(&mut buffer, '6');
        assert_eq!((buffer.text(), buffer.cursor()), ("ab cd", 5));
    }

    #[test]
    fn steps_to_undo_are_bounded() {
        let mut buffer = Buffer::default();
        (0..10 * STEPS).for_each(|_| buffer.insert("x"));
        assert_eq!(buffer.past.len(), STEPS);
    }
}
