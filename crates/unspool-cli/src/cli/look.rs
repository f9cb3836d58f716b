//! How things are shown, as it is typed. What is left out is as the
//! configuration file says: see `config.rs`.

use clap::{Args, ValueEnum};
use unspool::theme::Rgb;

use super::sessions::Paint;
use crate::themes::parse_colour;

/// How it is shown.
#[derive(Args, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
pub(crate) struct Look {
    /// What is shown: the answer, the answer and the calls, or everything [default: full]
    #[arg(long, value_name = "MODE")]
    pub(crate) display: Option<Display>,

    /// Pass the input on untouched
    #[arg(long)]
    pub(crate) raw: bool,

    /// Lay out for this many columns; up to 30 nothing is wrapped [default: the terminal's]
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<When>,

    /// The colours: dark, light, mono, or a theme of your own [default: as the terminal's background is]
    ///
    /// NAME is themes/NAME.toml in unspool's configuration folder
    /// (~/.config/unspool). It may set foreground, background, accent (bullets and
    /// what is less important), colorful (verbs and headings), green and red (what
    /// went well or not, and changes), and in the table `code` comment, keyword,
    /// string, number, type, function, constant, tag, attribute and operator, each
    /// as "#RRGGBB".
    #[arg(long, value_name = "NAME")]
    pub(crate) theme: Option<String>,

    /// The terminal's text colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) fg: Option<Rgb>,

    /// The terminal's background colour, as RRGGBB
    #[arg(long, value_name = "RRGGBB", value_parser = parse_colour)]
    pub(crate) bg: Option<Rgb>,

    /// Lines shown of a call's output and of a new file: a number or `all` [default: 5]
    ///
    /// With `all` also what was read, listed, found and fetched, and context. Changes
    /// to a file are shown whole, unless fewer than 5 lines are asked for.
    #[arg(long, value_name = "N", value_parser = parse_lines)]
    pub(crate) lines: Option<Lines>,

    /// What is shown of the model's thinking [default: title]
    #[arg(long, value_name = "WHAT")]
    pub(crate) reasoning: Option<ReasoningShown>,

    /// Do not show tokens and cost
    #[arg(long, overrides_with = "usage")]
    no_usage: bool,

    /// Show tokens and cost, whatever the configuration file says
    #[arg(long, overrides_with = "no_usage", hide_short_help = true)]
    usage: bool,

    /// Show when each thing happened
    #[arg(long, overrides_with = "no_timestamps")]
    timestamps: bool,

    /// Do not show when things happened, whatever the configuration file says
    #[arg(long, overrides_with = "timestamps", hide_short_help = true)]
    no_timestamps: bool,

    /// Say in characters what colours say: `◦` thinking, `▸` the step in progress, `~~`
    #[arg(long, overrides_with = "no_marks")]
    marks: bool,

    /// Do not mark what colours say, whatever the configuration file says
    #[arg(long, overrides_with = "marks", hide_short_help = true)]
    no_marks: bool,

    /// How links are shown [default: auto]
    #[arg(long, value_name = "HOW")]
    pub(crate) links: Option<Links>,

    /// Nothing but the words: no hard wraps, margins or bullets
    #[arg(long)]
    pub(crate) copy_clean: bool,

    /// Do not print the summary at the end of a run
    #[arg(long, overrides_with = "summary")]
    no_summary: bool,

    /// Print the summary, whatever the configuration file says
    #[arg(long, overrides_with = "no_summary", hide_short_help = true)]
    summary: bool,

    /// Do not pass long output to a pager
    #[arg(long, overrides_with = "pager")]
    no_pager: bool,

    /// Pass long output to a pager, whatever the configuration file says
    ///
    /// The pager is what `UNSPOOL_PAGER`, the configuration file or `PAGER` names,
    /// or else less. Only what is longer than the terminal is passed on.
    #[arg(long, overrides_with = "no_pager", hide_short_help = true)]
    pager: bool,
}

impl Look {
    /// How lists and tables are shown.
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

    /// How a run is shown that was chosen from a list.
    pub(crate) fn of_shown(paint: &Paint) -> Self {
        Self {
            color: paint.color,
            theme: paint.theme.clone(),
            ..Self::default()
        }
    }

    /// How what fills the screen is shown. Addresses of links are text there.
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

/// What a flag and its opposite say; nothing, if neither was typed.
fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Display {
    /// All that the agent says, as it came, and nothing else
    Text,
    /// The same, and a line for each tool call
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
    /// Its titles, where it has any; else all of it
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
