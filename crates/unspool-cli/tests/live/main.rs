//! The live view in real terminals, agents that are started and followed, and
//! what goes wrong with them.
//!
//! The program runs on a real pseudo terminal, whose other end is a terminal
//! emulator ([`terminal`]) or tmux. No test depends on exact times: whatever
//! takes time is waited for.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![allow(dead_code, reason = "the terminal is shared with other tests")]

mod environment;
mod faults;
mod follow;
mod picker;
mod pipe;
mod process;
mod quiet;
mod replay;
mod resize;
mod run;
mod screen;
mod signals;
#[cfg(target_os = "linux")]
mod soak;
#[allow(dead_code, reason = "pictures are for the tests of the view")]
mod terminal;
mod tmux;
mod world;
