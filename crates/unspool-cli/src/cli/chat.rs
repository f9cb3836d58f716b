//! The arguments of `unspool chat`.

use std::path::PathBuf;

use clap::Args;

use super::{Look, When};

/// Talk to an agent over the Agent Client Protocol
///
/// Starts the agent in the project folder and shows its work live. Through unspool
/// the agent can read and write files only inside that folder, and each permission
/// it asks for needs your approval. Conversations are saved and listed by
/// `unspool sessions`. Press F1 for all keys.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool chat claude                       talk to Claude Code in this folder
  unspool chat codex gemini                 two agents, each in its own tab
  unspool chat gemini -- --model pro        pass extra arguments to the agent
  unspool chat -- my-agent --acp            any command that speaks the protocol
  unspool chat --resume 4f2a9c              continue a conversation
  unspool chat --resume 4f2a9c -- my-agent  continue it with another agent command
  unspool chat --list                       list the known agents

In the chat:
  Enter sends, Ctrl-J inserts a newline, / picks one of the agent's commands, @ picks
  a file, ! runs a shell command, Esc Esc interrupts the agent, F1 lists all keys.

The configuration file sets up agents, MCP servers and rules that allow requests
without asking: see `unspool config --example`.

Exit status:
  0  you quit the chat
  2  usage error, or the agent could not be started")]
pub(crate) struct Chat {
    /// Known agents, each in its own tab
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,

    /// A command that speaks the protocol, or extra arguments for the one agent
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,

    /// The project folder: the agent works in it, and file access is limited to it
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Continue a conversation, given by its ID or an ID prefix
    ///
    /// Uses the agent of that conversation unless you name another.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,

    /// Send this prompt right away
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// List the known agents and the command that starts each
    #[arg(long)]
    pub(crate) list: bool,

    /// Print the commands instead of running them
    #[arg(long = "dry-run")]
    pub(crate) print_only: bool,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// Colour theme: dark, light, mono, or your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,
}

impl Chat {
    /// Returns the display options for the chat.
    pub(crate) fn look(&self) -> Look {
        Look::of_views(self.color, self.theme.clone())
    }
}
