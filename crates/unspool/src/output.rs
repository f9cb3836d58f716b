//! Writes lines as text.
//!
//! [`Output::Ansi`] writes 256-colour codes, [`Output::Plain`] the same text
//! without them. Trailing blanks are dropped. As a last resort, remaining
//! control characters are escaped here.
//!
//! [`html`] writes pages and [`markdown`] comments, both from cards. [`Live`]
//! redraws the open lines at the end of a terminal's scrollback; the
//! interactive app draws its own lines.

mod ansi;
#[cfg(feature = "html")]
pub mod html;
mod live;
#[cfg(feature = "html")]
pub mod markdown;

use std::borrow::Cow;
use std::io;

pub use ansi::Ansi;
pub use live::{Live, RESTORE, Row, RowBudget};

use crate::doc::{Line, Span};
use crate::layout::{Piece, Sink, width};
use crate::sanitize;
use ansi::Codes;

/// The heading of a page or comment.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The title.
    pub title: String,
    /// Facts about the run: names and values.
    pub facts: Vec<(String, String)>,
}

/// The destination of lines.
#[derive(Clone, Debug)]
pub enum Output {
    /// A terminal, with colours.
    Ansi(Ansi),
    /// A file or pipe, without escape codes.
    Plain,
}

impl Output {
    /// Appends a line and its newline to a text.
    pub fn push(&self, line: &[Span], text: &mut String) {
        Text::new(self, 0, text).line(line);
    }

    /// Renders a line for a live screen.
    pub fn row(&self, line: &[Span]) -> Row {
        let mut text = String::new();
        self.push(line, &mut text);
        text.pop();
        let cells = width::of_line(line);
        Row { text, cells }
    }

    /// Renders lines, each with a newline.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = String::new();
        let mut sink = Text::new(self, 0, &mut text);
        for line in lines {
            sink.line(line);
        }
        text
    }

    /// Writes lines; fails if the writer does.
    pub fn write(&self, lines: &[Line], writer: &mut impl io::Write) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.clear();
            self.push(line, &mut text);
            writer.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

/// Writes lines into a string, each with a newline.
pub struct Text<'a> {
    /// The escape codes; `None` for plain text.
    codes: Option<Codes<'a>>,
    out: &'a mut String,
    /// Blanks before each line.
    indent: usize,
    /// True if part of the open line is written.
    started: bool,
    /// The end of the open line without trailing blanks.
    end: usize,
}

impl<'a> Text<'a> {
    /// Appends to `text`, with `indent` blanks before each non-empty line.
    pub fn new(output: &'a Output, indent: usize, text: &'a mut String) -> Self {
        Self {
            codes: match output {
                Output::Ansi(ansi) => Some(Codes::new(ansi)),
                Output::Plain => None,
            },
            indent,
            started: false,
            end: text.len(),
            out: text,
        }
    }

    fn line(&mut self, line: &[Span]) {
        for span in line {
            self.piece(span.into());
        }
        self.end_line();
    }
}

impl Sink for Text<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        if piece.text.is_empty() {
            return;
        }
        if !self.started {
            self.started = true;
            self.end = self.out.len();
            self.out.extend(std::iter::repeat_n(' ', self.indent));
        }
        let visible = piece.text.trim_end_matches(' ');
        if let Some(codes) = &mut self.codes {
            if visible.is_empty() {
                codes.blank(piece, self.out);
                return;
            }
            codes.change(piece, self.out);
        }
        let start = self.out.len();
        let clean = sanitize::line(piece.text);
        self.out.push_str(&clean);
        if !visible.is_empty() {
            self.end = start
                + match clean {
                    Cow::Borrowed(_) => visible.len(),
                    Cow::Owned(_) => sanitize::line(visible).len(),
                };
        }
    }

    fn end_line(&mut self) {
        if self.started {
            self.out.truncate(self.end);
        }
        if let Some(codes) = &mut self.codes {
            codes.end_line(self.out);
        }
        self.out.push('\n');
        self.started = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::doc::{Role, Style};
    use crate::theme::Theme;

    /// Returns the text that a terminal prints.
    fn stripped(text: &str) -> String {
        struct Printed(String);
        impl vte::Perform for Printed {
            fn print(&mut self, character: char) {
                self.0.push(character);
            }
            fn execute(&mut self, byte: u8) {
                self.0.push(char::from(byte));
            }
        }
        let mut printed = Printed(String::new());
        vte::Parser::new().advance(&mut printed, text.as_bytes());
        printed.0
    }

    fn style() -> impl Strategy<Value = Style> {
        let role = prop_oneof![
            Just(Role::Normal),
            Just(Role::Accent),
            Just(Role::Red),
            any::<u8>().prop_map(Role::Literal),
        ];
        (role, any::<Option<u8>>(), any::<[bool; 6]>()).prop_map(
            |(role, background, [bold, italic, underline, strike, dim, reverse])| Style {
                role,
                background,
                bold,
                italic,
                underline,
                strike,
                dim,
                reverse,
            },
        )
    }

    fn span() -> impl Strategy<Value = Span> {
        let text = prop_oneof![
            3 => "[a-z ]{0,8}",
            1 => " {0,4}",
            1 => any::<String>(),
        ];
        let link = prop::sample::select(&["https://a.b/ü\u{1b}\\", "src/a.rs", "http://x\u{7}"]);
        (text, style(), prop::option::of(link)).prop_map(|(text, style, link)| Span {
            text,
            style,
            link: link.map(str::to_owned),
        })
    }

    proptest! {
        #[test]
        fn plain_output_is_ansi_output_without_codes(
            lines in prop::collection::vec(prop::collection::vec(span(), 0..6), 0..4),
            links in any::<bool>(),
        ) {
            let plain = Output::Plain.text(&lines);
            for theme in [Theme::default(), Theme::mono()] {
                let ansi = Output::Ansi(Ansi { theme, links }).text(&lines);
                prop_assert_eq!(&stripped(&ansi), &plain);
            }
            prop_assert!(plain.chars().all(|c| c == '\n' || !c.is_control()));
        }
    }

    #[test]
    fn trailing_blanks_are_dropped() {
        let line = [Span::role("a ", Role::Red), Span::role("  ", Role::Normal)];
        assert_eq!(Output::Plain.text(&[line.to_vec()]), "a\n");
        let ansi = Output::Ansi(Ansi::new(Theme::default()));
        assert_eq!(ansi.text(&[line.to_vec()]), "\u{1b}[38;5;167ma\u{1b}[0m\n");
    }
}
