//! Mode `full` on a terminal while the agent is running: finished entries scroll
//! up, unfinished ones are repainted below.
//!
//! After the run, the scrollback holds what [`Full`](super::full::Full) would
//! have written.
//!
//! `live/open.rs` lays out unfinished entries, `live/activity.rs` tracks running
//! calls and timing.

mod activity;
mod open;

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use unspool::Event;
use unspool::doc::Line;
use unspool::formatter::{Formatter, OpenText};
use unspool::output::{self, Row};
use unspool::session::{Entry, Item};
use unspool::transcript::{Before, Spacing, Transcript};
use unspool_tui::spinner;

use crate::cli::Filter;
use crate::filter;
use crate::settings::Settings;
use crate::terminal::{self, Answers, Size};

use activity::Activity;
use open::Laid;

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_millis(17);

pub(crate) struct Live<'a> {
    transcript: Transcript,
    formatter: Formatter,
    filter: &'a Filter,
    spacing: Spacing,
    /// The requested width, independent of the terminal.
    fixed_width: Option<usize>,
    size: Size,
    screen: output::Live,
    /// Lines that the next frame writes permanently.
    finished: Vec<Row>,
    /// The answer whose first lines are written while it grows.
    growing: Option<Growing>,
    /// Layout of unfinished entries.
    laid: Laid,
    activity: Activity,
    /// True if something changed since the last frame.
    changed: bool,
    last_frame: Option<Instant>,
}

/// An answer that is written while it grows.
struct Growing {
    id: String,
    /// Number of bytes written, and their hash.
    taken: usize,
    words: DefaultHasher,
    text: OpenText,
    /// True once lines of it are written.
    written: bool,
}

impl<'a> Live<'a> {
    pub(super) fn new(settings: &Settings, filter: &'a Filter, answers: &Answers) -> Self {
        let size = terminal::size();
        let mut screen = output::Live::new(size.columns, size.rows, answers.synchronises);
        screen.set_rows_above(answers.row.unwrap_or_default());
        Self {
            transcript: Transcript::new(),
            formatter: settings.formatter_for(filter),
            filter,
            spacing: Spacing::new(),
            fixed_width: settings.fixed_width,
            size,
            screen,
            finished: Vec::new(),
            growing: None,
            laid: Laid::default(),
            activity: Activity::new(),
            changed: true,
            last_frame: None,
        }
    }

    fn width(&self) -> usize {
        let fixed = self.fixed_width.unwrap_or(self.size.columns);
        fixed.min(self.size.columns)
    }

    pub(super) fn event(&mut self, event: Event) {
        self.activity.observe(&event);
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        self.laid.forget(!entries.is_empty());
        self.write(&entries);
        self.grow();
        self.changed = true;
    }

    /// Writes the finished lines of the current answer.
    fn grow(&mut self) {
        let Some(entry) = self.transcript.current() else {
            return;
        };
        let Item::Text(text) = &entry.item else {
            return;
        };
        // A text filter can decide only when the text is complete.
        if self.filter.grep.is_some() || !filter::shows(self.filter, entry) {
            return;
        }
        let goes_on = |growing: &Growing| growing.id == text.id;
        if !self.growing.as_ref().is_some_and(goes_on) {
            self.growing = Some(Growing {
                id: text.id.clone(),
                taken: 0,
                words: DefaultHasher::new(),
                text: self.formatter.open_text(entry, self.width()),
                written: false,
            });
        }
        let Some(growing) = &mut self.growing else {
            return;
        };
        let new = text.text.get(growing.taken..).unwrap_or_default();
        growing.taken += new.len();
        growing.words.write(new.as_bytes());
        let lines = growing.text.push(new);
        self.write_grown(&lines);
    }

    /// Writes lines of the growing answer.
    fn write_grown(&mut self, lines: &[Line]) {
        let (Some(growing), Some(entry)) = (&mut self.growing, self.transcript.current()) else {
            return;
        };
        if lines.is_empty() {
            return;
        }
        if !std::mem::replace(&mut growing.written, true) {
            let before = self.spacing.before(entry);
            let above = self.above(&before);
            self.finished.extend(above);
        }
        let rows = lines.iter().map(|line| self.formatter.row(line));
        self.finished.extend(rows);
    }

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript.finish(&mut |entry| entries.push(entry));
        self.write(&entries);
        self.activity.is_open = false;
        let last = self.screen.frame(&self.finished, Vec::new());
        self.finished.clear();
        out.write_all(last.as_bytes())?;
        self.leave(out)
    }

    /// Removes the unfinished lines, so that something else can write.
    pub(super) fn leave(&mut self, out: &mut impl Write) -> io::Result<()> {
        terminal::restore();
        out.write_all(self.screen.leave().as_bytes())?;
        self.changed = true;
        out.flush()
    }

    /// Adapts to a new terminal size.
    pub(super) fn resize(&mut self) {
        self.size = terminal::size();
        self.screen.resize(self.size.columns, self.size.rows);
        self.laid.forget(true);
        let width = self.width();
        if let Some(growing) = &mut self.growing {
            growing.text.resize(width);
        }
        self.changed = true;
    }

    /// Adds lines that are not the agent's output, such as its standard error.
    pub(super) fn aside(&mut self, lines: &[Line]) {
        for line in lines {
            self.finished.push(self.formatter.row(line));
        }
        self.changed = true;
    }

    /// Returns the time of the next frame.
    pub(super) fn due(&self) -> Option<Instant> {
        let Some(last) = self.last_frame else {
            return Some(self.activity.started);
        };
        if self.changed {
            Some(last + FRAME)
        } else {
            self.activity.is_open.then(|| last + spinner::INTERVAL)
        }
    }

    /// Paints a frame if one is due.
    pub(super) fn paint(&mut self, out: &mut impl Write) -> io::Result<()> {
        let now = Instant::now();
        if self.due().is_none_or(|due| due > now) {
            return Ok(());
        }
        terminal::hush();
        if terminal::size() != self.size {
            self.resize();
        }
        if let Some(growing) = &mut self.growing {
            let lines = growing.text.refresh();
            self.write_grown(&lines);
        }
        let open = self.open_rows(now);
        let frame = self.screen.frame(&self.finished, open);
        self.finished.clear();
        self.changed = false;
        self.last_frame = Some(now);
        if frame.is_empty() {
            return Ok(());
        }
        out.write_all(frame.as_bytes())?;
        out.flush()
    }

    fn write(&mut self, entries: &[Entry]) {
        for entry in entries {
            if !filter::shows(self.filter, entry) {
                continue;
            }
            let grown = self.rest_of_grown(entry);
            let goes_on = grown.is_some();
            let lines = grown.unwrap_or_else(|| self.formatter.lines(entry, self.width()));
            if lines.is_empty() {
                continue;
            }
            if !goes_on {
                let before = self.spacing.before(entry);
                let above = self.above(&before);
                self.finished.extend(above);
            }
            let rows = lines.iter().map(|line| self.formatter.row(line));
            self.finished.extend(rows);
        }
    }

    /// Returns the gap and heading before an entry.
    fn above(&self, before: &Before) -> Vec<Row> {
        let mut rows = Vec::new();
        if before.gap {
            rows.push(Row::default());
        }
        if let Some(agent) = &before.speaker {
            let lines = self.formatter.speaker(agent, self.width());
            rows.extend(lines.iter().map(|line| self.formatter.row(line)));
        }
        rows
    }

    /// Returns the last lines of an answer whose first lines are written already.
    /// If its start has changed, the whole answer is written again.
    fn rest_of_grown(&mut self, entry: &Entry) -> Option<Vec<Line>> {
        let Item::Text(text) = &entry.item else {
            return None;
        };
        let mut growing = self.growing.take_if(|growing| growing.id == text.id)?;
        let (old, new) = text.text.split_at_checked(growing.taken)?;
        let mut words = DefaultHasher::new();
        words.write(old.as_bytes());
        if !growing.written || words.finish() != growing.words.finish() {
            return None;
        }
        let mut lines = growing.text.push(new);
        lines.extend(growing.text.finish());
        Some(lines)
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        terminal::restore();
    }
}
