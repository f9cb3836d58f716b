//! Lines that were cut at the width of the terminal, which is 80 columns on a pipe.
//!
//! aider-ce wraps its own lines and the model's; aider wraps its own. A cut line
//! keeps its last blank, or fills the width. Lines are rejoined before they are
//! classified; the model's prose stays wrapped.

use unicode_width::UnicodeWidthChar;

use super::line;

/// The width at which lines are cut when nothing shows another one.
const COLUMNS: usize = 80;
/// The narrowest width that is told from lines which happen to end with a blank.
const NARROWEST: usize = 30;

/// Returns how many columns a text takes.
fn cells(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The width at which lines are cut, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    /// The length of the rules between turns.
    rule: usize,
    /// The longest of the lines that were cut.
    least: usize,
    /// The shortest line that the next word of a cut line did not fit on, less one.
    most: Option<usize>,
}

impl Columns {
    /// Returns the bounds of the width.
    fn bounds(self) -> (usize, usize) {
        match self.most {
            _ if self.rule > 0 => (self.rule, self.rule),
            Some(most) if most < COLUMNS || self.least > COLUMNS => (self.least, most),
            _ => (COLUMNS, COLUMNS),
        }
    }

    /// Takes the length of a rule, which fills the width.
    pub(super) fn observe_rule(&mut self, line: &str) {
        if line::is_rule(line) {
            self.rule = cells(line.trim_end());
        }
    }

    /// Takes two lines of which the first ends with a blank.
    fn observe(&mut self, width: usize, word: usize) {
        if width >= NARROWEST {
            let is_wider = self.most.is_some_and(|most| width > most);
            let most = self.most.filter(|_| !is_wider).unwrap_or(usize::MAX);
            self.most = Some(most.min(width + word));
            self.least = self.least.max(width);
        }
    }

    /// Returns true if a line may have been cut.
    pub(super) fn may_cut(self, line: &str) -> bool {
        let is_waiting = line.ends_with("]: ") || line.ends_with("> ");
        let (least, most) = self.bounds();
        // Without the exact width a sentence that ends there is more likely whole.
        let is_sure = least == most || !line.ends_with(['.', ')', '!', '?', ':']);
        let is_full = || is_sure && (least..=most).contains(&cells(line)) && !line::is_rule(line);
        (ends_with_blank(line) && !is_waiting) || is_full()
    }

    /// Returns true if `next` is the rest of a line that may have been cut. In code
    /// a blank at the end is not enough: the next word must have had no room.
    pub(super) fn cuts(&mut self, line: &str, next: &str, is_code: bool) -> bool {
        let Some(word) = next.split_whitespace().next() else {
            return false;
        };
        if next.starts_with(' ') || line::is_rule(next) {
            return false;
        }
        let (width, word) = (cells(line.trim_end()), cells(word));
        if ends_with_blank(line) {
            self.observe(width, word);
        }
        let (least, most) = self.bounds();
        let has_room = width + 1 + word <= least;
        width <= most && (!has_room || (ends_with_blank(line) && !is_code))
    }

    /// Returns true if `next` is the rest of `line`, which is the agent's and
    /// may have lost its last blank.
    pub(super) fn continues(self, line: &str, next: &str) -> bool {
        let Some(word) = next.split_whitespace().next() else {
            return false;
        };
        if next.starts_with([' ', '─']) || line.trim().is_empty() {
            return false;
        }
        let (columns, most) = self.bounds();
        let width = cells(line);
        let finished = line.ends_with(['.', ')', '!']) || (width < columns && line.ends_with(':'));
        let full = width >= columns / 2 && width + 1 + cells(word) > columns && !finished;
        width <= most + 1 && (line.ends_with(' ') || full)
    }
}

/// Returns true if exactly one blank follows the last word.
fn ends_with_blank(line: &str) -> bool {
    line.strip_suffix(' ')
        .is_some_and(|line| !line.ends_with(' ') && !line.is_empty())
}

/// Lines of the input that are one line of the agent's.
#[derive(Clone, Default)]
pub(super) struct Row {
    /// The lines as they came.
    pub(super) raw: String,
    /// The same as one line.
    pub(super) text: String,
    /// The last of them.
    last: String,
}

impl Row {
    pub(super) fn new(raw: &str, text: &str) -> Self {
        Self {
            raw: raw.to_owned(),
            text: text.to_owned(),
            last: text.to_owned(),
        }
    }

    pub(super) fn is_cut(&self, columns: Columns) -> bool {
        columns.may_cut(&self.last)
    }

    pub(super) fn takes(&self, next: &str, columns: &mut Columns, is_code: bool) -> bool {
        columns.cuts(&self.last, next, is_code)
    }

    pub(super) fn push(&mut self, raw: &str, text: &str) {
        // A line without a blank is a part of a longer word.
        let is_part = !self.last.contains(' ');
        if !is_part && !self.last.ends_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.raw.extend(["\n", raw]);
        text.clone_into(&mut self.last);
    }
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

/// Rejoins the lines that were cut.
pub(super) fn rejoin<'a>(
    lines: impl IntoIterator<Item = &'a str>,
    columns: Columns,
) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut last = "";
    for line in lines {
        match joined.last_mut() {
            Some(open) if columns.continues(last, line) => join(open, line),
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
            rejoin(cut, Columns::default()),
            ["Removed read-only file README.md from the chat", "next"]
        );
        let long = "x".repeat(80);
        assert_eq!(
            rejoin([long.as_str(), "xx"], Columns::default()),
            ["x".repeat(82)]
        );
    }

    #[test]
    fn the_width_follows_from_lines_that_were_cut() {
        let words =
            "Errors were found in the arguments of the call, so that it was not made at all.";
        for width in [40, 60, 100] {
            let mut columns = Columns::default();
            let first: String = words.chars().take(width).collect();
            let (line, _) = first.rsplit_once(' ').unwrap();
            let line = format!("{line} ");
            let rest = words.get(line.len()..).unwrap_or("next");
            if width < words.len() {
                assert!(columns.may_cut(&line) && columns.cuts(&line, rest, true));
                let (least, most) = columns.bounds();
                assert!((least..=most).contains(&width));
            }
            columns.observe_rule(&"─".repeat(width));
            assert_eq!(columns.bounds(), (width, width));
            assert!(columns.may_cut(&"x".repeat(width)));
            assert!(!columns.cuts("A sloppy line ", "here", true));
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cells("漢字 e\u{301}"), 6);
    }
}
