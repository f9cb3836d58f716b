//! The 256 colours of xterm, and the search for the nearest one.
//!
//! Distances are measured in CIELAB, which matches perception. The first
//! sixteen entries are never chosen, because users customise them. Used by
//! `theme` for roles and by `doc` for true colours in command output.

use std::sync::LazyLock;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// White.
    pub const WHITE: Self = Self(255, 255, 255);
    /// Black.
    pub const BLACK: Self = Self(0, 0, 0);

    /// Mixes in another colour; `tenths` is the share of this one.
    pub(crate) fn mix(self, tenths: u16, other: Self) -> Self {
        let channel = |a: u8, b: u8| {
            let sum = u16::from(a) * tenths + u16::from(b) * (10 - tenths);
            u8::try_from((sum + 5) / 10).unwrap_or(u8::MAX)
        };
        Self(
            channel(self.0, other.0),
            channel(self.1, other.1),
            channel(self.2, other.2),
        )
    }

    /// Returns the WCAG relative luminance: 0 for black, 1 for white.
    pub(crate) fn luminance(self) -> f64 {
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Returns the WCAG contrast ratio: 1 to 21.
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if a > b { a / b } else { b / a }
    }

    fn lab(self) -> Lab {
        let (red, green, blue) = (linear(self.0), linear(self.1), linear(self.2));
        let curve = |t: f64| {
            if t > 216.0 / 24389.0 {
                t.cbrt()
            } else {
                (24389.0 / 27.0 * t + 16.0) / 116.0
            }
        };
        let x = curve((0.412_456 * red + 0.357_576 * green + 0.180_438 * blue) / 0.950_47);
        let y = curve(0.212_673 * red + 0.715_152 * green + 0.072_175 * blue);
        let z = curve((0.019_334 * red + 0.119_192 * green + 0.950_304 * blue) / 1.088_83);
        Lab(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
    }
}

/// Returns the linear intensity of an sRGB channel.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.040_45 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

#[derive(Clone, Copy)]
struct Lab(f64, f64, f64);

impl Lab {
    /// Returns the squared distance.
    fn distance(self, other: Self) -> f64 {
        (self.0 - other.0).powi(2) + (self.1 - other.1).powi(2) + (self.2 - other.2).powi(2)
    }
}

/// The first entry that looks the same on every terminal.
const FIRST: u8 = 16;

static LAB: LazyLock<Vec<Lab>> =
    LazyLock::new(|| (FIRST..=u8::MAX).map(|entry| rgb(entry).lab()).collect());

/// Returns the nearest entry from 16 on.
pub(crate) fn nearest(color: Rgb) -> u8 {
    nearest_where(color, |_| true).unwrap_or(FIRST)
}

/// Returns the nearest entry from 16 on that `accept` allows.
pub(crate) fn nearest_where(color: Rgb, accept: impl Fn(Rgb) -> bool) -> Option<u8> {
    let target = color.lab();
    (FIRST..=u8::MAX)
        .zip(LAB.iter())
        .filter(|(entry, _)| accept(rgb(*entry)))
        .min_by(|(_, a), (_, b)| a.distance(target).total_cmp(&b.distance(target)))
        .map(|(entry, _)| entry)
}

/// Returns the colour of an entry; for the first sixteen, xterm's default.
pub fn rgb(entry: u8) -> Rgb {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    const SYSTEM: [Rgb; 16] = [
        Rgb(0, 0, 0),
        Rgb(205, 0, 0),
        Rgb(0, 205, 0),
        Rgb(205, 205, 0),
        Rgb(0, 0, 238),
        Rgb(205, 0, 205),
        Rgb(0, 205, 205),
        Rgb(229, 229, 229),
        Rgb(127, 127, 127),
        Rgb(255, 0, 0),
        Rgb(0, 255, 0),
        Rgb(255, 255, 0),
        Rgb(92, 92, 255),
        Rgb(255, 0, 255),
        Rgb(0, 255, 255),
        Rgb(255, 255, 255),
    ];
    match entry {
        0..16 => SYSTEM[usize::from(entry)],
        16..232 => {
            let level = |part: u8| LEVELS[usize::from(part % 6)];
            let cube = entry - 16;
            Rgb(level(cube / 36), level(cube / 6), level(cube))
        }
        232.. => {
            let grey = 8 + 10 * (entry - 232);
            Rgb(grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_nearest_to_itself() {
        for entry in FIRST..=u8::MAX {
            assert_eq!(rgb(nearest(rgb(entry))), rgb(entry));
        }
    }

    #[test]
    fn contrast_matches_wcag() {
        assert!((Rgb::WHITE.contrast(Rgb::BLACK) - 21.0).abs() < 1e-9);
        assert!((Rgb::WHITE.contrast(Rgb::WHITE) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn greys_map_to_the_grey_ramp() {
        assert_eq!(nearest(Rgb(158, 158, 158)), 247);
        assert_eq!(nearest(Rgb::WHITE), 231);
        assert_eq!(nearest(Rgb::BLACK), 16);
    }
}
