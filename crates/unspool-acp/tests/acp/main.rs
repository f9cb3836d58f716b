//! The client against a scripted agent: replayed traffic, misbehaving agents, paths
//! that try to escape, and killed processes.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod escape;
mod faults;
mod record;
mod replay;
mod world;
