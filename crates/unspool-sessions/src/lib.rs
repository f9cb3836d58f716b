//! The saved sessions of coding agents: where they are, how they are opened, what
//! they amount to.
//!
//! A [`Library`](library::Library) lists the sessions in some
//! [`Places`](places::Places). Nothing is printed and no setting is read: errors and
//! progress are values, and the environment is passed in.

pub mod agents;
pub mod copies;
pub mod digest;
pub mod error;
pub mod index;
pub mod input;
pub mod ledger;
pub mod library;
pub mod open;
pub mod places;
pub mod progress;
pub mod resolve;
pub mod row;
pub mod search;
pub mod select;
pub mod tally;

mod beside;
mod compression;
mod containers;
mod related;
mod store;
mod sub_agents;
