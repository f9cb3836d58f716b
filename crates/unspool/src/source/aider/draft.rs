//! An edit block that is still being written, for a stream that is shown as it
//! arrives. Lines are held back only as long as they may be such a block.

use super::edit::{Chat, file_name, is_replace, is_search, opening_fence};
use super::message::{self, Part};
use crate::event::Edit;

/// Lines that may be an edit block.
#[derive(Clone, Default)]
pub(super) struct Draft {
    /// With their line ends.
    lines: Vec<String>,
    bytes: usize,
    stage: Stage,
    /// The line that closes the fence around it.
    fence: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// File name and fence.
    #[default]
    Head,
    /// The text up to this end.
    Inside(End),
    /// Only the end of its fence may be missing.
    Whole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Replace,
    Patch,
    Diff,
}

/// Bytes that a block may hold.
const LONGEST: usize = 1 << 20;

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
        let needs_mark = match self.stage {
            Stage::Head => !self.lines.is_empty() && self.fence.is_none(),
            Stage::Inside(_) => false,
            Stage::Whole => true,
        };
        !needs_mark || may_start(line)
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
        let above = self.lines.last().map(|line| line.trim_end());
        match self.stage {
            Stage::Inside(end) if is_end(line, end) => Some(Stage::Whole),
            Stage::Inside(_) => Some(self.stage),
            _ if is_search(line) => Some(Stage::Inside(End::Replace)),
            Stage::Whole => (fence.is_some() && fence == self.fence).then_some(Stage::Whole),
            Stage::Head if line == "*** Begin Patch" => Some(Stage::Inside(End::Patch)),
            Stage::Head if above == Some("```diff") && line.starts_with("--- ") => {
                Some(Stage::Inside(End::Diff))
            }
            Stage::Head if fence.is_some() && self.fence.is_none() => {
                self.fence = fence;
                Some(Stage::Head)
            }
            Stage::Head => {
                // The name is above the fence or directly below it.
                let name = file_name(line)?;
                let is_below_fence = above.is_some_and(|above| opening_fence(above).is_some());
                let is_path = name.contains(['.', '/']) && !name.contains(' ');
                let fits = self.is_empty() || (is_below_fence && is_path);
                fits.then_some(Stage::Head)
            }
        }
    }

    /// Ends the draft: returns its edits, or its text.
    pub(super) fn close(&mut self) -> Result<Vec<Edit>, String> {
        let lines = std::mem::take(self).lines;
        let block = lines.iter().map(|line| line.trim_end_matches(['\r', '\n']));
        let block: Vec<String> = block.map(str::to_owned).collect();
        let parts = message::parts(&block, Chat::default()).into_iter();
        let edits = parts.map(|part| match part {
            Part::Edits(edits) => Some(edits),
            _ => None,
        });
        let edits = edits
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default()
            .concat();
        if edits.is_empty() {
            Err(lines.concat())
        } else {
            Ok(edits)
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
    MARKS.iter().any(is_mark) || !line.contains(char::is_whitespace) || line.starts_with("```")
}
