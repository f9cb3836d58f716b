//! `unspool chat` on a real terminal, driven by keys: against a scripted agent
//! that plays recorded traffic of real ones and misbehaves on demand, and against
//! the real agents that `cargo xtask test` installs.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![allow(dead_code, reason = "the terminal is shared with other tests")]

#[path = "../live/environment.rs"]
mod environment;
#[path = "../live/picture.rs"]
mod picture;
#[path = "../live/process.rs"]
mod process;
#[path = "../live/terminal.rs"]
mod terminal;
#[path = "../live/tmux.rs"]
mod tmux;
#[path = "../live/world.rs"]
mod world;

mod asked;
mod faults;
mod kept;
mod model;
mod pictures;
mod project;
mod real;
mod stopping;
mod talking;
