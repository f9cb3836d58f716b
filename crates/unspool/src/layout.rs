//! Blocks → lines at an exact width.
//!
//! [`layout`] is the whole interface. The caller gives the prefix of the first
//! line and of all others (`• ` and two spaces, `  └ ` and four), and gets lines
//! of which none is wider than the page, prefixes included, as long as the
//! prefixes leave two cells. Without a width, each paragraph is one line.
//!
//! A block, an item of a list and a line of code look the same whatever follows
//! them (a table does not), so that a stream can lay out what is finished.
//! Nested blocks are indented as long as a readable width is left, then no
//! further.
//!
//! Called by the back ends that write lines; HTML and Markdown take the blocks.

mod diff;
mod link;
#[cfg(test)]
mod properties;
mod table;
pub mod width;
mod wrap;

pub use link::is_clickable;
pub use width::width;

use crate::doc::{Block, Line, ListItem, Role, Span, Style, append};
use wrap::{Room, cut, wrap};

/// How wide lines may be, in cells; `None` leaves paragraphs on one line.
pub type Width = Option<usize>;

/// Pages up to this many columns are not wrapped: see [`columns`].
pub const MIN_COLUMNS: usize = 30;

/// The width for a terminal of so many columns: unwrapped up to
/// [`MIN_COLUMNS`].
pub fn columns(columns: usize) -> Width {
    (columns > MIN_COLUMNS).then_some(columns)
}

/// What lines are laid out for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// How wide lines may be.
    pub width: Width,
    /// How links appear.
    pub links: Links,
}

impl From<Width> for Page {
    fn from(width: Width) -> Self {
        Self {
            width,
            links: Links::default(),
        }
    }
}

/// How links appear in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// As `text (address)`.
    #[default]
    Address,
    /// As their text, where the back end can make that clickable.
    Text,
}

/// Nested blocks are indented as long as so many cells are left.
const READABLE: usize = 12;

/// How long the line of a thematic break is.
const RULE: usize = 24;

/// Lays blocks out, one empty line between two of them. `first` is put before
/// the first line, `rest` before all others.
pub fn layout(blocks: &[Block], page: impl Into<Page>, first: &[Span], rest: &[Span]) -> Vec<Line> {
    let mut pen = Pen {
        page: page.into(),
        lines: Vec::new(),
    };
    let mut margin = Margin {
        first: Prefix::new(first.to_vec()),
        rest: Prefix::new(rest.to_vec()),
        used: false,
    };
    pen.blocks(blocks, true, &mut margin);
    pen.lines
}

/// The beginning of a line that is wider than so many cells, and `…`.
pub fn truncated(line: &[Span], cells: usize) -> Line {
    if width::of_line(line) <= cells {
        return line.to_vec();
    }
    let room = Room::even(Some(cells.saturating_sub(1).max(1)));
    let mut head = cut(line, room).into_iter().next().unwrap_or_default();
    head.push(Span::role("…", Role::Accent));
    head
}

/// The rows that a line takes on a terminal of so many columns.
pub fn folded(line: &[Span], columns: usize) -> Vec<Line> {
    if width::of_line(line) <= columns {
        return vec![line.to_vec()];
    }
    cut(line, Room::even(Some(columns.max(1))))
}

/// What stands before the text of a line, and its cells.
#[derive(Clone)]
struct Prefix {
    spans: Line,
    cells: usize,
}

impl Prefix {
    fn new(spans: Line) -> Self {
        let cells = width::of_line(&spans);
        Self { spans, cells }
    }

    fn with(&self, more: &[Span]) -> Self {
        let mut spans = self.spans.clone();
        for span in more {
            append(&mut spans, span.clone());
        }
        Self {
            spans,
            cells: self.cells + width::of_line(more),
        }
    }
}

/// The prefixes of the block that is laid out.
struct Margin {
    first: Prefix,
    rest: Prefix,
    /// Whether the first line is written.
    used: bool,
}

impl Margin {
    fn current(&self) -> &Prefix {
        if self.used { &self.rest } else { &self.first }
    }

    /// The margin of a block inside this one.
    fn inner(&self, first: &[Span], rest: &[Span]) -> Self {
        Self {
            first: self.current().with(first),
            rest: self.rest.with(rest),
            used: false,
        }
    }
}

struct Pen {
    page: Page,
    lines: Vec<Line>,
}

impl Pen {
    fn blocks(&mut self, blocks: &[Block], spaced: bool, margin: &mut Margin) {
        let mut started = false;
        for block in blocks.iter().filter(|block| !is_empty(block)) {
            if started && spaced {
                self.gap(margin);
            }
            started = true;
            self.block(block, margin);
        }
    }

    fn block(&mut self, block: &Block, margin: &mut Margin) {
        match block {
            Block::Paragraph(line) => self.paragraph(line, margin),
            Block::Heading(_, line) => self.paragraph(&bold(line), margin),
            Block::List {
                start,
                tight,
                items,
            } => self.list(*start, *tight, items, margin),
            Block::Quote(blocks) => self.quote(blocks, margin),
            Block::Verbatim(lines) => {
                for line in lines {
                    let pieces = cut(line, self.room(margin));
                    self.push_all(pieces, margin);
                }
            }
            Block::Table(table) => {
                let lines = table::lines(table, self.even_room(margin), self.page.links);
                self.push_all(lines, margin);
            }
            Block::Rule => {
                let cells = self.even_room(margin).map_or(RULE, |room| room.min(RULE));
                self.push(vec![Span::role("─".repeat(cells), Role::Accent)], margin);
            }
            Block::Diff(changes) => {
                let lines = diff::lines(changes, self.even_room(margin));
                self.push_all(lines, margin);
            }
        }
    }

    fn paragraph(&mut self, line: &[Span], margin: &mut Margin) {
        let line = link::with_addresses(line, self.page.links);
        let lines = wrap(&line, self.room(margin));
        self.push_all(lines, margin);
    }

    fn quote(&mut self, blocks: &[Block], margin: &mut Margin) {
        let bar = [Span::role("│ ", Role::Accent)];
        if !self.can_indent(2, margin) {
            return self.blocks(blocks, true, margin);
        }
        let mut inner = margin.inner(&bar, &bar);
        self.blocks(blocks, true, &mut inner);
        margin.used |= inner.used;
    }

    fn list(&mut self, start: Option<u64>, tight: bool, items: &[ListItem], margin: &mut Margin) {
        let mut number = start;
        for (index, item) in items.iter().enumerate() {
            if index > 0 && !tight {
                self.gap(margin);
            }
            self.item(item, &marker(number, item.done), tight, margin);
            number = number.map(|number| number.saturating_add(1));
        }
    }

    fn item(&mut self, item: &ListItem, marker: &[Span], tight: bool, margin: &mut Margin) {
        let cells = width::of_line(marker);
        if !self.can_indent(cells, margin) {
            return self.flat_item(item, marker, tight, margin);
        }
        let mut inner = margin.inner(marker, &[blanks(cells)]);
        self.blocks(&item.blocks, !tight, &mut inner);
        if !inner.used {
            self.push(Line::new(), &mut inner);
        }
        margin.used = true;
    }

    /// An item where there is no room to indent: the marker is text.
    fn flat_item(&mut self, item: &ListItem, marker: &[Span], tight: bool, margin: &mut Margin) {
        let mut line = marker.to_vec();
        let rest = match item.blocks.split_first() {
            Some((Block::Paragraph(text), rest)) => {
                line.extend_from_slice(text);
                rest
            }
            _ => item.blocks.as_slice(),
        };
        self.paragraph(&line, margin);
        self.blocks(rest, !tight, margin);
    }

    /// An empty line, but for the bars of quotes.
    fn gap(&mut self, margin: &mut Margin) {
        let mut line = margin.current().spans.clone();
        trim(&mut line);
        margin.used = true;
        self.lines.push(line);
    }

    fn push(&mut self, content: Line, margin: &mut Margin) {
        let mut line = margin.current().spans.clone();
        for span in content {
            append(&mut line, span);
        }
        margin.used = true;
        self.lines.push(line);
    }

    fn push_all(&mut self, lines: Vec<Line>, margin: &mut Margin) {
        for line in lines {
            self.push(line, margin);
        }
    }

    /// What is left beside the prefixes for the next line and the others.
    fn room(&self, margin: &Margin) -> Room {
        let beside = |prefix: &Prefix| {
            self.page
                .width
                .map(|width| width.saturating_sub(prefix.cells).max(1))
        };
        Room {
            first: beside(margin.current()),
            rest: beside(&margin.rest),
        }
    }

    /// What is left beside each of the prefixes.
    fn even_room(&self, margin: &Margin) -> Option<usize> {
        let room = self.room(margin);
        room.first.min(room.rest)
    }

    fn can_indent(&self, cells: usize, margin: &Margin) -> bool {
        self.even_room(margin)
            .is_none_or(|room| room >= cells.saturating_add(READABLE))
    }
}

fn is_empty(block: &Block) -> bool {
    match block {
        Block::Paragraph(_) | Block::Heading(..) | Block::Rule => false,
        Block::List { items, .. } => items.is_empty(),
        Block::Quote(blocks) => blocks.iter().all(is_empty),
        Block::Verbatim(lines) => lines.is_empty(),
        Block::Table(table) => table.header.is_empty() && table.rows.is_empty(),
        Block::Diff(lines) => lines.is_empty(),
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

fn bold(line: &[Span]) -> Line {
    let mut line = line.to_vec();
    for span in &mut line {
        span.style.bold = true;
    }
    line
}

fn blanks(cells: usize) -> Span {
    Span::new(" ".repeat(cells), Style::default())
}

/// Drops the blanks at the end of a line.
fn trim(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        line.pop();
    }
}
