//! Marks changed words within diffs: compares each removed line with the added
//! line that replaces it.
//!
//! Used by full-screen views. Linear in the size of the diff.

use std::ops::Range;

use super::{DiffLine, Line, Sign, Span};

/// Lines longer than this are not compared.
const LONGEST: usize = 4000;

/// Returns the diff with changed words in bold and underlined.
pub fn mark_words(mut lines: Vec<DiffLine>) -> Vec<DiffLine> {
    let mut at = 0;
    while at < lines.len() {
        let removed = run(&lines, at, Sign::Removed);
        let added = run(&lines, at + removed, Sign::Added);
        for pair in 0..removed.min(added) {
            mark_pair(&mut lines, at + pair, at + removed + pair);
        }
        at += (removed + added).max(1);
    }
    lines
}

/// Counts consecutive lines with this sign from `from` on.
fn run(lines: &[DiffLine], from: usize, expected: Sign) -> usize {
    let has_sign =
        |line: &&DiffLine| matches!(line, DiffLine::Line { sign, .. } if *sign == expected);
    lines.iter().skip(from).take_while(has_sign).count()
}

fn mark_pair(lines: &mut [DiffLine], old: usize, new: usize) {
    let text = |at: usize| match lines.get(at) {
        Some(DiffLine::Line { spans, .. }) => spans.iter().map(|span| span.text.as_str()).collect(),
        _ => String::new(),
    };
    let (before, after) = (text(old), text(new));
    let Some((left, right)) = changed_ranges(&before, &after) else {
        return;
    };
    for (at, range) in [(old, left), (new, right)] {
        if let Some(DiffLine::Line { spans, .. }) = lines.get_mut(at) {
            *spans = emphasise(std::mem::take(spans), &range);
        }
    }
}

/// Splits a line into words with their byte offsets.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words: Vec<(usize, &str)> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut start = 0;
    let mut was_word = false;
    for (at, character) in text.char_indices() {
        if at > start && !(was_word && is_word(character)) {
            words.push((start, text.get(start..at).unwrap_or_default()));
            start = at;
        }
        was_word = is_word(character);
    }
    if start < text.len() {
        words.push((start, text.get(start..).unwrap_or_default()));
    }
    words
}

/// Returns the ranges that differ, or `None` if less than a third of the old
/// line is kept.
fn changed_ranges(before: &str, after: &str) -> Option<(Range<usize>, Range<usize>)> {
    if before.len().max(after.len()) > LONGEST {
        return None;
    }
    let (old, new) = (words(before), words(after));
    let same = |(a, b): &(&(usize, &str), &(usize, &str))| a.1 == b.1;
    let first = old.iter().zip(&new).take_while(same).count();
    let rest = old.len().min(new.len()) - first;
    let last = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(same)
        .count();
    let range = |words: &[(usize, &str)], length: usize| {
        let place = |at: usize| words.get(at).map_or(length, |(place, _)| *place);
        place(first)..place(words.len() - last)
    };
    let ranges = (range(&old, before.len()), range(&new, after.len()));
    let kept = before.trim().len().saturating_sub(ranges.0.len());
    (kept * 3 >= before.trim().len() && before != after).then_some(ranges)
}

/// Splits spans at the ends of a range and emphasises the text inside.
fn emphasise(spans: Line, range: &Range<usize>) -> Line {
    let mut line = Line::new();
    let mut at = 0;
    for span in spans {
        let end = at + span.text.len();
        let cut = |place: usize| place.clamp(at, end) - at;
        let (from, to) = (cut(range.start), cut(range.end));
        let pieces = [(0..from, false), (from..to, true), (to..end - at, false)];
        for (piece, is_emphasised) in pieces {
            let text = span.text.get(piece).unwrap_or_default();
            if !text.is_empty() {
                let mut style = span.style;
                style.bold |= is_emphasised;
                style.underline |= is_emphasised;
                line.push(Span {
                    text: text.to_owned(),
                    style,
                    link: span.link.clone(),
                });
            }
        }
        at = end;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::Style;

    fn line(sign: Sign, text: &str) -> DiffLine {
        DiffLine::Line {
            number: None,
            old: None,
            sign,
            spans: vec![Span::new(text, Style::default())],
        }
    }

    /// Returns the lines with `[` and `]` around emphasised text.
    fn shown(lines: Vec<DiffLine>) -> Vec<String> {
        let text = |line: DiffLine| match line {
            DiffLine::Line { spans, .. } => spans
                .iter()
                .map(|span| {
                    if span.style.underline {
                        format!("[{}]", span.text)
                    } else {
                        span.text.clone()
                    }
                })
                .collect(),
            _ => String::new(),
        };
        mark_words(lines).into_iter().map(text).collect()
    }

    #[test]
    fn changed_words_are_emphasised() {
        let lines = vec![
            line(Sign::Context, "same"),
            line(Sign::Removed, "let count = 1;"),
            line(Sign::Removed, "fn über(漢: u8)"),
            line(Sign::Added, "let total = 1;"),
            line(Sign::Added, "fn über(字: u8)"),
            line(Sign::Added, "entirely new"),
            line(Sign::Removed, "alpha"),
            line(Sign::Added, "beta"),
        ];
        assert_eq!(
            shown(lines),
            [
                "same",
                "let [count] = 1;",
                "fn über([漢]: u8)",
                "let [total] = 1;",
                "fn über([字]: u8)",
                "entirely new",
                "alpha",
                "beta"
            ]
        );
    }

    #[test]
    fn an_insertion_is_marked_only_in_the_new_line() {
        let lines = vec![line(Sign::Removed, "a b"), line(Sign::Added, "a x b")];
        assert_eq!(shown(lines), ["a b", "a [x ]b"]);
    }
}
