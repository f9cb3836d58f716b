//! Cache of laid-out rows. Its size is limited: rows that were not visible for a
//! while are laid out again.
//!
//! A growing message is laid out incrementally: rows that further text cannot
//! change are kept.

use std::collections::HashMap;

use unspool::formatter::OpenText;
use unspool::session::{Entry, Item};

use super::rows::{Level, Page, Row, Spot, folded, rows};

/// Maximum number of slots.
const MOST: usize = 600;
/// Maximum number of rows, unless they are all visible.
const MOST_ROWS: usize = 100_000;

/// Everything that rows depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    revision: u32,
    width: usize,
    side_by_side: bool,
    level: Level,
    /// Number of changes to folded sections.
    folds: u32,
}

struct Laid {
    key: Key,
    rows: Vec<Row>,
    growing: Option<Growing>,
    used: u64,
}

/// A growing message as far as it is laid out.
struct Growing {
    open: OpenText,
    /// Number of bytes laid out.
    taken: usize,
    /// Number of rows that are final.
    finished: usize,
    width: usize,
}

/// The current content of a slot.
pub(super) struct Slot<'a> {
    pub(super) entry: &'a Entry,
    pub(super) revision: u32,
    pub(super) is_open: bool,
    pub(super) folds: u32,
}

/// The rows of slots.
#[derive(Default)]
pub(super) struct Cache {
    laid: HashMap<usize, Laid>,
    /// Number of frames.
    now: u64,
    rows: usize,
}

impl Cache {
    /// Starts a frame and evicts old rows.
    pub(super) fn tick(&mut self) {
        self.now += 1;
        if self.laid.len() > MOST || self.rows > MOST_ROWS {
            let now = self.now;
            self.laid.retain(|_, laid| laid.used + 2 >= now);
            self.rows = self.laid.values().map(|laid| laid.rows.len()).sum();
        }
    }

    /// Returns the number of cached slots.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.laid.len()
    }

    /// Returns the rows of a slot.
    pub(super) fn get(&self, slot: usize) -> &[Row] {
        self.laid.get(&slot).map_or(&[], |laid| &laid.rows)
    }

    /// Lays out a slot unless it is cached. Returns the number of rows.
    pub(super) fn lay_out(&mut self, slot: usize, state: &Slot<'_>, page: &Page<'_>) -> usize {
        let key = Key {
            revision: state.revision,
            width: page.width,
            side_by_side: page.side_by_side,
            level: page.level,
            folds: state.folds,
        };
        let now = self.now;
        let before = match self.laid.get_mut(&slot) {
            Some(laid) if laid.key == key => {
                laid.used = now;
                return laid.rows.len();
            }
            Some(_) => self.laid.remove(&slot),
            None => None,
        };
        self.rows -= before.as_ref().map_or(0, |laid| laid.rows.len());
        let mut laid = match (grows(state, page), before) {
            (Some(text), Some(laid)) if is_continued(&laid, text, page) => grown(laid, text),
            (Some(text), _) => grown(begun(state.entry, page, key), text),
            (None, _) => Laid {
                key,
                rows: rows(state.entry, page),
                growing: None,
                used: now,
            },
        };
        laid.key = key;
        laid.used = now;
        let count = laid.rows.len();
        self.rows += count;
        self.laid.insert(slot, laid);
        count
    }
}

/// Returns the text of a message that is laid out incrementally.
fn grows<'a>(state: &Slot<'a>, page: &Page<'_>) -> Option<&'a str> {
    match &state.entry.item {
        Item::Text(text) if state.is_open && page.level > Level::Folded => Some(&text.text),
        Item::Reasoning(text) if state.is_open && page.level > Level::Folded => Some(&text.text),
        _ => None,
    }
}

fn is_continued(laid: &Laid, text: &str, page: &Page<'_>) -> bool {
    let growing = laid.growing.as_ref();
    growing.is_some_and(|growing| growing.width == page.width && growing.taken <= text.len())
}

fn begun(entry: &Entry, page: &Page<'_>, key: Key) -> Laid {
    Laid {
        key,
        rows: Vec::new(),
        growing: Some(Growing {
            open: page.formatter.open_text(entry, page.width),
            taken: 0,
            finished: 0,
            width: page.width,
        }),
        used: 0,
    }
}

/// Appends new text to a layout.
fn grown(mut laid: Laid, text: &str) -> Laid {
    let Some(growing) = &mut laid.growing else {
        return laid;
    };
    let row = |line| Row {
        line,
        part: Spot::Body,
    };
    laid.rows.truncate(growing.finished);
    let new = text.get(growing.taken..).unwrap_or_default();
    growing.taken = text.len();
    let mut lines = growing.open.push(new);
    lines.extend(growing.open.refresh());
    let narrow = growing.width <= unspool::layout::MIN_COLUMNS;
    let fit = |rows: Vec<Row>| {
        if narrow {
            folded(rows, growing.width)
        } else {
            rows
        }
    };
    laid.rows.extend(fit(lines.into_iter().map(row).collect()));
    growing.finished = laid.rows.len();
    let open = growing.open.open();
    laid.rows.extend(fit(open.into_iter().map(row).collect()));
    laid
}
