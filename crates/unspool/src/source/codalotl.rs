//! codalotl.

use super::{Emitter, Input, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider {
    name: "codalotl",
    about: "codalotl",
    example: "",
    input: Input::Json,
    recognise: |_| false,
    related: None,
    open: || Box::new(Codalotl),
};

#[derive(Clone)]
struct Codalotl;

impl Source for Codalotl {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        out.unknown(frame);
    }
}
