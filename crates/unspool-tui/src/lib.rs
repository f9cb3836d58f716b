//! The interactive part of `unspool`: full-screen views on a terminal.
//!
//! It uses the library's public API alone, and knows nothing of files, settings
//! or the command line. [`picker`] lets a person choose one row of many;
//! [`screen`] owns the terminal while something is shown, and always gives it
//! back. [`prompt`], [`dialog`] and [`tabs`] are widgets: they take keys, say what
//! to do and paint themselves; [`notify`] calls a person who looks elsewhere.

mod buffer;
pub mod acp;
mod convert;
pub mod dialog;
mod field;
mod matching;
pub mod notify;
mod paint;
pub mod picker;
#[cfg(test)]
mod picture;
pub mod prompt;
pub mod screen;
pub mod tabs;
