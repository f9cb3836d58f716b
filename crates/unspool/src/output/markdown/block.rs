//! Renders blocks as Markdown: only the block's own markup, none from its text.

use std::fmt::Write as _;

use super::escape::{address, code, fenced, inner, line_start};
use crate::doc::{Alignment, Block, DiffLine, Line, ListItem, Role, Sign, Span, Table, describe};
use crate::layout::is_clickable;

/// The heading level of the comment's title; headings of answers are below it.
const ABOVE: u8 = 3;

/// Renders each block, without surrounding empty lines. `language` is that of verbatim
/// lines and listings.
pub(super) fn blocks(blocks: &[Block], prose: bool, language: &str) -> Vec<String> {
    blocks
        .iter()
        .map(|block| self::block(block, prose, language))
        .collect()
}

fn block(block: &Block, prose: bool, language: &str) -> String {
    match block {
        Block::Paragraph(line) => broken(&inline(line, prose)),
        Block::Heading(level, line) => {
            let level = usize::from(level.saturating_add(ABOVE).min(6));
            let text = inline(line, prose).replace('\n', " ");
            format!("{} {text}", "#".repeat(level))
        }
        Block::List { start, items } => list(*start, items, prose),
        Block::Quote(inner) => {
            let inner = blocks(inner, prose, "").join("\n\n");
            prefixed(&inner, "> ", "> ")
        }
        Block::Verbatim(lines) | Block::Output(lines) => fenced(language, &plain(lines)),
        Block::Code { language, lines } => fenced(language, &plain(lines)),
        Block::Table(table) => self::table(table, prose),
        Block::Rule => "---".to_owned(),
        Block::Diff(lines) => diff(lines, language),
        Block::Media(media) => {
            let line = |media| inline(&describe(media), false).replace('\n', " ");
            media.iter().map(line).collect::<Vec<String>>().join("\\\n")
        }
    }
}

/// Joins lines as text, for a fence.
pub(super) fn plain(lines: &[Line]) -> String {
    let line = |line: &Line| {
        line.iter()
            .map(|span| span.text.as_str())
            .collect::<String>()
    };
    lines.iter().map(line).collect::<Vec<String>>().join("\n")
}

/// Makes newlines within a paragraph hard line breaks.
fn broken(text: &str) -> String {
    text.trim_matches('\n').replace('\n', "\\\n")
}

fn list(start: Option<u64>, items: &[ListItem], prose: bool) -> String {
    let is_loose = items.iter().any(|item| item.apart || item.loose);
    let mut out = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let number = |start: u64| format!("{}. ", start.saturating_add(index as u64));
        // Markdown allows list numbers of nine digits.
        let mark = start.map_or_else(|| "- ".to_owned(), |start| number(start.min(900_000_000)));
        let task = match item.done {
            None => "",
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
        };
        let gap = if item.loose { "\n\n" } else { "\n" };
        let inner = blocks(&item.blocks, prose, "").join(gap);
        let rest = " ".repeat(mark.len());
        out.push(prefixed(&inner, &(mark + task), &rest));
    }
    out.join(if is_loose { "\n\n" } else { "\n" })
}

fn prefixed(text: &str, first: &str, rest: &str) -> String {
    let mut out = first.to_owned();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(if line.is_empty() {
                rest.trim_end()
            } else {
                rest
            });
        }
        out.push_str(line);
    }
    out
}

fn table(table: &Table, prose: bool) -> String {
    let rows = table.rows.iter().map(Vec::len).max();
    let columns = table.header.len().max(rows.unwrap_or_default()).max(1);
    let row = |cells: &[Line]| {
        let cell = |index: usize| {
            let cell = cells.get(index).map(|cell| inline(cell, prose));
            cell.unwrap_or_default().replace('\n', "<br>")
        };
        let cells: Vec<String> = (0..columns).map(cell).collect();
        format!("| {} |", cells.join(" | "))
    };
    let marks = (0..columns).map(|index| match table.alignments.get(index) {
        Some(Alignment::Center) => ":-:",
        Some(Alignment::Right) => "--:",
        Some(Alignment::Left) | None => "---",
    });
    let marks = format!("|{}|", marks.collect::<Vec<&str>>().join("|"));
    let head = [row(&table.header), marks];
    let rows = table.rows.iter().map(|cells| row(cells));
    head.into_iter()
        .chain(rows)
        .collect::<Vec<String>>()
        .join("\n")
}

fn diff(lines: &[DiffLine], language: &str) -> String {
    let mut text = String::new();
    let is_change =
        |line: &DiffLine| matches!(line, DiffLine::Line { sign, .. } if *sign != Sign::Context);
    let is_listing = !lines.iter().any(is_change);
    for line in lines {
        match line {
            DiffLine::Gap => text.push_str("@@ … @@"),
            DiffLine::More(count) => {
                text.push_str("@@ … ");
                text.push_str(&count.to_string());
                text.push_str(" more lines @@");
            }
            DiffLine::Line { sign, spans, .. } => {
                match sign {
                    Sign::Context if is_listing => {}
                    Sign::Context => text.push(' '),
                    Sign::Added => text.push('+'),
                    Sign::Removed => text.push('-'),
                }
                text.extend(spans.iter().map(|span| span.text.as_str()));
            }
        }
        text.push('\n');
    }
    fenced(if is_listing { language } else { "diff" }, &text)
}

/// Renders a line of spans.
pub(super) fn inline(spans: &[Span], prose: bool) -> String {
    let mut out = String::new();
    for group in spans.chunk_by(|a, b| a.link == b.link) {
        let link = group.first().and_then(|span| span.link.as_deref());
        let target = link.filter(|link| is_clickable(link)).and_then(address);
        let is_first = out.is_empty();
        let text = group.iter().map(|span| styled(span, prose, is_first));
        let text: String = text.collect();
        // Writing to a String cannot fail.
        let _ = match (target, link) {
            (Some(target), _) => write!(out, "[{}]({target})", text.replace('\n', " ")),
            (None, Some(link)) if group.iter().all(|span| span.text != link) => {
                write!(out, "{text} ({})", code(link))
            }
            (None, _) => out.write_str(&text),
        };
    }
    out
}

fn styled(span: &Span, prose: bool, first: bool) -> String {
    let style = span.style;
    if prose && style.role == Role::Accent {
        return code(&span.text);
    }
    let mut lines = span.text.split('\n');
    let head = lines.next().unwrap_or_default();
    let head = if first { line_start(head) } else { inner(head) };
    let lines = std::iter::once(head).chain(lines.map(line_start));
    let text = lines.collect::<Vec<String>>().join("\n");
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // Emphasis marks only work next to word characters.
    let plain = is_word(text.chars().next()) && is_word(text.chars().next_back());
    let around = |is_on: bool, mark: &str, tag: &str, text: String| match (is_on, plain) {
        (false, _) => text,
        (true, true) => format!("{mark}{text}{mark}"),
        (true, false) if text.trim().is_empty() => text,
        (true, false) => format!("<{tag}>{text}</{tag}>"),
    };
    let text = around(style.strike, "~~", "s", text);
    let text = around(style.italic, "*", "i", text);
    around(style.bold, "**", "b", text)
}
