//! A full-screen list from which one row is chosen, with fuzzy search.
//!
//! It knows nothing of what the rows are: it is given their cells, the text that
//! is matched beside them, and a function that tells more of one. [`Picker::pick`]
//! gives back the number of the row that was chosen; the next call goes on where
//! that one ended. [`Picker::event`] is all that keys do, without a terminal.
//!
//! `matching` finds the rows, `columns` lays one out, `draw` paints. The work for
//! a frame depends on the size of the screen, not on the number of rows.

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
use crate::screen::{self, Happening, Screen};
use columns::Columns;

/// Characters of a cell that are kept.
const LONGEST_CELL: usize = 400;

/// What is to be chosen from. Its text has to be clean.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// One text for each column.
    pub cells: Vec<Span>,
    /// What is matched too, though it is not seen.
    pub hidden: Vec<String>,
}

/// What is told of the row that is marked. Its text has to be clean.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// Its name in full.
    pub heading: Span,
    /// What it is about.
    pub text: Line,
    /// Names and values.
    pub facts: Vec<(&'static str, Line)>,
}

/// How picking ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The row with this number was chosen.
    Chosen(usize),
    /// The row with this number was chosen, to be looked at closely.
    Opened(usize),
    /// None was.
    Left,
    /// A signal asks to end.
    Signal(i32),
}

/// What has to be done after something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing but to paint what changed.
    Stay,
    /// To give back this row.
    Choose(usize),
    /// To give back this row, to be looked at closely.
    Open(usize),
    /// To give back none.
    Leave,
    /// To stop the process for a while.
    Suspend,
    /// To paint everything anew.
    Repaint,
}

/// The list and where a person is in it.
pub struct Picker {
    rows: Vec<Row>,
    columns: Columns,
    finder: Finder,
    query: LineInput,
    /// The marked row, counted among those that match.
    marked: usize,
    /// The first row that is seen, counted in the same way.
    top: usize,
    /// Where the list was painted last.
    list: Rect,
}

impl Picker {
    /// A list of rows, in the order in which they are seen without a query.
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

    /// Lets a person choose.
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
                Happening::Signal(signal) => return Ok(Outcome::Signal(signal)),
                Happening::Back | Happening::Woken | Happening::Due => None,
                Happening::Event(event) => Some(event),
            };
            // What was typed meanwhile is not painted letter by letter.
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
                next = screen::waiting()?;
            }
        }
    }

    /// What was typed.
    pub fn query(&self) -> &str {
        self.query.text()
    }

    /// The rows that match, the best first.
    pub fn found(&self) -> &[usize] {
        self.finder.found()
    }

    /// The row that is marked.
    pub fn marked(&self) -> Option<usize> {
        self.found().get(self.marked).copied()
    }

    /// Takes what happened on the terminal.
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

    /// Finds what the query matches now; the best match is marked.
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

    /// The rows that a page has.
    fn page(&self) -> isize {
        isize::try_from(self.list.height).unwrap_or(1).max(1)
    }

    /// Marks the row so many below.
    fn step(&mut self, by: isize) {
        let last = self.found().len().saturating_sub(1);
        self.marked = self.marked.saturating_add_signed(by).min(last);
    }

    /// Scrolls so that the marked row is within a list of this height.
    fn scroll_into(&mut self, height: usize) {
        let highest = (self.marked + 1).saturating_sub(height);
        self.top = self.top.clamp(highest, self.marked.max(highest));
        // No room is left empty that could show rows.
        let most = self.found().len().saturating_sub(height);
        self.top = self.top.min(most);
    }
}

/// A text that no screen can hold is not measured anew for each frame.
fn shorten(cell: &mut Span) {
    if let Some((end, _)) = cell.text.char_indices().nth(LONGEST_CELL) {
        cell.text.truncate(end);
    }
}

#[cfg(test)]
mod tests;
