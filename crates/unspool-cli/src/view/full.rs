//! Mode `full` into a pipe, a file or a log: each entry is written once, when it
//! is finished, and nothing is touched again.

use std::io::{self, Write};

use unspool::Event;
use unspool::formatter::Formatter;
use unspool::session::{Entry, Item};
use unspool::transcript::{Spacing, Transcript};

use super::actions;
use crate::cli::Filter;
use crate::filter;
use crate::settings::Settings;

pub(crate) struct Full<'a> {
    transcript: Transcript,
    formatter: Formatter,
    width: usize,
    filter: &'a Filter,
    spacing: Spacing,
    /// Whether the output is a log of GitHub Actions.
    actions: bool,
    /// Whether nothing but the words is written.
    is_bare: bool,
    /// Whether something passed the filter.
    pub(super) has_written: bool,
}

impl<'a> Full<'a> {
    pub(super) fn new(settings: &Settings, filter: &'a Filter) -> Self {
        Self {
            transcript: Transcript::new(),
            formatter: settings.formatter_for(filter),
            width: settings.width,
            filter,
            spacing: Spacing::new(),
            actions: settings.actions,
            is_bare: settings.copy_clean(),
            has_written: false,
        }
    }

    pub(super) fn event(&mut self, event: Event, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        self.write(&entries, out)
    }

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript.finish(&mut |entry| entries.push(entry));
        self.write(&entries, out)
    }

    fn write(&mut self, entries: &[Entry], out: &mut impl Write) -> io::Result<()> {
        for entry in entries {
            if !filter::shows(self.filter, entry) {
                continue;
            }
            let text = self.formatter.format_entry(entry, self.width);
            if text.is_empty() {
                continue;
            }
            // The end of a cut-off stream passes every filter.
            self.has_written |= !matches!(entry.item, Item::TurnEnd(_));
            let before = self.spacing.before(entry);
            if before.gap {
                out.write_all(b"\n")?;
            }
            if let Some(agent) = before.speaker.filter(|_| !self.is_bare) {
                let lines = self.formatter.speaker(&agent, self.width);
                writeln!(out, "{}", self.formatter.text(&lines))?;
            }
            if self.actions {
                actions::write(entry, &text, out)?;
            } else {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }
}
