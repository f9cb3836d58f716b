//! The app's text editor: text, a cursor and the editing keys of a shell.
//!
//! The cursor moves by grapheme cluster and is always at a character boundary.
//! Each undo step stores the whole text. That is cheap, because the prompt keeps
//! long pastes elsewhere and puts one placeholder character here.
//!
//! Used by `prompt` for many lines and by `line_input` for one.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum number of undo steps.
const STEPS: usize = 100;

/// A text and its cursor position, for undo.
type Snapshot = (String, usize);

/// Text with a cursor and an undo history.
#[derive(Default)]
pub(crate) struct Editor {
    text: String,
    cursor: usize,
    past: Vec<Snapshot>,
    future: Vec<Snapshot>,
    /// The last deleted word or line, for Ctrl-Y.
    killed: String,
    /// True while typed letters join the current undo step.
    is_typing: bool,
}

/// The effect of a key on an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Not an editing key.
    Ignored,
    /// Nothing to do, such as moving left at the start.
    Unchanged,
    /// The cursor moved or the text changed.
    Changed,
}

impl Editor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the cursor's byte offset.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// Returns the text after the cursor.
    pub(crate) fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Replaces the text, moves the cursor to its end and clears the undo history.
    pub(crate) fn set(&mut self, text: String) {
        *self = Self {
            cursor: text.len(),
            text,
            killed: std::mem::take(&mut self.killed),
            ..Self::default()
        };
    }

    /// Moves the cursor to a byte offset, rounded down to a character boundary.
    pub(crate) fn go(&mut self, place: usize) {
        let mut place = place.min(self.text.len());
        while !self.text.is_char_boundary(place) {
            place -= 1;
        }
        self.cursor = place;
        self.is_typing = false;
    }

    /// Inserts a text at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        self.save_undo();
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces the text between a byte offset and the cursor.
    pub(crate) fn replace_from(&mut self, start: usize, text: &str) {
        if start <= self.cursor && self.text.is_char_boundary(start) {
            self.save_undo();
            self.text.replace_range(start..self.cursor, text);
            self.cursor = start + text.len();
        }
    }

    /// Types a letter. The letters of a word form one undo step.
    pub(crate) fn type_in(&mut self, letter: char) {
        let goes_on = self.is_typing && !letter.is_whitespace();
        if !goes_on {
            self.save_undo();
        }
        self.text.insert(self.cursor, letter);
        self.cursor += letter.len_utf8();
        self.is_typing = true;
    }

    pub(crate) fn undo(&mut self) -> bool {
        let Some(snapshot) = self.past.pop() else {
            return false;
        };
        let now = self.swap(snapshot);
        self.future.push(now);
        true
    }

    pub(crate) fn redo(&mut self) -> bool {
        let Some(snapshot) = self.future.pop() else {
            return false;
        };
        let now = self.swap(snapshot);
        self.past.push(now);
        true
    }

    fn swap(&mut self, (text, cursor): Snapshot) -> Snapshot {
        self.is_typing = false;
        let text = std::mem::replace(&mut self.text, text);
        (text, std::mem::replace(&mut self.cursor, cursor))
    }

    /// Saves an undo step before the text changes.
    fn save_undo(&mut self) {
        self.past.push((self.text.clone(), self.cursor));
        if self.past.len() > STEPS {
            self.past.remove(0);
        }
        self.future.clear();
        self.is_typing = false;
    }

    /// Handles an editing key. Plain letters go to [`Editor::type_in`].
    pub(crate) fn key(&mut self, key: KeyEvent) -> Effect {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_changed = match key.code {
            KeyCode::Backspace if control || alt => self.delete(self.word_left(), true),
            KeyCode::Backspace => self.delete(self.left(), false),
            KeyCode::Delete if control || alt => self.delete(self.word_right(), true),
            KeyCode::Delete => self.delete(self.right(), false),
            KeyCode::Left if control || alt => self.move_to(self.word_left()),
            KeyCode::Right if control || alt => self.move_to(self.word_right()),
            KeyCode::Left => self.move_to(self.left()),
            KeyCode::Right => self.move_to(self.right()),
            KeyCode::Home if control => self.move_to(0),
            KeyCode::End if control => self.move_to(self.text.len()),
            KeyCode::Home => self.move_to(self.line_start()),
            KeyCode::End => self.move_to(self.line_end()),
            KeyCode::Char(letter) if control => return self.control(letter),
            KeyCode::Char('b') if alt => self.move_to(self.word_left()),
            KeyCode::Char('f') if alt => self.move_to(self.word_right()),
            KeyCode::Char('d') if alt => self.delete(self.word_right(), true),
            _ => return Effect::Ignored,
        };
        effect(is_changed)
    }

    /// Handles Ctrl and a letter. Terminals send Ctrl-_ as Ctrl-7 and Ctrl-^ as
    /// Ctrl-6.
    fn control(&mut self, letter: char) -> Effect {
        effect(match letter {
            'h' => self.delete(self.left(), false),
            'a' => self.move_to(self.line_start()),
            'e' => self.move_to(self.line_end()),
            'b' => self.move_to(self.left()),
            'f' => self.move_to(self.right()),
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
            _ => return Effect::Ignored,
        })
    }

    fn move_to(&mut self, place: usize) -> bool {
        let is_moved = place != self.cursor;
        self.go(place);
        is_moved
    }

    /// Deletes the text between the cursor and an offset. `yankable` text can be
    /// reinserted with Ctrl-Y.
    fn delete(&mut self, place: usize, yankable: bool) -> bool {
        let range = place.min(self.cursor)..place.max(self.cursor);
        let Some(deleted) = self.text.get(range.clone()).filter(|it| !it.is_empty()) else {
            return false;
        };
        if yankable {
            self.killed = deleted.to_owned();
        }
        self.save_undo();
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

    /// Returns the start of the word before the cursor, within its line.
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

    /// Returns the end of the word after the cursor, within its line.
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

fn effect(is_changed: bool) -> Effect {
    if is_changed {
        Effect::Changed
    } else {
        Effect::Unchanged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(editor: &mut Editor, code: KeyCode) -> Effect {
        editor.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn control(editor: &mut Editor, letter: char) -> Effect {
        editor.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
    }

    fn of(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.set(text.to_owned());
        editor
    }

    #[test]
    fn the_cursor_moves_by_grapheme_cluster() {
        let mut editor = of("e\u{301}👩‍👩‍👧漢");
        for cursor in ["e\u{301}👩‍👩‍👧".len(), "e\u{301}".len(), 0] {
            assert_eq!(press(&mut editor, KeyCode::Left), Effect::Changed);
            assert_eq!(editor.cursor(), cursor);
        }
        assert_eq!(press(&mut editor, KeyCode::Left), Effect::Unchanged);
        press(&mut editor, KeyCode::Right);
        press(&mut editor, KeyCode::Delete);
        assert_eq!(editor.text(), "e\u{301}漢");
        press(&mut editor, KeyCode::Backspace);
        assert_eq!(editor.text(), "漢");
    }

    #[test]
    fn deleted_words_and_lines_can_be_yanked() {
        let mut editor = of("one two\nthree four");
        control(&mut editor, 'w');
        assert_eq!(editor.text(), "one two\nthree ");
        control(&mut editor, 'u');
        assert_eq!(editor.text(), "one two\n");
        press(&mut editor, KeyCode::Up);
        control(&mut editor, 'y');
        assert_eq!(editor.text(), "one two\nthree ");
        editor.go(3);
        control(&mut editor, 'k');
        assert_eq!(editor.text(), "one\nthree ");
        control(&mut editor, 'a');
        assert_eq!(control(&mut editor, 'u'), Effect::Unchanged);
    }

    #[test]
    fn undo_goes_word_by_word_and_can_be_redone() {
        let mut editor = Editor::default();
        "ab cd".chars().for_each(|letter| editor.type_in(letter));
        assert_eq!(control(&mut editor, '7'), Effect::Changed);
        assert_eq!(editor.text(), "ab");
        control(&mut editor, '_');
        assert_eq!(editor.text(), "");
        assert_eq!(control(&mut editor, '_'), Effect::Unchanged);
        control(&mut editor, '6');
        control(&mut editor, '6');
        assert_eq!((editor.text(), editor.cursor()), ("ab cd", 5));
    }

    #[test]
    fn undo_steps_are_bounded() {
        let mut editor = Editor::default();
        (0..10 * STEPS).for_each(|_| editor.insert("x"));
        assert_eq!(editor.past.len(), STEPS);
    }
}
