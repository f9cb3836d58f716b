//! Translates frames to events: the providers and the table of them.
//!
//! A [`Source`] only translates: it knows its provider's wire format, keeps
//! minimal state and passes plain strings to the [`Emitter`], which handles
//! order, ids and duplicates for all providers. A new provider is one file in
//! `source/` and one entry in [`BUILTIN`].

use crate::frame::Frame;

pub use acp::CHAT_ONLY;
pub use agent_name::AgentName;
pub use emitter::{Call, Emitter, Outcome};
pub use provider::{Chat, Headless, Input, Probe, Provider, ToolNames};
pub use saved::{
    Cell, Database, Folder, Forks, ListFolder, Place, ReadFile, Related, Row, Saved, SavedFile,
};
pub use tools::category;

mod acp;
mod agent_name;
mod aider;
mod claude;
mod codalotl;
mod codex;
pub(crate) mod edits;
mod emitter;
mod gemini;
mod gemini_shared;
mod live_or_saved;
mod media;
mod openai;
mod opencode;
mod provider;
mod qwen;
pub(crate) mod raw;
pub(crate) mod rpc;
mod saved;
mod subagents;
#[cfg(test)]
mod testing;
mod tools;
pub(crate) mod unspool;
mod usage;

/// Translates one provider's frames to events.
///
/// Implementations are `Clone` and `Send`, so that a reader can be copied and
/// moved to another thread.
pub trait Source: Fork + Send {
    /// Translates the next frame. Must not panic; frames that it does not
    /// understand go to [`Emitter::unknown`].
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter);

    /// Reads an incomplete last line while the input pauses, if it is complete in
    /// itself: a question that waits for its answer, for example. Returns how many
    /// bytes of it were read; the next frame continues after them. By default the
    /// line is left alone.
    fn pause(&mut self, line: &str, out: &mut Emitter) -> usize {
        let _ = (line, out);
        0
    }

    /// Ends the input. By default an open turn becomes `interrupted`.
    fn finish(&mut self, out: &mut Emitter) {
        out.interrupted();
    }

    /// Adds a file that belongs to the session (a sub-agent's own record, for
    /// example), before the frames that refer to it. `name` is its path
    /// relative to the session. Ignored by default.
    fn attach(&mut self, name: &str, bytes: &[u8]) {
        let _ = (name, bytes);
    }
}

/// Copies a boxed [`Source`]; implemented for every `Clone` type.
pub trait Fork {
    /// Returns a copy with the same state.
    fn fork(&self) -> Box<dyn Source>;
}

impl<T: Source + Clone + 'static> Fork for T {
    fn fork(&self) -> Box<dyn Source> {
        Box::new(self.clone())
    }
}

/// All providers in the order of recognition: the most specific first.
pub const BUILTIN: &[Provider] = &[
    unspool::PROVIDER,
    qwen::PROVIDER,
    claude::PROVIDER,
    codex::PROVIDER,
    gemini::PROVIDER,
    opencode::PROVIDER,
    openai::PROVIDER,
    acp::PROVIDER,
    aider::PROVIDER,
    codalotl::PROVIDER,
    raw::PROVIDER,
];

/// Returns the built-in provider with this name.
pub fn provider(name: &str) -> Option<Provider> {
    BUILTIN.iter().find(|entry| entry.name == name).copied()
}
