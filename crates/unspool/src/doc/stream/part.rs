//! Parts that a stream returns, and the numbering of list items that are parsed
//! one by one.

use crate::doc::markdown::{Content, Unit};
use crate::doc::{Block, ListItem};

/// A part of a document: a block, or further lines of code or list items that
/// continue the part before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// True if the block continues the part before. A list then starts with the
    /// number of its next item.
    pub continued: bool,
    /// The content.
    pub block: Block,
}

impl Part {
    pub(super) fn new(block: Block) -> Self {
        Self {
            continued: false,
            block,
        }
    }
}

/// The position of an item in its list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) continued: bool,
    number: Option<u64>,
    apart: bool,
}

impl Place {
    /// Converts a unit at this position to parts.
    pub(super) fn parts(self, content: Content) -> Vec<Part> {
        match content {
            Content::Blocks(blocks) => blocks.into_iter().map(Part::new).collect(),
            Content::Item { item, .. } => vec![Part {
                continued: self.continued,
                block: Block::List {
                    start: self.number,
                    items: vec![ListItem {
                        apart: self.apart,
                        ..item
                    }],
                },
            }],
        }
    }

    pub(super) fn next(self) -> Self {
        Self {
            continued: true,
            number: self.number.map(|number| number.saturating_add(1)),
            apart: false,
        }
    }

    /// Returns the position of a unit if it is an item, given its index among
    /// the parsed units and the next position of the list before it.
    pub(super) fn of(unit: &Unit, index: usize, next: Option<Place>) -> Option<Self> {
        let Content::Item { start, first, item } = &unit.content else {
            return None;
        };
        match next {
            Some(place) if index == 0 => Some(place),
            Some(place) if !first => Some(Place {
                apart: item.apart,
                ..place
            }),
            _ => Some(Place {
                continued: false,
                number: *start,
                apart: false,
            }),
        }
    }
}
