//! Anything else: plain text is passed on as text, unknown JSON as `unknown`.
//! Nothing is dropped and nothing is read into it; there are no turns.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "raw",
    about: "plain text and JSON that no other provider knows",
    example: "make 2>&1 | unspool events --from raw",
    input: Input::Text,
    recognise: |_| false,
    related: None,
    open: || Box::new(Raw),
};

#[derive(Clone)]
struct Raw;

impl Source for Raw {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        if frame
            .json()
            .is_some_and(|json| json.is_object() || json.is_array())
        {
            out.unknown(frame);
        } else {
            out.preformatted_delta(&[frame.text, frame.ending].concat());
        }
    }

    fn finish(&mut self, _out: &mut Emitter) {}
}
