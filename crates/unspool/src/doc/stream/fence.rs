//! Processes an open fenced code block line by line.
//!
//! It ends exactly where the Markdown parser would end it: at a line with at
//! least as many of the same marks, indented by less than four, followed only
//! by blanks. One highlighter continues across pieces.

use crate::doc::code::Highlighter;
use crate::doc::stream::Part;
use crate::doc::{Block, Line};
use crate::sanitize;

pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: String,
    highlighter: Highlighter,
    /// Lines already highlighted, in reverse order.
    ready: Vec<Line>,
    /// True if lines were returned before.
    started: bool,
}

impl Fence {
    /// Creates a fence from its first line. `kept` holds lines that are already
    /// highlighted.
    pub(super) fn new(
        opening: &str,
        language: &str,
        kept: Option<(Vec<Line>, Highlighter)>,
    ) -> Option<Self> {
        let marks = opening.trim_start_matches(' ');
        let mark = marks.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let (mut ready, highlighter) =
            kept.unwrap_or_else(|| (Vec::new(), Highlighter::new(language)));
        ready.reverse();
        Some(Self {
            mark,
            length: marks.len() - marks.trim_start_matches(mark).len(),
            indent: opening.len() - marks.len(),
            language: language.to_owned(),
            highlighter,
            ready,
            started: false,
        })
    }

    /// Processes complete lines; returns their part, the bytes consumed, and
    /// true if they close the fence.
    pub(super) fn take(&mut self, complete: &str) -> (Option<Part>, usize, bool) {
        let mut lines = Vec::new();
        let mut taken = 0;
        let mut closed = false;
        for line in complete.split_inclusive('\n') {
            taken += line.len();
            let line = line.trim_end_matches('\n');
            closed = self.is_closed_by(line);
            if closed {
                break;
            }
            let next = self.ready.pop();
            lines.push(next.unwrap_or_else(|| self.line(line)));
        }
        (self.part(lines), taken, closed)
    }

    /// Processes a last line without a newline, at the end of the message.
    pub(super) fn last_line(&mut self, line: &str) -> Option<Part> {
        let shown = !ends_as_blank(line) && !self.is_closed_by(line);
        let lines = shown.then(|| self.line(line)).into_iter().collect();
        self.part(lines)
    }

    /// Returns the incomplete line, unless it may become the closing fence.
    pub(super) fn rest(&self, line: &str) -> Option<Part> {
        if line.trim_matches([' ', self.mark]).is_empty() {
            return None;
        }
        let mut highlighter = self.highlighter.clone();
        let line = highlighter.line(&sanitize::text(&self.dedented(line)));
        Some(Part {
            continued: self.started,
            block: Block::fenced(&self.language, vec![line]),
        })
    }

    fn part(&mut self, lines: Vec<Line>) -> Option<Part> {
        if lines.is_empty() {
            return None;
        }
        let continued = std::mem::replace(&mut self.started, true);
        Some(Part {
            continued,
            block: Block::fenced(&self.language, lines),
        })
    }

    fn line(&mut self, line: &str) -> Line {
        let line = self.dedented(line);
        self.highlighter.line(&sanitize::text(&line))
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let rest = marks.trim_start_matches(self.mark);
        line.len() - marks.len() < 4
            && marks.len() - rest.len() >= self.length
            && rest.trim_start_matches(' ').is_empty()
    }

    /// Removes the fence's indentation. A partly removed tab becomes spaces.
    fn dedented(&self, line: &str) -> String {
        let mut left = self.indent;
        let mut tab_start = 0;
        let mut blanks = 0;
        let mut end = line.len();
        for (at, byte) in line.bytes().enumerate() {
            if left == 0 || !matches!(byte, b' ' | b'\t') {
                end = at;
                break;
            }
            let cells = match byte {
                b'\t' => 4 - (at - tab_start) % 4,
                _ => 1,
            };
            if byte == b'\t' {
                tab_start = at + 1;
            }
            blanks = cells.saturating_sub(left);
            left = left.saturating_sub(cells);
        }
        " ".repeat(blanks) + line.get(end..).unwrap_or_default()
    }
}

/// Returns true if the parser would end the fence before this line, because it
/// is blank and the text ends.
fn ends_as_blank(line: &str) -> bool {
    line.len() < 4 && line.bytes().all(|byte| byte == b' ')
}
