//! Every prefix of every recording: no panic, and nothing that was said is
//! taken back by what follows.
//!
//! Wherever the input is cut, the events of what came so far are the first
//! events of the whole. The end of the input adds what it closes, what was waiting
//! for more, and the first half of the frame that was cut in two, which may be
//! anything. The whole contradicts none of it: a call is of the same category there, a
//! result has the same status, and a message goes on as it began. Three exceptions:
//! before the provider is recognised, or where it writes lines of text, half an
//! input may be read otherwise than the whole; messages without ids are numbered
//! in their order, which files that belong to the session come into earlier when
//! it ends early; and aider's changes stand in its words, so that half of one is
//! only words.

use std::collections::HashMap;

use unspool::event::{Body, Category, Message, ToolStatus};
use unspool::source::Input;
use unspool::{Event, Reader};

use crate::files;

/// Of recordings up to this size every prefix is tried. Of larger ones every
/// prefix that ends near the end of a line, where the state changes, and every
/// so many in between.
const SMALL: usize = 4096;
const NEAR: usize = 24;
const STRIDE: usize = 61;

#[test]
fn every_prefix_ends_cleanly_and_begins_like_the_whole() {
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
        let mut said = Facts::default();
        let mut seen = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            for cut in cuts(line.len(), near) {
                let ending = finish_early(reader.clone(), &line[..cut], &whole[seen..]);
                for event in &ending {
                    let why = facts.contradict(event, &said, is_plain);
                    assert_eq!(why, None, "{} at {cut} after {seen} events", recording.name);
                }
            }
            reader.push(line);
            for event in reader.events() {
                let same = whole.get(seen) == Some(&event);
                assert!(same, "{}: event {seen}", recording.name);
                said.add(&event);
                seen += 1;
            }
        }
    });
}

fn cuts(length: usize, near: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |cut| *cut < near || length - cut < near || cut % STRIDE == 0)
}

/// The stream ends here. What came before that goes on like the whole; gives what
/// the end adds, unless that may be anything.
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

/// What events say that others could contradict.
#[derive(Default)]
struct Facts {
    calls: HashMap<String, Category>,
    results: HashMap<String, ToolStatus>,
    /// The texts of each message: it may be replaced.
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

    /// How the whole contradicts an event that the end added to what was said.
    fn contradict(&self, event: &Event, said: &Self, is_plain: bool) -> Option<String> {
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
                self.tell_otherwise((event.body.kind(), message.id.clone()), message, said)
            }
            _ => false,
        };
        contradicts.then(|| format!("{event:?}"))
    }

    fn tell_otherwise(&self, key: (&'static str, String), message: &Message, said: &Self) -> bool {
        let open = said.messages.get(&key).and_then(|texts| texts.last());
        let before = open.filter(|_| message.delta);
        let text = before.cloned().unwrap_or_default() + &message.text.as_str();
        let goes_on = |whole: &Vec<String>| whole.iter().any(|whole| whole.starts_with(&text));
        self.messages.get(&key).is_some_and(|whole| !goes_on(whole))
    }
}
