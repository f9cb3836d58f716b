//! What stands in the user's place: prompts, and all that the program itself
//! writes there.
//!
//! Slash commands, their output, notifications of background work and
//! interruptions come as tagged texts; what the program tells the model is
//! marked as injected.

use super::Claude;
use super::wire::{Content, Line};
use crate::event::Level;
use crate::frame::Frame;
use crate::source::Emitter;

impl Claude {
    pub(super) fn user(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let blocks = match &line.message.content {
            Content::Text(text) => return self.said(text, line, out),
            Content::Blocks(blocks) => blocks,
            Content::Nothing => return out.unknown(frame),
        };
        let is_result = |kind: &str| kind.ends_with("tool_result");
        let results = blocks
            .iter()
            .filter(|b| b.kind.str().is_some_and(|kind| is_result(&kind)));
        let alone = results.count() == 1;
        let mut words = String::new();
        for block in blocks {
            match block.kind.str().as_deref() {
                Some("text") => append(&mut words, &block.text.str().unwrap_or_default()),
                // They have no words.
                Some("image" | "document") => {}
                Some(kind) if is_result(kind) => {
                    self.said(&std::mem::take(&mut words), line, out);
                    if line.is_saved() && self.leads(out) {
                        self.turn.goes_on();
                    }
                    self.result_block(block, line, alone, out);
                }
                _ => out.unknown(frame),
            }
        }
        let is_picture = |kind: &str| matches!(kind, "image" | "document");
        let mut kinds = blocks.iter().filter_map(|block| block.kind.str());
        let is_wordless = !blocks.is_empty() && kinds.all(|kind| is_picture(&kind));
        if is_wordless && !line.is_injected.is_true() {
            // A prompt without words.
            let leads = self.leads(out);
            self.begin_turn(line, leads, out);
        }
        self.said(&words, line, out);
    }

    /// A text in the user's place.
    fn said(&mut self, text: &str, line: &Line<'_>, out: &mut Emitter) {
        let leads = self.leads(out);
        let origin = line.origin.get("kind");
        if text.is_empty() || text.starts_with("<local-command-caveat>") {
        } else if text.starts_with("[Request interrupted by user") {
            if leads {
                self.turn.canceled(out);
            }
            out.notice(Level::Canceled, text);
        } else if text.starts_with("<task-notification>")
            || origin.str().as_deref() == Some("task-notification")
        {
            self.begin_turn(line, leads, out);
            let level = match tagged(text, "status") {
                Some("completed") | None => Level::Info,
                Some(_) => Level::Warning,
            };
            out.notice(level, tagged(text, "summary").unwrap_or(text));
        } else if line.is_summary.is_true() || text.starts_with(SUMMARY) {
            out.compacted(text);
        } else if line.is_injected.is_true() {
            out.context("", "", text);
        } else if let Some(command) = command(text) {
            self.begin_turn(line, leads, out);
            out.user(command, false);
        } else if printed(text, out) {
            if line.is_saved() && leads {
                self.turn.completed(out);
            }
        } else {
            self.begin_turn(line, leads, out);
            out.user(tagged(text, "bash-input").unwrap_or(text), false);
        }
    }

    /// A saved turn ends where the next one begins.
    fn begin_turn(&mut self, line: &Line<'_>, leads: bool, out: &mut Emitter) {
        if leads && line.is_saved() {
            self.turn.flush(out);
            out.open_turn();
        }
    }
}

/// How the summary of a conversation that was compacted begins.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// The output of a slash command, or of a shell command that the user ran;
/// `false` if the text is none.
fn printed(text: &str, out: &mut Emitter) -> bool {
    const TAGS: &[(&str, Level)] = &[
        ("local-command-stdout", Level::Info),
        ("local-command-stderr", Level::Warning),
        ("bash-stdout", Level::Info),
        ("bash-stderr", Level::Warning),
    ];
    if !text.starts_with("<local-command-std") && !text.starts_with("<bash-std") {
        return false;
    }
    for (tag, level) in TAGS {
        let output = tagged(text, tag).unwrap_or_default();
        // The summary that came before it says so.
        if !matches!(output.trim(), "" | "Compacted") {
            out.notice(*level, output);
        }
    }
    true
}

/// Puts another block of one message behind those before it.
fn append(words: &mut String, text: &str) {
    let is_apart = words.is_empty()
        || words.ends_with(char::is_whitespace)
        || text.starts_with(char::is_whitespace);
    if !is_apart {
        words.push('\n');
    }
    words.push_str(text);
}

/// What stands between `<tag>` and `</tag>`.
pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>"))
        .map(|(inner, _)| inner)
}

/// The slash command that was typed, if the text is one.
pub(super) fn command(text: &str) -> Option<String> {
    if !text.starts_with("<command-") {
        return None;
    }
    let name = tagged(text, "command-name")?.trim();
    let arguments = tagged(text, "command-args").unwrap_or_default().trim();
    let typed = format!("{name} {arguments}");
    Some(typed.trim_end().to_owned())
}
