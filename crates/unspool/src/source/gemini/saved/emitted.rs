//! The memory of a saved session: what was shown of which message, so that a
//! message that is written again gives only what is new in it.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::recent::RecentMap;

/// Messages that are remembered.
const REMEMBERED: usize = 16_384;

/// What was shown of the last messages, by their ids.
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

    pub(super) fn has(&self, id: &str) -> bool {
        self.messages.contains(id)
    }

    /// Whether a message comes for the first time. One without an id does.
    pub(super) fn first(&mut self, id: &str) -> bool {
        if id.is_empty() {
            return true;
        }
        let is_first = !self.has(id);
        if is_first {
            self.messages.insert(id.to_owned(), Message::default());
        }
        is_first
    }

    /// Whether a message's text is new.
    pub(super) fn text(&mut self, id: &str, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = hasher.finish();
        let known = self.messages.get_mut(id).map(|message| &mut message.text);
        known.is_none_or(|known| std::mem::replace(known, digest) != digest)
    }

    /// How many of a message's thoughts were shown before.
    pub(super) fn thoughts(&mut self, id: &str, count: usize) -> usize {
        let known = self.messages.get_mut(id);
        known.map_or(0, |message| std::mem::replace(&mut message.thoughts, count))
    }

    /// Whether a message's tokens were not counted before.
    pub(super) fn tokens(&mut self, id: &str) -> bool {
        let known = self.messages.get_mut(id);
        known.is_none_or(|message| !std::mem::replace(&mut message.tokens, true))
    }
}
