//! Renders cards as articles: an anchor, the kind, and the panels, folded where
//! details are secondary.

use std::fmt::Write as _;

use super::block::{Accent, blocks, spans};
use super::escape::{attribute, text};
use crate::doc::card::{Card, Kind, Outcome, Panel, Section};

/// Maximum levels of indentation.
const DEEPEST: u32 = 6;

/// Writes a card. `is_other` is true if the card before belongs to another
/// agent.
pub(super) fn write(page: &mut String, card: &Card, number: usize, is_other: bool) {
    let (kind, name) = kind(card.kind);
    // Writing to a String cannot fail.
    let _ = write!(page, "<article id=\"e{number}\" class=\"entry {kind}");
    if card.outcome == Outcome::Failed {
        page.push_str(" failed");
    }
    if card.depth > 0 {
        let _ = write!(page, " nested depth-{}", card.depth.min(DEEPEST));
    }
    page.push_str("\">\n<div class=\"gutter\">");
    let _ = write!(
        page,
        "<a href=\"#e{number}\" aria-label=\"Link to entry {number}\">{number}</a>"
    );
    time(page, card);
    page.push_str("</div>\n");
    let tag = if card.kind == Kind::Prompt {
        "h2"
    } else {
        "h3"
    };
    let speaker = card.speaker();
    let is_visible = match card.kind {
        Kind::Prompt => true,
        kind => speaker.is_some() && (is_other || kind == Kind::Answer),
    };
    let shown = if is_visible {
        "speaker"
    } else {
        "speaker visually-hidden"
    };
    let _ = write!(page, "<{tag} class=\"{shown}\">{name}");
    if let Some(speaker) = speaker {
        let word = if card.kind == Kind::Prompt {
            "for"
        } else {
            "of"
        };
        let _ = write!(page, " <span>{word} ");
        text(page, speaker);
        page.push_str("</span>");
    }
    let _ = writeln!(page, "</{tag}>");
    for panel in &card.panels {
        self::panel(page, panel, card);
    }
    page.push_str("</article>\n");
}

/// Returns the class and the display name of a kind.
fn kind(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Prompt => ("prompt", "Prompt"),
        Kind::Answer => ("answer", "Answer"),
        Kind::Reasoning => ("reasoning", "Reasoning"),
        Kind::Tool => ("tool", "Tool call"),
        Kind::Edit => ("edit", "Edit"),
        Kind::Plan => ("plan", "Plan"),
        Kind::Question => ("question", "Question"),
        Kind::Context => ("context", "Context"),
        Kind::Notice => ("notice", "Notice"),
        Kind::Usage => ("usage", "Usage"),
        Kind::Unknown => ("unknown", "Unknown"),
    }
}

/// Writes the time of day, with the full timestamp as a tooltip.
fn time(page: &mut String, card: &Card) {
    let stamp = card.time.as_deref().and_then(|time| {
        let stamp: jiff::Timestamp = time.parse().ok()?;
        Some(stamp)
    });
    if let Some(stamp) = stamp {
        let whole = stamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        let _ = write!(page, "<time datetime=\"{stamp}\" title=\"");
        attribute(page, &whole);
        let _ = write!(page, "\">{}</time>", stamp.strftime("%H:%M"));
    }
}

fn panel(page: &mut String, panel: &Panel, card: &Card) {
    if panel.heading.is_empty() {
        for section in &panel.sections {
            self::section(page, section);
        }
        return;
    }
    if panel.sections.is_empty() {
        page.push_str("<p class=\"head\">");
        heading(page, panel, card);
        page.push_str("</p>\n");
        return;
    }
    page.push_str(if panel.open {
        "<details open><summary>"
    } else {
        "<details><summary>"
    });
    heading(page, panel, card);
    page.push_str("</summary>\n<div class=\"body\">\n");
    for section in &panel.sections {
        self::section(page, section);
    }
    page.push_str("</div></details>\n");
}

fn heading(page: &mut String, panel: &Panel, card: &Card) {
    let (class, said) = match card.outcome {
        Outcome::Neutral => ("", ""),
        Outcome::Unfinished => ("open", "Never ended: "),
        Outcome::Succeeded => ("ok", "Done: "),
        Outcome::Failed => ("error", "Failed: "),
    };
    if !class.is_empty() {
        let _ = write!(
            page,
            "<span class=\"status {class}\"></span><span class=\"visually-hidden\">{said}</span>"
        );
    }
    page.push_str("<span class=\"heading\"");
    if !panel.paths.is_empty() {
        page.push_str(" title=\"");
        attribute(page, &panel.paths);
        page.push('"');
    }
    page.push('>');
    spans(page, &panel.heading, Accent::Muted);
    page.push_str("</span>");
}

fn section(page: &mut String, section: &Section) {
    if section.folded {
        page.push_str("<details class=\"more\"><summary>");
        text(page, section.label);
        page.push_str("</summary>\n");
    } else if !section.label.is_empty() {
        page.push_str("<p class=\"label\">");
        text(page, section.label);
        page.push_str("</p>\n");
    }
    let voice = if section.prose {
        Accent::Code
    } else {
        Accent::Muted
    };
    let class = if section.prose { "prose" } else { "plain" };
    let _ = writeln!(page, "<div class=\"{class}\">");
    page.push_str("<button class=\"copy\" type=\"button\" title=\"Copy\">Copy</button>");
    blocks(page, &section.blocks, voice);
    page.push_str("</div>\n");
    if section.left_out > 0 {
        let _ = writeln!(
            page,
            "<p class=\"left-out\">{} more bytes are not in this page.</p>",
            section.left_out
        );
    }
    if section.folded {
        page.push_str("</details>\n");
    }
}
