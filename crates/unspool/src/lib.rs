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
//! The stages, each in its own module, are `frame` (bytes → frames), [`source`]
//! (frames → events, one file per provider) and [`event`] (the public format).

pub mod event;
mod frame;
mod json;
pub mod patch;
mod reader;
pub mod source;
pub mod tool;

pub use event::Event;
pub use frame::Frame;
pub use json::{Json, Object};
pub use reader::{Reader, ReaderOptions, recognise};
