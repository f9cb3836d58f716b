//! Resolves arguments, environment and terminal into the settings of a run.

use anyhow::bail;
use unspool::doc::entry::{Detail, LineMatcher, Reasoning};
use unspool::formatter::{Config as Shown, Formatter};
use unspool::theme::{Rgb, Theme};

use crate::cli::{Display, Filter, Links, Look, ReasoningShown};
use crate::config::{self, Choices, Config, Origin, Summary};
use crate::themes::{self, Choice};
use crate::{filter, terminal};

/// Settings that control the output of a run.
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
pub(crate) struct Settings {
    pub(crate) display: Display,
    /// True if standard output is a terminal.
    pub(crate) is_terminal: bool,
    pub(crate) width: usize,
    /// The requested width, independent of the terminal.
    pub(crate) fixed_width: Option<usize>,
    /// True if unfinished entries may be repainted.
    pub(crate) live: bool,
    /// True if the output is a GitHub Actions log.
    pub(crate) github_actions: bool,
    /// True if the closing line is written: by default on a terminal, in full mode.
    pub(crate) summary: bool,
    pub(crate) usage: bool,
    /// The pager's command, if enabled.
    pub(crate) pager: Option<String>,
    config: Shown,
    theme: Option<Choice>,
}

impl Settings {
    pub(crate) fn new(look: &Look) -> anyhow::Result<Self> {
        let choices = Choices::new(look, Config::load()?);
        Self::of(choices, look.copy_clean)
    }

    /// Resolves settings with filters, which modes that print only answers do not
    /// support.
    pub(crate) fn filtered(look: &Look, filter: &Filter) -> anyhow::Result<Self> {
        let settings = Self::new(look)?;
        let given = filter::given(filter);
        if settings.display != Display::Full && !given.is_empty() {
            bail!(
                "{given}: filters need `--display full`; \
                 use that, or remove the filters"
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
            // Without escape sequences the URL must be in the text.
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
            github_actions: !is_terminal && !copy_clean && terminal::is_github_actions(),
            live: full && terminal::can_repaint(),
            summary: match choices.summary.value {
                Summary::Auto => full && is_terminal,
                // Scripts read the other modes, so the file alone does not add to them.
                Summary::On => full || choices.summary.origin == Origin::CommandLine,
                Summary::Off => false,
            },
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
                        .with_failed(choices.failed.value)
                        .with_relative_paths(true)
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

    /// Returns the level of detail.
    pub(crate) fn detail(&self) -> Detail {
        self.config
            .detail
            .clone()
            .with_highlight(!self.config.plain_text)
    }

    /// Returns true if only the text itself is written.
    pub(crate) fn copy_clean(&self) -> bool {
        self.config.copy_clean
    }

    /// Returns the formatter for entries that pass the filter.
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

/// Returns text and background colours: as requested, from the theme, or from the
/// terminal. The terminal is queried only if colours are written and nothing else
/// decides.
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
