//! Finds cut points: the start of the open unit, and the start of a view's
//! window.

use crate::doc::markdown::Unit;

/// Returns the offset of the open text: the last unit, with the definitions
/// directly before it, whose title may still continue.
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

/// Returns the start of the line that contains this offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

/// Returns about the last `window` bytes. The start moves in large steps, so a
/// view does not flicker.
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
