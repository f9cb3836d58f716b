//! The document model between session and lines: content without a width and
//! without colours.
//!
//! A [`Block`] is a unit of layout. A [`Span`] is text with a [`Role`]; the
//! back end turns roles into colours with a theme. All text in a document is
//! sanitised, so no control character can reach a terminal: build spans from
//! untrusted text with [`Span::clean`] or [`clean_lines`].
//!
//! The submodules build documents: [`markdown`] from answers, [`stream`] from
//! answers that are still arriving, [`code`] from source code, [`capture`] from
//! command output, [`entry`] from session entries at terminal detail, and
//! [`card`] from session entries in full, for pages.

pub mod capture;
pub mod card;
pub mod code;
pub mod entry;
#[cfg(feature = "markdown")]
pub mod markdown;
mod media;
mod prompt;
mod prose;
#[cfg(feature = "markdown")]
pub mod stream;
pub mod title;
mod tool;
pub mod word_diff;

use crate::event::Media;
use crate::sanitize;

pub(crate) use media::{describe, description};

/// The purpose of a piece of text. Themes map roles to colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Ordinary text.
    #[default]
    Normal,
    /// Less important text, inline code, file references.
    Accent,
    /// Tool calls and calls to action.
    Colorful,
    /// Success and additions.
    Green,
    /// Errors and deletions.
    Red,
    /// A part of source code.
    Code(Syntax),
    /// A colour from a tool's own output: an index into the 256-colour palette.
    Literal(u8),
}

/// Token kinds that syntax highlighting distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Syntax {
    Comment,
    Keyword,
    String,
    Number,
    Type,
    Function,
    Constant,
    Tag,
    Attribute,
    Operator,
}

/// The appearance of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is one attribute")]
#[non_exhaustive]
pub struct Style {
    /// The role, which decides the foreground colour.
    pub role: Role,
    /// A background from the 256-colour palette, taken from a tool's own
    /// output.
    pub background: Option<u8>,
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Dim.
    pub dim: bool,
    /// Foreground and background swapped.
    pub reverse: bool,
}

impl Style {
    /// Returns a style with this role and no attributes.
    pub const fn of(role: Role) -> Self {
        Self {
            role,
            background: None,
            bold: false,
            italic: false,
            underline: false,
            strike: false,
            dim: false,
            reverse: false,
        }
    }

    /// Sets [`background`](Self::background).
    pub const fn on(self, background: u8) -> Self {
        Self {
            background: Some(background),
            ..self
        }
    }

    /// Sets [`bold`](Self::bold).
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Sets [`italic`](Self::italic).
    pub const fn italic(self) -> Self {
        Self {
            italic: true,
            ..self
        }
    }

    /// Sets [`underline`](Self::underline).
    pub const fn underline(self) -> Self {
        Self {
            underline: true,
            ..self
        }
    }

    /// Sets [`strike`](Self::strike).
    pub const fn strike(self) -> Self {
        Self {
            strike: true,
            ..self
        }
    }

    /// Sets [`dim`](Self::dim).
    pub const fn dim(self) -> Self {
        Self { dim: true, ..self }
    }

    /// Sets [`reverse`](Self::reverse).
    pub const fn reverse(self) -> Self {
        Self {
            reverse: true,
            ..self
        }
    }
}

/// A piece of text in one style. In a paragraph, a heading or a table cell,
/// `\n` is a hard line break; elsewhere it does not occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The text.
    pub text: String,
    /// The style.
    pub style: Style,
    /// The link target. `layout` prints it after the last span of the link,
    /// unless the text already contains it.
    pub link: Option<String>,
}

impl Span {
    /// Creates a span without a link. The text must already be clean.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
            link: None,
        }
    }

    /// Creates a one-line span from untrusted text, sanitised.
    pub fn clean(text: &str, style: Style) -> Self {
        Self::new(sanitize::line(text), style)
    }

    /// Sets [`link`](Self::link).
    pub fn with_link(self, link: impl Into<String>) -> Self {
        Self {
            link: Some(link.into()),
            ..self
        }
    }

    /// Creates a span that has only a role. The text must already be clean.
    pub fn role(text: impl Into<String>, role: Role) -> Self {
        Self::new(text, Style::of(role))
    }
}

/// One line of spans.
pub type Line = Vec<Span>;

/// Splits untrusted text into sanitised lines, all in one style.
pub fn clean_lines(text: &str, style: Style) -> Vec<Line> {
    let span = |line: &str| (!line.is_empty()).then(|| Span::new(line, style));
    sanitize::text(text)
        .lines()
        .map(|line| span(line).into_iter().collect())
        .collect()
}

/// Appends a span to a line, merging it into the last span if style and link
/// match.
pub fn append(line: &mut Line, span: Span) {
    match line.last_mut() {
        Some(last) if last.style == span.style && last.link == span.link => {
            last.text.push_str(&span.text);
        }
        _ if span.text.is_empty() => {}
        _ => line.push(span),
    }
}

/// A unit of layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text wrapped between words.
    Paragraph(Line),
    /// A heading of this level, 1 to 6.
    Heading(u8, Line),
    /// A list.
    List {
        /// The first number, for an ordered list.
        start: Option<u64>,
        /// The items.
        items: Vec<ListItem>,
    },
    /// A block quote.
    Quote(Vec<Block>),
    /// Lines cut at the column and never wrapped between words: code.
    Verbatim(Vec<Line>),
    /// Lines that a program printed, wrapped between words where possible.
    Output(Vec<Line>),
    /// A fenced code block that names its language.
    Code {
        /// The first word of the info string.
        language: String,
        /// The code.
        lines: Vec<Line>,
    },
    /// A table.
    Table(Table),
    /// A thematic break.
    Rule,
    /// The change of one file.
    Diff(Vec<DiffLine>),
    /// Pictures, sounds and files. Pages can embed pictures; elsewhere each is
    /// a line that describes it.
    Media(Vec<Media>),
}

#[cfg(feature = "markdown")]
impl Block {
    /// Creates the block for a fenced code block with this info string.
    fn fenced(info: &str, lines: Vec<Line>) -> Self {
        let language = code::language(info);
        if language.is_empty() {
            Self::Verbatim(lines)
        } else {
            Self::Code { language, lines }
        }
    }
}

/// Skips leading blank lines.
pub(crate) fn from_first_line(text: &str) -> &str {
    let words = text.trim_start();
    let blank = text.get(..text.len() - words.len()).unwrap_or_default();
    let start = blank.rfind('\n').map_or(0, |end| end + 1);
    text.get(start..).unwrap_or(text)
}

/// Collects all spans of a block for restyling, except those of diffs.
fn spans_mut(block: &mut Block) -> Vec<&mut Span> {
    match block {
        Block::Paragraph(line) | Block::Heading(_, line) => line.iter_mut().collect(),
        Block::List { items, .. } => {
            let blocks = items.iter_mut().flat_map(|item| &mut item.blocks);
            blocks.flat_map(spans_mut).collect()
        }
        Block::Quote(blocks) => blocks.iter_mut().flat_map(spans_mut).collect(),
        Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => {
            lines.iter_mut().flatten().collect()
        }
        Block::Table(table) => {
            let rows = table.rows.iter_mut().flatten();
            table.header.iter_mut().chain(rows).flatten().collect()
        }
        Block::Rule | Block::Diff(_) | Block::Media(_) => Vec::new(),
    }
}

/// A list item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListItem {
    /// For a task: true if it is done.
    pub done: Option<bool>,
    /// True if an empty line separates it from the item before.
    pub apart: bool,
    /// True if empty lines separate its blocks.
    pub loose: bool,
    /// The content.
    pub blocks: Vec<Block>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The alignment of each column.
    pub alignments: Vec<Alignment>,
    /// The header cells.
    pub header: Vec<Line>,
    /// The rows.
    pub rows: Vec<Vec<Line>>,
}

/// The alignment of a table column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// To the left.
    #[default]
    Left,
    /// Centered.
    Center,
    /// To the right.
    Right,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Skipped lines between two hunks, shown as `⋮`.
    Gap,
    /// Omitted lines, counted.
    More(usize),
    /// A line of the file: number if known, sign and text.
    Line {
        /// The line number: in the old file for a removed line, otherwise in
        /// the new file.
        number: Option<u64>,
        /// The line number of a context line in the old file.
        old: Option<u64>,
        /// Added, removed or unchanged.
        sign: Sign,
        /// The text.
        spans: Line,
    },
}

/// The diff marker of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// An unchanged line: a blank.
    Context,
    /// `+`.
    Added,
    /// `-`.
    Removed,
}
