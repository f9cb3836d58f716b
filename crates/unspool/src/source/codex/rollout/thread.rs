//! One thread of a session file, line by line.
//!
//! Two generations: in the older one (to 0.137) the messages hold texts and a
//! few ends of calls, and outputs are only in the conversation; in the newer
//! one (`history_mode` `paginated`) each finished item is a message. Both are
//! read by the same rules: the first result of a call is the one that counts,
//! and a call that was not made by the model itself (from a script, for
//! example) appears with its item.

use std::collections::HashMap;
use std::sync::Arc;

use super::Family;
use super::call::{self, Open};
use super::output::Output;
use crate::event::{Agent, Level, Session, ToolStatus, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::codex::item::{self, Item};
use crate::source::codex::{PROVIDER, Turn, legacy, usage};
use crate::source::{Emitter, Outcome};

#[derive(Clone, Default)]
pub(super) struct Thread {
    /// The sub-agent; `None` for the thread of the file itself.
    agent: Option<Arc<Agent>>,
    session: Session,
    paginated: bool,
    turn: Turn,
    /// Whether the file says when turns begin and end.
    has_tasks: bool,
    /// Whether the file has messages of the program at all.
    has_messages: bool,
    /// Whether the agent did anything in this turn.
    active: bool,
    /// Whether an answer was the last thing that it did.
    answered: bool,
    open: HashMap<String, Open>,
    usage: usage::Counter,
    /// The last search, which comes twice.
    search: String,
    /// In a review that was played from its own file, which is repeated here.
    reviewing: bool,
}

impl Thread {
    pub(super) fn of_agent(agent: &Arc<Agent>) -> Self {
        Self {
            agent: Some(Arc::clone(agent)),
            ..Self::default()
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.session.id
    }

    pub(super) fn line(
        &mut self,
        fields: &Object<'_>,
        frame: &Frame<'_>,
        family: &mut Family,
        out: &mut Emitter,
    ) {
        out.time(fields.get("timestamp").str());
        let payload = fields.get("payload").object();
        match fields.get("type").str().as_deref().unwrap_or_default() {
            "session_meta" => self.meta(&payload, out),
            "turn_context" => self.context(&payload, out),
            "response_item" => self.response(&payload, frame, family, out),
            "event_msg" => self.message(&payload, frame, family, out),
            "compacted" => out.context("compacted", "", payload.get("message").payload()),
            // Counts that `token_count` repeats, and the program's own state.
            "token_usage_record"
            | "world_state"
            | "retained_context"
            | "security_risk_score"
            | "inter_agent_communication_metadata" => {}
            _ => out.unknown(frame),
        }
    }

    /// The input ended: without messages about turns, an answer ends one.
    pub(super) fn finish(&mut self, out: &mut Emitter) {
        let status = if self.is_answered() {
            TurnStatus::Completed
        } else {
            TurnStatus::Interrupted
        };
        self.turn.cut(status, out);
    }

    fn is_answered(&self) -> bool {
        !self.has_tasks && self.answered && self.open.is_empty()
    }

    fn meta(&mut self, meta: &Object<'_>, out: &mut Emitter) {
        // A fork repeats the beginning of the thread that it comes from.
        if !self.session.provider.is_empty() {
            return;
        }
        self.paginated = meta.get("history_mode").string() == "paginated";
        self.session = Session {
            provider: PROVIDER.name.to_owned(),
            version: meta.get("cli_version").string(),
            id: meta.get("id").string(),
            cwd: meta.get("cwd").string(),
            ..Session::default()
        };
        self.show_session(out);
    }

    fn context(&mut self, context: &Object<'_>, out: &mut Emitter) {
        let model = context.get("model").string();
        if !model.is_empty() && model != self.session.model {
            self.session.model = model;
            PROVIDER.name.clone_into(&mut self.session.provider);
            self.show_session(out);
        }
    }

    fn show_session(&self, out: &mut Emitter) {
        if self.agent.is_none() {
            out.session(self.session.clone());
        }
    }

    /// The agent did something.
    fn act(&mut self, answered: bool) {
        self.turn.touch();
        self.active = true;
        self.answered = answered;
    }

    fn response(
        &mut self,
        payload: &Object<'_>,
        frame: &Frame<'_>,
        family: &mut Family,
        out: &mut Emitter,
    ) {
        let id = super::super::first_text(payload, &["call_id", "id"]);
        match payload.get("type").str().as_deref().unwrap_or_default() {
            "message" | "reasoning" => self.spoken(payload, out),
            "function_call" => self.begin(&id, |id, out| call::function(id, payload, out), out),
            "custom_tool_call" => self.begin(&id, |id, out| call::custom(id, payload, out), out),
            "local_shell_call" => {
                let input = payload.get("action").into();
                self.begin(
                    &id,
                    |id, out| call::built_in(id, "local_shell", input, out),
                    out,
                );
            }
            "tool_search_call" => {
                let input = payload.get("arguments").into();
                self.begin(
                    &id,
                    |id, out| call::built_in(id, "tool_search", input, out),
                    out,
                );
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.output(&id, payload.get("output"), family, out);
            }
            "tool_search_output" => {
                let output = payload.get("tools").payload();
                self.end(
                    &id,
                    Outcome {
                        output,
                        ..Outcome::default()
                    },
                    out,
                );
            }
            "web_search_call" => self.web_search_call(&id, payload, out),
            "image_generation_call" => self.image(&id, payload, out),
            "agent_message" => self.letter(payload, out),
            // The catalogue of tools, snapshots, and marks of compaction.
            "additional_tools"
            | "ghost_snapshot"
            | "compaction"
            | "context_compaction"
            | "compaction_trigger"
            | "configuration_update"
            | "other" => {}
            _ => out.unknown(frame),
        }
    }

    /// Texts of the conversation are what the messages say too; they count
    /// only in a file without messages. What the user said is mixed there
    /// with what the program added, and is left to the messages.
    fn spoken(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        if self.has_messages {
            return;
        }
        if payload.get("role").string() == "assistant" {
            self.act(true);
            out.text(None, item::texts(payload.get("content"), "\n"));
        } else if payload.get("type").string() == "reasoning" {
            self.act(false);
            out.reasoning(None, item::texts(payload.get("summary"), "\n"));
        }
    }

    fn begin(
        &mut self,
        id: &str,
        show: impl FnOnce(&str, &mut Emitter) -> Open,
        out: &mut Emitter,
    ) {
        self.act(false);
        let open = show(id, out);
        self.open.insert(id.to_owned(), open);
    }

    fn output(&mut self, id: &str, output: Json<'_>, family: &mut Family, out: &mut Emitter) {
        let Some(open) = self.open.get(id) else {
            // A call that is over, or that was never seen.
            if !out.is_known(id) {
                self.result(id, &Open::default(), Output::read(output), out);
            }
            return;
        };
        let mut output = Output::read(output);
        if self.paginated && output.running && open.name == "exec_command" {
            // The item tells the end.
            out.tool_output(id, output.text);
            return;
        }
        if open.name.contains('.') {
            output.mcp_texts();
        }
        if let Some(json) = Json::parse(&output.text) {
            // What an older version answers to the call that starts an agent.
            family.play(&json.get("agent_id").string(), id, out);
        }
        if let Some(open) = self.open.remove(id) {
            self.result(id, &open, output, out);
        }
    }

    fn result(&mut self, id: &str, open: &Open, output: Output, out: &mut Emitter) {
        self.act(false);
        let status = output.status(&open.name);
        let edits = match status {
            ToolStatus::Ok => open.edits.clone(),
            _ => Vec::new(),
        };
        out.tool_result(
            id,
            Outcome {
                status,
                exit_code: output.exit_code,
                duration_ms: output.duration_ms,
                output: output.text.into(),
                edits,
                ..Outcome::default()
            },
        );
    }

    fn end(&mut self, id: &str, outcome: Outcome, out: &mut Emitter) {
        self.act(false);
        self.open.remove(id);
        out.tool_result(id, outcome);
    }

    /// A search that a message or an item did not show already.
    fn web_search_call(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        let shown = std::mem::take(&mut self.search);
        if shown == payload.get("action").raw() || out.is_known(id) {
            return;
        }
        // Older versions give it no id.
        let id = if id.is_empty() { "web_search" } else { id };
        self.web_search(id, payload, out);
    }

    fn web_search(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        let input = item::pick(payload, &["query", "action"]);
        self.begin(
            id,
            |id, out| call::built_in(id, "web_search", input, out),
            out,
        );
        self.end(id, Outcome::default(), out);
    }

    fn image(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        let input = item::pick(payload, &["revised_prompt"]);
        self.begin(
            id,
            |id, out| call::built_in(id, "image_generation", input, out),
            out,
        );
        self.end(id, Outcome::default(), out);
    }

    /// A message from another agent: its task to a sub-agent, context to
    /// everybody else.
    fn letter(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        let text = item::texts(payload.get("content"), "\n");
        if self.agent.is_some() {
            self.turn.touch();
            out.user(text, false);
        } else {
            out.context(&payload.get("author").string(), "", text);
        }
    }

    fn message(
        &mut self,
        payload: &Object<'_>,
        frame: &Frame<'_>,
        family: &mut Family,
        out: &mut Emitter,
    ) {
        self.has_messages = true;
        let id = payload.get("call_id").string();
        match payload.get("type").str().as_deref().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.has_tasks = true;
                self.turn = Turn::Open;
                self.active = false;
            }
            "task_complete" | "turn_complete" => self.complete(payload, family, out),
            "turn_aborted" => self.aborted(payload, family, out),
            "token_count" => self.usage.show(usage::of_info(payload.get("info")), out),
            "user_message" => self.user(payload.get("message"), out),
            "agent_message" => {
                self.act(true);
                out.text(None, payload.get("message").payload());
            }
            "agent_reasoning" => {
                self.act(false);
                out.reasoning(None, payload.get("text").payload());
            }
            "patch_apply_end" => {
                let edits = item::edits(payload.get("changes"));
                let outcome = legacy::patch_outcome(payload);
                let edits = match outcome.status {
                    ToolStatus::Ok => edits,
                    _ => Vec::new(),
                };
                self.end(&id, Outcome { edits, ..outcome }, out);
            }
            "mcp_tool_call_end" => {
                if !out.is_known(&id) {
                    legacy::mcp_call(&id, payload.get("invocation"), out);
                }
                self.end(&id, legacy::mcp_outcome(payload), out);
            }
            "web_search_end" => {
                self.web_search(&id, payload, out);
                payload.get("action").raw().clone_into(&mut self.search);
            }
            "item_completed" => self.item(payload.get("item"), frame, family, out),
            "thread_name_updated" => {
                self.session.title = payload.get("thread_name").string();
                self.show_session(out);
            }
            "error" => out.notice(Level::Error, payload.get("message").payload()),
            "stream_error" => out.notice(Level::Retry, payload.get("message").payload()),
            "warning" => out.notice(Level::Warning, payload.get("message").payload()),
            // Repetitions of calls and items, and the program's own state.
            "agent_reasoning_raw_content"
            | "plan_update"
            | "turn_diff"
            | "context_compacted"
            | "web_search_begin"
            | "thread_settings_applied" => {}
            _ => out.unknown(frame),
        }
    }

    fn user(&mut self, text: Json<'_>, out: &mut Emitter) {
        if self.is_answered() && self.agent.is_none() {
            self.turn.cut(TurnStatus::Completed, out);
        }
        self.turn = Turn::Open;
        self.answered = false;
        out.user(text.payload(), false);
    }

    fn item(&mut self, json: Json<'_>, frame: &Frame<'_>, family: &mut Family, out: &mut Emitter) {
        let item = Item::new(json);
        match item.kind.as_str() {
            "user_message" | "agent_message" | "reasoning" if self.reviewing => {}
            "user_message" => {
                self.turn.touch();
                self.answered = false;
                out.user(item.text(), false);
            }
            "agent_message" | "plan" => {
                self.act(true);
                out.text(None, item.text());
            }
            "reasoning" => {
                self.act(false);
                out.reasoning(None, item.text());
            }
            "entered_review_mode" => {
                out.state(&item.kind, json);
                self.reviewing = family.play_review(self, out);
            }
            "exited_review_mode" => {
                self.reviewing = false;
                out.state(&item.kind, json);
            }
            // A line of its own has the summary.
            "context_compaction" => {}
            _ if item.is_report() => {}
            _ if item.is_call() => self.item_call(&item, family, out),
            _ => out.unknown(frame),
        }
    }

    fn item_call(&mut self, item: &Item<'_>, family: &mut Family, out: &mut Emitter) {
        self.act(false);
        if !out.is_known(&item.id) {
            item.begin(out);
        }
        if item.starts_agent() {
            for thread in item.agents() {
                family.play(&thread, &item.id, out);
            }
        }
        if item.kind == "web_search" {
            item.get("action").raw().clone_into(&mut self.search);
        }
        // What was done about a sub-agent says nothing of how it went.
        if item.kind == "sub_agent_activity" && self.open.contains_key(&item.id) {
            return;
        }
        self.open.remove(&item.id);
        item.end(out);
    }

    fn complete(&mut self, payload: &Object<'_>, family: &mut Family, out: &mut Emitter) {
        let error = payload.get("error");
        let reason = item::message(error);
        out.notice(Level::Error, reason.as_str());
        // Older files do not say that the turn failed, only that nothing came.
        let silent = !self.active && payload.get("last_agent_message").is_null();
        let status = if !error.is_null() || silent {
            TurnStatus::Failed
        } else {
            TurnStatus::Completed
        };
        self.end_turn(status, reason, payload, family, out);
    }

    fn aborted(&mut self, payload: &Object<'_>, family: &mut Family, out: &mut Emitter) {
        let reason = payload.get("reason").string();
        let status = match reason.as_str() {
            "budget_limited" => TurnStatus::Failed,
            _ => TurnStatus::Canceled,
        };
        if self.agent.is_some() {
            out.notice(Level::Canceled, reason.as_str());
        }
        self.end_turn(status, reason, payload, family, out);
    }

    /// Only the thread of the file itself has turns to show.
    fn end_turn(
        &mut self,
        status: TurnStatus,
        reason: String,
        payload: &Object<'_>,
        family: &mut Family,
        out: &mut Emitter,
    ) {
        let now = out.current_time();
        family.play_rest(self, now.as_deref(), out);
        self.active = false;
        if self.agent.is_some() {
            self.turn = Turn::Ended;
            return;
        }
        self.turn.end(
            TurnEnd {
                status,
                reason,
                duration_ms: payload.get("duration_ms").u64(),
                ..TurnEnd::default()
            },
            out,
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Body, ToolStatus, TurnStatus};
    use crate::source::codex::tests::{ends, events, kinds};

    fn line(kind: &str, payload: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    }

    #[test]
    fn without_messages_about_turns_an_answer_ends_one() {
        let user = line("event_msg", r#"{"type":"user_message","message":"hi"}"#);
        let answer = line("event_msg", r#"{"type":"agent_message","message":"ho"}"#);
        let call = line(
            "response_item",
            r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
        );
        let end = |input: &[&String]| {
            ends(&events(
                &input.iter().map(|l| l.as_str()).collect::<String>(),
            ))
        };
        assert_eq!(end(&[&user, &answer]), [TurnStatus::Completed]);
        assert_eq!(end(&[&user]), [TurnStatus::Interrupted]);
        assert_eq!(end(&[&user, &call, &answer]), [TurnStatus::Interrupted]);
        assert_eq!(
            end(&[&user, &answer, &user]),
            [TurnStatus::Completed, TurnStatus::Interrupted]
        );
    }

    #[test]
    fn a_file_without_messages_shows_the_conversation() {
        let events = events(
            &[
                line("response_item", r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
                line("response_item", r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ho"}]}"#),
            ]
            .concat(),
        );
        assert_eq!(kinds(&events), ["reasoning", "text", "turn_end"]);
    }

    #[test]
    fn a_result_without_its_call_is_shown_once() {
        let output = line(
            "response_item",
            r#"{"type":"function_call_output","call_id":"c","output":"Exit code: 1\nOutput:\nx"}"#,
        );
        let events = events(&output.repeat(2));
        assert_eq!(kinds(&events), ["tool_result", "turn_end"]);
        let Body::ToolResult(result) = &events[0].body else {
            panic!();
        };
        assert_eq!(
            (result.status, result.exit_code),
            (ToolStatus::Error, Some(1))
        );
    }

    #[test]
    fn unknown_lines_are_kept() {
        let events = events(
            &[
                line("session_meta", r#"{"id":"t"}"#),
                line("hologram", "{}"),
                line("response_item", r#"{"type":"hologram"}"#),
                line("event_msg", r#"{"type":"hologram"}"#),
                line(
                    "event_msg",
                    r#"{"type":"item_completed","item":{"type":"Hologram"}}"#,
                ),
            ]
            .concat(),
        );
        assert_eq!(
            kinds(&events),
            ["session", "unknown", "unknown", "unknown", "unknown"]
        );
    }
}
