//! Long pastes, each represented by one placeholder character.
//!
//! A placeholder is a character of a private-use plane. [`Pasted::plain`] removes
//! such characters from all input, so nobody can type one. Deleting, undoing and
//! cursor movement treat a paste as one character, and no cost depends on its
//! length except for the pass that stores it.

#[cfg(test)]
use std::cell::Cell;

use crate::paint;

/// First placeholder character, and how many there are.
const FIRST: u32 = 0xF_0000;
const MOST: usize = 0xFFFD;

/// Size above which a paste gets a placeholder.
const LONG_BYTES: usize = 4_000;
const LONG_LINES: usize = 30;
/// Length of the prompt from which any paste gets a placeholder.
const FULL: usize = 32_000;
const LONG_IF_FULL: usize = 100;

struct Block {
    text: String,
    label: String,
}

/// The pastes in order.
#[derive(Default)]
pub(super) struct Pasted {
    blocks: Vec<Block>,
    /// Number of measured clusters, the cost of a frame.
    #[cfg(test)]
    measured: Cell<usize>,
}

impl Pasted {
    /// Stores a long paste. Returns the text to insert into a prompt of this
    /// length.
    pub(super) fn take(&mut self, text: &str, length: usize) -> String {
        let is_long = text.len() > LONG_BYTES
            || (length + text.len() > FULL && text.len() > LONG_IF_FULL)
            || memchr::memchr_iter(b'\n', text.as_bytes()).count() >= LONG_LINES;
        let text = Self::plain(text);
        match self.free().filter(|_| is_long) {
            Some(sign) => {
                let label = label(&text);
                self.blocks.push(Block { text, label });
                sign.to_string()
            }
            None => text,
        }
    }

    /// Returns the next free placeholder.
    fn free(&self) -> Option<char> {
        let number = Some(self.blocks.len()).filter(|number| *number < MOST)?;
        char::from_u32(FIRST + u32::try_from(number).ok()?)
    }

    /// Removes placeholder characters and normalises newlines to `\n`.
    pub(super) fn plain(text: &str) -> String {
        let mut plain = text.replace("\r\n", "\n").replace('\r', "\n");
        if plain.contains(is_sign) {
            plain = plain.replace(is_sign, "\u{FFFD}");
        }
        plain
    }

    fn block(&self, sign: char) -> Option<&Block> {
        let number = u32::from(sign).checked_sub(FIRST)?;
        self.blocks.get(usize::try_from(number).ok()?)
    }

    /// Returns the label of a placeholder.
    pub(super) fn label(&self, cluster: &str) -> Option<&str> {
        let sign = cluster.chars().next().filter(|sign| is_sign(*sign))?;
        self.block(sign).map(|block| block.label.as_str())
    }

    /// Replaces placeholders with their pastes.
    pub(super) fn expanded(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for letter in text.chars() {
            match self.block(letter) {
                Some(block) => out.push_str(&block.text),
                None => out.push(letter),
            }
        }
        out
    }

    /// Forgets all pastes.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    #[cfg(test)]
    pub(super) fn count(&self) {
        self.measured.set(self.measured.get() + 1);
    }

    #[cfg(test)]
    pub(super) fn measured(&self) -> usize {
        self.measured.get()
    }
}

/// Returns true for a placeholder character.
pub(super) fn is_sign(letter: char) -> bool {
    (FIRST..=FIRST + 0xFFFF).contains(&u32::from(letter))
}

/// Returns a label such as `[pasted 1,024 lines, 1.0 MB]`.
fn label(text: &str) -> String {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let lines = ends + usize::from(!text.ends_with('\n'));
    let lines = paint::count(lines, "line", "lines");
    format!("[pasted {lines}, {}]", size(text.len()))
}

/// Formats a size in bytes, rounded.
fn size(bytes: usize) -> String {
    let tenths = |unit: usize| (bytes * 10 + unit / 2) / unit;
    let (tenths, unit) = match bytes {
        0..1_000 => return paint::count(bytes, "byte", "bytes"),
        1_000..999_950 => (tenths(1_000), "KB"),
        _ => (tenths(1_000_000), "MB"),
    };
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_get_a_placeholder() {
        let mut pasted = Pasted::default();
        assert_eq!(pasted.take("short\r\ntext\r", 0), "short\ntext\n");
        let long = "0123456789\n".repeat(1000);
        let sign = pasted.take(&long, 0);
        assert_eq!(sign.chars().count(), 1);
        let label = pasted.label(&sign).unwrap();
        assert_eq!(label, "[pasted 1,000 lines, 11.0 KB]");
        assert_eq!(
            pasted.expanded(&format!("a {sign} b")),
            format!("a {long} b")
        );
        assert_eq!(pasted.take(&"x".repeat(200), FULL).chars().count(), 1);
    }

    #[test]
    fn placeholders_cannot_be_typed() {
        let mut pasted = Pasted::default();
        let sign = pasted.take(&"x".repeat(5000), 0);
        assert_eq!(pasted.take(&sign, 0), "\u{FFFD}");
    }

    #[test]
    fn sizes_are_rounded() {
        for (bytes, expected) in [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (999_949, "999.9 KB"),
            (999_950, "1.0 MB"),
            (1_048_576, "1.0 MB"),
            (12_345_678, "12.3 MB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
