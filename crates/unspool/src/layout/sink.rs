//! Where laid-out text goes: lines as values, or straight into a text.
//!
//! A sink gets each line as pieces that borrow their text, then the line's end.
//! Neighbouring pieces may look the same; a sink treats them as one.

use crate::doc::{Line, Span, Style};

/// A piece of text in one style: a [`Span`] that borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    /// How it looks.
    pub style: Style,
    /// Where it leads.
    pub link: Option<&'a str>,
}

impl<'a> From<&'a Span> for Piece<'a> {
    fn from(span: &'a Span) -> Self {
        Self {
            text: &span.text,
            style: span.style,
            link: span.link.as_deref(),
        }
    }
}

impl From<Piece<'_>> for Span {
    fn from(piece: Piece<'_>) -> Self {
        Self {
            text: piece.text.to_owned(),
            style: piece.style,
            link: piece.link.map(str::to_owned),
        }
    }
}

impl<'a> Piece<'a> {
    /// A text in a style, without a link.
    pub const fn new(text: &'a str, style: Style) -> Self {
        Self {
            text,
            style,
            link: None,
        }
    }
}

/// Takes lines, piece by piece.
pub trait Sink {
    /// The next piece of the line.
    fn piece(&mut self, piece: Piece<'_>);
    /// The line is complete.
    fn end_line(&mut self);
}

/// Keeps lines as values.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    open: Line,
}

impl Lines {
    /// The lines that were ended.
    pub fn finish(self) -> Vec<Line> {
        self.lines
    }
}

impl Sink for Lines {
    fn piece(&mut self, piece: Piece<'_>) {
        match self.open.last_mut() {
            Some(last) if last.style == piece.style && last.link.as_deref() == piece.link => {
                last.text.push_str(piece.text);
            }
            _ if piece.text.is_empty() => {}
            _ => self.open.push(Span {
                text: piece.text.to_owned(),
                style: piece.style,
                link: piece.link.map(str::to_owned),
            }),
        }
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.open));
    }
}
