//! `user` messages: prompts, tool results, and texts of Claude Code itself.
//!
//! Slash commands, their output, notifications of background tasks and
//! interruptions are tagged texts; context for the model is marked as injected.

use super::Claude;
use super::wire::{Content, Line};
use crate::event::{Level, Media};
use crate::frame::Frame;
use crate::json::Json;
use crate::source::Emitter;

impl Claude {
    pub(super) fn user(&mut self, line: &Line<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let blocks = match &line.message.content {
            Content::Text(text) => return self.user_text(text, Vec::new(), line, out),
            Content::Blocks(blocks) => blocks,
            Content::Nothing => return out.unknown(frame),
        };
        let is_result = |kind: &str| kind.ends_with("tool_result");
        let results = blocks
            .iter()
            .filter(|b| b.kind.str().is_some_and(|kind| is_result(&kind)));
        let alone = results.count() == 1;
        let mut text_so_far = String::new();
        let mut media = Vec::new();
        for block in blocks {
            match block.kind.str().as_deref() {
                Some("text") => append(&mut text_so_far, &block.text.str().unwrap_or_default()),
                Some("image") => media.push(out.media_fields(block.source, "image/*", Json::NULL)),
                Some("document") => media.push(out.media_fields(block.source, "", block.title)),
                Some(kind) if is_result(kind) => {
                    let media = std::mem::take(&mut media);
                    self.user_text(&std::mem::take(&mut text_so_far), media, line, out);
                    if line.is_saved() && self.is_leading(out) {
                        self.turn.resume();
                    }
                    self.result_block(block, line, alone, out);
                }
                _ => out.unknown(frame),
            }
        }
        self.user_text(&text_so_far, media, line, out);
    }

    /// Emits the text of a `user` message and what came with it.
    fn user_text(&mut self, text: &str, mut media: Vec<Media>, line: &Line<'_>, out: &mut Emitter) {
        let is_leading = self.is_leading(out);
        let origin = line.origin.get("kind");
        let is_empty = text.is_empty() && (media.is_empty() || line.is_injected.is_true());
        if is_empty || text.starts_with("<local-command-caveat>") {
        } else if text.starts_with("[Request interrupted by user") {
            if is_leading {
                self.turn.canceled(out);
            }
            out.notice(Level::Canceled, text);
        } else if text.starts_with("<task-notification>")
            || origin.str().as_deref() == Some("task-notification")
        {
            self.start_turn(line, is_leading, out);
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
            self.start_turn(line, is_leading, out);
            out.user_with_media(command, std::mem::take(&mut media), false);
        } else if emit_printed(text, out) {
            if line.is_saved() && is_leading {
                self.turn.completed(out);
            }
        } else {
            self.start_turn(line, is_leading, out);
            let text = tagged(text, "bash-input").unwrap_or(text);
            out.user_with_media(text, std::mem::take(&mut media), false);
        }
        // Files that Claude Code gave to the model.
        for file in media {
            out.context(&file.name, &file.mime, "");
        }
    }

    /// Starts a turn of a saved session, which ends the turn before.
    fn start_turn(&mut self, line: &Line<'_>, is_leading: bool, out: &mut Emitter) {
        if is_leading && line.is_saved() {
            self.turn.flush(out);
            out.open_turn();
        }
    }
}

/// First words of the summary of a compacted conversation.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// Emits the output of a slash command or of a shell command of the user;
/// returns false for any other text.
fn emit_printed(text: &str, out: &mut Emitter) -> bool {
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
        // The summary before it says so.
        if !matches!(output.trim(), "" | "Compacted") {
            out.notice(*level, output);
        }
    }
    true
}

/// Appends another block of the same message.
fn append(text_so_far: &mut String, text: &str) {
    let is_apart = text_so_far.is_empty()
        || text_so_far.ends_with(char::is_whitespace)
        || text.starts_with(char::is_whitespace);
    if !is_apart {
        text_so_far.push('\n');
    }
    text_so_far.push_str(text);
}

/// Returns the text between `<tag>` and `</tag>`.
pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>"))
        .map(|(inner, _)| inner)
}

/// Returns the slash command that the user typed, if the text is one.
pub(super) fn command(text: &str) -> Option<String> {
    if !text.starts_with("<command-") {
        return None;
    }
    let name = tagged(text, "command-name")?.trim();
    let arguments = tagged(text, "command-args").unwrap_or_default().trim();
    let typed = format!("{name} {arguments}");
    Some(typed.trim_end().to_owned())
}
