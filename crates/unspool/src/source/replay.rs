//! Runs a source over a text, for the tests of sources: what a reader does
//! once it knows the provider.

use super::{Emitter, Provider};
use crate::event::Event;
use crate::frame::{Frame, Framed, Framer};
use crate::json::Json;

/// The events of an input of this provider.
pub(crate) fn events(provider: &Provider, input: &str) -> Vec<Event> {
    let mut source = (provider.open)();
    let mut out = Emitter::new(false);
    let mut translate = |framed: Framed<'_>| {
        let Framed::Frame(frame) = framed else {
            return;
        };
        let items = frame.json().filter(|json| json.is_array()).map_or_else(
            || vec![frame.text],
            |json| json.array().into_iter().map(Json::raw).collect(),
        );
        for text in items.into_iter().filter(|text| !text.trim().is_empty()) {
            let frame = Frame { text, ..frame };
            out.begin(&frame);
            source.frame(&frame, &mut out);
        }
    };
    let mut framer = Framer::detecting(1 << 20);
    framer.push(input.as_bytes(), &mut translate);
    framer.finish(&mut translate);
    out.end_of_input();
    source.finish(&mut out);
    std::iter::from_fn(|| out.pop()).collect()
}
