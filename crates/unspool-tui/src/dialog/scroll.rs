//! Text of any length in a few rows, which tells what is not seen.
//!
//! It is laid out once for each width.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span};
use unspool::layout::{layout, width};
use unspool::theme::Theme;

use crate::paint::{count, put};

/// Cells of a text that tell what it is about.
const ENOUGH: usize = 30;

/// Text that scrolls.
#[derive(Default)]
pub(super) struct Scroll {
    blocks: Vec<Block>,
    /// So many of them only say what the others are.
    headings: usize,
    lines: Vec<Line>,
    /// The rows of the headings.
    heading_rows: usize,
    /// The rows behind the headings that were painted at this width.
    seen: BTreeSet<usize>,
    /// Whether so much of them was painted that one knows what it is about.
    is_seen: bool,
    /// Whether all of them were painted at another width.
    is_read: bool,
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

    /// The first blocks only say what the others are.
    pub(super) fn with_headings(mut self, headings: usize) -> Self {
        self.headings = headings;
        self
    }

    /// Whether there is more of it than was painted last.
    pub(super) fn scrolls(&self) -> bool {
        self.lines.len() > self.page
    }

    /// Whether as much as a line was seen of what follows the headings.
    pub(super) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// The rows with words that were not painted yet.
    pub(super) fn unread(&self) -> usize {
        if self.is_read {
            return 0;
        }
        let rows = self.lines.iter().enumerate().skip(self.heading_rows);
        let unread = rows.filter(|(at, line)| cells(line) > 0 && !self.seen.contains(at));
        unread.count()
    }

    /// The rows that all of it takes.
    pub(super) fn height(&mut self, wide: u16) -> usize {
        if self.wide != Some(wide) {
            self.is_read |= self.wide.is_some() && self.unread() == 0;
            self.wide = Some(wide);
            let page = Some(usize::from(wide.max(1)));
            self.lines = layout(&self.blocks, page, &[], &[]);
            let headings = self.blocks.get(..self.headings).unwrap_or_default();
            self.heading_rows = layout(headings, page, &[], &[]).len();
            self.seen.clear();
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
        self.page = if fits { height } else { (height - 1).max(1) };
        self.top = self.top.min(total.saturating_sub(self.page));
        let shown = self.lines.iter().enumerate().skip(self.top);
        for ((at, line), row) in shown.take(self.page).zip(area.rows()) {
            put(buffer, row, line, theme);
            if at >= self.heading_rows && !self.is_read {
                self.seen.insert(at);
            }
        }
        self.is_seen = self.is_seen || self.has_seen_enough();
        let last = area.rows().next_back().unwrap_or_default();
        if !fits && height > 1 {
            put(buffer, last, &self.rest(total), theme);
        } else if !fits {
            // A row of its own would leave nothing of the text.
            let sign = Rect {
                x: last.right() - 1,
                width: 1,
                ..last
            };
            put(buffer, sign, &[Span::role("⋮", Role::Red)], theme);
        }
    }

    fn has_seen_enough(&self) -> bool {
        let seen = self.seen.iter().filter_map(|at| self.lines.get(*at));
        let seen: usize = seen.map(cells).sum();
        let all = self.lines.iter().skip(self.heading_rows).map(cells);
        seen > 0 && (seen >= ENOUGH || seen >= all.sum())
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

/// The cells of a row that hold words.
fn cells(line: &Line) -> usize {
    line.iter().map(|span| width(span.text.trim())).sum()
}
