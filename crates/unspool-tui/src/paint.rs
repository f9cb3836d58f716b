//! Drawing functions shared by all widgets: lines, rules, key hints.
//!
//! Nothing is painted outside the given area, however small it is.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unspool::doc::{Line, Role, Span};
use unspool::layout::{truncated, width};
use unspool::sanitize;
use unspool::theme::Theme;

use crate::convert;

/// Paints a line, truncated to its row.
pub(crate) fn put(buffer: &mut Buffer, row: Rect, line: &[Span], theme: &Theme) {
    let row = row.intersection(buffer.area);
    if row.is_empty() {
        return;
    }
    let cut = truncated(line, usize::from(row.width));
    buffer.set_line(row.x, row.y, &convert::line(&cut, theme), row.width);
}

/// Clears an area.
pub(crate) fn clear(buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    for place in area.positions() {
        if let Some(cell) = buffer.cell_mut(place) {
            cell.reset();
        }
    }
}

/// Paints a horizontal rule with a title.
pub(crate) fn rule(buffer: &mut Buffer, row: Rect, words: &[Span], theme: &Theme) {
    let room = usize::from(row.width);
    let mut line = Line::new();
    if !words.is_empty() {
        line.push(Span::role("── ", Role::Accent));
        line.extend(truncated(words, room.saturating_sub(5)));
        line.push(Span::role(" ", Role::Accent));
    }
    let rest = room.saturating_sub(wide(&line));
    line.push(Span::role("─".repeat(rest), Role::Accent));
    put(buffer, row, &line, theme);
}

/// Lays out as many key hints as fit, and a remark on the right.
pub(crate) fn keys(keys: &[(&str, &str)], remark: &str, room: usize) -> Line {
    let taken = if remark.is_empty() {
        0
    } else {
        width(remark) + 2
    };
    let mut room = room.saturating_sub(taken);
    let mut line = Line::new();
    for (key, what) in keys {
        let gap = if line.is_empty() { "" } else { "   " };
        let needed = width(gap) + width(key) + 1 + width(what);
        let Some(rest) = room.checked_sub(needed) else {
            break;
        };
        room = rest;
        line.push(Span::role(format!("{gap}{key} "), Role::Normal));
        line.push(Span::role(*what, Role::Accent));
    }
    if taken > 0 {
        line.push(Span::role(" ".repeat(room + 2), Role::Normal));
        line.push(Span::role(remark, Role::Accent));
    }
    line
}

/// Returns the width of a line in cells.
pub(crate) fn wide(line: &[Span]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// Escapes a grapheme cluster, so that nothing in it controls the terminal or is
/// invisible.
pub(crate) fn shown(cluster: &str) -> Cow<'_, str> {
    sanitize::line(cluster)
}

/// Formats a count with its noun.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    let word = if number == 1 { one } else { many };
    format!("{} {word}", grouped(number))
}

/// Formats a number with thousands separators.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
