//! What each subcommand does.

pub(crate) mod demo;
pub(crate) mod events;
pub(crate) mod providers;
pub(crate) mod show;
