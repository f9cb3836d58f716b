//! Writes blocks into a sink, each line after its prefix.
//!
//! Copies no text: spans that fit are passed on whole, others as slices.

use std::borrow::Cow;
use std::ops::Range;

use crate::doc::{Block, Line, ListItem, Role, Span, Style, append, describe};
use crate::layout::wrap::{self, Break, Cursor, Room};
use crate::layout::{Page, Piece, Sink, blanks, diff, marks, table, width};

/// Minimum cells left for text; nested blocks are not indented beyond that.
const READABLE: usize = 12;

/// Length of a thematic break.
const RULE: usize = 24;

/// The prefix of a line, and its width.
#[derive(Clone)]
struct Prefix<'a> {
    spans: Cow<'a, [Span]>,
    cells: usize,
}

impl<'a> Prefix<'a> {
    fn new(spans: &'a [Span]) -> Self {
        Self {
            cells: width::of_line(spans),
            spans: Cow::Borrowed(spans),
        }
    }

    fn with(&self, more: &[Span]) -> Prefix<'static> {
        let mut spans = self.spans.to_vec();
        for span in more {
            append(&mut spans, span.clone());
        }
        Prefix {
            spans: Cow::Owned(spans),
            cells: self.cells + width::of_line(more),
        }
    }
}

/// The prefixes of the current block.
#[derive(Clone)]
pub(super) struct Margin<'a> {
    first: Prefix<'a>,
    rest: Prefix<'a>,
    /// True if the first line is written.
    used: bool,
}

impl<'a> Margin<'a> {
    pub(super) fn new(first: &'a [Span], rest: &'a [Span]) -> Self {
        Self {
            first: Prefix::new(first),
            rest: Prefix::new(rest),
            used: false,
        }
    }

    /// Converts to an owned margin.
    #[cfg(feature = "markdown")]
    pub(super) fn into_owned(self) -> Margin<'static> {
        let owned = |prefix: Prefix<'_>| Prefix {
            spans: Cow::Owned(prefix.spans.into_owned()),
            cells: prefix.cells,
        };
        Margin {
            first: owned(self.first),
            rest: owned(self.rest),
            used: self.used,
        }
    }

    fn current(&self) -> &Prefix<'_> {
        if self.used { &self.rest } else { &self.first }
    }

    /// Returns the margin of a nested block.
    fn inner(&self, first: &[Span], rest: &[Span]) -> Margin<'static> {
        Margin {
            first: self.current().with(first),
            rest: self.rest.with(rest),
            used: false,
        }
    }
}

pub(super) struct Pen<'s> {
    page: Page,
    sink: &'s mut dyn Sink,
    /// The byte ranges of the lines of the current text.
    ranges: Vec<Range<usize>>,
}

impl<'s> Pen<'s> {
    pub(super) fn new(page: Page, sink: &'s mut dyn Sink) -> Self {
        Self {
            page,
            sink,
            ranges: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, blocks: &[Block], first: &[Span], rest: &[Span]) {
        let mut margin = Margin::new(first, rest);
        self.blocks(blocks, true, &mut margin);
    }

    /// Starts a line with its prefix.
    pub(super) fn begin(&mut self, margin: &mut Margin<'_>) {
        for span in margin.current().spans.iter() {
            self.sink.piece(span.into());
        }
        margin.used = true;
    }

    pub(super) fn piece(&mut self, piece: Piece<'_>) {
        self.sink.piece(piece);
    }

    pub(super) fn end(&mut self) {
        self.sink.end_line();
    }

    fn blocks(&mut self, blocks: &[Block], spaced: bool, margin: &mut Margin<'_>) {
        let mut started = false;
        for block in blocks.iter().filter(|block| !is_empty(block)) {
            if started && spaced {
                self.gap(margin);
            }
            started = true;
            self.block(block, margin);
        }
    }

    pub(super) fn block(&mut self, block: &Block, margin: &mut Margin<'_>) {
        match block {
            Block::Paragraph(line) => self.paragraph(line, false, margin),
            Block::Heading(_, line) => self.paragraph(line, true, margin),
            Block::List { start, items } => self.list(*start, items, false, margin),
            Block::Quote(blocks) => self.quote(blocks, margin),
            Block::Verbatim(lines) | Block::Code { lines, .. } => {
                for line in lines {
                    self.flow(line, Break::Anywhere, &|style| style, margin);
                }
            }
            Block::Output(lines) => {
                for line in lines {
                    let breaks = if has_words(line) {
                        Break::AtWords
                    } else {
                        Break::Anywhere
                    };
                    self.flow(line, breaks, &|style| style, margin);
                }
            }
            Block::Table(table) => {
                let lines = table::lines(table, self.even_room(margin), self.page);
                for line in &lines {
                    self.line(line, margin);
                }
            }
            Block::Rule => {
                let cells = self.even_room(margin).map_or(RULE, |room| room.min(RULE));
                self.line(&[Span::role("─".repeat(cells), Role::Accent)], margin);
            }
            Block::Diff(changes) => diff::write(changes, self, margin),
            Block::Media(media) => {
                for media in media {
                    self.paragraph(&describe(media), false, margin);
                }
            }
        }
    }

    fn paragraph(&mut self, line: &[Span], bold: bool, margin: &mut Margin<'_>) {
        let line = marks::written_out(line, self.page);
        let style = |style: Style| Style {
            bold: style.bold || bold,
            ..style
        };
        self.flow(&line, Break::AtWords, &style, margin);
    }

    /// Writes a text, wrapped.
    fn flow(
        &mut self,
        line: &[Span],
        breaks: Break,
        style: &dyn Fn(Style) -> Style,
        margin: &mut Margin<'_>,
    ) {
        let room = self.room(margin);
        self.broken(line, breaks, room, &mut |pen, part| match part {
            Part::Begin => pen.begin(margin),
            Part::Piece(piece) => pen.sink.piece(Piece {
                style: style(piece.style),
                ..piece
            }),
            Part::End => pen.sink.end_line(),
        });
    }

    /// Wraps a text and passes its pieces to `visit`.
    pub(super) fn broken(
        &mut self,
        line: &[Span],
        breaks: Break,
        room: Room,
        visit: &mut dyn FnMut(&mut Self, Part<'_>),
    ) {
        if wrap::fits(line, room) {
            visit(self, Part::Begin);
            for span in line {
                visit(self, Part::Piece(span.into()));
            }
            visit(self, Part::End);
            return;
        }
        let mut ranges = std::mem::take(&mut self.ranges);
        wrap::ranges(line, room, breaks, &mut ranges);
        let mut cursor = Cursor::new(line);
        for range in &ranges {
            visit(self, Part::Begin);
            cursor.take(range, &mut |piece| visit(self, Part::Piece(piece)));
            visit(self, Part::End);
        }
        self.ranges = ranges;
    }

    fn quote(&mut self, blocks: &[Block], margin: &mut Margin<'_>) {
        let bar = [Span::role("│ ", Role::Accent)];
        if !self.can_indent(2, margin) {
            return self.blocks(blocks, true, margin);
        }
        let mut inner = margin.inner(&bar, &bar);
        self.blocks(blocks, true, &mut inner);
        margin.used |= inner.used;
    }

    pub(super) fn list(
        &mut self,
        start: Option<u64>,
        items: &[ListItem],
        continued: bool,
        margin: &mut Margin<'_>,
    ) {
        let mut number = start;
        for (index, item) in items.iter().enumerate() {
            if item.apart && (continued || index > 0) {
                self.gap(margin);
            }
            let mut marker = marker(number, item.done);
            for span in &mut marker {
                span.style.italic = self.page.italic;
            }
            self.item(item, &marker, margin);
            number = number.map(|number| number.saturating_add(1));
        }
    }

    fn item(&mut self, item: &ListItem, marker: &[Span], margin: &mut Margin<'_>) {
        let cells = width::of_line(marker);
        if !self.can_indent(cells, margin) {
            return self.flat_item(item, marker, margin);
        }
        let mut inner = margin.inner(marker, &[blanks(cells)]);
        self.blocks(&item.blocks, item.loose, &mut inner);
        if !inner.used {
            self.line(&[], &mut inner);
        }
        margin.used = true;
    }

    /// Writes an item that cannot be indented further: the marker becomes text.
    fn flat_item(&mut self, item: &ListItem, marker: &[Span], margin: &mut Margin<'_>) {
        let mut line = marker.to_vec();
        let rest = match item.blocks.split_first() {
            Some((Block::Paragraph(text), rest)) => {
                line.extend_from_slice(text);
                rest
            }
            _ => item.blocks.as_slice(),
        };
        self.paragraph(&line, false, margin);
        self.blocks(rest, item.loose, margin);
    }

    /// Writes an empty line, keeping the bars of quotes.
    pub(super) fn gap(&mut self, margin: &mut Margin<'_>) {
        let spans = &margin.current().spans;
        let seen = |span: &Span| !span.text.trim_end_matches(' ').is_empty();
        let last = spans.iter().rposition(seen);
        for (index, span) in spans.iter().enumerate() {
            let piece = Piece::from(span);
            match last {
                Some(last) if index < last => self.sink.piece(piece),
                Some(last) if index == last => self.sink.piece(Piece {
                    text: piece.text.trim_end_matches(' '),
                    ..piece
                }),
                _ => {}
            }
        }
        margin.used = true;
        self.sink.end_line();
    }

    /// Writes one line without wrapping.
    fn line(&mut self, content: &[Span], margin: &mut Margin<'_>) {
        self.begin(margin);
        for span in content {
            self.sink.piece(span.into());
        }
        self.sink.end_line();
    }

    /// Returns the cells beside the prefixes, for the next line and for the
    /// following ones.
    fn room(&self, margin: &Margin<'_>) -> Room {
        let beside = |prefix: &Prefix<'_>| {
            self.page
                .width
                .map(|width| width.saturating_sub(prefix.cells).max(1))
        };
        Room {
            first: beside(margin.current()),
            rest: beside(&margin.rest),
        }
    }

    /// Returns the cells left beside the wider of the two prefixes.
    pub(super) fn even_room(&self, margin: &Margin<'_>) -> Option<usize> {
        let room = self.room(margin);
        room.first.min(room.rest)
    }

    fn can_indent(&self, cells: usize, margin: &Margin<'_>) -> bool {
        self.even_room(margin)
            .is_none_or(|room| room >= cells.saturating_add(READABLE))
    }
}

/// An event of writing wrapped text.
pub(super) enum Part<'a> {
    Begin,
    Piece(Piece<'a>),
    End,
}

/// Returns true if a line has a blank between words.
fn has_words(line: &[Span]) -> bool {
    let mut begun = false;
    let mut letters = line.iter().flat_map(|span| span.text.chars());
    letters.any(|c| {
        let is_between = begun && c == ' ';
        begun |= c != ' ';
        is_between
    })
}

pub(super) fn is_empty(block: &Block) -> bool {
    match block {
        Block::Paragraph(_) | Block::Heading(..) | Block::Rule => false,
        Block::List { items, .. } => items.is_empty(),
        Block::Quote(blocks) => blocks.iter().all(is_empty),
        Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => {
            lines.is_empty()
        }
        Block::Table(table) => table.header.is_empty() && table.rows.is_empty(),
        Block::Diff(lines) => lines.is_empty(),
        Block::Media(media) => media.is_empty(),
    }
}

fn marker(number: Option<u64>, done: Option<bool>) -> Line {
    let bullet = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
    let mut marker = vec![Span::new(bullet, Style::default())];
    match done {
        Some(true) => marker.push(Span::role("[x] ", Role::Green)),
        Some(false) => marker.push(Span::role("[ ] ", Role::Accent)),
        None => {}
    }
    marker
}
