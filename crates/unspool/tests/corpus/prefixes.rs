//! Tests every prefix of every recording: no panic, and later input never
//! retracts earlier events.
//!
//! Wherever the input is cut, its events are the first events of the whole
//! input. The end of the input adds the events that it closes, the events that
//! were held back, and events of the truncated frame, which can be anything.
//! The whole input contradicts none of them: a call has the same category, a
//! result the same status, and a message the same start. There are three
//! exceptions: before the provider is recognised, or if it writes lines of
//! text, a prefix may be read differently; messages without ids are numbered in
//! order, and related files shift these numbers if the session ends early; and
//! aider's edits are part of its text, so half an edit is only text.

use std::collections::HashMap;

use unspool::event::{Body, Category, Message, ToolStatus};
use unspool::source::Input;
use unspool::{Event, Reader};

use crate::files;

/// Every prefix is tested of recordings up to this size. Of larger ones, every
/// prefix that ends near a line end, where the state changes, and every 61st in
/// between.
const SMALL: usize = 4096;
const NEAR: usize = 24;
const STRIDE: usize = 61;

#[test]
fn every_prefix_ends_cleanly_and_starts_like_the_whole() {
    files::everywhere(|recording| {
        let bytes = std::fs::read(&recording.path).unwrap();
        let whole = files::events(recording);
        let mut facts = Facts::default();
        for event in &whole {
            facts.add(event);
        }
        let is_plain =
            files::related(&recording.path).is_empty() && !recording.name.starts_with("acp/aider/");
        let near = if bytes.len() <= SMALL { SMALL } else { NEAR };
        let mut reader = files::reader(recording);
        let mut stated = Facts::default();
        let mut seen = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            for cut in cuts(line.len(), near) {
                let ending = finish_early(reader.clone(), &line[..cut], &whole[seen..]);
                for event in &ending {
                    let why = facts.contradict(event, &stated, is_plain);
                    assert_eq!(why, None, "{} at {cut} after {seen} events", recording.name);
                }
            }
            reader.push(line);
            for event in reader.events() {
                let same = whole.get(seen) == Some(&event);
                assert!(same, "{}: event {seen}", recording.name);
                stated.add(&event);
                seen += 1;
            }
        }
    });
}

fn cuts(length: usize, near: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |cut| *cut < near || length - cut < near || cut % STRIDE == 0)
}

/// Ends the stream here and checks the events so far against the whole; returns
/// the events that the end adds, unless they can be anything.
fn finish_early(mut reader: Reader, rest: &[u8], whole: &[Event]) -> Vec<Event> {
    reader.push(rest);
    let events: Vec<Event> = reader.events().collect();
    assert!(whole.starts_with(&events), "{events:?}");
    reader.finish();
    let is_read = |provider: unspool::source::Provider| provider.input == Input::Json;
    let is_certain = reader.provider().is_some_and(is_read);
    let ending: Vec<Event> = reader.events().collect();
    for pair in ending.windows(2) {
        assert_eq!(pair[0].seq + 1, pair[1].seq);
    }
    if is_certain { ending } else { Vec::new() }
}

/// Facts that later events could contradict.
#[derive(Default)]
struct Facts {
    calls: HashMap<String, Category>,
    results: HashMap<String, ToolStatus>,
    /// The texts of each message, which can be replaced.
    messages: HashMap<(&'static str, String), Vec<String>>,
}

impl Facts {
    fn add(&mut self, event: &Event) {
        match &event.body {
            Body::ToolUse(call) => {
                self.calls.insert(call.id.clone(), call.category);
            }
            Body::ToolResult(result) => {
                self.results.insert(result.id.clone(), result.status);
            }
            Body::Text(message) | Body::Reasoning(message) => {
                let key = (event.body.kind(), message.id.clone());
                let texts = self.messages.entry(key).or_default();
                match texts.last_mut() {
                    Some(open) if message.delta => open.push_str(&message.text.as_str()),
                    _ => texts.push(message.text.as_str().into_owned()),
                }
            }
            _ => {}
        }
    }

    /// Describes the contradiction between the whole and an event that the end
    /// added.
    fn contradict(&self, event: &Event, stated: &Self, is_plain: bool) -> Option<String> {
        let contradicts = match &event.body {
            Body::ToolUse(call) => {
                let known = self.calls.get(&call.id);
                known.is_some_and(|category| *category != call.category)
            }
            Body::ToolResult(result) => {
                let known = self.results.get(&result.id);
                known.is_some_and(|status| *status != result.status)
            }
            Body::Text(message) | Body::Reasoning(message) if is_plain => {
                self.contradicts_message((event.body.kind(), message.id.clone()), message, stated)
            }
            _ => false,
        };
        contradicts.then(|| format!("{event:?}"))
    }

    fn contradicts_message(
        &self,
        key: (&'static str, String),
        message: &Message,
        stated: &Self,
    ) -> bool {
        let open = stated.messages.get(&key).and_then(|texts| texts.last());
        let before = open.filter(|_| message.delta);
        let text = before.cloned().unwrap_or_default() + &message.text.as_str();
        let goes_on = |whole: &Vec<String>| whole.iter().any(|whole| whole.starts_with(&text));
        self.messages.get(&key).is_some_and(|whole| !goes_on(whole))
    }
}
