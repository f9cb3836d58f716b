//! Ids of streamed text: a `messageId` names a message, an event's id one block of
//! it.
//!
//! A block ends at a tool call, at a change between reasoning and answer, and at a
//! user message. Text that follows under the same `messageId`, and a message that
//! is replayed later, gets another id.

use crate::recent::{RecentMap, RecentQueue};

/// Message ids that are remembered to recognise repetitions.
const REMEMBERED: usize = 4096;
/// Maximum number of open blocks.
const OPEN: usize = 256;

#[derive(Clone, Default)]
pub(super) struct MessageIds {
    open: RecentQueue<Block, OPEN>,
    /// Number of blocks of each message.
    used: RecentMap<Key, u32, REMEMBERED>,
}

/// A message; true for its reasoning.
type Key = (bool, String);

#[derive(Clone)]
struct Block {
    owner: String,
    key: Key,
    id: String,
}

impl MessageIds {
    /// Returns the id of the block of a chunk; `None` if the wire has no message id.
    pub(super) fn id(&mut self, owner: &str, reasoning: bool, message: &str) -> Option<String> {
        self.open
            .retain(|block| block.owner != owner || block.key.0 == reasoning);
        if message.is_empty() {
            return None;
        }
        let key = (reasoning, message.to_owned());
        let open = |block: &&Block| block.owner == owner && block.key == key;
        if let Some(block) = self.open.iter().find(open) {
            return Some(block.id.clone());
        }
        let id = match self.count(&key) {
            1 => message.to_owned(),
            number => format!("{message}#{number}"),
        };
        self.open.push(Block {
            owner: owner.to_owned(),
            key,
            id: id.clone(),
        });
        Some(id)
    }

    /// Ends the blocks of this agent.
    pub(super) fn end(&mut self, owner: &str) {
        self.open.retain(|block| block.owner != owner);
    }

    /// Counts a new block of a message.
    fn count(&mut self, key: &Key) -> u32 {
        let number = self.used.get_or_insert(key);
        *number += 1;
        *number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_continues_after_a_call_is_another_block() {
        let mut ids = MessageIds::default();
        assert_eq!(ids.id("root", false, "m").as_deref(), Some("m"));
        assert_eq!(ids.id("child", false, "c").as_deref(), Some("c"));
        ids.end("child");
        assert_eq!(ids.id("root", false, "m").as_deref(), Some("m"));
        ids.end("root");
        assert_eq!(ids.id("root", false, "m").as_deref(), Some("m#2"));
        assert_eq!(ids.id("root", true, "m").as_deref(), Some("m"));
        assert_eq!(ids.id("root", false, "m").as_deref(), Some("m#3"));
        assert_eq!(ids.id("root", false, ""), None);
    }
}
