//! The short way for output in which nothing but the colour changes, which most
//! output is: lines grow to the right, tabs and colours included. As soon as
//! anything else comes, the grid has to do it.

use unicode_width::UnicodeWidthChar as _;
use vte::{Params, Perform};

use crate::doc::capture::style;
use crate::doc::{Line, Span, append};
use crate::sanitize;
use crate::terminal::{Attributes, LONGEST_ROW, TAB};

/// Blanks that tabs may add in all.
const PADDING: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Painted {
    lines: Vec<Line>,
    line: Line,
    /// The characters since the last change of attributes, and how many of their
    /// bytes can be seen.
    run: String,
    seen: usize,
    /// How the run looks, once something of it can be seen.
    look: Option<Attributes>,
    attributes: Attributes,
    column: usize,
    /// Where the next character stands, after tabs.
    tab: usize,
    padding: usize,
    carriage_returned: bool,
    failed: bool,
}

impl Painted {
    /// All lines; none if the grid is needed.
    pub(super) fn into_lines(mut self) -> Option<Vec<Line>> {
        if self.failed {
            return None;
        }
        self.end_line();
        Some(self.lines)
    }

    /// Paints a text, runs of ASCII at once; all others the parser hands over.
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

    /// The same as to print each character of a run of ASCII.
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

    /// What follows is seen, with these attributes.
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

/// The length of what leaves the parser as it was: a colour, or a character that
/// begins no sequence. All the rest, where that cannot be said.
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

/// The length of the sequence for a colour that stands here.
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

    /// What the short way cannot do.
    const OTHERS: &[&str] = &["\u{301}", "\r", "\u{1b}[K", "\u{7}"];

    proptest! {
        #[test]
        fn the_short_way_shows_what_the_grid_shows(
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
