//! Entries → cards: an entry for a page, where nothing is left out but folded.
//!
//! A [`Card`] says what an entry is and how it went, and holds [`Panel`]s: a
//! heading of one line, and below it everything that is known. Where a terminal
//! shows five lines of an output, a card has all of them, up to [`LARGEST`] bytes
//! of one body; [`Section::left_out`] counts the rest. Called by those who feed the
//! back ends `html` and `markdown`.

mod call;

use super::entry::{self, Detail, Reasoning, title, titles_apart};
use super::{Block, Line, ListItem, Role, Span, Style, clean_lines, markdown, tool};
use crate::event::{Level, Plan, PlanStatus, ToolStatus, TurnStatus};
use crate::sanitize;
use crate::session::{Entry, Item};

/// Bytes of one body that a card holds.
pub const LARGEST: usize = 2_000_000;

/// Characters of a heading that is made of an entry's own words.
const LONGEST_HEADING: usize = 160;

/// An entry as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What it is.
    pub kind: Kind,
    /// How it went.
    pub state: State,
    /// When it began.
    pub time: Option<String>,
    /// How deep it is nested: 0 for the root agent.
    pub depth: u32,
    /// The name of the sub-agent that it belongs to.
    pub agent: String,
    /// What is seen of it.
    pub panels: Vec<Panel>,
}

impl Card {
    /// The sub-agent that it belongs to, as people call it; none is the root agent.
    pub fn speaker(&self) -> Option<&str> {
        let name = match self.agent.as_str() {
            "" => "a sub-agent",
            name => name,
        };
        (self.depth > 0).then_some(name)
    }
}

/// What a card is, for those who filter and navigate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What a person said.
    Prompt,
    /// What the agent said.
    Answer,
    /// What the model thought.
    Reasoning,
    /// A call that changes no file.
    Tool,
    /// A change of files, by a call or without.
    Edit,
    /// The plan.
    Plan,
    /// What the agent asked, and what it was told.
    Question,
    /// What the model was given besides the prompt.
    Context,
    /// A message of the agent itself or of the reader.
    Notice,
    /// Tokens and cost.
    Usage,
    /// What no rule knows.
    Unknown,
}

impl Kind {
    /// What the card of an entry would be, without making one. A call may still
    /// turn out to be a change of files once it is laid out.
    pub fn of(item: &Item) -> Self {
        match item {
            Item::User(_) => Self::Prompt,
            Item::Text(_) => Self::Answer,
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

/// How something went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// There is nothing to go well or wrong.
    Plain,
    /// It never ended.
    Open,
    /// It did its work.
    Done,
    /// It failed, or was stopped.
    Failed,
}

/// A heading, and what lies below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// One line; empty for prose, which stands by itself.
    pub heading: Line,
    /// What lies below it.
    pub sections: Vec<Section>,
    /// Whether a reader wants to see what lies below at once.
    pub open: bool,
}

/// One of the things below a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// What it is, where that has to be said.
    pub label: &'static str,
    /// The content.
    pub blocks: Vec<Block>,
    /// Whether the blocks are somebody's words, in which what is less important
    /// is code.
    pub prose: bool,
    /// Whether it is folded below a heading that is open.
    pub folded: bool,
    /// Bytes at the end that are not there.
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

    /// Somebody's words.
    fn words(label: &'static str, text: &str, highlight: bool) -> Self {
        let (text, left_out) = bounded(text);
        Self {
            label,
            blocks: markdown::blocks_of(text, highlight),
            prose: true,
            left_out,
            ..Self::default()
        }
    }

    /// A text as it is.
    fn verbatim(label: &'static str, text: &str) -> Self {
        let (text, left_out) = bounded(text);
        let lines = clean_lines(text.trim_end(), Style::default());
        Self {
            left_out,
            ..Self::new(label, vec![Block::Verbatim(lines)])
        }
    }
}

/// The card of an entry; none for those that are only bookkeeping. Of `detail`
/// the number of lines does not matter.
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
        state: state(&entry.item),
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
        Item::User(user) => said(&user.text.as_str()),
        Item::Text(text) if text.preformatted => {
            vec![alone(Section::verbatim("", &text.text))]
        }
        Item::Text(text) => prose(&text.text, detail),
        Item::Reasoning(text) => thought(&text.text, detail),
        Item::Tool(tool) => call::panels(tool, detail),
        Item::Edit(made) => call::grouped(tool::made(made, detail)),
        Item::Plan(plan) => vec![planned(plan)],
        Item::Context(context) => {
            let section = Section::verbatim("", &context.text.as_str());
            below_its_heading(entry, detail, section)
        }
        Item::Unknown(text) => {
            let heading = vec![
                Span::new("Unknown", Style::of(Role::Colorful).bold()),
                Span::role(format!(" {}", first_words(&text.as_str())), Role::Normal),
            ];
            vec![Panel {
                heading,
                sections: vec![Section::verbatim("", &tool::pretty(&text.as_str()))],
                open: false,
            }]
        }
        _ => as_told(entry, detail),
    }
}

/// What a person said: without markup, its line ends stay.
fn said(text: &str) -> Vec<Panel> {
    let (text, left_out) = bounded(text.trim());
    let text = Span::new(sanitize::text(text), Style::default());
    let section = Section {
        left_out,
        ..Section::new("", vec![Block::Paragraph(vec![text])])
    };
    vec![alone(section)]
}

fn prose(text: &str, detail: &Detail) -> Vec<Panel> {
    let section = Section::words("", text, detail.highlight);
    if section.blocks.is_empty() {
        return Vec::new();
    }
    vec![alone(section)]
}

/// The title, or else the first words, stand for the rest.
fn thought(text: &str, detail: &Detail) -> Vec<Panel> {
    if detail.reasoning == Reasoning::Off || text.trim().is_empty() {
        return Vec::new();
    }
    let text = &*titles_apart(text);
    let (heading, rest) = match title(text) {
        Some(title) => {
            let rest = text
                .trim_start()
                .split_once('\n')
                .map_or("", |(_, rest)| rest);
            (sanitize::line(title).into_owned(), rest)
        }
        None => (first_words(text), text),
    };
    let section = Section::words("", rest, detail.highlight);
    vec![Panel {
        heading: vec![Span::new(heading, Style::of(Role::Normal).italic())],
        sections: Some(section)
            .filter(|section| !section.blocks.is_empty())
            .into_iter()
            .collect(),
        open: detail.reasoning == Reasoning::Full,
    }]
}

/// The steps as a list of tasks; the first that is not done stands out.
fn planned(plan: &Plan) -> Panel {
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
    }
}

/// What a terminal shows of the entry.
fn as_told(entry: &Entry, detail: &Detail) -> Vec<Panel> {
    let parts = entry::parts(entry, detail).into_iter();
    parts
        .map(|part| alone(Section::new("", part.blocks)))
        .collect()
}

/// A section below what a terminal shows of the entry.
fn below_its_heading(entry: &Entry, detail: &Detail, section: Section) -> Vec<Panel> {
    let mut panels = call::grouped(entry::parts(entry, detail));
    if let Some(last) = panels.last_mut() {
        let is_empty = section.blocks == [Block::Verbatim(Vec::new())];
        last.sections.extend((!is_empty).then_some(section));
    }
    panels
}

fn alone(section: Section) -> Panel {
    Panel {
        heading: Line::new(),
        sections: vec![section],
        open: true,
    }
}

fn has_diff(panels: &[Panel]) -> bool {
    let sections = panels.iter().flat_map(|panel| &panel.sections);
    let mut blocks = sections.flat_map(|section| &section.blocks);
    blocks.any(|block| matches!(block, Block::Diff(lines) if call::is_change(lines)))
}

fn state(item: &Item) -> State {
    match item {
        Item::Tool(tool) => match tool.result.as_ref().map(|result| result.status) {
            None => State::Open,
            Some(ToolStatus::Ok) => State::Done,
            Some(_) => State::Failed,
        },
        Item::Edit(made) if made.status == ToolStatus::Ok => State::Done,
        Item::Edit(_) => State::Failed,
        Item::Notice(notice) if notice.level != Level::Info => State::Failed,
        Item::TurnEnd(end) if end.status != TurnStatus::Completed => State::Failed,
        _ => State::Plain,
    }
}

/// The first line of a text, cut for a heading.
fn first_words(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut words: String = line.chars().take(LONGEST_HEADING).collect();
    if words.len() < text.trim().len() {
        words.push('…');
    }
    sanitize::line(words.trim()).into_owned()
}

/// As much of a text as a card holds, and how many bytes are left out.
fn bounded(text: &str) -> (&str, usize) {
    if text.len() <= LARGEST {
        return (text, 0);
    }
    let end = (0..=LARGEST).rev().find(|at| text.is_char_boundary(*at));
    let (head, rest) = text.split_at(end.unwrap_or_default());
    (head, rest.len())
}
