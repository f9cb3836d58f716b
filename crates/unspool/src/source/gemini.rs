//! Gemini CLI.
//!
//! Reads its `--output-format stream-json` (both implementations), its
//! `--output-format json`, and its saved sessions: the event log of today with
//! the records of sub-agents beside it, and the single document of older
//! versions. [`live`] translates what a run prints, [`saved`] what it stores;
//! which of them a frame belongs to is told by its fields, so that a stream
//! may begin anywhere.

use super::{Emitter, Input, Probe, Provider, Related, SavedFile, Source};
use crate::frame::Frame;
use crate::json::{Json, Object};

mod live;
mod saved;
mod tool;

pub(crate) const PROVIDER: Provider = Provider {
    name: "gemini",
    about: "Gemini CLI: stream-json, json, saved sessions",
    example: "gemini -p \"…\" --output-format stream-json | unspool events",
    input: Input::Json,
    recognise,
    related: Some(Related {
        patterns: related_patterns,
        select: related_files,
    }),
    open: || Box::new(Gemini::default()),
};

#[derive(Clone, Default)]
struct Gemini {
    live: live::Live,
    saved: saved::Saved,
    is_saved: bool,
}

impl Source for Gemini {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json() else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        let known = if is_saved(&fields) {
            let known = self.saved.record(&fields, out);
            self.is_saved |= known;
            known
        } else {
            self.live.event(&fields, out)
        };
        if !known {
            out.unknown(frame);
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        if self.is_saved {
            self.saved.finish(out);
        } else {
            out.interrupted();
        }
    }

    fn attach(&mut self, name: &str, bytes: &[u8]) {
        self.saved.attach(name, bytes);
    }
}

fn recognise(probe: &Probe<'_>) -> bool {
    probe.is_json() && (is_own_record(&probe.fields) || is_live(&probe.fields))
}

/// Whether a frame is a record of a saved session. Live events have no `id`,
/// and no field of their own that begins with `$`.
fn is_saved(fields: &Object<'_>) -> bool {
    fields.has("$set")
        || fields.has("$rewindTo")
        || is_header(fields)
        || (fields.has("id") && fields.has("type") && !fields.has("tool_id"))
}

fn is_header(fields: &Object<'_>) -> bool {
    fields.get("sessionId").is_string() && fields.get("projectHash").is_string()
}

/// The same for a frame that may come from any agent.
fn is_own_record(fields: &Object<'_>) -> bool {
    const KEYS: &[&str] = &["id", "timestamp", "type", "content", "displayContent"];
    let is_message = || {
        fields.get("id").is_string()
            && fields.get("timestamp").is_string()
            && match fields.get("type").str().as_deref() {
                Some("gemini") => true,
                Some("user" | "info" | "error" | "warning") => {
                    fields.has("content") && fields.iter().all(|(key, _)| KEYS.contains(&key))
                }
                _ => false,
            }
    };
    is_header(fields)
        || fields.get("$set").is_object()
        || fields.get("$rewindTo").is_string()
        || is_message()
}

fn is_live(fields: &Object<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| fields.has(key));
    let Some(kind) = fields.get("type").str() else {
        return live::is_body(fields);
    };
    fields.get("timestamp").is_string()
        && match kind.as_ref() {
            "init" => has(&["session_id", "model"]),
            "message" => has(&["role", "content"]) && !fields.has("id"),
            "tool_use" => has(&["tool_name", "tool_id"]),
            "tool_result" => has(&["tool_id", "status"]),
            "error" => has(&["severity", "message"]),
            "result" => has(&["status", "stats"]),
            _ => false,
        }
}

/// The records of sub-agents lie in a folder that is called as the session's
/// id, of which the file's own name ends with the first eight digits.
fn related_patterns(session: &SavedFile) -> Vec<String> {
    let path = session.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    stem.strip_prefix("session-")
        .and_then(|stem| stem.rsplit('-').next())
        .filter(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_alphanumeric()))
        .map(|id| format!("{id}*/*.jsonl"))
        .into_iter()
        .collect()
}

fn related_files(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let header = session.head.lines().next().and_then(Json::parse);
    let id = header.map_or_else(String::new, |json| json.get("sessionId").string());
    let folder = |path: &str| path.rsplit('/').nth(1).map(str::to_owned);
    let belongs = |path: &str| id.is_empty() || folder(path).as_ref() == Some(&id);
    (0..found.len())
        .filter(|index| found.get(*index).is_some_and(|file| belongs(&file.path)))
        .collect()
}

#[cfg(test)]
mod tests;
