//! The list above the prompt: commands behind `/`, files behind `@`.
//!
//! It follows what is being written, and nothing is chosen but by Tab or Enter.

use unspool::doc::Span;

use super::files::Found;
use crate::matching::{Fields, Finder, field};

/// Rows that are seen at once.
pub(super) const ROWS: usize = 8;

/// A command of the agent, or of the program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its name, without `/`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may be written behind it.
    pub hint: Option<String>,
}

impl Command {
    /// The same with text that a terminal can be given: commands come from an
    /// agent.
    pub(super) fn cleaned(self) -> Self {
        let clean = |text: &str| Span::clean(text, unspool::doc::Style::default()).text;
        Self {
            name: clean(&self.name).split_whitespace().collect(),
            description: clean(&self.description),
            hint: self.hint.as_deref().map(clean),
        }
    }
}

/// What is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Command,
    File,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) marks: Vec<u32>,
    pub(super) description: String,
}

/// The list.
pub(super) struct Popup {
    pub(super) source: Source,
    /// Where in the text that begins which is completed.
    pub(super) start: usize,
    pub(super) items: Vec<Item>,
    pub(super) marked: usize,
    pub(super) top: usize,
    /// What is said of the list as a whole.
    pub(super) note: String,
}

impl Popup {
    pub(super) fn new(source: Source, start: usize) -> Self {
        Self {
            source,
            start,
            items: Vec::new(),
            marked: 0,
            top: 0,
            note: String::new(),
        }
    }

    /// Other rows; the mark stays on the row that it was on, if `keeps` is set.
    pub(super) fn fill(&mut self, items: Vec<Item>, keeps: bool) {
        let before = self.items.get(self.marked).map(|item| item.text.clone());
        self.items = items;
        let same = |item: &Item| keeps && Some(&item.text) == before.as_ref();
        self.marked = self.items.iter().position(same).unwrap_or(0);
        self.scroll();
    }

    /// Moves the mark, around the ends.
    pub(super) fn step(&mut self, forward: bool) {
        let last = self.items.len().saturating_sub(1);
        self.marked = match (forward, self.marked) {
            (true, at) if at >= last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        };
        self.scroll();
    }

    pub(super) fn chosen(&self) -> Option<&Item> {
        self.items.get(self.marked)
    }

    fn scroll(&mut self) {
        let lowest = (self.marked + 1).saturating_sub(ROWS);
        self.top = self.top.clamp(lowest, self.marked.max(lowest));
    }
}

/// Commands as rows that can be searched.
pub(super) fn finder(commands: &[Command]) -> Finder {
    let fields = |command: &Command| Fields {
        seen: vec![field(&command.name)],
        hidden: vec![field(&command.description)],
    };
    Finder::new(commands.iter().map(fields).collect())
}

/// The commands that match; those that begin so first.
pub(super) fn commands(commands: &[Command], finder: &mut Finder, query: &str) -> Vec<Item> {
    finder.search(query);
    let mut found = finder.found().to_vec();
    let begins = |at: &usize| {
        commands
            .get(*at)
            .is_some_and(|one| one.name.starts_with(query))
    };
    found.sort_by_key(|at| !begins(at));
    let item = |at: usize| {
        let command = commands.get(at)?;
        let marks = finder.marks(at).into_iter().next().unwrap_or_default();
        Some(Item {
            text: command.name.clone(),
            marks,
            description: command.description.clone(),
        })
    };
    found.into_iter().filter_map(item).collect()
}

/// Files as rows.
pub(super) fn files(found: Vec<Found>) -> Vec<Item> {
    let item = |found: Found| Item {
        text: found.path,
        marks: found.marks,
        description: String::new(),
    };
    found.into_iter().map(item).collect()
}
