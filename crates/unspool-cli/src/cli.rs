//! The command line, as it is typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use unspool::ReaderOptions;
use unspool::source::{self, Provider};
use unspool::theme::Rgb;

use crate::playback::Speed;
use crate::themes::parse_colour;

mod export;

pub(crate) use export::{Export, Format, Scheme};

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

Exit status:
  0  the agent's run succeeded
  1  the agent's run failed or was cut off
  2  wrong use, or an input could not be read (the others are shown all the same)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) show: Show,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Events(Events),
    Export(Export),
    Follow(Follow),
    Providers(Providers),
    Run(Run),
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
    /// Files to show; `-` or none is standard input
    #[arg(value_name = "FILE")]
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
    /// Takes K, M and G. A frame that is left out becomes a notice.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = parse_size, hide_short_help = true)]
    frame_limit: usize,
}

impl Source {
    pub(crate) fn from(&self) -> Option<Provider> {
        self.from.as_deref().and_then(source::provider)
    }

    /// The reader that these settings ask for.
    pub(crate) fn reader_options(&self, with_raw: bool) -> ReaderOptions {
        ReaderOptions {
            from: self.from(),
            frame_limit: self.frame_limit,
            with_raw,
            ..ReaderOptions::default()
        }
    }
}

/// How it is shown.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct Look {
    /// What is shown: the answer, the answer and the calls, or everything
    #[arg(long, value_name = "MODE", default_value = "full")]
    pub(crate) display: Display,

    /// Pass the input on untouched
    #[arg(long)]
    pub(crate) raw: bool,

    /// Lay out for this many columns; up to 30 nothing is wrapped [default: the terminal's]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,

    /// The colours: dark, light, mono, or a theme of your own [default: as the terminal's background is]
    ///
    /// NAME is themes/NAME.toml in unspool's configuration folder
    /// (~/.config/unspool). It may set foreground, background, accent, colorful,
    /// green and red, and in the table `code` comment, keyword, string, number,
    /// type, function, constant, tag, attribute and operator, each as "#RRGGBB".
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    /// The terminal's text colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) fg: Option<Rgb>,

    /// The terminal's background colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) bg: Option<Rgb>,

    /// Lines of output that are shown below a call: a number or `all`
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_lines)]
    pub(crate) lines: Lines,

    /// What is shown of the model's thinking
    #[arg(long, value_name = "WHAT", default_value = "title")]
    pub(crate) reasoning: ReasoningShown,

    /// Do not show tokens and cost
    #[arg(long)]
    pub(crate) no_usage: bool,

    /// Show when each thing happened
    #[arg(long)]
    pub(crate) timestamps: bool,

    /// How links are shown
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) links: Links,

    /// Nothing but the words: no hard wraps, margins or bullets
    #[arg(long)]
    pub(crate) copy_clean: bool,

    /// Do not print the summary at the end of a run
    #[arg(long)]
    pub(crate) no_summary: bool,
}

/// Which entries are shown.
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
    /// A date, a time (RFC 3339), or a while ago: `2h`, `3 days ago`.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<jiff::Timestamp>,

    /// Show only what happened before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<jiff::Timestamp>,

    /// Show only what went wrong
    #[arg(long)]
    pub(crate) errors: bool,
}

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Display {
    /// The answer alone, as it came
    Text,
    /// The answer, and a line for each tool call
    Verbose,
    /// Everything, laid out for people
    Full,
}

/// When to do something.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    Always,
    Never,
}

/// What is shown of the model's thinking.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasoningShown {
    /// Its title, where it has one
    Title,
    /// All of it
    Full,
    /// Nothing
    Off,
}

/// How links are shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// As the terminal can
    Auto,
    /// Behind their text (OSC 8)
    Osc8,
    /// As `text (address)`
    Text,
}

/// Lines that are shown; `None` is all.
#[derive(Clone, Copy)]
pub(crate) struct Lines(pub(crate) Option<usize>);

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
/// Without a file, or with --latest, the session that was last written to is
/// found by itself. Ctrl-C ends it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool follow                       the newest session of any agent on this machine
  unspool follow --latest codex        the newest session of Codex
  unspool follow run.jsonl             a file, also one that does not exist yet
  unspool follow ~/.claude/projects    the newest session below a folder

Exit status:
  0  ended with Ctrl-C
  2  wrong use, or nothing to follow")]
pub(crate) struct Follow {
    /// A session file, or a folder whose newest session is shown
    #[arg(value_name = "FILE|DIR")]
    pub(crate) path: Option<PathBuf>,

    /// The newest session of this agent, or of any
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
    pub(crate) latest: Option<String>,

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
#[command(after_long_help = "\
Examples:
  unspool run claude \"fix the failing test\"
  unspool run codex \"fix the failing test\" --model gpt-5
  unspool run --save run.jsonl -- claude -p \"…\" --output-format stream-json --verbose
  unspool run --dry-run gemini \"explain this repository\"

Agents: claude, codex, gemini, qwen, opencode, aider

Exit status:
  the agent's own; 128 and the signal's number if a signal ended it;
  126 or 127 if it could not be started;
  2 for wrong use, or if the agent succeeded but --save failed")]
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

    #[command(flatten)]
    pub(crate) source: Source,

    /// Add the source frame to each event, as `raw`
    #[arg(long)]
    pub(crate) with_raw: bool,
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

fn parse_lines(text: &str) -> Result<Lines, String> {
    match text {
        "all" => Ok(Lines(None)),
        number => number
            .parse()
            .map(|lines| Lines(Some(lines)))
            .map_err(|_| "expected a number or `all`".to_owned()),
    }
}

/// A date, a time, or a while ago.
fn parse_time(text: &str) -> Result<jiff::Timestamp, String> {
    let text = text.trim();
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time);
    }
    if let Ok(time) = text.parse::<jiff::civil::DateTime>()
        && let Ok(time) = time.to_zoned(jiff::tz::TimeZone::system())
    {
        return Ok(time.timestamp());
    }
    let span = text.strip_suffix("ago").unwrap_or(text).trim();
    span.parse::<jiff::Span>()
        .ok()
        .and_then(|span| jiff::Zoned::now().checked_sub(span.abs()).ok())
        .map(|time| time.timestamp())
        .ok_or_else(|| {
            "expected a date (2026-11-15), a time, or a while ago (2h, 3 days ago)".to_owned()
        })
}
