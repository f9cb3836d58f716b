//! The client of the Agent Client Protocol against a scripted agent: recorded
//! traffic played again, agents that misbehave, paths that try to escape, and
//! processes that are killed.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod escape;
mod faults;
mod record;
mod replay;
mod world;
