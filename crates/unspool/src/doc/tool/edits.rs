//! Renders file edits: a heading and a diff for each file.

use super::{Target, body, failure, spaced, stop};
use crate::doc::entry::{Detail, Part};
use crate::doc::{Block, DiffLine, Role, Sign, Span, Style};
use crate::event::{Edit, EditOp, Edits, ToolStatus};
use crate::sanitize;
use crate::session::Folder;

/// Renders edits outside tool calls. Edits that were rejected get only a heading and
/// the reason.
pub(in crate::doc) fn standalone_edits(
    group: &Edits,
    folder: Option<&Folder>,
    detail: &Detail,
) -> Vec<Part> {
    if group.status == ToolStatus::Ok {
        return edits(&group.edits, Role::Green, folder, detail);
    }
    let reason = group.reason.as_str();
    let is_redundant = group.status != ToolStatus::Error && reason.trim().is_empty();
    let heads = group.edits.iter().flat_map(|edit| {
        let mut edit = edit.clone();
        if group.status != ToolStatus::Error {
            edit.hunks.clear();
        }
        edit_parts(&edit, Role::Red, stop(group.status), folder, detail)
    });
    let why = failure(group.status, &reason, detail).filter(|_| !is_redundant);
    heads.chain(why).collect()
}

/// Renders edits: a heading and a diff for each file.
pub(super) fn edits(
    edits: &[Edit],
    bullet: Role,
    folder: Option<&Folder>,
    detail: &Detail,
) -> Vec<Part> {
    edits
        .iter()
        .flat_map(|edit| edit_parts(edit, bullet, None, folder, detail))
        .collect()
}

pub(super) fn edit_parts(
    edit: &Edit,
    bullet: Role,
    stop: Option<Span>,
    folder: Option<&Folder>,
    detail: &Detail,
) -> Vec<Part> {
    let word = match edit.op {
        EditOp::Add => "Add",
        EditOp::Delete => "Delete",
        EditOp::Move if edit.hunks.is_empty() => "Rename",
        EditOp::Move | EditOp::Update => "Edit",
    };
    let mut spans = match stop {
        Some(stop) => vec![stop, spaced(word)],
        None => vec![Span::new(word, Style::of(Role::Colorful).bold())],
    };
    let path = Target::path(&edit.path, folder);
    spans.push(spaced(&path.shown));
    let mut paths = path.whole;
    if !edit.new_path.is_empty() {
        let path = Target::path(&edit.new_path, folder);
        spans.push(Span::role(" →", Role::Accent));
        spans.push(spaced(&path.shown));
        if !paths.is_empty() && !path.whole.is_empty() {
            paths += " → ";
        }
        paths += &path.whole;
    }
    let mut parts = vec![Part {
        paths,
        ..Part::bulleted(bullet, vec![Block::Paragraph(spans)])
    }];
    if edit.op != EditOp::Delete && !edit.hunks.is_empty() && detail.lines != Some(0) {
        parts.push(Part::bare(vec![Block::Diff(diff_lines(edit, detail))]));
    }
    parts
}

/// The default line limit. A smaller limit also cuts diffs of existing files.
const USUAL_LINES: usize = 5;

/// Returns the diff of an edit. New files are cut to the line limit, around a
/// search match if there is one; other diffs are cut only if the limit is below
/// the default.
fn diff_lines(edit: &Edit, detail: &Detail) -> Vec<DiffLine> {
    let is_cut = |lines: &usize| edit.op == EditOp::Add || *lines < USUAL_LINES;
    let limit = detail.lines.filter(is_cut).unwrap_or(usize::MAX);
    let all: usize = edit.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let (start, end) = shown_lines(edit, all, limit, detail);
    let mut lines: Vec<DiffLine> = Vec::new();
    let mut at = 0;
    for hunk in &edit.hunks {
        if at > start && at < end {
            lines.push(DiffLine::Gap);
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let shown = diff_line(line, &mut old, &mut new, detail);
            if (start..end).contains(&at) {
                lines.push(shown);
            }
            at += 1;
            if at >= end {
                break;
            }
        }
    }
    if !lines.is_empty() {
        lines.splice(..0, (start > 0).then_some(DiffLine::More(start)));
        lines.extend((all > end).then(|| DiffLine::More(all - end)));
    }
    lines
}

/// Returns the range of diff lines to show.
fn shown_lines(edit: &Edit, all: usize, limit: usize, detail: &Detail) -> (usize, usize) {
    let lines = || edit.hunks.iter().flat_map(|hunk| &hunk.lines);
    let search = detail.search.as_ref();
    let found = search.and_then(|search| lines().position(|line| search.matches(line)));
    // Prefer a changed line: context alone says nothing about the change.
    let found = found.or_else(|| lines().position(|line| line.starts_with(['+', '-'])));
    let window = found.and_then(|found| body::window(found, all, limit));
    window.unwrap_or({
        let end = limit.min(all);
        // A single omitted line takes as much space as the count of omitted
        // lines.
        (0, if end + 1 == all { all } else { end })
    })
}

/// Parses a diff line and numbers it.
fn diff_line(
    line: &str,
    old: &mut Option<u64>,
    new: &mut Option<u64>,
    detail: &Detail,
) -> DiffLine {
    let mut chars = line.chars();
    let (sign, number, old) = match chars.next() {
        Some('+') => (Sign::Added, step(new), None),
        Some('-') => (Sign::Removed, step(old), None),
        _ => (Sign::Context, step(new), step(old)),
    };
    let role = match sign {
        Sign::Context => Role::Normal,
        Sign::Added => Role::Green,
        Sign::Removed => Role::Red,
    };
    let mut spans = vec![Span::role(sanitize::line(chars.as_str()), role)];
    body::cut(&mut spans, detail);
    DiffLine::Line {
        number,
        old,
        sign,
        spans,
    }
}

/// Returns the current number and increments it.
fn step(number: &mut Option<u64>) -> Option<u64> {
    let current = *number;
    *number = current.map(|number| number.saturating_add(1));
    current
}
