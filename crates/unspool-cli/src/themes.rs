//! Themes by name: built in, or in the user's theme files.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;
use unspool::doc::{Role, Syntax};
use unspool::theme::{Rgb, Theme};

/// A selected theme.
#[derive(Clone)]
pub(crate) enum Choice {
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// Bold and italics only.
    Mono,
    /// From a theme file.
    File(Box<Colours>),
}

/// A theme file. Missing colours are derived from the first two, or default to a
/// dark terminal's.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Colours {
    pub(crate) foreground: Option<Colour>,
    pub(crate) background: Option<Colour>,
    accent: Option<Colour>,
    colorful: Option<Colour>,
    green: Option<Colour>,
    red: Option<Colour>,
    code: Code,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Code {
    comment: Option<Colour>,
    keyword: Option<Colour>,
    string: Option<Colour>,
    number: Option<Colour>,
    r#type: Option<Colour>,
    function: Option<Colour>,
    constant: Option<Colour>,
    tag: Option<Colour>,
    attribute: Option<Colour>,
    operator: Option<Colour>,
}

/// A colour, written as `"#1e1e2e"` or `"1e1e2e"`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Colour(pub(crate) Rgb);

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_colour(&text).map(Self)
    }
}

/// Parses six hexadecimal digits, with or without `#`.
pub(crate) fn parse_colour(text: &str) -> Result<Rgb, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.len() == 6)
        .map(|number| {
            let [_, red, green, blue] = number.to_be_bytes();
            Rgb(red, green, blue)
        })
        .ok_or_else(|| "expected six hexadecimal digits such as 1e1e2e".to_owned())
}

impl Colours {
    /// Returns the theme with the colours of the file.
    pub(crate) fn applied_to(&self, theme: Theme) -> Theme {
        let code = &self.code;
        let named = [
            (Role::Accent, self.accent),
            (Role::Colorful, self.colorful),
            (Role::Green, self.green),
            (Role::Red, self.red),
            (Role::Code(Syntax::Comment), code.comment),
            (Role::Code(Syntax::Keyword), code.keyword),
            (Role::Code(Syntax::String), code.string),
            (Role::Code(Syntax::Number), code.number),
            (Role::Code(Syntax::Type), code.r#type),
            (Role::Code(Syntax::Function), code.function),
            (Role::Code(Syntax::Constant), code.constant),
            (Role::Code(Syntax::Tag), code.tag),
            (Role::Code(Syntax::Attribute), code.attribute),
            (Role::Code(Syntax::Operator), code.operator),
        ];
        named.into_iter().fold(theme, |theme, (role, colour)| {
            colour.map_or(theme.clone(), |Colour(rgb)| theme.with(role, rgb))
        })
    }
}

/// Returns the theme with this name: a built-in one, or the file with the extension
/// `.toml` in the folder of themes, or the file at this path.
pub(crate) fn named(
    name: &str,
    folder: impl FnOnce() -> anyhow::Result<PathBuf>,
) -> anyhow::Result<Choice> {
    match name {
        "dark" => return Ok(Choice::Dark),
        "light" => return Ok(Choice::Light),
        "mono" => return Ok(Choice::Mono),
        _ => {}
    }
    let path = if name.contains('/') {
        PathBuf::from(name)
    } else {
        folder()?.join(format!("{name}.toml"))
    };
    if !path.exists() {
        bail!(
            "there is no theme {name}: use dark, light or mono, or write {}",
            path.display()
        );
    }
    read(&path).with_context(|| format!("cannot use the theme {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<Choice> {
    let text = std::fs::read_to_string(path)?;
    Ok(Choice::File(Box::new(toml::from_str(&text)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_what_it_changes() {
        let file: Colours = toml::from_str(
            "foreground = '#ffffff'\naccent = 'ff0000'\n[code]\nkeyword = '#00ff00'\n",
        )
        .unwrap();
        let theme = file.applied_to(Theme::default());
        assert_eq!(theme.color(Role::Accent), Some(196));
        assert_eq!(theme.color(Role::Code(Syntax::Keyword)), Some(46));
        assert_eq!(
            theme.color(Role::Green),
            Theme::default().color(Role::Green)
        );
        assert!(toml::from_str::<Colours>("acent = '#ffffff'").is_err());
        assert!(toml::from_str::<Colours>("accent = 'red'").is_err());
    }
}
