//! Reads the output of any coding agent, live or saved, as one stream of
//! display events, and shows it as text or as a page.
//!
//! [`text`] and [`page()`] do all of it in one call. [`Reader`] takes bytes in
//! chunks of any size and gives [`Event`]s; [`Formatter`] makes text of them. No
//! terminal, file, thread or async runtime is needed.
//!
//! ```
//! let run = br#"{"type":"thread.started","thread_id":"t1"}
//! {"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"cargo test","aggregated_output":"3 passed","exit_code":0}}
//! {"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"All **tests** pass."}}
//! {"type":"turn.completed"}"#;
//! println!("{}", unspool::text(run, 80));
//! // • Ran cargo test
//! //   └ 3 passed
//! //
//! // • All tests pass.
//! ```
//!
//! The stages, each a module with an example, are [`source`] (bytes → events, one
//! file per agent), [`event`] (the public format), [`session`] (events →
//! entries), [`transcript`] (entries in display order), [`formatter`] (entries →
//! text, the mode `full`) and [`theme`] (roles → colours); [`answer`] is the modes
//! `text` and `verbose`, [`mod@page`] writes pages and comments, [`redact`]
//! removes secrets from events and [`stats`] sums a run up.
//!
//! # Features
//!
//! - `markdown`, `highlight`, `html`, `redact` (all by default): Markdown in
//!   answers, colours in code, pages, redaction. Each leaves its dependencies out.
//! - `unstable`: the modules that the tools of unspool's repository use. They
//!   change with any release.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod construct;

pub mod answer;
pub mod event;
mod folder;
pub mod formatter;
mod frame;
mod front;
mod json;
#[cfg(feature = "html")]
pub mod page;
mod palette;
mod reader;
mod recent;
#[cfg(feature = "redact")]
pub mod redact;
pub mod sanitize;
pub mod session;
pub mod source;
pub mod stats;
mod terminal;
pub mod theme;
pub mod transcript;

// Public with the feature `unstable` alone.
#[cfg(feature = "unstable")]
pub mod doc;
#[cfg(not(feature = "unstable"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "used with `unstable`"
)]
mod doc;
#[cfg(feature = "unstable")]
pub mod layout;
#[cfg(not(feature = "unstable"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "used with `unstable`"
)]
mod layout;
#[cfg(feature = "unstable")]
pub mod output;
#[cfg(not(feature = "unstable"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "used with `unstable`"
)]
mod output;
#[cfg(feature = "unstable")]
pub mod patch;
#[cfg(not(feature = "unstable"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "used with `unstable`"
)]
mod patch;
#[cfg(feature = "unstable")]
pub mod timeline;
#[cfg(feature = "unstable")]
pub mod tool;
#[cfg(not(feature = "unstable"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "used with `unstable`"
)]
mod tool;

pub use event::Event;
pub use formatter::Formatter;
pub use frame::Frame;
#[cfg(feature = "html")]
pub use front::page;
pub use front::{events, text};
pub use json::{Json, Object};
pub use reader::{Reader, ReaderOptions, recognise};
pub use session::Session;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
