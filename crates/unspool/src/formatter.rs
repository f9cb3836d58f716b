//! The mode `full`: entries laid out for people, after the agent formatter's
//! document.
//!
//! [`Formatter::lines`] gives the styled lines of an entry for those with a back
//! end of their own; [`Formatter::format_event`] gives text.

use crate::doc::entry::{self, Detail, Part};
use crate::doc::{Line, Role, Span};
use crate::event::{Body, Event};
use crate::layout::{self, Links, Page};
use crate::output::{Ansi, Output};
use crate::session::{Entry, Item, Session};
use crate::theme::{Rgb, Theme};

/// Wider than this, lines are wrapped; otherwise paragraphs stay on one line.
pub const MIN_TERMINAL_WIDTH: usize = layout::MIN_COLUMNS;

/// Columns that an entry keeps for itself, however deep it is nested.
const LEAST_INNER_WIDTH: usize = 24;

/// Columns that nesting may take where no width bounds it: the depth comes from
/// outside, and memory must not follow it.
const DEEPEST_INDENT: usize = 4096;

/// Settings of a [`Formatter`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
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

/// Lays entries out and writes them.
#[derive(Clone, Debug)]
pub struct Formatter {
    config: Config,
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
            theme = theme.accent(accent);
        }
        if let Some(colorful) = config.colorful {
            theme = theme.colorful(colorful);
        }
        Self {
            output: output(&config, theme),
            session: Session::new(),
            config,
        }
    }

    /// The same with another theme.
    pub fn with_theme(self, theme: Theme) -> Self {
        Self {
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
        self.text(&self.lines(entry, width))
    }

    /// Lines as text, without a final line end.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = self.output.text(lines);
        text.pop();
        text
    }

    /// The styled lines of an entry.
    pub fn lines(&self, entry: &Entry, width: usize) -> Vec<Line> {
        let mut parts = entry::parts(entry, &self.config.detail);
        if self.config.copy_clean {
            for part in &mut parts {
                part.first.clear();
                part.rest.clear();
            }
            return parts
                .iter()
                .flat_map(|part| self.laid_out(part, None))
                .collect();
        }
        if let (true, Some(first)) = (self.config.timestamps, parts.first_mut()) {
            let time = entry.time.as_deref().and_then(clock);
            first
                .first
                .extend(time.map(|time| Span::role(time, Role::Accent)));
        }
        let wanted = usize::try_from(entry.depth())
            .unwrap_or(usize::MAX)
            .saturating_mul(2);
        let (indent, inner) = if width > MIN_TERMINAL_WIDTH {
            let indent = wanted.min(width - LEAST_INNER_WIDTH);
            (indent, Some(width - indent))
        } else {
            (wanted.min(DEEPEST_INDENT), None)
        };
        let mut lines: Vec<Line> = parts
            .iter()
            .flat_map(|part| self.laid_out(part, inner))
            .collect();
        if indent > 0 {
            for line in lines.iter_mut().filter(|line| !line.is_empty()) {
                line.insert(0, Span::role(" ".repeat(indent), Role::Normal));
            }
        }
        lines
    }

    fn laid_out(&self, part: &Part, width: Option<usize>) -> Vec<Line> {
        let links = if self.config.links {
            Links::Text
        } else {
            Links::Address
        };
        layout::layout(&part.blocks, Page { width, links }, &part.first, &part.rest)
    }
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
