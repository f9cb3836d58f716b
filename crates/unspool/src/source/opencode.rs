//! OpenCode, in all its formats:
//!
//! - `opencode run --format json`: one line per finished part ([`live`]);
//! - the server's event stream, `/event` and `/global/event` ([`server`]);
//! - `opencode export`, the server's messages, and the files of the storage
//!   before it was a database ([`saved`]).
//!
//! All of them contain the same message parts ([`part`]), so that a session gives
//! the same calls, results and edits in every format. The caller opens a database
//! and reads it with the queries of [`sessions`].

use super::{Chat, Emitter, Headless, Probe, Provider, Source};
use crate::event::Category;
use crate::frame::Frame;
use crate::json::{Json, Object};

mod indent;
mod live;
mod message;
mod part;
mod question;
mod saved;
mod server;
mod sessions;
mod turn;

pub(super) use part::actual_category;

pub(crate) const PROVIDER: Provider =
    Provider::new("opencode", is_ours, || Box::<Opencode>::default())
        .with_title("OpenCode")
        .with_about("OpenCode: run --format json, export, server events, stored sessions")
        .with_example("opencode run --format json \"…\" | unspool events")
        .with_tools(&[
            (Category::Search, &["codesearch"]),
            (Category::Plan, &["plan_enter", "plan_exit"]),
        ])
        .with_headless(Headless::new("opencode", &["run", "--format", "json"]))
        .with_chat(Chat::new(
            &["opencode", "acp"],
            "npm install -g opencode-ai",
        ))
        .with_saved(sessions::SAVED);

#[derive(Clone, Default)]
struct Opencode {
    live: live::Live,
    server: server::Server,
    saved: saved::Saved,
}

impl Source for Opencode {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json() else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        let known = match Shape::of(&fields) {
            Some(Shape::Live) => self.live.line(&fields, out),
            Some(Shape::Event) => self.server.event(&fields, out),
            Some(Shape::GlobalEvent) => {
                let payload = fields.get("payload").object();
                // Every durable event is repeated in this form.
                payload.has("syncEvent") || self.server.event(&payload, out)
            }
            Some(Shape::Export) => self.saved.export(&fields, out),
            Some(Shape::Message) => self.saved.message(&fields, out),
            Some(Shape::StoredSession) => self.saved.stored(json, out),
            None => false,
        };
        if !known {
            out.unknown(frame);
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        self.live.finish(out);
        self.server.finish(out);
        self.saved.finish(out);
    }

    fn attach(&mut self, _name: &str, bytes: &[u8]) {
        self.saved.attach(bytes);
    }
}

/// The kinds of frames.
#[derive(Clone, Copy)]
enum Shape {
    Live,
    Event,
    GlobalEvent,
    Export,
    Message,
    StoredSession,
}

impl Shape {
    fn of(fields: &Object<'_>) -> Option<Self> {
        let is_session = |json: Json<'_>| json.str().is_some_and(|id| id.starts_with("ses_"));
        let has_type = fields.get("type").is_string();
        if has_type && fields.get("properties").is_object() {
            return Some(Self::Event);
        }
        if has_type && fields.has("timestamp") && is_session(fields.get("sessionID")) {
            return Some(Self::Live);
        }
        let payload = fields.get("payload").object();
        if payload.get("properties").is_object() || payload.get("syncEvent").is_object() {
            return Some(Self::GlobalEvent);
        }
        let info = fields.get("info");
        if fields.get("messages").is_array() && is_session(info.get("id")) {
            return Some(Self::Export);
        }
        if fields.get("parts").is_array() && is_session(info.get("sessionID")) {
            return Some(Self::Message);
        }
        let stored = is_session(fields.get("id")) && fields.has("projectID");
        stored.then_some(Self::StoredSession)
    }
}

/// Returns true if only OpenCode can have written a frame.
fn is_ours(probe: &Probe<'_>) -> bool {
    match Shape::of(&probe.fields) {
        // Other agents may have events with properties, but not with such
        // names and ids.
        Some(Shape::Event) => is_event(&probe.fields),
        Some(Shape::GlobalEvent) => {
            let payload = probe.fields.get("payload").object();
            payload.has("syncEvent") || is_event(&payload)
        }
        Some(_) => true,
        None => false,
    }
}

fn is_event(event: &Object<'_>) -> bool {
    let kind = event.get("type").string();
    let id = event.get("id").string();
    kind.contains('.') && (id.is_empty() || id.starts_with("evt_"))
}

#[cfg(test)]
mod tests;
