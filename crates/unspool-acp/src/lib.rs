//! A client of the Agent Client Protocol, without anything that is painted.
//!
//! [`Client`] starts an agent and is its other side: it is told what came
//! ([`Client::take`]) and what the person wants (`prompt`, `cancel`, `answer` …),
//! and says what is new as [`Update`]s. All that both sides say also goes
//! through the library's reader, whose events are among the updates: what is
//! shown of a live agent is what would be shown of its recording.
//!
//! ```text
//!  process ── connection.rs ── Incoming ──► client.rs ──► Update ──► the app
//!  pty ────── terminals.rs ───────┘          │  ▲ prompt, answer, cancel …
//!                     permission.rs, files.rs, record.rs, state.rs
//! ```

pub mod client;
pub mod connection;
pub mod files;
pub mod orphans;
pub mod permission;
pub mod platform;
pub mod private_file;
pub mod record;
pub mod state;
pub mod terminals;
mod wire;

/// The protocol's own types, for what is sent: content blocks, MCP servers.
pub use agent_client_protocol_schema::v1 as schema;
pub use client::{Answer, Ask, AskId, AskKind, Call, Client, Open, Queued, Settings, Update};
pub use connection::{Connection, Exit, Incoming, Launch};
pub use state::{Phase, State};
