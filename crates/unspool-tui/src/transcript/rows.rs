//! Lays out entries as rows for a width and folding level.
//!
//! Screen positions are not known here. Marks of calls are painted later, so that
//! a spinner needs no layout.

use unspool::doc::card::{self, Card, Panel, Section};
use unspool::doc::entry::{self, Detail, Excerpt, Part, Reasoning};
use unspool::doc::{Block, DiffLine, Line, Role, Sign, Span, Style, word_diff};
use unspool::event::User;
use unspool::formatter::Formatter;
use unspool::layout::{self, split};
use unspool::sanitize;
use unspool::session::{Entry, Item};

/// Maximum number of rows of a part at level [`Level::Brief`].
const BRIEF: usize = 40;
/// The same for a heading.
const BRIEF_HEADING: usize = 4;
/// The same for a user message, and the number of bytes laid out for it.
const BRIEF_PROMPT: usize = 12;
const BRIEF_BYTES: usize = 8 << 10;
/// Minimum width of an entry, however deeply nested.
const LEAST: usize = 12;
/// Number of characters that stand for a folded thought.
const FIRST_WORDS: usize = 200;

/// Level of detail of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    /// The heading only.
    Folded,
    /// The most important parts.
    Brief,
    /// Everything.
    Full,
}

impl Level {
    /// Returns the default level of an entry.
    pub(super) fn initial(item: &Item) -> Self {
        match item {
            Item::Reasoning(_) | Item::Context(_) | Item::Unknown(_) => Self::Folded,
            _ => Self::Brief,
        }
    }
}

/// The function of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// A heading with this margin before its mark.
    Head(usize),
    /// The label that folds the section with this number.
    Label(u16),
    /// Any other row.
    Body,
}

/// A row of a slot.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) line: Line,
    pub(super) part: Spot,
}

impl Row {
    fn body(line: Line) -> Self {
        Self {
            line,
            part: Spot::Body,
        }
    }
}

/// Layout parameters.
pub(super) struct Page<'a> {
    pub(super) formatter: &'a Formatter,
    pub(super) detail: &'a Detail,
    pub(super) width: usize,
    /// True for side-by-side changes.
    pub(super) side_by_side: bool,
    pub(super) level: Level,
    /// Sections whose folding differs from the default.
    pub(super) toggled: &'a [u16],
}

/// Lays out an entry.
pub(super) fn rows(entry: &Entry, page: &Page<'_>) -> Vec<Row> {
    let mut rows = match &entry.item {
        Item::User(user) if page.level < Level::Full && user.text.as_str().len() > BRIEF_BYTES => {
            long_prompt(entry, &user.text.as_str(), page)
        }
        Item::Text(_) => answer(entry, page),
        Item::Reasoning(text) => thought(entry, &text.text, page),
        Item::Tool(_) | Item::Edit(_) | Item::Context(_) | Item::Unknown(_)
            if page.level == Level::Full =>
        {
            full(entry, page)
        }
        _ => brief(entry, page),
    };
    while rows.last().is_some_and(|row| is_blank(&row.line)) {
        rows.pop();
    }
    if page.width <= layout::MIN_COLUMNS {
        rows = folded(rows, page.width);
    }
    rows
}

fn is_blank(line: &[Span]) -> bool {
    line.iter().all(|span| span.text.trim().is_empty())
}

/// Wraps unwrapped lines at any character.
pub(super) fn folded(rows: Vec<Row>, width: usize) -> Vec<Row> {
    let fold = |row: Row| {
        let lines = layout::folded(&row.line, width);
        let lines = if lines.is_empty() {
            vec![Line::new()]
        } else {
            lines
        };
        lines.into_iter().enumerate().map(move |(at, line)| Row {
            line,
            part: if at == 0 { row.part } else { Spot::Body },
        })
    };
    rows.into_iter().flat_map(fold).collect()
}

/// Returns the indentation of an entry.
pub(super) fn indent(entry: &Entry, width: usize) -> usize {
    let wanted = (entry.depth() as usize).saturating_mul(2);
    wanted.min(width.saturating_sub(LEAST))
}

fn answer(entry: &Entry, page: &Page<'_>) -> Vec<Row> {
    let lines = page.formatter.lines(entry, page.width);
    let mut rows: Vec<Row> = lines.into_iter().map(Row::body).collect();
    if page.level == Level::Folded {
        cut(&mut rows, 1);
    }
    rows
}

/// Cuts the rows and mentions the number of rows cut.
fn cut(rows: &mut Vec<Row>, most: usize) {
    let more = rows.len().saturating_sub(most);
    if more > 1 {
        rows.truncate(most);
        let noun = format!("  … +{more} lines");
        rows.push(Row::body(vec![Span::role(noun, Role::Accent)]));
    }
}

/// Lays out a thought: its first words as heading, the rest below when unfolded.
fn thought(entry: &Entry, text: &str, page: &Page<'_>) -> Vec<Row> {
    if page.detail.reasoning == Reasoning::Off || text.trim().is_empty() {
        return Vec::new();
    }
    let margin = indent(entry, page.width);
    let is_open = page.level > Level::Folded;
    let first: String = text.trim().chars().take(FIRST_WORDS).collect();
    let first = first.lines().next().unwrap_or_default();
    let is_all = text.trim().len() == first.len();
    // Text may follow a bold title.
    let first = first.trim_matches(['*', '#', ' ']).replace("**", "");
    let first = sanitize::line(&first).into_owned();
    let sign = match (is_all, is_open) {
        (true, _) => "  ",
        (_, true) => "▾ ",
        (_, false) => "▸ ",
    };
    let words = if is_open && !is_all {
        "Thought"
    } else {
        &first
    };
    let heading = vec![
        Span::role(" ".repeat(margin), Role::Normal),
        Span::role("◦ ", Role::Accent),
        Span::role(sign, Role::Accent),
        Span::new(words, Style::of(Role::Accent).italic()),
    ];
    let mut rows = vec![Row {
        line: layout::truncated(&heading, page.width),
        part: Spot::Head(margin),
    }];
    if is_open && !is_all {
        let card = card::card(entry, page.detail);
        let sections = card.into_iter().flat_map(|card| card.panels);
        for section in sections.flat_map(|panel| {
            let heading = Section {
                blocks: vec![Block::Paragraph(panel.heading)],
                ..Section::default()
            };
            // A title is repeated above the text.
            let has_title = text.trim_start().starts_with("**");
            has_title
                .then_some(heading)
                .into_iter()
                .chain(panel.sections)
        }) {
            add_blocks(&section.blocks, margin + 2, page, &mut rows);
        }
    }
    rows
}

/// Lays out the start of a user message that is too long for a full layout.
fn long_prompt(entry: &Entry, text: &str, page: &Page<'_>) -> Vec<Row> {
    let text = text.trim();
    let is_border = |at: &usize| text.is_char_boundary(*at);
    let cut = (0..=BRIEF_BYTES).rev().find(is_border).unwrap_or_default();
    let (head, rest) = text.split_at(cut);
    let mut short = Entry::new(Item::User(User::new(head)));
    short.number = entry.number;
    short.agent.clone_from(&entry.agent);
    let all = Page {
        level: Level::Full,
        ..*page
    };
    let mut rows = brief(&short, &all);
    let most = if page.level == Level::Folded {
        1
    } else {
        BRIEF_PROMPT
    };
    let below = rows.len().saturating_sub(most);
    rows.truncate(most);
    // The rest has at least as many rows as newlines.
    let ends = memchr::memchr_iter(b'\n', rest.as_bytes()).count();
    let lines = ends + usize::from(head.ends_with('\n'));
    let more = below + lines.max(rest.len() / page.width.max(1)).max(1);
    let noun = format!("  … +{more} lines");
    rows.push(Row::body(vec![Span::role(noun, Role::Accent)]));
    rows
}

/// Lays out an entry as `unspool show` does.
fn brief(entry: &Entry, page: &Page<'_>) -> Vec<Row> {
    let detail = page
        .detail
        .clone()
        .with_lines(page.detail.lines.or(Some(5)))
        .with_marks(true);
    let margin = indent(entry, page.width);
    let parts = entry::parts(entry, &detail);
    let is_call = matches!(entry.item, Item::Tool(_) | Item::Edit(_));
    let mut rows = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        let is_head = part.first.first().is_some_and(|span| span.text == "• ");
        if page.level == Level::Folded && at > 0 {
            break;
        }
        let mut laid = part_rows(part, margin, page);
        if is_head && let Some(first) = laid.first_mut() {
            first.part = Spot::Head(margin);
        }
        let most = match (page.level, is_call, is_head) {
            (Level::Folded, ..) => 1,
            (_, true, true) => BRIEF_HEADING,
            (_, true, false) => BRIEF,
            (Level::Brief, ..) if matches!(entry.item, Item::User(_)) => BRIEF_PROMPT,
            _ => usize::MAX,
        };
        cut(&mut laid, most);
        rows.extend(laid);
    }
    rows
}

fn part_rows(part: Part, margin: usize, page: &Page<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    if let [Block::Diff(_)] = part.blocks.as_slice() {
        add_blocks(&part.blocks, margin, page, &mut rows);
        return rows;
    }
    let blanks = Span::role(" ".repeat(margin), Role::Normal);
    let first: Line = std::iter::once(blanks.clone()).chain(part.first).collect();
    let rest: Line = std::iter::once(blanks).chain(part.rest).collect();
    let width = layout::columns(page.width);
    let lines = layout::layout(&part.blocks, width, &first, &rest);
    rows.extend(lines.into_iter().map(Row::body));
    rows
}

/// Lays out everything known about an entry.
fn full(entry: &Entry, page: &Page<'_>) -> Vec<Row> {
    let margin = indent(entry, page.width);
    let detail = page
        .detail
        .clone()
        .with_reasoning(Reasoning::Full)
        .with_failed(Excerpt::Head);
    let Some(Card { panels, .. }) = card::card(entry, &detail) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    let mut number = 0;
    for panel in panels {
        add_heading(&panel, margin, page, &mut rows);
        for section in &panel.sections {
            add_section(section, number, margin, page, &mut rows);
            number = number.saturating_add(1);
        }
    }
    rows
}

fn add_heading(panel: &Panel, margin: usize, page: &Page<'_>, rows: &mut Vec<Row>) {
    let part = Part {
        first: vec![Span::role("• ", Role::Accent)],
        rest: vec![Span::role("  ", Role::Normal)],
        blocks: vec![Block::Paragraph(panel.heading.clone())],
        ..Part::default()
    };
    let mut laid = part_rows(part, margin, page);
    if let Some(first) = laid.first_mut() {
        first.part = Spot::Head(margin);
    }
    rows.extend(laid);
}

fn add_section(
    section: &Section,
    number: u16,
    margin: usize,
    page: &Page<'_>,
    rows: &mut Vec<Row>,
) {
    let is_folded = section.folded != page.toggled.contains(&number);
    let label = match section.label {
        "" if section.folded => "More",
        label => label,
    };
    if !label.is_empty() {
        let sign = if is_folded { "▸ " } else { "▾ " };
        rows.push(Row {
            line: vec![
                Span::role(" ".repeat(margin + 2), Role::Normal),
                Span::role(format!("{sign}{label}"), Role::Accent),
            ],
            part: Spot::Label(number),
        });
    }
    if is_folded && !label.is_empty() {
        return;
    }
    add_blocks(&section.blocks, margin + 2, page, rows);
    if section.left_out > 0 {
        let words = format!("… {} bytes are not shown", section.left_out);
        let blanks = " ".repeat(margin + 2);
        rows.push(Row::body(vec![Span::role(blanks + &words, Role::Accent)]));
    }
}

/// Lays out blocks with a margin.
fn add_blocks(blocks: &[Block], margin: usize, page: &Page<'_>, rows: &mut Vec<Row>) {
    let blanks = [Span::role(" ".repeat(margin), Role::Normal)];
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            rows.push(Row::body(Line::new()));
        }
        let lines = match block {
            Block::Diff(lines) => diff(lines, margin, page),
            block => {
                let width = layout::columns(page.width);
                layout::layout(std::slice::from_ref(block), width, &blanks, &blanks)
            }
        };
        rows.extend(lines.into_iter().map(Row::body));
    }
}

fn has_two_sides(lines: &[DiffLine]) -> bool {
    let has = |wanted: Sign| {
        let mut signs = lines.iter().filter_map(|line| match line {
            DiffLine::Line { sign, .. } => Some(*sign),
            _ => None,
        });
        signs.any(|sign| sign == wanted)
    };
    has(Sign::Removed) && has(Sign::Added)
}

fn diff(lines: &[DiffLine], margin: usize, page: &Page<'_>) -> Vec<Line> {
    let lines = word_diff::mark_words(lines.to_vec());
    let room = page.width.saturating_sub(margin);
    let blanks = Span::role(" ".repeat(margin), Role::Normal);
    // Pure additions or deletions don't need two columns.
    if page.side_by_side && room >= split::READABLE - 10 && has_two_sides(&lines) {
        let mut lines = split::side_by_side(&lines, room);
        for line in &mut lines {
            line.insert(0, blanks.clone());
        }
        return lines;
    }
    let blanks = [blanks];
    let width = layout::columns(page.width);
    layout::layout(&[Block::Diff(lines)], width, &blanks, &blanks)
}
