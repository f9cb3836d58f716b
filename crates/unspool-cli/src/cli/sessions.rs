//! The arguments of `unspool sessions`.

use clap::Args;

use super::When;
use super::select::Select;

/// List the saved sessions of all agents on this machine
///
/// The newest come first. Sessions are found where each agent keeps them
/// (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME`, `QWEN_HOME`,
/// `XDG_DATA_HOME` and the like are honoured); those of sub-agents belong to the
/// session that started them. Nothing is ever written beside them. What was
/// read is kept in unspool's cache folder, so that only what changed is read
/// again.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool sessions                               all of them
  unspool sessions --agent codex --since 2d      those of Codex, of the last two days
  unspool sessions --project . --failed          what went wrong in this project
  unspool sessions --in backup/ --json | jq -r .title
  unspool show 4f2a9c                            one of them, by the beginning of its id

What cannot be read is named on standard error, and the others are listed.

Exit status:
  0  the list is complete, or as complete as can be
  2  wrong use, or nothing could be read")]
pub(crate) struct Sessions {
    #[command(flatten)]
    pub(crate) select: Select,

    /// Print JSON, one object a line (docs/sessions.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Say what was read, and what was kept from before
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) paint: Paint,
}

/// How a list is written.
#[derive(Args)]
#[command(next_help_heading = "Display")]
pub(crate) struct Paint {
    /// Fit into this many columns; 0 is any number [default: the terminal's, any number into a pipe]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// The colours: dark, light, mono, or a theme of your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,
}
