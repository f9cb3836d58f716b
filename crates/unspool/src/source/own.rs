//! Our own events, read back without loss.

use super::{Emitter, Input, Provider, Source};
use crate::event::Event;
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "unspool",
    about: "events that `unspool events` wrote",
    example: "unspool events session.jsonl > run.events && unspool events run.events",
    input: Input::Json,
    recognise: |probe| {
        probe.has(&["kind", "seq"]) && Event::from_json(crate::json::trim(probe.text)).is_ok()
    },
    related: None,
    open: || Box::new(Own),
};

#[derive(Clone)]
struct Own;

impl Source for Own {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        match Event::from_json(crate::json::trim(frame.text)) {
            Ok(event) => out.event(event),
            Err(_) => out.unknown(frame),
        }
    }

    /// The recording says itself how each turn ended.
    fn finish(&mut self, _out: &mut Emitter) {}
}
