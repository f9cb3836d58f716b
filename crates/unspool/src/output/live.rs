//! The end of a terminal's scrollback that is still being worked on.
//!
//! Finished lines are written for good and scroll up like any other output. The
//! open lines below them are painted anew where they changed. Between two
//! frames the cursor rests, hidden, at the start of the first open line: when
//! the terminal is resized, whatever it does with the lines below, everything
//! from there on is ours and can be painted again. Nothing above is ever
//! touched, and the scrollback is never cleared.
//!
//! [`Live`] makes the bytes of a frame; the caller writes them at once. How many
//! open lines may be painted, and how much of each, is what [`Live::reach`] says
//! (`live/reach.rs`); what is too wide for the screen is cut off.

mod reach;

pub use reach::Reach;

use std::fmt::Write as _;

/// One line as it is written, and how many cells it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The text with its codes, without a line end.
    pub text: String,
    /// The cells that it takes.
    pub cells: usize,
}

/// What is on the screen below the finished lines.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Columns and rows of the screen.
    width: usize,
    height: usize,
    /// Rows of the screen that stand above the open ones, and the lines that
    /// they would be if nothing was wrapped; both at least.
    above: usize,
    lines: usize,
    /// Whether the terminal shows all of a frame at once if it is told to.
    synchronised: bool,
    painted: Vec<Row>,
    /// What is painted is not known: the terminal was resized, or somebody
    /// else wrote.
    lost: bool,
    hidden: bool,
}

const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_LINE: &str = "\u{1b}[K";
/// From the start of a line. The first line goes first: tmux takes what is
/// erased from the first cell of the screen on into its scrollback.
const ERASE_BELOW: &str = "\u{1b}[K\u{1b}[C\u{1b}[J\r";
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
/// Gives the cursor back, and lines that are too long wrap again: for when all
/// else fails.
pub const RESTORE: &str = "\u{1b}[?7h\u{1b}[?25h";

impl Live {
    /// For a screen of so many columns and rows. `synchronised`: the terminal
    /// knows synchronised updates.
    pub fn new(width: usize, height: usize, synchronised: bool) -> Self {
        Self {
            width,
            height,
            synchronised,
            ..Self::default()
        }
    }

    /// Says that at least so many rows of the screen stand above the cursor.
    pub fn starts_below(&mut self, rows: usize) {
        self.above = rows.min(self.height.saturating_sub(1));
        self.lines = self.above.min(1);
    }

    /// The terminal has another size now. Rows that are too wide for it were
    /// wrapped, which moved all that stands above them up; on a wider one, lines
    /// that were wrapped take fewer rows.
    pub fn resize(&mut self, width: usize, height: usize) {
        self.above = self.above.min(height.saturating_sub(1));
        if width < self.width {
            let painted = self.painted.iter();
            let more: usize = painted.map(|row| reach::more_rows(row.cells, width)).sum();
            self.above = self.above.saturating_sub(more);
        } else if width > self.width {
            self.above = self.above.min(self.lines);
        }
        self.width = width;
        self.height = height;
        self.lost = true;
    }

    /// What may be painted below `finished` in the next frame.
    pub fn reach(&self, finished: &[Row]) -> Reach {
        Reach::new(self.width, self.height, self.above_after(finished))
    }

    fn above_after(&self, finished: &[Row]) -> usize {
        let rows = finished.iter();
        let rows: usize = rows
            .map(|row| 1 + reach::more_rows(row.cells, self.width))
            .sum();
        self.above + rows
    }

    /// The bytes that write `finished` for good and paint `open` below. Empty
    /// when nothing changes.
    pub fn frame(&mut self, finished: &[Row], open: Vec<Row>) -> String {
        if finished.is_empty() && !self.lost && open == self.painted {
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
        if self.lost || (!finished.is_empty() && !self.painted.is_empty()) {
            // Rows do not lie where they would be compared.
            out.push('\r');
            out.push_str(ERASE_BELOW);
            self.painted.clear();
            self.lost = false;
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

    /// The bytes that take the open lines away and give the cursor back: before
    /// somebody else writes, and at the end.
    pub fn leave(&mut self) -> String {
        let mut out = String::new();
        if !self.painted.is_empty() || self.lost {
            out.push('\r');
            out.push_str(ERASE_BELOW);
            self.painted.clear();
            self.lost = false;
        }
        if self.hidden {
            out.push_str(SHOW_CURSOR);
            self.hidden = false;
        }
        self.starts_below(0);
        out
    }

    /// Writes the rows, the open ones over those that are painted, and goes
    /// back to the first open one.
    ///
    /// The terminal may have been resized a moment ago, which is not known here
    /// yet, and it may take a character for wider than it is held to be here.
    /// So open rows are not wrapped by the terminal, what is finished is not
    /// written over anything, and going down scrolls at the end of the screen.
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
            // To erase on a line that is full would take its last character.
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
