//! Cards → Markdown for a comment on a pull request.
//!
//! Prompts are quotations, answers are their own Markdown with headings below
//! ours, calls are folded in `<details>`. Text stays text: `escape` says how.
//! What is longer than the comment may be is left out in whole pieces, the largest
//! outputs first, then what is oldest, and it is said how much. Called by the
//! command `export`.

mod block;
mod escape;
mod fit;

use std::io::{self, Write};

use super::About;
use crate::doc::card::{Card, Kind, Outcome, Panel, Section};
use crate::doc::{Block, Line};
use crate::sanitize;
use escape::{code, html, inner, words};
use fit::{Kept, Piece};

/// The smallest comment that can be asked for.
pub const SMALLEST: usize = 4000;

/// Characters of the title.
const LONGEST_TITLE: usize = 120;

/// Characters of the name of a sub-agent.
const LONGEST_NAME: usize = 40;

/// Characters of a prompt.
const LONGEST_PROMPT: usize = 4000;

/// Lines of one output that a comment may hold.
const MOST_LINES: usize = 400;

/// A comment that is being written.
pub struct Markdown<W> {
    out: W,
    about: About,
    kept: Kept,
}

impl<W: Write> Markdown<W> {
    /// Begins a comment of at most so many bytes, but not fewer than
    /// [`SMALLEST`].
    pub fn new(out: W, about: About, limit: usize) -> Self {
        Self {
            out,
            about,
            kept: Kept::new(limit.max(SMALLEST)),
        }
    }

    /// Adds a card.
    pub fn card(&mut self, card: &Card) {
        // The figures at the top say what was spent.
        if card.kind == Kind::Usage {
            return;
        }
        for panel in &card.panels {
            self.kept.push(piece(panel, card));
        }
    }

    /// Writes all of it. Fails where the writer does.
    pub fn finish(mut self, figures: &[(String, String)]) -> io::Result<W> {
        let text = self.kept.text(top(&self.about, figures));
        self.out.write_all(text.as_bytes())?;
        Ok(self.out)
    }
}

/// The title, and one line of facts and figures.
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
    let facts = facts.map(|(_, value)| words(&sanitize::line(&short(value))));
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
    format!("### {}\n\n{}\n", words(&title), line.join(" · "))
}

fn piece(panel: &Panel, card: &Card) -> Piece {
    let is_prose = matches!(card.kind, Kind::Prompt | Kind::Answer);
    if panel.heading.is_empty() {
        let blocks = panel.sections.iter().flat_map(shown);
        let blocks = blocks.map(|block| match card.kind {
            Kind::Prompt => quoted(&block),
            _ => block,
        });
        let speaker = speaker(card).map(|name| match card.kind {
            Kind::Prompt => format!("*Prompt for {}:*", words(&name)),
            _ => format!("*{}:*", words(&name)),
        });
        let blocks = speaker.into_iter().chain(blocks).collect();
        return Piece::prose(
            blocks,
            is_prose,
            card.kind == Kind::Answer && card.depth == 0,
        );
    }
    let sections = &panel.sections;
    // What is folded even on a page is not worth a reader's scrolling.
    let sections = sections.iter().filter(|section| !section.folded);
    let body: Vec<String> = sections.flat_map(labelled).collect();
    let of = |escape: fn(&str) -> String| {
        speaker(card).map_or_else(String::new, |name| format!("{}: ", escape(&name)))
    };
    Piece::folded(
        format!(
            "- {}{}{}",
            of(words),
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

/// The sub-agent that a card belongs to: what is left out may have been where it
/// was named before, so that each piece names it.
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

/// A heading as a line of Markdown.
fn heading(line: &Line) -> String {
    let word = |span: &crate::doc::Span| {
        let (blank, text) = split_blank(&span.text);
        let text = match (span.style.bold, span.style.italic) {
            (true, _) => format!("**{}**", words(text)),
            (_, true) => words(text),
            _ => code(text),
        };
        format!("{blank}{text}")
    };
    line.iter().map(word).collect()
}

/// A heading inside HTML, on one line.
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

fn labelled(section: &Section) -> Vec<String> {
    let label = (!section.label.is_empty()).then(|| format!("**{}**", section.label));
    label.into_iter().chain(shown(section)).collect()
}

/// The blocks of a section, outputs cut to the lines that a comment may hold.
fn shown(section: &Section) -> Vec<String> {
    let mut blocks = section.blocks.clone();
    let mut more = 0;
    for block in &mut blocks {
        let length = match block {
            Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => cut(lines),
            Block::Diff(lines) => cut(lines),
            Block::Paragraph(line) if !section.prose => {
                shorten(line);
                0
            }
            _ => 0,
        };
        more += length;
    }
    let mut out = block::blocks(&blocks, section.prose);
    if more > 0 {
        out.push(format!("*… {more} more lines*"));
    }
    if section.left_out > 0 {
        out.push(format!("*… {} more bytes*", section.left_out));
    }
    out
}

/// Cuts long words that have no markup of their own.
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

fn cut<T>(lines: &mut Vec<T>) -> usize {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    more
}
