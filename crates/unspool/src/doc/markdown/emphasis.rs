//! Distinguishes emphasis from the same characters in paths, patterns and formulas.

use std::ops::Range;

/// Returns true if an emphasised range, marks included, is set apart like words
/// are: `**now**` is emphasis, `src/*.rs and tests/*.rs`, `__init__.py` and
/// `2*3*4` contain none. The parser follows `CommonMark`, which takes all of
/// them.
pub(in crate::doc) fn is_emphasis(source: &str, range: &Range<usize>) -> bool {
    let before = source
        .get(..range.start)
        .and_then(|text| text.chars().next_back());
    let mut after = source.get(range.end..).unwrap_or_default().chars();
    // At most the marks of bold and italic text, so that long runs of marks take
    // linear time.
    let inside = source.get(range.start..).unwrap_or_default().chars();
    let mut inside = inside
        .enumerate()
        .skip_while(|(at, c)| *at < 3 && "*_~".contains(*c));
    let is_apart = |beside: Option<char>| {
        beside.is_none_or(|c| !c.is_ascii_alphanumeric() && !"/\\.*_$".contains(c))
    };
    let is_followed = match after.next() {
        // A full stop ends a sentence, or starts a file extension.
        Some('.') => after.next().is_none_or(|c| !c.is_ascii_alphanumeric()),
        next => is_apart(next),
    };
    let is_wordy = |edge: Option<char>| edge.is_some_and(|c| !"/\\.,;:)".contains(c));
    is_apart(before) && is_followed && is_wordy(inside.next().map(|(_, c)| c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_emphasis_and_patterns_are_not() {
        let check = |text: &str, marked: &str| {
            let start = text.find(marked).unwrap();
            is_emphasis(text, &(start..start + marked.len()))
        };
        for (text, marked) in [
            ("**Fix** it", "**Fix**"),
            ("do it **now**.", "**now**"),
            ("(*maybe*)", "*maybe*"),
            ("~~old~~, new", "~~old~~"),
            ("**修复**代码", "**修复**"),
            ("**`x`** and", "**`x`**"),
        ] {
            assert!(check(text, marked), "{text}");
        }
        for (text, marked) in [
            ("src/*.rs and tests/*.rs", "*.rs and tests/*"),
            ("__init__.py", "__init__"),
            ("2*3*4", "*3*"),
            ("*.rs, *.toml*", "*.rs, *.toml*"),
        ] {
            assert!(!check(text, marked), "{text}");
        }
    }
}
