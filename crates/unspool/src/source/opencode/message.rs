//! The parts of a message that are neither an agent's text nor a call, which
//! saved sessions and the server's stream share.

use super::turn::error_text;
use crate::event::Level;
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Whether a part of a user's message holds what a person said or gave.
pub(super) fn says_something(part: &Object<'_>) -> bool {
    match part.get("type").str().as_deref() {
        Some("text") => !part.get("synthetic").is_true(),
        Some("file" | "subtask") => true,
        _ => false,
    }
}

/// A part of a user's message.
pub(super) fn user_part(json: Json<'_>, out: &mut Emitter) {
    let part = json.object();
    match part.get("type").str().as_deref() {
        // What OpenCode adds: the content of files, reminders.
        Some("text") if part.get("synthetic").is_true() => {}
        Some("text") => out.user(part.get("text").payload(), false),
        // A slash command that a sub-agent carries out.
        Some("subtask") => out.user(part.get("prompt").payload(), false),
        _ => other_part(json, out),
    }
}

/// The parts that are neither text nor a call.
pub(super) fn other_part(json: Json<'_>, out: &mut Emitter) {
    let part = json.object();
    match part.get("type").str().as_deref() {
        Some("file") => {
            let url = part.get("url").string();
            let name = part.get("filename").string();
            let url = if url.starts_with("data:") { "" } else { &url };
            let name = if name.is_empty() { url } else { &name };
            out.context(name, &part.get("mime").string(), url);
        }
        Some("retry") => out.notice(Level::Retry, error_text(part.get("error"))),
        // Its summary follows as a message.
        Some("compaction") => out.compacted(""),
        // Beginnings of steps, states of the working tree, mentions that are
        // in the text already.
        Some("step-start" | "snapshot" | "patch" | "agent") => {}
        _ => out.unknown(&Frame::new(json.raw())),
    }
}
