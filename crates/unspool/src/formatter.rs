//! The mode `full`: entries laid out for people, after the agent formatter's
//! document.
//!
//! [`Formatter::lines`] gives the styled lines of an entry for those with a back
//! end of their own; [`Formatter::format_event`] gives text.
//!
//! ```
//! use unspool::formatter::{Config, Formatter};
//! use unspool::Event;
//!
//! let mut formatter = Formatter::new(Config::default().with_plain_text(true));
//! let event = Event::from_json(r#"{"kind":"text","text":"All **tests** pass.","id":"m1"}"#)?;
//! let mut text = formatter.format_event(&event, 80);
//! let end = Event::from_json(r#"{"kind":"turn_end","status":"completed"}"#)?;
//! text += &formatter.format_event(&end, 80);
//! assert!(text.starts_with("• All tests pass."));
//! # Ok::<(), serde_json::Error>(())
//! ```

#[cfg(feature = "markdown")]
mod open;

#[cfg(feature = "markdown")]
pub use open::OpenText;

use crate::doc::entry::{self, Detail, Part};
use crate::doc::{Block, Line, ListItem, Role, Span};
use crate::event::{Agent, Body, Event};
use crate::layout::{self, Links, Page, Sink};
use crate::output::{Ansi, Output, Row, Text};
use crate::sanitize;
use crate::session::{Entry, Item, Session};
use crate::theme::{Rgb, Theme};

/// Wider than this, lines are wrapped; otherwise paragraphs stay on one line.
pub const MIN_TERMINAL_WIDTH: usize = layout::MIN_COLUMNS;

/// Columns that an entry keeps for itself, however deep it is nested.
const LEAST_INNER_WIDTH: usize = 24;

/// Most entries are no longer than this, in bytes.
const USUAL_LENGTH: usize = 512;

/// Levels of nesting that are indented; a depth is an agent's word.
const DEEPEST: u32 = 100;

/// Settings of a [`Formatter`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
#[non_exhaustive]
pub struct Config {
    /// No colours and no other escape codes.
    pub plain_text: bool,
    /// The terminal's background; black if it is not known.
    pub background: Option<Rgb>,
    /// The terminal's text colour; white if it is not known.
    pub foreground: Option<Rgb>,
    /// Less important text; derived from the two above if it is not given.
    pub accent: Option<Rgb>,
    /// Tool calls; derived from the background if it is not given.
    pub colorful: Option<Rgb>,
    /// How much is told.
    pub detail: Detail,
    /// Links as OSC 8, with only their text visible.
    pub links: bool,
    /// Show when each entry began.
    pub timestamps: bool,
    /// Nothing but the words: no bullets, margins or wraps.
    pub copy_clean: bool,
}

setters! {
    Config {
        with_plain_text => plain_text: bool,
        with_background => background: Option<Rgb>,
        with_foreground => foreground: Option<Rgb>,
        with_accent => accent: Option<Rgb>,
        with_colorful => colorful: Option<Rgb>,
        with_detail => detail: Detail,
        with_links => links: bool,
        with_timestamps => timestamps: bool,
        with_copy_clean => copy_clean: bool,
    }
}

/// Lays entries out and writes them.
#[derive(Clone, Debug)]
pub struct Formatter {
    config: Config,
    /// What the configuration says, and whether code is worth highlighting.
    detail: Detail,
    output: Output,
    session: Session,
}

impl Formatter {
    /// A formatter with the colours that fit the configuration.
    pub fn new(config: Config) -> Self {
        let foreground = config.foreground.unwrap_or(Rgb::WHITE);
        let background = config.background.unwrap_or(Rgb::BLACK);
        let mut theme = Theme::new(foreground, background);
        if let Some(accent) = config.accent {
            theme = theme.with(Role::Accent, accent);
        }
        if let Some(colorful) = config.colorful {
            theme = theme.with(Role::Colorful, colorful);
        }
        Self {
            detail: detail(&config, &theme),
            output: output(&config, theme),
            session: Session::new(),
            config,
        }
    }

    /// The colours that fit the configuration.
    pub fn theme(&self) -> Theme {
        match &self.output {
            Output::Ansi(ansi) => ansi.theme.clone(),
            Output::Plain => Theme::mono(),
        }
    }

    /// The same with another theme.
    pub fn with_theme(self, theme: Theme) -> Self {
        Self {
            detail: detail(&self.config, &theme),
            output: output(&self.config, theme),
            ..self
        }
    }

    /// The text of an event, without a final line end. A call is shown as
    /// running; its result shows it as finished. Deltas give nothing until
    /// their message is over; kinds that have nothing to show give nothing.
    pub fn format_event(&mut self, event: &Event, width: usize) -> String {
        let mut finished = Vec::new();
        self.session
            .apply(event.clone(), &mut |entry| finished.push(entry));
        // A question is shown when it is asked.
        let is_asked =
            |entry: &Entry| matches!(&entry.item, Item::Prompt(prompt) if prompt.answer.is_empty());
        finished.retain(|entry| !is_asked(entry));
        if matches!(&event.body, Body::Prompt(prompt) if prompt.answer.is_empty()) {
            let asked = self
                .session
                .open()
                .iter()
                .rev()
                .find(|entry| is_asked(entry));
            finished.extend(asked.cloned());
        }
        if let Body::ToolUse(call) = &event.body {
            let is_call =
                |entry: &&Entry| matches!(&entry.item, Item::Tool(tool) if tool.call.id == call.id);
            finished.extend(self.session.open().iter().find(is_call).cloned());
        }
        let texts: Vec<String> = finished
            .iter()
            .map(|entry| self.format_entry(entry, width))
            .filter(|text| !text.is_empty())
            .collect();
        texts.join("\n")
    }

    /// The text of an entry, without a final line end; empty if nothing is
    /// shown of it.
    pub fn format_entry(&self, entry: &Entry, width: usize) -> String {
        let mut text = String::with_capacity(USUAL_LENGTH);
        let (parts, indent, inner) = self.parts(entry, width);
        let mut sink = Text::new(&self.output, indent, &mut text);
        for part in &parts {
            self.lay_out(part, inner, &mut sink);
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// The lines that name a sub-agent above what it says or does.
    pub fn speaker(&self, agent: &Agent, width: usize) -> Vec<Line> {
        let name = if agent.name.is_empty() {
            &agent.id
        } else {
            &agent.name
        };
        // Work is often told in a sentence.
        let name = name.trim_end_matches(['.', ':']);
        let text = format!("{}:", sanitize::line(name));
        let block = Block::Paragraph(vec![Span::role(text, Role::Accent)]);
        let (indent, inner) = room(agent.depth, width);
        let lines = layout::layout(&[block], self.page(inner), &[], &[]);
        indented(lines, indent)
    }

    /// A line for a live screen.
    pub fn row(&self, line: &[Span]) -> Row {
        self.output.row(line)
    }

    /// Lines as text, without a final line end.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = self.output.text(lines);
        text.pop();
        text
    }

    /// The styled lines of an entry.
    pub fn lines(&self, entry: &Entry, width: usize) -> Vec<Line> {
        let (parts, indent, inner) = self.parts(entry, width);
        let mut lines = layout::Lines::default();
        for part in &parts {
            self.lay_out(part, inner, &mut lines);
        }
        let mut lines = lines.finish();
        while lines.last().is_some_and(is_blank) {
            lines.pop();
        }
        indented(lines, indent)
    }

    /// What is seen of an entry, how far it is indented and how wide its lines
    /// may be beside that.
    fn parts(&self, entry: &Entry, width: usize) -> (Vec<Part>, usize, Option<usize>) {
        let mut parts = entry::parts(entry, &self.detail);
        if self.config.copy_clean {
            for part in &mut parts {
                part.first.clear();
                part.rest.clear();
                part.blocks = bare(std::mem::take(&mut part.blocks));
            }
            return (parts, 0, None);
        }
        self.stamp(entry, &mut parts);
        let (indent, inner) = room(entry.depth(), width);
        (parts, indent, inner)
    }

    /// Puts the time before the first line, if times are wanted.
    fn stamp(&self, entry: &Entry, parts: &mut [Part]) {
        if let (true, Some(first)) = (self.config.timestamps, parts.first_mut()) {
            let time = entry.time.as_deref().and_then(clock);
            first
                .first
                .extend(time.map(|time| Span::role(time, Role::Accent)));
        }
    }

    fn page(&self, width: Option<usize>) -> Page {
        let links = if self.config.links {
            Links::Text
        } else {
            Links::Address
        };
        Page {
            width,
            links,
            marks: self.detail.marks,
        }
    }

    fn lay_out(&self, part: &Part, width: Option<usize>, sink: &mut dyn Sink) {
        let page = self.page(width);
        layout::layout_into(&part.blocks, page, &part.first, &part.rest, sink);
    }
}

fn detail(config: &Config, theme: &Theme) -> Detail {
    let is_seen = !config.plain_text && theme.has_colors();
    Detail {
        highlight: config.detail.highlight && is_seen,
        ..config.detail.clone()
    }
}

/// The blocks without what layout draws beside words: bars and rules.
fn bare(blocks: Vec<Block>) -> Vec<Block> {
    let mut words = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Quote(quoted) => words.extend(bare(quoted)),
            Block::Rule => {}
            Block::List { start, items } => {
                let items = items.into_iter().map(|item| ListItem {
                    blocks: bare(item.blocks),
                    ..item
                });
                let items = items.collect();
                words.push(Block::List { start, items });
            }
            // Only a head is ruled off.
            Block::Table(mut table) => {
                let head = std::mem::take(&mut table.header);
                table.rows.insert(0, head);
                words.push(Block::Table(table));
            }
            block => words.push(block),
        }
    }
    words
}

/// How far an entry is indented, and the width that is left for it.
fn room(depth: u32, width: usize) -> (usize, Option<usize>) {
    let wanted = 2 * depth.min(DEEPEST) as usize;
    if width > MIN_TERMINAL_WIDTH {
        let indent = wanted.min(width - LEAST_INNER_WIDTH);
        (indent, Some(width - indent))
    } else {
        (wanted, None)
    }
}

/// The lines with blanks before all that are not empty.
fn indented(mut lines: Vec<Line>, indent: usize) -> Vec<Line> {
    if indent > 0 {
        for line in lines.iter_mut().filter(|line| !line.is_empty()) {
            line.insert(0, Span::role(" ".repeat(indent), Role::Normal));
        }
    }
    lines
}

/// Whether nothing is seen of a line, such as the last ones of a code block.
fn is_blank(line: &Line) -> bool {
    line.iter()
        .all(|span| span.text.trim_end_matches(' ').is_empty())
}

fn output(config: &Config, theme: Theme) -> Output {
    if config.plain_text {
        Output::Plain
    } else {
        Output::Ansi(Ansi {
            theme,
            links: config.links,
        })
    }
}

/// The time of day in a time stamp.
fn clock(time: &str) -> Option<String> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.strftime("%H:%M:%S ").to_string())
}
