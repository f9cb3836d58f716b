//! Renders blocks and spans as HTML elements.
//!
//! Roles become classes that the page's style colours. The output consists only
//! of literals from this file and escaped text.

use std::fmt::Write as _;

use super::diff;
use super::escape::{attribute, text};
use crate::doc::{
    Alignment, Block, Line, ListItem, Role, Span, Style, Syntax, Table, describe, description,
};
use crate::event::{Media, Raster};
use crate::layout::is_clickable;

/// The level of an answer's first heading; the page's own headings are above
/// it.
const FIRST_HEADING: u8 = 4;

/// The meaning of [`Role::Accent`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Accent {
    /// Inline code, in prose.
    Code,
    /// Less important text, in our own output.
    Muted,
}

pub(super) fn blocks(page: &mut String, blocks: &[Block], accent: Accent) {
    for block in blocks {
        self::block(page, block, accent);
    }
}

fn block(page: &mut String, block: &Block, accent: Accent) {
    match block {
        Block::Paragraph(line) => {
            page.push_str("<p>");
            spans(page, line, accent);
            page.push_str("</p>\n");
        }
        Block::Heading(level, line) => {
            let level = level.saturating_add(FIRST_HEADING - 1).min(6);
            // Writing to a String cannot fail.
            let _ = write!(page, "<h{level}>");
            spans(page, line, accent);
            let _ = writeln!(page, "</h{level}>");
        }
        Block::List { start, items } => list(page, *start, items, accent),
        Block::Quote(blocks) => {
            page.push_str("<blockquote>\n");
            self::blocks(page, blocks, accent);
            page.push_str("</blockquote>\n");
        }
        Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => {
            verbatim(page, lines);
        }
        Block::Table(table) => self::table(page, table, accent),
        Block::Rule => page.push_str("<hr>\n"),
        Block::Diff(lines) => diff::write(page, lines),
        Block::Media(media) => media.iter().for_each(|media| self::media(page, media)),
    }
}

/// Embeds a picture; describes anything else. The address of the picture is
/// base64 of a type that holds no script, see [`Media::raster`].
fn media(page: &mut String, media: &Media) {
    let Some(raster) = media.raster() else {
        page.push_str("<p>");
        spans(page, &describe(media), Accent::Muted);
        page.push_str("</p>\n");
        return;
    };
    let Raster {
        mime,
        width,
        height,
        base64,
    } = raster;
    page.push_str("<p><img class=\"media\" alt=\"");
    attribute(page, &description(media));
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "\" width=\"{width}\" height=\"{height}\" loading=\"lazy\" src=\"data:{mime};base64,"
    );
    attribute(page, &base64);
    page.push_str("\">");
    spans(page, &describe(media), Accent::Muted);
    page.push_str("</p>\n");
}

fn list(page: &mut String, start: Option<u64>, items: &[ListItem], accent: Accent) {
    let is_task = items.iter().any(|item| item.done.is_some());
    match start {
        None if is_task => page.push_str("<ul class=\"tasks\">\n"),
        None => page.push_str("<ul>\n"),
        Some(1) => page.push_str("<ol>\n"),
        Some(start) => {
            let _ = writeln!(page, "<ol start=\"{start}\">");
        }
    }
    for item in items {
        match item.done {
            None => page.push_str("<li>"),
            Some(true) => {
                page.push_str("<li class=\"done\"><span class=\"visually-hidden\">Done: </span>");
            }
            Some(false) => {
                page.push_str("<li class=\"todo\"><span class=\"visually-hidden\">To do: </span>");
            }
        }
        self::item(page, item, accent);
        page.push_str("</li>\n");
    }
    page.push_str(if start.is_some() {
        "</ol>\n"
    } else {
        "</ul>\n"
    });
}

/// Renders an item. Its text, or its first line, is not a paragraph unless the
/// item is loose.
fn item(page: &mut String, item: &ListItem, accent: Accent) {
    for block in &item.blocks {
        match block {
            Block::Paragraph(line) if !item.loose => {
                page.push_str("<span class=\"line\">");
                spans(page, line, accent);
                page.push_str("</span>");
            }
            block => self::block(page, block, accent),
        }
    }
}

fn verbatim(page: &mut String, lines: &[Line]) {
    // HTML parsers drop a newline directly after `<pre>`.
    page.push_str("<pre tabindex=\"0\">\n<code>");
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            page.push('\n');
        }
        spans(page, line, Accent::Muted);
    }
    page.push_str("</code></pre>\n");
}

fn table(page: &mut String, table: &Table, accent: Accent) {
    page.push_str("<div class=\"table\" tabindex=\"0\"><table>\n");
    if !table.header.is_empty() {
        page.push_str("<thead>");
        row(page, table, &table.header, "th", accent);
        page.push_str("</thead>\n");
    }
    page.push_str("<tbody>\n");
    for cells in &table.rows {
        row(page, table, cells, "td", accent);
    }
    page.push_str("</tbody></table></div>\n");
}

fn row(page: &mut String, table: &Table, cells: &[Line], tag: &str, accent: Accent) {
    page.push_str("<tr>");
    for (index, cell) in cells.iter().enumerate() {
        let class = match table.alignments.get(index) {
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Left) | None => "",
        };
        let _ = write!(page, "<{tag}{class}>");
        spans(page, cell, accent);
        let _ = write!(page, "</{tag}>");
    }
    page.push_str("</tr>\n");
}

/// Renders a line of spans, keeping line breaks.
pub(super) fn spans(page: &mut String, line: &[Span], accent: Accent) {
    for group in line.chunk_by(|a, b| a.link == b.link) {
        let address = group.first().and_then(|span| span.link.as_deref());
        let clickable = address.filter(|address| is_clickable(address));
        if let Some(address) = clickable {
            page.push_str("<a rel=\"noopener noreferrer nofollow\" href=\"");
            attribute(page, address);
            page.push_str("\">");
        }
        for span in group {
            self::span(page, span, accent);
        }
        match (clickable, address) {
            (Some(_), _) => page.push_str("</a>"),
            (None, Some(address)) => unreachable(page, group, address),
            (None, None) => {}
        }
    }
}

/// Appends the address of a link that is not clickable, as text.
fn unreachable(page: &mut String, group: &[Span], address: &str) {
    let shown: String = group.iter().map(|span| span.text.as_str()).collect();
    if shown != address {
        page.push_str(" <span class=\"muted\">(");
        text(page, address);
        page.push_str(")</span>");
    }
}

fn span(page: &mut String, span: &Span, accent: Accent) {
    let style = span.style;
    if accent == Accent::Code && style.role == Role::Accent {
        let tag = Tags::open(page, style);
        page.push_str("<code>");
        text(page, &span.text);
        page.push_str("</code>");
        tag.close(page);
        return;
    }
    let classes = classes(style);
    let tags = Tags::open(page, style);
    if classes.is_empty() {
        text(page, &span.text);
    } else {
        page.push_str("<span class=\"");
        page.push_str(&classes);
        page.push_str("\">");
        text(page, &span.text);
        page.push_str("</span>");
    }
    tags.close(page);
}

/// The semantic elements of a style.
struct Tags {
    bold: bool,
    italic: bool,
    strike: bool,
}

impl Tags {
    fn open(page: &mut String, style: Style) -> Self {
        let tags = Self {
            bold: style.bold,
            italic: style.italic,
            strike: style.strike,
        };
        for (_, tag) in tags.all().into_iter().filter(|(is_on, _)| *is_on) {
            let _ = write!(page, "<{tag}>");
        }
        tags
    }

    fn close(&self, page: &mut String) {
        for (_, tag) in self.all().into_iter().rev().filter(|(is_on, _)| *is_on) {
            let _ = write!(page, "</{tag}>");
        }
    }

    fn all(&self) -> [(bool, &'static str); 3] {
        [(self.bold, "b"), (self.italic, "i"), (self.strike, "s")]
    }
}

/// Returns the classes of a style, without those covered by elements.
fn classes(style: Style) -> String {
    let mut classes = String::new();
    let mut add = |class: &str| {
        if !classes.is_empty() {
            classes.push(' ');
        }
        classes.push_str(class);
    };
    let foreground = match style.role {
        Role::Literal(entry) => Some(entry),
        _ => None,
    };
    match style.role {
        // Operators look like ordinary text: they are a quarter of all
        // elements.
        Role::Normal | Role::Literal(_) | Role::Code(Syntax::Operator) => {}
        Role::Accent => add("muted"),
        Role::Colorful => add("colorful"),
        Role::Green => add("green"),
        Role::Red => add("red"),
        Role::Code(syntax) => add(code(syntax)),
    }
    // On a background of its own, a foreground is used unchanged: class `r`.
    let (front, back) = if style.reverse {
        (style.background, foreground)
    } else {
        (foreground, style.background)
    };
    if style.reverse {
        add("reverse");
    }
    if let Some(front) = front {
        let is_alone = back.is_none() && !style.reverse;
        add(&format!("{}{front}", if is_alone { 'f' } else { 'r' }));
    }
    if let Some(back) = back {
        add(&format!("b{back}"));
    }
    if style.dim {
        add("dim");
    }
    // Links are already underlined.
    if style.underline && foreground.is_some() {
        add("underline");
    }
    classes
}

fn code(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Comment => "cc",
        Syntax::Keyword => "ck",
        Syntax::String => "cs",
        Syntax::Number => "cn",
        Syntax::Type => "ct",
        Syntax::Function => "cf",
        Syntax::Constant => "cx",
        Syntax::Tag => "cg",
        Syntax::Attribute => "ca",
        Syntax::Operator => "",
    }
}
