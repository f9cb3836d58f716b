//! Markdown → blocks.
//!
//! What a model writes is taken as `CommonMark` with tables, footnotes, task
//! lists and struck-out text. HTML is shown as the text that it is. The parser
//! is a pull parser and takes linear time.
//!
//! An answer is shown while it is being written, so nothing may change the look
//! of what stands far before it. Three rules differ from `CommonMark` for that:
//!
//! - Whether an empty line stands between two items of a list, or between two
//!   blocks of an item, depends on what the source has there, not on the whole
//!   list.
//! - `[^label]` is a reference to a footnote, whether that exists or not.
//! - `[label]` is a link only if the definition of the label came before it; a
//!   definition that came later is shown where it stands. `[text][label]` and
//!   `[label][]` wait for their definition: [`stream`](super::stream) says how
//!   long.
//!
//! A `Unit` is what can be finished alone: a block, or an item of a list, that is
//! in no other. [`blocks`] is called for answers, reasoning and other prose;
//! `parse` by `stream`, which does the whole work where references have
//! definitions.

mod builder;
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
pub(super) use highlights::{Code, Highlights};

/// How deep quotes and lists may be nested.
pub const DEEPEST: usize = 16;

/// Bytes of the address of a link. Each word of its text may lead there, and
/// each row that it is wrapped to, so a longer one is cut, and ends in `…`.
pub const LONGEST_ADDRESS: usize = 2000;

/// The blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    blocks_of(text, true)
}

/// The blocks of a text, with or without the roles of code.
pub fn blocks_of(text: &str, highlight: bool) -> Vec<Block> {
    let text = with_line_feeds(text);
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

/// What can be finished alone.
pub(super) struct Unit {
    /// Where it stands in the source.
    pub(super) range: Range<usize>,
    pub(super) content: Content,
    pub(super) kind: Kind,
    /// Labels that it refers to and that are not defined in the text.
    pub(super) references: Vec<Reference>,
}

/// What a unit shows.
pub(super) enum Content {
    Blocks(Vec<Block>),
    /// An item of a list that starts with this number, and whether it is the
    /// first.
    Item {
        start: Option<u64>,
        first: bool,
        item: ListItem,
    },
}

/// What sort of thing a unit is, as far as that says how it can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Code between fences, in this language.
    Fenced(String),
    Table,
    Item,
    /// Anything else that an empty line ends.
    Ending,
    Other,
}

/// A use of a label that the text itself does not define.
pub(super) struct Reference {
    at: usize,
    /// The label, comparable.
    pub(super) label: String,
    /// Whether it is of the form `[label]`.
    pub(super) shortcut: bool,
}

/// `[label]: address`.
pub(super) struct Definition {
    /// Where it stands in the source.
    pub(super) range: Range<usize>,
    /// The label as it is written.
    pub(super) label: String,
    pub(super) address: String,
}

/// The units of a text, and the definitions in it, both in order.
pub(super) struct Parsed {
    pub(super) units: Vec<Unit>,
    pub(super) definitions: Vec<Definition>,
}

/// Parses a text whose lines end in `\n`. `resolve` gives the addresses of
/// labels that are not defined in it, and is told whether a link is a shortcut.
pub(super) fn parse(
    text: &str,
    code: Code<'_>,
    resolve: impl Fn(&str, bool) -> Option<String>,
) -> Parsed {
    let (source, skipped) = with_footnotes(text);
    let references = RefCell::new(Vec::new());
    let on_broken_link = |link: BrokenLink<'_>| {
        let label = comparable(&link.reference);
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
    let mut builder = Builder::new(text, code);
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

/// A label in the form in which labels are compared.
pub(super) fn comparable(label: &str) -> String {
    label.to_lowercase()
}

/// An address that is not too long.
pub(super) fn shortened(address: &str) -> Cow<'_, str> {
    if address.len() <= LONGEST_ADDRESS {
        return Cow::Borrowed(address);
    }
    let mut end = LONGEST_ADDRESS - '…'.len_utf8();
    while !address.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(address.get(..end).unwrap_or_default().to_owned() + "…")
}

/// Makes `\r\n` and a lone `\r` a line feed.
pub(super) fn with_line_feeds(text: &str) -> Cow<'_, str> {
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

/// Gives each unit the references that stand in it.
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

/// The parser takes `[^label]` for a reference only where the footnote exists,
/// so each label gets one, before the text. Says how long they are together.
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

/// The label at the start of what stands behind `[^`.
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

/// The units of a whole text as blocks.
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
