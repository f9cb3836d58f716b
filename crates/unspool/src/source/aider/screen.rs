//! Recordings made on a terminal, as lines.
//!
//! On a terminal the agents draw spinners, redraw their prompts and, with colours
//! on, repaint the last lines of an answer again and again. Only the final state
//! is text.

use super::line;
use crate::terminal::{Grid, Run};

/// Rows with text that a redraw may still reach: the agents repaint at most six,
/// and their prompts redraw over empty rows only.
const REACH: usize = 12;
/// Rows held at most, including empty ones.
const HELD: usize = 128;

/// The visible rows that may still change.
#[derive(Clone)]
pub(super) struct Screen(Grid);

impl Default for Screen {
    fn default() -> Self {
        let mut grid = Grid::with_reach(HELD);
        grid.stops = true;
        grid.keeps_all = true;
        Self(grid)
    }
}

impl Screen {
    /// Takes a line and returns the rows that are final.
    pub(super) fn line(&mut self, text: &str, ended: bool) -> Vec<String> {
        // Escape sequences never span lines, so each line has its own parser.
        vte::Parser::new().advance(&mut self.0, text.as_bytes());
        if ended {
            vte::Parser::new().advance(&mut self.0, b"\n");
            self.0.settle(REACH);
        }
        texts(self.0.take_finished())
    }

    /// Draws an incomplete line, and returns the rows down to the last one with
    /// text. A spinner below them keeps its row.
    pub(super) fn pause(&mut self, text: &str) -> Vec<String> {
        vte::Parser::new().advance(&mut self.0, text.as_bytes());
        let below = self.clone().finish();
        let is_spinner = below.last().is_some_and(|row| line::spinner(row).is_some());
        self.0.finish_rows(usize::from(is_spinner));
        let mut rows = texts(self.0.take_finished());
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Returns the rows that are left at the end of the input.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let mut rows = texts(std::mem::take(self).0.into_rows());
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

fn texts(rows: Vec<Vec<Run>>) -> Vec<String> {
    let text = |row: Vec<Run>| {
        let mut text: String = row.into_iter().map(|run| run.text).collect();
        let length = text.trim_end().len();
        // A single blank shows where a line was cut.
        if text.len() != length + 1 {
            text.truncate(length);
        }
        text
    };
    rows.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: &str) -> Vec<String> {
        let mut screen = Screen::default();
        let mut rows = Vec::new();
        for line in input.split_inclusive("\r\n") {
            let text = line.strip_suffix("\r\n");
            rows.extend(screen.line(text.unwrap_or(line), text.is_some()));
        }
        rows.extend(screen.finish());
        rows
    }

    #[test]
    fn a_spinner_leaves_no_text() {
        let input = "\x1b[?25l\x1b[32m⣾\x1b[0m Wait\r\x1b[2K\x1b[32m⣽\x1b[0m Wait\r\n\x1b[?25h\r\x1b[1A\x1b[2KDone.\r\n";
        assert_eq!(shown(input), ["Done."]);
        assert_eq!(shown("░█\x08\x08  \x08\x08Hi\r\n"), ["Hi"]);
    }

    #[test]
    fn a_redrawn_prompt_is_one_line() {
        let input = "\x1b[?25lask> \r\r\n\r\r\n\r\r\n\x1b[3A\x1b[5C\x1b[5D\x1b[Jask> hello      \r\x1b[15C \r\r\r\n\x1b[JHi\r\n";
        assert_eq!(shown(input), ["ask> hello", "Hi"]);
    }

    #[test]
    fn lines_before_the_first_redraw_come_at_once() {
        let mut screen = Screen::default();
        assert_eq!(screen.line("\x1b[1mone\x1b[0m", true), ["one"]);
        assert!(screen.line("\x1b[2Ktwo", true).is_empty());
    }

    #[test]
    fn a_cleared_screen_is_not_lost() {
        assert_eq!(shown("one\r\n\x1b[2Jtwo\r\n"), ["one", "", "two"]);
    }

    #[test]
    fn wide_and_combining_characters_keep_their_columns() {
        let shown = shown("漢字e\u{301}x\x08\x08\x08Y\r\n");
        assert_eq!(shown, ["漢 Ye\u{301}x"]);
    }
}
