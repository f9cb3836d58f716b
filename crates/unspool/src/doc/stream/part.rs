//! What a stream hands out, and how the items of a list find their numbers when
//! they are parsed one by one.

use crate::doc::markdown::{Content, Unit};
use crate::doc::{Block, ListItem};

/// A part of a document: a block, or the next lines of code or items of a list
/// whose first ones came before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether the block goes on where the part before ended. A list then starts
    /// with the number of its next item.
    pub continued: bool,
    /// What there is.
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

/// The place of an item in its list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) continued: bool,
    number: Option<u64>,
    apart: bool,
}

impl Place {
    /// The parts of a unit at this place.
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

    /// The place of a unit, if it is an item, given its index in what was parsed
    /// and the next place of the list before it.
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
