//! A client of the Agent Client Protocol. It paints nothing.
//!
//! [`Client`] starts an agent and talks to it. The app passes on what comes from
//! the agent ([`Client::receive`]) and what the user wants (`prompt`, `cancel`,
//! `answer` …), and gets [`Update`]s back. All messages in both directions also go
//! through the library's reader, and its events are among the updates: a live
//! agent looks exactly like its recording.
//!
//! ```text
//!  process ── connection.rs ── Incoming ──► client.rs ──► Update ──► the app
//!  pty ────── terminals.rs ───────┘          │  ▲ prompt, answer, cancel …
//!                     permission.rs, files.rs, record.rs, agent_state.rs
//! ```

pub mod agent_state;
mod client;
pub mod connection;
pub mod files;
pub mod orphans;
pub mod permission;
pub mod platform;
pub mod private_file;
mod process;
pub mod record;
mod terminals;
mod wire;

/// The protocol's types: content blocks, MCP servers and others that are sent.
pub use agent_client_protocol_schema::v1 as schema;
pub use agent_state::{AgentState, Phase};
pub use client::{
    Answer, Client, ClientConfig, LeftoverCalls, ProposedChange, Question, QuestionId,
    QuestionKind, QueuedPrompt, SessionRequest, ToolCall, Update, close_interrupted,
};
pub use connection::{Incoming, Launch};
pub use process::Exit;
pub use terminals::TerminalEvent;
