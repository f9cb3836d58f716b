//! The interactive app of `unspool`: browses runs and talks to agents. It uses
//! the library's public API alone.

pub use unspool::Event;
