//! Which sessions are meant: the arguments that `sessions`, `stats` and others
//! share.

use std::path::PathBuf;

use clap::Args;
use unspool_sessions::select::Selection;

use crate::agents;

use super::{completion, parse_time};

/// Which sessions, also by their names.
#[derive(Args, Default)]
pub(crate) struct Select {
    /// Sessions by their ids, or the beginnings of them, or by their files
    #[arg(value_name = "ID|FILE")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Which sessions.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Which sessions")]
pub(crate) struct Which {
    #[arg(long, help = agents::session_names(), value_name = "NAME,…", value_delimiter = ',', value_parser = completion::agent(), hide_possible_values = true)]
    pub(crate) agent: Vec<String>,

    /// Only those that worked in this folder or below it, or whose folder's
    /// path has this word
    #[arg(long, value_name = "PATH|WORD")]
    pub(crate) project: Option<String>,

    /// Only what happened at or after this time
    ///
    /// A date, a time (RFC 3339), a time of day (`19:00`, the last time it was),
    /// a day (`today`, `yesterday`, `monday`), or a while ago: `2h`,
    /// `"3 days ago"`.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Only what happened before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<jiff::Timestamp>,

    /// Only sessions that failed or were cut off
    #[arg(long)]
    pub(crate) failed: bool,

    #[command(flatten)]
    pub(crate) places: Places,
}

/// Where sessions are looked for, besides the places of the agents.
#[derive(Args, Clone, Default)]
pub(crate) struct Places {
    /// Look into this folder too, for sessions of any agent
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
}

impl Select {
    /// Returns the criteria that were typed.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            names: self.names.clone(),
            ..self.which.selection()
        }
    }
}

impl Which {
    /// Returns the criteria that were typed.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            agents: self.agent.clone(),
            project: self.project.clone(),
            since: self.since,
            until: self.until,
            failed: self.failed,
            names: Vec::new(),
        }
    }

    /// What was typed here, and what was typed before the subcommand.
    pub(crate) fn with(&self, before: &Self) -> Self {
        let mut both = self.clone();
        both.agent.extend_from_slice(&before.agent);
        let folders = &before.places.folders;
        both.places.folders.extend_from_slice(folders);
        both.project = both.project.or_else(|| before.project.clone());
        both.since = both.since.or(before.since);
        both.until = both.until.or(before.until);
        both.failed |= before.failed;
        both
    }
}
