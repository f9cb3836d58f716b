//! The agent's own lines, joined into notices.

use super::line::is_distinctive;
use super::marks;
use super::wrap::{self, Columns};
use crate::event::Level;

/// The level and the text of a notice.
pub(super) type Notice = (Level, String);

/// The notice whose lines are still coming.
#[derive(Clone, Default)]
pub(super) struct Notes(Option<Note>);

#[derive(Clone)]
struct Note {
    level: Level,
    text: String,
    /// The last line, which may be cut; `None` in a list of unknown lines.
    last: Option<String>,
}

impl Notes {
    /// Starts a notice with the end of a line; returns the notice before it.
    pub(super) fn start(&mut self, level: Level, text: &str, line: &str) -> Option<Notice> {
        let before = self.take();
        self.0 = Some(Note {
            level,
            text: text.to_owned(),
            last: Some(line.to_owned()),
        });
        before
    }

    /// Adds an unknown line to those directly before it; returns the notice that
    /// it ends.
    pub(super) fn list(&mut self, line: &str) -> Option<Notice> {
        let before = if self.is_list() { None } else { self.take() };
        match &mut self.0 {
            Some(list) => list.text.extend(["\n", line]),
            None if line.trim().is_empty() => {}
            None => {
                self.0 = Some(Note {
                    level: Level::Info,
                    text: line.to_owned(),
                    last: None,
                });
            }
        }
        before
    }

    pub(super) fn is_list(&self) -> bool {
        self.0.as_ref().is_some_and(|note| note.last.is_none())
    }

    /// Takes the rest of a line that was cut; returns false if it is another line.
    pub(super) fn join(&mut self, rest: &str, columns: Columns) -> bool {
        let Some(Note {
            text,
            last: Some(last),
            ..
        }) = &mut self.0
        else {
            return false;
        };
        if !columns.continues(last, rest) || is_marker(rest) {
            return false;
        }
        wrap::join(text, rest);
        rest.clone_into(last);
        true
    }

    /// Returns an open notice if it fits, and forgets it.
    pub(super) fn take_if(&mut self, fits: impl Fn(&str) -> bool) -> Option<Notice> {
        let note = self.0.take_if(|note| fits(&note.text))?;
        let mut text = note.text.as_str();
        if note.last.is_some() {
            text = text.trim_end();
        }
        // Lists keep the blanks at the end of their last line.
        while let Some((above, "")) = text.rsplit_once('\n').map(|(a, b)| (a, b.trim())) {
            text = above;
        }
        Some((note.level, text.to_owned()))
    }

    pub(super) fn take(&mut self) -> Option<Notice> {
        self.take_if(|_| true)
    }
}

/// Returns true for lines that cannot be the rest of another one.
pub(super) fn is_marker(line: &str) -> bool {
    marks::mark(line).is_some() || is_distinctive(line)
}

/// Joins lines of the console into notices.
pub(super) fn console(lines: &[String]) -> Vec<Notice> {
    let mut notes = Notes::default();
    let mut notices = Vec::new();
    for line in lines.iter().map(|line| line.trim_end()) {
        let stopped = line.starts_with("^C ").then_some(Level::Canceled);
        notices.extend(match stopped.or_else(|| marks::note(line)) {
            Some(level) => notes.start(level, line, line),
            None => notes.list(line),
        });
    }
    notices.extend(notes.take());
    notices
}
