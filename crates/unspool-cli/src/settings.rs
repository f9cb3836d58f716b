//! What was typed → what is meant: the terminal, the environment and the
//! arguments brought together.

use anyhow::bail;
use unspool::doc::entry::{Detail, LineMatcher, Reasoning};
use unspool::formatter::{Config as Shown, Formatter};
use unspool::theme::{Rgb, Theme};

use crate::cli::{Display, Filter, Links, Look, ReasoningShown};
use crate::config::{self, Choices, Config};
use crate::themes::{self, Choice};
use crate::{filter, terminal};

/// How a run is shown.
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
pub(crate) struct Settings {
    pub(crate) display: Display,
    /// Whether standard output is a terminal.
    pub(crate) is_terminal: bool,
    pub(crate) width: usize,
    /// The width that was asked for, whatever the terminal's is.
    pub(crate) fixed_width: Option<usize>,
    /// Whether what is open may be painted anew on the terminal.
    pub(crate) live: bool,
    /// Whether the output is a log of GitHub Actions.
    pub(crate) actions: bool,
    /// Whether the closing line is written: on a terminal, in full mode.
    pub(crate) summary: bool,
    pub(crate) usage: bool,
    /// The pager's command, if there is to be one.
    pub(crate) pager: Option<String>,
    config: Shown,
    theme: Option<Choice>,
}

impl Settings {
    pub(crate) fn new(look: &Look) -> anyhow::Result<Self> {
        let choices = Choices::new(look, Config::load()?);
        Self::of(choices, look.copy_clean)
    }

    /// The same where entries may be filtered, which answers alone are not made
    /// of.
    pub(crate) fn filtered(look: &Look, filter: &Filter) -> anyhow::Result<Self> {
        let settings = Self::new(look)?;
        let given = filter::given(filter);
        if settings.display != Display::Full && !given.is_empty() {
            bail!(
                "{given}: only what `--display full` shows can be filtered; \
                 give that, or leave the filters out"
            );
        }
        Ok(settings)
    }

    fn of(choices: Choices, copy_clean: bool) -> anyhow::Result<Self> {
        let theme = choices.theme.value.as_deref();
        let theme = theme
            .map(|name| themes::named(name, config::themes_folder))
            .transpose()?;
        let display = choices.display.value;
        let full = display == Display::Full && !copy_clean;
        let colours = full && terminal::colours(choices.color.value);
        let (foreground, background) = colours_of(&choices, theme.as_ref(), colours);
        let links = match choices.links.value {
            // Without codes there is no place for an address but the text.
            Links::Osc8 => colours,
            Links::Text => false,
            Links::Auto => colours && terminal::shows_links(),
        };
        let is_terminal = terminal::is_terminal();
        let usage = choices.usage.value;
        Ok(Self {
            display,
            is_terminal,
            width: if copy_clean {
                0
            } else {
                config::width(&choices).value
            },
            fixed_width: choices.width.value,
            actions: !is_terminal && !copy_clean && terminal::is_github_actions(),
            live: full && terminal::can_repaint(),
            summary: is_terminal && full && choices.summary.value,
            usage,
            pager: choices.pager.value,
            theme,
            config: Shown::default()
                .with_plain_text(!colours)
                .with_foreground(foreground)
                .with_background(background)
                .with_detail(
                    Detail::default()
                        .with_lines(choices.lines.value.0)
                        .with_everything(choices.lines.value.0.is_none())
                        .with_reasoning(match choices.reasoning.value {
                            ReasoningShown::Title => Reasoning::Title,
                            ReasoningShown::Full => Reasoning::Full,
                            ReasoningShown::Off => Reasoning::Off,
                        })
                        .with_usage(usage)
                        .with_marks(choices.marks.value),
                )
                .with_links(links)
                .with_timestamps(choices.timestamps.value)
                .with_copy_clean(copy_clean),
        })
    }

    /// How much is told.
    pub(crate) fn detail(&self) -> Detail {
        self.config
            .detail
            .clone()
            .with_highlight(!self.config.plain_text)
    }

    /// Whether nothing but the words is written.
    pub(crate) fn copy_clean(&self) -> bool {
        self.config.copy_clean
    }

    /// The formatter for entries that pass the filter.
    pub(crate) fn formatter_for(&self, filter: &Filter) -> Formatter {
        let mut config = self.config.clone();
        config.detail.search = filter
            .grep
            .clone()
            .map(|pattern| LineMatcher::new(move |line| pattern.is_match(line)));
        self.themed(Formatter::new(config))
    }

    pub(crate) fn formatter(&self) -> Formatter {
        self.themed(Formatter::new(self.config.clone()))
    }

    fn themed(&self, formatter: Formatter) -> Formatter {
        match &self.theme {
            Some(Choice::Mono) => formatter.with_theme(Theme::mono()),
            Some(Choice::File(colours)) => {
                let theme = colours.applied_to(formatter.theme());
                formatter.with_theme(theme)
            }
            _ => formatter,
        }
    }
}

/// Text and background colour: as asked for, as the theme says, or as the
/// terminal is. It is asked only when colours are written and nothing is said.
fn colours_of(
    choices: &Choices,
    theme: Option<&Choice>,
    colours: bool,
) -> (Option<Rgb>, Option<Rgb>) {
    let (fg, bg) = (choices.fg.value, choices.bg.value);
    let light = match theme {
        Some(Choice::Light) => true,
        Some(_) => false,
        None => colours && bg.is_none() && terminal::is_light(),
    };
    let (mut foreground, mut background) = if light {
        (Rgb::BLACK, Rgb::WHITE)
    } else {
        (Rgb::WHITE, Rgb::BLACK)
    };
    if let Some(Choice::File(colours)) = theme {
        foreground = colours.foreground.map_or(foreground, |colour| colour.0);
        background = colours.background.map_or(background, |colour| colour.0);
    }
    (fg.or(Some(foreground)), bg.or(Some(background)))
}
