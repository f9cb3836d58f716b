//! Where a text can be cut: before what is still open, and before the end of it
//! that a view shows.

use crate::doc::markdown::Unit;

/// Where the open text starts in what was parsed: at the last unit, and at the
/// definitions right before it, whose title may still go on.
pub(super) fn at_open_unit(text: &str, units: &[Unit]) -> usize {
    let Some((last, before)) = units.split_last() else {
        return 0;
    };
    let start = line_start(text, last.range.start);
    let end = before.last().map_or(0, |unit| unit.range.end).min(start);
    let mut cut = if end == line_start(text, end) { end } else { 0 };
    let mut at = end;
    for line in text
        .get(end..start)
        .unwrap_or_default()
        .split_inclusive('\n')
    {
        at += line.len();
        if line.trim_ascii().is_empty() {
            cut = at;
        }
    }
    cut
}

/// Where the line starts that holds this byte.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// About the last bytes of a text. Where they start moves in large steps, so
/// that a view does not flicker.
pub(super) fn last_bytes(text: &str, window: usize) -> &str {
    if text.len() <= window {
        return text;
    }
    let step = (window / 2).max(1);
    let mut start = (text.len() - window).div_ceil(step) * step;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = text.get(start..).unwrap_or_default();
    let near = |at: &usize| *at < step / 2;
    let line = end.find('\n').filter(near);
    let word = line.or_else(|| end.find(' ').filter(near));
    word.and_then(|at| end.get(at + 1..)).unwrap_or(end)
}
