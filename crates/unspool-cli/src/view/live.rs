//! Mode `full` on a terminal while the agent works: finished entries scroll up,
//! what is open stands below them and is painted anew.
//!
//! After the run, the scrollback holds what [`Full`](super::full::Full) would
//! have written.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use unspool::Event;
use unspool::doc::{Line, Role, Span, Style};
use unspool::event::{Body, Level, PlanStatus};
use unspool::formatter::{Formatter, OpenText};
use unspool::layout;
use unspool::output::{self, Row};
use unspool::session::{Entry, Item};
use unspool::transcript::{Before, Spacing, Transcript};

use crate::cli::Filter;
use crate::settings::Settings;
use crate::terminal::{self, Size};
use crate::{filter, summary};

/// Between two frames at least.
const FRAME: Duration = Duration::from_millis(17);
/// Between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);
/// An agent that says nothing for so long is told about.
const QUIET: Duration = Duration::from_secs(10);
/// Rows that are painted also on a small screen.
const LEAST_ROWS: usize = 3;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub(crate) struct Live<'a> {
    transcript: Transcript,
    formatter: Formatter,
    filter: &'a Filter,
    spacing: Spacing,
    /// The width that was asked for, whatever the terminal's is.
    fixed_width: Option<usize>,
    size: Size,
    screen: output::Live,
    /// Lines that the next frame writes for good.
    finished: Vec<Row>,
    /// The answer whose first lines are written while it grows.
    growing: Option<Growing>,
    /// When each open call was first seen.
    calls: Vec<(String, Instant)>,
    work: Work,
    /// Something happened since the last frame.
    changed: bool,
    last_frame: Option<Instant>,
}

/// An answer that is written as it grows.
struct Growing {
    id: String,
    /// The words that were taken.
    words: String,
    text: OpenText,
    /// Whether lines of it were written.
    written: bool,
}

/// What is known of the turn that is going on.
struct Work {
    started: Instant,
    last_event: Instant,
    is_open: bool,
    /// The step of the plan that is being worked on.
    step: Option<String>,
    /// The agent waits before it tries again: since when, and how long.
    retry: Option<(Instant, Option<Duration>)>,
}

impl<'a> Live<'a> {
    pub(super) fn new(settings: &Settings, filter: &'a Filter, synchronised: bool) -> Self {
        let size = terminal::size();
        let now = Instant::now();
        Self {
            transcript: Transcript::new(),
            formatter: settings.formatter_for(filter),
            filter,
            spacing: Spacing::new(),
            fixed_width: settings.fixed_width,
            size,
            screen: output::Live::new(size.columns, synchronised),
            finished: Vec::new(),
            growing: None,
            calls: Vec::new(),
            work: Work {
                started: now,
                last_event: now,
                is_open: true,
                step: None,
                retry: None,
            },
            changed: true,
            last_frame: None,
        }
    }

    fn width(&self) -> usize {
        let fixed = self.fixed_width.unwrap_or(self.size.columns);
        fixed.min(self.size.columns)
    }

    pub(super) fn event(&mut self, event: Event) {
        self.observe(&event);
        let mut entries = Vec::new();
        self.transcript
            .event(event, &mut |entry| entries.push(entry));
        self.write(&entries);
        self.grow();
        self.changed = true;
    }

    /// Writes the lines of the current answer that are finished.
    fn grow(&mut self) {
        let Some(entry) = self.transcript.current() else {
            return;
        };
        let Item::Text(text) = &entry.item else {
            return;
        };
        // Whether it is shown is known when all its words are.
        if self.filter.grep.is_some() || !filter::shows(self.filter, entry) {
            return;
        }
        let goes_on = |growing: &Growing| growing.id == text.id;
        if !self.growing.as_ref().is_some_and(goes_on) {
            self.growing = Some(Growing {
                id: text.id.clone(),
                words: String::new(),
                text: self.formatter.open_text(entry, self.width()),
                written: false,
            });
        }
        let Some(growing) = &mut self.growing else {
            return;
        };
        let new = text.text.get(growing.words.len()..).unwrap_or_default();
        growing.words.push_str(new);
        let lines = growing.text.push(new);
        self.write_grown(&lines);
    }

    /// Writes lines of the answer that grows.
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

    /// Looks at what the event says about the work that goes on.
    fn observe(&mut self, event: &Event) {
        let now = Instant::now();
        self.work.last_event = now;
        let was_retry = self.work.retry.take();
        match &event.body {
            Body::ToolUse(call) if !self.calls.iter().any(|(id, _)| *id == call.id) => {
                self.calls.push((call.id.clone(), now));
            }
            Body::ToolResult(result) => self.calls.retain(|(id, _)| *id != result.id),
            Body::Plan(plan) if event.agent.is_none() => {
                self.work.step = plan
                    .entries
                    .iter()
                    .position(|entry| {
                        matches!(entry.status, PlanStatus::Pending | PlanStatus::InProgress)
                    })
                    .map(|at| {
                        let text = plan.entries.get(at).map_or("", |entry| entry.text.as_str());
                        format!("{text} ({} of {})", at + 1, plan.entries.len())
                    });
            }
            Body::Notice(notice) if notice.level == Level::Retry => {
                self.work.retry = Some((now, pause(&notice.text.as_str())));
            }
            Body::Usage(_) | Body::State(_) => self.work.retry = was_retry,
            Body::TurnEnd(_) if event.agent.is_none() => {
                self.work.is_open = false;
                self.work.step = None;
                self.calls.clear();
            }
            _ => {}
        }
        if !self.work.is_open
            && matches!(
                event.body,
                Body::User(_) | Body::ToolUse(_) | Body::Text(_) | Body::Reasoning(_)
            )
        {
            self.work.is_open = true;
            self.work.started = now;
        }
    }

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut entries = Vec::new();
        self.transcript.finish(&mut |entry| entries.push(entry));
        self.write(&entries);
        self.work.is_open = false;
        let last = self.screen.frame(&self.finished, Vec::new());
        self.finished.clear();
        out.write_all(last.as_bytes())?;
        self.leave(out)
    }

    /// Takes the open lines away, so that somebody else may write.
    pub(super) fn leave(&mut self, out: &mut impl Write) -> io::Result<()> {
        terminal::restore();
        out.write_all(self.screen.leave().as_bytes())?;
        self.changed = true;
        out.flush()
    }

    /// The terminal may have another size now.
    pub(super) fn resize(&mut self) {
        self.size = terminal::size();
        self.screen.resize(self.size.columns);
        let width = self.width();
        if let Some(growing) = &mut self.growing {
            growing.text.resize(width);
        }
        self.changed = true;
    }

    /// A line that is not the agent's output, such as what it wrote to
    /// standard error.
    pub(super) fn aside(&mut self, lines: &[Line]) {
        for line in lines {
            self.finished.push(self.formatter.row(line));
        }
        self.changed = true;
    }

    /// When the next frame is due, if nothing else happens.
    pub(super) fn due(&self) -> Option<Instant> {
        let Some(last) = self.last_frame else {
            return Some(self.work.started);
        };
        if self.changed {
            Some(last + FRAME)
        } else {
            self.work.is_open.then(|| last + TICK)
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

    /// What stands before an entry.
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

    /// The last lines of an answer whose first ones were written while it grew.
    /// If it ended as another one than it began, all of it is written again.
    fn rest_of_grown(&mut self, entry: &Entry) -> Option<Vec<Line>> {
        let Item::Text(text) = &entry.item else {
            return None;
        };
        let mut growing = self.growing.take_if(|growing| growing.id == text.id)?;
        let new = text.text.strip_prefix(growing.words.as_str());
        let new = new.filter(|_| growing.written)?;
        let mut lines = growing.text.push(new);
        lines.extend(growing.text.finish());
        Some(lines)
    }

    /// The last of the open lines.
    fn open_rows(&self, now: Instant) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut spacing = self.spacing.clone();
        let grown = self.growing.as_ref().map(|growing| {
            let lines = growing.text.open();
            (growing.id.clone(), !growing.written, lines)
        });
        let current = self.transcript.current();
        let is_current =
            |entry: &Entry| current.is_some_and(|current| std::ptr::eq(current, entry));
        let others = self.transcript.open().iter();
        let others = others.filter(|entry| !is_current(entry));
        let all = current
            .into_iter()
            .chain(self.transcript.waiting())
            .chain(others);
        for entry in all {
            if !filter::shows(self.filter, entry) {
                continue;
            }
            let growing = grown
                .as_ref()
                .filter(|(id, ..)| matches!(&entry.item, Item::Text(text) if text.id == *id));
            let (is_first, lines) = match growing {
                Some((_, is_first, lines)) => (*is_first, lines.clone()),
                None => (true, self.open_lines(entry, now)),
            };
            if lines.is_empty() {
                continue;
            }
            if is_first {
                rows.extend(self.above(&spacing.before(entry)));
            }
            for line in &lines {
                let folded = layout::folded(line, self.size.columns);
                rows.extend(folded.iter().map(|row| self.formatter.row(row)));
            }
        }
        if self.work.is_open {
            let status = layout::truncated(&self.status(now), self.size.columns);
            rows.push(self.formatter.row(&status));
        }
        rows.split_off(rows.len() - self.fitting_rows(&rows))
    }

    /// How many of the last rows may be painted: as many as would fit into a
    /// screen of half the width and half the height, and some in any case. When
    /// the terminal becomes smaller and wraps them, before anything can be done
    /// about it, none of them gets out of reach into the scrollback.
    fn fitting_rows(&self, rows: &[Row]) -> usize {
        let half = (self.size.columns / 2).max(1);
        let mut left = (self.size.rows / 2).max(1);
        let least = left.min(LEAST_ROWS);
        let fits = |row: &&Row| {
            let wrapped = row.cells.div_ceil(half).max(1);
            left.checked_sub(wrapped).map(|rest| left = rest).is_some()
        };
        let fitting = rows.iter().rev().take_while(fits).count();
        fitting.max(least).min(rows.len())
    }

    fn open_lines(&self, entry: &Entry, now: Instant) -> Vec<Line> {
        let mut lines = self.formatter.lines(entry, self.width());
        if let Item::Tool(tool) = &entry.item
            && tool.result.is_none()
            && let Some(head) = lines.first_mut()
        {
            let since = self.calls.iter().find(|(id, _)| *id == tool.call.id);
            let elapsed = since.map_or(Duration::ZERO, |(_, since)| now - *since);
            animate(head, elapsed);
        }
        lines
    }

    /// What goes on, and for how long.
    fn status(&self, now: Instant) -> Line {
        let work = &self.work;
        let mut words = vec![seconds(now - work.started)];
        if let Some((since, pause)) = work.retry {
            words.push(
                match pause.and_then(|pause| pause.checked_sub(now - since)) {
                    Some(rest) => format!(
                        "trying again in {}",
                        seconds(rest + Duration::from_millis(999))
                    ),
                    None => format!("trying again for {}", seconds(now - since)),
                },
            );
        } else if now - work.last_event >= QUIET {
            words.push(format!(
                "nothing new for {}",
                seconds(now - work.last_event)
            ));
        }
        words.extend(work.step.clone());
        vec![
            Span::new(spinner(now - work.started), Style::of(Role::Colorful)),
            Span::new(format!(" {}", words.join(" · ")), Style::of(Role::Accent)),
        ]
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        terminal::restore();
    }
}

/// The bullet of a running call turns, and its time is told.
fn animate(head: &mut Line, elapsed: Duration) {
    if let Some(bullet) = head.iter_mut().find(|span| span.text.contains('•')) {
        bullet.text = bullet.text.replace('•', spinner(elapsed));
        bullet.style = Style::of(Role::Colorful);
    }
    if elapsed >= Duration::from_secs(1) {
        let text = format!(" {}", seconds(elapsed));
        head.push(Span::new(text, Style::of(Role::Accent)));
    }
}

fn spinner(elapsed: Duration) -> &'static str {
    let at = usize::try_from(elapsed.as_millis() / TICK.as_millis()).unwrap_or_default();
    SPINNER.get(at % SPINNER.len()).copied().unwrap_or("•")
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => summary::duration(seconds.saturating_mul(1000)),
    }
}

/// How long an agent says that it waits: `… in 2s`, `… in 1.5 seconds`.
fn pause(text: &str) -> Option<Duration> {
    let (_, after) = text.rsplit_once(" in ")?;
    let after = after.trim_start();
    let digits = after
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(after.len());
    let (number, unit) = after.split_at_checked(digits)?;
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('s') {
        number
    } else if unit.starts_with('m') {
        number * 60.0
    } else {
        return None;
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_read_out_of_the_words() {
        let read = |text| pause(text).map(|pause| pause.as_millis());
        assert_eq!(read("Retrying in 2s: overloaded"), Some(2000));
        assert_eq!(read("retry 1 of 10 in 550 ms"), Some(550));
        assert_eq!(read("trying again in 1.5 seconds"), Some(1500));
        assert_eq!(read("in 2 minutes"), None);
        assert_eq!(read("again in 2 minutes"), Some(120_000));
        assert_eq!(read("failed in the end"), None);
    }
}
