//! An answer that is still being written, laid out as it grows: lines that no
//! further text can change are given out once, and all that were given out are
//! together those of [`Formatter::lines`] for the finished answer.

use super::{Formatter, indented, is_blank, room};
use crate::doc::entry;
use crate::doc::stream::{Part, Stream};
use crate::doc::{Block, Line, Style, clean_lines, from_first_line};
use crate::layout::Printer;
use crate::session::{Entry, Item, Text};

/// Bytes of the open text that a preview looks at: more than fills a screen.
const WINDOW: usize = 1 << 14;

/// An answer that grows.
pub struct OpenText {
    words: Words,
    printer: Printer,
    indent: usize,
    /// How deep the entry is nested.
    depth: u32,
    /// Empty lines that are shown if something follows them.
    blank: Vec<Line>,
}

/// The text so far.
enum Words {
    Markdown(Box<Stream>),
    Preformatted(Preformatted),
}

/// Text whose lines stay as they are: each is finished when it has its end.
#[derive(Default)]
struct Preformatted {
    /// What was not given out.
    text: String,
    /// Whether anything was given out.
    started: bool,
    /// The lines that are not finished, as they were last looked at.
    open: Vec<Part>,
}

impl Preformatted {
    /// Takes the first bytes out as lines.
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

    /// The complete lines.
    fn finished(&mut self) -> Vec<Part> {
        let end = self.text.rfind('\n').map_or(0, |end| end + 1);
        self.take(end)
    }
}

impl Formatter {
    /// Begins to lay out the answer of an entry, whatever its text is so far.
    pub fn open_text(&self, entry: &Entry, width: usize) -> OpenText {
        let empty = Entry {
            number: entry.number,
            time: entry.time.clone(),
            agent: entry.agent.clone(),
            item: Item::Text(Text::default()),
        };
        let words = match &entry.item {
            Item::Text(text) if text.preformatted => Words::Preformatted(Preformatted::default()),
            _ => Words::Markdown(Box::default()),
        };
        let mut parts = entry::parts(&empty, &self.detail);
        let (indent, inner) = if self.config.copy_clean {
            parts.clear();
            (0, None)
        } else {
            self.stamp(&empty, &mut parts);
            room(entry.depth(), width)
        };
        let (first, rest) = parts
            .into_iter()
            .next()
            .map(|part| (part.first, part.rest))
            .unwrap_or_default();
        OpenText {
            words,
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
        match &mut self.words {
            Words::Markdown(stream) => stream.push(piece),
            Words::Preformatted(lines) => lines.text.push_str(piece),
        }
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
        match &mut self.words {
            Words::Markdown(stream) => stream.finish(),
            Words::Preformatted(lines) => {
                let rest = lines.take(lines.text.len());
                return self.print(&rest);
            }
        }
        self.finished()
    }

    /// Looks at what is open, for a view that is about to be painted, and gives
    /// out the lines that are finished now.
    pub fn refresh(&mut self) -> Vec<Line> {
        match &mut self.words {
            Words::Markdown(stream) => stream.refresh(WINDOW),
            Words::Preformatted(lines) => lines.open = lines.parts(end_of(&lines.text)),
        }
        self.finished()
    }

    /// The lines that may still change, as they looked at the last
    /// [`refresh`](Self::refresh); of very many, the last ones.
    pub fn open(&self) -> Vec<Line> {
        let mut lines = self.blank.clone();
        let open = match &self.words {
            Words::Markdown(stream) => stream.open(),
            Words::Preformatted(lines) => &lines.open,
        };
        lines.extend(self.printer.preview(open));
        while lines.last().is_some_and(is_blank) {
            lines.pop();
        }
        indented(lines, self.indent)
    }

    fn finished(&mut self) -> Vec<Line> {
        let parts: Vec<_> = match &mut self.words {
            Words::Markdown(stream) => stream.take_finished().collect(),
            Words::Preformatted(lines) => lines.finished(),
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

/// The last bytes of a text that a preview looks at.
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
    fn lines_given_out_are_those_of_the_finished_answer() {
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
