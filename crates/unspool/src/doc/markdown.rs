//! Converts Markdown to blocks.
//!
//! Supports `CommonMark` with tables, footnotes, task lists and strikethrough.
//! HTML is shown as plain text. Parsing takes linear time.
//!
//! Answers are shown while they arrive, so later text must not change the look
//! of earlier blocks. Three rules therefore differ from `CommonMark`:
//!
//! - An empty line between two list items, or between two blocks of an item, is
//!   shown where the source has one; it does not depend on the whole list.
//! - `[^label]` is always a footnote reference, even without a footnote.
//! - `[label]` is a link only if its definition came before; a later definition
//!   is shown as text. `[text][label]` and `[label][]` wait for their definition;
//!   [`stream`](super::stream) documents the limit.
//!
//! A `Unit` is the smallest part that can be finished independently: a
//! top-level block or an item of a top-level list. Texts with reference
//! definitions go through [`stream`](super::stream), which resolves them.

mod builder;
mod emphasis;
mod highlights;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, LinkType, Options, Parser};

use crate::doc::stream::Stream;
use crate::doc::{Block, ListItem};
use builder::Builder;
pub(super) use emphasis::is_emphasis;
pub(super) use highlights::{Code, Highlights};

/// Maximum nesting depth of quotes and lists.
pub const DEEPEST: usize = 16;

/// Maximum bytes of a link address; longer ones are cut and end in `…`. The
/// address can be repeated for every word and row of the link's text.
pub const LONGEST_ADDRESS: usize = 2000;

/// Converts Markdown to blocks, with highlighted code.
pub fn blocks(text: &str) -> Vec<Block> {
    blocks_of(text, true)
}

/// Converts Markdown to blocks, with or without highlighted code.
pub fn blocks_of(text: &str, highlight: bool) -> Vec<Block> {
    let text = normalize_newlines(text);
    let code = if highlight { Code::Once } else { Code::Plain };
    let parsed = parse(&text, code, |_, _| None);
    if parsed.definitions.is_empty() {
        return joined(parsed.units);
    }
    let mut stream = Stream::new();
    stream.push(&text);
    stream.finish();
    stream.into_blocks()
}

/// Converts a person's message to blocks: line breaks stay, and so do entities,
/// escapes and marks inside of words.
pub(super) fn message_blocks(text: &str, highlight: bool) -> Vec<Block> {
    let code = if highlight { Code::Once } else { Code::Plain };
    joined(parse_as(text, code, Wording::Literal, |_, _| None).units)
}

/// The reading of emphasis marks in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wording {
    /// As `CommonMark` says.
    Markdown,
    /// As written, where they are not clearly marks.
    Literal,
}

/// A part that can be finished independently.
pub(super) struct Unit {
    /// Its byte range in the source.
    pub(super) range: Range<usize>,
    pub(super) content: Content,
    pub(super) kind: Kind,
    /// References to labels that the text does not define.
    pub(super) references: Vec<Reference>,
}

/// The content of a unit.
pub(super) enum Content {
    Blocks(Vec<Block>),
    /// A list item, with the first number of its list.
    Item {
        start: Option<u64>,
        first: bool,
        item: ListItem,
    },
}

/// The kind of a unit, which decides how it can continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fenced code block in this language.
    Fenced(String),
    Table,
    Item,
    /// Any other block that ends at an empty line.
    Ending,
    Other,
}

/// A reference to a label that the text does not define.
pub(super) struct Reference {
    at: usize,
    /// The normalized label.
    pub(super) label: String,
    /// True for the form `[label]`.
    pub(super) shortcut: bool,
}

/// A link reference definition: `[label]: address`.
pub(super) struct Definition {
    /// Its byte range in the source.
    pub(super) range: Range<usize>,
    /// The label as written.
    pub(super) label: String,
    pub(super) address: String,
}

/// Units and definitions of a text, in order.
pub(super) struct Parsed {
    pub(super) units: Vec<Unit>,
    pub(super) definitions: Vec<Definition>,
}

/// Parses a text with `\n` line ends. `resolve` looks up the address of a label
/// that the text does not define; its second argument is true for the form
/// `[label]`.
pub(super) fn parse(
    text: &str,
    code: Code<'_>,
    resolve: impl Fn(&str, bool) -> Option<String>,
) -> Parsed {
    parse_as(text, code, Wording::Markdown, resolve)
}

fn parse_as(
    text: &str,
    code: Code<'_>,
    wording: Wording,
    resolve: impl Fn(&str, bool) -> Option<String>,
) -> Parsed {
    let (source, skipped) = with_footnotes(text);
    let references = RefCell::new(Vec::new());
    let on_broken_link = |link: BrokenLink<'_>| {
        let label = normalized(&link.reference);
        let shortcut = link.link_type == LinkType::Shortcut;
        let address = resolve(&label, shortcut);
        references.borrow_mut().push(Reference {
            at: link.span.start.saturating_sub(skipped),
            label,
            shortcut,
        });
        address.map(|address| (CowStr::from(address), CowStr::from("")))
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_with_broken_link_callback(&source, options, Some(on_broken_link));
    let definitions = definitions(&parser, skipped);
    let mut builder = Builder::new(text, code, wording);
    for (event, range) in parser.into_offset_iter() {
        if range.start >= skipped {
            builder.event(
                event,
                range.start - skipped..range.end.saturating_sub(skipped),
            );
        }
    }
    builder.flush();
    let mut units = builder.units;
    assign(references.into_inner(), &mut units);
    Parsed { units, definitions }
}

/// Normalizes a label for comparison.
pub(super) fn normalized(label: &str) -> String {
    label.to_lowercase()
}

/// Cuts an address to [`LONGEST_ADDRESS`].
pub(super) fn cut_address(address: &str) -> Cow<'_, str> {
    if address.len() <= LONGEST_ADDRESS {
        return Cow::Borrowed(address);
    }
    let mut end = LONGEST_ADDRESS - '…'.len_utf8();
    while !address.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(address.get(..end).unwrap_or_default().to_owned() + "…")
}

/// Replaces `\r\n` and `\r` with `\n`.
pub(super) fn normalize_newlines(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn definitions<'a, F>(parser: &Parser<'a, F>, skipped: usize) -> Vec<Definition>
where
    F: FnMut(BrokenLink<'a>) -> Option<(CowStr<'a>, CowStr<'a>)>,
{
    let mut definitions: Vec<Definition> = parser
        .reference_definitions()
        .iter()
        .filter(|(_, definition)| definition.span.start >= skipped)
        .map(|(label, definition)| Definition {
            range: definition.span.start - skipped..definition.span.end - skipped,
            label: label.to_owned(),
            address: definition.dest.to_string(),
        })
        .collect();
    definitions.sort_by_key(|definition| definition.range.start);
    definitions
}

/// Assigns references to the units that contain them.
fn assign(references: Vec<Reference>, units: &mut [Unit]) {
    let mut units = units.iter_mut().peekable();
    for reference in references {
        while units
            .next_if(|unit| unit.range.end <= reference.at)
            .is_some()
        {}
        if let Some(unit) = units.peek_mut() {
            unit.references.push(reference);
        }
    }
}

/// Prepends an empty footnote for each label, because the parser recognises
/// `[^label]` only if the footnote exists. Returns the text and the length of
/// the prefix.
fn with_footnotes(text: &str) -> (Cow<'_, str>, usize) {
    let labels: BTreeSet<&str> = text
        .split("[^")
        .skip(1)
        .filter_map(footnote_label)
        .collect();
    if labels.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut source: String = labels
        .iter()
        .flat_map(|label| ["[^", label, "]:\n"])
        .collect();
    source.push_str("***\n");
    let skipped = source.len();
    source.push_str(text);
    (Cow::Owned(source), skipped)
}

/// Returns the label, given the text after `[^`.
fn footnote_label(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b']' if !escaped => return text.get(..at).filter(|label| !label.trim().is_empty()),
            b'[' if !escaped => return None,
            b'\n' => return None,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    None
}

/// Joins units into blocks.
fn joined(units: Vec<Unit>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for unit in units {
        match unit.content {
            Content::Blocks(more) => blocks.extend(more),
            Content::Item { start, first, item } => match blocks.last_mut() {
                Some(Block::List { items, .. }) if !first => items.push(item),
                _ => blocks.push(Block::List {
                    start,
                    items: vec![item],
                }),
            },
        }
    }
    blocks
}
