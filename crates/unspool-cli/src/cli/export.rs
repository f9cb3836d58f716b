//! The arguments of `unspool export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FailedShown, Filter, Lines, ReasoningShown, Source, parse_lines, parse_size};

/// Export a run as an HTML page, Markdown comment, SVG picture, text or events
///
/// An HTML page is one self-contained file that you can send, archive and open
/// anywhere. It contains the whole run, with long parts folded. SVG and text show
/// the same as `unspool FILE`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool export session.jsonl                       writes session.html
  unspool export session.jsonl -o run.html --force   another name; overwrite if it exists
  unspool export session.jsonl --to markdown | gh pr comment --body-file -
  unspool export 4f2a9c -o run.html                  a session by an ID prefix
  unspool export 4f2a9c --in backup/ -o run.html     a session in another folder
  unspool export session.jsonl --to svg              on a terminal: writes session.svg
  unspool export session.jsonl -o run.svg --max-lines 80 --lines 2
  unspool export a.jsonl b.jsonl -o pages/           one page per session, in a folder

Formats, and the file extensions of -o that select them:
  html      one self-contained page (.html, .htm)
  markdown  sized for a pull request comment (.md, .markdown)
  svg       the terminal view as a picture (.svg), see --max-lines
  text      the terminal view as text (.txt)
  jsonl     the events, see docs/events.md (.jsonl)

Exit status:
  0  everything was written
  1  a frame longer than --frame-limit was skipped
  2  usage error, an input could not be read, or the output file already exists")]
#[expect(clippy::struct_excessive_bools, reason = "each is one option")]
pub(crate) struct Export {
    /// Session ID prefixes or files; standard input if omitted or `-`
    #[arg(value_name = "ID|FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Also search this folder for sessions of any agent
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// Output format [default: from the file extension of -o, otherwise html]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,

    /// Where to write: a file, a folder, or `-` for standard output
    ///
    /// [default: standard output; on a terminal, pages and pictures go to NAME.html and
    /// NAME.svg in the current folder]
    #[arg(short, long, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,

    /// Replace secrets, home directories and e-mail addresses [default: for html and markdown]
    ///
    /// Each is replaced by a numbered placeholder, the same one wherever it occurs.
    /// Standard error lists what was replaced. Redaction cannot find everything:
    /// check the file before you publish it.
    #[arg(long, conflicts_with = "no_redact")]
    redact: bool,

    /// Keep secrets, home directories and e-mail addresses
    #[arg(long)]
    no_redact: bool,

    /// Include pictures (html) and the content of sounds and files (jsonl)
    ///
    /// Pictures are not redacted: they may show secrets, so look at them before you
    /// publish the file. Without this option each is described in words. Pages embed
    /// PNG, JPEG, GIF and WebP pictures; everything else is described.
    #[arg(long)]
    pub(crate) with_media: bool,

    /// Maximum size of all pictures in a page, in bytes (html) [default: 20000000]
    ///
    /// One picture may take a quarter of it. Pictures that do not fit are described.
    #[arg(long, value_name = "BYTES", value_parser = parse_size, requires = "with_media")]
    pub(crate) max_media: Option<usize>,

    /// Maximum size of a comment in bytes (markdown) [default: 65000]
    ///
    /// If the run does not fit, the oldest and largest outputs are dropped first, and
    /// the comment says how much is missing. GitHub accepts 65536 characters.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_size: Option<usize>,

    /// Maximum height of a picture in lines: a number or `all` (svg) [default: 500]
    ///
    /// The rest is left out; the picture and standard error say how much. `--lines`
    /// and the filters make room. Many programs cannot open a picture of more than
    /// about 1800 lines.
    #[arg(long, value_name = "N", value_parser = parse_max_lines)]
    pub(crate) max_lines: Option<Lines>,

    /// Width of the terminal view in columns; 30 or less does not wrap (svg, text) [default: 80
    /// for svg; text is not wrapped, except on a terminal]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// Colour theme: dark or light [default: html follows the reader's system, svg is dark]
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<Scheme>,

    /// Lines of output to show per tool call: a number or `all` (svg, text)
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_lines)]
    pub(crate) lines: Lines,

    /// Which lines to show of a failed call's output (svg, text)
    #[arg(long, value_name = "LINES", default_value = "tail")]
    pub(crate) failed: FailedShown,

    /// How much of the model's reasoning to show; html folds it, except with `full`
    #[arg(long, value_name = "WHAT", default_value = "title")]
    pub(crate) reasoning: ReasoningShown,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

impl Export {
    /// Returns true if secrets and personal data are redacted in this format.
    pub(crate) fn redacts(&self, format: Format) -> bool {
        let is_for_sharing = matches!(format, Format::Html | Format::Markdown);
        self.redact || (is_for_sharing && !self.no_redact)
    }
}

fn parse_max_lines(text: &str) -> Result<Lines, String> {
    match parse_lines(text)? {
        Lines(Some(0)) => Err("expected at least 1 line, or `all`".to_owned()),
        lines => Ok(lines),
    }
}

/// An output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One self-contained HTML page
    Html,
    /// Markdown sized for a pull request comment
    Markdown,
    /// The terminal view as a picture
    Svg,
    /// The terminal view as text
    Text,
    /// The events, one JSON object per line
    Jsonl,
}

/// A light page or a dark one.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    Light,
    Dark,
}
