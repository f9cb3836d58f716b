//! The subcommands.

pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod generate;
mod pick;
pub(crate) mod providers;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod view;
mod welcome;
