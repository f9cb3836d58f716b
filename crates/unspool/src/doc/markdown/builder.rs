//! Builds blocks from the Markdown parser's events.
//!
//! The builder keeps its own stack, so deep nesting cannot overflow the call
//! stack; containers nested deeper than [`DEEPEST`] are flattened. Text is
//! sanitised after parsing, because the parser turns entities such as `&#27;`
//! into control characters.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::{Code, Content, DEEPEST, Kind, Unit, Wording, cut_address, is_emphasis};
use crate::doc::{Alignment, Block, Line, ListItem, Role, Span, Style, Table, append};
use crate::sanitize;

/// An open block that contains other blocks.
enum Container {
    Quote(Vec<Block>),
    List(OpenList),
    /// An item and its start offset.
    Item(ListItem, usize),
    /// A footnote: its label and its blocks with their start offsets.
    Footnote(String, Vec<(usize, Block)>),
}

#[derive(Default)]
struct OpenList {
    start: Option<u64>,
    /// The items so far. Items of a top-level list become units instead.
    items: Vec<ListItem>,
    /// The number of items so far.
    count: usize,
    /// True if the last item was loose.
    loose: bool,
}

/// An open block with literal text: code or HTML.
struct Raw {
    /// The language of code; `None` for HTML.
    language: Option<String>,
    fenced: bool,
    text: String,
}

/// Builds units from parser events.
pub(super) struct Builder<'a> {
    /// The source, for finding empty lines.
    source: &'a [u8],
    text: &'a str,
    wording: Wording,
    code: Code<'a>,
    pub(super) units: Vec<Unit>,
    containers: Vec<Container>,
    /// Number of open containers beyond the depth limit.
    flat: usize,
    /// The text of the open paragraph, heading or cell, and its start offset.
    line: Line,
    line_start: usize,
    /// The source range of the current event.
    range: Range<usize>,
    bold: usize,
    italic: usize,
    strike: usize,
    links: Vec<String>,
    raw: Option<Raw>,
    table: Option<Table>,
    row: Vec<Line>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str, code: Code<'a>, wording: Wording) -> Self {
        Self {
            source: text.as_bytes(),
            text,
            wording,
            code,
            units: Vec::new(),
            containers: Vec::new(),
            flat: 0,
            line: Line::new(),
            line_start: 0,
            range: 0..0,
            bold: 0,
            italic: 0,
            strike: 0,
            links: Vec::new(),
            raw: None,
            table: None,
            row: Vec::new(),
        }
    }

    /// Processes an event and its source range.
    pub(super) fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        self.range = range;
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
            Event::Code(text) => self.push(&sanitize::line(&text), Role::Accent),
            Event::Html(text) => self.text(&text),
            Event::InlineHtml(tag) => self.inline_html(&tag),
            Event::FootnoteReference(label) => {
                self.push(&format!("[^{}]", sanitize::line(&label)), Role::Accent);
            }
            Event::SoftBreak if self.wording == Wording::Markdown => self.push(" ", Role::Normal),
            Event::SoftBreak => self.push("\n", Role::Normal),
            Event::HardBreak => self.hard_break(),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some(Container::Item(item, _)) = self.containers.last_mut() {
                    item.done = Some(done);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) => self.open(Container::Quote(Vec::new())),
            Tag::List(start) => self.open(Container::List(OpenList {
                start,
                ..OpenList::default()
            })),
            Tag::Item => self.open_item(),
            Tag::FootnoteDefinition(label) => {
                let label = sanitize::line(&label).into_owned();
                self.open(Container::Footnote(label, Vec::new()));
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                self.start_raw(Some(info.to_string()), true);
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => self.start_raw(Some(String::new()), false),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => self.start_raw(None, false),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table {
                    alignments: alignments.into_iter().map(alignment).collect(),
                    ..Table::default()
                });
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough if self.is_text() => self.mark(),
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } => self.links.push(address(&dest_url)),
            Tag::Image { dest_url, .. } => self.start_image(&dest_url),
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_paragraph(),
            TagEnd::Heading(level) => {
                let line = std::mem::take(&mut self.line);
                self.block(Block::Heading(number(level), line));
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.close();
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.end_raw(),
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.line)),
            TagEnd::TableHead | TagEnd::TableRow => self.end_row(tag),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.add(Block::Table(table), Kind::Table);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough if self.is_text() => {
                self.mark();
            }
            TagEnd::Emphasis => self.italic -= 1,
            TagEnd::Strong => self.bold -= 1,
            TagEnd::Strikethrough => self.strike -= 1,
            TagEnd::Image => self.end_image(),
            TagEnd::Link => {
                self.links.pop();
            }
            _ => self.flush(),
        }
    }

    /// Ends a paragraph, dropping it if it has no visible text.
    fn end_paragraph(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.block(Block::Paragraph(line));
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(raw) = &mut self.raw {
            raw.text.push_str(text);
        } else if self.wording == Wording::Literal {
            let written = self.text;
            let start = self.range.start;
            let escape = written.get(start.saturating_sub(1)..start);
            if escape == Some("\\") && text.starts_with(|c: char| c.is_ascii_punctuation()) {
                self.push("\\", Role::Normal);
            }
            let text = written.get(self.range.clone()).unwrap_or(text);
            self.push(&sanitize::line(text), Role::Normal);
        } else {
            self.push(&sanitize::line(text), Role::Normal);
        }
    }

    fn hard_break(&mut self) {
        let is_escape = self.source.get(self.range.start) == Some(&b'\\');
        if is_escape && self.wording == Wording::Literal {
            self.push("\\", Role::Normal);
        }
        self.push("\n", Role::Normal);
    }

    /// Returns true if the marks of the current emphasis are text.
    fn is_text(&self) -> bool {
        self.wording == Wording::Literal && !is_emphasis(self.text, &self.range)
    }

    /// Adds a mark of the current emphasis as text.
    fn mark(&mut self) {
        let emphasis = self.text.get(self.range.clone()).unwrap_or_default();
        let mut marks = emphasis.chars();
        let (first, second) = (marks.next(), marks.next());
        let is_double = first == second && emphasis.len() > 3;
        let length = if is_double { 2 } else { 1 };
        self.push(emphasis.get(..length).unwrap_or_default(), Role::Normal);
    }

    fn inline_html(&mut self, tag: &str) {
        let name = tag
            .trim_start_matches('<')
            .trim_end_matches(['>', '/', ' ']);
        if name.eq_ignore_ascii_case("br") && self.wording == Wording::Markdown {
            self.push("\n", Role::Normal);
        } else {
            self.push(&sanitize::line(tag), Role::Normal);
        }
    }

    fn push(&mut self, text: &str, role: Role) {
        let link = self.links.last().filter(|link| !link.is_empty());
        let style = Style {
            bold: self.bold > 0,
            italic: self.italic > 0,
            strike: self.strike > 0,
            underline: link.is_some(),
            ..Style::of(role)
        };
        if self.line.is_empty() {
            self.line_start = self.range.start;
        }
        match self.line.last_mut() {
            Some(last) if last.style == style && last.link.as_ref() == link => {
                last.text.push_str(text);
            }
            _ => append(
                &mut self.line,
                Span {
                    text: text.to_owned(),
                    style,
                    link: link.cloned(),
                },
            ),
        }
    }

    /// Starts an image. Its description links to the image, or to the target of
    /// an enclosing link.
    fn start_image(&mut self, image: &str) {
        let target = match self.links.last() {
            Some(outer) => outer.clone(),
            None => address(image),
        };
        self.links.push(target);
    }

    /// Ends an image, showing its address if there is no description.
    fn end_image(&mut self) {
        let target = self.links.last().cloned().unwrap_or_default();
        let described = self.line.last().and_then(|span| span.link.as_ref()) == Some(&target);
        if !described {
            self.push(&target, Role::Normal);
        }
        self.links.pop();
    }

    fn start_raw(&mut self, language: Option<String>, fenced: bool) {
        self.flush();
        self.raw = Some(Raw {
            language,
            fenced,
            text: String::new(),
        });
    }

    fn end_raw(&mut self) {
        let Some(raw) = self.raw.take() else {
            return;
        };
        let text = sanitize::text(&raw.text);
        let language = raw.language.unwrap_or_default();
        let lines = self.code.lines(self.range.start, &text, &language);
        if raw.fenced {
            self.add(Block::fenced(&language, lines), Kind::Fenced(language));
        } else {
            self.add(Block::Verbatim(lines), Kind::Other);
        }
    }

    fn end_row(&mut self, tag: TagEnd) {
        let mut row = std::mem::take(&mut self.row);
        while row.last().is_some_and(Vec::is_empty) {
            row.pop();
        }
        if let Some(table) = &mut self.table {
            if tag == TagEnd::TableHead {
                table.header = row;
            } else {
                table.rows.push(row);
            }
        }
    }

    /// Opens a container, unless it is too deep. A list and its item count as
    /// one level.
    fn open(&mut self, container: Container) {
        self.flush();
        let is_item = matches!(container, Container::Item(..));
        let depth = self
            .containers
            .iter()
            .filter(|open| !matches!(open, Container::Item(..)))
            .count();
        if self.flat > 0 || (depth >= DEEPEST && !is_item) {
            self.flat += 1;
        } else {
            self.containers.push(container);
        }
    }

    fn close(&mut self) {
        self.flush();
        if self.flat > 0 {
            self.flat -= 1;
            return;
        }
        match self.containers.pop() {
            Some(Container::Quote(blocks)) => self.block(Block::Quote(blocks)),
            Some(Container::List(list)) => self.close_list(list),
            Some(Container::Item(item, _)) => self.close_item(item),
            Some(Container::Footnote(label, blocks)) => self.footnote(&label, blocks),
            None => {}
        }
    }

    /// Opens an item. Its spacing depends only on the text before it.
    fn open_item(&mut self) {
        self.flush();
        let apart = match self.containers.last() {
            Some(Container::List(list)) if self.flat == 0 && list.count > 0 => {
                list.loose || is_blank_before(self.source, self.range.start)
            }
            _ => false,
        };
        let item = ListItem {
            apart,
            ..ListItem::default()
        };
        self.open(Container::Item(item, self.range.start));
    }

    fn close_item(&mut self, item: ListItem) {
        let is_unit = self.containers.len() == 1;
        let Some(Container::List(list)) = self.containers.last_mut() else {
            return;
        };
        let first = list.count == 0;
        list.count += 1;
        list.loose = item.loose;
        if is_unit {
            let content = Content::Item {
                start: list.start,
                first,
                item,
            };
            self.unit(content, Kind::Item);
        } else {
            list.items.push(item);
        }
    }

    fn close_list(&mut self, list: OpenList) {
        if !self.containers.is_empty() {
            self.block(Block::List {
                start: list.start,
                items: list.items,
            });
        }
    }

    /// Adds a footnote with its label before its first paragraph.
    fn footnote(&mut self, label: &str, mut blocks: Vec<(usize, Block)>) {
        let label = Span::role(format!("[^{label}]: "), Role::Accent);
        if let Some((_, Block::Paragraph(line))) = blocks.first_mut() {
            line.insert(0, label);
        } else {
            blocks.insert(0, (self.range.start, Block::Paragraph(vec![label])));
        }
        if !self.containers.is_empty() {
            for (start, block) in blocks {
                self.range.start = start;
                self.block(block);
            }
            return;
        }
        let blocks: Vec<Block> = blocks.into_iter().map(|(_, block)| block).collect();
        match self.units.last_mut() {
            // The parser ends a footnote at this indented block, which alone
            // would parse as code.
            Some(Unit {
                content: Content::Blocks(before),
                range,
                ..
            }) if is_indented(self.source, self.range.start) => {
                before.extend(blocks);
                range.end = self.range.end;
            }
            _ => self.unit(Content::Blocks(blocks), Kind::Other),
        }
    }

    /// Ends the open paragraph. Paragraphs of tight items have no end tag.
    pub(super) fn flush(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            let range = std::mem::replace(&mut self.range, self.line_start..self.line_start);
            self.block(Block::Paragraph(line));
            self.range = range;
        }
    }

    /// Adds a block that ends at an empty line.
    fn block(&mut self, block: Block) {
        self.add(block, Kind::Ending);
    }

    /// Adds a block to the innermost container.
    fn add(&mut self, block: Block, kind: Kind) {
        self.flush();
        let source = self.source;
        let start = self.range.start;
        match self.containers.last_mut() {
            Some(Container::Quote(blocks)) => blocks.push(block),
            Some(Container::Footnote(_, blocks)) => blocks.push((start, block)),
            Some(Container::Item(item, item_start)) => {
                // Ignore empty lines before the item.
                let inside = source.get(*item_start..).unwrap_or_default();
                let at = start.saturating_sub(*item_start);
                item.loose |= !item.blocks.is_empty() && is_blank_before(inside, at);
                item.blocks.push(block);
            }
            Some(Container::List(list)) => list.items.push(ListItem {
                blocks: vec![block],
                ..ListItem::default()
            }),
            None => self.unit(Content::Blocks(vec![block]), kind),
        }
    }

    fn unit(&mut self, content: Content, kind: Kind) {
        self.units.push(Unit {
            range: self.range.clone(),
            content,
            kind,
            references: Vec::new(),
        });
    }
}

/// Sanitises an address.
fn address(written: &str) -> String {
    cut_address(&sanitize::line(written)).into_owned()
}

/// Returns true if the text at this offset is indented like code.
fn is_indented(source: &[u8], at: usize) -> bool {
    let before = source.get(..at).unwrap_or_default();
    let blanks = before.iter().rev().take_while(|byte| **byte != b'\n');
    blanks.clone().count() >= 4 || blanks.into_iter().any(|byte| *byte == b'\t')
}

/// Returns true if the line before the given offset is empty, apart from quote
/// markers.
fn is_blank_before(source: &[u8], at: usize) -> bool {
    let before = source.get(..at).unwrap_or_default();
    let Some(end) = memchr::memrchr(b'\n', before) else {
        return false;
    };
    let mut line = before.iter().take(end).rev();
    let last = line.find(|byte| !matches!(byte, b' ' | b'\t' | b'>'));
    last.is_none_or(|byte| *byte == b'\n')
}

fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
        _ => Alignment::Left,
    }
}
