//! The outcome of the edits in a message. The agent prints it after the message:
//! a line for each file, or a report on the blocks that failed.

use super::edit::{self, Chat};
use super::line::Fit;
use super::session::is_file_line;
use super::{marks, message, wrap};
use crate::event::{Edit, Payload, ToolStatus};
use crate::source::Emitter;

/// The report on a failed action of a patch.
const ACTION: &str = "Error applying action ";

/// A report on failed edits whose lines are still coming. It repeats the model's
/// blocks and looks like markdown; only its last sentences show where it ends.
#[derive(Clone, Debug)]
pub(super) struct Report {
    lines: Vec<String>,
    /// Its last sentence was read; more blocks may be named below it.
    has_end: bool,
}

impl Report {
    /// Returns true for the first line of a report.
    pub(super) fn starts(line: &str) -> bool {
        line.starts_with("The LLM did not conform to the edit format.")
            || (line.starts_with("# ") && line.contains(" failed to match!"))
    }

    pub(super) fn new(line: &str) -> Self {
        Self {
            lines: vec![line.to_owned()],
            has_end: false,
        }
    }

    /// Takes a line that belongs to the report.
    pub(super) fn extend(&mut self, line: &str) -> Fit {
        const ENDS: &[&str] = &[
            "docstrings, etc",
            "opening fence ```",
            "that failed to match.",
        ];
        let text = line.trim_end();
        if !self.takes(text) {
            return Fit::Outside;
        }
        self.has_end |= ENDS.iter().any(|end| text.ends_with(end));
        self.lines.push(text.to_owned());
        if text.ends_with("that failed to match.") {
            Fit::Last
        } else {
            Fit::Inside
        }
    }

    fn takes(&self, line: &str) -> bool {
        const MORE: &[&str] = &[
            "## ",
            "# The other ",
            "Don't re-send them.",
            "Just reply with fixed",
        ];
        let last = self.lines.last().map_or("", String::as_str);
        if line.is_empty() {
            return true;
        }
        if self.has_end {
            return last.starts_with("# The other ")
                || MORE.iter().any(|start| line.starts_with(start));
        }
        // The report on a patch is one paragraph.
        let is_general = |line: &&String| {
            line.is_empty()
                || line.starts_with("The LLM did not conform")
                || line.starts_with("http")
        };
        let detail = self.lines.iter().find(|line| !is_general(line));
        detail.is_none_or(|detail| !detail.starts_with(ACTION))
            || (!last.is_empty() && marks::note(line).is_none())
    }

    pub(super) fn text(&self) -> String {
        message::trim(&self.lines).join("\n")
    }
}

/// Records the outcome of the edits that a notice is about.
pub(super) fn record(notice: &str, out: &mut Emitter) {
    if let Some((path, status, reason)) = file_outcome(notice) {
        out.decide_edits(|edit| (edit.path == path).then(|| (status, reason.into())));
    } else if !Report::starts(notice) {
    } else if let Some((path, reason)) = failed_action(notice) {
        // The actions before it were applied, those after it were not reached.
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
    } else {
        let sections = notice.split("\n## ").skip(1).take(MOST_BLOCKS);
        let failed: Vec<FailedBlock> = sections.filter_map(failed_block).collect();
        out.decide_edits(|edit| Some(reported(edit, &failed, notice)));
    }
}

/// Cancels the edits of a message that was cut off.
pub(super) fn cancel(out: &mut Emitter) {
    out.decide_edits(|_| Some((ToolStatus::Canceled, Payload::default())));
}

/// Reads the outcome of one file.
fn file_outcome(text: &str) -> Option<(&str, ToolStatus, &'static str)> {
    let text = text.trim_end();
    if let Some(path) = text.strip_prefix("Applied edit to ") {
        return Some((path, ToolStatus::Ok, ""));
    }
    if let Some(path) = text.strip_prefix("Did not apply edit to ") {
        let path = path.strip_suffix(" (--dry-run)").unwrap_or(path);
        return Some((path, ToolStatus::Rejected, "--dry-run"));
    }
    let rest = text.strip_prefix("Skipping edits to ")?;
    let path = rest.split(" that ").next()?;
    Some((path, ToolStatus::Rejected, ""))
}

/// Returns the file that a patch is applied to: `Updating a.py`.
pub(super) fn patched(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let path = match text.strip_prefix("Updating and moving ") {
        Some(paths) => paths.split_once(" to ")?.0,
        None => ["Updating ", "Adding ", "Deleting "]
            .iter()
            .find_map(|start| text.strip_prefix(start))?,
    };
    is_file_line(path).then_some(path)
}

/// Returns the file and the reason of a failed action of a patch.
fn failed_action(report: &str) -> Option<(String, String)> {
    let mut lines = report.lines().skip_while(|line| !line.starts_with(ACTION));
    let mut text = lines.next()?.to_owned();
    for line in lines {
        wrap::join(&mut text, line);
    }
    let (_, rest) = text.strip_prefix(ACTION)?.split_once(" to ")?;
    let (path, reason) = rest.split_once(": ")?;
    Some((path.to_owned(), reason.trim().to_owned()))
}

/// A block that could not be applied.
struct FailedBlock {
    reason: String,
    hunks: Vec<Vec<String>>,
}

/// Blocks of a report that are read: each is compared with each edit.
const MOST_BLOCKS: usize = 256;

/// Reads a block that a report repeats, with the heading above it.
fn failed_block(section: &str) -> Option<FailedBlock> {
    let lines: Vec<String> = section.lines().map(str::to_owned).collect();
    let search = lines.iter().position(|line| edit::is_search(line))?;
    let heading = lines.get(..search)?.join(" ");
    let (_, reason) = heading.split_once(": ")?;
    let block = edit::Finder::new(&lines, Chat::default()).next(search, "?")?;
    let hunks = block.edits.into_iter().flat_map(|edit| edit.hunks);
    Some(FailedBlock {
        reason: reason.trim().to_owned(),
        hunks: hunks.map(|hunk| hunk.lines).collect(),
    })
}

/// Returns the outcome of an edit. A report that repeats no block is about the
/// whole message.
fn reported(edit: &Edit, failed: &[FailedBlock], report: &str) -> (ToolStatus, Payload) {
    if failed.is_empty() {
        let first = report.lines().next().unwrap_or_default();
        return (ToolStatus::Error, first.trim_start_matches("# ").into());
    }
    let hunks = || edit.hunks.iter().map(|hunk| &hunk.lines);
    let failure = failed
        .iter()
        .find(|block| block.hunks.iter().eq(hunks()) && block.reason.ends_with(&edit.path));
    match failure {
        Some(block) => (ToolStatus::Error, block.reason.as_str().into()),
        None => (ToolStatus::Ok, Payload::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the lines that belong to the report.
    fn length(lines: &[&str]) -> usize {
        let mut report = Report::new(lines[0]);
        let mut count = 1;
        for line in &lines[1..] {
            let fit = report.extend(line);
            count += usize::from(fit != Fit::Outside);
            if fit != Fit::Inside {
                break;
            }
        }
        count
    }

    #[test]
    fn the_last_sentence_ends_a_report() {
        let head = [
            "The LLM did not conform to the edit format.",
            "https://x",
            "",
        ];
        let block = [
            "# 1 SEARCH/REPLACE block failed to match!",
            "",
            "<<<<<<< SEARCH",
            ">>>>>>> REPLACE",
            "",
        ];
        let last = [
            "The SEARCH section must exactly match",
            "comments, indentation, docstrings, etc",
            "",
        ];
        let lines = [&head[..], &block, &last, &["Again."]].concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &block,
            &last,
            &[
                "# The other 1 block were applied successfully.",
                "Don't re-send them.",
                "Just reply with fixed versions of the block above that failed to match.",
                "You can use /undo",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &[
                "No file name:",
                "",
                "^^^ Bad/missing filename. before the",
                "opening fence ```",
                "Still bad.",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
        let lines = [
            &head[..],
            &[
                "Error applying action 'ADD' to x: already ",
                "exists: x",
                "Commit c45270d feat",
            ],
        ]
        .concat();
        assert_eq!(length(&lines), lines.len() - 1);
    }
}
