//! The interactive app of `unspool`: full-screen views in a terminal.
//!
//! It uses only the public API of the library and of `unspool-acp`, and knows
//! nothing about settings or the command line. [`picker`] chooses one row of a
//! list; [`browse`] shows a run; [`chat`] talks to agents; [`screen`] owns the
//! terminal meanwhile and always restores it.

pub mod browse;
pub mod chat;
mod convert;
pub mod dialog;
mod editor;
pub mod keys;
mod line_input;
mod matching;
pub mod notify;
mod overlay;
mod paint;
pub mod picker;
#[cfg(test)]
mod picture;
pub mod prompt;
pub mod screen;
pub mod spinner;
pub mod tabs;
pub mod transcript;
mod viewer;
