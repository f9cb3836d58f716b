//! Reads the output of any coding agent, live or saved, as one stream of
//! display events.
//!
//! [`Reader`] takes bytes in chunks of any size and gives [`Event`]s. It needs
//! no terminal, file, thread or async runtime:
//!
//! ```
//! use unspool::{Reader, event::Body};
//!
//! let mut reader = Reader::new();
//! reader.push(br#"{"kind":"text","seq":0,"text":"Hello","id":"m1"}"#);
//! reader.finish();
//! for event in reader.events() {
//!     if let Body::Text(message) = &event.body {
//!         assert_eq!(message.text, "Hello");
//!     }
//! }
//! ```
//!
//! The stages, each a module with an example, are `frame` (bytes → frames),
//! [`source`] (frames → events, one file per provider) and [`event`] (the
//! public format); then [`session`] (events → entries), [`doc`] (entries →
//! blocks), [`layout`] (blocks → lines at a width), [`theme`] (roles → colours)
//! and [`output`] (lines → text). [`transcript`] puts entries in display order,
//! [`timeline`] in order of their start, and [`redact`] removes secrets from
//! events. [`formatter`] (the mode `full`) and [`answer`] (the modes `text` and
//! `verbose`) combine the stages.

#[macro_use]
mod construct;

pub mod answer;
pub mod doc;
pub mod event;
pub mod formatter;
mod frame;
mod json;
pub mod layout;
pub mod output;
#[cfg(feature = "html")]
pub mod page;
mod palette;
pub mod patch;
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
pub mod timeline;
pub mod tool;
pub mod transcript;

pub use event::Event;
pub use formatter::Formatter;
pub use frame::Frame;
pub use json::{Json, Object};
pub use reader::{Reader, ReaderOptions, recognise};
