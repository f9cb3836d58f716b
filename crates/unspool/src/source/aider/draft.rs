//! An edit block that is still being written, for a stream that is shown as it
//! arrives: whether a line may start or continue one, and the result.

use super::edit::{self, Chat, file_name, is_replace, is_search, opening_fence};
use super::message::{self, Part};
use crate::event::Edit;

/// Lines that may be an edit block.
#[derive(Clone, Default)]
pub(super) struct Draft {
    /// With their ends.
    lines: Vec<String>,
    bytes: usize,
    stage: Stage,
    /// The line that closes the fence around it.
    fence: Option<String>,
}

/// The last part that was read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Nothing,
    Name,
    Fence,
    NameInFence,
    /// Between `SEARCH` and `REPLACE`, in a patch or in a diff.
    Inside(End),
    /// Only the end of its fence may be missing.
    Whole,
}

/// The end of the inside of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Replace,
    Patch,
    Diff,
}

/// Bytes that a block may hold.
const LONGEST: usize = 1 << 20;

/// The result of a draft.
#[derive(Debug, PartialEq)]
pub(super) enum Closed {
    Edits(Vec<Edit>),
    /// Text, and the line that closes the code that it opens.
    Text(String, Option<String>),
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes a line that may continue or start a block; returns false for any other.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let Some(stage) = self.next(line.trim_end()) else {
            return false;
        };
        self.stage = stage;
        self.bytes += line.len();
        self.lines.push(line.to_owned());
        true
    }

    /// Returns true if the start of a line may belong to the block.
    pub(super) fn may_take(&self, line: &str) -> bool {
        !matches!(self.stage, Stage::Name | Stage::Whole) || may_start(line)
    }

    /// Returns true if no line can follow.
    pub(super) fn is_over(&self) -> bool {
        let is_closed = self.stage == Stage::Whole
            && self.fence.is_some()
            && self.fence.as_deref() == self.lines.last().map(|line| line.trim_end());
        is_closed || self.bytes > LONGEST
    }

    fn next(&mut self, line: &str) -> Option<Stage> {
        let fence = opening_fence(line);
        match self.stage {
            Stage::Nothing | Stage::Name if fence.is_some() => {
                self.fence = fence;
                Some(Stage::Fence)
            }
            Stage::Whole if fence.is_some() && fence == self.fence => Some(Stage::Whole),
            Stage::Inside(end) => Some(if is_end(line, end) {
                Stage::Whole
            } else {
                self.stage
            }),
            _ if is_search(line) => Some(Stage::Inside(End::Replace)),
            Stage::Nothing | Stage::Fence if line == "*** Begin Patch" => {
                Some(Stage::Inside(End::Patch))
            }
            Stage::Fence if self.is_diff() && line.starts_with("--- ") => {
                Some(Stage::Inside(End::Diff))
            }
            Stage::Nothing if file_name(line).is_some() => Some(Stage::Name),
            Stage::Fence => {
                let name = file_name(line).filter(|name| name.contains(['.', '/']));
                name.filter(|name| !name.contains(' '))
                    .map(|_| Stage::NameInFence)
            }
            _ => None,
        }
    }

    fn is_diff(&self) -> bool {
        self.lines
            .last()
            .is_some_and(|line| line.trim_end() == "```diff")
    }

    /// Ends the draft.
    pub(super) fn close(&mut self) -> Closed {
        let Self {
            lines,
            stage,
            fence,
            ..
        } = std::mem::take(self);
        let block = lines.iter().map(|line| line.trim_end_matches(['\r', '\n']));
        let block: Vec<String> = block.map(str::to_owned).collect();
        let chat = Chat {
            format: "",
            files: &[],
        };
        let parts = message::parts(&block, chat);
        let edits = parts.into_iter().map(|part| match part {
            Part::Edits(edits) => Some(edits),
            _ => None,
        });
        match edits.collect::<Option<Vec<_>>>() {
            Some(edits) if !edits.is_empty() => Closed::Edits(edits.concat()),
            _ => Closed::Text(lines.concat(), fence.filter(|_| stage != Stage::Whole)),
        }
    }
}

fn is_end(line: &str, end: End) -> bool {
    match end {
        End::Replace => is_replace(line),
        End::Patch => line == "*** End Patch",
        End::Diff => line == "```",
    }
}

/// Returns true if the start of a line may be the first of a block.
pub(super) fn may_start(line: &str) -> bool {
    const MARKS: &[&str] = &["<<<<<", "*** Begin Patch"];
    let is_mark = |mark: &&str| line.starts_with(*mark) || mark.starts_with(line);
    MARKS.iter().any(is_mark) || !line.contains(char::is_whitespace) || edit::is_fence(line)
}
