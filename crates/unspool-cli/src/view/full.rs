//! Mode `full` into a pipe, a file or a log. Each entry is written once, when it
//! is finished. Lines of a program that is not an agent are written as they
//! arrive.

use std::io::{self, Write};

use unspool::Event;
use unspool::doc::Line;
use unspool::formatter::{Formatter, OpenText};
use unspool::session::{Entry, Item, Text};
use unspool::transcript::{Spacing, Transcript};

use super::github_actions::{self, Annotations};
use crate::cli::Filter;
use crate::filter;
use crate::settings::Settings;

pub(crate) struct Full<'a> {
    transcript: Transcript,
    page: Page<'a>,
    spacing: Spacing,
    flowing: Option<Flowing>,
    /// For a GitHub Actions log.
    annotations: Option<Annotations>,
    /// True once an entry passed the filter.
    pub(super) has_written: bool,
}

/// Parameters for writing entries.
struct Page<'a> {
    formatter: Formatter,
    width: usize,
    filter: &'a Filter,
    /// True if the output is a GitHub Actions log.
    github_actions: bool,
    /// True if only the text itself is written.
    is_bare: bool,
}

/// Text whose lines are written as they arrive.
struct Flowing {
    id: String,
    /// Number of bytes processed.
    length: usize,
    text: OpenText,
    /// True once lines of it are written.
    is_written: bool,
}

impl<'a> Full<'a> {
    pub(super) fn new(settings: &Settings, filter: &'a Filter) -> Self {
        Self {
            transcript: Transcript::new(),
            page: Page {
                formatter: settings.formatter_for(filter),
                width: settings.width,
                filter,
                github_actions: settings.github_actions,
                is_bare: settings.copy_clean(),
            },
            spacing: Spacing::new(),
            flowing: None,
            annotations: settings.github_actions.then(Annotations::default),
            has_written: false,
        }
    }

    pub(super) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        let annotations = self.annotations.as_mut();
        let annotation = annotations.and_then(|annotations| annotations.event(&event));
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        self.write(&entries, out)?;
        if let Some(annotation) = annotation {
            writeln!(out, "{annotation}")?;
        }
        self.flow(out)
    }

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript.finish(&mut |entry| entries.push(entry));
        self.write(&entries, out)
    }

    fn write(&mut self, entries: &[Entry], out: &mut impl Write) -> io::Result<()> {
        for entry in entries {
            if !filter::shows(self.page.filter, entry) {
                continue;
            }
            if let Some(rest) = self.rest_of_flowing(entry) {
                self.has_written = true;
                self.page.lines(&rest, out)?;
                continue;
            }
            let text = self.page.formatter.format_entry(entry, self.page.width);
            if text.is_empty() {
                continue;
            }
            // The end of a cut-off stream passes every filter.
            self.has_written |= !matches!(entry.item, Item::TurnEnd(_));
            self.page.above(entry, &mut self.spacing, out)?;
            if self.page.github_actions {
                github_actions::write(entry, &text, out)?;
            } else {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }

    /// Writes the complete lines of text that is not Markdown.
    fn flow(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some((entry, text)) = self.transcript.current().and_then(preformatted) else {
            return Ok(());
        };
        // A text filter can decide only when the text is complete.
        if self.page.filter.grep.is_some() || !filter::shows(self.page.filter, entry) {
            return Ok(());
        }
        let goes_on = |flowing: &mut Flowing| flowing.id == text.id;
        let mut flowing = self.flowing.take_if(goes_on).unwrap_or_else(|| Flowing {
            id: text.id.clone(),
            length: 0,
            text: self.page.formatter.open_text(entry, self.page.width),
            is_written: false,
        });
        let lines = flowing.take(text);
        if !lines.is_empty() && !std::mem::replace(&mut flowing.is_written, true) {
            self.page.above(entry, &mut self.spacing, out)?;
        }
        self.flowing = Some(flowing);
        self.page.lines(&lines, out)
    }

    /// Returns the last lines of text whose first lines are written already.
    fn rest_of_flowing(&mut self, entry: &Entry) -> Option<Vec<Line>> {
        let (_, text) = preformatted(entry)?;
        let mut flowing = self.flowing.take_if(|flowing| flowing.id == text.id)?;
        if !flowing.is_written {
            return None;
        }
        let mut lines = flowing.take(text);
        lines.extend(flowing.text.finish());
        Some(lines)
    }
}

impl Flowing {
    /// Returns newly finished lines.
    fn take(&mut self, text: &Text) -> Vec<Line> {
        let new = text.text.get(self.length..).unwrap_or_default();
        self.length += new.len();
        self.text.push(new)
    }
}

impl Page<'_> {
    /// Writes the gap and heading before an entry.
    fn above(&self, entry: &Entry, spacing: &mut Spacing, out: &mut impl Write) -> io::Result<()> {
        let before = spacing.before(entry);
        if before.gap {
            out.write_all(b"\n")?;
        }
        if let Some(agent) = before.speaker.filter(|_| !self.is_bare) {
            let lines = self.formatter.speaker(&agent, self.width);
            writeln!(out, "{}", self.formatter.text(&lines))?;
        }
        Ok(())
    }

    fn lines(&self, lines: &[Line], out: &mut impl Write) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let text = self.formatter.text(lines);
        if self.github_actions {
            github_actions::lines(&text, out)
        } else {
            writeln!(out, "{text}")
        }
    }
}

/// Returns an entry of text that is not Markdown.
fn preformatted(entry: &Entry) -> Option<(&Entry, &Text)> {
    match &entry.item {
        Item::Text(text) if text.preformatted => Some((entry, text)),
        _ => None,
    }
}
