//! The sequences that set colours and attributes.

use vte::Params;

use crate::doc::{Role, Style};
use crate::palette::{self, Rgb};

/// Changes a style as the parameters of a sequence say.
pub(super) fn apply(style: &mut Style, parameters: &Params) {
    let mut parameters = parameters.iter();
    while let Some(parameter) = parameters.next() {
        let code = parameter.first().copied().unwrap_or(0);
        match code {
            38 | 48 | 58 => {
                let color = match parameter {
                    [_] => separate_color(&mut parameters),
                    [_, parts @ ..] => color(parts),
                    [] => None,
                };
                set_color(style, code, color);
            }
            4 => style.underline = parameter.get(1) != Some(&0),
            _ => set(style, code),
        }
    }
}

fn set(style: &mut Style, code: u16) {
    match code {
        0 => *style = Style::default(),
        1 => style.bold = true,
        2 => style.dim = true,
        3 => style.italic = true,
        7 => style.reverse = true,
        9 => style.strike = true,
        21 => style.underline = true,
        22 => (style.bold, style.dim) = (false, false),
        23 => style.italic = false,
        24 => style.underline = false,
        27 => style.reverse = false,
        29 => style.strike = false,
        30..=37 => style.role = literal(code - 30),
        39 => style.role = Role::Normal,
        40..=47 => style.background = u8::try_from(code - 40).ok(),
        49 => style.background = None,
        90..=97 => style.role = literal(code - 90 + 8),
        100..=107 => style.background = u8::try_from(code - 100 + 8).ok(),
        _ => {}
    }
}

fn literal(entry: u16) -> Role {
    u8::try_from(entry).map_or(Role::Normal, Role::Literal)
}

fn set_color(style: &mut Style, code: u16, color: Option<u8>) {
    match (code, color) {
        (38, Some(entry)) => style.role = Role::Literal(entry),
        (48, Some(_)) => style.background = color,
        _ => {}
    }
}

/// A colour with semicolons: its parts are parameters of their own.
fn separate_color<'a>(parameters: &mut impl Iterator<Item = &'a [u16]>) -> Option<u8> {
    let mut next = || parameters.next().and_then(|part| part.first().copied());
    match next()? {
        5 => color(&[5, next()?]),
        2 => color(&[2, next()?, next()?, next()?]),
        _ => None,
    }
}

/// A colour by its parts: `5;entry`, `2;r;g;b`, or `2;space;r;g;b`.
fn color(parts: &[u16]) -> Option<u8> {
    match *parts {
        [5, entry, ..] => u8::try_from(entry).ok(),
        [2, r, g, b] | [2, _, r, g, b, ..] => {
            let rgb = Rgb(
                u8::try_from(r).ok()?,
                u8::try_from(g).ok()?,
                u8::try_from(b).ok()?,
            );
            Some(palette::nearest(rgb))
        }
        _ => None,
    }
}
