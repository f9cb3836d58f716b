//! The arguments of `unspool show`.

use clap::Args;

use super::Show;
use super::select::Places;

/// Show a saved session, by its id or its file
///
/// The same as `unspool` without a subcommand, for those who know what they
/// look for. An id may be cut, as long as only one session begins like that.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool show 4f2a9c                  a session by the beginning of its id
  unspool show --latest                the session that was last worked on
  unspool show --latest codex          the last one of Codex
  unspool show 4f2a9c --in backup/     a session in another folder
  unspool show run.jsonl --lines all   a file

Exit status:
  0  the agent's run succeeded
  1  the agent's run failed or was cut off, or a part of it was left out
  2  wrong use, no such session, or one that could not be read")]
pub(crate) struct ShowNamed {
    /// The session of this agent, or of any, that was last worked on
    ///
    /// Its own times decide, and the file's where it tells none. `unspool sessions`
    /// lists by when sessions began.
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

    #[command(flatten)]
    pub(crate) places: Places,

    #[command(flatten)]
    pub(crate) show: Show,
}
