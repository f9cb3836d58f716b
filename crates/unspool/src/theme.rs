//! Maps roles to colours.
//!
//! A theme is computed from the terminal's foreground and background, as
//! entries of the 256-colour palette. [`Theme::look`] resolves a style; only
//! back ends and the interactive app use it. Ordinary text keeps the terminal's
//! foreground.
//!
//! ```
//! use unspool::formatter::Role;
//! use unspool::theme::{Rgb, Theme};
//!
//! let light = Theme::new(Rgb(0x20, 0x20, 0x20), Rgb::WHITE);
//! assert!(!light.is_dark());
//! assert!(light.color(Role::Accent).is_some());
//! assert_eq!(Theme::mono().color(Role::Accent), None);
//! ```

pub use crate::palette::{Rgb, rgb};

use crate::doc::{Role, Style, Syntax};
use crate::palette;

/// Minimum contrast of code to the background (WCAG AA).
const READABLE: f64 = 4.5;

/// The colours of the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    colors: Option<Colors>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Colors {
    background: Rgb,
    normal: u8,
    accent: u8,
    colorful: u8,
    green: u8,
    red: u8,
    code: [u8; SYNTAX.len()],
}

/// A resolved style: palette entries and attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is one attribute")]
#[non_exhaustive]
pub struct Look {
    /// The foreground; `None` is the terminal's own.
    pub foreground: Option<u8>,
    /// The background; `None` is the terminal's own.
    pub background: Option<u8>,
    /// Bold.
    pub bold: bool,
    /// Dim.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Foreground and background swapped.
    pub reverse: bool,
    /// Struck through.
    pub strike: bool,
}

/// Syntax colours on dark and on light backgrounds.
const SYNTAX: [(Syntax, Rgb, Rgb); 10] = [
    (Syntax::Comment, Rgb(138, 148, 138), Rgb(105, 110, 105)),
    (Syntax::Keyword, Rgb(199, 146, 234), Rgb(130, 50, 160)),
    (Syntax::String, Rgb(152, 195, 121), Rgb(35, 110, 45)),
    (Syntax::Number, Rgb(225, 165, 110), Rgb(165, 75, 0)),
    (Syntax::Type, Rgb(229, 205, 123), Rgb(130, 95, 0)),
    (Syntax::Function, Rgb(97, 175, 239), Rgb(0, 90, 180)),
    (Syntax::Constant, Rgb(215, 135, 95), Rgb(160, 60, 50)),
    (Syntax::Tag, Rgb(224, 120, 130), Rgb(170, 30, 60)),
    (Syntax::Attribute, Rgb(86, 190, 194), Rgb(0, 105, 115)),
    (Syntax::Operator, Rgb(170, 178, 191), Rgb(80, 85, 95)),
];

impl Default for Theme {
    /// White on black.
    fn default() -> Self {
        Self::new(Rgb::WHITE, Rgb::BLACK)
    }
}

impl Theme {
    /// Creates a theme for a terminal with this foreground and background.
    pub fn new(foreground: Rgb, background: Rgb) -> Self {
        let dark = is_dark(background);
        let colorful = if dark {
            Rgb(90, 180, 255)
        } else {
            Rgb(24, 128, 255)
        };
        let code = SYNTAX.map(|(_, on_dark, on_light)| {
            readable(if dark { on_dark } else { on_light }, background)
        });
        Self {
            colors: Some(Colors {
                background,
                normal: palette::nearest(foreground),
                accent: palette::nearest(foreground.mix(6, background)),
                colorful: palette::nearest(colorful),
                green: palette::nearest(Rgb(46, 139, 87)),
                red: palette::nearest(Rgb(220, 82, 82)),
                code,
            }),
        }
    }

    /// Creates a theme without colours; bold, italics and the like stay.
    pub fn mono() -> Self {
        Self { colors: None }
    }

    /// Overrides the colour of a role. Ordinary text and literal colours cannot
    /// be overridden.
    pub fn with(mut self, role: Role, color: Rgb) -> Self {
        let Some(colors) = &mut self.colors else {
            return self;
        };
        let entry = palette::nearest(color);
        match role {
            Role::Accent => colors.accent = entry,
            Role::Colorful => colors.colorful = entry,
            Role::Green => colors.green = entry,
            Role::Red => colors.red = entry,
            Role::Code(syntax) => {
                let mut parts = SYNTAX.iter().zip(&mut colors.code);
                if let Some((_, code)) = parts.find(|((part, ..), _)| *part == syntax) {
                    *code = entry;
                }
            }
            Role::Normal | Role::Literal(_) => {}
        }
        self
    }

    /// Returns true if the theme has colours.
    pub fn has_colors(&self) -> bool {
        self.colors.is_some()
    }

    /// Returns true if the background is dark.
    pub fn is_dark(&self) -> bool {
        self.colors
            .as_ref()
            .is_none_or(|colors| is_dark(colors.background))
    }

    /// Returns the palette entry of a role, also for ordinary text; `None`
    /// without colours.
    pub fn color(&self, role: Role) -> Option<u8> {
        let colors = self.colors.as_ref()?;
        Some(match role {
            Role::Normal => colors.normal,
            Role::Accent => colors.accent,
            Role::Colorful => colors.colorful,
            Role::Green => colors.green,
            Role::Red => colors.red,
            Role::Code(syntax) => {
                let index = SYNTAX.iter().position(|(part, ..)| *part == syntax);
                index.map_or(colors.normal, |index| colors.code[index])
            }
            Role::Literal(entry) => entry,
        })
    }

    /// Resolves a style.
    pub fn look(&self, style: Style) -> Look {
        let foreground = match style.role {
            Role::Normal => None,
            role => self.color(role),
        };
        Look {
            foreground,
            background: style.background.filter(|_| self.colors.is_some()),
            bold: style.bold,
            dim: style.dim,
            italic: style.italic,
            underline: style.underline,
            reverse: style.reverse,
            strike: style.strike,
        }
    }
}

/// Returns true if white has the better contrast to a background.
fn is_dark(background: Rgb) -> bool {
    background.contrast(Rgb::WHITE) >= background.contrast(Rgb::BLACK)
}

/// Returns the nearest entry that is readable on a background.
pub(crate) fn readable(color: Rgb, background: Rgb) -> u8 {
    palette::nearest_where(color, |entry| entry.contrast(background) >= READABLE)
        .unwrap_or_else(|| palette::nearest(color))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(theme: &Theme) -> Vec<u8> {
        [
            Role::Normal,
            Role::Accent,
            Role::Colorful,
            Role::Green,
            Role::Red,
        ]
        .iter()
        .filter_map(|role| theme.color(*role))
        .collect()
    }

    #[test]
    fn white_on_black_has_the_documented_colours() {
        assert_eq!(roles(&Theme::default()), [231, 247, 75, 29, 167]);
    }

    #[test]
    fn black_on_white_has_the_darker_blue() {
        let theme = Theme::new(Rgb::BLACK, Rgb::WHITE);
        assert!(!theme.is_dark());
        assert_eq!(theme.color(Role::Normal), Some(16));
        assert_eq!(
            theme.color(Role::Colorful),
            Some(palette::nearest(Rgb(24, 128, 255)))
        );
    }

    #[test]
    fn code_is_readable_on_every_background() {
        let grey = (0..=255).step_by(5).map(|v| Rgb(v, v, v));
        let tinted = [
            Rgb(0, 43, 54),
            Rgb(253, 246, 227),
            Rgb(40, 42, 54),
            Rgb(128, 0, 128),
        ];
        for background in grey.chain(tinted) {
            let theme = Theme::new(Rgb::WHITE, background);
            for (syntax, ..) in SYNTAX {
                let entry = theme.color(Role::Code(syntax)).expect("a colour");
                let contrast = palette::rgb(entry).contrast(background);
                assert!(
                    contrast >= READABLE,
                    "{syntax:?} on {background:?}: {contrast}"
                );
            }
        }
    }

    #[test]
    fn parts_of_code_differ_on_black_and_on_white() {
        for background in [Rgb::BLACK, Rgb::WHITE] {
            let theme = Theme::new(Rgb::WHITE, background);
            let mut entries: Vec<_> = SYNTAX
                .iter()
                .map(|(syntax, ..)| theme.color(Role::Code(*syntax)))
                .collect();
            entries.sort_unstable();
            entries.dedup();
            assert_eq!(entries.len(), SYNTAX.len());
        }
    }

    #[test]
    fn overrides_replace_the_computed_colours() {
        let theme = Theme::default()
            .with(Role::Accent, Rgb(255, 0, 0))
            .with(Role::Colorful, Rgb(0, 255, 0));
        assert_eq!(roles(&theme), [231, 196, 46, 29, 167]);
    }

    #[test]
    fn mono_keeps_attributes_only() {
        let style = Style::of(Role::Literal(3)).bold();
        let look = Theme::mono().look(Style {
            background: Some(4),
            ..style
        });
        assert_eq!(
            look,
            Look {
                bold: true,
                ..Look::default()
            }
        );
    }
}
