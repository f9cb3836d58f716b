//! Colours and attributes, and the SGR sequences that set them.

use vte::Params;

use crate::palette::{self, Rgb};

/// The look of a character; colours are entries of the 256-colour palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "attributes are independent of each other"
)]
pub(crate) struct Attributes {
    pub(crate) foreground: Option<u8>,
    pub(crate) background: Option<u8>,
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
    pub(crate) reverse: bool,
}

impl Attributes {
    /// Applies the parameters of an SGR sequence.
    pub(crate) fn apply(&mut self, parameters: &Params) {
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
                    self.set_color(code, color);
                }
                4 => self.underline = parameter.get(1) != Some(&0),
                _ => self.set(code),
            }
        }
    }

    /// Returns true if a character with these attributes leaves no visible trace.
    pub(crate) fn hides(self, character: char) -> bool {
        character == ' '
            && self.background.is_none()
            && !(self.reverse || self.underline || self.strike)
    }

    fn set(&mut self, code: u16) {
        match code {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            3 => self.italic = true,
            7 => self.reverse = true,
            9 => self.strike = true,
            21 => self.underline = true,
            22 => (self.bold, self.dim) = (false, false),
            23 => self.italic = false,
            24 => self.underline = false,
            27 => self.reverse = false,
            29 => self.strike = false,
            30..=37 => self.foreground = u8::try_from(code - 30).ok(),
            39 => self.foreground = None,
            40..=47 => self.background = u8::try_from(code - 40).ok(),
            49 => self.background = None,
            90..=97 => self.foreground = u8::try_from(code - 90 + 8).ok(),
            100..=107 => self.background = u8::try_from(code - 100 + 8).ok(),
            _ => {}
        }
    }

    fn set_color(&mut self, code: u16, color: Option<u8>) {
        match (code, color) {
            (38, Some(_)) => self.foreground = color,
            (48, Some(_)) => self.background = color,
            _ => {}
        }
    }
}

/// Reads a colour written with semicolons: its parts are separate parameters.
fn separate_color<'a>(parameters: &mut impl Iterator<Item = &'a [u16]>) -> Option<u8> {
    let mut next = || parameters.next().and_then(|part| part.first().copied());
    match next()? {
        5 => color(&[5, next()?]),
        2 => color(&[2, next()?, next()?, next()?]),
        _ => None,
    }
}

/// Reads a colour from its parts: `5;entry`, `2;r;g;b`, or `2;space;r;g;b`.
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
