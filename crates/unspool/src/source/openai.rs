//! OpenAI-compatible endpoints.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "openai",
    about: "OpenAI-compatible endpoints",
    example: "",
    input: Input::Json,
    recognise: |_| false,
    related: None,
    open: || Box::new(Openai),
};

#[derive(Clone)]
struct Openai;

impl Source for Openai {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
