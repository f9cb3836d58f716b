//! What each subcommand does.

pub(crate) mod events;
pub(crate) mod providers;
