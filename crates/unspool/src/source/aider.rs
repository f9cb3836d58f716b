//! aider and aider-ce.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "aider",
    about: "aider and aider-ce",
    example: "",
    input: Input::Text,
    recognise: |_| false,
    related: None,
    open: || Box::new(Aider),
};

#[derive(Clone)]
struct Aider;

impl Source for Aider {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
