//! Terminal emulation: text with escape sequences → rows of styled text.
//!
//! [`Grid`] serves both stages that meet terminal output: `doc` shows what
//! commands printed, and `source` reads agents that were recorded on a terminal.
//! It follows carriage returns, backspaces, tabs, cursor moves and erasing, and
//! ignores every other sequence except colours. It has no right edge, because the
//! width that the program assumed is unknown.

mod attributes;
mod grid;

use std::borrow::Cow;

use vte::{Parser, Perform};

pub(crate) use attributes::Attributes;
pub(crate) use grid::{Grid, LONGEST_ROW, Run, TAB};

/// Removes the escape sequences and control characters of a line, except tabs.
pub(crate) fn plain(line: &str) -> Cow<'_, str> {
    struct Printed(String);
    impl Perform for Printed {
        fn print(&mut self, character: char) {
            self.0.push(character);
        }
        fn execute(&mut self, byte: u8) {
            if byte == b'\t' {
                self.0.push('\t');
            }
        }
    }
    if memchr::memchr(0x1b, line.as_bytes()).is_none() {
        return line.into();
    }
    let mut printed = Printed(String::with_capacity(line.len()));
    Parser::new().advance(&mut printed, line.as_bytes());
    printed.0.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!(plain("\x1b[34mTool Call:\x1b[0m x"), "Tool Call: x");
    }
}
