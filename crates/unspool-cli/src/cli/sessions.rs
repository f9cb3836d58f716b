//! The arguments of `unspool sessions`.

use clap::{Args, Subcommand};

use super::When;
use super::select::{Select, Which};
use crate::agents;

/// List the saved sessions of all agents on this machine, and show one
#[derive(Args)]
#[command(long_about = about(), after_long_help = "\
Examples:
  unspool sessions                               search in all of them, and show one
  unspool sessions --list                        print them
  unspool sessions --agent codex --since 2d      those of Codex, of the last two days
  unspool sessions --project . --failed          what went wrong in this project
  unspool sessions --since yesterday             those of yesterday and today
  unspool sessions --in backup/ --json | jq -r .title
  unspool sessions search flaky test             words in all of them
  unspool show 4f2a9c                            one of them, by the beginning of its id

What cannot be read is named on standard error, and the others are listed; what
was named before is only counted (--verbose names it again).

Exit status:
  0  the list is complete, or as complete as can be, or was left
  2  wrong use, or nothing could be read")]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,

    #[command(flatten)]
    pub(crate) select: Select,

    /// Print the list, also on a terminal
    #[arg(long)]
    pub(crate) list: bool,

    /// Print JSON, one object a line (docs/sessions.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Say what was read, what was kept from before, and all that was skipped
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) paint: Paint,
}

#[derive(Subcommand)]
pub(crate) enum SessionsCommand {
    Search(Search),
    Index(Index),
}

/// Find words in all sessions: prompts, answers, commands, file names, output
///
/// Each word must occur; the best matches come first. Upper and lower case and
/// accents do not matter. Words in one pair of quotes must stand side by side,
/// and `test*` is every word that begins with test. The index is kept in
/// unspool's cache folder; what is new in a session is indexed before the search.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool sessions search flaky test
  unspool sessions search \"connection refused\" --agent codex --since 1w
  unspool sessions search src/main.rs --project shop
  unspool sessions search 'deploy*' --json | jq -r .id

Exit status:
  0  something was found
  1  nothing was
  2  wrong use, or nothing can be indexed")]
pub(crate) struct Search {
    /// What is looked for
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,

    /// Leave out passages that have this word
    #[arg(long, value_name = "WORD")]
    pub(crate) without: Vec<String>,

    /// Show this many sessions at most
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_limit)]
    pub(crate) limit: usize,

    /// Search what is indexed, without looking for what is new
    #[arg(long)]
    pub(crate) no_update: bool,

    /// Print JSON, one object a line (docs/sessions.md)
    #[arg(long)]
    pub(crate) json: bool,

    /// Say what was read, what was kept from before, and all that was skipped
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) which: Which,

    #[command(flatten)]
    pub(crate) paint: Paint,
}

/// Bring the index up to date, so that the next search need not
#[derive(Args)]
pub(crate) struct Index {
    /// Throw the index away and build it anew
    #[arg(long)]
    pub(crate) rebuild: bool,

    /// Say nothing
    #[arg(long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// How a list is written.
#[derive(Args, Clone)]
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

    /// Do not pass a long list to a pager
    #[arg(long)]
    pub(crate) no_pager: bool,
}

impl Paint {
    /// What was typed here, and what was typed before the subcommand.
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
        .ok_or_else(|| "expected a number from 1 on".to_owned())
}

fn about() -> String {
    format!(
        "\
List the saved sessions of all agents on this machine, and show one

On a terminal this is a list to choose from: type to search in agent, project, title, \
prompt and id, Enter shows the session, Esc leaves. Letters of a word may be left out; \
`'word` matches exactly, `^word` at the start, `word$` at the end, and `!word` excludes. \
In a pipe, or with --list, --json or --width, the list is printed.

The newest come first. Sessions are found where each agent keeps them; these variables \
move the places: {}. Sub-agents belong to the session that started them. Nothing is \
written beside a session. A cache keeps what was read, so that only changed files are \
read again.",
        agents::variables().join(", ")
    )
}
