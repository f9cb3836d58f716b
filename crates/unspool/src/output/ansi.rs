//! Text with ANSI codes: attributes, colours of the 256-colour palette, and,
//! if asked for, OSC 8 links.
//!
//! The codes are the fewest that do: one sequence at each change of what can be
//! seen, the shorter of switching off and starting anew, and a reset at the end
//! of a line, so that each line stands for itself.

use std::fmt::Write as _;

use crate::doc::Span;
use crate::layout::is_clickable;
use crate::output::visible;
use crate::theme::{Look, Theme};

/// How lines are written to a terminal.
#[derive(Clone, Debug)]
pub struct Ansi {
    /// The colours.
    pub theme: Theme,
    /// Whether links are written as OSC 8. Lay out with
    /// [`Links::Text`](crate::layout::Links::Text) to hide their addresses.
    pub links: bool,
}

impl Ansi {
    /// With these colours, without links.
    pub fn new(theme: Theme) -> Self {
        Self {
            theme,
            links: false,
        }
    }

    /// Adds a line, without its line end.
    pub(super) fn push(&self, line: &[Span], output: &mut String) {
        let mut current = Look::default();
        let mut open = None;
        for (piece, shown) in visible(line) {
            if shown.is_empty() {
                continue;
            }
            let address = piece.link.as_deref();
            let address = address.filter(|address| self.links && is_clickable(address));
            if address != open {
                push_link(address, output);
                open = address;
            }
            let look = self.theme.look(piece.style);
            if !look_alike(look, current, &shown) {
                push_change(current, look, output);
                current = look;
            }
            output.push_str(&shown);
        }
        if current != Look::default() {
            output.push_str("\u{1b}[0m");
        }
        if open.is_some() {
            push_link(None, output);
        }
    }
}

/// Whether text looks the same in both: blanks show no foreground.
fn look_alike(a: Look, b: Look, text: &str) -> bool {
    let paper = |look: Look| (look.background, look.underline, look.reverse, look.strike);
    a == b
        || (paper(a) == paper(b)
            && !(a.underline || a.reverse || a.strike)
            && text.bytes().all(|byte| byte == b' '))
}

/// Starts a link, or ends it.
fn push_link(address: Option<&str>, text: &mut String) {
    text.push_str("\u{1b}]8;;");
    for byte in address.unwrap_or_default().bytes() {
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text.push_str("\u{1b}\\");
}

/// Writes the sequence that leads from one look to another.
fn push_change(from: Look, to: Look, text: &mut String) {
    let mut anew = Codes::default();
    if from != Look::default() {
        anew.push(0);
    }
    anew.differences(Look::default(), to);
    let mut onward = Codes::default();
    onward.differences(from, to);
    let shorter = if onward.0.len() < anew.0.len() {
        onward
    } else {
        anew
    };
    text.push_str("\u{1b}[");
    text.push_str(&shorter.0);
    text.push('m');
}

/// The parameters of a sequence.
#[derive(Default)]
struct Codes(String);

impl Codes {
    fn push(&mut self, code: u8) {
        let separator = if self.0.is_empty() { "" } else { ";" };
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{separator}{code}");
    }

    fn differences(&mut self, from: Look, to: Look) {
        self.intensity(from, to);
        for (was, is, on) in [
            (from.italic, to.italic, 3),
            (from.underline, to.underline, 4),
            (from.reverse, to.reverse, 7),
            (from.strike, to.strike, 9),
        ] {
            if was != is {
                self.push(if is { on } else { on + 20 });
            }
        }
        self.color(from.foreground, to.foreground, 38);
        self.color(from.background, to.background, 48);
    }

    /// Bold and faint have one code that ends both.
    fn intensity(&mut self, from: Look, to: Look) {
        let ends = (from.bold && !to.bold) || (from.dim && !to.dim);
        if ends {
            self.push(22);
        }
        if to.bold && (ends || !from.bold) {
            self.push(1);
        }
        if to.dim && (ends || !from.dim) {
            self.push(2);
        }
    }

    fn color(&mut self, from: Option<u8>, to: Option<u8>, code: u8) {
        match to {
            _ if from == to => {}
            Some(entry) => {
                self.push(code);
                self.push(5);
                self.push(entry);
            }
            None => self.push(code + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::{Role, Style};

    fn shown(line: &[Span], links: bool) -> String {
        let ansi = Ansi {
            theme: Theme::default(),
            links,
        };
        let mut text = String::new();
        ansi.push(line, &mut text);
        text.replace('\u{1b}', "^")
    }

    #[test]
    fn each_change_is_one_sequence() {
        let line = [
            Span::role("•", Role::Green),
            Span::role(" ", Role::Normal),
            Span::new("Ran", Style::of(Role::Colorful).bold()),
            Span::role(" go", Role::Normal),
        ];
        assert_eq!(shown(&line, false), "^[38;5;29m• ^[1;38;5;75mRan^[0m go");
    }

    #[test]
    fn switching_off_one_attribute_keeps_the_rest() {
        let line = [
            Span::new("a", Style::of(Role::Literal(200)).bold()),
            Span::role("b", Role::Literal(200)),
        ];
        assert_eq!(shown(&line, false), "^[1;38;5;200ma^[22mb^[0m");
    }

    #[test]
    fn links_are_safe_and_closed() {
        let mut span = Span::role("a", Role::Normal);
        span.link = Some("https://b.c/ü d\u{1b}".to_owned());
        assert_eq!(
            shown(&[span.clone()], true),
            "^]8;;https://b.c/%C3%BC%20d%1B^\\a^]8;;^\\"
        );
        assert_eq!(shown(&[span.clone()], false), "a");
        span.link = Some("x-evil:run".to_owned());
        assert_eq!(shown(&[span], true), "a");
    }
}
