//! Measures text in terminal cells: the only width function of the workspace.
//!
//! Terminals disagree about emoji. This count matches ratatui's, so a line is
//! drawn as wide as it was measured. The unit is the grapheme cluster; the
//! width of a text is the sum over its clusters.
//!
//! | cluster | cells |
//! |---|---|
//! | ASCII, most letters, ambiguous width | 1 |
//! | CJK, fullwidth, emoji by default | 2 |
//! | text symbol + U+FE0F (`❤️`), keycaps (`1️⃣`) | 2 |
//! | emoji + U+FE0E | 1 |
//! | joined emoji (`👩‍👩‍👧`), skin tones, flags | 2 |
//! | combining marks, joiners | 0 |
//! | halfwidth sound marks U+FF9E, U+FF9F | 1 |
//!
//! The last row is our own rule: `unicode-width` 0.2.2, pinned in Cargo.lock,
//! counts these marks as 0, terminals as 1; ratatui makes the same correction.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the width of a sanitised text without newlines.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let (mut cells, mut bytes) = (0, 0);
    let is_apart = each_non_ascii(text, &mut |_, cluster, width| {
        cells += width;
        bytes += cluster.len();
    });
    if is_apart {
        return text.len() - bytes + cells;
    }
    let mut cells = 0;
    each_cluster(text, &mut |_, _, width| cells += width);
    cells
}

/// Visits the clusters that are not ASCII. Returns `false` if a cluster mixes
/// ASCII and other characters; the visits are then meaningless.
pub(crate) fn each_non_ascii(text: &str, visit: &mut dyn FnMut(usize, &str, usize)) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(next_non_ascii) {
        let start = at + offset;
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| !byte.is_ascii()).count();
        let run = text.get(start..start + length).unwrap_or_default();
        if run.chars().all(is_own_cluster) {
            clusters(run, &mut |at, cluster, cells| {
                visit(start + at, cluster, cells);
            });
        } else {
            // A neighbouring character may belong to the run's first or last
            // cluster.
            let from = start.saturating_sub(1);
            let to = (start + length + 1).min(bytes.len());
            let around = text.get(from..to).unwrap_or_default();
            for (at, text) in around.grapheme_indices(true) {
                if text.is_ascii() {
                    continue;
                }
                if text.bytes().any(|byte| byte.is_ascii()) {
                    return false;
                }
                visit(from + at, text, cluster(text));
            }
        }
        at = start + length;
    }
    true
}

fn next_non_ascii(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| !byte.is_ascii())
}

/// Visits each grapheme cluster with its start offset and width.
pub(crate) fn each_cluster(text: &str, visit: &mut dyn FnMut(usize, &str, usize)) {
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let end = start + boundary(rest);
        let part = text.get(start..end).unwrap_or_default();
        clusters(part, &mut |at, cluster, cells| {
            visit(start + at, cluster, cells);
        });
        start = end;
    }
}

/// Returns a safe split point: before the second of two ASCII letters or
/// blanks, near the last character that is not ASCII.
fn boundary(text: &str) -> usize {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ';
    let bytes = text.as_bytes();
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    let mut pairs = bytes.windows(2).enumerate().skip(ascii);
    pairs
        .find(|(_, pair)| pair.iter().all(|byte| is_plain(*byte)))
        .map_or(text.len(), |(at, _)| at + 1)
}

fn clusters(text: &str, visit: &mut dyn FnMut(usize, &str, usize)) {
    if text.chars().all(is_own_cluster) {
        for (at, character) in text.char_indices() {
            let cluster = text.get(at..at + character.len_utf8()).unwrap_or_default();
            let cells = if cluster.len() == 1 {
                1
            } else {
                character.width().unwrap_or(0)
            };
            visit(at, cluster, cells);
        }
    } else {
        for (at, text) in text.grapheme_indices(true) {
            visit(at, text, cluster(text));
        }
    }
}

/// Returns true for characters that never join with one another into a cluster
/// and keep their own width: printable ASCII, Latin letters, punctuation,
/// arrows, boxes, kana, Han, Hangul, smileys.
fn is_own_cluster(character: char) -> bool {
    matches!(
        character,
        ' '..='~'
            | '\u{C0}'..='\u{17F}'
            | '\u{2010}'..='\u{2027}'
            | '\u{2030}'..='\u{205E}'
            | '\u{2190}'..='\u{23FF}'
            | '\u{2500}'..='\u{27BF}'
            | '\u{3000}'..='\u{3029}'
            | '\u{3041}'..='\u{3096}'
            | '\u{309B}'..='\u{30FF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
            | '\u{FF01}'..='\u{FF60}'
            | '\u{1F300}'..='\u{1F3FA}'
            | '\u{1F400}'..='\u{1F64F}'
            | '\u{1F680}'..='\u{1F6FF}'
    )
}

/// Returns the width of one grapheme cluster.
pub fn cluster(text: &str) -> usize {
    if text.len() == 1 {
        return 1;
    }
    let sound_marks = text
        .chars()
        .filter(|c| matches!(c, '\u{FF9E}' | '\u{FF9F}'));
    text.width() + sound_marks.count()
}

/// Returns the width of a line. A cluster that spans two spans is counted once.
pub(crate) fn of_line(line: &[crate::doc::Span]) -> usize {
    match line {
        [] => 0,
        [span] => width(&span.text),
        _ if line.iter().all(|span| span.text.is_ascii()) => {
            line.iter().map(|span| span.text.len()).sum()
        }
        _ => width(
            &line
                .iter()
                .map(|span| span.text.as_str())
                .collect::<String>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks pairs, because two characters can join into one cluster.
    #[test]
    fn own_clusters_never_join() {
        let all: Vec<char> = ('\0'..=char::MAX).filter(|c| is_own_cluster(*c)).collect();
        let samples: Vec<char> = all.iter().copied().step_by(97).collect();
        assert!(samples.len() > 300);
        for first in &all {
            let pairs = samples
                .iter()
                .step_by(41)
                .map(|second| format!("{first}{second}{first}"));
            for text in pairs {
                let clusters: Vec<&str> = text.graphemes(true).collect();
                assert_eq!(clusters.len(), 3, "{text:?}");
                let cells: usize = clusters.into_iter().map(cluster).sum();
                assert_eq!(width(&text), cells, "{text:?}");
            }
        }
    }

    #[test]
    fn widths_match_the_table() {
        for (text, cells) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 1),
            ("漢字", 4),
            ("ｶﾞ", 2),
            ("ﾊﾟ", 2),
            ("…", 1),
            ("•", 1),
            ("🙂", 2),
            ("❤", 1),
            ("❤\u{FE0F}", 2),
            ("1\u{FE0F}\u{20E3}", 2),
            ("👩‍👩‍👧", 2),
            ("👍🏽", 2),
            ("🇩🇪", 2),
            ("한국어", 6),
            ("שלום", 4),
        ] {
            assert_eq!(width(text), cells, "{text}");
        }
    }
}
