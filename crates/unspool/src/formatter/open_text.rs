//! Lays out an answer while it arrives. Lines that no later text can change are
//! returned once; together they equal the result of [`Formatter::lines`] for
//! the finished answer.

use super::{Formatter, indented, is_blank, room};
use crate::doc::entry;
use crate::doc::stream::{Part, Stream};
use crate::doc::{Block, Line, Style, clean_lines, from_first_line};
use crate::layout::Printer;
use crate::session::{Entry, Item, Text};

/// Bytes of open text that a preview processes: more than fill a screen.
const WINDOW: usize = 1 << 14;

/// An answer that is still arriving.
pub struct OpenText {
    content: Content,
    printer: Printer,
    indent: usize,
    /// The nesting depth of the entry.
    depth: u32,
    /// Empty lines, returned only if something follows.
    blank: Vec<Line>,
}

/// The text so far.
enum Content {
    Markdown(Box<Stream>),
    Preformatted(Preformatted),
}

/// Preformatted text: a line is finished at its newline.
#[derive(Default)]
struct Preformatted {
    /// Text not returned yet.
    text: String,
    /// True if lines were returned before.
    started: bool,
    /// The unfinished lines as of the last refresh.
    open: Vec<Part>,
}

impl Preformatted {
    /// Removes the first bytes and returns them as lines.
    fn take(&mut self, length: usize) -> Vec<Part> {
        let rest = self.text.split_off(length);
        let text = std::mem::replace(&mut self.text, rest);
        let parts = self.parts(&text);
        self.started |= !parts.is_empty();
        parts
    }

    fn parts(&self, text: &str) -> Vec<Part> {
        let text = if self.started {
            text
        } else {
            from_first_line(text)
        };
        if !self.started && text.trim().is_empty() {
            return Vec::new();
        }
        let block = Block::Output(clean_lines(text, Style::default()));
        let part = Part {
            continued: self.started,
            block,
        };
        Vec::from_iter((!text.is_empty()).then_some(part))
    }

    /// Returns the complete lines.
    fn finished(&mut self) -> Vec<Part> {
        let end = self.text.rfind('\n').map_or(0, |end| end + 1);
        self.take(end)
    }
}

impl Formatter {
    /// Starts to lay out the answer of an entry, with its text so far.
    pub fn open_text(&self, entry: &Entry, width: usize) -> OpenText {
        let empty = Entry {
            number: entry.number,
            time: entry.time.clone(),
            agent: entry.agent.clone(),
            folder: None,
            item: Item::Text(Text::default()),
        };
        let content = match &entry.item {
            Item::Text(text) if text.preformatted => Content::Preformatted(Preformatted::default()),
            _ => Content::Markdown(Box::default()),
        };
        let mut parts = entry::parts(&empty, &self.detail);
        let (indent, inner) = if self.config.copy_clean {
            parts.clear();
            (0, None)
        } else {
            self.stamp(&empty, &mut parts);
            room(entry.depth(), width)
        };
        let (first, mut rest) = parts
            .into_iter()
            .next()
            .map(|part| (part.first, part.rest))
            .unwrap_or_default();
        if inner.is_none() {
            rest.clear();
        }
        OpenText {
            content,
            printer: Printer::new(self.page(inner), &first, &rest),
            indent,
            depth: entry.depth(),
            blank: Vec::new(),
        }
    }
}

impl OpenText {
    /// Appends a piece of text; returns the lines that are now finished.
    pub fn push(&mut self, piece: &str) -> Vec<Line> {
        match &mut self.content {
            Content::Markdown(stream) => stream.push(piece),
            Content::Preformatted(lines) => lines.text.push_str(piece),
        }
        self.finished()
    }

    /// Changes the width of the following lines.
    pub fn resize(&mut self, width: usize) {
        let (indent, inner) = room(self.depth, width);
        self.indent = indent;
        self.printer.resize(inner);
    }

    /// Ends the text; returns the remaining lines.
    pub fn finish(&mut self) -> Vec<Line> {
        match &mut self.content {
            Content::Markdown(stream) => stream.finish(),
            Content::Preformatted(lines) => {
                let rest = lines.take(lines.text.len());
                return self.print(&rest);
            }
        }
        self.finished()
    }

    /// Prepares the open lines for a view that is about to draw; returns the
    /// lines that are now finished.
    pub fn refresh(&mut self) -> Vec<Line> {
        match &mut self.content {
            Content::Markdown(stream) => stream.refresh(WINDOW),
            Content::Preformatted(lines) => lines.open = lines.parts(end_of(&lines.text)),
        }
        self.finished()
    }

    /// Returns the lines that may still change, as of the last
    /// [`refresh`](Self::refresh); only the last ones if there are many.
    pub fn open(&self) -> Vec<Line> {
        let mut lines = self.blank.clone();
        let open = match &self.content {
            Content::Markdown(stream) => stream.open(),
            Content::Preformatted(lines) => &lines.open,
        };
        lines.extend(self.printer.preview(open));
        while lines.last().is_some_and(is_blank) {
            lines.pop();
        }
        indented(lines, self.indent)
    }

    fn finished(&mut self) -> Vec<Line> {
        let parts: Vec<_> = match &mut self.content {
            Content::Markdown(stream) => stream.take_finished().collect(),
            Content::Preformatted(lines) => lines.finished(),
        };
        self.print(&parts)
    }

    fn print(&mut self, parts: &[Part]) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.blank);
        lines.extend(self.printer.print(parts));
        let seen = lines.iter().rposition(|line| !is_blank(line));
        self.blank = lines.split_off(seen.map_or(0, |last| last + 1));
        indented(lines, self.indent)
    }
}

/// Returns the last bytes of a text, for a preview.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(WINDOW);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Agent;
    use crate::formatter::Config;

    const TEXT: &str = "# Title\n\nSome *words* that are long enough to be wrapped at forty.\n\n- one\n- two\n\n```rust\nfn main() {}\n\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.\n\n```\n\n\n```";

    #[test]
    fn returned_lines_equal_those_of_the_finished_answer() {
        for (depth, preformatted) in [(0, false), (2, false), (0, true), (2, true)] {
            for timestamps in [false, true] {
                let formatter = Formatter::new(Config {
                    timestamps,
                    ..Config::default()
                });
                let entry = Entry {
                    number: 0,
                    time: Some("2026-01-02T03:04:05Z".to_owned()),
                    agent: (depth > 0).then(|| {
                        std::sync::Arc::new(Agent {
                            depth,
                            ..Agent::default()
                        })
                    }),
                    folder: None,
                    item: Item::Text(Text {
                        id: "a".to_owned(),
                        text: TEXT.to_owned(),
                        preformatted,
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
