//! Lines that were cut at 80 columns.
//!
//! aider-ce wraps its own lines and the model's at 80 columns. They are rejoined
//! where a value depends on it (arguments, commands, messages of the agent); the
//! model's prose stays wrapped.

use unicode_width::UnicodeWidthChar;

/// The width at which lines are cut when there is no terminal.
const COLUMNS: usize = 80;

/// Returns how many columns a text takes.
fn cells(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// Returns true if `next` is the rest of `line`: a cut line keeps its last blank,
/// or had no room for the next word and does not look finished.
pub(super) fn continues(line: &str, next: &str) -> bool {
    let Some(word) = next.split_whitespace().next() else {
        return false;
    };
    if next.starts_with([' ', '─']) || line.trim().is_empty() {
        return false;
    }
    let width = cells(line);
    let finished = line.ends_with(['.', ')', '!']) || (width < COLUMNS && line.ends_with(':'));
    let full = width >= COLUMNS / 2 && width + 1 + cells(word) > COLUMNS && !finished;
    width <= COLUMNS + 1 && (line.ends_with(' ') || full)
}

/// Appends the rest of a cut line.
pub(super) fn join(line: &mut String, rest: &str) {
    let split_word = || {
        let last = line.split_whitespace().next_back().unwrap_or_default();
        let first = rest.split_whitespace().next().unwrap_or_default();
        cells(line) >= COLUMNS && cells(last) + cells(first) > COLUMNS
    };
    if !line.ends_with(' ') && !line.is_empty() && !split_word() {
        line.push(' ');
    }
    line.push_str(rest);
}

/// Returns a cut line with its rest.
pub(super) fn joined(line: &str, rest: &str) -> String {
    let mut joined = line.to_owned();
    join(&mut joined, rest);
    joined
}

/// Rejoins the lines that were cut.
pub(super) fn rejoin<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut last = "";
    for line in lines {
        match joined.last_mut() {
            Some(open) if continues(last, line) => join(open, line),
            _ => joined.push(line.to_owned()),
        }
        last = line;
    }
    for line in &mut joined {
        line.truncate(line.trim_end().len());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_lines_are_rejoined() {
        let cut = ["Removed read-only file README.md from the ", "chat", "next"];
        assert_eq!(
            rejoin(cut),
            ["Removed read-only file README.md from the chat", "next"]
        );
        let long = "x".repeat(80);
        assert_eq!(rejoin([long.as_str(), "xx"]), ["x".repeat(82)]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cells("漢字 e\u{301}"), 6);
    }
}
