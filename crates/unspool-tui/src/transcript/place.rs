//! Positions in the transcript: a slot and a row in it. Moving lays out only the
//! slots passed; the total height is never computed.

use super::cache::Slot;
use super::index::{Kinds, Wanted};
use super::rows::{self, Level, Page};
use super::{Pane, entry_text};

/// A row of a slot. Rows before the entry itself (an empty row, a name) count as
/// its first rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) slot: usize,
    pub(super) row: usize,
}

/// Rows before an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct Lead {
    pub(super) gap: bool,
    pub(super) name: bool,
}

impl Lead {
    pub(super) fn rows(self) -> usize {
        usize::from(self.gap) + usize::from(self.name)
    }
}

impl Pane {
    pub(super) fn wanted(&self, kinds: Kinds) -> Wanted<'_> {
        Wanted {
            kinds,
            among: self.filter,
            hidden: &self.groups.hidden,
        }
    }

    /// Returns the first visible slot at or after this one.
    pub(super) fn next_slot(&self, from: usize) -> Option<usize> {
        self.index.next(from, self.wanted(self.filter))
    }

    /// Returns the last visible slot before this one.
    pub(super) fn previous_slot(&self, before: usize) -> Option<usize> {
        self.index.previous(before, self.wanted(self.filter))
    }

    pub(super) fn lead(&self, slot: usize) -> Lead {
        let Some(before) = self.previous_slot(slot) else {
            return Lead::default();
        };
        let (mark, last) = (self.index.get(slot), self.index.get(before));
        let is_other = mark.group != last.group && mark.group != 0;
        Lead {
            gap: mark.kinds.is_prose() || last.kinds.is_prose(),
            name: is_other
                && self.groups.head(mark.group) != Some(before)
                && !self.is_below(last.group, mark.group),
        }
    }

    /// Returns true if a sub-agent of this group started the other one, maybe
    /// through others.
    fn is_below(&self, mut group: u32, above: u32) -> bool {
        while let Some(head) = self.groups.head(group) {
            // A group is numbered before its descendants.
            let parent = self.index.get(head).group;
            if parent == above || parent >= group {
                return parent == above;
            }
            group = parent;
        }
        false
    }

    pub(super) fn level(&self, slot: usize) -> Level {
        self.timeline
            .entry(slot)
            .map_or(Level::Brief, |entry| self.folds.level(slot, &entry.item))
    }

    /// Returns the number of rows of a slot, laying it out if needed.
    pub(super) fn rows(&mut self, slot: usize) -> usize {
        let Some(entry) = self.timeline.entry(slot) else {
            return 0;
        };
        let state = Slot {
            entry,
            revision: self.timeline.revision(slot),
            is_open: self.timeline.is_open(slot),
            folds: self.folds.changes,
        };
        let page = Page {
            formatter: &self.look.formatter,
            detail: &self.look.detail,
            width: self.width,
            side_by_side: self.side_by_side.unwrap_or(true),
            level: self.folds.level(slot, &entry.item),
            toggled: self.folds.toggled(slot),
        };
        match self.cache.lay_out(slot, &state, &page) {
            0 => 0,
            rows => rows + self.lead(slot).rows(),
        }
    }

    /// Returns the place this many rows further down, at most the last one.
    pub(super) fn down(&mut self, from: Place, mut by: usize) -> Place {
        let mut place = from;
        loop {
            let rows = self.rows(place.slot);
            if place.row + by < rows {
                place.row += by;
                return place;
            }
            by -= rows.saturating_sub(place.row).min(by);
            let mut next = self.next_slot(place.slot + 1);
            while let Some(slot) = next.filter(|slot| self.rows(*slot) == 0) {
                next = self.next_slot(slot + 1);
            }
            let Some(slot) = next else {
                place.row = rows.saturating_sub(1);
                return place;
            };
            place = Place { slot, row: 0 };
        }
    }

    /// Returns the place this many rows further up, at most the first one.
    pub(super) fn up(&mut self, from: Place, mut by: usize) -> Place {
        let mut place = from;
        while place.row < by {
            let mut before = self.previous_slot(place.slot);
            while let Some(slot) = before.filter(|slot| self.rows(*slot) == 0) {
                before = self.previous_slot(slot);
            }
            let Some(slot) = before else {
                place.row = 0;
                return place;
            };
            by -= place.row + 1;
            let row = self.rows(slot).saturating_sub(1);
            place = Place { slot, row };
        }
        place.row -= by;
        place
    }

    /// Returns the last row of all.
    pub(super) fn last(&mut self) -> Place {
        let mut last = self.previous_slot(usize::MAX);
        while let Some(slot) = last.filter(|slot| self.rows(*slot) == 0) {
            last = self.previous_slot(slot);
        }
        let slot = last.unwrap_or_default();
        let row = self.rows(slot).saturating_sub(1);
        Place { slot, row }
    }

    /// Returns the first row of all.
    pub(super) fn first(&mut self) -> Place {
        let slot = self.next_slot(0).unwrap_or_default();
        Place { slot, row: 0 }
    }

    /// Returns the first row of the entry itself.
    pub(super) fn begin_of(&self, slot: usize) -> Place {
        let row = self.lead(slot).rows();
        Place { slot, row }
    }

    /// Moves top and cursor to existing rows and fills the screen; called before
    /// each frame.
    pub(super) fn settle(&mut self, height: usize) {
        let height = height.max(1);
        if self.follows {
            self.cursor = self.last();
            self.top = self.up(self.cursor, height - 1);
            return;
        }
        self.cursor = self.existing(self.cursor);
        self.top = self.existing(self.top);
        if self.cursor < self.top {
            self.top = self.cursor;
        }
        if self.down(self.top, height - 1) < self.cursor {
            self.top = self.up(self.cursor, height - 1);
        }
        let last = self.last();
        if self.down(self.top, height - 1) == last {
            self.top = self.up(last, height - 1);
        }
    }

    /// Returns the place itself or the closest visible one.
    fn existing(&mut self, place: Place) -> Place {
        let shown = self
            .next_slot(place.slot)
            .or_else(|| self.previous_slot(place.slot));
        let slot = shown.unwrap_or_default();
        let rows = self.rows(slot);
        let row = if slot == place.slot { place.row } else { 0 };
        Place {
            slot,
            row: row.min(rows.saturating_sub(1)),
        }
    }

    /// Returns the number of characters before a row, which does not depend on
    /// the width.
    pub(super) fn offset(&mut self, place: Place) -> usize {
        let lead = self.lead(place.slot).rows();
        self.rows(place.slot);
        let rows = self.cache.get(place.slot).iter();
        rows.take(place.row.saturating_sub(lead)).map(letters).sum()
    }

    /// Returns the row that contains the character at this offset.
    pub(super) fn at_offset(&mut self, slot: usize, offset: usize) -> Place {
        let lead = self.lead(slot).rows();
        self.rows(slot);
        let mut passed = 0;
        let rows = self.cache.get(slot).iter();
        let row = rows
            .take_while(|row| {
                passed += letters(row);
                passed <= offset
            })
            .count();
        let row = if offset == 0 { 0 } else { row };
        Place {
            slot,
            row: row + lead,
        }
    }
}

fn letters(row: &rows::Row) -> usize {
    let is_letter = |c: &char| !c.is_whitespace();
    entry_text::plain(&row.line)
        .chars()
        .filter(is_letter)
        .count()
}
