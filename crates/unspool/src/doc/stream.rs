//! Markdown that is still being written → parts that no further text can change.
//!
//! An answer comes in pieces of any size. What is finished is parsed, coloured
//! and handed out once; only what is open is done again. All [`Part`]s that were
//! handed out are together what [`markdown::blocks`]
//! makes of the whole text.
//!
//! A unit (a block or an item of a list that is in no other) is finished as soon
//! as a complete line has started the next one: from then on a parser has closed
//! it. The open text always starts at a unit, so that parsing it alone gives the
//! same as parsing the whole message. Two things are special:
//!
//! - A fence that is in no other block is not parsed again: its lines are
//!   finished one by one (`stream/fence.rs`).
//! - A unit that refers to a label which is not yet defined waits, and with it
//!   all that follows, until the definition comes, 256 KB have followed or the
//!   message ends. The short form `[label]`, which prose is full of, never waits
//!   (`stream/references.rs`).
//!
//! The open text is parsed again only when it has doubled, or when an empty line
//! is likely to have ended a unit, so that all parsing together is a small multiple
//! of the message, also where one table, paragraph or quotation is the whole of
//! it.
//! A view calls [`Stream::refresh`] before it paints; of a unit that is longer
//! than the view, it gets the end as it looks by itself.
//!
//! Called by live views; and by `markdown` for texts that define references.
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

/// How many bytes may come before the open text is parsed again.
const STEP: usize = 512;

/// How much the open text grows between two parses where nothing seems to have
/// ended.
const UNLIKELY: usize = 7;

/// How long the head of a unit may be that is shown above its end.
const HEAD: usize = 1024;

/// What lines say about the end of a unit before they are parsed.
#[derive(Default)]
struct Hints {
    /// Whether the last complete line is empty.
    blank: bool,
    /// Whether a line that seems to start a block has come since the last parse.
    resumed: bool,
    /// Whether that may be taken for the end: not if the last parse found none.
    hopeful: bool,
}

impl Hints {
    fn line(&mut self, line: &str) {
        let blank = line.trim_ascii().is_empty();
        self.resumed |= (self.blank && !blank) || interrupts(line);
        self.blank = blank;
    }
}

/// Whether a line seems to start a block without an empty line before it.
fn interrupts(line: &str) -> bool {
    let starts = ["#", "```", "~~~", "- ", "* ", "+ ", "1. ", "---", "***"];
    let line = line.trim_start_matches(' ');
    starts.iter().any(|start| line.starts_with(start))
}

/// Markdown that is still being written.
#[derive(Default)]
pub struct Stream {
    /// The open text, and where it starts in the message.
    text: String,
    base: usize,
    /// How much of it are complete lines.
    complete: usize,
    /// How much of it was parsed, without coming to an end.
    tried: usize,
    /// What is open in what was parsed.
    kind: Option<Kind>,
    hints: Hints,
    /// Whether the last character was `\r`.
    after_return: bool,
    /// Where the first item stands, if the open text goes on with a list.
    list: Option<Place>,
    fence: Option<Fence>,
    highlights: Highlights,
    references: References,
    /// The last view, and how large it was, if nothing has come since.
    open: Vec<Part>,
    window: Option<usize>,
    parsed_bytes: usize,
}

impl Stream {
    /// Of nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece of the message.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.window = None;
        let rest = text.strip_prefix('\n').filter(|_| self.after_return);
        self.after_return = text.ends_with('\r');
        let text = rest.unwrap_or(text);
        self.append(&markdown::with_line_feeds(text));
        self.advance();
    }

    /// Says that the message is complete.
    pub fn finish(&mut self) {
        self.window = None;
        self.advance();
        if let Some(mut fence) = self.fence.take() {
            let last = fence.last_line(&self.text);
            self.hand_code(last);
            self.text.clear();
        } else {
            self.parse(true);
        }
        self.complete = 0;
        self.tried = 0;
        self.open.clear();
        self.references.release_all();
    }

    /// Takes out what no further text can change, in order.
    pub fn take_finished(&mut self) -> impl Iterator<Item = Part> + use<> {
        std::mem::take(&mut self.references.finished).into_iter()
    }

    /// Finishes what can be finished and looks at the rest, for a view that is
    /// about to be painted. Of an open unit that is longer than `window` bytes,
    /// only the end is looked at.
    pub fn refresh(&mut self, window: usize) {
        if self.window == Some(window) {
            return;
        }
        if self.fence.is_none() && self.text.len() <= window && self.complete > self.tried {
            self.parse(false);
            self.advance();
        }
        self.open = self.references.last(window);
        let seen = self.look(window);
        self.open.extend(seen);
        self.window = Some(window);
    }

    /// What may still change, as it looked at the last [`refresh`](Self::refresh).
    /// It stands behind all that was finished then.
    pub fn open(&self) -> &[Part] {
        &self.open
    }

    /// How many bytes were given to the parser: what all the work is in
    /// proportion to.
    pub fn parsed_bytes(&self) -> usize {
        self.parsed_bytes + self.references.parsed_bytes
    }

    /// All that was handed out since the last time, as blocks.
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

    /// Adds text and looks at its lines.
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

    /// Finishes what can be finished, where it is time to look.
    fn advance(&mut self) {
        loop {
            if self.fence.is_some() {
                if !self.advance_fence() {
                    return;
                }
            } else if self.is_time() {
                self.parse(false);
            } else {
                return;
            }
        }
    }

    fn is_time(&self) -> bool {
        let grown = self.complete.saturating_sub(self.tried);
        let ends_at_blank = matches!(self.kind, Some(Kind::Ending | Kind::Table));
        let factor = match ends_at_blank {
            true if !self.hints.resumed => UNLIKELY,
            true if self.hints.hopeful => 0,
            _ => 1,
        };
        grown >= STEP.max(factor * self.tried)
    }

    /// Hands out the complete lines of the open fence. Says whether it is
    /// closed.
    fn advance_fence(&mut self) -> bool {
        let Some(fence) = &mut self.fence else {
            return false;
        };
        let complete = self.text.get(..self.complete).unwrap_or_default();
        let (lines, taken, closed) = fence.take(complete);
        self.hand_code(lines);
        self.drop_text(taken);
        if closed {
            self.fence = None;
            self.tried = 0;
            self.kind = None;
        }
        closed
    }

    fn hand_code(&mut self, part: Option<Part>) {
        if let Some(part) = part {
            self.references.hand(part, self.base);
        }
    }

    /// Drops finished text.
    fn drop_text(&mut self, length: usize) {
        self.text.drain(..length);
        self.base += length;
        self.complete = self.complete.saturating_sub(length);
        self.highlights.forget_before(self.base);
    }

    /// Parses the complete lines, or all that there is, and finishes what can
    /// be finished.
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
        self.hints.hopeful = cut > 0;
        self.hints.resumed = false;
        if !all && let Some((kind, start)) = open {
            self.kind = Some(kind);
            self.enter_fence(start - cut.min(start));
        }
    }

    /// Hands out the units that end before the cut.
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
            self.references.hand_source(source, code);
        } else {
            let parts = place.parts(unit.content);
            self.references.hand_parsed(source, parts, unit.references);
        }
    }

    /// Goes on line by line if a fence starts at this byte.
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

    /// The open text as it looks now.
    fn look(&mut self, window: usize) -> Vec<Part> {
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

    /// The end of the open text with what makes it a table or an item.
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
