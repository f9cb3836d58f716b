//! What each subcommand does.

pub(crate) mod demo;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod providers;
pub(crate) mod run;
pub(crate) mod show;
