//! Renders diffs as runs of lines with the same sign, so that long diffs have
//! few elements. The page's script turns them into two columns.
//!
//! Each run consists of a gutter of numbers and the text beside it. Removed and
//! added text is in `del` and `ins`, for screen readers.

use std::fmt::Write as _;

use super::block::{self, Accent};
use crate::doc::{DiffLine, Line, Role, Sign, Span};

/// A line of a diff.
struct Row<'a> {
    number: Option<u64>,
    old: Option<u64>,
    spans: &'a Line,
}

pub(super) fn write(page: &mut String, lines: &[DiffLine]) {
    let is_change = lines
        .iter()
        .any(|line| sign(line).is_some_and(|sign| sign != Sign::Context));
    page.push_str(if is_change {
        "<div class=\"diff\" tabindex=\"0\"><div class=\"rows\">"
    } else {
        "<div class=\"diff list\" tabindex=\"0\"><div class=\"rows\">"
    });
    for run in lines.chunk_by(|a, b| sign(a).is_some() && sign(a) == sign(b)) {
        match run {
            [DiffLine::Gap] => {
                page.push_str(
                    "<p class=\"gap\"><span class=\"visually-hidden\">Lines not shown</span></p>",
                );
            }
            [DiffLine::More(count)] => {
                let _ = write!(page, "<p class=\"gap more\">… {count} more lines</p>");
            }
            run => self::run(page, run),
        }
    }
    page.push_str("</div></div>\n");
}

fn sign(line: &DiffLine) -> Option<Sign> {
    match line {
        DiffLine::Line { sign, .. } => Some(*sign),
        DiffLine::Gap | DiffLine::More(_) => None,
    }
}

fn run(page: &mut String, run: &[DiffLine]) {
    let rows: Vec<Row<'_>> = run.iter().filter_map(row).collect();
    let (class, tag, glyph) = match run.first().and_then(sign) {
        Some(Sign::Added) => ("added", Some("ins"), " +"),
        Some(Sign::Removed) => ("removed", Some("del"), " −"),
        Some(Sign::Context) | None => ("same", None, ""),
    };
    let _ = write!(page, "<pre class=\"numbers {class}\"");
    let old = rows.first().and_then(|row| row.old);
    if let Some(old) = old {
        let _ = write!(page, " data-old=\"{old}\"");
    }
    page.push_str(">\n");
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            page.push('\n');
        }
        if let Some(number) = row.number {
            let _ = write!(page, "{number}");
        }
        page.push_str(glyph);
    }
    let _ = write!(page, "</pre><pre class=\"lines {class}\">");
    if let Some(tag) = tag {
        let _ = write!(page, "<{tag}>");
    } else {
        page.push('\n');
    }
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            page.push('\n');
        }
        text(page, row.spans);
    }
    if let Some(tag) = tag {
        let _ = write!(page, "</{tag}>");
    }
    page.push_str("</pre>");
}

fn row(line: &DiffLine) -> Option<Row<'_>> {
    match line {
        DiffLine::Line {
            number, old, spans, ..
        } => Some(Row {
            number: *number,
            old: *old,
            spans,
        }),
        DiffLine::Gap | DiffLine::More(_) => None,
    }
}

/// Writes the text without its diff colour, which the run already has.
fn text(page: &mut String, spans: &[Span]) {
    for span in spans {
        let mut span = span.clone();
        if matches!(span.style.role, Role::Green | Role::Red) {
            span.style.role = Role::Normal;
        }
        block::spans(page, &[span], Accent::Muted);
    }
}
