//! Arguments that select sessions, shared by `sessions`, `stats` and others.

use std::path::PathBuf;

use clap::Args;
use unspool_sessions::select::Selection;

use crate::agents;

use super::{completion, parse_time};

/// Sessions selected by name and by criteria.
#[derive(Args, Default)]
pub(crate) struct Select {
    /// Session ID prefixes or files
    #[arg(value_name = "ID|FILE")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Criteria for sessions.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Session filters")]
pub(crate) struct Which {
    #[arg(long, help = agents::session_names(), value_name = "NAME,…", value_delimiter = ',', value_parser = completion::agent(), hide_possible_values = true)]
    pub(crate) agent: Vec<String>,

    /// Only sessions in this folder or below it, or whose folder's path contains
    /// this word
    #[arg(long, value_name = "PATH|WORD")]
    pub(crate) project: Option<String>,

    /// Only activity at or after this time
    ///
    /// A date, an RFC 3339 time, a time of day (`19:00`, the most recent one), a day
    /// (`today`, `yesterday`, `monday`), or a duration ago (`2h`, `"3 days ago"`).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Only activity before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<jiff::Timestamp>,

    /// Only sessions that failed or were cut off
    #[arg(long)]
    pub(crate) failed: bool,

    #[command(flatten)]
    pub(crate) places: Places,
}

/// Folders to search for sessions, in addition to the agents' own.
#[derive(Args, Clone, Default)]
pub(crate) struct Places {
    /// Also search this folder for sessions of any agent
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

    /// Adds the arguments that were given before the subcommand.
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
