//! Events → what is shown of a run, in order: the entries of a [`Session`], with
//! tokens and cost told once a turn however often the agent tells them, and the
//! empty lines between.
//!
//! [`Transcript`] decides about the order, [`Spacing`] about the gaps; between
//! the two a caller may leave entries out. Every view of a run that is read from
//! top to bottom goes through both.

use crate::event::{Body, Event};
use crate::session::{Entry, Item, Session};
use crate::stats::Stats;

/// The entries of a run in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    session: Session,
    /// Tokens and cost since they were last told.
    spent: Option<Stats>,
}

impl Transcript {
    /// A run in which nothing has happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is not finished, oldest first: see [`Session::open`].
    pub fn open(&self) -> &[Entry] {
        self.session.open()
    }

    /// The message that is shown next: see [`Session::current`].
    pub fn current(&self) -> Option<&Entry> {
        self.session.current()
    }

    /// What is finished but waits for a message: see [`Session::waiting`].
    pub fn waiting(&self) -> &[Entry] {
        self.session.waiting()
    }

    /// Takes the next event and hands out the entries that it finishes.
    pub fn event(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        if matches!(event.body, Body::Usage(_)) {
            self.spent.get_or_insert_default().event(&event);
            return;
        }
        let Self { session, spent } = self;
        session.apply(event, &mut |entry| with_usage(entry, spent, finished));
    }

    /// The stream has ended: what is open is handed out as it is.
    pub fn finish(&mut self, finished: &mut dyn FnMut(Entry)) {
        let Self { session, spent } = self;
        session.finish(&mut |entry| with_usage(entry, spent, finished));
        usage(spent, finished);
    }
}

/// Hands out an entry, and what was spent behind the end of a turn.
fn with_usage(entry: Entry, spent: &mut Option<Stats>, finished: &mut dyn FnMut(Entry)) {
    let ends_turn = matches!(entry.item, Item::TurnEnd(_)) && entry.agent.is_none();
    finished(entry);
    if ends_turn {
        usage(spent, finished);
    }
}

fn usage(spent: &mut Option<Stats>, finished: &mut dyn FnMut(Entry)) {
    if let Some(spent) = spent.take() {
        finished(Entry {
            time: None,
            agent: None,
            item: Item::Usage(spent.usage()),
        });
    }
}

/// Where empty lines stand: calls stand together, prose stands apart.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    /// Whether the last entry was prose, once there was one.
    last: Option<bool>,
}

impl Spacing {
    /// Nothing was shown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether an empty line stands before this entry, which is shown next.
    pub fn before(&mut self, entry: &Entry) -> bool {
        let is_prose = matches!(
            entry.item,
            Item::Text(_) | Item::User(_) | Item::Reasoning(_)
        );
        let last = self.last.replace(is_prose);
        last.is_some_and(|was_prose| was_prose || is_prose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(lines: &[&str]) -> Vec<Entry> {
        let mut transcript = Transcript::new();
        let mut entries = Vec::new();
        for line in lines {
            let event = Event::from_json(line).unwrap();
            transcript.event(event, &mut |entry| entries.push(entry));
        }
        transcript.finish(&mut |entry| entries.push(entry));
        entries
    }

    #[test]
    fn usage_is_told_once_a_turn() {
        let entries = entries(&[
            r#"{"kind":"usage","input_tokens":5}"#,
            r#"{"kind":"text","id":"a","text":"hi"}"#,
            r#"{"kind":"usage","input_tokens":7}"#,
            r#"{"kind":"turn_end","status":"completed"}"#,
            r#"{"kind":"usage","input_tokens":1}"#,
        ]);
        let told: Vec<Option<u64>> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::Usage(usage) => Some(usage.input_tokens),
                _ => None,
            })
            .collect();
        assert_eq!(told, [Some(12), Some(1)]);
    }

    #[test]
    fn prose_stands_apart() {
        let mut spacing = Spacing::new();
        let gaps: Vec<bool> = entries(&[
            r#"{"kind":"text","id":"a","text":"hi"}"#,
            r#"{"kind":"plan","entries":[]}"#,
            r#"{"kind":"notice","level":"info","text":"b"}"#,
            r#"{"kind":"user","text":"c"}"#,
        ])
        .iter()
        .map(|entry| spacing.before(entry))
        .collect();
        assert_eq!(gaps, [false, true, false, true]);
    }
}
