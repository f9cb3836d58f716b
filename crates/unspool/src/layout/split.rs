//! Lays out a diff in two columns: old lines at the left, new lines at the
//! right, replacements beside what they replace.
//!
//! Used by wide views; `layout/diff.rs` is for all others.

use crate::doc::{DiffLine, Line, Role, Sign, Span, Style};
use crate::layout::{folded, width};

/// Cells of a line number, and of the sign and the blank after it.
const NUMBER: usize = 5;
const GUTTER: usize = NUMBER + 2;
/// The separator of the columns.
const BETWEEN: &str = " │ ";

/// Below this width, two columns are too narrow to read.
pub const READABLE: usize = 100;

/// A line of one column.
#[derive(Clone)]
struct Cell {
    number: Option<u64>,
    sign: Sign,
    spans: Line,
}

/// Lays out a diff in two columns with this total width.
pub fn side_by_side(changes: &[DiffLine], columns: usize) -> Vec<Line> {
    let half = columns.saturating_sub(width::width(BETWEEN)) / 2;
    let half = half.max(GUTTER + 1);
    let mut lines = Vec::new();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for change in changes {
        match change {
            DiffLine::Line {
                number,
                old: before,
                sign,
                spans,
            } => {
                let cell = |number| Cell {
                    number,
                    sign: *sign,
                    spans: spans.clone(),
                };
                match sign {
                    Sign::Removed => {
                        if !new.is_empty() {
                            flush(&mut old, &mut new, half, &mut lines);
                        }
                        old.push(cell(*number));
                    }
                    Sign::Added => new.push(cell(*number)),
                    Sign::Context => {
                        flush(&mut old, &mut new, half, &mut lines);
                        old.push(cell(*before));
                        new.push(cell(*number));
                        flush(&mut old, &mut new, half, &mut lines);
                    }
                }
            }
            DiffLine::Gap => {
                flush(&mut old, &mut new, half, &mut lines);
                lines.push(vec![Span::role(
                    format!("{:>width$}", "⋮", width = NUMBER),
                    Role::Accent,
                )]);
            }
            DiffLine::More(count) => {
                flush(&mut old, &mut new, half, &mut lines);
                let noun = if *count == 1 { "line" } else { "lines" };
                let text = format!("{:GUTTER$}… +{count} {noun}", "");
                lines.push(vec![Span::role(text, Role::Accent)]);
            }
        }
    }
    flush(&mut old, &mut new, half, &mut lines);
    lines
}

/// Writes the pending lines of both columns side by side.
fn flush(old: &mut Vec<Cell>, new: &mut Vec<Cell>, half: usize, lines: &mut Vec<Line>) {
    let rows = old.len().max(new.len());
    let mut old = old.drain(..);
    let mut new = new.drain(..);
    for _ in 0..rows {
        let left = old
            .next()
            .map(|cell| column(cell, half))
            .unwrap_or_default();
        let right = new
            .next()
            .map(|cell| column(cell, half))
            .unwrap_or_default();
        let height = left.len().max(right.len());
        let mut left = left.into_iter();
        let mut right = right.into_iter();
        for _ in 0..height {
            let mut line = left.next().unwrap_or_default();
            let missing = half.saturating_sub(width::of_line(&line));
            line.push(Span::new(" ".repeat(missing), Style::default()));
            line.push(Span::role(BETWEEN, Role::Accent));
            line.extend(right.next().unwrap_or_default());
            lines.push(line);
        }
    }
}

/// Returns the rows of one line in its column.
fn column(cell: Cell, half: usize) -> Vec<Line> {
    let (glyph, role) = match cell.sign {
        Sign::Context => (" ", Role::Normal),
        Sign::Added => ("+", Role::Green),
        Sign::Removed => ("-", Role::Red),
    };
    let number = cell
        .number
        .map(|number| number.to_string())
        .filter(|number| number.len() <= NUMBER)
        .unwrap_or_default();
    let mut rows = folded(&cell.spans, half - GUTTER);
    if rows.is_empty() {
        rows.push(Line::new());
    }
    for (at, row) in rows.iter_mut().enumerate() {
        for span in row
            .iter_mut()
            .filter(|span| span.style.role == Role::Normal)
        {
            span.style.role = role;
        }
        let (number, glyph) = if at == 0 {
            (number.as_str(), glyph)
        } else {
            ("", " ")
        };
        row.insert(0, Span::role(glyph, role));
        row.insert(0, Span::role(format!("{number:>NUMBER$} "), Role::Accent));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: u64, old: Option<u64>, sign: Sign, text: &str) -> DiffLine {
        DiffLine::Line {
            number: Some(number),
            old,
            sign,
            spans: vec![Span::new(text, Style::default())],
        }
    }

    #[test]
    fn replacements_are_beside_what_they_replace() {
        let changes = [
            change(7, Some(5), Sign::Context, "fn main() {"),
            change(6, None, Sign::Removed, "old line that is long"),
            change(8, None, Sign::Added, "新しい行"),
            change(9, None, Sign::Added, "more"),
            DiffLine::Gap,
            change(20, Some(18), Sign::Context, ""),
        ];
        let lines = side_by_side(&changes, 47);
        let text = |line: &Line| -> String { line.iter().map(|span| span.text.as_str()).collect() };
        let shown: Vec<String> = lines.iter().map(text).collect();
        let shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
        assert_eq!(
            shown,
            [
                "    5  fn main() {     │     7  fn main() {",
                "    6 -old line that i │     8 +新しい行",
                "       s long          │",
                "                       │     9 +more",
                "    ⋮",
                "   18                  │    20",
            ]
        );
        assert!(lines.iter().all(|line| width::of_line(line) <= 47));
    }
}
