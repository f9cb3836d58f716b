//! The cells of a terminal without a right edge.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar as _;
use vte::{Params, Perform};

use super::Attributes;

/// Assumed height of the screen, which decides where the home position is.
const HEIGHT: usize = 24;

/// Width of a tab where nothing depends on its column.
pub(crate) const TAB: usize = 4;

/// Distance between the tab stops of a terminal.
const STOP: usize = 8;

/// Rows that the cursor can reach by default; those above are finished.
const REACH: usize = 1000;

/// The farthest column that a move leads to.
const MOVE: usize = 1000;

/// The longest row; longer text continues on the next.
pub(crate) const LONGEST_ROW: usize = 1 << 14;

/// Blank cells and empty rows that moves may add in all.
const PADDING: usize = 1 << 18;

/// Bytes of combining marks that a character can carry.
const MARKS: usize = 64;

/// A piece of a row with the same attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) attributes: Attributes,
}

/// One column of a row. A wide character is followed by a hollow cell.
#[derive(Clone)]
struct Cell {
    character: char,
    marks: Option<Box<str>>,
    attributes: Attributes,
}

/// The second cell of a wide character.
const HOLLOW: char = '\0';

impl Cell {
    fn new(character: char, attributes: Attributes) -> Self {
        Self {
            character,
            marks: None,
            attributes,
        }
    }

    fn add_mark(&mut self, mark: char) {
        let marks = self.marks.as_deref().unwrap_or_default();
        if marks.len() < MARKS {
            self.marks = Some(format!("{marks}{mark}").into());
        }
    }

    fn blank() -> Self {
        Self::new(' ', Attributes::default())
    }
}

/// A screen that grows downwards and finishes rows at its top.
#[derive(Clone)]
pub(crate) struct Grid {
    finished: Vec<Vec<Run>>,
    rows: VecDeque<Vec<Cell>>,
    row: usize,
    column: usize,
    attributes: Attributes,
    /// Rows that the cursor can reach.
    reach: usize,
    padding: usize,
    /// A row, and how many of its first cells are known to be blank, so that
    /// erasing them again costs nothing.
    blank: (usize, usize),
    /// Tabs move to the tab stops of a terminal instead of by a fixed width.
    pub(crate) stops: bool,
    /// Clearing the screen finishes its rows instead of erasing them, and a single
    /// blank at the end of a row is kept: programs leave it where they wrap.
    pub(crate) keeps_all: bool,
    /// A backspace or a sequence other than a colour was seen.
    redraws: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Self::with_reach(REACH)
    }
}

impl Grid {
    /// Creates an empty grid in which the cursor can reach the last `reach` rows.
    pub(crate) fn with_reach(reach: usize) -> Self {
        Self {
            finished: Vec::new(),
            rows: VecDeque::new(),
            row: 0,
            column: 0,
            attributes: Attributes::default(),
            reach,
            padding: 0,
            blank: (0, 0),
            stops: false,
            keeps_all: false,
            redraws: false,
        }
    }

    /// Returns all rows, the finished ones first.
    pub(crate) fn into_rows(mut self) -> Vec<Vec<Run>> {
        self.ensure_row();
        self.finish_rows(0);
        self.finished
    }

    /// Returns the rows that were finished since the last call.
    pub(crate) fn take_finished(&mut self) -> Vec<Vec<Run>> {
        self.padding = 0;
        std::mem::take(&mut self.finished)
    }

    /// Finishes the rows that no redraw is expected to reach: all above the cursor
    /// as long as nothing was redrawn, then all but the last `reach` with text.
    pub(crate) fn settle(&mut self, reach: usize) {
        if !self.redraws {
            self.finish_rows(self.rows.len().saturating_sub(self.row));
            return;
        }
        let has_text = |row: &&Vec<Cell>| row.iter().any(|cell| cell.character != ' ');
        let mut below = self.rows.iter().skip(1).filter(has_text).count();
        while below >= reach {
            self.finish_rows(self.rows.len().saturating_sub(1));
            below -= usize::from(self.rows.front().as_ref().is_some_and(has_text));
        }
    }

    /// Finishes rows from the top until `keep` are left.
    pub(crate) fn finish_rows(&mut self, keep: usize) {
        while self.rows.len() > keep {
            let row = self.rows.pop_front().unwrap_or_default();
            let mut text = runs(&row);
            if self.keeps_all
                && let [.., before, last] = row.as_slice()
                && (before.character, last.character) != (' ', ' ')
                && last.character == ' '
                && let Some(run) = text.last_mut()
            {
                run.text.push(' ');
            }
            self.finished.push(text);
            self.row = self.row.saturating_sub(1);
            self.blank = (0, 0);
        }
    }

    fn line_feed(&mut self) {
        self.row += 1;
        self.column = 0;
        self.ensure_row();
    }

    /// Makes the row of the cursor exist, and finishes rows out of reach.
    fn ensure_row(&mut self) {
        while self.rows.len() <= self.row {
            self.rows.push_back(Vec::new());
        }
        self.finish_rows(self.reach);
    }

    /// Fills the row of the cursor up to its column.
    fn pad(&mut self) {
        self.ensure_row();
        let row = &mut self.rows[self.row];
        let missing = self.column.saturating_sub(row.len());
        if self.padding + missing > PADDING {
            self.column = row.len();
        } else if missing > 0 {
            self.padding += missing;
            row.resize(self.column, Cell::blank());
        }
    }

    fn put(&mut self, character: char, cells: usize) {
        if self.column + cells > LONGEST_ROW {
            self.line_feed();
        }
        self.pad();
        self.no_longer_blank(self.column);
        let row = &mut self.rows[self.row];
        clear_halves(row, self.column, cells);
        let hollow = Cell::new(HOLLOW, self.attributes);
        let parts = std::iter::once(Cell::new(character, self.attributes))
            .chain(std::iter::repeat_n(hollow, cells - 1));
        for cell in parts {
            match row.get_mut(self.column) {
                Some(old) => *old = cell,
                None => row.push(cell),
            }
            self.column += 1;
        }
    }

    fn no_longer_blank(&mut self, column: usize) {
        if self.blank.0 == self.row {
            self.blank.1 = self.blank.1.min(column);
        }
    }

    /// Puts a mark on the character before the cursor.
    fn mark(&mut self, mark: char) {
        let column = self.column;
        // A wide character has two cells.
        self.no_longer_blank(column.saturating_sub(2));
        let row = self.rows.get_mut(self.row);
        let base = row.and_then(|row| {
            let before = row.iter_mut().take(column).rev();
            before.into_iter().find(|cell| cell.character != HOLLOW)
        });
        match base {
            Some(cell) => cell.add_mark(mark),
            None => self.put(mark, 1),
        }
    }

    fn move_to(&mut self, row: usize, column: usize) {
        let last = self.rows.len().saturating_sub(1);
        let wanted = row.min(last.max(self.row) + MOVE);
        let added = wanted.saturating_sub(last);
        if self.padding + added <= PADDING {
            self.padding += added;
            self.row = wanted;
        }
        let length = self.rows.get(self.row).map_or(0, Vec::len);
        self.column = column.min(length.max(MOVE));
        self.ensure_row();
    }

    /// The first row of the screen.
    fn top(&self) -> usize {
        self.rows.len().saturating_sub(HEIGHT)
    }

    fn erase_in_line(&mut self, mode: u16) {
        let column = self.column;
        let Some(row) = self.rows.get_mut(self.row) else {
            return;
        };
        match mode {
            0 => row.truncate(column),
            1 => {
                let end = row.len().min(column + 1);
                let (known, blank) = self.blank;
                let start = if known == self.row { blank } else { 0 };
                let cells = row.iter_mut().take(end).skip(start);
                cells.for_each(|cell| *cell = Cell::blank());
                self.blank = (self.row, end.max(start));
            }
            2 => row.clear(),
            _ => {}
        }
    }

    fn erase_in_display(&mut self, mode: u16) {
        let (top, row) = (self.top(), self.row);
        match mode {
            2 if self.keeps_all => self.finish_rows(0),
            0 => self.rows.iter_mut().skip(row + 1).for_each(Vec::clear),
            1 => self
                .rows
                .iter_mut()
                .take(row)
                .skip(top)
                .for_each(Vec::clear),
            2 => self.rows.iter_mut().skip(top).for_each(Vec::clear),
            _ => return,
        }
        if mode < 2 {
            self.erase_in_line(mode);
        }
        if mode == 0 {
            self.rows.truncate(row + 1);
        }
    }
}

impl Perform for Grid {
    fn print(&mut self, character: char) {
        match character.width() {
            Some(0) => self.mark(character),
            Some(cells) => self.put(character, cells),
            None => {}
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' | 0x0B | 0x0C => self.line_feed(),
            b'\r' => self.column = 0,
            0x08 => {
                self.redraws = true;
                self.column = self.column.saturating_sub(1);
            }
            b'\t' if self.stops => self.column = (self.column / STOP + 1) * STOP,
            b'\t' => self.column += TAB,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, parameters: &Params, marks: &[u8], ignore: bool, action: char) {
        self.redraws |= action != 'm';
        if ignore || !marks.is_empty() {
            return;
        }
        let mut values = parameters.iter().map(|p| p.first().copied().unwrap_or(0));
        let first = values.next().unwrap_or(0);
        let count = usize::from(first.max(1));
        let second = usize::from(values.next().unwrap_or(0).max(1));
        let (row, column) = (self.row, self.column);
        match action {
            'm' => self.attributes.apply(parameters),
            'K' => self.erase_in_line(first),
            'J' => self.erase_in_display(first),
            'A' => self.move_to(row.saturating_sub(count), column),
            'B' => self.move_to(row + count, column),
            'C' => self.move_to(row, column + count),
            'D' => self.move_to(row, column.saturating_sub(count)),
            'E' => self.move_to(row + count, 0),
            'F' => self.move_to(row.saturating_sub(count), 0),
            'G' => self.move_to(row, count - 1),
            'd' => self.move_to(self.top() + count - 1, column),
            'H' | 'f' => self.move_to(self.top() + count - 1, second - 1),
            _ => {}
        }
    }
}

/// Blanks the other half of wide characters that are about to be overwritten.
fn clear_halves(row: &mut [Cell], column: usize, cells: usize) {
    let is_hollow = |row: &[Cell], at: usize| row.get(at).is_some_and(|c| c.character == HOLLOW);
    if is_hollow(row, column)
        && let Some(cell) = column.checked_sub(1).and_then(|left| row.get_mut(left))
    {
        *cell = Cell::blank();
    }
    if is_hollow(row, column + cells) {
        row[column + cells] = Cell::blank();
    }
}

/// Splits a row into runs, without the blanks at its end that cannot be seen.
fn runs(row: &[Cell]) -> Vec<Run> {
    let is_blank = |cell: &Cell| cell.marks.is_none() && cell.attributes.hides(cell.character);
    let length = row
        .iter()
        .rposition(|cell| !is_blank(cell))
        .map_or(0, |last| last + 1);
    let row = row.get(..length).unwrap_or_default();
    let mut runs = Vec::new();
    let mut start = 0;
    // The attributes of the run, once something of it can be seen.
    let mut look: Option<Attributes> = None;
    for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !is_blank(cell)) {
        if let Some(look) = look.filter(|look| *look != cell.attributes) {
            runs.push(run(row.get(start..at).unwrap_or_default(), look));
            start = at;
        }
        look = Some(cell.attributes);
    }
    if let Some(look) = look {
        runs.push(run(row.get(start..).unwrap_or_default(), look));
    }
    runs
}

fn run(cells: &[Cell], attributes: Attributes) -> Run {
    let mut text = String::with_capacity(cells.len());
    for cell in cells.iter().filter(|cell| cell.character != HOLLOW) {
        text.push(cell.character);
        text.push_str(cell.marks.as_deref().unwrap_or_default());
    }
    Run { text, attributes }
}
