//! Message parts other than an agent's text and calls, for saved sessions and the
//! server's stream.

use super::turn::error_text;
use crate::event::{Level, Media};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Returns true if a part of a user's message is the user's own.
pub(super) fn is_from_user(part: &Object<'_>) -> bool {
    match part.get("type").str().as_deref() {
        Some("text") => !part.get("synthetic").is_true(),
        Some("file" | "subtask") => true,
        _ => false,
    }
}

/// Emits a part of a user's message.
pub(super) fn user_part(json: Json<'_>, out: &mut Emitter) {
    let part = json.object();
    match part.get("type").str().as_deref() {
        // OpenCode adds the content of files and reminders.
        Some("text") if part.get("synthetic").is_true() => {}
        Some("text") => out.user(part.get("text").payload(), false),
        // A slash command that a sub-agent runs.
        Some("subtask") => out.user(part.get("prompt").payload(), false),
        _ => match attachment(json, out) {
            Some(media) => out.user_with_media("", vec![media], false),
            None => other_part(json, out),
        },
    }
}

/// Reads a file that is not a text of the project: those are context.
pub(super) fn attachment(json: Json<'_>, out: &Emitter) -> Option<Media> {
    let media = out.media(json)?;
    let url = json.get("url").str().unwrap_or_default();
    let is_text = media.mime.starts_with("text/") || media.mime == "application/x-directory";
    (url.starts_with("data:") || !is_text).then_some(media)
}

/// Emits a part that is neither text nor a call.
pub(super) fn other_part(json: Json<'_>, out: &mut Emitter) {
    let part = json.object();
    if let Some(media) = attachment(json, out) {
        return out.text_media(part.get("id").str().as_deref(), media);
    }
    match part.get("type").str().as_deref() {
        Some("file") => {
            let url = part.get("url").string();
            let name = part.get("filename").string();
            let url = if url.starts_with("data:") { "" } else { &url };
            let name = if name.is_empty() { url } else { &name };
            out.context(name, &part.get("mime").string(), url);
        }
        Some("retry") => out.notice(Level::Retry, error_text(part.get("error"))),
        // The summary follows as a message.
        Some("compaction") => out.compacted(""),
        // Starts of steps, snapshots of the working tree, mentions that the text
        // contains too.
        Some("step-start" | "snapshot" | "patch" | "agent") => {}
        _ => out.unknown(&Frame::new(json.raw())),
    }
}
