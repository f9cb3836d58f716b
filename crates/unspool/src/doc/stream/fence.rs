//! A fence that is still open, line by line.
//!
//! It ends where the parser would end it: at a line of at least as many of the
//! same marks, indented by less than four, with nothing but blanks behind them.
//! The lines go through one highlighter, which goes on where the last piece
//! ended.

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
    /// Lines that are highlighted already, in reverse.
    ready: Vec<Line>,
    /// Whether lines were handed out.
    started: bool,
}

impl Fence {
    /// A fence with this first line. `kept`: what is known of its lines.
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

    /// Takes complete lines: what they show, how many bytes were taken, and
    /// whether they end the fence.
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

    /// The last line, which has no end, of a message that ends in the fence.
    pub(super) fn last_line(&mut self, line: &str) -> Option<Part> {
        let shown = !ends_as_blank(line) && !self.is_closed_by(line);
        let lines = shown.then(|| self.line(line)).into_iter().collect();
        self.part(lines)
    }

    /// The line that is being written, unless it may become the end.
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

    /// The line without as much indentation as the fence has. What is left of a
    /// tab becomes blanks.
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

/// Whether the parser takes the end of the text for the end of the fence
/// instead of this line.
fn ends_as_blank(line: &str) -> bool {
    line.len() < 4 && line.bytes().all(|byte| byte == b' ')
}
