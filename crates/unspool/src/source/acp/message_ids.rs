//! The ids of streamed text: a `messageId` names a message, an event's id one
//! block of it.
//!
//! A block ends where its agent calls a tool, changes between thinking and
//! answering, or is spoken to. What follows under the same `messageId`, and a
//! message that is replayed later, gets an id of its own.

use crate::recent::{RecentMap, RecentQueue};

/// Message ids that are remembered to tell repetitions.
const REMEMBERED: usize = 4096;
/// Blocks that may be open at once.
const OPEN: usize = 256;

#[derive(Clone, Default)]
pub(super) struct MessageIds {
    open: RecentQueue<Block, OPEN>,
    /// The number of blocks that each message had.
    used: RecentMap<Key, u32, REMEMBERED>,
}

/// A message, apart for thinking and answer.
type Key = (bool, String);

#[derive(Clone)]
struct Block {
    owner: String,
    key: Key,
    id: String,
}

impl MessageIds {
    /// The id of the block that a chunk of `message` belongs to; `None` where
    /// the wire names no message.
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

    /// The number of the block that begins now.
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
    fn a_message_that_goes_on_after_a_call_is_another_block() {
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
