//! Events that unspool wrote, read back without loss. They keep their sequence
//! numbers, unless they follow another provider's output in the same input.
//!
//! A recording contains the end of each turn, except for a chat that was killed.
//! A chat identifies itself by a state event; its last turn without an end is
//! interrupted.

use super::{Emitter, Probe, Provider, Source};
use crate::event::{Body, Event};
use crate::frame::Frame;

/// Name of the state event that identifies a chat.
const CHAT: &str = "unspool";

pub(crate) const PROVIDER: Provider =
    Provider::new("unspool", recognise, || Box::<Recorded>::default())
        .with_about("events that `unspool events` wrote")
        .with_example("unspool events session.jsonl > run.events && unspool events run.events")
        .without_agent();

fn recognise(probe: &Probe<'_>) -> bool {
    probe.has(&["kind", "seq"]) && Event::from_json(crate::json::trim(probe.text)).is_ok()
}

#[derive(Clone, Default)]
struct Recorded {
    /// True if other events came first; set by the first frame.
    follows: Option<bool>,
    is_chat: bool,
    /// A prompt was sent and its turn has not ended.
    is_open: bool,
}

impl Recorded {
    fn track(&mut self, event: &Event) {
        match &event.body {
            Body::State(state) => self.is_chat |= state.name == CHAT,
            Body::User(_) => self.is_open |= event.agent.is_none(),
            Body::TurnEnd(_) => self.is_open &= event.agent.is_some(),
            _ => {}
        }
    }
}

impl Source for Recorded {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        match Event::from_json(crate::json::trim(frame.text)) {
            Ok(event) => {
                self.track(&event);
                if *self.follows.get_or_insert(out.has_emitted()) {
                    out.next_event(event);
                } else {
                    out.event(event);
                }
            }
            Err(_) => out.unknown(frame),
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        if self.is_chat && self.is_open {
            out.open_turn();
            out.interrupted();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Body, TurnStatus};
    use crate::{Event, Reader};

    fn ends(lines: &[&str]) -> Vec<TurnStatus> {
        let mut reader = Reader::new();
        for line in lines {
            reader.push(line.as_bytes());
            reader.push(b"\n");
        }
        reader.finish();
        let end = |event: Event| match event.body {
            Body::TurnEnd(end) => Some(end.status),
            _ => None,
        };
        reader.events().filter_map(end).collect()
    }

    #[test]
    fn sequence_numbers_are_kept_unless_other_events_came_first() {
        let own = r#"{"kind":"user","seq":7,"text":"go on"}"#;
        let end = r#"{"kind":"turn_end","seq":8,"status":"completed"}"#;
        let codex = r#"{"type":"thread.started","thread_id":"0199"}"#;
        let turn = r#"{"type":"turn.started"}"#;
        let numbers = |lines: &[&str]| {
            let mut reader = Reader::new();
            for line in lines {
                reader.push(line.as_bytes());
                reader.push(b"\n");
            }
            reader.finish();
            reader.events().map(|event| event.seq).collect::<Vec<u64>>()
        };
        assert_eq!(numbers(&[own, end]), [7, 8]);
        let mixed = numbers(&[codex, turn, own, end]);
        assert!(mixed.len() > 2, "{mixed:?}");
        assert!((0..).zip(&mixed).all(|(at, seq)| at == *seq), "{mixed:?}");
    }

    #[test]
    fn only_a_chat_can_be_interrupted() {
        let chat = r#"{"kind":"state","seq":0,"name":"unspool","value":{"agent":"mine"}}"#;
        let user = r#"{"kind":"user","seq":1,"text":"go on"}"#;
        let end = r#"{"kind":"turn_end","seq":2,"status":"completed"}"#;
        assert_eq!(ends(&[chat, user]), [TurnStatus::Interrupted]);
        assert_eq!(ends(&[chat, user, end]), [TurnStatus::Completed]);
        let again = [TurnStatus::Completed, TurnStatus::Interrupted];
        assert_eq!(ends(&[chat, user, end, user]), again);
        assert_eq!(ends(&[user]), []);
    }
}
