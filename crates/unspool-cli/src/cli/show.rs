//! The arguments of `unspool show`.

use clap::Args;

use super::Show;
use super::select::Places;

/// Show a saved session, given by ID or file
///
/// The same as `unspool` without a subcommand, plus --latest and --in. An ID may be
/// shortened to any prefix that matches only one session.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool show 4f2a9c                  a session by an ID prefix
  unspool show --latest                the most recently active session
  unspool show --latest codex          the most recently active session of Codex
  unspool show 4f2a9c --in backup/     a session in another folder
  unspool show run.jsonl --lines all   a file

Exit status:
  0  the agent's run succeeded
  1  the agent's run failed or was cut off, or part of the input was skipped
  2  usage error, no such session, or it could not be read")]
pub(crate) struct ShowNamed {
    /// The most recently active session, of this agent or of any
    ///
    /// Ordered by the last timestamp in the session, or the file's modification time
    /// if it has none. `unspool sessions` orders by start time instead.
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

    #[command(flatten)]
    pub(crate) places: Places,

    #[command(flatten)]
    pub(crate) show: Show,
}
