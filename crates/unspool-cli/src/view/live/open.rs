//! Rows of unfinished entries: as many of the last ones as fit.
//!
//! Entries are laid out from the last one upwards until the screen is full, so
//! that the cost does not depend on their number. Layouts are cached until they
//! may have changed.

use std::time::Instant;

use unspool::doc::Line;
use unspool::layout;
use unspool::output::{Row, RowBudget};
use unspool::session::{Entry, Item, Text};
use unspool::transcript::Spacing;

use super::Live;
use crate::filter;

/// Number of bytes of a message to lay out, more than fills a screen.
const WINDOW: usize = 1 << 14;

/// Cached lines of entries.
#[derive(Default)]
pub(super) struct Laid {
    /// Entries that wait for their turn, by position; they do not change.
    waiting: Vec<Option<Vec<Line>>>,
    /// Unfinished entries, valid until the next event.
    open: Vec<Option<Vec<Line>>>,
}

impl Laid {
    /// Invalidates unfinished entries; with `all`, also waiting ones.
    pub(super) fn forget(&mut self, all: bool) {
        self.open.clear();
        if all {
            self.waiting.clear();
        }
    }
}

/// Returns the cached lines at a position, laying them out if needed.
fn kept(
    laid: &mut Vec<Option<Vec<Line>>>,
    at: usize,
    lay_out: impl FnOnce() -> Vec<Line>,
) -> Vec<Line> {
    if laid.len() <= at {
        laid.resize(at + 1, None);
    }
    let Some(place) = laid.get_mut(at) else {
        return Vec::new();
    };
    place.get_or_insert_with(lay_out).clone()
}

/// Rows collected from the last one upwards.
struct Upwards<'a> {
    live: &'a Live<'a>,
    budget: RowBudget,
    rows: Vec<Row>,
}

impl Upwards<'_> {
    /// Adds lines above the rows so far. Returns false if they did not all fit.
    fn add(&mut self, lines: &[Line]) -> bool {
        let columns = self.live.size.columns;
        lines.iter().rev().all(|line| {
            let folded = layout::folded(line, columns);
            folded.iter().rev().all(|line| self.add_row(line))
        })
    }

    fn add_row(&mut self, line: &Line) -> bool {
        let row = self.live.formatter.row(line);
        let Some(cells) = self.budget.take(row.cells) else {
            return false;
        };
        let row = if cells < row.cells {
            self.live.formatter.row(&layout::truncated(line, cells))
        } else {
            row
        };
        self.rows.push(row);
        true
    }

    /// Adds the gap before an entry: an empty row and the speaker.
    fn add_gap(&mut self, mut spacing: Spacing, entry: &Entry) -> bool {
        let before = spacing.before(entry);
        let speaker = before.speaker.map(|agent| {
            let width = self.live.width();
            self.live.formatter.speaker(&agent, width)
        });
        self.add(&speaker.unwrap_or_default()) && (!before.gap || self.add_row(&Line::new()))
    }
}

impl Live<'_> {
    /// Returns the last unfinished rows.
    pub(super) fn open_rows(&mut self, now: Instant) -> Vec<Row> {
        let mut laid = std::mem::take(&mut self.laid);
        let mut upwards = Upwards {
            live: self,
            budget: self.screen.row_budget(&self.finished),
            rows: Vec::new(),
        };
        let mut has_room = true;
        if self.activity.is_open {
            let status = layout::truncated(&self.activity.status(now), self.size.columns);
            has_room = upwards.add_row(&status);
        }
        if has_room {
            self.add_entries(&mut upwards, &mut laid, now);
        }
        let mut rows = upwards.rows;
        rows.reverse();
        self.laid = laid;
        rows
    }

    /// Adds unfinished entries, last one first.
    fn add_entries(&self, upwards: &mut Upwards<'_>, laid: &mut Laid, now: Instant) {
        // The entry below the current one.
        let mut below: Option<&Entry> = None;
        let current = self.transcript.current();
        let is_current =
            |entry: &Entry| current.is_some_and(|current| std::ptr::eq(current, entry));
        let open = self.transcript.open().iter().enumerate();
        let open = open.filter(|(_, entry)| !is_current(entry)).rev();
        let waiting = self.transcript.waiting().iter().enumerate().rev();
        let places = open
            .map(|(at, entry)| (entry, true, at))
            .chain(waiting.map(|(at, entry)| (entry, false, at)));
        for (entry, is_open, at) in places {
            if !filter::shows(self.filter, entry) {
                continue;
            }
            let place = if is_open {
                &mut laid.open
            } else {
                &mut laid.waiting
            };
            let mut lines = kept(place, at, || self.lay_out(entry));
            if lines.is_empty() {
                continue;
            }
            if is_open {
                self.activity.animate(entry, &mut lines, now);
            }
            let gap = below.is_none_or(|below| upwards.add_gap(spacing_after(entry), below));
            if !gap || !upwards.add(&lines) {
                return;
            }
            below = Some(entry);
        }
        self.add_current(upwards, below);
    }

    /// Adds the message that is shown next, and its gap to the finished entries.
    fn add_current(&self, upwards: &mut Upwards<'_>, below: Option<&Entry>) {
        let current = self.transcript.current();
        let current = current.filter(|entry| filter::shows(self.filter, entry));
        let growing = self.growing.as_ref().filter(|growing| {
            current.is_some_and(
                |entry| matches!(&entry.item, Item::Text(text) if text.id == growing.id),
            )
        });
        let lines = match (growing, current) {
            (Some(growing), _) => growing.text.open(),
            (None, Some(entry)) => self.lay_out(entry),
            (None, None) => Vec::new(),
        };
        let is_written = growing.is_some_and(|growing| growing.written);
        let Some(current) = current.filter(|_| is_written || !lines.is_empty()) else {
            if let Some(below) = below {
                upwards.add_gap(self.spacing.clone(), below);
            }
            return;
        };
        if below.is_none_or(|below| upwards.add_gap(spacing_after(current), below))
            && upwards.add(&lines)
            && !is_written
        {
            upwards.add_gap(self.spacing.clone(), current);
        }
    }

    fn lay_out(&self, entry: &Entry) -> Vec<Line> {
        match with_end(entry) {
            Some(end) => self.formatter.lines(&end, self.width()),
            None => self.formatter.lines(entry, self.width()),
        }
    }
}

/// Returns the spacing after an entry.
fn spacing_after(entry: &Entry) -> Spacing {
    let mut spacing = Spacing::new();
    spacing.before(entry);
    spacing
}

/// Returns the first line and the end of a message much longer than a screen.
fn with_end(entry: &Entry) -> Option<Entry> {
    let (Item::Text(text) | Item::Reasoning(text)) = &entry.item else {
        return None;
    };
    let mut from = text.text.len().checked_sub(WINDOW)?;
    while !text.text.is_char_boundary(from) {
        from += 1;
    }
    let (before, end) = text.text.split_at(from);
    let head = before.lines().next().filter(|head| head.len() < WINDOW);
    let short = Text::new(format!("{}\n\n{end}", head.unwrap_or_default()))
        .with_id(&text.id)
        .with_preformatted(text.preformatted);
    let mut shorter = Entry::new(match entry.item {
        Item::Reasoning(_) => Item::Reasoning(short),
        _ => Item::Text(short),
    });
    shorter.number = entry.number;
    shorter.time.clone_from(&entry.time);
    shorter.agent.clone_from(&entry.agent);
    Some(shorter)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use unspool::Event;

    use super::*;
    use crate::cli::Cli;
    use crate::settings::Settings;
    use crate::terminal::Answers;

    #[test]
    fn lays_out_only_visible_entries_once() {
        let cli = Cli::parse_from(["unspool"]);
        let settings = Settings::new(&cli.show.look).unwrap();
        let mut live = Live::new(&settings, &cli.show.filter, &Answers::default());
        live.event(event(
            r#"{"kind":"text","id":"m","text":"Growing","delta":true}"#,
        ));
        for number in 0..200 {
            live.event(event(&format!(
                r#"{{"kind":"notice","level":"info","text":"Notice {number}"}}"#
            )));
        }
        let now = Instant::now();
        let rows = live.open_rows(now);
        let is_laid = |laid: &Laid| laid.waiting.iter().flatten().count();
        assert!(rows.iter().any(|row| row.text.contains("Notice 199")));
        assert!((1..=rows.len() + 1).contains(&is_laid(&live.laid)));
        // Waiting entries stay cached while unfinished ones change.
        live.event(event(
            r#"{"kind":"text","id":"m","text":" on","delta":true}"#,
        ));
        assert!(is_laid(&live.laid) > 0);
        assert_eq!(live.open_rows(now), rows);
        // Nothing waits after the end of the message.
        live.event(event(r#"{"kind":"text","id":"m","text":"All of it"}"#));
        assert_eq!(is_laid(&live.laid), 0);
    }

    fn event(line: &str) -> Event {
        Event::from_json(line).unwrap()
    }

    #[test]
    fn keeps_the_end_of_a_long_message() {
        let text = format!("**Title**\n\n{}the end", "words ".repeat(WINDOW));
        let entry = Entry::new(Item::Reasoning(Text::new(text)));
        let Some(Entry {
            item: Item::Reasoning(short),
            ..
        }) = with_end(&entry)
        else {
            panic!("it stays what it is");
        };
        assert!(short.text.starts_with("**Title**\n\n"));
        assert!(short.text.ends_with("the end"));
        assert!(short.text.len() < 2 * WINDOW);
    }
}
