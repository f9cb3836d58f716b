//! Markdown → blocks.
//!
//! What a model writes is taken as `CommonMark` with tables, footnotes, task
//! lists and struck-out text. HTML is shown as the text that it is. The parser
//! is a pull parser and the builder keeps its own stack, so that neither deep
//! nesting nor giant tables can overflow the call stack or take more than
//! linear time; containers nested deeper than [`DEEPEST`] are shown flat.
//!
//! All text goes through `sanitize` after parsing: an entity such as `&#27;`
//! becomes a control character only then.
//!
//! Called for answers, reasoning and other prose; [`parse`] also says where each
//! block starts, for streams that lay out finished blocks once.

#[cfg(test)]
mod tests;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::doc::code;
use crate::doc::{Alignment, Block, Line, ListItem, Role, Span, Style, Table, append};
use crate::sanitize;

/// How deep quotes and lists may be nested.
pub const DEEPEST: usize = 16;

/// The blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    blocks_of(text, true)
}

/// The blocks of a text, with or without the roles of code.
pub fn blocks_of(text: &str, highlight: bool) -> Vec<Block> {
    let builder = Builder {
        plain_code: !highlight,
        ..Builder::default()
    };
    let blocks = built(builder, text).into_iter();
    blocks.map(|(_, block)| block).collect()
}

/// The blocks of a text, each with the byte at which it starts.
pub fn parse(text: &str) -> Vec<(usize, Block)> {
    built(Builder::default(), text)
}

fn built(mut builder: Builder, text: &str) -> Vec<(usize, Block)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if builder.open_tags == 0 {
            builder.top = range.start;
        }
        builder.event(event);
    }
    builder.flush();
    builder.finished
}

/// A block that holds others and is not yet closed.
enum Container {
    Quote(Vec<Block>),
    List {
        start: Option<u64>,
        tight: bool,
        items: Vec<ListItem>,
    },
    Item(ListItem),
    Footnote(String, Vec<Block>),
}

/// A block whose text is taken as it is.
struct Raw {
    /// The language of code; none for HTML.
    language: Option<String>,
    text: String,
}

#[derive(Default)]
struct Builder {
    /// Code keeps no roles.
    plain_code: bool,
    finished: Vec<(usize, Block)>,
    /// How many tags are open, and where the outermost of them starts.
    open_tags: usize,
    top: usize,
    containers: Vec<Container>,
    /// Open containers that are too deep to be shown.
    flat: usize,
    /// The text of the open paragraph, heading or cell.
    line: Line,
    bold: usize,
    italic: usize,
    strike: usize,
    links: Vec<String>,
    raw: Option<Raw>,
    table: Option<Table>,
    row: Vec<Line>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.open_tags += 1;
                self.start(tag);
            }
            Event::End(tag) => {
                self.end(tag);
                self.open_tags = self.open_tags.saturating_sub(1);
            }
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
            Event::Code(text) => self.push(&sanitize::line(&text), Role::Accent),
            Event::Html(text) => self.text(&text),
            Event::InlineHtml(tag) => self.inline_html(&tag),
            Event::FootnoteReference(label) => {
                self.push(&format!("[{}]", sanitize::line(&label)), Role::Accent);
            }
            Event::SoftBreak => self.push(" ", Role::Normal),
            Event::HardBreak => self.push("\n", Role::Normal),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some(Container::Item(item)) = self.containers.last_mut() {
                    item.done = Some(done);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.loosen(),
            Tag::BlockQuote(_) => self.open(Container::Quote(Vec::new())),
            Tag::List(start) => self.open(Container::List {
                start,
                tight: true,
                items: Vec::new(),
            }),
            Tag::Item => self.open(Container::Item(ListItem::default())),
            Tag::FootnoteDefinition(label) => {
                let label = sanitize::line(&label).into_owned();
                self.open(Container::Footnote(label, Vec::new()));
            }
            Tag::CodeBlock(kind) => self.start_raw(Some(language(&kind))),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => self.start_raw(None),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table {
                    alignments: alignments.into_iter().map(alignment).collect(),
                    ..Table::default()
                });
            }
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } => self.links.push(sanitize::line(&dest_url).into_owned()),
            Tag::Image { dest_url, .. } => self.start_image(&dest_url),
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
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
                    self.block(Block::Table(table));
                }
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

    fn text(&mut self, text: &str) {
        if let Some(raw) = &mut self.raw {
            raw.text.push_str(text);
        } else {
            self.push(&sanitize::line(text), Role::Normal);
        }
    }

    fn inline_html(&mut self, tag: &str) {
        let name = tag
            .trim_start_matches('<')
            .trim_end_matches(['>', '/', ' ']);
        if name.eq_ignore_ascii_case("br") {
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

    /// An image is its description, which leads to it, or to where the link
    /// around it leads.
    fn start_image(&mut self, address: &str) {
        let target = match self.links.last() {
            Some(outer) => outer.clone(),
            None => sanitize::line(address).into_owned(),
        };
        self.links.push(target);
    }

    /// Without a description, the address is shown.
    fn end_image(&mut self) {
        let target = self.links.last().cloned().unwrap_or_default();
        let described = self.line.last().and_then(|span| span.link.as_ref()) == Some(&target);
        if !described {
            self.push(&target, Role::Normal);
        }
        self.links.pop();
    }

    fn start_raw(&mut self, language: Option<String>) {
        self.flush();
        self.raw = Some(Raw {
            language,
            text: String::new(),
        });
    }

    fn end_raw(&mut self) {
        let Some(raw) = self.raw.take() else {
            return;
        };
        let text = sanitize::text(&raw.text);
        let language = raw.language.as_deref().filter(|_| !self.plain_code);
        let language = language.unwrap_or_default();
        self.block(Block::Verbatim(code::lines(&text, language)));
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

    /// Opens a container, unless it is too deep. An item is as deep as its list.
    fn open(&mut self, container: Container) {
        self.flush();
        let is_item = matches!(container, Container::Item(_));
        let depth = self
            .containers
            .iter()
            .filter(|open| !matches!(open, Container::Item(_)))
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
            Some(Container::List {
                start,
                tight,
                items,
            }) => self.block(Block::List {
                start,
                tight,
                items,
            }),
            Some(Container::Item(item)) => {
                if let Some(Container::List { items, .. }) = self.containers.last_mut() {
                    items.push(item);
                }
            }
            Some(Container::Footnote(label, blocks)) => self.footnote(&label, blocks),
            None => {}
        }
    }

    /// A footnote: its label before its first paragraph.
    fn footnote(&mut self, label: &str, mut blocks: Vec<Block>) {
        let label = Span::role(format!("[{label}]: "), Role::Accent);
        if let Some(Block::Paragraph(line)) = blocks.first_mut() {
            line.insert(0, label);
        } else {
            blocks.insert(0, Block::Paragraph(vec![label]));
        }
        for block in blocks {
            self.block(block);
        }
    }

    /// A paragraph directly in an item makes its list loose.
    fn loosen(&mut self) {
        self.flush();
        if self.flat > 0 {
            return;
        }
        if let [.., Container::List { tight, .. }, Container::Item(_)] = &mut self.containers[..] {
            *tight = false;
        }
    }

    /// Ends the open paragraph, also one of a tight item, which has no tags.
    fn flush(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.block(Block::Paragraph(line));
        }
    }

    /// Adds a block to the innermost container.
    fn block(&mut self, block: Block) {
        self.flush();
        match self.containers.last_mut() {
            Some(Container::Quote(blocks) | Container::Footnote(_, blocks)) => blocks.push(block),
            Some(Container::Item(item)) => item.blocks.push(block),
            Some(Container::List { items, .. }) => items.push(ListItem {
                done: None,
                blocks: vec![block],
            }),
            None => self.finished.push((self.top, block)),
        }
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Fenced(info) => CowStr::to_string(info),
        CodeBlockKind::Indented => String::new(),
    }
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
