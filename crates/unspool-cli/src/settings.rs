//! What was typed → what is meant: the terminal, the environment and the
//! arguments brought together.

use unspool::doc::entry::{Detail, Reasoning, Wanted};
use unspool::formatter::{Config, Formatter};
use unspool::theme::{Rgb, Theme};

use crate::cli::{Display, Filter, Links, Look, ReasoningShown};
use crate::terminal;
use crate::themes::{self, Choice};

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
    config: Config,
    theme: Option<Choice>,
}

impl Settings {
    pub(crate) fn new(look: &Look) -> anyhow::Result<Self> {
        let theme = look.theme.as_deref().map(themes::named).transpose()?;
        let colours =
            look.display == Display::Full && !look.copy_clean && terminal::colours(look.color);
        let (foreground, background) = colours_of(look, theme.as_ref(), colours);
        let links = match look.links {
            // Without codes there is no place for an address but the text.
            Links::Osc8 => colours,
            Links::Text => false,
            Links::Auto => colours && terminal::shows_links(),
        };
        let is_terminal = terminal::is_terminal();
        Ok(Self {
            display: look.display,
            is_terminal,
            width: if look.copy_clean {
                0
            } else {
                look.width.unwrap_or_else(terminal::width)
            },
            fixed_width: look.width,
            actions: !is_terminal && !look.copy_clean && terminal::is_github_actions(),
            live: look.display == Display::Full && !look.copy_clean && terminal::can_repaint(),
            summary: is_terminal
                && look.display == Display::Full
                && !look.no_summary
                && !look.copy_clean,
            usage: !look.no_usage,
            theme,
            config: Config {
                plain_text: !colours,
                foreground,
                background,
                accent: None,
                colorful: None,
                detail: Detail {
                    lines: look.lines.0,
                    reasoning: match look.reasoning {
                        ReasoningShown::Title => Reasoning::Title,
                        ReasoningShown::Full => Reasoning::Full,
                        ReasoningShown::Off => Reasoning::Off,
                    },
                    usage: !look.no_usage,
                    marks: !colours,
                    ..Detail::default()
                },
                links,
                timestamps: look.timestamps,
                copy_clean: look.copy_clean,
            },
        })
    }

    /// Whether nothing but the words is written.
    pub(crate) fn copy_clean(&self) -> bool {
        self.config.copy_clean
    }

    /// The formatter for entries that pass the filter.
    pub(crate) fn formatter_for(&self, filter: &Filter) -> Formatter {
        let mut config = self.config.clone();
        config.detail.wanted = filter
            .grep
            .clone()
            .map(|pattern| Wanted::new(move |line| pattern.is_match(line)));
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
fn colours_of(look: &Look, theme: Option<&Choice>, colours: bool) -> (Option<Rgb>, Option<Rgb>) {
    let light = match theme {
        Some(Choice::Light) => true,
        Some(_) => false,
        None => colours && look.bg.is_none() && terminal::is_light(),
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
    (look.fg.or(Some(foreground)), look.bg.or(Some(background)))
}
