//! What was typed → what is meant: the terminal, the environment and the
//! arguments brought together.

use unspool::doc::entry::{Detail, Reasoning};
use unspool::formatter::{Config, Formatter};
use unspool::theme::{Rgb, Theme};

use crate::cli::{Display, Links, Look, ReasoningShown, ThemeName};
use crate::terminal;

/// How a run is shown.
pub(crate) struct Settings {
    pub(crate) width: usize,
    /// Whether the closing line is written: on a terminal, in full mode.
    pub(crate) summary: bool,
    pub(crate) usage: bool,
    config: Config,
    mono: bool,
}

impl Settings {
    pub(crate) fn new(look: &Look) -> Self {
        let colours = terminal::colours(look.color) && !look.copy_clean;
        let (foreground, background) = colours_of(look, colours);
        let links = match look.links {
            Links::Osc8 => true,
            Links::Text => false,
            Links::Auto => colours && terminal::shows_links(),
        };
        Self {
            width: if look.copy_clean {
                0
            } else {
                look.width.unwrap_or_else(terminal::width)
            },
            summary: terminal::is_terminal()
                && look.display == Display::Full
                && !look.no_summary
                && !look.copy_clean,
            usage: !look.no_usage,
            mono: look.theme == Some(ThemeName::Mono),
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
                    ..Detail::default()
                },
                links,
                timestamps: look.timestamps,
                copy_clean: look.copy_clean,
            },
        }
    }

    pub(crate) fn formatter(&self) -> Formatter {
        let formatter = Formatter::new(self.config.clone());
        if self.mono {
            formatter.with_theme(Theme::mono())
        } else {
            formatter
        }
    }
}

/// Text and background colour: as asked for, as the theme says, or as the
/// terminal is. It is asked only when colours are written and nothing is said.
fn colours_of(look: &Look, colours: bool) -> (Option<Rgb>, Option<Rgb>) {
    const WHITE: Rgb = Rgb(255, 255, 255);
    const BLACK: Rgb = Rgb(0, 0, 0);
    let light = match look.theme {
        Some(ThemeName::Light) => true,
        Some(ThemeName::Dark | ThemeName::Mono) => false,
        None => colours && look.bg.is_none() && terminal::is_light(),
    };
    let (foreground, background) = if light {
        (BLACK, WHITE)
    } else {
        (WHITE, BLACK)
    };
    (look.fg.or(Some(foreground)), look.bg.or(Some(background)))
}
