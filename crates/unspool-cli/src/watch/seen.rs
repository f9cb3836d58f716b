//! Remembers the events already shown, so that a rewritten file can be read from
//! the start and only its new events are shown.
//!
//! In a document, events are compared by content and number of occurrences, not by
//! position: a change in the middle shows only that change. A file of lines is only
//! appended to: after its first new event, everything belongs to a new run and is
//! shown, even if it looks the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use unspool::Event;

/// Maximum number of distinct events remembered. Later ones are shown again when
/// they are read again.
const MOST: usize = 1 << 20;

/// The events already shown, by hash.
#[derive(Default)]
pub(crate) struct Seen {
    events: HashMap<u64, Count>,
    /// Number of restarts.
    pass: u32,
    /// True for a file of lines; and true once one of its events was new.
    is_lines: bool,
    is_new: bool,
}

/// Number of times an event was shown, and number of times it occurred in its
/// latest pass.
#[derive(Default)]
struct Count {
    shown: u32,
    pass: u32,
    again: u32,
}

impl Seen {
    /// Starts another pass over a file of lines.
    pub(super) fn restart(&mut self) {
        self.pass += 1;
        self.is_lines = true;
        self.is_new = false;
    }

    /// Starts another pass over a document.
    pub(super) fn restart_document(&mut self) {
        self.restart();
        self.is_lines = false;
    }

    /// Returns true if the event was shown already. Otherwise records it as shown.
    pub(super) fn check_and_add(&mut self, event: &Event) -> bool {
        let hash = hash(event);
        if self.events.len() >= MOST && !self.events.contains_key(&hash) {
            return false;
        }
        let count = self.events.entry(hash).or_default();
        if count.pass != self.pass {
            count.pass = self.pass;
            count.again = 0;
        }
        count.again += 1;
        if count.again <= count.shown && !self.is_new {
            return true;
        }
        count.shown = count.shown.max(count.again);
        self.is_new = self.is_lines;
        false
    }
}

fn hash(event: &Event) -> u64 {
    let event = event.clone().with_seq(0);
    let mut hasher = DefaultHasher::new();
    let text = serde_json::to_string(&event);
    text.unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of the events that are shown.
    fn shown<'a>(seen: &mut Seen, texts: &[&'a str]) -> Vec<&'a str> {
        let event = |(seq, text): (usize, &str)| {
            let line = format!(r#"{{"kind":"text","seq":{seq},"id":"a","text":"{text}"}}"#);
            Event::from_json(&line).unwrap()
        };
        let new = |(at, text): &(usize, &str)| !seen.check_and_add(&event((*at, text)));
        let texts = texts.iter().copied().enumerate();
        texts.filter(new).map(|(_, text)| text).collect()
    }

    #[test]
    fn shows_only_new_events_after_a_restart() {
        let mut seen = Seen::default();
        assert_eq!(shown(&mut seen, &["a", "b", "a"]), ["a", "b", "a"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["a", "x", "b", "a", "a"]), ["x", "a"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["a", "b", "c"]), ["c"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["x", "a", "a", "a", "b", "c"]), [""; 0]);
        // A new run starts at the first new event.
        seen.restart();
        assert_eq!(shown(&mut seen, &["a", "b", "y", "a"]), ["y", "a"]);
    }
}
