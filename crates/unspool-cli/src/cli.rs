//! The command-line arguments, parsed with clap.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use unspool::ReaderOptions;
use unspool::source::Provider;

use crate::agents;

mod look;

pub(crate) use look::{
    Display, FailedShown, Lines, Links, Look, ReasoningShown, When, parse_lines,
};

mod completion;
pub(crate) mod select;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod view;

mod chat;

pub(crate) use chat::Chat;

mod export;
mod time;

pub(crate) use export::{Export, Format, Scheme};
pub(crate) use time::parse_time;

/// Shows what a coding agent is doing.
///
/// Reads the output of a coding agent, live from a pipe or from a saved session,
/// and makes it readable. The agent is detected from its output. On a terminal, without
/// a file or a pipe, opens the list of saved sessions.
#[derive(Parser)]
#[command(name = "unspool", version, args_conflicts_with_subcommands = true)]
#[command(after_long_help = "\
Examples:
  unspool demo                                     play a recorded run
  claude -p \"…\" --output-format stream-json --verbose | unspool
  codex exec --json \"…\" | unspool --display text   only the answer
  unspool session.jsonl --lines all                a saved session with all output
  unspool session.jsonl --only tool --tool Bash    only the commands it ran
  unspool                                          on a terminal: pick from the saved sessions
  unspool view session.jsonl                       browse a session: scroll, fold, search
  unspool 4f2a9c                                   show a saved session by an ID prefix
  unspool chat claude                              talk to an agent

Exit status:
  0  the agent's run succeeded
  1  the agent's run failed or was cut off, or part of the input was skipped
  2  usage error, or an input could not be read (the other inputs are still shown)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) show: Show,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Chat(Chat),
    Config(Config),
    Demo(Demo),
    Events(Events),
    Export(Export),
    Follow(Follow),
    #[command(subcommand)]
    Generate(Generate),
    Providers(Providers),
    Run(Run),
    Sessions(sessions::Sessions),
    Show(show::ShowNamed),
    Stats(stats::Stats),
    View(view::View),
    #[command(hide = true, name = Supervise::NAME)]
    Supervise(Supervise),
}

/// Returns the subcommand most similar to a mistyped word. Up to a third of its
/// letters may be wrong. `parent` is the command to search in, or none for the
/// top level.
pub(crate) fn similar_subcommand(word: &str, parent: Option<&str>) -> Option<String> {
    let root = Cli::command();
    let command = match parent {
        Some(name) => root.find_subcommand(name)?,
        None => &root,
    };
    let names = command.get_subcommands().filter(|name| !name.is_hide_set());
    names
        .map(|name| (strsim::osa_distance(word, name.get_name()), name.get_name()))
        .filter(|(distance, name)| distance * 3 <= name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

/// Run a command that ends with its parent process, or a watchdog for a process group
#[derive(Args)]
pub(crate) struct Supervise {
    /// The parent process; without a command, the process group to end when standard
    /// input closes
    pub(crate) process: i32,

    /// Prefix of the terminal tags whose processes end with the group
    #[arg(long)]
    pub(crate) tag_prefix: Option<String>,

    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

impl Supervise {
    /// Contains slashes, so that it is neither a likely typo nor a file name.
    pub(crate) const NAME: &str = "//supervise";
    pub(crate) const TAG_PREFIX: &str = "--tag-prefix";
}

/// Play a built-in recorded run
#[derive(Args)]
pub(crate) struct Demo {
    /// Playback speed: a factor, or `max` for no pauses [default: 0.4 on a terminal]
    #[arg(long, value_name = "N", value_parser = parse_speed)]
    pub(crate) speed: Option<Speed>,

    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
pub(crate) struct Show {
    /// Files or session ID prefixes to show; standard input if omitted or `-`
    #[arg(value_name = "FILE|ID")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) look: Look,

    #[command(flatten)]
    pub(crate) filter: Filter,

    /// Replay the recording at its original speed, with long pauses shortened
    #[arg(long)]
    pub(crate) replay: bool,

    /// Replay speed: a factor, or `max` for no pauses
    #[arg(long, value_name = "N", requires = "replay", value_parser = parse_speed)]
    pub(crate) speed: Option<Speed>,
}

/// Options for reading the input.
#[derive(Args)]
pub(crate) struct Source {
    /// Read the input in this format instead of detecting it
    #[arg(long, value_name = "NAME", value_parser = provider_names())]
    from: Option<String>,

    /// Skip frames (lines or response bodies) longer than this many bytes
    ///
    /// Accepts the suffixes K, M and G. A skipped frame causes a warning and exit
    /// status 1.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = parse_size, hide_short_help = true)]
    frame_limit: usize,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            from: None,
            frame_limit: ReaderOptions::default().frame_limit,
        }
    }
}

impl Source {
    pub(crate) fn from(&self) -> Option<Provider> {
        let name = self.from.as_deref()?;
        agents::known().get(name)
    }

    /// Returns the reader options for these arguments.
    pub(crate) fn reader_options(&self, with_raw: bool) -> ReaderOptions {
        agents::known()
            .reader_options()
            .with_from(self.from())
            .with_frame_limit(self.frame_limit)
            .with_raw(with_raw)
    }
}

/// Filters for the entries of the display `full`.
#[derive(Args, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filter {
    /// Show only entries of these kinds (user, text, reasoning, tool, plan, edit, notice, …)
    ///
    /// `edit` matches every file change, including those made by tool calls.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) only: Vec<EntryKind>,

    /// Hide entries of these kinds
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) hide: Vec<EntryKind>,

    /// Show only calls of this tool, given by name or category
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,

    /// Show only entries that match this regular expression
    #[arg(long, value_name = "RE")]
    pub(crate) grep: Option<regex::Regex>,

    /// Show only entries at or after this time
    ///
    /// A date, an RFC 3339 time, a time of day (`19:00`, the most recent one), a day
    /// (`today`, `yesterday`, `monday`), or a duration ago (`2h`, `"3 days ago"`).
    /// Entries without a timestamp are always shown.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Show only entries before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<jiff::Timestamp>,

    /// Show only errors
    #[arg(long)]
    pub(crate) errors: bool,
}

/// An entry kind that filters can name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EntryKind {
    Session,
    User,
    Text,
    Reasoning,
    Tool,
    Plan,
    Edit,
    Permission,
    Prompt,
    Context,
    Notice,
    Usage,
    Unknown,
}

/// Show a session and keep following it as it grows
///
/// Without a file, or with --latest, follows the most recently active session.
/// Press Ctrl-C to stop.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool follow                       the most recently active session of any agent
  unspool follow --latest codex        the most recently active session of Codex
  unspool follow run.jsonl             a file, even if it does not exist yet
  unspool follow ~/.claude/projects    the most recently written file in a folder
  unspool follow 4f2a9c                a session by an ID prefix
  unspool follow 4f2a9c --in backup/   a session in another folder

Exit status:
  0  stopped with Ctrl-C
  2  usage error, or nothing to follow")]
pub(crate) struct Follow {
    /// A session file, a folder (its most recently written session is followed), or
    /// a session ID prefix
    #[arg(value_name = "FILE|DIR|ID")]
    pub(crate) path: Option<PathBuf>,

    /// The most recently active session, of this agent or of any
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

    #[command(flatten)]
    pub(crate) places: select::Places,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) look: Look,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

/// Start an agent and show what it does
///
/// Give the name of a known agent and a prompt: the flags that make the agent
/// stream its output are added, and arguments after the prompt are passed to the
/// agent. Put any other command after `--`. The first Ctrl-C interrupts the agent,
/// the second asks it to terminate, the third kills it. The agent cannot read from
/// the terminal.
#[derive(Args)]
#[command(after_long_help = run_help())]
pub(crate) struct Run {
    /// A known agent, a prompt, and extra arguments for the agent
    #[arg(value_name = "AGENT PROMPT [ARG…]", allow_hyphen_values = true)]
    pub(crate) agent: Vec<String>,

    /// Any command to run instead of a known agent
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,

    /// Also save the raw output of the agent to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Let --save overwrite an existing file
    #[arg(long, requires = "save", conflicts_with = "append")]
    pub(crate) force: bool,

    /// Let --save append to an existing file
    #[arg(long, requires = "save")]
    pub(crate) append: bool,

    /// Print the command instead of running it
    #[arg(long = "dry-run")]
    pub(crate) print_only: bool,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) look: Look,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

/// Print a run as events, one JSON object per line
///
/// The format is the same for every agent and is documented in
/// docs/events.md. Events from a pipe are printed as they arrive.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  claude -p \"fix the test\" --output-format stream-json --verbose | unspool events
  codex exec --json \"fix the test\" | unspool events | jq -r 'select(.kind==\"tool_use\").arg'
  unspool events ~/.codex/sessions/2026/11/15/rollout-*.jsonl.zst
  unspool events ~/.local/share/opencode/opencode.db
  unspool events 4f2a9c                  a saved session by an ID prefix

Exit status:
  0  everything was read
  1  a frame longer than --frame-limit was skipped
  2  usage error, or an input could not be read (the other inputs are still read)")]
pub(crate) struct Events {
    /// Files or session ID prefixes; standard input if omitted or `-`
    ///
    /// Files may be compressed with gzip or zstd. Sub-agent files that an agent
    /// keeps next to a session are read along with it.
    #[arg(value_name = "FILE|ID")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) places: select::Places,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Include the source frame in each event, as `raw`
    #[arg(long)]
    pub(crate) with_raw: bool,

    /// Include the content of pictures, sounds and files, as base64 in `data`
    #[arg(long)]
    pub(crate) with_media: bool,
}

/// Print the current settings and where each comes from
///
/// Command-line options take precedence, then `UNSPOOL_…` environment variables,
/// then the configuration file, then general variables such as `NO_COLOR`, `COLUMNS`
/// and `PAGER`. The configuration file is config.toml in unspool's configuration
/// folder (~/.config/unspool), or the file given by `UNSPOOL_CONFIG`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool config                       the current settings
  mkdir -p ~/.config/unspool && unspool config --example > \"$(unspool config --path)\"
                                       create a configuration file")]
pub(crate) struct Config {
    /// Print the path of the configuration file, even if it does not exist
    #[arg(long)]
    pub(crate) path: bool,

    /// Print an example configuration file with every setting commented out
    #[arg(long, conflicts_with = "path")]
    pub(crate) example: bool,

    #[command(flatten)]
    pub(crate) look: Look,
}

/// Generate shell completions or man pages
#[derive(Subcommand)]
#[command(after_long_help = "\
Examples:
  unspool generate completions bash > ~/.local/share/bash-completion/completions/unspool
  unspool generate completions zsh > ~/.zfunc/_unspool
  unspool generate completions fish > ~/.config/fish/completions/unspool.fish
  unspool generate completions powershell >> $PROFILE
  unspool generate man ~/.local/share/man/man1")]
pub(crate) enum Generate {
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write a man page for each command
    Man {
        /// The folder to write the pages to
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// List the supported agents and formats
#[derive(Args)]
pub(crate) struct Providers {
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the agents as a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

fn provider_names() -> PossibleValuesParser {
    PossibleValuesParser::new(agents::known().providers().iter().map(|agent| agent.name))
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

/// The speed of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Speed {
    /// A multiple of the original speed.
    Times(f64),
    /// No pauses.
    Max,
}

fn parse_speed(text: &str) -> Result<Speed, String> {
    match text {
        "max" => Ok(Speed::Max),
        number => number
            .parse()
            .ok()
            .filter(|times: &f64| (0.01..=1000.0).contains(times))
            .map(Speed::Times)
            .ok_or_else(|| "expected a number from 0.01 to 1000, or `max`".to_owned()),
    }
}

fn run_help() -> String {
    format!(
        "\
Examples:
  unspool run claude \"fix the failing test\"
  unspool run codex \"fix the failing test\" --model gpt-5
  unspool run --save run.jsonl -- claude -p \"…\" --output-format stream-json --verbose
  unspool run --dry-run gemini \"explain this repository\"

Agents: {}

Exit status:
  the agent's own; 128 plus the signal number if a signal killed it;
  126 or 127 if it could not be started;
  2 for a usage error, or if the agent succeeded but --save failed",
        agents::headless_names()
    )
}
