//! The arguments of `unspool view`.

use std::path::PathBuf;

use clap::Args;

use super::select::Places;
use super::{Source, When};

/// Browse a run full-screen: scroll, fold, search, filter, copy
///
/// A full-screen `unspool show` in which everything can be unfolded. Growing files
/// and pipes are followed. Keys are like those of vi and less; press `?` for a list.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool view session.jsonl           a file, followed while it grows
  unspool view 4f2a9c                  a session by an ID prefix
  unspool view --latest                the most recently active session
  unspool view --latest codex          the most recently active session of Codex
  unspool view 4f2a9c --in backup/     a session in another folder
  unspool view 4f2a9c --search panicked   at the first match of a text
  codex exec --json \"…\" | unspool view   a running agent

Keys:
  j k ctrl-d ctrl-u g G   move; G follows the end as the run grows
  J K p P e E d D         next and previous entry, prompt, error, edit
  enter h l a z           toggle fold, show less, show more, expand all, fold all
  / n N f                 search, filter by kind
  y v w x                 copy, open in $EDITOR or $PAGER, export
  s t                     side-by-side changes, the plan
  ? : q                   all keys, command palette, quit

Exit status:
  0  quit with q
  2  usage error, no terminal, or nothing to read")]
pub(crate) struct View {
    /// A session file or ID prefix; standard input if omitted or `-`
    #[arg(value_name = "FILE|ID")]
    pub(crate) file: Option<PathBuf>,

    /// The most recently active session, of this agent or of any
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

    #[command(flatten)]
    pub(crate) places: Places,

    /// Start at the end and follow it as the run grows
    #[arg(long)]
    pub(crate) end: bool,

    /// Start at the first entry that contains this text, unfolded
    #[arg(long, value_name = "TEXT", conflicts_with = "end")]
    pub(crate) search: Option<String>,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// Colour theme: dark, light, mono, or your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    #[command(flatten)]
    pub(crate) source: Source,
}

impl View {
    /// Returns the arguments for a session picked from a list.
    pub(crate) fn of_list() -> Self {
        Self {
            file: None,
            latest: None,
            places: Places::default(),
            end: false,
            search: None,
            color: None,
            theme: None,
            source: Source::default(),
        }
    }
}
