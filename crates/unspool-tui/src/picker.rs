//! A full-screen list with fuzzy search, from which the user picks one row.
//!
//! It does not interpret the rows: the caller provides their cells, additional
//! text to match, and a function that returns the details of one row.
//! [`Picker::pick`] returns the index of the chosen row; the next call continues
//! with the same query and selection. [`Picker::event`] handles input without a
//! terminal.
//!
//! `matching` searches, `columns` lays out a row, `draw` paints. The cost of a
//! frame depends on the size of the screen, not on the number of rows.

mod columns;
mod draw;

pub use columns::Column;
pub(crate) use columns::fitted;

use std::io;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position, Rect};
use unspool::doc::{Line, Span};
use unspool::theme::Theme;

use crate::editor::Effect;
use crate::line_input::LineInput;
use crate::matching::{Fields, Finder, field};
use crate::screen::{self, Screen, ScreenEvent};
use columns::Columns;

/// Maximum length of a cell, in characters.
const LONGEST_CELL: usize = 400;

/// A row to choose from. Its text must be escaped.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// One text per column.
    pub cells: Vec<Span>,
    /// Additional text to match.
    pub hidden: Vec<String>,
}

/// Details of the selected row. The text must be escaped.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The full name.
    pub heading: Span,
    /// A description.
    pub text: Line,
    /// Names and values.
    pub facts: Vec<(&'static str, Line)>,
}

/// The reason why picking ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The row with this index was chosen.
    Chosen(usize),
    /// The row with this index was chosen for browsing.
    Opened(usize),
    /// The user left without a choice.
    Left,
    /// A signal asked the process to terminate.
    Signal(i32),
}

/// The result of an input event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Repaint and go on.
    Stay,
    /// Return this row.
    Choose(usize),
    /// Return this row for browsing.
    Open(usize),
    /// Leave without a choice.
    Leave,
    /// Suspend the process.
    Suspend,
    /// Redraw the whole screen.
    Repaint,
}

/// The list with its query and selection.
pub struct Picker {
    rows: Vec<Row>,
    columns: Columns,
    finder: Finder,
    query: LineInput,
    /// Index of the selected row among the matches.
    marked: usize,
    /// Index of the first visible row among the matches.
    top: usize,
    /// Area of the list in the last frame.
    list: Rect,
}

impl Picker {
    /// Creates a list. Without a query the rows keep this order.
    pub fn new(columns: &[Column], mut rows: Vec<Row>) -> Self {
        rows.iter_mut()
            .flat_map(|row| &mut row.cells)
            .for_each(shorten);
        let fields = |row: &Row| Fields {
            seen: columns
                .iter()
                .zip(&row.cells)
                .filter(|(column, _)| column.is_matched())
                .map(|(_, cell)| field(&cell.text))
                .collect(),
            hidden: row.hidden.iter().map(|text| field(text)).collect(),
        };
        Self {
            finder: Finder::new(rows.iter().map(fields).collect()),
            columns: Columns::new(columns, rows.iter().map(|row| row.cells.as_slice())),
            rows,
            query: LineInput::query(),
            marked: 0,
            top: 0,
            list: Rect::default(),
        }
    }

    /// Shows the list until the user picks a row or leaves.
    pub fn pick(
        &mut self,
        screen: &mut Screen,
        theme: &Theme,
        detail: &dyn Fn(usize) -> Detail,
    ) -> io::Result<Outcome> {
        screen.open()?;
        let outcome = self.watch(screen, theme, detail);
        screen.close();
        outcome
    }

    fn watch(
        &mut self,
        screen: &mut Screen,
        theme: &Theme,
        detail: &dyn Fn(usize) -> Detail,
    ) -> io::Result<Outcome> {
        loop {
            screen.draw(|frame| draw::draw(frame, self, theme, detail))?;
            let mut next = match screen.next(None)? {
                ScreenEvent::Signal(signal) => return Ok(Outcome::Signal(signal)),
                ScreenEvent::Repaint | ScreenEvent::Woken | ScreenEvent::Timeout => None,
                ScreenEvent::Input(event) => Some(event),
            };
            // Handles all pending keys before the next frame.
            while let Some(event) = next {
                match self.event(&event) {
                    Reaction::Stay => {}
                    Reaction::Choose(row) => return Ok(Outcome::Chosen(row)),
                    Reaction::Open(row) => return Ok(Outcome::Opened(row)),
                    Reaction::Leave => return Ok(Outcome::Left),
                    Reaction::Suspend => {
                        screen.suspend()?;
                    }
                    Reaction::Repaint => screen.reopen()?,
                }
                next = screen::pending_input()?;
            }
        }
    }

    /// Returns the query.
    pub fn query(&self) -> &str {
        self.query.text()
    }

    /// Returns the matching rows, best first.
    pub fn found(&self) -> &[usize] {
        self.finder.found()
    }

    /// Returns the selected row.
    pub fn marked(&self) -> Option<usize> {
        self.found().get(self.marked).copied()
    }

    /// Handles a terminal event.
    pub fn event(&mut self, event: &Event) -> Reaction {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            Event::Paste(text) => {
                self.query.paste(text);
                self.search();
                Reaction::Stay
            }
            Event::Mouse(mouse) => {
                self.mouse(*mouse);
                Reaction::Stay
            }
            _ => Reaction::Stay,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Reaction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Reaction::Leave,
            KeyCode::Char('c' | 'g') if control => return Reaction::Leave,
            KeyCode::Char('d') if control && self.query().is_empty() => return Reaction::Leave,
            KeyCode::Char('z') if control => return Reaction::Suspend,
            KeyCode::Char('l') if control => return Reaction::Repaint,
            KeyCode::Enter => return self.marked().map_or(Reaction::Stay, Reaction::Choose),
            KeyCode::Char('j') if control => {
                return self.marked().map_or(Reaction::Stay, Reaction::Choose);
            }
            KeyCode::Char('o') if control => {
                return self.marked().map_or(Reaction::Stay, Reaction::Open);
            }
            KeyCode::Up => self.step(-1),
            KeyCode::Down => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::Char('n') if control => self.step(1),
            KeyCode::PageUp => self.step(-self.page()),
            KeyCode::PageDown => self.step(self.page()),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            _ => {
                if self.query.key(key) == Effect::Changed {
                    self.search();
                }
            }
        }
        Reaction::Stay
    }

    /// Updates the matches and selects the best one.
    fn search(&mut self) {
        if self.finder.query() != self.query.text() {
            self.finder.search(self.query.text());
            self.marked = 0;
            self.top = 0;
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) {
        let place = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::ScrollUp => self.step(-1),
            MouseEventKind::ScrollDown => self.step(1),
            MouseEventKind::Down(MouseButton::Left) if self.list.contains(place) => {
                let row = self.top + usize::from(mouse.row - self.list.y);
                if row < self.found().len() {
                    self.marked = row;
                }
            }
            _ => {}
        }
    }

    /// Returns the number of rows per page.
    fn page(&self) -> isize {
        isize::try_from(self.list.height).unwrap_or(1).max(1)
    }

    /// Moves the selection.
    fn step(&mut self, by: isize) {
        let last = self.found().len().saturating_sub(1);
        self.marked = self.marked.saturating_add_signed(by).min(last);
    }

    /// Scrolls so that the selected row is visible at this height.
    fn scroll_into(&mut self, height: usize) {
        let highest = (self.marked + 1).saturating_sub(height);
        self.top = self.top.clamp(highest, self.marked.max(highest));
        // Don't leave empty space below the last row.
        let most = self.found().len().saturating_sub(height);
        self.top = self.top.min(most);
    }
}

/// Limits a cell, so that a huge text is not measured in every frame.
fn shorten(cell: &mut Span) {
    if let Some((end, _)) = cell.text.char_indices().nth(LONGEST_CELL) {
        cell.text.truncate(end);
    }
}

#[cfg(test)]
mod tests;
