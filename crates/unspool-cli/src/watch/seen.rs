//! The events that were shown, as far as is needed to know them again: a file
//! that is written anew is read from its beginning, and only what was not shown
//! before is shown.
//!
//! An event counts as shown once for each time it was shown, wherever it stands
//! now, so that a document that changed in its middle shows what changed and
//! nothing of what follows. Lines are only ever added to a file of lines: behind
//! the first that is new, all of it is another run, also what looks the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use unspool::Event;

/// Events that are remembered. What comes after is shown again if it is read
/// again.
const MOST: usize = 1 << 20;

/// What was shown.
#[derive(Default)]
pub(crate) struct Seen {
    events: HashMap<u64, Count>,
    /// How often reading began anew.
    pass: u32,
    /// Whether lines are read, and whether one of them was new.
    is_lines: bool,
    is_new: bool,
}

/// How often an event was shown, and how often it came in the last pass in which
/// it did.
#[derive(Default)]
struct Count {
    shown: u32,
    pass: u32,
    again: u32,
}

impl Seen {
    /// Reading lines begins anew.
    pub(super) fn restart(&mut self) {
        self.pass += 1;
        self.is_lines = true;
        self.is_new = false;
    }

    /// A document is read again.
    pub(super) fn restart_document(&mut self) {
        self.restart();
        self.is_lines = false;
    }

    /// Whether the event was shown already; if not, it is now.
    pub(super) fn has(&mut self, event: &Event) -> bool {
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

    /// What is shown of events with these texts.
    fn shown<'a>(seen: &mut Seen, texts: &[&'a str]) -> Vec<&'a str> {
        let event = |(seq, text): (usize, &str)| {
            let line = format!(r#"{{"kind":"text","seq":{seq},"id":"a","text":"{text}"}}"#);
            Event::from_json(&line).unwrap()
        };
        let new = |(at, text): &(usize, &str)| !seen.has(&event((*at, text)));
        let texts = texts.iter().copied().enumerate();
        texts.filter(new).map(|(_, text)| text).collect()
    }

    #[test]
    fn only_what_is_new_is_shown() {
        let mut seen = Seen::default();
        assert_eq!(shown(&mut seen, &["a", "b", "a"]), ["a", "b", "a"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["a", "x", "b", "a", "a"]), ["x", "a"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["a", "b", "c"]), ["c"]);
        seen.restart_document();
        assert_eq!(shown(&mut seen, &["x", "a", "a", "a", "b", "c"]), [""; 0]);
        // Another run begins with something new.
        seen.restart();
        assert_eq!(shown(&mut seen, &["a", "b", "y", "a"]), ["y", "a"]);
    }
}
