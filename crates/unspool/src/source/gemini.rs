//! Gemini CLI.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "gemini",
    about: "Gemini CLI",
    example: "",
    input: Input::Json,
    recognise: |_| false,
    related: None,
    open: || Box::new(Gemini),
};

#[derive(Clone)]
struct Gemini;

impl Source for Gemini {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
