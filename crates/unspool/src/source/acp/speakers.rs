//! Agents that can be talked to over the protocol, and of which nothing else is known.

use crate::source::Chat;

/// Name and command of each.
pub const CHAT_ONLY: &[(&str, Chat)] = &[
    (
        "auggie",
        Chat::new(&["auggie", "--acp"], "npm install -g @augmentcode/auggie"),
    ),
    (
        "copilot",
        Chat::new(&["copilot", "--acp"], "npm install -g @github/copilot"),
    ),
    (
        "goose",
        Chat::new(&["goose", "acp"], "see the documentation of goose"),
    ),
    ("kimi", Chat::new(&["kimi", "acp"], "pip install kimi-cli")),
];
