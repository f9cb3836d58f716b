//! Mode `full` into a pipe, a file or a log: each entry is written once, when it
//! is finished, and nothing is touched again. Lines of a program that is no agent
//! are finished one by one, and are written as they come.

use std::io::{self, Write};

use unspool::Event;
use unspool::doc::Line;
use unspool::formatter::{Formatter, OpenText};
use unspool::session::{Entry, Item, Text};
use unspool::transcript::{Spacing, Transcript};

use super::actions;
use crate::cli::Filter;
use crate::filter;
use crate::settings::Settings;

pub(crate) struct Full<'a> {
    transcript: Transcript,
    page: Page<'a>,
    spacing: Spacing,
    flowing: Option<Flowing>,
    /// Whether something passed the filter.
    pub(super) has_written: bool,
}

/// How entries are written.
struct Page<'a> {
    formatter: Formatter,
    width: usize,
    filter: &'a Filter,
    /// Whether the output is a log of GitHub Actions.
    actions: bool,
    /// Whether nothing but the words is written.
    is_bare: bool,
}

/// Text whose lines are written as they come.
struct Flowing {
    id: String,
    /// Bytes of it that were taken.
    length: usize,
    text: OpenText,
    /// Whether lines of it were written.
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
                actions: settings.actions,
                is_bare: settings.copy_clean(),
            },
            spacing: Spacing::new(),
            flowing: None,
            has_written: false,
        }
    }

    pub(super) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        self.write(&entries, out)?;
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
            if self.page.actions {
                actions::write(entry, &text, out)?;
            } else {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }

    /// Writes the whole lines of text that is no markdown.
    fn flow(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some((entry, text)) = self.transcript.current().and_then(preformatted) else {
            return Ok(());
        };
        // Whether it is shown is known when all its words are.
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

    /// The last lines of text whose first ones were written as they came.
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
    /// The lines that are finished now.
    fn take(&mut self, text: &Text) -> Vec<Line> {
        let new = text.text.get(self.length..).unwrap_or_default();
        self.length += new.len();
        self.text.push(new)
    }
}

impl Page<'_> {
    /// Writes what stands before an entry.
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
        if self.actions {
            actions::lines(&text, out)
        } else {
            writeln!(out, "{text}")
        }
    }
}

/// An entry that is text but no markdown.
fn preformatted(entry: &Entry) -> Option<(&Entry, &Text)> {
    match &entry.item {
        Item::Text(text) if text.preformatted => Some((entry, text)),
        _ => None,
    }
}
