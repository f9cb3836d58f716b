//! Lays out a document in parts, as it is finished.
//!
//! A [`Printer`] remembers what the lines before need to know of those after
//! them: whether the first prefix is used and whether an empty line is due. All
//! lines it gave out are together those of [`layout`](super::layout) for the
//! whole document.
//!
//! Called by views of answers that are still being written, with the parts of a
//! [`Stream`](crate::doc::stream::Stream).

use crate::doc::stream::Part;
use crate::doc::{Block, Line, Span};
use crate::layout::pen::{Margin, Pen, is_empty};
use crate::layout::{Lines, Page, Width};

/// Lays out parts one after the other.
#[derive(Clone)]
pub struct Printer {
    page: Page,
    margin: Margin<'static>,
    /// Whether anything was laid out.
    started: bool,
}

impl Printer {
    /// For a page, with the prefix of the first line and of all others.
    pub fn new(page: impl Into<Page>, first: &[Span], rest: &[Span]) -> Self {
        Self {
            page: page.into(),
            margin: Margin::new(first, rest).into_owned(),
            started: false,
        }
    }

    /// Lays out what follows for another width.
    pub fn resize(&mut self, width: Width) {
        self.page.width = width;
    }

    /// The lines of the next parts.
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

    /// What the lines of these parts would be, if they came next.
    pub fn preview<'a>(&self, parts: impl IntoIterator<Item = &'a Part>) -> Vec<Line> {
        self.clone().print(parts)
    }
}
