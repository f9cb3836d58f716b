//! The document between session and lines: what is to be seen, without a width
//! and without colours.
//!
//! A [`Block`] is what a page or a terminal can lay out; a [`Span`] is text
//! with a [`Role`], to which the theme gives a colour only in the back end.
//! Text in a document is clean: it went through `sanitize`, so that no control
//! character can reach a terminal. [`Span::clean`] and [`clean_lines`] do that.
//!
//! The modules make documents of what agents write: [`markdown`] of answers,
//! [`stream`] of answers that are still being written, [`code`] of source code, [`capture`] of what commands printed, [`entry`] of
//! whole entries of a session, [`card`] of the same for a page, where all of it is
//! there.

pub mod capture;
pub mod card;
pub mod changed;
pub mod code;
pub mod entry;
pub mod markdown;
pub mod stream;
mod tool;

use crate::sanitize;

/// What a piece of text is for. The theme knows the colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// A colour that a tool's own output carried: an entry of the 256-colour
    /// palette.
    Literal(u8),
}

/// The parts of source code that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
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

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is one attribute")]
pub struct Style {
    /// What it is for.
    pub role: Role,
    /// A background of the 256-colour palette, from a tool's own output.
    pub background: Option<u8>,
    /// In bold.
    pub bold: bool,
    /// In italics.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Faint.
    pub dim: bool,
    /// With foreground and background exchanged.
    pub reverse: bool,
}

impl Style {
    /// This role, and nothing else.
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

    /// The same in bold.
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same in italics.
    pub const fn italic(self) -> Self {
        Self {
            italic: true,
            ..self
        }
    }
}

/// A piece of text in one style. `\n` in a paragraph, a heading or a cell of a
/// table is a forced line end; elsewhere there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Where it leads. The address is not part of the text: `layout` shows it
    /// after the last span that leads there, unless the text says it already.
    pub link: Option<String>,
}

impl Span {
    /// A text in a style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
            link: None,
        }
    }

    /// A text from outside, made clean, as one line.
    pub fn clean(text: &str, style: Style) -> Self {
        Self::new(sanitize::line(text), style)
    }

    /// A text in a role.
    pub fn role(text: impl Into<String>, role: Role) -> Self {
        Self::new(text, Style::of(role))
    }
}

/// One line of spans.
pub type Line = Vec<Span>;

/// The lines of a text from outside, made clean, all in one style.
pub fn clean_lines(text: &str, style: Style) -> Vec<Line> {
    let span = |line: &str| (!line.is_empty()).then(|| Span::new(line, style));
    sanitize::text(text)
        .lines()
        .map(|line| span(line).into_iter().collect())
        .collect()
}

/// Adds a span to a line, as part of the last one where they look the same.
pub fn append(line: &mut Line, span: Span) {
    match line.last_mut() {
        Some(last) if last.style == span.style && last.link == span.link => {
            last.text.push_str(&span.text);
        }
        _ if span.text.is_empty() => {}
        _ => line.push(span),
    }
}

/// What can be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text that is wrapped at words.
    Paragraph(Line),
    /// A heading of this level.
    Heading(u8, Line),
    /// A list; numbered from the number given.
    List {
        /// The first number, for an ordered list.
        start: Option<u64>,
        /// The items.
        items: Vec<ListItem>,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// Lines that are cut at the column, never wrapped at words: code.
    Verbatim(Vec<Line>),
    /// Lines that a program printed: wrapped at words where they have any.
    Output(Vec<Line>),
    /// The same, of a fence that names its language.
    Code {
        /// As the fence names it, without what stands behind it.
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
}

impl Block {
    /// The lines of a fence with these words behind its marks.
    fn fenced(info: &str, lines: Vec<Line>) -> Self {
        let language = code::language(info);
        if language.is_empty() {
            Self::Verbatim(lines)
        } else {
            Self::Code { language, lines }
        }
    }
}

/// The text from its first line that is not blank.
pub(crate) fn from_first_line(text: &str) -> &str {
    let words = text.trim_start();
    let blank = text.get(..text.len() - words.len()).unwrap_or_default();
    let start = blank.rfind('\n').map_or(0, |end| end + 1);
    text.get(start..).unwrap_or(text)
}

/// All spans of a block, but for those of changes, to restyle them.
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
        Block::Rule | Block::Diff(_) => Vec::new(),
    }
}

/// One item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListItem {
    /// For a task: whether it is done.
    pub done: Option<bool>,
    /// An empty line stands before it, unless it is the first.
    pub apart: bool,
    /// Empty lines stand between its blocks.
    pub loose: bool,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// How each column is aligned.
    pub alignments: Vec<Alignment>,
    /// The head.
    pub header: Vec<Line>,
    /// The rows.
    pub rows: Vec<Vec<Line>>,
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Alignment {
    #[default]
    Left,
    Center,
    Right,
}

/// One line of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Lines that are not shown: `⋮`.
    Gap,
    /// So many lines at the end are not shown.
    More(usize),
    /// A line: its number, where it is known, its sign and its text.
    Line {
        /// The number: that of a removed line in the old file, of any other in
        /// the new one.
        number: Option<u64>,
        /// The number of a line of context in the old file.
        old: Option<u64>,
        /// What happened to it.
        sign: Sign,
        /// The text.
        spans: Line,
    },
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sign {
    Context,
    Added,
    Removed,
}
