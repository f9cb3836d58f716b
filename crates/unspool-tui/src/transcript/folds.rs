//! Folding of entries. A call that started a sub-agent is the head of the
//! sub-agent's entries and hides them when folded.

use std::collections::HashMap;

use unspool::event::{Agent, Category};
use unspool::session::{Entry, Item};

use super::rows::{self, Level, Spot};
use super::{Pane, entry_text};

/// Maximum number of slots with individual folding.
const MOST: usize = 100_000;

/// Folding of all entries without individual folding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum All {
    /// The default of each kind.
    #[default]
    Default,
    Open,
    Folded,
}

/// Individual folding of a slot.
#[derive(Clone, Default)]
struct Fold {
    level: Option<Level>,
    toggled: Vec<u16>,
}

/// Folding of all slots.
#[derive(Default)]
pub(super) struct Folds {
    all: All,
    slots: HashMap<usize, Fold>,
    /// Number of changes to folded sections.
    pub(super) changes: u32,
}

impl Folds {
    pub(super) fn level(&self, slot: usize, item: &Item) -> Level {
        let own = self.slots.get(&slot).and_then(|fold| fold.level);
        own.unwrap_or(match self.all {
            All::Default => Level::initial(item),
            All::Open => Level::Full,
            All::Folded => match item {
                Item::User(_) => Level::Brief,
                _ => Level::Folded,
            },
        })
    }

    pub(super) fn toggled(&self, slot: usize) -> &[u16] {
        self.slots.get(&slot).map_or(&[], |fold| &fold.toggled)
    }

    pub(super) fn set(&mut self, slot: usize, level: Level) {
        self.fold(slot).level = Some(level);
    }

    /// Folds or unfolds a section.
    pub(super) fn toggle(&mut self, slot: usize, section: u16) {
        self.changes = self.changes.wrapping_add(1);
        let toggled = &mut self.fold(slot).toggled;
        match toggled.iter().position(|other| *other == section) {
            Some(place) => {
                toggled.remove(place);
            }
            None => toggled.push(section),
        }
    }

    /// Unfolds all sections of a slot.
    pub(super) fn open(&mut self, slot: usize, folded: impl IntoIterator<Item = u16>) {
        self.changes = self.changes.wrapping_add(1);
        let fold = self.fold(slot);
        fold.level = Some(Level::Full);
        for section in folded {
            if !fold.toggled.contains(&section) {
                fold.toggled.push(section);
            }
        }
    }

    pub(super) fn set_all(&mut self, all: All) {
        self.all = all;
        self.slots.clear();
        self.changes = self.changes.wrapping_add(1);
    }

    fn fold(&mut self, slot: usize) -> &mut Fold {
        if self.slots.len() >= MOST {
            self.slots.clear();
        }
        self.slots.entry(slot).or_default()
    }
}

/// A sub-agent.
struct Group {
    name: String,
    /// The call that started it.
    head: Option<usize>,
    entries: usize,
}

/// The sub-agents of a run; the root agent is the first.
pub(super) struct Groups {
    all: Vec<Group>,
    numbers: HashMap<String, u32>,
    /// Slots of calls that may have started a sub-agent.
    calls: HashMap<String, usize>,
    /// Sub-agents started by each slot.
    heads: HashMap<usize, Vec<u32>>,
    /// For each sub-agent, true if it is hidden.
    pub(super) hidden: Vec<bool>,
}

/// Maximum number of sub-agents to distinguish.
const MOST_GROUPS: usize = 4096;

impl Default for Groups {
    fn default() -> Self {
        Self {
            all: vec![Group {
                name: String::new(),
                head: None,
                entries: 0,
            }],
            numbers: HashMap::new(),
            calls: HashMap::new(),
            heads: HashMap::new(),
            hidden: vec![false],
        }
    }
}

impl Groups {
    /// Returns the group of an entry.
    pub(super) fn of(&mut self, slot: usize, entry: &Entry, is_new: bool) -> u32 {
        if let Item::Tool(tool) = &entry.item
            && matches!(tool.call.category, Category::Task | Category::Other)
            && is_new
            && self.calls.len() < MOST_GROUPS * 4
        {
            self.calls.insert(tool.call.id.clone(), slot);
        }
        let number = match entry.agent.as_deref() {
            Some(agent) if agent.depth > 0 => self.number(agent),
            _ => 0,
        };
        if is_new && let Some(group) = self.all.get_mut(number as usize) {
            group.entries += 1;
        }
        number
    }

    fn number(&mut self, agent: &Agent) -> u32 {
        if let Some(number) = self.numbers.get(&agent.id) {
            return *number;
        }
        if self.all.len() >= MOST_GROUPS {
            return 0;
        }
        let number = u32::try_from(self.all.len()).unwrap_or_default();
        let head = self.calls.get(&agent.parent).copied();
        if let Some(head) = head {
            self.heads.entry(head).or_default().push(number);
        }
        let name = if agent.name.is_empty() {
            &agent.id
        } else {
            &agent.name
        };
        self.all.push(Group {
            name: unspool::sanitize::line(name).into_owned(),
            head,
            entries: 0,
        });
        self.hidden.push(false);
        self.numbers.insert(agent.id.clone(), number);
        number
    }

    /// Returns the name of a sub-agent.
    pub(super) fn name(&self, group: u32) -> &str {
        self.all.get(group as usize).map_or("", |group| &group.name)
    }

    /// Returns the call that started a sub-agent.
    pub(super) fn head(&self, group: u32) -> Option<usize> {
        self.all.get(group as usize)?.head
    }

    /// Returns the number of entries that folding this slot hides.
    pub(super) fn below(&self, slot: usize) -> usize {
        let groups = self.heads.get(&slot).into_iter().flatten();
        groups
            .filter_map(|group| self.all.get(*group as usize))
            .map(|group| group.entries)
            .sum()
    }

    /// Hides groups below folded heads, and their descendants.
    pub(super) fn hide(&mut self, is_folded: impl Fn(usize) -> bool, of: impl Fn(usize) -> u32) {
        for number in 0..self.all.len() {
            let head = self.all.get(number).and_then(|group| group.head);
            // A group is numbered before its descendants.
            let above = head
                .map(&of)
                .and_then(|above| self.hidden.get(above as usize));
            let is_hidden = head.is_some_and(&is_folded) || above.copied().unwrap_or(false);
            if let Some(hidden) = self.hidden.get_mut(number) {
                *hidden = is_hidden;
            }
        }
    }
}

impl Pane {
    /// Folds or unfolds the selected entry or section.
    pub(super) fn toggle(&mut self) {
        let slot = self.cursor.slot;
        if let Spot::Label(section) = self.spot(self.cursor) {
            self.folds.toggle(slot, section);
            self.follows = false;
            return;
        }
        let Some(entry) = self.timeline.entry(slot) else {
            return;
        };
        let at_first = Level::initial(&entry.item);
        let level = match self.level(slot) {
            Level::Full => at_first,
            _ if at_first == Level::Folded && self.level(slot) == Level::Brief => at_first,
            _ => Level::Full,
        };
        self.fold(slot, level);
    }

    /// Shows one level more or less.
    pub(super) fn set_level(&mut self, by: isize) {
        let slot = self.cursor.slot;
        if by > 0 && self.level(slot) == Level::Full {
            return self.open_sections(slot);
        }
        let level = match (self.level(slot), by > 0) {
            (Level::Folded, true) | (Level::Full, false) => Level::Brief,
            (Level::Brief | Level::Full, true) => Level::Full,
            (Level::Folded | Level::Brief, false) => Level::Folded,
        };
        self.fold(slot, level);
    }

    /// Unfolds all sections of an entry.
    pub(super) fn open_sections(&mut self, slot: usize) {
        self.rows(slot);
        let folded: Vec<u16> = self.cache.get(slot).iter().filter_map(folded).collect();
        self.folds.open(slot, folded);
        self.follows = false;
    }

    pub(super) fn fold(&mut self, slot: usize, level: Level) {
        self.folds.set(slot, level);
        self.hide();
        let place = self.begin_of(slot);
        self.reveal(place);
        self.cursor = place;
        self.follows = false;
        self.anchor = None;
    }

    pub(super) fn fold_all(&mut self, all: All) {
        self.folds.set_all(all);
        self.hide();
        let place = self.cursor;
        let shown = self
            .next_slot(place.slot)
            .or_else(|| self.previous_slot(place.slot));
        let place = self.begin_of(shown.unwrap_or_default());
        self.top = place;
        if !self.follows {
            self.go(place);
        }
    }

    /// Hides the entries below folded heads.
    pub(super) fn hide(&mut self) {
        let (timeline, folds, index) = (&self.timeline, &self.folds, &self.index);
        let is_folded = |slot: usize| {
            let entry = timeline.entry(slot);
            entry.is_some_and(|entry| folds.level(slot, &entry.item) == Level::Folded)
        };
        self.groups.hide(is_folded, |slot| index.get(slot).group);
    }
}

/// Returns the section whose folded label is in this row.
pub(super) fn folded(row: &rows::Row) -> Option<u16> {
    match row.part {
        Spot::Label(number) if entry_text::plain(&row.line).contains('▸') => Some(number),
        _ => None,
    }
}
