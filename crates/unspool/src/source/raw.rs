//! Input of no known provider: plain text becomes text, JSON becomes `unknown`,
//! which says that no provider claims it.
//! There are no turns. Text is split into messages of [`LONGEST`] bytes at line
//! ends, because an open message is kept in memory.

use super::{Emitter, Provider, Source};
use crate::frame::Frame;

pub(crate) const PROVIDER: Provider = Provider::new("raw", |_| false, || Box::new(Raw { open: 0 }))
    .with_about("plain text and JSON that no other provider knows")
    .with_example("make 2>&1 | unspool events --from raw")
    .without_agent()
    .with_text_input();

const LONGEST: usize = 1 << 20;

#[derive(Clone)]
struct Raw {
    /// Bytes of the open message.
    open: usize,
}

impl Source for Raw {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        if frame
            .json()
            .is_some_and(|json| json.is_object() || json.is_array())
        {
            out.unclaimed(frame);
        } else {
            out.preformatted_delta(&[frame.text, frame.ending].concat());
            self.open += frame.text.len() + frame.ending.len();
            if self.open >= LONGEST {
                out.end_message();
                self.open = 0;
            }
        }
    }

    fn finish(&mut self, _out: &mut Emitter) {}
}

#[cfg(test)]
mod tests {
    use crate::Reader;
    use crate::event::Body;

    #[test]
    fn text_that_does_not_end_is_several_messages() {
        let line = format!("{}\n", "words ".repeat(100));
        let lines = 3 * super::LONGEST / line.len();
        let mut reader = Reader::new();
        reader.push(line.repeat(lines).as_bytes());
        reader.finish();
        let mut ids = Vec::new();
        let mut text = String::new();
        for event in reader.events() {
            if let Body::Text(message) = event.body {
                text += &message.text.into_string();
                ids.push(message.id);
            }
        }
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert_eq!(text, line.repeat(lines));
    }
}
