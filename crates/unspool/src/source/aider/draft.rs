//! An edit block that is still being written, line by line: where it begins,
//! whether it can go on, and what it was in the end. For a reader of words that
//! are shown as they come.

use super::edit::{self, Chat, file_name, is_replace, is_search, opening_fence};
use super::message::{self, Part};
use crate::event::Edit;

/// Lines that may be an edit block.
#[derive(Clone, Default)]
pub(in crate::source) struct Draft {
    /// With their ends.
    lines: Vec<String>,
    bytes: usize,
    stage: Stage,
    /// What closes the fence around it.
    fence: Option<String>,
}

/// What stands last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Nothing,
    Name,
    Fence,
    NameInFence,
    /// Between `SEARCH` and `REPLACE`, in a patch or in a diff.
    Inside(End),
    /// What the block lacks is at most the end of its fence.
    Whole,
}

/// What ends the inside of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Replace,
    Patch,
    Diff,
}

/// Bytes that a block may have.
const LONGEST: usize = 1 << 20;

/// What a draft was.
#[derive(Debug, PartialEq)]
pub(in crate::source) enum Closed {
    Edits(Vec<Edit>),
    /// Words, and what closes the code that they open.
    Words(String, Option<String>),
}

impl Draft {
    pub(in crate::source) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes a line that may belong to the block, or begin one.
    pub(in crate::source) fn takes(&mut self, line: &str) -> bool {
        let Some(stage) = self.next(line.trim_end()) else {
            return false;
        };
        self.stage = stage;
        self.bytes += line.len();
        self.lines.push(line.to_owned());
        true
    }

    /// Whether a line that has only begun may belong to the block.
    pub(in crate::source) fn may_take(&self, line: &str) -> bool {
        !matches!(self.stage, Stage::Name | Stage::Whole) || may_begin(line)
    }

    /// Whether no line can follow.
    pub(in crate::source) fn is_over(&self) -> bool {
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

    /// The block has ended, or is none.
    pub(in crate::source) fn close(&mut self) -> Closed {
        let Self {
            lines,
            stage,
            fence,
            ..
        } = std::mem::take(self);
        let bare = |line: &String| line.trim_end_matches(['\r', '\n']).to_owned();
        let block: Vec<String> = lines.iter().map(bare).collect();
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
            _ => Closed::Words(lines.concat(), fence.filter(|_| stage != Stage::Whole)),
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

/// Whether a line that has only begun may be the first of a block.
pub(in crate::source) fn may_begin(line: &str) -> bool {
    const MARKS: &[&str] = &["<<<<<", "*** Begin Patch"];
    let is_mark = |mark: &&str| line.starts_with(*mark) || mark.starts_with(line);
    MARKS.iter().any(is_mark) || !line.contains(char::is_whitespace) || edit::is_fence(line)
}
