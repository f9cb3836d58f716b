//! Lays out a document in parts, as they are finished.
//!
//! A [`Printer`] remembers across parts if the first prefix was used and if an
//! empty line is due. All its lines together equal the result of
//! [`layout`](super::layout) for the whole document.
//!
//! Used by live views, with the parts of a
//! [`Stream`](crate::doc::stream::Stream).

use crate::doc::stream::Part;
use crate::doc::{Block, Line, Span};
use crate::layout::pen::{Margin, Pen, is_empty};
use crate::layout::{Lines, Page, Width};

/// Lays out the parts of a document one after the other.
#[derive(Clone)]
pub struct Printer {
    page: Page,
    margin: Margin<'static>,
    /// True if anything was laid out.
    started: bool,
}

impl Printer {
    /// Creates a printer for a page, with the prefix of the first line and of
    /// all others.
    pub fn new(page: impl Into<Page>, first: &[Span], rest: &[Span]) -> Self {
        Self {
            page: page.into(),
            margin: Margin::new(first, rest).into_owned(),
            started: false,
        }
    }

    /// Changes the width of the following lines.
    pub fn resize(&mut self, width: Width) {
        self.page.width = width;
    }

    /// Lays out the next parts.
    pub fn print<'a>(&mut self, parts: impl IntoIterator<Item = &'a Part>) -> Vec<Line> {
        let mut lines = Lines::default();
        let mut pen = Pen::new(self.page, &mut lines);
        for part in parts.into_iter().filter(|part| !is_empty(&part.block)) {
            if self.started && !part.continued {
                pen.gap(&mut self.margin);
            }
            self.started = true;
            match &part.block {
                Block::List { start, items } => {
                    pen.list(*start, items, part.continued, &mut self.margin);
                }
                block => pen.block(block, &mut self.margin),
            }
        }
        lines.finish()
    }

    /// Lays out parts as if they came next, without advancing.
    pub fn preview<'a>(&self, parts: impl IntoIterator<Item = &'a Part>) -> Vec<Line> {
        self.clone().print(parts)
    }
}
