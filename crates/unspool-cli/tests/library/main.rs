//! The library of saved sessions, through the command line, on home directories
//! laid out from the corpus.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod cache;
mod faults;
mod figures;
mod forks;
mod fresh;
mod list;
mod places;
mod records;
mod search;
mod show;
mod world;
