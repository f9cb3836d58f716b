//! Writes text with ANSI codes: attributes, 256 colours and, optionally, OSC 8
//! links.
//!
//! Uses few codes: one sequence per visible change, by whichever is shorter of
//! a partial change or a reset, and a reset at the end of each line, so that
//! lines are independent.

use std::fmt::Write as _;

use crate::doc::Style;
use crate::layout::{Piece, is_clickable};
use crate::theme::{Look, Theme};

/// Settings for terminal output.
#[derive(Clone, Debug)]
pub struct Ansi {
    /// The colours.
    pub theme: Theme,
    /// Writes links as OSC 8. Lay out with
    /// [`Links::Text`](crate::layout::Links::Text) to hide their addresses.
    pub links: bool,
}

impl Ansi {
    /// Creates settings with these colours, without links.
    pub fn new(theme: Theme) -> Self {
        Self {
            theme,
            links: false,
        }
    }
}

/// The escape codes of the current line.
pub(super) struct Codes<'a> {
    ansi: &'a Ansi,
    current: Look,
    /// The open link.
    open: Option<String>,
    /// Pending blanks, written only if something follows.
    blanks: usize,
    style: Style,
    link: Option<String>,
    /// The style looked up last.
    last_look: (Style, Look),
    from_reset: Parameters,
    from_current: Parameters,
}

impl<'a> Codes<'a> {
    pub(super) fn new(ansi: &'a Ansi) -> Self {
        let style = Style::default();
        Self {
            ansi,
            current: Look::default(),
            open: None,
            blanks: 0,
            style,
            link: None,
            last_look: (style, ansi.theme.look(style)),
            from_reset: Parameters::default(),
            from_current: Parameters::default(),
        }
    }

    /// Holds back blanks. They are written before the next piece, as part of it
    /// if the style matches.
    pub(super) fn blank(&mut self, piece: Piece<'_>, text: &mut String) {
        if self.blanks > 0 && !self.is_pending(piece) {
            self.write_blanks(text);
        }
        if self.blanks == 0 {
            self.style = piece.style;
            self.link = piece.link.map(str::to_owned);
        }
        self.blanks += piece.text.len();
    }

    /// Writes pending blanks and the codes for a piece.
    pub(super) fn change(&mut self, piece: Piece<'_>, text: &mut String) {
        let is_part = self.blanks > 0 && self.is_pending(piece);
        if self.blanks > 0 && !is_part {
            self.write_blanks(text);
        }
        self.write_codes(piece.style, piece.link, false, text);
        if is_part {
            text.extend(std::iter::repeat_n(' ', self.blanks));
            self.blanks = 0;
        }
    }

    pub(super) fn end_line(&mut self, text: &mut String) {
        self.blanks = 0;
        if self.current != Look::default() {
            text.push_str("\u{1b}[0m");
            self.current = Look::default();
        }
        if self.open.take().is_some() {
            push_link(None, text);
        }
    }

    fn is_pending(&self, piece: Piece<'_>) -> bool {
        self.style == piece.style && self.link.as_deref() == piece.link
    }

    fn write_blanks(&mut self, text: &mut String) {
        let link = self.link.take();
        self.write_codes(self.style, link.as_deref(), true, text);
        text.extend(std::iter::repeat_n(' ', self.blanks));
        self.blanks = 0;
    }

    fn write_codes(&mut self, style: Style, link: Option<&str>, is_blank: bool, text: &mut String) {
        let address = link.filter(|address| self.ansi.links && is_clickable(address));
        if address != self.open.as_deref() {
            push_link(address, text);
            self.open = address.map(str::to_owned);
        }
        if self.last_look.0 != style {
            self.last_look = (style, self.ansi.theme.look(style));
        }
        let look = self.last_look.1;
        if !look_alike(look, self.current, is_blank) {
            self.push_change(look, text);
            self.current = look;
        }
    }

    /// Writes the sequence that changes the current look.
    fn push_change(&mut self, to: Look, text: &mut String) {
        let Self {
            current,
            from_reset,
            from_current,
            ..
        } = self;
        from_reset.clear();
        if *current != Look::default() {
            from_reset.push(0);
        }
        from_reset.differences(Look::default(), to);
        from_current.clear();
        from_current.differences(*current, to);
        let shorter = if from_current.0.len() < from_reset.0.len() {
            from_current
        } else {
            from_reset
        };
        text.push_str("\u{1b}[");
        text.push_str(&shorter.0);
        text.push('m');
    }
}

/// Returns true if text looks the same in both. Blanks have no visible
/// foreground.
fn look_alike(a: Look, b: Look, is_blank: bool) -> bool {
    let background = |look: Look| (look.background, look.underline, look.reverse, look.strike);
    a == b
        || (is_blank && background(a) == background(b) && !(a.underline || a.reverse || a.strike))
}

/// Starts or ends a link.
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

/// The parameters of an escape sequence.
#[derive(Default)]
struct Parameters(String);

impl Parameters {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn push(&mut self, code: u8) {
        if !self.0.is_empty() {
            self.0.push(';');
        }
        let digits = [code / 100, code / 10 % 10, code % 10];
        let leading = digits.iter().take(2).take_while(|digit| **digit == 0);
        let leading = leading.count();
        let digits = digits.iter().skip(leading);
        self.0.extend(digits.map(|digit| char::from(b'0' + digit)));
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

    /// Sets bold and dim, which share one code that turns both off.
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
    use crate::doc::{Role, Span};
    use crate::output::Output;

    fn shown(line: &[Span], links: bool) -> String {
        let output = Output::Ansi(Ansi {
            theme: Theme::default(),
            links,
        });
        let mut text = output.text(&[line.to_vec()]);
        text.pop();
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
