//! Converts entries to cards: the document form of pages, where content is
//! folded instead of cut.
//!
//! A [`Card`] holds the kind and outcome of an entry and its [`Panel`]s, each a
//! one-line heading with sections below. Where a terminal shows five lines of
//! output, a card holds all of them, up to [`LARGEST`] bytes per body;
//! [`Section::left_out`] counts the rest. The `html` and `markdown` back ends
//! render cards.

mod call;

use super::entry::{self, Detail, Reasoning, separate_titles, title};
use super::{Block, Line, ListItem, Role, Span, Style, clean_lines, prompt, prose, tool};
use crate::event::{Level, Plan, PlanStatus, ToolStatus, TurnStatus, User};
use crate::sanitize;
use crate::session::{Entry, Item};

/// Maximum bytes of one body in a card.
pub const LARGEST: usize = 2_000_000;

/// Maximum characters of a heading taken from the entry's text.
const LONGEST_HEADING: usize = 160;

/// An entry for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The kind of entry, for filters and navigation.
    pub kind: Kind,
    /// The outcome.
    pub outcome: Outcome,
    /// The start time.
    pub time: Option<String>,
    /// The nesting depth: 0 for the root agent.
    pub depth: u32,
    /// The name of the sub-agent; empty for the root agent or an unnamed one.
    pub agent: String,
    /// The content.
    pub panels: Vec<Panel>,
}

impl Card {
    /// Returns the display name of the sub-agent, or `None` for the root agent.
    pub fn speaker(&self) -> Option<&str> {
        let name = match self.agent.as_str() {
            "" => "a sub-agent",
            name => name,
        };
        (self.depth > 0).then_some(name)
    }
}

/// The kind of a card, for filters and navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A user message.
    Prompt,
    /// An answer of the agent.
    Answer,
    /// The model's reasoning.
    Reasoning,
    /// A tool call that changes no file.
    Tool,
    /// A file change, by a tool call or outside one.
    Edit,
    /// The plan.
    Plan,
    /// A question of the agent and its answer.
    Question,
    /// Context that the model received besides the prompt.
    Context,
    /// A message of the agent itself or of the reader.
    Notice,
    /// Tokens and cost.
    Usage,
    /// A frame that no rule matched.
    Unknown,
}

impl Kind {
    /// Returns the kind of an entry's card without building the card. A tool
    /// call can still become [`Edit`](Self::Edit) when its card is built and
    /// contains a diff.
    pub fn of(item: &Item) -> Self {
        match item {
            Item::User(_) => Self::Prompt,
            Item::Text(_) | Item::Media(_) => Self::Answer,
            Item::Reasoning(_) => Self::Reasoning,
            Item::Tool(tool) if call::changes_files(tool) || call::has_edits(tool) => Self::Edit,
            Item::Tool(_) => Self::Tool,
            Item::Edit(_) => Self::Edit,
            Item::Plan(_) => Self::Plan,
            Item::Permission(_) | Item::Prompt(_) => Self::Question,
            Item::Context(_) => Self::Context,
            Item::Notice(_) | Item::TurnEnd(_) | Item::Session(_) | Item::State(_) => Self::Notice,
            Item::Usage(_) => Self::Usage,
            Item::Unknown(_) => Self::Unknown,
        }
    }
}

/// The outcome of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Neither success nor failure applies.
    Neutral,
    /// It has not finished.
    Unfinished,
    /// It succeeded.
    Succeeded,
    /// It failed, was rejected or was canceled.
    Failed,
}

/// A heading with sections below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// One line; empty for prose, which has no heading.
    pub heading: Line,
    /// The whole paths in a heading that shows them relative; otherwise empty.
    pub paths: String,
    /// The content below the heading.
    pub sections: Vec<Section>,
    /// True if the sections are expanded at first.
    pub open: bool,
}

/// A labelled piece of content below a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The label; empty if the heading is enough.
    pub label: &'static str,
    /// The content.
    pub blocks: Vec<Block>,
    /// The language of verbatim lines and listings, as fences name it: `rust`,
    /// `console`; empty if unknown.
    pub language: String,
    /// True for prose, in which [`Role::Accent`] marks inline code.
    pub prose: bool,
    /// True if it is folded although its panel is open.
    pub folded: bool,
    /// Bytes omitted at the end.
    pub left_out: usize,
}

impl Section {
    fn new(label: &'static str, blocks: Vec<Block>) -> Self {
        Self {
            label,
            blocks,
            ..Self::default()
        }
    }

    /// Creates a section from Markdown.
    fn markdown(label: &'static str, text: &str, highlight: bool) -> Self {
        let (text, left_out) = bounded(text);
        Self {
            label,
            blocks: prose::blocks(text, highlight),
            prose: true,
            left_out,
            ..Self::default()
        }
    }

    /// Creates a section from preformatted text.
    fn verbatim(label: &'static str, text: &str) -> Self {
        let (text, left_out) = bounded(text);
        let lines = clean_lines(text.trim_end(), Style::default());
        Self {
            left_out,
            ..Self::new(label, vec![Block::Verbatim(lines)])
        }
    }
}

/// Builds the card of an entry; `None` for entries without visible content.
/// Ignores the line limit of `detail`.
pub fn card(entry: &Entry, detail: &Detail) -> Option<Card> {
    let detail = Detail {
        lines: None,
        everything: false,
        ..detail.clone()
    };
    let panels = panels(entry, &detail);
    let agent = entry.agent.as_deref();
    let is_empty = |panel: &Panel| panel.heading.is_empty() && panel.sections.is_empty();
    (!panels.iter().all(is_empty)).then(|| Card {
        kind: match Kind::of(&entry.item) {
            Kind::Tool if has_diff(&panels) => Kind::Edit,
            kind => kind,
        },
        outcome: outcome(&entry.item),
        time: entry.time.clone(),
        depth: entry.depth(),
        agent: agent.map_or_else(String::new, |agent| {
            sanitize::line(&agent.name).into_owned()
        }),
        panels,
    })
}

fn panels(entry: &Entry, detail: &Detail) -> Vec<Panel> {
    match &entry.item {
        Item::User(user) => user_message(user, detail),
        Item::Text(text) if text.preformatted => {
            vec![headless(Section::verbatim("", &text.text))]
        }
        Item::Text(text) => prose(&text.text, detail),
        Item::Reasoning(text) => reasoning(&text.text, detail),
        Item::Tool(tool) => call::panels(tool, entry::folder(entry, detail), detail),
        Item::Edit(edits) => call::grouped(tool::standalone_edits(
            edits,
            entry::folder(entry, detail),
            detail,
        )),
        Item::Plan(plan) => vec![plan_panel(plan)],
        Item::Context(context) => {
            let section = Section::verbatim("", &context.text.as_str());
            with_section(entry, detail, section)
        }
        Item::Unknown(text) => {
            let heading = vec![
                Span::new("Unknown", Style::of(Role::Colorful).bold()),
                Span::role(format!(" {}", first_line(&text.as_str())), Role::Normal),
            ];
            vec![Panel {
                heading,
                sections: vec![Section::verbatim("", &tool::pretty(&text.as_str()))],
                ..Panel::default()
            }]
        }
        _ => terminal_panels(entry, detail),
    }
}

/// Renders a user message: Markdown, with its line breaks and pasted text as
/// written.
fn user_message(user: &User, detail: &Detail) -> Vec<Panel> {
    let text = user.text.as_str();
    let (text, left_out) = bounded(text.trim_end());
    let mut blocks = prompt::blocks(text, detail.highlight);
    blocks.extend((!user.media.is_empty()).then(|| Block::Media(user.media.clone())));
    let section = Section {
        left_out,
        prose: true,
        ..Section::new("", blocks)
    };
    vec![headless(section)]
}

fn prose(text: &str, detail: &Detail) -> Vec<Panel> {
    let section = Section::markdown("", text, detail.highlight);
    if section.blocks.is_empty() {
        return Vec::new();
    }
    vec![headless(section)]
}

/// Uses the title, or else the first line, as the heading.
fn reasoning(text: &str, detail: &Detail) -> Vec<Panel> {
    if detail.reasoning == Reasoning::Off || text.trim().is_empty() {
        return Vec::new();
    }
    let text = &*separate_titles(text);
    let (heading, rest) = match title(text) {
        Some(title) => {
            let rest = text
                .trim_start()
                .split_once('\n')
                .map_or("", |(_, rest)| rest);
            (sanitize::line(title).into_owned(), rest)
        }
        None => (first_line(text), text),
    };
    let section = Section::markdown("", rest, detail.highlight);
    vec![Panel {
        heading: vec![Span::new(heading, Style::of(Role::Normal).italic())],
        sections: Some(section)
            .filter(|section| !section.blocks.is_empty())
            .into_iter()
            .collect(),
        open: detail.reasoning == Reasoning::Full,
        ..Panel::default()
    }]
}

/// Renders the steps as a task list and highlights the first unfinished step.
fn plan_panel(plan: &Plan) -> Panel {
    let is_done = |status| matches!(status, PlanStatus::Completed | PlanStatus::Canceled);
    let current = plan.entries.iter().position(|entry| !is_done(entry.status));
    let items = plan.entries.iter().enumerate().map(|(index, entry)| {
        let style = Style {
            bold: Some(index) == current,
            strike: entry.status == PlanStatus::Canceled,
            ..Style::default()
        };
        let text = Span::new(sanitize::line(entry.text.trim()), style);
        ListItem {
            done: Some(is_done(entry.status)),
            blocks: vec![Block::Paragraph(vec![text])],
            ..ListItem::default()
        }
    });
    let mut blocks = Vec::new();
    if !plan.explanation.trim().is_empty() {
        let text = sanitize::line(plan.explanation.trim());
        blocks.push(Block::Paragraph(vec![Span::new(text, Style::default())]));
    }
    blocks.push(Block::List {
        start: None,
        items: items.collect(),
    });
    Panel {
        heading: vec![Span::new("Plan", Style::of(Role::Colorful).bold())],
        sections: vec![Section::new("", blocks)],
        open: true,
        ..Panel::default()
    }
}

/// Renders the entry as a terminal does.
fn terminal_panels(entry: &Entry, detail: &Detail) -> Vec<Panel> {
    let parts = entry::parts(entry, detail).into_iter();
    parts
        .map(|part| headless(Section::new("", part.blocks)))
        .collect()
}

/// Adds a section below the terminal rendering of the entry.
fn with_section(entry: &Entry, detail: &Detail, section: Section) -> Vec<Panel> {
    let mut panels = call::grouped(entry::parts(entry, detail));
    if let Some(last) = panels.last_mut() {
        let is_empty = section.blocks == [Block::Verbatim(Vec::new())];
        last.sections.extend((!is_empty).then_some(section));
    }
    panels
}

fn headless(section: Section) -> Panel {
    Panel {
        sections: vec![section],
        open: true,
        ..Panel::default()
    }
}

fn has_diff(panels: &[Panel]) -> bool {
    let sections = panels.iter().flat_map(|panel| &panel.sections);
    let mut blocks = sections.flat_map(|section| &section.blocks);
    blocks.any(|block| matches!(block, Block::Diff(lines) if call::has_changed_lines(lines)))
}

fn outcome(item: &Item) -> Outcome {
    match item {
        Item::Tool(tool) => match tool.result.as_ref().map(|result| result.status) {
            None => Outcome::Unfinished,
            Some(ToolStatus::Ok) => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
        },
        Item::Edit(edits) if edits.status == ToolStatus::Ok => Outcome::Succeeded,
        Item::Edit(_) => Outcome::Failed,
        Item::Notice(notice) if notice.level != Level::Info => Outcome::Failed,
        Item::TurnEnd(end) if end.status != TurnStatus::Completed => Outcome::Failed,
        _ => Outcome::Neutral,
    }
}

/// Returns the first line, cut for use as a heading.
fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut line: String = line.chars().take(LONGEST_HEADING).collect();
    if line.len() < text.trim().len() {
        line.push('…');
    }
    sanitize::line(line.trim()).into_owned()
}

/// Cuts a text to [`LARGEST`] bytes; returns it with the number of bytes left
/// out.
fn bounded(text: &str) -> (&str, usize) {
    if text.len() <= LARGEST {
        return (text, 0);
    }
    let end = (0..=LARGEST).rev().find(|at| text.is_char_boundary(*at));
    let (head, rest) = text.split_at(end.unwrap_or_default());
    (head, rest.len())
}
