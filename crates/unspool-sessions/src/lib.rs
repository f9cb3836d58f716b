//! The saved sessions of coding agents: where they are, how they are opened, what
//! they amount to.
//!
//! A [`Library`](library::Library) lists the sessions in some
//! [`Places`](places::Places). Nothing is printed and no setting is read: errors and
//! progress are values, and the environment is passed in.
//!
//! ```no_run
//! use unspool_sessions::agents::{Agents, Environment};
//! use unspool_sessions::library::Library;
//! use unspool_sessions::places::Places;
//!
//! let agents = Agents::new(unspool::source::BUILTIN);
//! let mut library = Library::new(Places {
//!     known: agents,
//!     agents: agents.with_sessions().collect(),
//!     environment: Environment {
//!         home: std::env::home_dir().unwrap_or_default(),
//!         current: std::env::current_dir()?,
//!         variable: |name| std::env::var_os(name).map(Into::into),
//!     },
//!     folders: Vec::new(),
//!     records: None,
//!     cache: None,
//! });
//! library.refresh(&mut |progress| eprint!("\r{} of {}", progress.done, progress.total));
//! for row in library.rows() {
//!     println!("{}  {}", row.digest.id, row.digest.heading());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod agents;
pub mod copies;
pub mod digest;
pub mod driver;
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
