//! An answer that is still being written, laid out as it grows: lines that no
//! further text can change are given out once, and all that were given out are
//! together those of [`Formatter::lines`] for the finished answer.

use super::{Formatter, indented, is_blank, room};
use crate::doc::Line;
use crate::doc::entry;
use crate::doc::stream::Stream;
use crate::layout::Printer;
use crate::session::{Entry, Item, Text};

/// Bytes of the open text that a preview looks at: more than fills a screen.
const WINDOW: usize = 1 << 14;

/// An answer that grows.
pub struct OpenText {
    stream: Stream,
    printer: Printer,
    indent: usize,
    /// How deep the entry is nested.
    depth: u32,
    /// Empty lines that are shown if something follows them.
    blank: Vec<Line>,
}

impl Formatter {
    /// Begins to lay out the answer of an entry, whatever its text is so far.
    pub fn open_text(&self, entry: &Entry, width: usize) -> OpenText {
        let empty = Entry {
            time: entry.time.clone(),
            agent: entry.agent.clone(),
            item: Item::Text(Text::default()),
        };
        let mut parts = entry::parts(&empty, &self.detail);
        self.stamp(&empty, &mut parts);
        let (indent, inner) = room(entry.depth(), width);
        let (first, rest) = parts
            .into_iter()
            .next()
            .map(|part| (part.first, part.rest))
            .unwrap_or_default();
        OpenText {
            stream: Stream::new(),
            printer: Printer::new(self.page(inner), &first, &rest),
            indent,
            depth: entry.depth(),
            blank: Vec::new(),
        }
    }
}

impl OpenText {
    /// Adds a piece of the text, and gives out the lines that are finished now.
    pub fn push(&mut self, piece: &str) -> Vec<Line> {
        self.stream.push(piece);
        self.finished()
    }

    /// Lays out what follows for another width.
    pub fn resize(&mut self, width: usize) {
        let (indent, inner) = room(self.depth, width);
        self.indent = indent;
        self.printer.resize(inner);
    }

    /// The text is complete: gives out the rest.
    pub fn finish(&mut self) -> Vec<Line> {
        self.stream.finish();
        self.finished()
    }

    /// Looks at what is open, for a view that is about to be painted, and gives
    /// out the lines that are finished now.
    pub fn refresh(&mut self) -> Vec<Line> {
        self.stream.refresh(WINDOW);
        self.finished()
    }

    /// The lines that may still change, as they looked at the last
    /// [`refresh`](Self::refresh); of very many, the last ones.
    pub fn open(&self) -> Vec<Line> {
        let mut lines = self.blank.clone();
        lines.extend(self.printer.preview(self.stream.open()));
        while lines.last().is_some_and(is_blank) {
            lines.pop();
        }
        indented(lines, self.indent)
    }

    fn finished(&mut self) -> Vec<Line> {
        let parts: Vec<_> = self.stream.take_finished().collect();
        let mut lines = std::mem::take(&mut self.blank);
        lines.extend(self.printer.print(&parts));
        let seen = lines.iter().rposition(|line| !is_blank(line));
        self.blank = lines.split_off(seen.map_or(0, |last| last + 1));
        indented(lines, self.indent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Agent;
    use crate::formatter::Config;

    const TEXT: &str = "# Title\n\nSome *words* that are long enough to be wrapped at forty.\n\n- one\n- two\n\n```rust\nfn main() {}\n\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.\n\n```\n\n\n```";

    #[test]
    fn lines_given_out_are_those_of_the_finished_answer() {
        for depth in [0, 2] {
            for timestamps in [false, true] {
                let formatter = Formatter::new(Config {
                    timestamps,
                    ..Config::default()
                });
                let entry = Entry {
                    time: Some("2026-01-02T03:04:05Z".to_owned()),
                    agent: (depth > 0).then(|| {
                        std::sync::Arc::new(Agent {
                            depth,
                            ..Agent::default()
                        })
                    }),
                    item: Item::Text(Text {
                        id: "a".to_owned(),
                        text: TEXT.to_owned(),
                    }),
                };
                let expected = formatter.text(&formatter.lines(&entry, 40));
                let mut open = formatter.open_text(&entry, 40);
                let mut lines = Vec::new();
                for character in TEXT.chars() {
                    lines.extend(open.push(&character.to_string()));
                    lines.extend(open.refresh());
                    let _ = open.open();
                }
                assert!(lines.len() > 5, "much is given out before the end");
                lines.extend(open.finish());
                assert_eq!(formatter.text(&lines), expected);
            }
        }
    }
}
