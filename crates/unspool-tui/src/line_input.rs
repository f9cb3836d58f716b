//! A single-line text input, for search queries and form fields.
//!
//! It never holds a control character and its length is limited. Text wider than
//! its area scrolls horizontally so that the cursor stays visible.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;
use unspool::doc::{Role, Span};
use unspool::layout::width;
use unspool::theme::Theme;

use crate::editor::{Editor, Effect};
use crate::paint::{put, shown};

/// Maximum length of a form field, in characters.
const FIELD_LIMIT: usize = 10_000;
/// Maximum length of a search query, in characters.
pub(crate) const QUERY_LIMIT: usize = 200;

/// A text of one line, with a cursor.
pub(crate) struct LineInput {
    editor: Editor,
    limit: usize,
    accepts: fn(char) -> bool,
}

impl LineInput {
    /// Creates a form field with this text.
    pub(crate) fn field(text: &str) -> Self {
        let mut field = Self {
            editor: Editor::default(),
            limit: FIELD_LIMIT,
            accepts: |letter| !letter.is_control(),
        };
        field.paste(text);
        field
    }

    /// Creates an empty search query. Invisible characters are dropped from it.
    pub(crate) fn query() -> Self {
        Self {
            editor: Editor::default(),
            limit: QUERY_LIMIT,
            accepts: is_visible,
        }
    }

    pub(crate) fn text(&self) -> &str {
        self.editor.text()
    }

    /// Handles letters and editing keys.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Effect {
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(letter) if is_plain => self.type_in(letter),
            _ => self.editor.key(key),
        }
    }

    fn type_in(&mut self, letter: char) -> Effect {
        if !(self.accepts)(letter) || self.room() == 0 {
            return Effect::Unchanged;
        }
        self.editor.type_in(letter);
        Effect::Changed
    }

    /// Inserts pasted text as one line. Rejected characters and trailing white
    /// space are dropped.
    pub(crate) fn paste(&mut self, text: &str) {
        let letters = text
            .chars()
            .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
            .filter(|letter| (self.accepts)(*letter))
            .take(self.room());
        let kept: String = letters.collect();
        self.editor.insert(kept.trim_end_matches(' '));
    }

    /// Returns how many more characters fit.
    fn room(&self) -> usize {
        self.limit.saturating_sub(self.text().chars().count())
    }

    /// Paints the visible part and returns the cursor's column.
    pub(crate) fn draw(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) -> u16 {
        let room = usize::from(area.width).saturating_sub(1);
        let before: usize = self.editor.before().graphemes(true).map(cells).sum();
        let mut hidden = 0;
        let mut visible = String::new();
        let mut taken = 0;
        for cluster in self.text().graphemes(true) {
            if before - hidden > room {
                hidden += cells(cluster);
            } else if taken <= room {
                taken += cells(cluster);
                visible.push_str(&shown(cluster));
            } else {
                break;
            }
        }
        put(buffer, area, &[Span::role(visible, Role::Normal)], theme);
        let column = u16::try_from(before.saturating_sub(hidden)).unwrap_or(u16::MAX);
        area.x
            .saturating_add(column)
            .min(area.right().saturating_sub(1))
    }
}

/// Returns the number of cells that a cluster takes when painted.
fn cells(cluster: &str) -> usize {
    width(&shown(cluster))
}

/// Returns true unless the character would be escaped on screen.
fn is_visible(letter: char) -> bool {
    let mut bytes = [0; 4];
    let text: &str = letter.encode_utf8(&mut bytes);
    shown(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_control_characters_are_dropped() {
        let field = LineInput::field("a\tb\r\n\u{1b}[2Jc\u{9b}\u{7}");
        assert_eq!(field.text(), "a b  [2Jc");
        let field = LineInput::field(&"漢".repeat(100_000));
        assert_eq!(field.text().chars().count(), FIELD_LIMIT);
        let mut query = LineInput::query();
        query.paste("a\tb\u{202e}c\n");
        assert_eq!(query.text(), "a bc");
    }

    #[test]
    fn the_cursor_is_always_visible() {
        let mut field = LineInput::field(&"漢字".repeat(30));
        let area = Rect::new(3, 0, 11, 1);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
        assert_eq!(field.draw(&mut buffer, area, &Theme::mono()), 13);
        field.key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE));
        assert_eq!(field.draw(&mut buffer, area, &Theme::mono()), 3);
        field.key(KeyEvent::new(KeyCode::Right, KeyModifiers::NONE));
        assert_eq!(field.draw(&mut buffer, area, &Theme::mono()), 5);
    }
}
