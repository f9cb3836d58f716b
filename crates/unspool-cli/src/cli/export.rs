//! The arguments of `unspool export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Filter, Lines, ReasoningShown, Source, parse_lines, parse_size};

/// Write a run as a page, a comment, a picture, text or events
///
/// A page is one file that loads nothing: it can be sent, kept and opened
/// anywhere. Everything is in it, folded where it is long. What a picture or a
/// text shows is what `unspool FILE` shows.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool export session.jsonl                       writes session.html
  unspool export session.jsonl -o run.html --force   another name, also over an old file
  unspool export session.jsonl --to markdown | gh pr comment --body-file -
  unspool export 4f2a9c -o run.html                  a session by the beginning of its id
  unspool export 4f2a9c --in backup/ -o run.html     one that lies in another folder
  unspool export session.jsonl -o run.svg --width 100 --lines 10
  unspool export a.jsonl b.jsonl -o pages/           a page for each, in a folder

Formats, and the endings of -o that stand for them:
  html      one self-contained page (.html, .htm)
  markdown  fit for a comment on a pull request (.md, .markdown)
  svg       the terminal view as a picture (.svg), its first 2000 lines
  text      the terminal view as text (.txt)
  jsonl     the events, see docs/events.md (.jsonl)

Exit status:
  0  everything was written
  1  a frame over --frame-limit was left out
  2  wrong use, an input could not be read, or a file stands in the way")]
pub(crate) struct Export {
    /// Sessions by their ids or files; `-` or none is standard input
    #[arg(value_name = "ID|FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Look for ids in this folder too, among sessions of any agent
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// What to write [default: as the ending of -o says, else html]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,

    /// Where to write: a file, a folder, or `-` for standard output
    ///
    /// [default: standard output; a page goes to NAME.html if that is a terminal]
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,

    /// Write over a file that exists
    #[arg(long)]
    pub(crate) force: bool,

    /// Replace secrets, home directories and e-mail addresses [default: in pages and comments]
    ///
    /// Each gets a name and a number, the same one wherever it occurs, and it is
    /// said on standard error what was replaced. No program finds everything:
    /// read what you publish.
    #[arg(long, conflicts_with = "no_redact")]
    redact: bool,

    /// Leave secrets, home directories and e-mail addresses as they are
    #[arg(long)]
    no_redact: bool,

    /// The largest comment, in bytes (markdown) [default: 65000]
    ///
    /// What does not fit is left out, the oldest and largest outputs first, and
    /// it is said how much. GitHub takes 65536 characters.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_size: Option<usize>,

    /// Columns of the terminal view (svg, text)
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub(crate) width: usize,

    /// The colours: dark or light [default: a page follows the reader's system, a picture is dark]
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<Scheme>,

    /// Lines of output below a call: a number or `all` (svg, text)
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_lines)]
    pub(crate) lines: Lines,

    /// What is shown of the model's thinking; in a page it is folded, or open with `full`
    #[arg(long, value_name = "WHAT", default_value = "title")]
    pub(crate) reasoning: ReasoningShown,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

impl Export {
    /// Whether what others should not see is taken out.
    pub(crate) fn redacts(&self, format: Format) -> bool {
        let is_for_others = matches!(format, Format::Html | Format::Markdown);
        self.redact || (is_for_others && !self.no_redact)
    }
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One self-contained page
    Html,
    /// For a comment on a pull request
    Markdown,
    /// The terminal view as a picture
    Svg,
    /// The terminal view as text
    Text,
    /// The events
    Jsonl,
}

/// A light page or a dark one.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    Light,
    Dark,
}
