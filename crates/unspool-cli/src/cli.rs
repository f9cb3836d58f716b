//! The command line, as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use unspool::ReaderOptions;
use unspool::source::Provider;

use crate::agents;

mod look;

pub(crate) use look::{Display, Lines, Links, Look, ReasoningShown, When, parse_lines};

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

/// Shows people what a coding agent is doing.
///
/// Reads the output of any coding agent, live from a pipe or from a saved
/// session, and shows it. The agent is recognised by what it writes.
#[derive(Parser)]
#[command(name = "unspool", version, args_conflicts_with_subcommands = true)]
#[command(after_long_help = "\
Examples:
  unspool demo                                     a recorded run, to see what it looks like
  claude -p \"…\" --output-format stream-json --verbose | unspool
  codex exec --json \"…\" | unspool --display text   the answer alone
  unspool session.jsonl --lines all                a saved session with all output
  unspool session.jsonl --only tool --tool Bash    the commands that it ran
  unspool sessions                                 the saved sessions of all agents
  unspool view session.jsonl                       one of them, to fold, search and scroll in
  unspool 4f2a9c                                   one of them, by the beginning of its id
  unspool chat claude                              talk to an agent, in a terminal of its own

Exit status:
  0  the agent's run succeeded
  1  the agent's run failed or was cut off, or a part of it was left out
  2  wrong use, or an input could not be read (the others are shown all the same)")]
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

/// The subcommand that a word is close to: one letter in three may be wrong.
/// `above` is the command that it would belong to, if it is not ours.
pub(crate) fn meant(word: &str, above: Option<&str>) -> Option<String> {
    let ours = Cli::command();
    let command = match above {
        Some(name) => ours.find_subcommand(name)?,
        None => &ours,
    };
    let names = command.get_subcommands().filter(|name| !name.is_hide_set());
    names
        .map(|name| (strsim::osa_distance(word, name.get_name()), name.get_name()))
        .filter(|(wrong, name)| wrong * 3 <= name.len())
        .min_by_key(|(wrong, _)| *wrong)
        .map(|(_, name)| name.to_owned())
}

/// Become a command that ends with its parent, or the watchdog of a process group
#[derive(Args)]
pub(crate) struct Supervise {
    /// The parent; without a command, the process group to end when standard input
    /// ends
    pub(crate) process: i32,

    /// The prefix of the tags of terminals whose processes end with the group
    #[arg(long)]
    pub(crate) tag_prefix: Option<String>,

    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

impl Supervise {
    /// Neither a likely typo nor the name of a file.
    pub(crate) const NAME: &str = "//supervise";
    pub(crate) const TAG_PREFIX: &str = "--tag-prefix";
}

/// Play a recorded run that is built in
#[derive(Args)]
pub(crate) struct Demo {
    /// How fast it is played: a number, or `max` [default: 0.4 on a terminal]
    #[arg(long, value_name = "N", value_parser = parse_speed)]
    pub(crate) speed: Option<Speed>,

    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
pub(crate) struct Show {
    /// Files to show, or sessions by the beginnings of their ids; `-` or none is
    /// standard input
    #[arg(value_name = "FILE|ID")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) look: Look,

    #[command(flatten)]
    pub(crate) filter: Filter,

    /// Play the recording in its own time; long pauses are shortened
    #[arg(long)]
    pub(crate) replay: bool,

    /// How fast a recording is played: a number, or `max`
    #[arg(long, value_name = "N", requires = "replay", value_parser = parse_speed)]
    pub(crate) speed: Option<Speed>,
}

/// How the input is read.
#[derive(Args)]
pub(crate) struct Source {
    /// Read the input as this provider's, instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = provider_names())]
    from: Option<String>,

    /// Leave out frames (lines, bodies) longer than this many bytes
    ///
    /// Takes K, M and G. A frame that is left out becomes a warning, and the exit
    /// status is 1.
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

    /// The reader that these settings ask for.
    pub(crate) fn reader_options(&self, with_raw: bool) -> ReaderOptions {
        agents::known()
            .reader_options()
            .with_from(self.from())
            .with_frame_limit(self.frame_limit)
            .with_raw(with_raw)
    }
}

/// Which entries of the display `full` are shown.
#[derive(Args, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filter {
    /// Show only these kinds (user, text, reasoning, tool, plan, edit, notice …)
    ///
    /// `edit` is every change of a file, also those that are calls.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) only: Vec<EntryKind>,

    /// Hide these kinds
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) hide: Vec<EntryKind>,

    /// Show only calls of this tool, by its name or its category
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,

    /// Show only entries in which this regular expression matches
    #[arg(long, value_name = "RE")]
    pub(crate) grep: Option<regex::Regex>,

    /// Show only what happened at or after this time
    ///
    /// A date, a time (RFC 3339), a time of day (`19:00`, the last one), a day
    /// (`today`, `yesterday`, `monday`), or a while ago: `2h`, `"3 days ago"`.
    /// Streams of some agents tell no times: nothing is left out of them.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Show only what happened before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<jiff::Timestamp>,

    /// Show only what went wrong
    #[arg(long)]
    pub(crate) errors: bool,
}

/// The kinds of entries, for filters.
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

/// Show a session file and go on as it grows
///
/// Without a file, or with --latest, the session that was last worked on is
/// found by itself. Ctrl-C ends it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool follow                       the session that was last worked on, of any agent
  unspool follow --latest codex        the one that was last worked on with Codex
  unspool follow run.jsonl             a file, also one that does not exist yet
  unspool follow ~/.claude/projects    the file below a folder that was last written to
  unspool follow 4f2a9c                a session by the beginning of its id
  unspool follow 4f2a9c --in backup/   the same, in another folder

Exit status:
  0  ended with Ctrl-C
  2  wrong use, or nothing to follow")]
pub(crate) struct Follow {
    /// A session file, a folder whose last written session is shown, or the beginning
    /// of a session's id
    #[arg(value_name = "FILE|DIR|ID")]
    pub(crate) path: Option<PathBuf>,

    /// The session that was last worked on with this agent, or with any
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
/// The name of a known agent and a prompt add the flags that make it stream;
/// arguments behind the prompt are passed on. Any other command goes behind
/// `--`. The first Ctrl-C is passed on to the agent, the second asks it to end,
/// the third ends it. It gets no input from the terminal.
#[derive(Args)]
#[command(after_long_help = run_help())]
pub(crate) struct Run {
    /// A known agent, a prompt, and more arguments for the agent
    #[arg(value_name = "AGENT PROMPT [ARG…]", allow_hyphen_values = true)]
    pub(crate) agent: Vec<String>,

    /// Any command
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,

    /// Write each byte of its output to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Let --save write over a file that exists
    #[arg(long, requires = "save", conflicts_with = "append")]
    pub(crate) force: bool,

    /// Let --save add to a file that exists
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
  unspool events 4f2a9c                  a saved session, by the beginning of its id

Exit status:
  0  everything was read
  1  a frame over --frame-limit was left out
  2  wrong use, or an input could not be read (the others are read all the same)")]
pub(crate) struct Events {
    /// Files, or ids of saved sessions; `-` or none is standard input
    ///
    /// Files may be compressed with gzip or zstd. The files of sub-agents that
    /// an agent keeps beside a session are found and read with it.
    #[arg(value_name = "FILE|ID")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) places: select::Places,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Add the source frame to each event, as `raw`
    #[arg(long)]
    pub(crate) with_raw: bool,
}

/// Print the settings that are in force, and where each comes from
///
/// What is typed on the command line is strongest, then variables of unspool's
/// own (`UNSPOOL_…`), then the configuration file, then `NO_COLOR`, `COLUMNS`,
/// `PAGER` and their like. The file is config.toml in unspool's configuration folder
/// (~/.config/unspool), or the file that `UNSPOOL_CONFIG` names.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool config                       what is in force, and why
  mkdir -p ~/.config/unspool && unspool config --example > \"$(unspool config --path)\"
                                       begin a configuration file")]
pub(crate) struct Config {
    /// Print where the configuration file is, or would be
    #[arg(long)]
    pub(crate) path: bool,

    /// Print a configuration file with every setting as a comment
    #[arg(long, conflicts_with = "path")]
    pub(crate) example: bool,

    #[command(flatten)]
    pub(crate) look: Look,
}

/// Write completions for a shell, or the manual pages
#[derive(Subcommand)]
#[command(after_long_help = "\
Examples:
  unspool generate completions bash > ~/.local/share/bash-completion/completions/unspool
  unspool generate completions zsh > ~/.zfunc/_unspool
  unspool generate completions fish > ~/.config/fish/completions/unspool.fish
  unspool generate completions powershell >> $PROFILE
  unspool generate man ~/.local/share/man/man1")]
pub(crate) enum Generate {
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command
    Man {
        /// The folder that the pages are written to
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// List the agents and formats that can be read
#[derive(Args)]
pub(crate) struct Providers {
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the agents as a table in Markdown
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
  the agent's own; 128 and the signal's number if a signal ended it;
  126 or 127 if it could not be started;
  2 for wrong use, or if the agent succeeded but --save failed",
        agents::headless_names()
    )
}
