//! Our own events, read back without loss. They keep their numbers, unless they follow
//! the output of others in one pipe.
//!
//! A recording says itself how each turn ended, with one exception: a chat that was
//! killed. Chats tell of themselves in a state, and a turn of theirs that has no end
//! was cut off.

use super::{Emitter, Probe, Provider, Source};
use crate::event::{Body, Event};
use crate::frame::Frame;

/// The state in which a chat tells of itself.
const CHAT: &str = "unspool";

pub(crate) const PROVIDER: Provider = Provider::new("unspool", recognise, || Box::<Own>::default())
    .with_about("events that `unspool events` wrote")
    .with_example("unspool events session.jsonl > run.events && unspool events run.events");

fn recognise(probe: &Probe<'_>) -> bool {
    probe.has(&["kind", "seq"]) && Event::from_json(crate::json::trim(probe.text)).is_ok()
}

#[derive(Clone, Default)]
struct Own {
    /// Others told something before; known with the first frame.
    follows: Option<bool>,
    is_chat: bool,
    /// A prompt was sent, and its turn has not ended.
    is_open: bool,
}

impl Own {
    fn saw(&mut self, event: &Event) {
        match &event.body {
            Body::State(state) => self.is_chat |= state.name == CHAT,
            Body::User(_) => self.is_open |= event.agent.is_none(),
            Body::TurnEnd(_) => self.is_open &= event.agent.is_some(),
            _ => {}
        }
    }
}

impl Source for Own {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        match Event::from_json(crate::json::trim(frame.text)) {
            Ok(event) => {
                self.saw(&event);
                if *self.follows.get_or_insert(out.has_told()) {
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
    fn numbers_are_kept_but_behind_other_agents() {
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
    fn only_a_chat_can_be_cut_off() {
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
