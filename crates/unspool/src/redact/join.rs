//! Joins deltas, so that no secret is split between events.

use std::collections::BTreeMap;

use crate::event::{Body, Event, Payload};

/// Joins the deltas of messages and outputs, so that no secret is split between
/// events.
///
/// Messages grow until their turn ends; events after a message's first delta
/// are held until then.
#[derive(Default)]
pub struct Joiner {
    waiting: Vec<Event>,
    /// Growing messages by kind and id: their position in `waiting`, and the
    /// text so far.
    open: BTreeMap<(&'static str, String), (usize, String)>,
    next: u64,
}

impl Joiner {
    /// Adds an event; returns the complete events, renumbered.
    pub fn push(&mut self, mut event: Event) -> Vec<Event> {
        let closes = matches!(event.body, Body::TurnEnd(_)) && event.agent.is_none();
        let kind = event.body.kind();
        if let Some((id, text)) = piece(&mut event.body) {
            let (id, text) = (id.to_owned(), std::mem::take(text).into_string());
            if let Some((at, whole)) = self.open.get_mut(&(kind, id.clone())) {
                whole.push_str(&text);
                // The raw frame of the first delta may contain part of a
                // secret.
                if let Some(first) = self.waiting.get_mut(*at) {
                    first.raw = None;
                    append_media(&mut first.body, event.body);
                }
                return Vec::new();
            }
            self.open.insert((kind, id), (self.waiting.len(), text));
        }
        self.waiting.push(event);
        if closes || self.open.is_empty() {
            return self.finish();
        }
        Vec::new()
    }

    /// Returns the held events at the end of the input.
    pub fn finish(&mut self) -> Vec<Event> {
        for (at, whole) in std::mem::take(&mut self.open).into_values() {
            let event = self.waiting.get_mut(at);
            if let Some((_, text)) = event.and_then(|event| piece(&mut event.body)) {
                *text = Payload::from(whole);
            }
        }
        let mut whole = std::mem::take(&mut self.waiting);
        for event in &mut whole {
            event.seq = self.next;
            self.next += 1;
        }
        whole
    }
}

/// Moves the media of a delta to the first delta of its message.
fn append_media(first: &mut Body, next: Body) {
    if let Body::Text(first) | Body::Reasoning(first) = first
        && let Body::Text(next) | Body::Reasoning(next) = next
    {
        first.media.extend(next.media);
    }
}

/// Returns the id and text of a delta.
fn piece(body: &mut Body) -> Option<(&str, &mut Payload)> {
    match body {
        Body::Text(message) | Body::Reasoning(message) if message.delta => {
            Some((&message.id, &mut message.text))
        }
        Body::ToolOutput(output) => Some((&output.id, &mut output.text)),
        _ => None,
    }
}
