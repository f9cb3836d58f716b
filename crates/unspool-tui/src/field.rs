//! A text of one line that a person types, for dialogs.
//!
//! It holds no control character, whatever was typed or pasted, and is bounded.
//! What does not fit is scrolled so that the cursor is seen.

use ratatui::buffer::Buffer as Cells;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;
use unspool::doc::{Role, Span};
use unspool::layout::width;
use unspool::theme::Theme;

use crate::buffer::{Buffer, Edit};
use crate::paint::{put, shown};

/// Bytes that a field may have.
const LONGEST: usize = 10_000;

/// A text of one line.
#[derive(Default)]
pub(crate) struct Field {
    buffer: Buffer,
}

impl Field {
    pub(crate) fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.paste(text);
        field
    }

    pub(crate) fn text(&self) -> &str {
        self.buffer.text()
    }

    /// Takes letters and editing keys.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Edit {
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(letter) if is_plain => self.type_in(letter),
            _ => self.buffer.key(key),
        }
    }

    fn type_in(&mut self, letter: char) -> Edit {
        if letter.is_control() || self.text().len() >= LONGEST {
            return Edit::Idle;
        }
        self.buffer.type_in(letter);
        Edit::Done
    }

    /// Takes a text at once, without its control characters.
    pub(crate) fn paste(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.text().len());
        let mut kept = String::new();
        for letter in text.chars() {
            let letter = if letter.is_whitespace() { ' ' } else { letter };
            if kept.len() + letter.len_utf8() > room {
                break;
            }
            if !letter.is_control() {
                kept.push(letter);
            }
        }
        self.buffer.insert(kept.trim_end_matches(' '));
    }

    /// Paints it; gives back the column of the cursor.
    pub(crate) fn draw(&self, cells: &mut Cells, area: Rect, theme: &Theme) -> u16 {
        let room = usize::from(area.width).saturating_sub(1);
        let before: usize = self.buffer.before().graphemes(true).map(wide).sum();
        let mut hidden = 0;
        let mut seen = String::new();
        let clusters = self.text().graphemes(true);
        let mut clusters = clusters.skip_while(|cluster| {
            let is_hidden = before - hidden > room;
            if is_hidden {
                hidden += wide(cluster);
            }
            is_hidden
        });
        let mut taken = 0;
        while let Some(cluster) = clusters.next().filter(|_| taken <= room) {
            taken += wide(cluster);
            seen.push_str(&shown(cluster));
        }
        drop(clusters);
        put(cells, area, &[Span::role(seen, Role::Normal)], theme);
        let column = u16::try_from(before.saturating_sub(hidden)).unwrap_or(u16::MAX);
        area.x
            .saturating_add(column)
            .min(area.right().saturating_sub(1))
    }
}

fn wide(cluster: &str) -> usize {
    width(&shown(cluster))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_pasted_can_move_the_cursor() {
        let field = Field::new("a\tb\r\n\u{1b}[2Jc\u{9b}\u{7}");
        assert_eq!(field.text(), "a b  [2Jc");
        assert_eq!(Field::new(&"漢".repeat(100_000)).text().len(), 9_999);
    }

    #[test]
    fn the_cursor_is_always_seen() {
        let mut field = Field::new(&"漢字".repeat(30));
        let area = Rect::new(3, 0, 11, 1);
        let mut cells = Cells::empty(Rect::new(0, 0, 20, 1));
        assert_eq!(field.draw(&mut cells, area, &Theme::mono()), 13);
        field.key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE));
        assert_eq!(field.draw(&mut cells, area, &Theme::mono()), 3);
        field.key(KeyEvent::new(KeyCode::Right, KeyModifiers::NONE));
        assert_eq!(field.draw(&mut cells, area, &Theme::mono()), 5);
    }
}
