//! Saved sessions: `session-….jsonl`, and the single document of older versions.
//!
//! The file is a log of changes to a list of messages. A message with a known id
//! replaces the earlier one, `$set.messages` replaces the whole list,
//! `$rewindTo` truncates it. Events are append-only, so each record is compared
//! with what was emitted of its message, and only additions are emitted. There is
//! no end-of-turn record: the next prompt or the end of the file ends a turn, and
//! its last message decides the status.

use std::sync::Arc;

use self::emitted::Emitted;
use self::outcome::{ToolText, outcome, usage};
use super::tool;
use crate::event::{Agent, Category, Level, Media, Session, ToolStatus, TurnEnd, TurnStatus};
use crate::json::{Json, Object};
use crate::source::live_or_saved::{self, Saved as _};
use crate::source::subagents::{SubagentFile, SubagentFiles};
use crate::source::{Call, Emitter, Outcome, gemini_shared};

mod emitted;
mod outcome;

/// A saved session, or the record of one of its sub-agents.
#[derive(Clone, Default)]
pub(super) struct Saved {
    /// The records of sub-agents that were not replayed yet, with their tasks.
    children: SubagentFiles<String>,
    /// The sub-agent whose record this is.
    agent: Option<Arc<Agent>>,
    session: Session,
    emitted: Emitted,
    turn: Option<TurnStatus>,
    time: Option<String>,
}

/// Returns the first prompt in the record of a sub-agent.
fn task(record: &str) -> String {
    let records = record.lines().take(MOST_BEFORE_TASK);
    let mut records = records.filter_map(Json::parse).map(Json::object);
    let prompt = records.find(|record| record.get("type").str().as_deref() == Some("user"));
    prompt.map_or_else(String::new, |prompt| {
        gemini_shared::joined_text(prompt.get("content"))
    })
}

/// Records before the task of a sub-agent at most.
const MOST_BEFORE_TASK: usize = 8;

impl live_or_saved::Saved for Saved {
    /// Live events have no `id` and no field that starts with `$`.
    fn is_record(fields: &Object<'_>) -> bool {
        fields.has("$set")
            || fields.has("$rewindTo")
            || super::is_header(fields)
            || (fields.has("id") && fields.has("type") && !fields.has("tool_id"))
    }

    fn attach(&mut self, name: &str, bytes: &[u8]) {
        self.children.attach(name, bytes, task);
    }

    fn record(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        out.agent(self.agent.clone());
        if fields.has("$set") {
            self.patch(&fields.get("$set").object(), out)
        } else if fields.has("$rewindTo") {
            out.state("rewind", fields.get("$rewindTo"));
            true
        } else if super::is_header(fields) {
            out.time(fields.get("startTime").str());
            self.describe(fields, out);
            self.list(fields.get("messages"), out)
        } else {
            self.message(fields, out)
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        while let Some(child) = self.children.take(|_| true) {
            let agent = Agent {
                id: child.stem.clone(),
                depth: 1,
                ..Agent::default()
            };
            self.replay(&child.text, agent, out);
        }
        self.end_turn(out);
    }
}

impl Saved {
    /// Applies a change of the session's data.
    fn patch(&mut self, set: &Object<'_>, out: &mut Emitter) -> bool {
        out.time(set.get("lastUpdated").str());
        self.describe(set, out);
        let known = self.list(set.get("messages"), out);
        for (key, value) in set.iter() {
            match key {
                // Covered by the events, or of no interest.
                "messages" | "lastUpdated" | "startTime" | "sessionId" | "projectHash" | "kind"
                | "summary" | "directories" | "memoryScratchpad" => {}
                _ => out.state(key, value),
            }
        }
        known
    }

    /// Emits the session's data if they changed. A sub-agent has no session.
    fn describe(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let text = |key, known: &String| fields.get(key).str().map_or(known.clone(), Into::into);
        let folder = fields
            .get("directories")
            .array()
            .first()
            .map(|d| d.string());
        let session = Session {
            provider: super::PROVIDER.name.to_owned(),
            id: text("sessionId", &self.session.id),
            title: text("summary", &self.session.title),
            model: text("model", &self.session.model),
            cwd: folder.unwrap_or_else(|| self.session.cwd.clone()),
            version: String::new(),
            ..Session::default()
        };
        let is_new = Session {
            provider: self.session.provider.clone(),
            ..session.clone()
        } != self.session;
        if self.agent.is_none() && is_new {
            self.session = session.clone();
            out.session(session);
        }
    }

    /// Reads a whole list of messages. Known ones are unchanged or shortened for the
    /// model. If a summary replaces the conversation, only the summary is new: the
    /// other messages have new ids but were emitted before.
    fn list(&mut self, messages: Json<'_>, out: &mut Emitter) -> bool {
        let messages: Vec<Object<'_>> = messages.array().into_iter().map(Json::object).collect();
        let is_compacted = !self.emitted.is_empty() && messages.iter().any(is_summary);
        let mut known = true;
        for fields in &messages {
            let id = fields.get("id").string();
            if self.emitted.contains(&id) {
                continue;
            }
            if is_compacted && !is_summary(fields) {
                self.emitted.add(&id);
                let text = gemini_shared::joined_text(fields.get("content"));
                self.emitted.add_text(&id, &text);
            } else {
                known &= self.message(fields, out);
            }
        }
        known
    }

    fn message(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        out.time(fields.get("timestamp").str());
        let parts = gemini_shared::parts(fields.get("content"));
        let is_known = parts.into_iter().all(gemini_shared::is_known_part);
        let level = match fields.get("type").str().as_deref() {
            Some("user") => {
                self.user(fields, out);
                return is_known;
            }
            Some("gemini") => {
                self.gemini(fields, out);
                return is_known;
            }
            Some("info") => Level::Info,
            Some("warning") => Level::Warning,
            Some("error") => Level::Error,
            _ => return false,
        };
        if self.emitted.add(&fields.get("id").string()) {
            out.notice(level, gemini_shared::joined_text(shown_content(fields)));
            if level == Level::Error {
                self.turn = self.turn.map(|_| TurnStatus::Failed);
            }
        }
        true
    }

    fn user(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        if !self.emitted.add(&fields.get("id").string()) {
            return;
        }
        let mut media = gemini_shared::media(fields.get("content"), out);
        for part in gemini_shared::parts(fields.get("content")) {
            let response = part.get("functionResponse");
            if response.is_object() {
                self.response(response, std::mem::take(&mut media), out);
            }
        }
        let text = gemini_shared::joined_text(shown_content(fields));
        if text.starts_with("<session_context>") {
            // Date, system and folder, which Gemini CLI puts first.
        } else if is_summary(fields) {
            out.compacted(text);
        } else if !text.trim().is_empty() || !media.is_empty() {
            let now = out.current_time();
            self.end_turn(out);
            out.time(now.map(Into::into));
            out.user_with_media(text, media, false);
            self.turn = Some(TurnStatus::Interrupted);
            self.time = out.current_time();
        }
    }

    /// Emits the result that the model got, unless the message with the call has it.
    fn response(&mut self, response: Json<'_>, media: Vec<Media>, out: &mut Emitter) {
        let fields = response.object();
        let id = fields.get("id").string();
        if out.is_known(&id) && !out.is_open(&id) {
            return;
        }
        let name = fields.get("name").string();
        let text = ToolText::new(fields.get("response"), Json::NULL);
        let outcome = text.outcome(&name, !text.error.is_null());
        self.progress(outcome.status);
        self.time = out.current_time();
        let outcome = Outcome {
            name,
            media,
            ..outcome
        };
        out.tool_result(&id, outcome);
    }

    fn gemini(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let id = fields.get("id").string();
        self.emitted.add(&id);
        if fields.get("model").is_string() {
            self.describe(fields, out);
        }
        self.thoughts(&id, fields.get("thoughts").array(), out);
        let text = self.parts(&id, fields.get("content"), out);
        if fields.get("tokens").is_object() && self.emitted.add_tokens(&id) {
            out.usage(usage(&fields.get("tokens").object()));
        }
        let calls = fields.get("toolCalls").array();
        if !text || !calls.is_empty() {
            self.progress(ToolStatus::Ok);
        } else {
            self.turn = Some(TurnStatus::Completed);
        }
        let calls: Vec<Object<'_>> = calls.into_iter().map(Json::object).collect();
        for call in &calls {
            self.call(call, out);
        }
        for call in &calls {
            self.result(call, out);
        }
        self.time = self.time.take().max(out.current_time());
    }

    fn thoughts(&mut self, id: &str, thoughts: Vec<Json<'_>>, out: &mut Emitter) {
        let time = out.current_time();
        let seen = self.emitted.add_thoughts(id, thoughts.len());
        for (number, thought) in thoughts.into_iter().enumerate().skip(seen) {
            let thought_time = thought.get("timestamp").str();
            out.time(thought_time.or_else(|| time.clone().map(Into::into)));
            let text = thought_text(thought);
            out.reasoning(Some(&format!("{id}/thought-{}", number + 1)), text);
        }
        out.time(time.map(Into::into));
    }

    /// Emits the text and calls in a message's content; returns true if it has text.
    fn parts(&mut self, id: &str, content: Json<'_>, out: &mut Emitter) -> bool {
        let text = gemini_shared::joined_text(content);
        if self.emitted.add_text(id, &text) {
            out.text(Some(id), text.clone());
        }
        let media = gemini_shared::media(content, out);
        if !media.is_empty() && self.emitted.add(&format!("{id}/media")) {
            for media in media {
                out.text_media(Some(id), media);
            }
        }
        for part in gemini_shared::parts(content) {
            let call = part.get("functionCall").object();
            let call_id = call.get("id").string();
            if !call.is_empty() && !out.is_known(&call_id) {
                out.builtin_tool_use(Call {
                    id: &call_id,
                    name: &call.get("name").string(),
                    input: call.get("args").into(),
                    ..Call::default()
                });
            }
        }
        !text.trim().is_empty()
    }

    /// Emits a call and the sub-agent that it started. A call that changes the
    /// tracker's list becomes a plan.
    fn call(&mut self, call: &Object<'_>, out: &mut Emitter) {
        let id = call.get("id").string();
        let name = call.get("name").string();
        if out.is_known(&id) {
            return;
        }
        let time = out.current_time();
        if time < self.time {
            // A message that collects all calls of a run is older than most of them.
            out.time(call.get("timestamp").str());
        }
        let display = call.get("resultDisplay");
        let is_made = call.get("status").str().as_deref() == Some("success");
        let list = tool::todos(display).filter(|_| tool::changes_tracker(&name) && is_made);
        if let Some(list) = list {
            out.hide_call(&id, &name);
            out.plan(list);
        } else {
            out.builtin_tool_use(Call {
                id: &id,
                name: &name,
                input: call.get("args").into(),
                ..Call::default()
            });
        }
        self.child(&id, call, display, out);
        out.time(time.map(Into::into));
    }

    fn result(&mut self, call: &Object<'_>, out: &mut Emitter) {
        let id = call.get("id").string();
        let status = call.get("status").string();
        if !out.is_open(&id) || !matches!(status.as_str(), "success" | "error" | "cancelled") {
            return;
        }
        let name = call.get("name").string();
        let time = out.current_time();
        out.time(call.get("timestamp").str());
        let mut outcome = outcome(call, &name, &status);
        outcome.media = gemini_shared::media(call.get("result"), out);
        self.progress(outcome.status);
        if name == "complete_task" && outcome.status == ToolStatus::Ok {
            self.turn = Some(TurnStatus::Completed);
        }
        out.tool_result(&id, outcome);
        out.time(time.map(Into::into));
    }

    /// Replays the sub-agent that a call started.
    fn child(&mut self, call_id: &str, call: &Object<'_>, display: Json<'_>, out: &mut Emitter) {
        let Some(child) = self.take_child(call) else {
            tool::activities(display, call_id, out);
            return;
        };
        let name = call.get("args").get("agent_name").display();
        let agent = Agent {
            id: child.stem.clone(),
            parent: call_id.to_owned(),
            depth: self.agent.as_ref().map_or(0, |agent| agent.depth) + 1,
            name: crate::tool::label(&name),
        };
        self.replay(&child.text, agent, out);
    }

    /// Removes the record of the sub-agent that a call started. Sessions of the
    /// Agent Client Protocol do not name it: there it is the first one with the
    /// same task.
    fn take_child(&mut self, call: &Object<'_>) -> Option<SubagentFile<String>> {
        let id = call.get("agentId").string();
        let prompt = call.get("args").get("prompt").string();
        let is_unnamed = id.is_empty()
            && !prompt.trim().is_empty()
            && crate::source::category(&call.get("name").string()) == Category::Task;
        self.children
            .take(|child| child.stem == id || is_unnamed && child.details.contains(&prompt))
    }

    fn replay(&mut self, record: &str, agent: Agent, out: &mut Emitter) {
        let mut child = Self {
            children: std::mem::take(&mut self.children),
            agent: Some(Arc::new(agent)),
            ..Self::default()
        };
        out.replay(record, |frame, out| {
            if let Some(json) = frame.json()
                && !child.record(&json.object(), out)
            {
                out.unknown(frame);
            }
        });
        self.children = child.children;
    }

    /// Marks the turn as unfinished.
    fn progress(&mut self, status: ToolStatus) {
        self.turn = Some(match status {
            ToolStatus::Canceled => TurnStatus::Canceled,
            _ => TurnStatus::Interrupted,
        });
    }

    fn end_turn(&mut self, out: &mut Emitter) {
        if let Some(status) = self.turn.take()
            && self.agent.is_none()
        {
            out.time(self.time.take().map(Into::into));
            out.turn_end(TurnEnd {
                status,
                ..TurnEnd::default()
            });
        }
    }
}

/// Returns true if a message is the summary of the conversation before it.
fn is_summary(fields: &Object<'_>) -> bool {
    fields.get("type").str().as_deref() == Some("user")
        && gemini_shared::joined_text(shown_content(fields)).starts_with("<state_snapshot>")
}

/// Returns what the user typed, if the model got a longer text.
fn shown_content<'a>(fields: &Object<'a>) -> Json<'a> {
    let display = fields.get("displayContent");
    if display.is_null() {
        fields.get("content")
    } else {
        display
    }
}

/// Returns a thought as the model wrote it, with its subject as a heading.
fn thought_text(thought: Json<'_>) -> String {
    let fields = thought.object();
    let (subject, description) = (fields.get("subject"), fields.get("description"));
    match (subject.display(), description.display()) {
        (subject, description) if subject.is_empty() => description.into_owned(),
        (subject, description) if description.is_empty() => format!("**{subject}**"),
        (subject, description) => format!("**{subject}**\n{description}"),
    }
}
