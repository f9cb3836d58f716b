//! The interactive part of `unspool`: full-screen views on a terminal.
//!
//! It uses the library's public API alone, and knows nothing of settings or the
//! command line. [`picker`] lets a person choose one row of many; [`browse`]
//! shows a run; [`chat`] talks to agents through `unspool-acp`; [`screen`] owns the
//! terminal while something is shown, and always gives it back.

pub mod browse;
pub mod chat;
mod convert;
pub mod dialog;
mod editor;
pub mod keys;
mod line_input;
mod matching;
mod menu;
pub mod notify;
mod paint;
pub mod picker;
#[cfg(test)]
mod picture;
pub mod prompt;
pub mod screen;
mod sight;
pub mod spinner;
pub mod tabs;
pub mod transcript;
