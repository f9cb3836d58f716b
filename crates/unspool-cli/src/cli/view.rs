//! The arguments of `unspool view`.

use std::path::PathBuf;

use clap::Args;

use super::select::Places;
use super::{Source, When};

/// Browse a run: scroll, fold, search, filter, copy
///
/// Shows what `unspool show` does on the whole screen, where everything can be
/// unfolded. A file that still grows is followed, and so is a pipe. The keys are
/// those of vi and less; `?` shows them all.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool view session.jsonl           a file, also while it grows
  unspool view 4f2a9c                  a session by the beginning of its id
  unspool view --latest                the session that was last worked on
  unspool view --latest codex          the last one of Codex
  unspool view 4f2a9c --in backup/     a session in another folder
  codex exec --json \"…\" | unspool view   an agent that works

Keys:
  j k ctrl-d ctrl-u g G   move; G stays at the end while the run grows
  J K p P e E d D         next and previous entry, prompt, error, edit
  enter h l a z           unfold, less, more, expand all, fold all
  / n N f                 search, filter by kind
  y v w x                 copy, open in $EDITOR or $PAGER, export
  s t                     changes side by side, the plan
  ? : q                   all keys, commands by name, leave

Exit status:
  0  left with q
  2  wrong use, no terminal, or nothing to read")]
pub(crate) struct View {
    /// A session by its file or the beginning of its id; `-` or none is standard
    /// input
    #[arg(value_name = "FILE|ID")]
    pub(crate) file: Option<PathBuf>,

    /// The session that was last worked on with this agent, or with any
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

    #[command(flatten)]
    pub(crate) places: Places,

    /// Begin at the end, and stay there while the run grows
    #[arg(long)]
    pub(crate) end: bool,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// The colours: dark, light, mono, or a theme of your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    #[command(flatten)]
    pub(crate) source: Source,
}

impl View {
    /// What is meant when a session is chosen from a list.
    pub(crate) fn of_list() -> Self {
        Self {
            file: None,
            latest: None,
            places: Places::default(),
            end: false,
            color: None,
            theme: None,
            source: Source::default(),
        }
    }
}
