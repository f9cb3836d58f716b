//! `unspool view` on a real terminal: keys in, screens out, and the terminal is
//! always restored.
//!
//! The screens at three sizes are snapshots, as text and as SVG.

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
#[path = "../live/world.rs"]
mod world;

mod keys;
mod pictures;
mod restored;
mod run;
