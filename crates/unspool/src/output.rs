//! Lines → text.
//!
//! The back ends write what is seen and nothing else: [`Output::Ansi`] with
//! 256-colour codes, [`Output::Plain`] the same text without them. Blanks at
//! the end of a line are dropped. A control character that got past all other
//! stages is made visible here.
//!
//! [`html`] makes a page out of cards, which are blocks that nobody laid out.
//!
//! [`Live`] paints the lines that are still open at the end of a terminal's
//! scrollback. Called by the command line; the interactive app paints lines
//! itself.

mod ansi;
#[cfg(feature = "html")]
pub mod html;
mod live;
#[cfg(feature = "html")]
pub mod markdown;

use std::borrow::Cow;
use std::io;

pub use ansi::Ansi;
pub use live::{Live, RESTORE, Reach, Row};

use crate::doc::{Line, Span};
use crate::layout::{Piece, Sink, width};
use crate::sanitize;
use ansi::Codes;

/// What a page or a comment says of the run above it.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The title.
    pub title: String,
    /// Facts about the run: names and values.
    pub facts: Vec<(String, String)>,
}

/// Where lines go.
#[derive(Clone, Debug)]
pub enum Output {
    /// To a terminal, with colours.
    Ansi(Ansi),
    /// To a file or a pipe.
    Plain,
}

impl Output {
    /// Adds a line and its line end to a text.
    pub fn push(&self, line: &[Span], text: &mut String) {
        Text::new(self, 0, text).line(line);
    }

    /// A line for a live screen.
    pub fn row(&self, line: &[Span]) -> Row {
        let mut text = String::new();
        self.push(line, &mut text);
        text.pop();
        let cells = width::of_line(line);
        Row { text, cells }
    }

    /// The text of lines, each with its line end.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = String::new();
        let mut sink = Text::new(self, 0, &mut text);
        for line in lines {
            sink.line(line);
        }
        text
    }

    /// Writes lines. Fails where the writer does.
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

/// Writes lines into a text, each with its line end.
pub struct Text<'a> {
    /// The codes; none for plain text.
    codes: Option<Codes<'a>>,
    out: &'a mut String,
    /// Blanks before each line.
    indent: usize,
    /// Whether something of the open line is written.
    started: bool,
    /// Where the open line ends if only blanks follow.
    end: usize,
}

impl<'a> Text<'a> {
    /// Adds to `text`, with so many blanks before each line that is not empty.
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
        let seen = piece.text.trim_end_matches(' ');
        if let Some(codes) = &mut self.codes {
            if seen.is_empty() {
                codes.blank(piece, self.out);
                return;
            }
            codes.change(piece, self.out);
        }
        let start = self.out.len();
        let clean = sanitize::line(piece.text);
        self.out.push_str(&clean);
        if !seen.is_empty() {
            self.end = start
                + match clean {
                    Cow::Borrowed(_) => seen.len(),
                    Cow::Owned(_) => sanitize::line(seen).len(),
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

    /// What a terminal prints of a text.
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
        fn plain_is_ansi_without_its_codes(
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
    fn blanks_at_the_end_are_dropped() {
        let line = [Span::role("a ", Role::Red), Span::role("  ", Role::Normal)];
        assert_eq!(Output::Plain.text(&[line.to_vec()]), "a\n");
        let ansi = Output::Ansi(Ansi::new(Theme::default()));
        assert_eq!(ansi.text(&[line.to_vec()]), "\u{1b}[38;5;167ma\u{1b}[0m\n");
    }
}
