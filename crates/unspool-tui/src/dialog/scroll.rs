//! Scrollable text that tracks which rows were visible.
//!
//! It is laid out once per width.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span};
use unspool::layout::{layout, width};
use unspool::theme::Theme;

use crate::paint::{count, put};

/// Number of visible cells after which the subject counts as seen.
const ENOUGH: usize = 30;

/// Scrollable text.
#[derive(Default)]
pub(super) struct Scroll {
    blocks: Vec<Block>,
    /// Number of leading blocks that are only headings.
    headings: usize,
    lines: Vec<Line>,
    /// Number of rows of the headings.
    heading_rows: usize,
    /// Rows after the headings that were visible at this width.
    seen: BTreeSet<usize>,
    /// True once enough of them was visible to know the subject.
    is_seen: bool,
    /// True if all of them were visible at another width.
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

    /// Treats the first blocks as headings.
    pub(super) fn with_headings(mut self, headings: usize) -> Self {
        self.headings = headings;
        self
    }

    /// Returns true if the last frame did not show everything.
    pub(super) fn scrolls(&self) -> bool {
        self.lines.len() > self.page
    }

    /// Returns true once about a line after the headings was visible.
    pub(super) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Returns the number of non-empty rows that were never visible.
    pub(super) fn unread(&self) -> usize {
        if self.is_read {
            return 0;
        }
        let rows = self.lines.iter().enumerate().skip(self.heading_rows);
        let unread = rows.filter(|(at, line)| cells(line) > 0 && !self.seen.contains(at));
        unread.count()
    }

    /// Returns the total number of rows.
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

    /// Paints what fits. The last row mentions hidden rows.
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
            // A separate row would leave no space for text.
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

    /// Describes the number of hidden rows.
    fn rest(&self, total: usize) -> Line {
        let below = total.saturating_sub(self.top + self.page);
        let words = match (self.top, below) {
            (above, 0) => format!("⋮ {} above", count(above, "line", "lines")),
            (0, below) => format!("⋮ {} below, PgDn", count(below, "more line", "more lines")),
            (above, below) => format!("⋮ {above} above, {below} below"),
        };
        vec![Span::role(words, Role::Red)]
    }

    /// Handles a scrolling key. Returns false for other keys.
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

    /// Handles the wheel. Returns false for other mouse events.
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

/// Returns the number of non-blank cells in a row.
fn cells(line: &Line) -> usize {
    line.iter().map(|span| width(span.text.trim())).sum()
}
