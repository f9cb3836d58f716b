//! How many cells text takes: the one width function of the code base.
//!
//! Terminals disagree about emoji; this is what we count, and what ratatui
//! counts, so that a line laid out here is painted as wide as it was measured.
//! The unit is the grapheme cluster; the width of a text is the sum of those of
//! its clusters.
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
//! The last row is ours: `unicode-width` 0.2.2, at which Cargo.lock is held,
//! counts them as 0 and terminals as 1; ratatui adds the same one.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The cells of a clean text without line ends.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(cluster).sum()
}

/// The cells of one grapheme cluster.
pub fn cluster(text: &str) -> usize {
    if text.len() == 1 {
        return 1;
    }
    let sound_marks = text
        .chars()
        .filter(|c| matches!(c, '\u{FF9E}' | '\u{FF9F}'));
    text.width() + sound_marks.count()
}

/// The cells of a line of spans. Clusters that reach over the border of two
/// spans are counted as one.
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

    #[test]
    fn the_policy_table_holds() {
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
