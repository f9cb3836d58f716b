//! Redraws open lines at the end of a terminal's scrollback.
//!
//! Finished lines are printed once and scroll up like any other output. The
//! open lines below are redrawn where they changed. Between two frames the
//! hidden cursor stays at the start of the first open line: after a resize,
//! everything from there on is ours and can be redrawn. Lines above are never
//! touched, and the scrollback is never cleared.
//!
//! [`Live`] returns the bytes of a frame; the caller writes them at once.
//! [`Live::row_budget`] limits the open lines that may be drawn; lines too wide
//! for the screen are cut.

mod row_budget;

pub use row_budget::RowBudget;

use std::fmt::Write as _;

/// A rendered line and its width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The text with escape codes, without a newline.
    pub text: String,
    /// The width in cells.
    pub cells: usize,
}

/// The screen area below the finished lines.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Columns and rows of the screen.
    width: usize,
    height: usize,
    /// Minimum number of screen rows above the open ones, and of the lines in
    /// them.
    above: usize,
    lines: usize,
    /// True if the terminal supports synchronized output (mode 2026).
    synchronised: bool,
    painted: Vec<Row>,
    /// True if the screen content is unknown, after a resize or foreign output.
    unknown: bool,
    hidden: bool,
}

const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_LINE: &str = "\u{1b}[K";
/// Erases from the start of a line. Erases the first line separately, because
/// tmux moves everything erased from the first screen cell on into its
/// scrollback.
const ERASE_BELOW: &str = "\u{1b}[K\u{1b}[C\u{1b}[J\r";
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
/// Shows the cursor and enables wrapping: a last resort, for example on a
/// panic.
pub const RESTORE: &str = "\u{1b}[?7h\u{1b}[?25h";

impl Live {
    /// Creates a live area for a screen of this size. `synchronised` enables
    /// synchronized output.
    pub fn new(width: usize, height: usize, synchronised: bool) -> Self {
        Self {
            width,
            height,
            synchronised,
            ..Self::default()
        }
    }

    /// Sets the minimum number of screen rows above the cursor.
    pub fn set_rows_above(&mut self, rows: usize) {
        self.above = rows.min(self.height.saturating_sub(1));
        self.lines = self.above.min(1);
    }

    /// Adapts to a new size. On a narrower screen, rows that are too wide were
    /// wrapped and pushed the rows above up; on a wider one, wrapped lines take
    /// fewer rows.
    pub fn resize(&mut self, width: usize, height: usize) {
        self.above = self.above.min(height.saturating_sub(1));
        if width < self.width {
            let painted = self.painted.iter();
            let more: usize = painted
                .map(|row| row_budget::more_rows(row.cells, width))
                .sum();
            self.above = self.above.saturating_sub(more);
        } else if width > self.width {
            self.above = self.above.min(self.lines);
        }
        self.width = width;
        self.height = height;
        self.unknown = true;
    }

    /// Returns the budget for open rows below `finished` in the next frame.
    pub fn row_budget(&self, finished: &[Row]) -> RowBudget {
        RowBudget::new(self.width, self.height, self.above_after(finished))
    }

    fn above_after(&self, finished: &[Row]) -> usize {
        let rows = finished.iter();
        let rows: usize = rows
            .map(|row| 1 + row_budget::more_rows(row.cells, self.width))
            .sum();
        self.above + rows
    }

    /// Returns the bytes that print `finished` and draw `open` below; empty if
    /// nothing changed.
    pub fn frame(&mut self, finished: &[Row], open: Vec<Row>) -> String {
        if finished.is_empty() && !self.unknown && open == self.painted {
            return String::new();
        }
        let mut out = String::new();
        if self.synchronised {
            out.push_str(BEGIN);
        }
        if !self.hidden && !open.is_empty() {
            out.push_str(HIDE_CURSOR);
            self.hidden = true;
        }
        if self.unknown || (!finished.is_empty() && !self.painted.is_empty()) {
            // The rows on the screen moved, so they cannot be compared.
            out.push('\r');
            out.push_str(ERASE_BELOW);
            self.painted.clear();
            self.unknown = false;
        }
        self.rows(finished, &open, &mut out);
        let most = self.height.saturating_sub(open.len().max(1));
        self.above = self.above_after(finished).min(most);
        self.lines = (self.lines + finished.len()).min(self.height);
        self.painted = open;
        if self.synchronised {
            out.push_str(END);
        }
        out
    }

    /// Returns the bytes that erase the open lines and show the cursor, before
    /// foreign output and at the end.
    pub fn leave(&mut self) -> String {
        let mut out = String::new();
        if !self.painted.is_empty() || self.unknown {
            out.push('\r');
            out.push_str(ERASE_BELOW);
            self.painted.clear();
            self.unknown = false;
        }
        if self.hidden {
            out.push_str(SHOW_CURSOR);
            self.hidden = false;
        }
        self.set_rows_above(0);
        out
    }

    /// Writes the rows, overwriting the open ones, and moves back to the first
    /// open row.
    ///
    /// The terminal may have been resized just now, or may draw a character
    /// wider than expected. Therefore wrapping is off for open rows, finished
    /// rows never overwrite anything, and moving down scrolls at the end of the
    /// screen.
    fn rows(&self, finished: &[Row], open: &[Row], out: &mut String) {
        for row in finished {
            out.push_str(&row.text);
            out.push_str("\r\n");
        }
        if open.is_empty() && self.painted.is_empty() {
            return;
        }
        out.push_str(NO_WRAP);
        for (index, row) in open.iter().enumerate() {
            if index > 0 {
                out.push_str("\r\n");
            }
            let old = self.painted.get(index);
            if old != Some(row) {
                out.push_str(&row.text);
                if old.is_some() && row.cells < self.width {
                    out.push_str(ERASE_LINE);
                }
            }
        }
        if self.painted.len() > open.len() {
            // Erasing at the end of a full line would erase its last character.
            let (below, back) = if open.is_empty() {
                ("", "")
            } else {
                ("\r\n", "\u{1b}[A")
            };
            out.extend([below, ERASE_BELOW, back]);
        }
        out.push_str(WRAP);
        out.push('\r');
        if open.len() > 1 {
            // Writing to a String cannot fail.
            let _ = write!(out, "\u{1b}[{}A", open.len() - 1);
        }
    }
}
