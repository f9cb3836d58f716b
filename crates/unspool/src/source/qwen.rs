//! Qwen Code.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "qwen",
    about: "Qwen Code",
    example: "",
    input: Input::Json,
    recognise: |_| false,
    related: None,
    open: || Box::new(Qwen),
};

#[derive(Clone)]
struct Qwen;

impl Source for Qwen {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
