//! The completion list above the prompt: commands after `/`, files after `@`.
//!
//! It follows the typed word. Only Tab and Enter take an item.

use unspool::doc::Span;

use super::files::Found;
use crate::matching::{Fields, Finder, field};

/// Maximum number of visible rows.
pub(super) const ROWS: usize = 8;

/// A command of the agent or of the app.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Name without `/`.
    pub name: String,
    /// A short description.
    pub description: String,
    /// Hint about its arguments.
    pub hint: Option<String>,
}

impl Command {
    /// Escapes all texts, because commands come from an agent.
    pub(super) fn cleaned(self) -> Self {
        let clean = |text: &str| Span::clean(text, unspool::doc::Style::default()).text;
        Self {
            name: clean(&self.name).split_whitespace().collect(),
            description: clean(&self.description),
            hint: self.hint.as_deref().map(clean),
        }
    }
}

/// The kind of completion.
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

/// The completion list.
pub(super) struct Popup {
    pub(super) source: Source,
    /// Start of the completed word in the text.
    pub(super) start: usize,
    pub(super) items: Vec<Item>,
    pub(super) marked: usize,
    pub(super) top: usize,
    /// Status of the whole list.
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

    /// Replaces the rows; with `keeps`, the selected row stays selected.
    pub(super) fn fill(&mut self, items: Vec<Item>, keeps: bool) {
        let before = self.items.get(self.marked).map(|item| item.text.clone());
        self.items = items;
        let same = |item: &Item| keeps && Some(&item.text) == before.as_ref();
        self.marked = self.items.iter().position(same).unwrap_or(0);
        self.scroll();
    }

    /// Moves the selection, wrapping around.
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

/// Creates a finder over commands.
pub(super) fn finder(commands: &[Command]) -> Finder {
    let fields = |command: &Command| Fields {
        seen: vec![field(&command.name)],
        hidden: vec![field(&command.description)],
    };
    Finder::new(commands.iter().map(fields).collect())
}

/// Returns the matching commands, those with this prefix first.
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

/// Converts files to rows.
pub(super) fn files(found: Vec<Found>) -> Vec<Item> {
    let item = |found: Found| Item {
        text: found.path,
        marks: found.marks,
        description: String::new(),
    };
    found.into_iter().map(item).collect()
}
