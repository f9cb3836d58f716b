//! Lines → text.
//!
//! The back ends write what is seen and nothing else: [`Output::Ansi`] with
//! 256-colour codes, [`Output::Plain`] the same text without them. Blanks at
//! the end of a line are dropped. A control character that got past all other
//! stages is made visible here.
//!
//! [`Live`] paints the lines that are still open at the end of a terminal's
//! scrollback. Called by the command line; the interactive app paints lines
//! itself.

mod ansi;
mod live;
mod plain;

use std::borrow::Cow;
use std::io;

pub use ansi::Ansi;
pub use live::{Live, RESTORE, Row};

use crate::doc::{Line, Span};
use crate::layout;
use crate::sanitize;

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
        match self {
            Self::Ansi(ansi) => ansi.push(line, text),
            Self::Plain => plain::push(line, text),
        }
        text.push('\n');
    }

    /// A line for a live screen.
    pub fn row(&self, line: &[Span]) -> Row {
        let mut text = String::new();
        self.push(line, &mut text);
        text.pop();
        let cells = visible(line).map(|(_, shown)| layout::width(&shown)).sum();
        Row { text, cells }
    }

    /// The text of lines, each with its line end.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = String::new();
        for line in lines {
            self.push(line, &mut text);
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

/// The spans of a line and what is seen of their text: clean, without the
/// blanks at the end of the line.
fn visible(line: &[Span]) -> impl Iterator<Item = (&Span, Cow<'_, str>)> {
    let last = line
        .iter()
        .rposition(|span| !span.text.trim_end_matches(' ').is_empty());
    let shown = line.get(..last.map_or(0, |last| last + 1));
    let shown = shown.unwrap_or_default();
    shown.iter().enumerate().map(move |(index, span)| {
        let text = if Some(index) == last {
            span.text.trim_end_matches(' ')
        } else {
            &span.text
        };
        (span, sanitize::line(text))
    })
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
