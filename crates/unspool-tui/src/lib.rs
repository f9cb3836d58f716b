//! The interactive part of `unspool`: full-screen views on a terminal.
//!
//! It uses the library's public API alone, and knows nothing of files, settings
//! or the command line. [`picker`] lets a person choose one row of many;
//! [`browse`] shows a run, in a [`transcript`]; [`keys`] is the one table of what
//! keys do; [`screen`] owns the terminal while something is shown, and always
//! gives it back.

pub mod browse;
mod convert;
pub mod keys;
mod menu;
pub mod picker;
pub mod screen;
pub mod transcript;
