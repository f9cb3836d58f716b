//! Whether the changes in the model's words were made: the agent says so behind
//! its message, of each file or in a report on the blocks that failed.

use super::edit::{self, Chat};
use super::report::Report;
use super::session::is_file_line;
use super::wrap;
use crate::event::{Edit, Payload, ToolStatus};
use crate::source::Emitter;

/// How the report on a patch goes on.
const ACTION: &str = "Error applying action ";

/// Decides on the changes of which the agent's own words tell.
pub(super) fn decide(text: &str, out: &mut Emitter) {
    if let Some((path, reason)) = Report::begins(text).then(|| action(text)).flatten() {
        // Those before it were applied, those behind it were not reached.
        let mut is_reached = true;
        out.decide_edits(|edit| {
            let failed = is_reached && edit.path == path;
            is_reached &= !failed;
            Some(match (failed, is_reached) {
                (true, _) => (ToolStatus::Error, reason.as_str().into()),
                (false, true) => (ToolStatus::Ok, Payload::default()),
                (false, false) => (ToolStatus::Canceled, Payload::default()),
            })
        });
    } else if Report::begins(text) {
        let failures = failures(text);
        out.decide_edits(|edit| Some(reported(edit, &failures, text)));
    } else if let Some((path, status, reason)) = of_file(text) {
        out.decide_edits(|edit| (edit.path == path).then(|| (status, reason.into())));
    }
}

/// The message was cut off: no change in it is made.
pub(super) fn stop(out: &mut Emitter) {
    out.decide_edits(|_| Some((ToolStatus::Canceled, Payload::default())));
}

/// The file that a line is about, and what became of its changes.
fn of_file(text: &str) -> Option<(&str, ToolStatus, &'static str)> {
    const DRY: &str = " (--dry-run)";
    let text = text.trim_end();
    if let Some(path) = text.strip_prefix("Applied edit to ") {
        return Some((path, ToolStatus::Ok, ""));
    }
    if let Some(path) = text.strip_prefix("Did not apply edit to ") {
        let path = path.strip_suffix(DRY).unwrap_or(path);
        return Some((path, ToolStatus::Rejected, "--dry-run"));
    }
    let rest = text.strip_prefix("Skipping edits to ")?;
    let path = rest.split(" that ").next()?;
    Some((path, ToolStatus::Rejected, ""))
}

/// The file that a line says is changed as a patch asks for.
pub(super) fn patched(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let moved = text.strip_prefix("Updating and moving ");
    let path = match moved {
        Some(paths) => paths.split_once(" to ")?.0,
        None => ["Updating ", "Adding ", "Deleting "]
            .iter()
            .find_map(|start| text.strip_prefix(start))?,
    };
    is_file_line(path).then_some(path)
}

/// The file of the action of a patch that failed, and why it did.
fn action(report: &str) -> Option<(String, String)> {
    let mut lines = report.lines().skip_while(|line| !line.starts_with(ACTION));
    let first = lines.next()?.to_owned();
    let words = lines.fold(first, |mut words, line| {
        wrap::join(&mut words, line);
        words
    });
    let (_, rest) = words.strip_prefix(ACTION)?.split_once(" to ")?;
    let (path, reason) = rest.split_once(": ")?;
    Some((path.to_owned(), reason.trim().to_owned()))
}

/// A block that could not be applied.
struct Failure {
    reason: String,
    lines: Vec<Vec<String>>,
}

/// Blocks of a report that are looked at: each is held against each change.
const MOST: usize = 256;

/// The blocks that a report repeats, each below its own heading.
fn failures(report: &str) -> Vec<Failure> {
    let sections = report.split("\n## ").skip(1);
    sections.take(MOST).filter_map(failure).collect()
}

fn failure(section: &str) -> Option<Failure> {
    let lines: Vec<String> = section.lines().map(str::to_owned).collect();
    let search = lines.iter().position(|line| edit::is_search(line))?;
    let heading = lines.get(..search)?.join(" ");
    let (_, reason) = heading.split_once(": ")?;
    let chat = Chat {
        format: "diff",
        files: &[],
    };
    let block = edit::Finder::new(&lines, chat).next(search, "?")?;
    let hunks = block.edits.into_iter().flat_map(|edit| edit.hunks);
    Some(Failure {
        reason: reason.trim().to_owned(),
        lines: hunks.map(|hunk| hunk.lines).collect(),
    })
}

/// What a report says of a change. One that repeats no block is about the whole
/// message.
fn reported(edit: &Edit, failures: &[Failure], report: &str) -> (ToolStatus, Payload) {
    if failures.is_empty() {
        return (ToolStatus::Error, general(report).into());
    }
    let lines = || edit.hunks.iter().map(|hunk| &hunk.lines);
    let failed = failures
        .iter()
        .find(|failure| failure.lines.iter().eq(lines()) && failure.reason.ends_with(&edit.path));
    match failed {
        Some(failure) => (ToolStatus::Error, failure.reason.as_str().into()),
        None => (ToolStatus::Ok, Payload::default()),
    }
}

/// The first words of a report that say more than where help is.
fn general(report: &str) -> &str {
    let first = report.lines().next().unwrap_or_default();
    first.trim_start_matches("# ")
}
