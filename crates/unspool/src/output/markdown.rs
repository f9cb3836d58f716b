//! Writes cards as Markdown for a comment on a pull request.
//!
//! Prompts become quotes, answers keep their Markdown with headings below ours,
//! tool calls are folded in `<details>`. All text is escaped
//! (`markdown/escape.rs`). If the comment would be too long, whole pieces are
//! omitted, the largest outputs first, then the oldest pieces, and a note
//! counts them.

mod block;
mod escape;
mod fit;

use std::io::{self, Write};

use super::About;
use crate::doc::card::{Card, Kind, Outcome, Panel, Section};
use crate::doc::{Block, Line, Role, Span};
use crate::sanitize;
use escape::{code, html, inner, line_start};
use fit::{Kept, Piece};

/// Minimum value of the size limit.
pub const SMALLEST: usize = 4000;

/// Maximum characters of the title.
const LONGEST_TITLE: usize = 120;

/// Maximum characters of a sub-agent's name.
const LONGEST_NAME: usize = 40;

/// Maximum characters of a prompt.
const LONGEST_PROMPT: usize = 4000;

/// Maximum lines of one output.
const MOST_LINES: usize = 400;

/// Writes a comment.
pub struct Markdown<W> {
    out: W,
    about: About,
    kept: Kept,
}

impl<W: Write> Markdown<W> {
    /// Starts a comment of at most `limit` bytes, but at least [`SMALLEST`].
    pub fn new(out: W, about: About, limit: usize) -> Self {
        Self {
            out,
            about,
            kept: Kept::new(limit.max(SMALLEST)),
        }
    }

    /// Adds a card.
    pub fn card(&mut self, card: &Card) {
        // The statistics at the top contain the usage.
        if card.kind == Kind::Usage {
            return;
        }
        for panel in &card.panels {
            self.kept.push(piece(panel, card));
        }
    }

    /// Writes the comment; fails if the writer does.
    pub fn finish(mut self, figures: &[(String, String)]) -> io::Result<W> {
        let text = self.kept.text(top(&self.about, figures));
        self.out.write_all(text.as_bytes())?;
        Ok(self.out)
    }
}

/// Renders the title and one line of facts and statistics.
fn top(about: &About, figures: &[(String, String)]) -> String {
    let title: String = sanitize::line(&about.title)
        .chars()
        .take(LONGEST_TITLE)
        .collect();
    let facts = about
        .facts
        .iter()
        .filter(|(name, _)| name == "Agent" || name == "Model");
    let short = |value: &str| value.chars().take(LONGEST_TITLE / 2).collect::<String>();
    let facts = facts.map(|(_, value)| line_start(&sanitize::line(&short(value))));
    let figures = figures.iter().map(|(name, value)| {
        let (count, note) = value.split_once(' ').unwrap_or((value, ""));
        let name = name.to_lowercase();
        let figure = match (name.as_str(), count) {
            ("time" | "cost", _) => return inner(value),
            (name, "1") => format!("1 {} {note}", name.trim_end_matches('s')),
            (name, count) => format!("{count} {name} {note}"),
        };
        inner(figure.trim_end())
    });
    let line: Vec<String> = facts.chain(figures).collect();
    format!("### {}\n\n{}\n", line_start(&title), line.join(" · "))
}

fn piece(panel: &Panel, card: &Card) -> Piece {
    let is_prose = matches!(card.kind, Kind::Prompt | Kind::Answer);
    if panel.heading.is_empty() {
        let blocks = panel
            .sections
            .iter()
            .flat_map(|section| shown(section, card));
        let blocks = blocks.map(|block| match card.kind {
            Kind::Prompt => quoted(&block),
            _ => block,
        });
        let speaker = speaker(card).map(|name| match card.kind {
            Kind::Prompt => format!("*Prompt for {}:*", line_start(&name)),
            _ => format!("*{}:*", line_start(&name)),
        });
        let blocks = speaker.into_iter().chain(blocks).collect();
        return Piece::prose(
            blocks,
            is_prose,
            card.kind == Kind::Answer && card.depth == 0,
        );
    }
    let sections = &panel.sections;
    // Omit sections that are folded even on pages.
    let sections = sections.iter().filter(|section| !section.folded);
    let body: Vec<String> = sections
        .flat_map(|section| labelled(section, card))
        .collect();
    let of = |escape: fn(&str) -> String| {
        speaker(card).map_or_else(String::new, |name| format!("{}: ", escape(&name)))
    };
    Piece::folded(
        format!(
            "- {}{}{}",
            of(line_start),
            mark(card.outcome),
            heading(&panel.heading)
        ),
        format!(
            "{}{}{}",
            of(html),
            mark(card.outcome),
            summary(&panel.heading)
        ),
        body.join("\n\n"),
    )
}

/// Returns the sub-agent of a card. Each piece names it, because the piece
/// before may be omitted.
fn speaker(card: &Card) -> Option<String> {
    let name = card.speaker()?;
    let mut short: String = name.chars().take(LONGEST_NAME).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    Some(short)
}

fn mark(state: Outcome) -> &'static str {
    match state {
        Outcome::Neutral | Outcome::Succeeded => "",
        Outcome::Unfinished => "… ",
        Outcome::Failed => "❌ ",
    }
}

fn quoted(block: &str) -> String {
    let lines: Vec<String> = block.split('\n').map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// Renders a heading as a line of Markdown.
fn heading(line: &Line) -> String {
    let word = |span: &crate::doc::Span| {
        let (blank, text) = split_blank(&span.text);
        let text = match (span.style.bold, span.style.italic) {
            (true, _) => format!("**{}**", line_start(text)),
            (_, true) => line_start(text),
            _ => code(text),
        };
        format!("{blank}{text}")
    };
    line.iter().map(word).collect()
}

/// Renders a heading as one line of HTML.
fn summary(line: &Line) -> String {
    let word = |span: &crate::doc::Span| {
        let (blank, text) = split_blank(&span.text);
        let text = html(&text.replace('\n', " "));
        match (span.style.bold, span.style.italic) {
            _ if text.is_empty() => blank.to_owned(),
            (true, _) => format!("{blank}<b>{text}</b>"),
            (_, true) => format!("{blank}<i>{text}</i>"),
            _ => format!("{blank}<code>{text}</code>"),
        }
    };
    line.iter().map(word).collect()
}

fn split_blank(text: &str) -> (&str, &str) {
    let trimmed = text.trim_start();
    text.split_at(text.len() - trimmed.len())
}

fn labelled(section: &Section, card: &Card) -> Vec<String> {
    let label = (!section.label.is_empty()).then(|| format!("**{}**", section.label));
    label.into_iter().chain(shown(section, card)).collect()
}

/// Renders the blocks of a section, with outputs cut to [`MOST_LINES`]: the first
/// ones, or the first and the last ones of a failed call. Paragraphs of prompts and
/// of plain text are shortened.
fn shown(section: &Section, card: &Card) -> Vec<String> {
    let has_failed = card.outcome == Outcome::Failed;
    let mut blocks = section.blocks.clone();
    let mut more = 0;
    for block in &mut blocks {
        let length = match block {
            Block::Output(lines) if has_failed => {
                cut_middle(lines);
                0
            }
            Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => cut(lines),
            Block::Diff(lines) => cut(lines),
            Block::Paragraph(line) if !section.prose || card.kind == Kind::Prompt => {
                shorten(line);
                0
            }
            _ => 0,
        };
        more += length;
    }
    let mut out = block::blocks(&blocks, section.prose, &section.language);
    if more > 0 {
        out.push(format!("*… {more} more lines*"));
    }
    if section.left_out > 0 {
        out.push(format!("*… {} more bytes*", section.left_out));
    }
    out
}

/// Cuts long plain words.
fn shorten(line: &mut Line) {
    let mut room = LONGEST_PROMPT;
    for span in line {
        let end = span.text.char_indices().nth(room).map(|(at, _)| at);
        room = room.saturating_sub(span.text.chars().count());
        if let Some(end) = end {
            span.text.truncate(end);
            span.text.push('…');
        }
    }
}

/// Replaces the lines after the first with their number, as far as there are too
/// many.
fn cut_middle(lines: &mut Vec<Line>) {
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        let count = Span::role(format!("… +{more} lines"), Role::Accent);
        lines.splice(1..=more, [vec![count]]);
    }
}

fn cut<T>(lines: &mut Vec<T>) -> usize {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    more
}
