//! Index of slots by kind, failure and sub-agent, without laying them out. Finds
//! the next slot of a kind block by block.

use unspool::doc::card::Kind;
use unspool::event::{Level, ToolStatus};
use unspool::session::{Entry, Item};

/// Number of slots per block.
const BLOCK: usize = 1024;
/// Number of counters: the kinds, and failures.
const COUNTED: usize = 12;

/// A set of kinds; failure counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    /// All kinds with their names, in the order of the menu.
    pub(crate) const NAMES: [(Kind, &'static str); 11] = [
        (Kind::Prompt, "prompts"),
        (Kind::Answer, "answers"),
        (Kind::Reasoning, "thoughts"),
        (Kind::Tool, "calls"),
        (Kind::Edit, "edits"),
        (Kind::Plan, "plans"),
        (Kind::Question, "questions"),
        (Kind::Context, "context"),
        (Kind::Notice, "notices"),
        (Kind::Usage, "usage"),
        (Kind::Unknown, "unknown"),
    ];
    /// Failed entries of any kind.
    pub(crate) const FAILED: Self = Self(1 << 11);
    /// All kinds.
    pub(crate) const ALL: Self = Self((1 << 11) - 1);
    /// Kinds shown by default. Usage is in the status line already.
    pub(crate) const DEFAULT: Self = Self(Self::ALL.0 & !(1 << 9));

    pub(crate) fn of(kind: Kind) -> Self {
        let place = Self::NAMES.iter().position(|(named, _)| *named == kind);
        Self(1 << place.unwrap_or(10))
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn toggled(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if something is hidden that is shown by default.
    pub(crate) fn is_filter(self) -> bool {
        self.0 & Self::DEFAULT.0 != Self::DEFAULT.0
    }

    /// Returns the numbers of the kinds.
    fn numbers(self) -> impl Iterator<Item = usize> {
        (0..COUNTED).filter(move |number| self.0 & (1 << number) != 0)
    }

    /// Returns true for messages, which are set apart by empty rows.
    pub(crate) fn is_prose(self) -> bool {
        let prose = Self::of(Kind::Prompt).with(Self::of(Kind::Answer));
        self.meets(prose.with(Self::of(Kind::Reasoning)))
    }
}

/// Index data of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kinds: Kinds,
    /// The sub-agent; 0 is the root agent.
    pub(super) group: u32,
}

impl Mark {
    pub(super) fn of(entry: &Entry, group: u32) -> Self {
        let kinds = Kinds::of(Kind::of(&entry.item));
        Self {
            kinds: if has_failed(&entry.item) {
                kinds.with(Kinds::FAILED)
            } else {
                kinds
            },
            group,
        }
    }
}

fn has_failed(item: &Item) -> bool {
    match item {
        Item::Tool(tool) => tool
            .result
            .as_ref()
            .is_some_and(|result| result.status != ToolStatus::Ok),
        Item::Notice(notice) => matches!(notice.level, Level::Error | Level::Canceled),
        Item::TurnEnd(_) => true,
        _ => false,
    }
}

/// A query for slots.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) kinds: Kinds,
    /// Kinds that a slot must also belong to.
    pub(super) among: Kinds,
    /// For each group, true if it is hidden.
    pub(super) hidden: &'a [bool],
}

impl Wanted<'_> {
    fn is(&self, mark: Mark) -> bool {
        mark.kinds.meets(self.kinds) && mark.kinds.meets(self.among) && !self.hides(mark.group)
    }

    fn hides(&self, group: u32) -> bool {
        self.hidden.get(group as usize).copied().unwrap_or(false)
    }

    fn may_be_in(&self, block: &Block) -> bool {
        block.kinds.meets(self.kinds)
            && block.kinds.meets(self.among)
            && !block.groups.iter().all(|group| self.hides(*group))
    }
}

/// Summary of a block of slots.
#[derive(Default)]
struct Block {
    kinds: Kinds,
    groups: Vec<u32>,
    counts: Counts,
}

/// Number of slots of each kind.
#[derive(Default)]
struct Counts([usize; COUNTED]);

impl Counts {
    fn change(&mut self, before: Kinds, now: Kinds) {
        for number in before.numbers() {
            self.0[number] = self.0[number].saturating_sub(1);
        }
        for number in now.numbers() {
            self.0[number] += 1;
        }
    }

    /// Returns the number of slots of these kinds. A slot has one kind and may
    /// also have failed.
    fn of(&self, kinds: Kinds) -> usize {
        kinds.numbers().map(|number| self.0[number]).sum()
    }
}

/// Index data of all slots.
#[derive(Default)]
pub(super) struct Index {
    marks: Vec<Mark>,
    blocks: Vec<Block>,
    counts: Counts,
}

impl Index {
    pub(super) fn set(&mut self, slot: usize, mark: Mark) {
        if slot >= self.marks.len() {
            self.marks.resize(slot + 1, Mark::default());
            self.blocks.resize_with(slot / BLOCK + 1, Block::default);
        }
        let mut before = Mark::default();
        if let Some(place) = self.marks.get_mut(slot) {
            before = std::mem::replace(place, mark);
        }
        self.counts.change(before.kinds, mark.kinds);
        if let Some(block) = self.blocks.get_mut(slot / BLOCK) {
            block.counts.change(before.kinds, mark.kinds);
            block.kinds = block.kinds.with(mark.kinds);
            if !block.groups.contains(&mark.group) {
                block.groups.push(mark.group);
            }
        }
    }

    pub(super) fn get(&self, slot: usize) -> Mark {
        self.marks.get(slot).copied().unwrap_or_default()
    }

    /// Returns the number of slots of these kinds.
    pub(super) fn count(&self, kinds: Kinds) -> usize {
        self.counts.of(kinds)
    }

    /// Returns the number of slots of these kinds up to and including this one.
    pub(super) fn rank(&self, slot: usize, kinds: Kinds) -> usize {
        let (whole, start) = (slot / BLOCK, slot / BLOCK * BLOCK);
        let blocks = self.blocks.iter().take(whole);
        let before: usize = blocks.map(|block| block.counts.of(kinds)).sum();
        let marks = self.marks.iter().skip(start).take(slot - start + 1);
        before + marks.filter(|mark| mark.kinds.meets(kinds)).count()
    }

    /// Returns the first match at or after this slot.
    pub(super) fn next(&self, from: usize, wanted: Wanted<'_>) -> Option<usize> {
        let mut at = from;
        while at < self.marks.len() {
            let end = (at / BLOCK + 1) * BLOCK;
            let block = self.blocks.get(at / BLOCK)?;
            if wanted.may_be_in(block) {
                let marks = self.marks.get(at..end.min(self.marks.len()))?;
                if let Some(found) = marks.iter().position(|mark| wanted.is(*mark)) {
                    return Some(at + found);
                }
            }
            at = end;
        }
        None
    }

    /// Returns the last match before this slot.
    pub(super) fn previous(&self, before: usize, wanted: Wanted<'_>) -> Option<usize> {
        let mut end = before.min(self.marks.len());
        while end > 0 {
            let start = (end - 1) / BLOCK * BLOCK;
            let block = self.blocks.get(start / BLOCK)?;
            if wanted.may_be_in(block) {
                let marks = self.marks.get(start..end)?;
                if let Some(found) = marks.iter().rposition(|mark| wanted.is(*mark)) {
                    return Some(start + found);
                }
            }
            end = start;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_past_many_others() {
        let mut index = Index::default();
        let mark = |kind, group| Mark {
            kinds: Kinds::of(kind),
            group,
        };
        for slot in 0..5000 {
            index.set(slot, mark(Kind::Tool, 1));
        }
        index.set(0, mark(Kind::Prompt, 0));
        index.set(4000, mark(Kind::Prompt, 0));
        let wanted = |kinds, hidden: &'static [bool]| Wanted {
            kinds,
            among: Kinds::ALL,
            hidden,
        };
        let prompts = wanted(Kinds::of(Kind::Prompt), &[]);
        assert_eq!(index.next(1, prompts), Some(4000));
        assert_eq!(index.next(4001, prompts), None);
        assert_eq!(index.previous(4000, prompts), Some(0));
        assert_eq!(index.previous(0, prompts), None);
        assert_eq!(index.count(Kinds::ALL), 5000);
        assert_eq!(index.count(Kinds::of(Kind::Prompt)), 2);
        assert_eq!(index.rank(0, Kinds::of(Kind::Prompt)), 1);
        assert_eq!(index.rank(3999, Kinds::of(Kind::Prompt)), 1);
        assert_eq!(index.rank(4000, Kinds::of(Kind::Prompt)), 2);
        assert_eq!(index.rank(4000, Kinds::ALL), 4001);
        let folded = wanted(Kinds::ALL, &[false, true]);
        assert_eq!(index.next(1, folded), Some(4000));
        assert_eq!(index.previous(5000, folded), Some(4000));
        assert_eq!(index.next(1, wanted(Kinds::ALL, &[])), Some(1));
    }
}
