//! The fast path for output in which only colours change, as in most output:
//! lines grow to the right, with tabs and colours. Anything else requires the
//! grid.

use unicode_width::UnicodeWidthChar as _;
use vte::{Params, Perform};

use crate::doc::capture::style;
use crate::doc::{Line, Span, append};
use crate::sanitize;
use crate::terminal::{Attributes, LONGEST_ROW, TAB};

/// Maximum blanks that tabs may add in total.
const PADDING: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Painted {
    lines: Vec<Line>,
    line: Line,
    /// The characters since the last change of attributes, and the length of
    /// the visible part in bytes.
    run: String,
    seen: usize,
    /// The attributes of the run, once part of it is visible.
    look: Option<Attributes>,
    attributes: Attributes,
    column: usize,
    /// The column of the next character, after tabs.
    tab: usize,
    padding: usize,
    carriage_returned: bool,
    failed: bool,
}

impl Painted {
    /// Returns all lines; `None` if the grid is needed.
    pub(super) fn into_lines(mut self) -> Option<Vec<Line>> {
        if self.failed {
            return None;
        }
        self.end_line();
        Some(self.lines)
    }

    /// Processes a text: runs of ASCII at once, everything else through the
    /// parser.
    pub(super) fn paint(&mut self, parser: &mut vte::Parser, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
            let length = rest.bytes().take_while(is_plain).count();
            let (run, other) = rest.split_at(length);
            self.print_all(run);
            let (other, after) = other.split_at(unit(other));
            parser.advance(self, other.as_bytes());
            rest = after;
        }
    }

    /// Prints a run of ASCII, like printing each character.
    fn print_all(&mut self, run: &str) {
        let mut characters = run.chars();
        let Some(first) = characters.next() else {
            return;
        };
        self.print(first);
        let run = characters.as_str();
        if self.failed {
            return;
        }
        let attributes = self.attributes;
        let is_blank = |character: char| attributes.hides(character);
        let seen = run.trim_start_matches(is_blank);
        let blanks = run.len() - seen.len();
        self.run.push_str(run.get(..blanks).unwrap_or_default());
        if !seen.is_empty() {
            self.begin_run(attributes);
            self.run.push_str(seen.trim_end_matches(is_blank));
            self.seen = self.run.len();
            let blanks = seen.trim_end_matches(is_blank).len();
            self.run.push_str(seen.get(blanks..).unwrap_or_default());
        }
        self.column += run.len();
        self.failed |= self.column > LONGEST_ROW;
    }

    fn put(&mut self, character: char, attributes: Attributes) {
        if attributes.hides(character) {
            self.run.push(character);
            return;
        }
        self.begin_run(attributes);
        self.run.push(character);
        self.seen = self.run.len();
    }

    /// Starts a visible run with these attributes.
    fn begin_run(&mut self, attributes: Attributes) {
        if self.look.is_some_and(|look| look != attributes) {
            self.end_run();
        }
        self.look = Some(attributes);
    }

    fn end_run(&mut self) {
        let text = sanitize::line(&self.run);
        let look = self.look.take().unwrap_or_default();
        append(&mut self.line, Span::new(text, style(look)));
        self.run.clear();
        self.seen = 0;
    }

    fn end_line(&mut self) {
        self.run.truncate(self.seen);
        if !self.run.is_empty() {
            self.end_run();
        }
        self.lines.push(std::mem::take(&mut self.line));
        (self.column, self.tab) = (0, 0);
    }
}

/// Returns the length of the next piece that leaves the parser's state
/// unchanged: a colour, or a character outside sequences; otherwise the length
/// of the whole text.
fn unit(text: &str) -> usize {
    let Some(first) = text.chars().next() else {
        return 0;
    };
    match first {
        '\u{1b}' => colour(text).unwrap_or(text.len()),
        '\u{80}'..='\u{9f}' => text.len(),
        other => other.len_utf8(),
    }
}

/// Returns the length of a colour sequence at the start of the text.
fn colour(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\u{1b}[")?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    let after = after.strip_prefix('m')?;
    Some(text.len() - after.len())
}

impl Perform for Painted {
    fn print(&mut self, character: char) {
        let cells = match character {
            ' '..='~' => 1,
            _ => character.width().unwrap_or(0),
        };
        self.failed |= cells == 0 || self.carriage_returned;
        if self.failed {
            return;
        }
        while self.column < self.tab {
            self.put(' ', Attributes::default());
            self.column += 1;
            self.padding += 1;
        }
        self.put(character, self.attributes);
        self.column += cells;
        self.failed |= self.column > LONGEST_ROW || self.padding > PADDING;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            _ if self.failed => {}
            b'\n' => {
                self.carriage_returned = false;
                self.end_line();
            }
            b'\r' => self.carriage_returned = true,
            b'\t' => {
                self.failed |= self.carriage_returned;
                self.tab = self.column.max(self.tab) + TAB;
            }
            _ => self.failed = true,
        }
        self.failed |= self.tab > PADDING;
    }

    fn csi_dispatch(&mut self, parameters: &Params, marks: &[u8], ignore: bool, action: char) {
        if ignore || !marks.is_empty() || action != 'm' {
            self.failed = true;
        } else {
            self.attributes.apply(parameters);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::doc::capture::lines_of;
    use crate::terminal::Grid;

    /// Sequences that the fast path cannot handle.
    const OTHERS: &[&str] = &["\u{301}", "\r", "\u{1b}[K", "\u{7}"];

    proptest! {
        #[test]
        fn the_fast_path_equals_the_grid(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "a", "bc ", "  ", "漢", "✓", "\n", "\r\n", "\t", "\t\t", "\u{1b}[31m", "\u{1b}[m",
                    "\u{1b}[1;4m", "\u{1b}[48;5;3m", "\u{1b}[7m", "\u{301}", "\r", "\u{1b}[K", "\u{7}",
                ]),
                0..30,
            ),
            colourful in any::<bool>(),
        ) {
            let kept = |piece: &&str| !(colourful && OTHERS.contains(piece));
            let text: String = pieces.into_iter().filter(kept).collect();
            let mut painted = Painted::default();
            painted.paint(&mut vte::Parser::new(), &text);
            let mut grid = Grid::default();
            vte::Parser::new().advance(&mut grid, text.as_bytes());
            let lines = painted.into_lines();
            prop_assert!(lines.is_some() || !colourful);
            if let Some(lines) = lines {
                prop_assert_eq!(lines, lines_of(grid), "{:?}", text);
            }
        }
    }
}
