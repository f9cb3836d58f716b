//! Agents that print one format and save another: each frame goes to the reader
//! of its format, so that an input may start anywhere.

use super::{Emitter, Source};
use crate::frame::Frame;
use crate::json::Object;

/// Reads what a run prints.
pub(super) trait Live: Clone + Default + Send + 'static {
    /// Translates an event; returns false if it is unknown.
    fn event(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool;

    /// Ends the input.
    fn finish(&mut self, out: &mut Emitter) {
        out.interrupted();
    }
}

/// Reads what a run saves.
pub(super) trait Saved: Clone + Default + Send + 'static {
    /// Returns true if a frame has the format of a saved session.
    fn is_record(fields: &Object<'_>) -> bool;

    /// Translates a record; returns false if it is unknown.
    fn record(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool;

    /// Ends the session.
    fn finish(&mut self, out: &mut Emitter);

    /// Adds a file of a sub-agent.
    fn attach(&mut self, name: &str, bytes: &[u8]);
}

/// The source of an agent with both formats.
#[derive(Clone, Default)]
pub(super) struct LiveOrSaved<L, S> {
    live: L,
    saved: S,
    /// A record of a saved session was read.
    is_saved: bool,
}

impl<L: Live, S: Saved> Source for LiveOrSaved<L, S> {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json() else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        let is_known = if S::is_record(&fields) {
            let is_known = self.saved.record(&fields, out);
            self.is_saved |= is_known;
            is_known
        } else {
            self.live.event(&fields, out)
        };
        if !is_known {
            out.unknown(frame);
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        if self.is_saved {
            self.saved.finish(out);
        } else {
            self.live.finish(out);
        }
    }

    fn attach(&mut self, name: &str, bytes: &[u8]) {
        self.saved.attach(name, bytes);
    }
}
