//! The command line, as it is typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use unspool::source::{self, Provider};

/// Shows people what a coding agent is doing.
///
/// Reads the output of any coding agent, live from a pipe or from a saved
/// session, and turns it into one stream of display events. The agent is
/// recognised by what it writes.
#[derive(Parser)]
#[command(name = "unspool", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Events(Events),
    Providers(Providers),
}

/// Print what happened as events, one JSON object a line
///
/// The format is the same for every agent and is documented in
/// docs/events.md. On a pipe, each event is printed as soon as it is known.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  claude -p \"fix the test\" --output-format stream-json --verbose | unspool events
  codex exec --json \"fix the test\" | unspool events | jq -r 'select(.kind==\"tool_use\").arg'
  unspool events ~/.codex/sessions/2026/11/15/rollout-*.jsonl.zst
  unspool events ~/.local/share/opencode/opencode.db

Exit status:
  0  everything was read
  2  wrong use, or an input could not be read (the others are read all the same)")]
pub(crate) struct Events {
    /// Files to read; `-` or none is standard input
    ///
    /// Files may be compressed with gzip or zstd. The files of sub-agents that
    /// an agent keeps beside a session are found and read with it.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Read the input as this provider's, instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = provider_names())]
    from: Option<String>,

    /// Add the source frame to each event, as `raw`
    #[arg(long)]
    pub(crate) with_raw: bool,

    /// Leave out frames (lines, bodies) longer than this many bytes
    ///
    /// Takes K, M and G. A frame that is left out becomes a notice.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = parse_size)]
    pub(crate) frame_limit: usize,
}

impl Events {
    pub(crate) fn from(&self) -> Option<Provider> {
        self.from.as_deref().and_then(source::provider)
    }
}

/// List the agents and formats that can be read
#[derive(Args)]
pub(crate) struct Providers {
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

fn provider_names() -> PossibleValuesParser {
    PossibleValuesParser::new(source::BUILTIN.iter().map(|provider| provider.name))
}

fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    digits
        .and_then(|digits| digits.parse::<usize>().ok())
        .and_then(|number| number.checked_mul(unit))
        .filter(|size| *size > 0)
        .ok_or_else(|| "expected a number of bytes such as 1048576, 64K, 256M or 1G".to_owned())
}
