//! Remembers what was emitted of each message, so that a message that is saved
//! again gives only additions.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::recent::RecentMap;

/// Messages that are remembered.
const REMEMBERED: usize = 16_384;

/// The emitted parts of recent messages.
#[derive(Clone, Default)]
pub(super) struct Emitted {
    messages: RecentMap<String, Message, REMEMBERED>,
}

#[derive(Clone, Default)]
struct Message {
    /// Digest of the text.
    text: u64,
    thoughts: usize,
    tokens: bool,
}

impl Emitted {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.messages.contains(id)
    }

    /// Adds a message; returns false if it is known. One without an id never is.
    pub(super) fn add(&mut self, id: &str) -> bool {
        if id.is_empty() {
            return true;
        }
        let is_first = !self.contains(id);
        if is_first {
            self.messages.insert(id.to_owned(), Message::default());
        }
        is_first
    }

    /// Records a message's text; returns true if it is new.
    pub(super) fn add_text(&mut self, id: &str, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = hasher.finish();
        let known = self.messages.get_mut(id).map(|message| &mut message.text);
        known.is_none_or(|known| std::mem::replace(known, digest) != digest)
    }

    /// Records the number of a message's thoughts; returns the number before.
    pub(super) fn add_thoughts(&mut self, id: &str, count: usize) -> usize {
        let known = self.messages.get_mut(id);
        known.map_or(0, |message| std::mem::replace(&mut message.thoughts, count))
    }

    /// Records that a message's tokens are counted; returns false if they were.
    pub(super) fn add_tokens(&mut self, id: &str) -> bool {
        let known = self.messages.get_mut(id);
        known.is_none_or(|message| !std::mem::replace(&mut message.tokens, true))
    }
}
