//! Codex.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "codex",
    about: "Codex",
    example: "",
    input: Input::Json,
    recognise: |_| false,
    related: None,
    open: || Box::new(Codex),
};

#[derive(Clone)]
struct Codex;

impl Source for Codex {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
