//! Edit blocks in the model's words, in all formats: search/replace (file name
//! above or inside the fence), unified diffs without line numbers, whole files,
//! and `*** Begin Patch` texts.
//!
//! A block that is cut off or lacks a file name stays text.

use std::collections::HashMap;

use crate::event::{Edit, EditOp, Hunk};
use crate::patch;

/// The parts of the chat that edits depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chat<'a> {
    /// The edit format; empty if unknown.
    pub(super) format: &'a str,
    /// Files that the agent may edit, which therefore exist.
    pub(super) files: &'a [String],
}

/// A block, and its place in the message.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) begin: usize,
    /// The index after its last line.
    pub(super) end: usize,
    pub(super) edits: Vec<Edit>,
}

/// Finds the blocks in the lines of one message, in order. It remembers where it
/// found each mark, so that blocks that never close cost one pass.
pub(super) struct Finder<'a> {
    lines: &'a [String],
    chat: Chat<'a>,
    /// The end of the block before.
    from: usize,
    /// The index from which each mark was searched, and where it was found.
    known: HashMap<Mark, (usize, usize)>,
}

/// A line that continues or closes a block.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Mark {
    Divider,
    Replace,
    Fence(String),
}

impl Mark {
    fn is(&self, line: &str) -> bool {
        match self {
            Self::Divider => is_divider(line),
            Self::Replace => is_replace(line) || is_search(line),
            Self::Fence(fence) => line.trim_end() == fence,
        }
    }
}

/// `<<<<<<< SEARCH`, with five to nine brackets.
pub(super) fn is_search(line: &str) -> bool {
    let rest = line.trim_end().trim_start_matches('<');
    let rest = rest.strip_suffix('>').unwrap_or(rest);
    marks(line, '<') && rest == " SEARCH"
}

/// `>>>>>>> REPLACE`.
pub(super) fn is_replace(line: &str) -> bool {
    marks(line, '>') && line.trim_end().trim_start_matches('>') == " REPLACE"
}

fn is_patch(line: &str) -> bool {
    line.trim_end() == "*** Begin Patch"
}

fn is_divider(line: &str) -> bool {
    marks(line, '=') && line.trim_end().trim_start_matches('=').is_empty()
}

fn marks(line: &str, mark: char) -> bool {
    (5..=9).contains(&line.chars().take_while(|c| *c == mark).count())
}

/// Returns the line that closes the fence that a line opens.
pub(super) fn opening_fence(line: &str) -> Option<String> {
    let ticks = line.chars().take_while(|c| *c == '`').count();
    if ticks >= 3 {
        return Some("`".repeat(ticks));
    }
    ["source", "code", "pre", "codeblock", "sourcecode"]
        .iter()
        .find(|tag| line.trim_end() == format!("<{tag}>"))
        .map(|tag| format!("</{tag}>"))
}

fn is_closing_fence(line: &str) -> bool {
    let line = line.trim_end();
    (line.len() >= 3 && line.chars().all(|c| c == '`')) || line.starts_with("</")
}

/// Returns the file name in a line, without decoration.
pub(super) fn file_name(line: &str) -> Option<&str> {
    let name = line.trim().trim_end_matches(':').trim_start_matches('#');
    let name = name.trim().trim_matches(['`', '*']).trim();
    let plausible = !name.contains(char::is_whitespace)
        || (name.contains(['.', '/']) && !name.ends_with('.') && name.split(' ').count() <= 3);
    let is_name = !name.is_empty()
        && name != "..."
        && plausible
        && !name.contains(['<', '>', '{', '}', ';'])
        && name.chars().any(char::is_alphanumeric);
    is_name.then_some(name)
}

impl<'a> Finder<'a> {
    pub(super) fn new(lines: &'a [String], chat: Chat<'a>) -> Self {
        Self {
            lines,
            chat,
            from: 0,
            known: HashMap::new(),
        }
    }

    /// Returns the first block at or after `from`, which must not decrease. A block
    /// without a file name is for `path`, the file of the block before.
    pub(super) fn next(&mut self, from: usize, path: &str) -> Option<Block> {
        if matches!(self.chat.format, "ask" | "help" | "context") {
            return None;
        }
        self.from = from;
        (from..self.lines.len()).find_map(|index| {
            let line = self.line(index);
            if is_search(line) {
                self.search_replace(index, path)
            } else if is_patch(line) {
                self.patch(index)
            } else if opening_fence(line).is_some() {
                self.diff(index).or_else(|| self.whole(index))
            } else {
                None
            }
        })
    }

    fn line(&self, index: usize) -> &'a str {
        self.lines.get(index).map_or("", String::as_str)
    }

    /// Returns the line `distance` above `index`, unless another block has it.
    fn above(&self, index: usize, distance: usize) -> Option<&'a str> {
        let above = index.checked_sub(distance)?;
        (above >= self.from).then(|| self.line(above))
    }

    fn position(&self, from: usize, is: impl Fn(&str) -> bool) -> Option<usize> {
        (from..self.lines.len()).find(|index| is(self.line(*index)))
    }

    /// Finds a mark at or after `from`.
    fn mark(&mut self, from: usize, mark: Mark) -> Option<usize> {
        let known = self.known.get(&mark).copied();
        let at = match known {
            Some((looked, at)) if looked <= from && from <= at => at,
            _ => {
                let found = self.position(from, |line| mark.is(line));
                let at = found.unwrap_or(self.lines.len());
                self.known.insert(mark, (from, at));
                at
            }
        };
        (at < self.lines.len()).then_some(at)
    }

    fn text(&self, from: usize, to: usize) -> String {
        let lines = self.lines.get(from..to).unwrap_or_default();
        lines
            .iter()
            .fold(String::new(), |text, line| text + line + "\n")
    }

    fn exists(&self, path: &str) -> bool {
        self.chat.files.iter().any(|file| file == path)
    }

    fn search_replace(&mut self, index: usize, path: &str) -> Option<Block> {
        let divider = self.mark(index + 1, Mark::Divider)?;
        let replace = self.mark(divider + 1, Mark::Replace)?;
        if is_search(self.line(replace)) {
            return None;
        }
        let (begin, named, fenced) = self.name_above(index);
        let path = named.unwrap_or(path);
        if path.is_empty() {
            return None;
        }
        let closed = fenced && is_closing_fence(self.line(replace + 1));
        let old = self.text(index + 1, divider);
        let new = self.text(divider + 1, replace);
        Some(Block {
            begin,
            end: replace + 1 + usize::from(closed),
            edits: vec![self.replacement(path, &old, &new)],
        })
    }

    /// Converts a replacement; an empty search creates a file or appends to one.
    fn replacement(&self, path: &str, old: &str, new: &str) -> Edit {
        if !old.trim().is_empty() {
            patch::from_texts(path, Some(old), new, false)
        } else if self.exists(path) {
            patch::from_texts(path, Some(""), new, false)
        } else {
            patch::added(path, new)
        }
    }

    /// Returns the start of the block, the name of its file, and whether it is
    /// fenced.
    fn name_above(&self, index: usize) -> (usize, Option<&'a str>, bool) {
        let fence_at = |distance| {
            self.above(index, distance)
                .filter(|line| opening_fence(line).is_some())
        };
        if let Some(fence) = fence_at(1) {
            if let Some(name) = self.above(index, 2).and_then(file_name) {
                return (index - 2, Some(name), true);
            }
            let after = fence.trim_start_matches('`');
            let name = file_name(after).filter(|name| name.contains(['.', '/']));
            return (index - 1, name, true);
        }
        if let Some(name) = self.above(index, 1).and_then(file_name) {
            let fenced = fence_at(2).is_some();
            return (index - 1 - usize::from(fenced), Some(name), fenced);
        }
        // Rendered markdown has empty lines where the fence was.
        let blank = |distance| self.above(index, distance).is_some_and(str::is_empty);
        for distance in 2..=3 {
            if !blank(distance - 1) {
                break;
            }
            if let Some(name) = self.above(index, distance).and_then(file_name) {
                return (index - distance, Some(name), false);
            }
        }
        (index, None, true)
    }

    fn patch(&self, index: usize) -> Option<Block> {
        let is_end = |line: &str| line.trim_end() == "*** End Patch";
        let end = self.position(index + 1, |line| is_end(line) || is_patch(line))?;
        if !is_end(self.line(end)) {
            return None;
        }
        let edits = patch::begin_patch(&self.text(index, end + 1));
        let fenced = self
            .above(index, 1)
            .is_some_and(|line| opening_fence(line).is_some())
            && is_closing_fence(self.line(end + 1));
        (!edits.is_empty()).then(|| Block {
            begin: index - usize::from(fenced),
            end: end + 1 + usize::from(fenced),
            edits,
        })
    }

    fn diff(&self, index: usize) -> Option<Block> {
        let format = self.chat.format;
        let fits = format.is_empty() || format.contains("udiff");
        let opens = |line: &str| line.trim_end() == "```diff";
        if !fits || !opens(self.line(index)) || !self.is_file_header(index + 1) {
            return None;
        }
        let closes = |line: &str| line.trim_end() == "```";
        let end = self.position(index + 1, |line| closes(line) || opens(line))?;
        if !closes(self.line(end)) {
            return None;
        }
        let mut edits = Vec::new();
        let mut start = index + 1;
        for next in index + 2..=end {
            // Hunks without numbers have no known end.
            if next == end || (self.is_file_header(next) && self.line(next + 2).starts_with("@@")) {
                edits.extend(patch::unified("", &self.text(start, next)));
                start = next;
            }
        }
        for edit in edits.iter_mut().filter(|edit| edit.op == EditOp::Add) {
            number_new_file(edit);
        }
        (!edits.is_empty()).then_some(Block {
            begin: index,
            end: end + 1,
            edits,
        })
    }

    /// Returns true for the two lines that name a file in a diff.
    fn is_file_header(&self, index: usize) -> bool {
        self.line(index).starts_with("--- ") && self.line(index + 1).starts_with("+++ ")
    }

    /// Reads a whole file. Only the edit format distinguishes it from code shown
    /// under a file name.
    fn whole(&mut self, index: usize) -> Option<Block> {
        if !matches!(self.chat.format, "whole" | "editor-whole") {
            return None;
        }
        let fence = opening_fence(self.line(index))?;
        let path = file_name(self.above(index, 1)?)?;
        let end = self.mark(index + 1, Mark::Fence(fence))?;
        let mut edit = patch::added(path, &self.text(index + 1, end));
        if self.exists(path) {
            edit.op = EditOp::Update;
        }
        Some(Block {
            begin: index - 1,
            end: end + 1,
            edits: vec![edit],
        })
    }
}

/// Numbers the only hunk of a new file.
fn number_new_file(edit: &mut Edit) {
    if let [Hunk { new_start, .. }] = edit.hunks.as_mut_slice() {
        *new_start = Some(1);
    }
}

#[cfg(test)]
mod tests;
