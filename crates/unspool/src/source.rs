//! Frames → events: the providers and the table that lists them.
//!
//! A [`Source`] only translates: it knows its provider's wire format, keeps the
//! little state that this needs, and hands plain strings to the [`Emitter`],
//! which does what is the same for every provider (order, ids, duplicates).
//! A new provider is one file in `source/` and one entry in [`BUILTIN`].

use crate::frame::Frame;
use crate::json::{Json, Object};

pub use emitter::{Call, Emitter, Outcome};

mod acp;
mod aider;
mod claude;
mod codalotl;
mod codex;
mod edits;
mod emitter;
mod gemini;
mod genai;
mod media;
mod openai;
mod opencode;
pub(crate) mod own;
mod qwen;
pub(crate) mod raw;
#[cfg(test)]
mod replay;
pub(crate) mod rpc;

/// Translates one provider's frames into events: what a display-event source
/// is for every provider.
///
/// Implementations are `Clone` and `Send`, so that a reader can be copied and
/// moved to another thread.
pub trait Source: Fork + Send {
    /// Translates the next frame. Whatever it holds, this must not panic, and
    /// a frame that cannot be understood goes to [`Emitter::unknown`].
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter);

    /// The input has ended. By default an open turn becomes `interrupted`.
    fn finish(&mut self, out: &mut Emitter) {
        out.interrupted();
    }

    /// Takes a file that belongs to the session (a sub-agent's own record, for
    /// example), before the frames that refer to it. `name` is the file's name
    /// relative to the session. Providers that keep all in one place ignore it.
    fn attach(&mut self, name: &str, bytes: &[u8]) {
        let _ = (name, bytes);
    }
}

/// Lets a boxed [`Source`] be copied; implemented for every `Clone` type.
pub trait Fork {
    /// A copy with the same state.
    fn fork(&self) -> Box<dyn Source>;
}

impl<T: Source + Clone + 'static> Fork for T {
    fn fork(&self) -> Box<dyn Source> {
        Box::new(self.clone())
    }
}

/// What a provider's input looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// JSON, as lines, server-sent events or a body.
    Json,
    /// Lines of text.
    Text,
}

/// One entry of the provider table.
#[derive(Clone, Copy)]
pub struct Provider {
    /// The name, as in `--from NAME` and in `session` events.
    pub name: &'static str,
    /// What it reads, in a few words.
    pub about: &'static str,
    /// A command line that shows how to use it.
    pub example: &'static str,
    /// What its input looks like.
    pub input: Input,
    /// Whether a frame can only come from this provider.
    pub recognise: fn(&Probe<'_>) -> bool,
    /// Where the other files of a saved session are, if it has any.
    pub related: Option<Related>,
    /// Makes a fresh source.
    pub open: fn() -> Box<dyn Source>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How to find the files that belong to a saved session. The library opens no
/// file: the caller looks for the patterns, reads the beginning of what it
/// finds, and attaches to the reader what is selected.
#[derive(Clone, Copy)]
pub struct Related {
    /// Patterns, relative to the folder of the session file and separated by
    /// `/`; `*` stands for any part of one name.
    pub patterns: fn(session: &SavedFile) -> Vec<String>,
    /// Which of the files found belong to the session.
    pub select: fn(session: &SavedFile, found: &[SavedFile]) -> Vec<usize>,
}

impl Related {
    /// All files that match the patterns belong.
    pub const ALL: fn(&SavedFile, &[SavedFile]) -> Vec<usize> =
        |_, found| (0..found.len()).collect();
}

/// A saved file, as far as is needed to tell what it belongs to.
#[derive(Clone, Debug)]
pub struct SavedFile {
    /// Its path, separated by `/`.
    pub path: String,
    /// Its first 64 KB as text.
    pub head: String,
}

/// One frame, prepared for recognition.
#[non_exhaustive]
pub struct Probe<'a> {
    /// The frame's text.
    pub text: &'a str,
    /// Its `event` field, for server-sent events.
    pub event: &'a str,
    /// Its top-level fields; empty unless it is a JSON object.
    pub fields: Object<'a>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(frame: &Frame<'a>) -> Self {
        Self {
            text: frame.text,
            event: frame.event,
            fields: frame.json().map(Json::object).unwrap_or_default(),
        }
    }

    /// Whether the frame is a JSON object.
    pub fn is_json(&self) -> bool {
        !self.fields.is_empty()
    }

    /// The text of the field `key`, empty when it is none.
    pub fn str(&self, key: &str) -> String {
        self.fields.get(key).string()
    }

    /// Whether all these fields are there.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.fields.has(key))
    }
}

/// All providers, in the order in which they are asked to recognise a frame:
/// the surest signs first.
pub const BUILTIN: &[Provider] = &[
    own::PROVIDER,
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

/// The built-in provider with this name.
pub fn provider(name: &str) -> Option<Provider> {
    BUILTIN.iter().find(|entry| entry.name == name).copied()
}
