//! Defines classes for the 256 terminal colours, readable on light and dark
//! pages.
//!
//! `f` is a foreground on the page's background: the nearest readable colour.
//! `r` is a foreground on a background that a program chose, `b` such a
//! background: both unchanged.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::theme::{Rgb, readable, rgb};

/// The backgrounds of verbatim text in `page.css`.
const LIGHT: Rgb = Rgb(0xf6, 0xf6, 0xf4);
const DARK: Rgb = Rgb(0x1b, 0x1e, 0x24);

static RULES: LazyLock<String> = LazyLock::new(|| {
    let mut rules = String::new();
    for entry in 0..=u8::MAX {
        let own = rgb(entry);
        let (light, dark) = (readable(own, LIGHT), readable(own, DARK));
        let (own, light, dark) = (hex(own), hex(rgb(light)), hex(rgb(dark)));
        // Writing to a String cannot fail.
        let _ = writeln!(
            rules,
            ".f{entry}{{color:light-dark({light},{dark})}}.r{entry}{{color:{own}}}.b{entry}{{background:{own}}}"
        );
    }
    rules
});

/// Returns the rules of all classes.
pub(super) fn style() -> String {
    RULES.clone()
}

fn hex(Rgb(red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
