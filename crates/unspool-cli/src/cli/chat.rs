//! `unspool chat`, as it is typed.

use std::path::PathBuf;

use clap::Args;

use super::{Look, When};

/// Talk to an agent over the Agent Client Protocol
///
/// Starts the agent in the project folder and shows what it does as it happens.
/// It may read and write files only inside that folder, and nothing that it
/// asks for is allowed before you say so. Every conversation is kept and stands
/// in `unspool sessions`. Press F1 for all keys.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool chat claude                       talk to Claude Code in this folder
  unspool chat codex gemini                 two agents, each in a tab
  unspool chat gemini -- --model pro        more arguments for the agent
  unspool chat -- my-agent --acp            any command that speaks the protocol
  unspool chat --resume 4f2a9c              go on with a conversation
  unspool chat --resume 4f2a9c -- my-agent  with this command
  unspool chat --list                       the agents that are known

In the chat:
  Enter sends, Ctrl-J begins a line, / chooses one of the agent's commands, @ names
  a file, ! runs a command of your own, Esc Esc stops the agent, F1 tells the rest.

Agents, servers for tools (MCP) and rules for what may be allowed without asking
are set in the configuration file: see `unspool config --example`.

Exit status:
  0  you left
  2  wrong use, or the agent could not be started")]
pub(crate) struct Chat {
    /// Known agents, each in a tab
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,

    /// A command that speaks the protocol, or more arguments for the one agent
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,

    /// The project: where the agent works, and all that it may touch
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Go on with a conversation: its id, or the beginning of it
    ///
    /// With the agent that it was held with, unless one is named.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,

    /// Say this at once
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// Print the agents that are known, and how each is started
    #[arg(long)]
    pub(crate) list: bool,

    /// Print the commands instead of running them
    #[arg(long = "dry-run")]
    pub(crate) print_only: bool,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// The colours: dark, light, mono, or a theme of your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,
}

impl Chat {
    /// How it looks.
    pub(crate) fn look(&self) -> Look {
        Look::of_views(self.color, self.theme.clone())
    }
}
