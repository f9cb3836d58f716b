//! Receives laid-out text: as line values, or directly as text.
//!
//! A sink receives each line as borrowed pieces, then its end. Adjacent pieces
//! may have the same style; a sink treats them as one.

use crate::doc::{Line, Span, Style};

/// A piece of text in one style: a borrowed [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    /// The style.
    pub style: Style,
    /// The link target.
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
    /// Creates a piece without a link.
    pub const fn new(text: &'a str, style: Style) -> Self {
        Self {
            text,
            style,
            link: None,
        }
    }
}

/// Receives lines, piece by piece.
pub trait Sink {
    /// Receives the next piece of the line.
    fn piece(&mut self, piece: Piece<'_>);
    /// Ends the line.
    fn end_line(&mut self);
}

/// Collects lines.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    open: Line,
}

impl Lines {
    /// Returns the finished lines.
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
