//! Formats entries for people: the display mode `full`, following the agent
//! formatter's document.
//!
//! [`Formatter::format_event`] returns text; [`Formatter::lines`] returns
//! styled lines for callers with their own back end.
//!
//! ```
//! use unspool::formatter::{Config, Formatter};
//! use unspool::Event;
//!
//! let mut formatter = Formatter::new(Config::default().with_plain_text(true));
//! let event = Event::from_json(r#"{"kind":"text","text":"All **tests** pass.","id":"m1"}"#)?;
//! assert_eq!(formatter.format_event(&event, 80), "• All tests pass.");
//! # Ok::<(), serde_json::Error>(())
//! ```

#[cfg(all(feature = "markdown", feature = "unstable"))]
mod open_text;

#[cfg(all(feature = "markdown", feature = "unstable"))]
pub use open_text::OpenText;

pub use crate::doc::entry::{Detail, LineMatcher, Reasoning};
pub use crate::doc::{Line, Role, Span, Style, Syntax};

use crate::doc::entry::{self, Part};
use crate::doc::{Block, ListItem};
use crate::event::{Agent, Body, Event};
use crate::layout::{self, Links, Page, Sink};
#[cfg(feature = "unstable")]
use crate::output::Row;
use crate::output::{Ansi, Output, Text};
use crate::sanitize;
use crate::session::{Entry, Item, Session};
use crate::theme::{Rgb, Theme};
use crate::transcript::{Spacing, Transcript};

/// Lines are wrapped above this width; otherwise paragraphs stay on one line.
pub const MIN_TERMINAL_WIDTH: usize = layout::MIN_COLUMNS;

/// Minimum columns of an entry, however deep it is nested: the margin of a diff
/// and a few characters.
const LEAST_INNER_WIDTH: usize = 12;

/// Initial buffer size; most entries are shorter, in bytes.
const USUAL_LENGTH: usize = 512;

/// Maximum levels of indentation of lines without a width; an agent can report any
/// depth.
const DEEPEST: u32 = 100;

/// Settings of a [`Formatter`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
#[non_exhaustive]
pub struct Config {
    /// Omits colours and other escape codes. Struck-out text keeps its `~~`, because
    /// without them it would say the opposite.
    pub plain_text: bool,
    /// The terminal's background; black if unknown.
    pub background: Option<Rgb>,
    /// The terminal's text colour; white if unknown.
    pub foreground: Option<Rgb>,
    /// The colour of less important text; by default derived from the two
    /// above.
    pub accent: Option<Rgb>,
    /// The colour of tool calls; by default derived from the background.
    pub colorful: Option<Rgb>,
    /// The amount of detail.
    pub detail: Detail,
    /// Writes links as OSC 8, with only their text visible.
    pub links: bool,
    /// Shows the start time of each entry.
    pub timestamps: bool,
    /// Omits bullets, margins and wrapping, for copying.
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

/// Lays out entries and writes them as text.
#[derive(Clone, Debug)]
pub struct Formatter {
    config: Config,
    /// The configured detail, with highlighting off if colours are.
    detail: Detail,
    output: Output,
    session: Session,
}

impl Formatter {
    /// Creates a formatter.
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

    /// Returns the theme.
    pub fn theme(&self) -> Theme {
        match &self.output {
            Output::Ansi(ansi) => ansi.theme.clone(),
            Output::Plain => Theme::mono(),
        }
    }

    /// Replaces the theme.
    pub fn with_theme(self, theme: Theme) -> Self {
        Self {
            detail: detail(&self.config, &theme),
            output: output(&self.config, theme),
            ..self
        }
    }

    /// Formats an event, without a final newline. A call is shown as running,
    /// its result as finished. Deltas give an empty string until their message
    /// is complete.
    pub fn format_event(&mut self, event: &Event, width: usize) -> String {
        let mut finished = Vec::new();
        self.session
            .apply(event.clone(), &mut |entry| finished.push(entry));
        // A question is shown as soon as it is asked.
        let is_question =
            |entry: &Entry| matches!(&entry.item, Item::Prompt(prompt) if prompt.answer.is_empty());
        finished.retain(|entry| !is_question(entry));
        if matches!(&event.body, Body::Prompt(prompt) if prompt.answer.is_empty()) {
            let question = self
                .session
                .open()
                .iter()
                .rev()
                .find(|entry| is_question(entry));
            finished.extend(question.cloned());
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

    /// Formats a whole run as `unspool show` does, without a final newline.
    ///
    /// ```
    /// use unspool::event::{Category, Event, ToolResult, ToolStatus, ToolUse, User};
    /// use unspool::formatter::{Config, Formatter};
    ///
    /// let events = [
    ///     Event::new(User::new("Which files are there?")),
    ///     Event::new(ToolUse::new("1", "Bash").with_category(Category::Execute).with_arg("ls")),
    ///     Event::new(ToolResult::new("1", ToolStatus::Ok).with_output("main.rs")),
    /// ];
    /// let formatter = Formatter::new(Config::default().with_plain_text(true));
    /// let text = formatter.format_run(events, 80);
    /// assert_eq!(text, "› Which files are there?\n\n• Ran ls\n  └ main.rs");
    /// ```
    pub fn format_run(&self, events: impl IntoIterator<Item = Event>, width: usize) -> String {
        let (mut transcript, mut spacing) = (Transcript::new(), Spacing::new());
        let mut text = String::new();
        let mut show = |entry: Entry| {
            let shown = self.format_entry(&entry, width);
            if shown.is_empty() {
                return;
            }
            let before = spacing.before(&entry);
            if before.gap {
                text.push('\n');
            }
            if let Some(agent) = before.speaker.filter(|_| !self.config.copy_clean) {
                text += &self.text(&self.speaker(&agent, width));
                text.push('\n');
            }
            text += &shown;
            text.push('\n');
        };
        for event in events {
            transcript.event(event, &mut show);
        }
        transcript.finish(&mut show);
        text.pop();
        text
    }

    /// Formats an entry, without a final newline; empty if it has no visible
    /// content.
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

    /// Returns the lines that name a sub-agent above its entries.
    pub fn speaker(&self, agent: &Agent, width: usize) -> Vec<Line> {
        let name = if agent.name.is_empty() {
            &agent.id
        } else {
            &agent.name
        };
        // Task descriptions are often sentences.
        let name = name.trim_end_matches(['.', ':']);
        let text = format!("{}:", sanitize::line(name));
        let block = Block::Paragraph(vec![Span::role(text, Role::Accent)]);
        let (indent, inner) = room(agent.depth, width);
        let lines = layout::layout(&[block], self.page(inner), &[], &[]);
        indented(lines, indent)
    }

    /// Renders a line for a live screen.
    #[cfg(feature = "unstable")]
    pub fn row(&self, line: &[Span]) -> Row {
        self.output.row(line)
    }

    /// Renders lines as text, without a final newline.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = self.output.text(lines);
        text.pop();
        text
    }

    /// Returns the styled lines of an entry.
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

    /// Returns the parts of an entry, its indentation and the width beside it.
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
        if inner.is_none() && is_message(&entry.item) {
            for part in &mut parts {
                part.rest.clear();
            }
        }
        (parts, indent, inner)
    }

    /// Inserts the time before the first line, if configured.
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
            marks: self.detail.marks || self.config.plain_text,
            italic: false,
        }
    }

    fn lay_out(&self, part: &Part, width: Option<usize>, sink: &mut dyn Sink) {
        let page = Page {
            italic: part.italic,
            ..self.page(width)
        };
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

/// Removes quote bars and rules.
fn bare(blocks: Vec<Block>) -> Vec<Block> {
    let mut kept = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Quote(quoted) => kept.extend(bare(quoted)),
            Block::Rule => {}
            Block::List { start, items } => {
                let items = items.into_iter().map(|item| ListItem {
                    blocks: bare(item.blocks),
                    ..item
                });
                let items = items.collect();
                kept.push(Block::List { start, items });
            }
            // A table without a header has no rule.
            Block::Table(mut table) => {
                let head = std::mem::take(&mut table.header);
                table.rows.insert(0, head);
                kept.push(Block::Table(table));
            }
            block => kept.push(block),
        }
    }
    kept
}

/// Returns the indentation of an entry, and the remaining width.
fn room(depth: u32, width: usize) -> (usize, Option<usize>) {
    if width > MIN_TERMINAL_WIDTH {
        let indent = (depth as usize).saturating_mul(2);
        let indent = indent.min(width - LEAST_INNER_WIDTH);
        (indent, Some(width - indent))
    } else {
        (2 * depth.min(DEEPEST) as usize, None)
    }
}

/// Returns true for text that is not indented if it is not wrapped, so that a
/// caller can wrap it.
fn is_message(item: &Item) -> bool {
    matches!(
        item,
        Item::Text(_) | Item::Reasoning(_) | Item::User(_) | Item::Notice(_)
    )
}

/// Indents all non-empty lines.
fn indented(mut lines: Vec<Line>, indent: usize) -> Vec<Line> {
    if indent > 0 {
        for line in lines.iter_mut().filter(|line| !line.is_empty()) {
            line.insert(0, Span::role(" ".repeat(indent), Role::Normal));
        }
    }
    lines
}

/// Returns true if a line has no visible content, such as the last ones of a
/// code block.
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

/// Returns the time of day of a timestamp.
fn clock(time: &str) -> Option<String> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.strftime("%H:%M:%S ").to_string())
}
