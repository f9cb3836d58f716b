//! The arguments of `unspool sessions`.

use clap::{Args, Subcommand};

use super::When;
use super::select::{Select, Which};
use crate::agents;

/// List the saved sessions of all agents on this machine and open one
#[derive(Args)]
#[command(long_about = about(), after_long_help = "\
Examples:
  unspool sessions                               search the list and open a session
  unspool sessions --list                        print the list
  unspool sessions --agent codex --since 2d      Codex sessions of the last two days
  unspool sessions --project . --failed          failed sessions in this project
  unspool sessions --since yesterday             sessions of yesterday and today
  unspool sessions --in backup/ --json | jq -r .title
  unspool sessions search flaky test             search the text of all sessions
  unspool show 4f2a9c                            show a session by an ID prefix

Files that cannot be read are reported on standard error, and the rest is listed.
Files already reported by an earlier command are only counted; --verbose lists them.

Exit status:
  0  the list was printed, even if some files could not be read, or you quit it
  2  usage error, or nothing could be read")]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,

    #[command(flatten)]
    pub(crate) select: Select,

    /// Print the list even on a terminal
    #[arg(long)]
    pub(crate) list: bool,

    /// Print JSON, one object per line (docs/sessions.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Report what was read, what came from the cache, and every skipped file
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Say what to do if there is no session at all
    #[arg(skip)]
    pub(crate) welcomes: bool,

    #[command(flatten)]
    pub(crate) paint: Paint,
}

impl Sessions {
    /// Returns the arguments for the list of all sessions, opened without a command.
    pub(crate) fn all(paint: Paint) -> Self {
        Self {
            command: None,
            select: Select::default(),
            list: false,
            json: false,
            verbose: false,
            welcomes: true,
            paint,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    Search(Search),
    Index(Index),
}

/// Search all sessions: prompts, answers, commands, file names, output
///
/// Every word must match; the best matches come first. Case and accents are
/// ignored. Quoted words match as a phrase, and `test*` matches every word that
/// starts with test. The index is kept in unspool's cache folder, and new text is
/// indexed before each search.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool sessions search flaky test
  unspool sessions search \"connection refused\" --agent codex --since 1w
  unspool sessions search src/main.rs --project shop
  unspool sessions search 'deploy*' --json | jq -r .id

Exit status:
  0  something was found
  1  nothing was found
  2  usage error, or nothing could be indexed")]
pub(crate) struct Search {
    /// Words to search for
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,

    /// Exclude passages that contain this word
    #[arg(long, value_name = "WORD")]
    pub(crate) without: Vec<String>,

    /// Show at most this many sessions
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_limit)]
    pub(crate) limit: usize,

    /// Search the index as it is, without indexing new text first
    #[arg(long)]
    pub(crate) no_update: bool,

    /// Print JSON, one object per line (docs/sessions.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Report what was read, what came from the cache, and every skipped file
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) paint: Paint,
}

/// Update the search index now, so that the next search is fast
#[derive(Args)]
pub(crate) struct Index {
    /// Delete the index and rebuild it
    #[arg(long)]
    pub(crate) rebuild: bool,

    /// Print nothing
    #[arg(long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Display options for lists.
#[derive(Args, Clone)]
#[command(next_help_heading = "Display")]
pub(crate) struct Paint {
    /// Width in columns; 0 is unlimited [default: the terminal's width; unlimited in a pipe]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// Colour theme: dark, light, mono, or your own
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    /// Do not use a pager for a long list
    #[arg(long)]
    pub(crate) no_pager: bool,
}

impl Paint {
    /// Adds the options that were given before the subcommand.
    pub(crate) fn with(&self, before: &Self) -> Self {
        Self {
            width: self.width.or(before.width),
            color: self.color.or(before.color),
            theme: self.theme.clone().or_else(|| before.theme.clone()),
            no_pager: self.no_pager || before.no_pager,
        }
    }
}

fn parse_limit(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|limit| *limit > 0)
        .ok_or_else(|| "expected a number of at least 1".to_owned())
}

fn about() -> String {
    format!(
        "\
List the saved sessions of all agents on this machine and open one

On a terminal, opens a picker: type to search by agent, project, title, prompt and ID, \
press Enter to show a session, Esc to quit. The search is fuzzy; `'word` matches exactly, \
`^word` at the start, `word$` at the end, and `!word` excludes. In a pipe, or with --list, \
--json or --width, prints the list instead.

The newest sessions come first. Sessions are found where each agent stores them; these \
environment variables change the locations: {}. Sub-agents are part of the session that \
started them. Session folders are never written to. A cache in unspool's own folder means \
that only changed files are read again.",
        agents::variables().join(", ")
    )
}
