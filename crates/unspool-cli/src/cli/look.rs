//! Display options. Options that are not given fall back to the configuration
//! file: see `config.rs`.

use clap::{Args, ValueEnum};
use unspool::doc::entry::Excerpt;
use unspool::theme::Rgb;

use super::sessions::Paint;
use crate::themes::parse_colour;

/// Options for the display of a run.
#[derive(Args, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct Look {
    /// How much to show: the answer, the answer and tool calls, or everything [default: full]
    #[arg(long, value_name = "MODE")]
    pub(crate) display: Option<Display>,

    /// Copy the input to the output unchanged
    #[arg(long)]
    pub(crate) raw: bool,

    /// Width in columns; 30 or less does not wrap [default: the terminal's; pipes and files are not wrapped]
    ///
    /// Output to a pipe or a file is wrapped only if you give a width, here or in the
    /// configuration file: lines stay whole for grep, editors and logs. For example
    /// `--width 80 > run.txt`, or `--width $COLUMNS | less`.
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// Colour theme: dark, light, mono, or your own [default: from the terminal's background]
    ///
    /// Your own theme NAME is the file themes/NAME.toml in unspool's configuration
    /// folder (~/.config/unspool). It can set foreground, background, accent (bullets
    /// and less important text), colorful (verbs and headings), green and red (success,
    /// failure and changes). Its table `code` can set comment, keyword, string, number,
    /// type, function, constant, tag, attribute and operator. Each colour is written
    /// as "#RRGGBB".
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    /// The terminal's text colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) fg: Option<Rgb>,

    /// The terminal's background colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) bg: Option<Rgb>,

    /// Lines to show of tool output and of new files: a number or `all` [default: 5]
    ///
    /// `all` also shows context and the contents of reads, listings, searches and
    /// fetches. File changes are shown in full unless N is less than 5.
    #[arg(long, value_name = "N", value_parser = parse_lines)]
    pub(crate) lines: Option<Lines>,

    /// Which lines to show of a failed call's output [default: tail]
    #[arg(long, value_name = "LINES")]
    pub(crate) failed: Option<FailedShown>,

    /// How much of the model's reasoning to show [default: title]
    #[arg(long, value_name = "WHAT")]
    pub(crate) reasoning: Option<ReasoningShown>,

    /// Do not show tokens and cost
    #[arg(long, overrides_with = "usage")]
    no_usage: bool,

    /// Show tokens and cost; overrides the configuration file
    #[arg(long, overrides_with = "no_usage", hide_short_help = true)]
    usage: bool,

    /// Show the time of each entry
    #[arg(long, overrides_with = "no_timestamps")]
    timestamps: bool,

    /// Do not show times; overrides the configuration file
    #[arg(long, overrides_with = "timestamps", hide_short_help = true)]
    no_timestamps: bool,

    /// Mark with characters what is otherwise shown by colour: `◦` reasoning, `▸` current step
    #[arg(long, overrides_with = "no_marks")]
    marks: bool,

    /// Do not add these marks; overrides the configuration file
    #[arg(long, overrides_with = "marks", hide_short_help = true)]
    no_marks: bool,

    /// How to show links [default: auto]
    #[arg(long, value_name = "HOW")]
    pub(crate) links: Option<Links>,

    /// Print text that copies cleanly: no hard wraps, margins or bullets
    #[arg(long)]
    pub(crate) copy_clean: bool,

    /// Do not print the summary at the end of a run (turns, calls, time, tokens, cost)
    #[arg(long, overrides_with = "summary")]
    no_summary: bool,

    /// Print the summary at the end of a run, also to a pipe or a file [default: on a terminal]
    #[arg(long, overrides_with = "no_summary")]
    summary: bool,

    /// Do not use a pager for long output
    #[arg(long, overrides_with = "pager")]
    no_pager: bool,

    /// Use a pager for long output; overrides the configuration file
    ///
    /// The pager is set by `UNSPOOL_PAGER`, the configuration file or `PAGER`, and
    /// defaults to less. It is used only for output longer than the terminal.
    #[arg(long, overrides_with = "no_pager", hide_short_help = true)]
    pager: bool,
}

impl Look {
    /// Returns the display options for lists and tables.
    pub(crate) fn of_lists(paint: &Paint) -> Self {
        Self {
            display: Some(Display::Full),
            width: paint.width,
            color: paint.color,
            theme: paint.theme.clone(),
            no_pager: paint.no_pager,
            no_summary: true,
            ..Self::default()
        }
    }

    /// Returns the display options for a run picked from a list.
    pub(crate) fn of_shown(paint: &Paint) -> Self {
        Self {
            color: paint.color,
            theme: paint.theme.clone(),
            ..Self::default()
        }
    }

    /// Returns the display options for full-screen views, where links are text.
    pub(crate) fn of_views(color: Option<When>, theme: Option<String>) -> Self {
        Self {
            display: Some(Display::Full),
            color,
            theme,
            links: Some(Links::Text),
            ..Self::default()
        }
    }

    pub(crate) fn usage(&self) -> Option<bool> {
        either(self.usage, self.no_usage)
    }

    pub(crate) fn timestamps(&self) -> Option<bool> {
        either(self.timestamps, self.no_timestamps)
    }

    pub(crate) fn marks(&self) -> Option<bool> {
        either(self.marks, self.no_marks)
    }

    pub(crate) fn summary(&self) -> Option<bool> {
        either(self.summary, self.no_summary)
    }

    pub(crate) fn pager(&self) -> Option<bool> {
        either(self.pager, self.no_pager)
    }
}

/// Combines a flag and its opposite; `None` if neither was given.
fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

/// A display mode.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Display {
    /// Only the agent's messages, unformatted
    Text,
    /// The same, plus a line for each tool call
    Verbose,
    /// Everything, formatted
    Full,
}

/// A condition for colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// Only on a terminal
    Auto,
    Always,
    Never,
}

/// The amount of model reasoning to show.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReasoningShown {
    /// Its titles if it has any, otherwise all of it
    Title,
    /// All of it
    Full,
    /// Nothing
    Off,
}

/// The lines to show of a failed call's output, if it is longer than the limit.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailedShown {
    /// The first line and the last ones
    Tail,
    /// The first lines, as for calls that succeeded
    Head,
}

impl From<FailedShown> for Excerpt {
    fn from(shown: FailedShown) -> Self {
        match shown {
            FailedShown::Tail => Self::Tail,
            FailedShown::Head => Self::Head,
        }
    }
}

/// A style for links.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// OSC 8 if the terminal supports it, otherwise text
    Auto,
    /// Clickable link text (OSC 8)
    Osc8,
    /// As `text (address)`
    Text,
}

/// A line limit; `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) Option<usize>);

pub(crate) fn parse_lines(text: &str) -> Result<Lines, String> {
    match text {
        "all" => Ok(Lines(None)),
        number => number
            .parse()
            .map(|lines| Lines(Some(lines)))
            .map_err(|_| "expected a number or `all`".to_owned()),
    }
}
