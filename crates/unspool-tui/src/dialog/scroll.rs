//! Text of any length in a few rows, which tells what is not seen.
//!
//! It is laid out once for each width.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span};
use unspool::layout::layout;
use unspool::theme::Theme;

use crate::paint::{count, put};

/// Text that scrolls.
#[derive(Default)]
pub(super) struct Scroll {
    blocks: Vec<Block>,
    lines: Vec<Line>,
    wide: Option<u16>,
    top: usize,
    page: usize,
}

impl Scroll {
    pub(super) fn new(blocks: Vec<Block>) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }

    /// The rows that all of it takes.
    pub(super) fn height(&mut self, wide: u16) -> usize {
        if self.wide != Some(wide) {
            self.wide = Some(wide);
            let page = Some(usize::from(wide.max(1)));
            self.lines = layout(&self.blocks, page, &[], &[]);
        }
        self.lines.len()
    }

    /// Paints what fits; the last row tells of what does not.
    pub(super) fn draw(&mut self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let total = self.height(area.width);
        let height = usize::from(area.height);
        if area.is_empty() {
            return;
        }
        let fits = total <= height;
        self.page = if fits {
            height
        } else {
            height.saturating_sub(1)
        };
        self.top = self.top.min(total.saturating_sub(self.page));
        let mut rows = area.rows();
        if !fits {
            let last = rows.next_back().unwrap_or_default();
            put(buffer, last, &self.rest(total), theme);
        }
        for (line, row) in self.lines.iter().skip(self.top).zip(rows) {
            put(buffer, row, line, theme);
        }
    }

    /// How much is not seen.
    fn rest(&self, total: usize) -> Line {
        let below = total.saturating_sub(self.top + self.page);
        let words = match (self.top, below) {
            (above, 0) => format!("⋮ {} above", count(above, "line", "lines")),
            (0, below) => format!("⋮ {} below, PgDn", count(below, "more line", "more lines")),
            (above, below) => format!("⋮ {above} above, {below} below"),
        };
        vec![Span::role(words, Role::Red)]
    }

    /// Takes a key that scrolls; whether it is one.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::PageDown => self.top = self.top.saturating_add(self.page.max(1)),
            KeyCode::PageUp => self.top = self.top.saturating_sub(self.page.max(1)),
            KeyCode::Char('d') if control => self.top += self.page.div_ceil(2),
            KeyCode::Char('u') if control => {
                self.top = self.top.saturating_sub(self.page.div_ceil(2));
            }
            KeyCode::Home => self.top = 0,
            KeyCode::End => self.top = self.lines.len(),
            _ => return false,
        }
        self.top = self.top.min(self.lines.len().saturating_sub(self.page));
        true
    }

    /// Takes the wheel; whether it is that.
    pub(super) fn wheel(&mut self, kind: MouseEventKind) -> bool {
        match kind {
            MouseEventKind::ScrollDown => self.top += 3,
            MouseEventKind::ScrollUp => self.top = self.top.saturating_sub(3),
            _ => return false,
        }
        self.top = self.top.min(self.lines.len().saturating_sub(self.page));
        true
    }
}
