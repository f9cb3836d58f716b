//! Parses Markdown incrementally: yields parts that no later text can change.
//!
//! An answer arrives in pieces of any size. Finished text is parsed,
//! highlighted and returned once; only open text is parsed again. All returned
//! [`Part`]s together equal the result of [`markdown::blocks`] for the whole
//! text.
//!
//! A unit (a top-level block, or an item of a top-level list) is finished when
//! a complete line has started the next unit. Open text always starts at a
//! unit, so parsing it alone gives the same result as parsing the whole
//! message. There are two special cases:
//!
//! - A top-level fenced code block is never parsed again: its lines are
//!   finished one by one (`stream/fence.rs`).
//! - A unit that refers to an undefined label waits, together with everything
//!   after it, until the definition arrives, 256 KB have followed or the message
//!   ends. The form `[label]`, common in prose, never waits
//!   (`stream/references.rs`).
//!
//! Open text is parsed again only when it has doubled or when an empty line has
//! probably ended a unit. The total work is therefore a small multiple of the
//! message, even if the message is one long table, paragraph or quote. A view
//! calls [`Stream::refresh`] before it draws; for a unit longer than the view
//! it gets only the end.
//!
//! Used by live views, and by `markdown` for texts that define references.
//!
//! ```
//! use unspool::doc::markdown;
//! use unspool::doc::stream::Stream;
//!
//! let answer = "# Title\n\nOne *word*.\n\n- an item\n";
//! let mut stream = Stream::new();
//! for piece in ["# Ti", "tle\n\nOne *wo", "rd*.\n\n- an item\n"] {
//!     stream.push(piece);
//! }
//! stream.finish();
//! let blocks: Vec<_> = stream.take_finished().map(|part| part.block).collect();
//! assert_eq!(blocks, markdown::blocks(answer));
//! ```

mod cut;
mod fence;
mod part;
mod references;

use crate::doc::Block;
use crate::doc::markdown::{self, Code, Highlights, Kind, Parsed, Unit};
use cut::{last_bytes, line_start};
use fence::Fence;
pub use part::Part;
use part::Place;
use references::{References, Source};

/// Minimum growth, in bytes, before open text is parsed again.
const STEP: usize = 512;

/// Growth factor between two parses if no unit seems to have ended.
const GROWTH: usize = 7;

/// Maximum bytes of a table header or item start that is repeated above a cut
/// unit.
const HEAD: usize = 1024;

/// Cheap hints about the end of a unit, gathered from lines before they are
/// parsed.
#[derive(Default)]
struct Hints {
    /// True if the last complete line is empty.
    blank: bool,
    /// True if a line that looks like a block start arrived since the last
    /// parse.
    resumed: bool,
    /// False if the last parse found no finished unit despite the hints.
    reliable: bool,
}

impl Hints {
    fn line(&mut self, line: &str) {
        let blank = line.trim_ascii().is_empty();
        self.resumed |= (self.blank && !blank) || interrupts(line);
        self.blank = blank;
    }
}

/// Returns true if a line looks like the start of a block even without an empty
/// line before it.
fn interrupts(line: &str) -> bool {
    let starts = ["#", "```", "~~~", "- ", "* ", "+ ", "1. ", "---", "***"];
    let line = line.trim_start_matches(' ');
    starts.iter().any(|start| line.starts_with(start))
}

/// A Markdown message that is still arriving.
#[derive(Default)]
pub struct Stream {
    /// The open text, and its offset in the message.
    text: String,
    base: usize,
    /// Length of the complete lines in it.
    complete: usize,
    /// Length that was already parsed without a finished unit.
    tried: usize,
    /// The kind of the last parsed unit, which is still open.
    kind: Option<Kind>,
    hints: Hints,
    /// True if the last character was `\r`.
    after_return: bool,
    /// The list position of the first unit, if the open text continues a list.
    list: Option<Place>,
    fence: Option<Fence>,
    highlights: Highlights,
    references: References,
    /// The open parts and the window size of the last refresh, if nothing
    /// arrived since.
    open: Vec<Part>,
    window: Option<usize>,
    parsed_bytes: usize,
}

impl Stream {
    /// Creates an empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a piece of the message.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.window = None;
        let rest = text.strip_prefix('\n').filter(|_| self.after_return);
        self.after_return = text.ends_with('\r');
        let text = rest.unwrap_or(text);
        self.append(&markdown::normalize_newlines(text));
        self.advance();
    }

    /// Marks the message as complete.
    pub fn finish(&mut self) {
        self.window = None;
        self.advance();
        if let Some(mut fence) = self.fence.take() {
            let last = fence.last_line(&self.text);
            self.queue_code(last);
            self.text.clear();
        } else {
            self.parse(true);
        }
        self.complete = 0;
        self.tried = 0;
        self.open.clear();
        self.references.release_all();
    }

    /// Takes the finished parts, in order.
    pub fn take_finished(&mut self) -> impl Iterator<Item = Part> + use<> {
        std::mem::take(&mut self.references.finished).into_iter()
    }

    /// Finishes what it can and parses the rest, for a view that is about to
    /// draw. Only the last `window` bytes of an open unit are parsed.
    pub fn refresh(&mut self, window: usize) {
        if self.window == Some(window) {
            return;
        }
        if self.fence.is_none() && self.text.len() <= window && self.complete > self.tried {
            self.parse(false);
            self.advance();
        }
        self.open = self.references.last(window);
        let open = self.parse_open(window);
        self.open.extend(open);
        self.window = Some(window);
    }

    /// Returns the open parts as of the last [`refresh`](Self::refresh). They
    /// follow the parts that were finished then.
    pub fn open(&self) -> &[Part] {
        &self.open
    }

    /// Returns the number of bytes parsed so far, including repeated parses.
    pub fn parsed_bytes(&self) -> usize {
        self.parsed_bytes + self.references.parsed_bytes
    }

    /// Takes the finished parts as blocks.
    pub(super) fn into_blocks(mut self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for part in self.take_finished() {
            match (blocks.last_mut(), part.block) {
                (Some(Block::List { items, .. }), Block::List { items: more, .. })
                    if part.continued =>
                {
                    items.extend(more);
                }
                (Some(Block::Verbatim(lines)), Block::Verbatim(more))
                | (Some(Block::Code { lines, .. }), Block::Code { lines: more, .. })
                    if part.continued =>
                {
                    lines.extend(more);
                }
                (_, block) => blocks.push(block),
            }
        }
        blocks
    }

    /// Appends text and updates the hints.
    fn append(&mut self, text: &str) {
        let old = self.complete;
        if let Some(end) = memchr::memrchr(b'\n', text.as_bytes()) {
            self.complete = self.text.len() + end + 1;
        }
        self.text.push_str(text);
        if self.fence.is_none() {
            let lines = self.text.get(old..self.complete).unwrap_or_default();
            for line in lines.lines() {
                self.hints.line(line);
            }
        }
    }

    /// Finishes what it can if a parse is likely to pay off.
    fn advance(&mut self) {
        loop {
            if self.fence.is_some() {
                if !self.advance_fence() {
                    return;
                }
            } else if self.should_parse() {
                self.parse(false);
            } else {
                return;
            }
        }
    }

    fn should_parse(&self) -> bool {
        let grown = self.complete.saturating_sub(self.tried);
        let ends_at_blank = matches!(self.kind, Some(Kind::Ending | Kind::Table));
        let factor = match ends_at_blank {
            true if !self.hints.resumed => GROWTH,
            true if self.hints.reliable => 0,
            _ => 1,
        };
        grown >= STEP.max(factor * self.tried)
    }

    /// Finishes the complete lines of the open fence; returns true if they
    /// close it.
    fn advance_fence(&mut self) -> bool {
        let Some(fence) = &mut self.fence else {
            return false;
        };
        let complete = self.text.get(..self.complete).unwrap_or_default();
        let (lines, taken, closed) = fence.take(complete);
        self.queue_code(lines);
        self.drop_text(taken);
        if closed {
            self.fence = None;
            self.tried = 0;
            self.kind = None;
        }
        closed
    }

    fn queue_code(&mut self, part: Option<Part>) {
        if let Some(part) = part {
            self.references.queue_part(part, self.base);
        }
    }

    /// Drops finished text.
    fn drop_text(&mut self, length: usize) {
        self.text.drain(..length);
        self.base += length;
        self.complete = self.complete.saturating_sub(length);
        self.highlights.forget_before(self.base);
    }

    /// Parses the complete lines, or everything if `all`, and finishes what it
    /// can.
    fn parse(&mut self, all: bool) {
        let length = if all { self.text.len() } else { self.complete };
        let text = self.text.get(..length).unwrap_or_default();
        self.parsed_bytes += length;
        let references = &self.references;
        let parsed = markdown::parse(
            text,
            Code::Kept(&mut self.highlights, self.base),
            |label, shortcut| references.resolve(label, shortcut, usize::MAX),
        );
        let cut = if all {
            length
        } else {
            cut::at_open_unit(text, &parsed.units)
        };
        let open = parsed
            .units
            .last()
            .map(|unit| (unit.kind.clone(), unit.range.start));
        self.finish_units(parsed, cut, all);
        self.drop_text(cut);
        self.tried = self.complete;
        self.hints.reliable = cut > 0;
        self.hints.resumed = false;
        if !all && let Some((kind, start)) = open {
            self.kind = Some(kind);
            self.enter_fence(start - cut.min(start));
        }
    }

    /// Finishes the units before the cut.
    fn finish_units(&mut self, parsed: Parsed, cut: usize, all: bool) {
        let alone = !parsed.definitions.is_empty() || self.references.has_definitions();
        let mut definitions = parsed.definitions.into_iter().peekable();
        let count = parsed.units.len();
        let mut place = self.list.take();
        for (index, unit) in parsed.units.into_iter().enumerate() {
            let here = Place::of(&unit, index, place);
            place = here.map(Place::next);
            if !all && (index + 1 == count || unit.range.start >= cut) {
                self.list = here.filter(|place| place.continued);
                break;
            }
            let (start, end) = (unit.range.start, unit.range.end);
            let mut before = Vec::new();
            while let Some(definition) = definitions.next_if(|next| next.range.start < start) {
                before.push(definition);
            }
            self.references.define_shown(before, &self.text, self.base);
            self.finish_unit(unit, here.unwrap_or_default(), alone);
            while let Some(definition) = definitions.next_if(|next| next.range.start < end) {
                self.references.define(&definition, self.base);
            }
        }
        let rest = definitions.filter(|next| next.range.start < cut).collect();
        self.references.define_shown(rest, &self.text, self.base);
    }

    fn finish_unit(&mut self, unit: Unit, place: Place, alone: bool) {
        let start = line_start(&self.text, unit.range.start);
        let text = self.text.get(start..unit.range.end).unwrap_or_default();
        let source = Source {
            text: text.into(),
            at: self.base + start,
            place,
        };
        if alone {
            let code = Code::Kept(&mut self.highlights, self.base + start);
            self.references.queue_source(source, code);
        } else {
            let parts = place.parts(unit.content);
            self.references.queue_parsed(source, parts, unit.references);
        }
    }

    /// Switches to line-by-line mode if a fence starts at this offset.
    fn enter_fence(&mut self, at: usize) {
        let Some(Kind::Fenced(language)) = &self.kind else {
            return;
        };
        if line_start(&self.text, at) > 0 {
            return;
        }
        let kept = self.highlights.take(self.base + at);
        let end = self.text.find('\n').map_or(self.text.len(), |end| end + 1);
        let opening = self.text.get(..end).unwrap_or_default();
        self.fence = Fence::new(opening.trim_end_matches('\n'), language, kept);
        if self.fence.is_some() {
            self.drop_text(end);
        }
    }

    /// Parses the open text without finishing anything.
    fn parse_open(&mut self, window: usize) -> Vec<Part> {
        if let Some(fence) = &self.fence {
            return fence
                .rest(last_bytes(&self.text, window))
                .into_iter()
                .collect();
        }
        let references = &self.references;
        let resolve = |label: &str, shortcut| references.resolve(label, shortcut, usize::MAX);
        let parsed = if self.text.len() <= window {
            self.parsed_bytes += self.text.len();
            let code = Code::Kept(&mut self.highlights, self.base);
            markdown::parse(&self.text, code, resolve)
        } else {
            let text = self.end_of_unit(window);
            self.parsed_bytes += text.len();
            markdown::parse(&text, Code::Plain, resolve)
        };
        let mut place = self.list;
        let mut parts = Vec::new();
        for (index, unit) in parsed.units.into_iter().enumerate() {
            let here = Place::of(&unit, index, place);
            place = here.map(Place::next);
            parts.extend(here.unwrap_or_default().parts(unit.content));
        }
        parts
    }

    /// Returns the end of the open text, with the table header or item start it
    /// needs.
    fn end_of_unit(&self, window: usize) -> String {
        let lines = match self.kind {
            Some(Kind::Table) => 2,
            Some(Kind::Item) => 1,
            _ => 0,
        };
        let head: String = self.text.split_inclusive('\n').take(lines).collect();
        let end = last_bytes(&self.text, window);
        if head.len() > HEAD {
            return end.to_owned();
        }
        head + end
    }
}
