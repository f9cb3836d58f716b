//! Saved sessions: `chats/ID.jsonl`, and the records of sub-agents beside it.
//!
//! Each line is a whole message in the form of Gemini's API. There is no
//! end-of-turn record: the next prompt or the end of the file ends a turn, and its
//! last record decides the status. Only telemetry contains API errors; an answer
//! after one means that a retry succeeded.

use std::collections::HashMap;
use std::sync::Arc;

use self::joined_parts::JoinedParts;
use self::outcome::{outcome, usage};
use super::{Held, starts_agent, unwrap_call};
use crate::event::{Agent, Category, Level, Media, Session, ToolStatus, TurnEnd, TurnStatus};
use crate::json::{Json, Object};
use crate::source::live_or_saved::{self, Saved as _};
use crate::source::subagents::{SubagentFile, SubagentFiles};
use crate::source::{Call, Emitter, Outcome, gemini_shared};
use crate::tool;

mod joined_parts;
mod outcome;

/// A saved session, or the record of one of its sub-agents.
#[derive(Clone, Default)]
pub(super) struct Saved {
    /// The records of sub-agents that were not replayed yet.
    children: SubagentFiles,
    /// The sub-agent whose record this is.
    agent: Option<Arc<Agent>>,
    session: Session,
    /// Open calls of editing tools.
    calls: HashMap<String, Held>,
    /// Durations, which precede the results.
    durations: HashMap<String, u64>,
    /// The API error that is the last record so far, and its kind.
    error: Option<(String, String)>,
    /// Telemetry reported an answer that has not been read yet.
    responded: bool,
    turn: Option<TurnStatus>,
    time: Option<String>,
}

/// Returns true if a call started the sub-agent: the data about it say so, or,
/// without data, the name of its file ends with the call's id.
fn is_started_by(child: &SubagentFile, call: &str) -> bool {
    if child.call.is_empty() {
        let stem = child.stem.strip_suffix(call);
        stem.is_some_and(|stem| stem.ends_with('-'))
    } else {
        child.call == call
    }
}

impl live_or_saved::Saved for Saved {
    fn is_record(fields: &Object<'_>) -> bool {
        fields.has("sessionId")
    }

    fn attach(&mut self, name: &str, bytes: &[u8]) {
        self.children.attach(name, bytes, |_| ());
    }

    fn record(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        out.agent(self.agent.clone());
        out.time(fields.get("timestamp").str());
        self.describe(fields, out);
        let parts = gemini_shared::parts(fields.get("message").get("parts"));
        let is_known = parts.into_iter().all(gemini_shared::is_known_part);
        match fields.get("type").str().as_deref() {
            Some("user") => self.user(fields, out),
            Some("assistant") => self.assistant(fields, out),
            Some("tool_result") => self.tool_result(fields, out),
            Some("system") => return self.system(fields, out),
            _ => return false,
        }
        self.time = out.current_time();
        is_known
    }

    fn finish(&mut self, out: &mut Emitter) {
        while let Some(child) = self.children.take(|_| true) {
            self.replay(&child, String::new(), out);
        }
        self.end_turn(out);
    }
}

impl Saved {
    /// Emits the session's data if they changed.
    fn describe(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        if self.agent.is_some() {
            return;
        }
        let text = |key, known: &String| {
            let value = fields.get(key).str().filter(|text| !text.is_empty());
            value.map_or_else(|| known.clone(), Into::into)
        };
        let session = Session {
            provider: super::PROVIDER.name.to_owned(),
            version: text("version", &self.session.version),
            id: text("sessionId", &self.session.id),
            model: text("model", &self.session.model),
            cwd: text("cwd", &self.session.cwd),
            title: self.session.title.clone(),
            ..Session::default()
        };
        if session != self.session {
            self.session = session.clone();
            out.session(session);
        }
    }

    fn user(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let display = fields.get("systemPayload").get("displayText").str();
        let text = match display.filter(|text| !text.is_empty()) {
            Some(text) => text.into_owned(),
            None => gemini_shared::joined_text(fields.get("message").get("parts")),
        };
        let media = gemini_shared::media(fields.get("message").get("parts"), out);
        match fields.get("subtype").str().as_deref() {
            Some("mid_turn_user_message") => out.user_with_media(text, media, true),
            // Reports of background agents, timers and goals.
            Some(_) => out.notice(Level::Info, text),
            None => {
                let now = out.current_time();
                self.end_turn(out);
                out.time(now.map(Into::into));
                out.user_with_media(text, media, false);
                self.turn = Some(TurnStatus::Interrupted);
            }
        }
    }

    fn assistant(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        if let Some((error, _)) = self.error.take() {
            out.notice(Level::Retry, error);
        }
        let uuid = fields.get("uuid").string();
        let mut joined = JoinedParts::new(&uuid);
        let mut calls = false;
        for part in gemini_shared::parts(fields.get("message").get("parts")) {
            let part_fields = part.object();
            let call = part_fields.get("functionCall");
            if call.is_object() {
                joined.flush(out);
                self.call(&call.object(), out);
                calls = true;
            } else if let Some(media) = out.media(part) {
                joined.flush(out);
                out.text_media(Some(&uuid), media);
            } else {
                let text = part_fields.get("text").display();
                joined.add(part_fields.get("thought").is_true(), &text, out);
            }
        }
        let error = joined.flush(out);
        out.usage(usage(&fields.get("usageMetadata").object()));
        // An interrupted answer has no usage.
        let whole = fields.has("usageMetadata") || std::mem::take(&mut self.responded);
        self.responded = false;
        self.turn = Some(match (calls, error) {
            (true, _) => TurnStatus::Interrupted,
            (_, true) => TurnStatus::Failed,
            _ if whole => TurnStatus::Completed,
            _ => TurnStatus::Interrupted,
        });
    }

    fn call(&mut self, call: &Object<'_>, out: &mut Emitter) {
        let id = call.get("id").string();
        let (name, input) = unwrap_call(&call.get("name").display(), call.get("args"));
        if gemini_shared::is_editing(&name) {
            let held = Held {
                name: name.clone(),
                input: input.into(),
            };
            self.calls.insert(id.clone(), held);
        }
        out.builtin_tool_use(Call {
            id: &id,
            name: &name,
            input: input.into(),
            ..Call::default()
        });
        if starts_agent(&name)
            && let Some(child) = self.children.take(|child| is_started_by(child, &id))
        {
            self.replay(&child, id, out);
        }
    }

    fn replay(&mut self, file: &SubagentFile, call: String, out: &mut Emitter) {
        let first = file.text.lines().find_map(Json::parse);
        let first = first.unwrap_or_default().object();
        let field = |key, fallback: &String| match first.get(key).string() {
            text if text.is_empty() => fallback.clone(),
            text => text,
        };
        let agent = Agent {
            id: field("agentId", &file.stem),
            parent: call,
            depth: self.agent.as_ref().map_or(0, |agent| agent.depth) + 1,
            name: tool::label(&field("agentName", &file.name)),
        };
        let mut child = Self {
            children: std::mem::take(&mut self.children),
            agent: Some(Arc::new(agent)),
            ..Self::default()
        };
        out.replay(&file.text, |frame, out| {
            if let Some(json) = frame.json()
                && !child.record(&json.object(), out)
            {
                out.unknown(frame);
            }
        });
        self.children = child.children;
    }

    fn tool_result(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let details = fields.get("toolCallResult").object();
        let mut responses: Vec<Object<'_>> =
            gemini_shared::parts(fields.get("message").get("parts"))
                .into_iter()
                .map(|part| part.get("functionResponse").object())
                .filter(|response| !response.is_empty())
                .collect();
        if responses.is_empty() {
            responses.push(Object::default());
        }
        let mut media = gemini_shared::media(fields.get("message").get("parts"), out);
        for response in responses {
            self.response(&details, &response, std::mem::take(&mut media), out);
        }
    }

    fn response(
        &mut self,
        details: &Object<'_>,
        response: &Object<'_>,
        media: Vec<Media>,
        out: &mut Emitter,
    ) {
        let id = match details.get("callId").string() {
            id if id.is_empty() => response.get("id").string(),
            id => id,
        };
        let held = self.calls.remove(&id);
        let duration = self.durations.remove(&id);
        let is_command = out.category_of(&id) == Some(Category::Execute);
        let mut outcome = outcome(details, &response.get("response").object(), is_command);
        if outcome.status == ToolStatus::Ok {
            outcome.edits = gemini_shared::display_edits(details.get("resultDisplay"));
            if let Some(held) = held.filter(|_| outcome.edits.is_empty()) {
                outcome.edits = gemini_shared::input_edits(&held.name, &held.input());
            }
        }
        // A call that the user rejected or canceled ends the turn.
        let stopped = details.get("status").str().as_deref() == Some("cancelled");
        self.turn = Some(if stopped {
            TurnStatus::Canceled
        } else {
            TurnStatus::Interrupted
        });
        out.tool_result(
            &id,
            Outcome {
                duration_ms: details.get("durationMs").u64().or(duration),
                name: response.get("name").string(),
                media,
                ..outcome
            },
        );
    }

    fn system(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let payload = fields.get("systemPayload");
        let subtype = fields.get("subtype").string();
        match subtype.as_str() {
            "ui_telemetry" => self.telemetry(&payload.get("uiEvent").object(), out),
            "custom_title" => {
                let title = payload.get("customTitle");
                let title = title.str().or_else(|| payload.get("title").str());
                self.session.title = title.unwrap_or_default().into_owned();
                out.session(self.session.clone());
            }
            // Internal state.
            "attribution_snapshot"
            | "file_history_snapshot"
            | "branch_checkpoint"
            | "user_text_elements"
            | "session_source"
            | "parent_session" => {}
            "chat_compression" => {
                out.state(&subtype, payload);
                out.compacted("");
            }
            "rewind"
            | "slash_command"
            | "at_command"
            | "session_model"
            | "goal_state"
            | "goal_runtime"
            | "goal_turn_end"
            | "mid_turn_user_message"
            | "background_task_completed"
            | "turn_result"
            | "omni_recall"
            | "realtime_message" => out.state(&subtype, payload),
            other if other.starts_with("session_artifact_") => out.state(&subtype, payload),
            _ => return false,
        }
        true
    }

    /// Reads telemetry that no other record contains, for requests of the user's
    /// prompts only.
    fn telemetry(&mut self, event: &Object<'_>, out: &mut Emitter) {
        let prompt = event.get("prompt_id").display();
        let name = event.get("event.name").string();
        match name.as_str() {
            "qwen-code.tool_call" => {
                let call = event.get("call_id").string();
                if let Some(duration) = event
                    .get("duration_ms")
                    .u64()
                    .filter(|_| out.is_open(&call))
                {
                    self.durations.insert(call, duration);
                }
            }
            "qwen-code.api_response" if prompt.contains("########") => self.responded = true,
            "qwen-code.api_error" if prompt.contains("########") => {
                let error = event.get("error_message").display().into_owned();
                let kind = event.get("error_type").string();
                self.time = out.current_time();
                if let Some((earlier, _)) = self.error.replace((error, kind)) {
                    out.notice(Level::Retry, earlier);
                }
            }
            _ => {}
        }
    }

    fn end_turn(&mut self, out: &mut Emitter) {
        let error = self.error.take();
        if let Some(mut status) = self.turn.take()
            && self.agent.is_none()
        {
            out.time(self.time.take().map(Into::into));
            let mut reason = String::new();
            if let Some((error, kind)) = error {
                out.notice(Level::Error, error);
                (status, reason) = (TurnStatus::Failed, kind);
            }
            out.turn_end(TurnEnd {
                status,
                reason,
                ..TurnEnd::default()
            });
        }
    }
}
