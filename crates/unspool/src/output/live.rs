//! The end of a terminal's scrollback that is still being worked on.
//!
//! Finished lines are written for good and scroll up like any other output. The
//! open lines below them are painted anew where they changed. Between two
//! frames the cursor rests, hidden, at the start of the first open line: when
//! the terminal is resized, whatever it does with the lines below, everything
//! from there on is ours and can be painted again. Nothing above is ever
//! touched, and the scrollback is never cleared.
//!
//! [`Live`] makes the bytes of a frame; the caller writes them at once. The open
//! lines must not be wider than the screen nor more than it has rows.

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
    /// Columns of the screen.
    width: usize,
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
const ERASE_BELOW: &str = "\u{1b}[J";

impl Live {
    /// For a screen of so many columns. `synchronised`: the terminal knows
    /// synchronised updates.
    pub fn new(width: usize, synchronised: bool) -> Self {
        Self {
            width,
            synchronised,
            ..Self::default()
        }
    }

    /// The terminal has another size now.
    pub fn resize(&mut self, width: usize) {
        self.width = width;
        self.lost = true;
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
        if self.lost || finished.iter().any(|row| row.cells > self.width) {
            // Rows do not lie where they would be compared.
            out.push('\r');
            out.push_str(ERASE_BELOW);
            self.painted.clear();
            self.lost = false;
        }
        self.rows(finished, &open, &mut out);
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
        out
    }

    /// Writes the rows over those that are painted, and goes back to the first
    /// open one.
    fn rows(&self, finished: &[Row], open: &[Row], out: &mut String) {
        let total = finished.len() + open.len();
        for (index, row) in finished.iter().chain(open).enumerate() {
            let old = self.painted.get(index);
            if old != Some(row) {
                out.push_str(&row.text);
                if old.is_some() && row.cells < self.width {
                    out.push_str(ERASE_LINE);
                }
            }
            if index + 1 < total || open.is_empty() {
                out.push_str("\r\n");
            }
        }
        if self.painted.len() > total {
            // To erase on a line that is full would take its last character.
            let below = if open.is_empty() { "" } else { "\u{1b}[B\r" };
            let back = if open.is_empty() { "" } else { "\u{1b}[A" };
            out.extend([below, ERASE_BELOW, back]);
        }
        out.push('\r');
        if open.len() > 1 {
            // Writing to a String cannot fail.
            let _ = write!(out, "\u{1b}[{}A", open.len() - 1);
        }
    }
}
