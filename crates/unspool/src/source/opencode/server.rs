//! The server's event stream: `{id, type, properties}` of all sessions of a
//! directory.
//!
//! Parts are sent whole each time they change: a text first empty, then as
//! deltas, then whole; a call as pending, running (with the whole output so far)
//! and finished. Sessions of sub-agents are on the same stream. A turn ends when
//! its session is idle; after an error or an abort there are two such events, with
//! the rest of the message between them.

use super::message::{is_from_user, other_part, user_part};
use super::part::{self, ToolPart};
use crate::event::Level;
use crate::json::{Json, Object};
use crate::recent::RecentSet;
use crate::source::Emitter;

use calls::Calls;
use requests::Requests;
use sessions::Sessions;
use texts::Texts;

mod calls;
mod requests;
mod sessions;
mod texts;

/// Messages with a known author, and finished parts, that are remembered.
const REMEMBERED: usize = 4096;

#[derive(Clone, Default)]
pub(super) struct Server {
    sessions: Sessions,
    texts: Texts,
    calls: Calls,
    requests: Requests,
    /// Messages that users wrote.
    from_user: RecentSet<String, REMEMBERED>,
    /// Messages that agents wrote.
    from_agent: RecentSet<String, REMEMBERED>,
    /// Finished parts; later events of them are repetitions.
    finished: RecentSet<String, REMEMBERED>,
}

impl Server {
    /// Translates an event; returns false if its type is unknown.
    pub(super) fn event(&mut self, event: &Object<'_>, out: &mut Emitter) -> bool {
        let fields = event.get("properties").object();
        let kind = event.get("type").string();
        let session = fields.get("sessionID").string();
        match kind.as_str() {
            "session.created" | "session.updated" => {
                self.sessions.describe(&fields.get("info").object(), out);
            }
            "session.status" => return self.status(&session, fields.get("status"), out),
            "session.idle" => self.idle(&session, out),
            "session.error" => {
                let session = self.sessions.enter(&session, out);
                session.turn.touch();
                session.turn.fail(fields.get("error"), out);
            }
            "message.updated" => return self.message(&fields.get("info").object(), out),
            "message.part.updated" => {
                out.time_ms(fields.get("time").i64());
                self.part(fields.get("part"), fields.get("delta"), out);
            }
            "message.part.delta" => return self.delta(&fields, out),
            "permission.asked" | "permission.updated" => {
                self.sessions.enter(&session, out);
                self.requests.permission(&fields, &self.calls, out);
            }
            "permission.replied" => {
                self.sessions.enter(&session, out);
                self.requests.replied(&fields, &self.calls, out);
            }
            "question.asked" => {
                self.sessions.enter(&session, out);
                self.requests.question(&fields, out);
            }
            "question.replied" | "question.rejected" => {
                self.sessions.enter(&session, out);
                self.requests.answered(&fields, out);
            }
            other => return is_noise(other),
        }
        true
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.requests.end_turn("", out);
        self.sessions.finish(out);
    }

    fn status(&mut self, session: &str, status: Json<'_>, out: &mut Emitter) -> bool {
        match status.get("type").str().as_deref() {
            Some("idle") => self.idle(session, out),
            Some("retry") => {
                let session = self.sessions.enter(session, out);
                let attempt = status.get("attempt").u64();
                if attempt.is_none() || session.attempt != attempt {
                    session.attempt = attempt;
                    out.notice(Level::Retry, status.get("message").payload());
                }
            }
            Some("busy") => {}
            _ => return false,
        }
        true
    }

    fn idle(&mut self, session: &str, out: &mut Emitter) {
        if self.sessions.is_unfinished(session) {
            self.sessions.enter(session, out).waiting = true;
            return;
        }
        self.requests.end_turn(session, out);
        self.sessions.close(session, out);
        self.texts.forget(session);
        self.calls.forget(session);
    }

    fn message(&mut self, info: &Object<'_>, out: &mut Emitter) -> bool {
        let id = info.get("id").string();
        match info.get("role").str().as_deref() {
            Some("user") => {
                self.from_user.add(&id);
                return true;
            }
            Some("assistant") => {}
            _ => return false,
        }
        self.from_agent.add(&id);
        let session = self.sessions.enter(&info.get("sessionID").string(), out);
        if info.get("time").get("completed").is_null() {
            session.unfinished = id;
        } else if session.unfinished == id {
            session.unfinished.clear();
        }
        if info.get("error").is_object() {
            session.turn.fail(info.get("error"), out);
        }
        true
    }

    fn part(&mut self, json: Json<'_>, delta: Json<'_>, out: &mut Emitter) {
        let part = json.object();
        let id = part.get("id").string();
        if self.finished.contains(&id) {
            return;
        }
        let session_id = part.get("sessionID").string();
        let kind = part.get("type").string();
        if self.is_user_part(&part, &kind) {
            self.finished.add(&id);
            self.user_part(&session_id, json, out);
            return;
        }
        let session = self.sessions.enter(&session_id, out);
        match kind.as_str() {
            "text" | "reasoning" => {
                let ended = !part.get("time").get("end").is_null();
                if ended {
                    self.finished.add(&id);
                } else {
                    session.turn.touch();
                }
                self.texts.update(&part, delta, ended, out);
            }
            "tool" => self.tool(&session_id, &ToolPart::new(&part), out),
            "step-start" => {
                session.waiting = false;
                session.turn.resume();
            }
            "step-finish" => {
                session.turn.step(&part.get("reason").string());
                part::usage(&part, out);
                self.finished.add(&id);
            }
            _ => other_part(json, out),
        }
    }

    fn user_part(&mut self, session: &str, json: Json<'_>, out: &mut Emitter) {
        if is_from_user(&json.object()) {
            if self.sessions.is_waiting(session) {
                self.sessions.close(session, out);
            }
            self.sessions.enter(session, out).turn.resume();
        }
        self.sessions.enter(session, out);
        user_part(json, out);
    }

    /// Returns true if a user wrote a part. If its message was not seen, the times
    /// decide that only agents' texts have.
    fn is_user_part(&self, part: &Object<'_>, kind: &str) -> bool {
        let message = part.get("messageID").string();
        if self.from_user.contains(&message) {
            return true;
        }
        let known = self.from_agent.contains(&message);
        !known && (kind == "subtask" || kind == "text" && part.get("time").is_null())
    }

    fn delta(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        if fields.get("field").str().as_deref() != Some("text") {
            return false;
        }
        let id = fields.get("partID").string();
        if !self.finished.contains(&id) {
            let session = fields.get("sessionID").string();
            self.sessions.enter(&session, out).turn.touch();
            let text = fields.get("delta").str().unwrap_or_default();
            self.texts.delta(&session, &id, &text, out);
        }
        true
    }

    fn tool(&mut self, session: &str, tool: &ToolPart<'_>, out: &mut Emitter) {
        match tool.progress() {
            part::Progress::Pending => self.sessions.enter(session, out).turn.touch(),
            part::Progress::Running => {
                self.sessions.enter(session, out).turn.touch();
                self.announce(session, tool, out);
                self.calls.output(tool, out);
            }
            part::Progress::Finished => {
                self.announce(session, tool, out);
                let refused = self.requests.take_refused(session, &tool.call_id);
                let asked = self.requests.has_questions;
                self.calls.finish(tool, refused, asked, out);
                self.finished.add(&tool.id);
            }
        }
    }

    /// Emits the call and the requests that waited for it.
    fn announce(&mut self, session: &str, tool: &ToolPart<'_>, out: &mut Emitter) {
        let is_new = self.calls.announce(session, tool, out);
        if let Some(child) = tool.child() {
            let call = self.calls.emitted_id(&tool.id, out);
            self.sessions
                .link(&child, session, &call, &tool.agent_name());
        }
        if is_new {
            self.requests
                .release(session, &tool.call_id, &self.calls, out);
        }
    }
}

/// Returns true for events that are not part of the conversation or repeat
/// others: `todo.updated` repeats the call of the plan tool, `session.diff` and
/// `file.edited` the edits of calls.
fn is_noise(kind: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "server.",
        "global.",
        "plugin.",
        "catalog.",
        "reference.",
        "integration.",
        "installation.",
        "models-dev.",
        "project.",
        "workspace.",
        "worktree.",
        "vcs.",
        "file.",
        "lsp.",
        "mcp.",
        "pty.",
        "tui.",
        "ide.",
        "command.",
        "todo.",
        "storage.",
    ];
    const KINDS: &[&str] = &[
        "session.diff",
        "session.compacted",
        "session.deleted",
        "message.removed",
        "message.part.removed",
    ];
    KINDS.contains(&kind) || PREFIXES.iter().any(|prefix| kind.starts_with(prefix))
}
