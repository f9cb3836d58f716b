//! One thread of a session file, line by line.
//!
//! There are two generations. In the older one (to 0.137) messages contain texts
//! and a few ends of calls, and only the conversation contains outputs. In the
//! newer one (`history_mode` `paginated`) each finished item is a message. Both
//! follow the same rules: the first result of a call counts, and a call that the
//! model did not make itself (a script's, for example) is emitted with its item.

use std::collections::HashMap;
use std::sync::Arc;

use super::ChildThreads;
use super::call::{self, Open};
use super::script::Scripts;
use crate::event::{Agent, Level, Session, ToolStatus, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::recent::RecentQueue;
use crate::source::codex::item::{self, Item};
use crate::source::codex::{PROVIDER, Turn, change, legacy, usage};
use crate::source::usage::Totals;
use crate::source::{Emitter, Outcome};

mod conversation;

/// Searches that are remembered.
const REMEMBERED: usize = 64;

#[derive(Clone, Default)]
pub(super) struct Thread {
    /// The sub-agent; `None` for the thread of the file itself.
    agent: Option<Arc<Agent>>,
    session: Session,
    paginated: bool,
    detail: Detail,
    turn: Turn,
    last: Last,
    open: HashMap<String, Open>,
    scripts: Scripts,
    usage: Totals,
    /// The last error emitted; the end of the turn may repeat it.
    error: String,
    /// Emitted searches, which the conversation repeats.
    searches: RecentQueue<String, REMEMBERED>,
    /// Inside a review that was replayed from its own file and is repeated here.
    reviewing: bool,
}

/// The level of detail that was found in a file, in ascending order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// Only the conversation, so far.
    #[default]
    Conversation,
    /// Messages of Codex.
    Messages,
    /// Messages about the start and end of turns.
    Turns,
}

/// The last thing that the agent did in a turn.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Work,
    Answer,
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
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        out.time(fields.get("timestamp").str());
        let payload = fields.get("payload").object();
        match fields.get("type").str().as_deref().unwrap_or_default() {
            "session_meta" => self.meta(&payload, out),
            "turn_context" => self.context(&payload, out),
            "response_item" => self.response(&payload, frame, children, out),
            "event_msg" => self.message(&payload, frame, children, out),
            "compacted" => out.compacted(payload.get("message").payload()),
            // Counts that `token_count` repeats, and internal state.
            "token_usage_record"
            | "world_state"
            | "retained_context"
            | "security_risk_score"
            | "inter_agent_communication_metadata" => {}
            _ => out.unknown(frame),
        }
    }

    /// Ends the input. Without messages about turns, an answer completes the turn.
    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.scripts.release(out);
        let status = if self.is_answered() {
            TurnStatus::Completed
        } else {
            TurnStatus::Interrupted
        };
        self.turn.cut(status, out);
    }

    fn is_answered(&self) -> bool {
        let is_idle = self.open.is_empty() && self.scripts.is_empty();
        self.detail < Detail::Turns && self.last == Last::Answer && is_idle
    }

    fn meta(&mut self, meta: &Object<'_>, out: &mut Emitter) {
        // A fork repeats the start of its origin.
        if !self.session.provider.is_empty() {
            return;
        }
        self.paginated = meta.get("history_mode").string() == "paginated";
        self.session = Session {
            provider: PROVIDER.name.to_owned(),
            version: meta.get("cli_version").string(),
            id: meta.get("id").string(),
            cwd: meta.get("cwd").string(),
            forked_from: meta.get("forked_from_id").string(),
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

    /// Records the last action of the agent.
    fn did(&mut self, last: Last) {
        self.turn.touch();
        self.last = last;
    }

    fn message(
        &mut self,
        payload: &Object<'_>,
        frame: &Frame<'_>,
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        self.detail = self.detail.max(Detail::Messages);
        let id = payload.get("call_id").string();
        match payload.get("type").str().as_deref().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.detail = Detail::Turns;
                self.turn = Turn::Open;
                self.last = Last::Nothing;
            }
            "task_complete" | "turn_complete" => self.complete(payload, children, out),
            "turn_aborted" => self.aborted(payload, children, out),
            "token_count" => self.usage.emit(usage::of_info(payload.get("info")), out),
            "user_message" => self.user(payload, out),
            "agent_message" => {
                self.did(Last::Answer);
                out.text(None, payload.get("message").payload());
            }
            "agent_reasoning" => {
                self.did(Last::Work);
                out.reasoning(None, payload.get("text").payload());
            }
            "patch_apply_end" => {
                self.scripts.mark_covered();
                let edits = change::edits(payload.get("changes"));
                let outcome = legacy::patch_outcome(payload);
                let edits = match outcome.status {
                    ToolStatus::Ok => edits,
                    _ => Vec::new(),
                };
                self.end(&id, Outcome { edits, ..outcome }, out);
            }
            "mcp_tool_call_end" => {
                self.scripts.mark_covered();
                if !out.is_known(&id) {
                    legacy::mcp_call(&id, payload.get("invocation"), out);
                }
                self.end(&id, legacy::mcp_outcome(payload, out), out);
            }
            "exec_command_end" => {
                self.scripts.mark_covered();
                if !out.is_known(&id) {
                    let input = item::pick(payload, &["command", "cwd"]);
                    call::built_in(&id, "exec_command", input, out);
                }
                self.command_end(&id, legacy::command_outcome(payload), out);
            }
            "view_image_tool_call" if out.is_known(&id) => {}
            "view_image_tool_call" => {
                let input = item::pick(payload, &["path"]);
                call::built_in(&id, "view_image", input, out);
                self.end(&id, Outcome::default(), out);
            }
            "image_generation_end" => self.image(&id, payload, out),
            "web_search_end" => {
                self.web_search(&id, payload, out);
                self.searched(payload.get("action"));
            }
            "entered_review_mode" => {
                self.enter_review(
                    frame.json().unwrap_or_default().get("payload"),
                    children,
                    out,
                );
            }
            "exited_review_mode" => {
                self.exit_review(frame.json().unwrap_or_default().get("payload"), out);
            }
            kind @ "thread_rolled_back" => {
                out.state(kind, frame.json().unwrap_or_default().get("payload"));
            }
            "item_completed" => self.item(payload.get("item"), frame, children, out),
            "thread_name_updated" => {
                self.session.title = payload.get("thread_name").string();
                self.show_session(out);
            }
            "error" => {
                self.error = payload.get("message").string();
                out.notice(Level::Error, self.error.as_str());
            }
            "stream_error" => out.notice(Level::Retry, payload.get("message").payload()),
            "warning" => out.notice(Level::Warning, payload.get("message").payload()),
            // Repetitions of calls and items, and internal state.
            "agent_reasoning_raw_content"
            | "plan_update"
            | "turn_diff"
            | "context_compacted"
            | "web_search_begin"
            | "thread_settings_applied" => {}
            _ => out.unknown(frame),
        }
    }

    fn user(&mut self, message: &Object<'_>, out: &mut Emitter) {
        if self.is_answered() && self.agent.is_none() {
            self.turn.cut(TurnStatus::Completed, out);
        }
        self.turn = Turn::Open;
        if self.detail < Detail::Turns {
            self.last = Last::Nothing;
        }
        let media = legacy::prompt_media(message, out);
        out.user_with_media(message.get("message").payload(), media, false);
    }

    fn item(
        &mut self,
        json: Json<'_>,
        frame: &Frame<'_>,
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        let item = Item::new(json);
        match item.kind.as_str() {
            "user_message" | "agent_message" | "reasoning" if self.reviewing => {}
            "user_message" => {
                self.turn.touch();
                let media = item.media(out);
                out.user_with_media(item.text(), media, false);
            }
            "agent_message" | "plan" => {
                self.did(Last::Answer);
                out.text(None, item.text());
            }
            "reasoning" => {
                self.did(Last::Work);
                out.reasoning(None, item.text());
            }
            "entered_review_mode" => self.enter_review(json, children, out),
            "exited_review_mode" => self.exit_review(json, out),
            // A hook's text for the model.
            "hook_prompt" => out.state(&item.kind, json),
            // Another line contains the summary.
            "context_compaction" => {}
            _ if item.is_report() => {}
            _ if item.is_call() => self.item_call(&item, children, out),
            _ => out.unknown(frame),
        }
    }

    fn enter_review(&mut self, json: Json<'_>, children: &mut ChildThreads, out: &mut Emitter) {
        out.state("entered_review_mode", json);
        self.reviewing = children.replay_review(self, out);
    }

    fn exit_review(&mut self, json: Json<'_>, out: &mut Emitter) {
        self.reviewing = false;
        out.state("exited_review_mode", json);
    }

    /// Records an emitted search.
    fn searched(&mut self, action: Json<'_>) {
        self.searches.push(action.raw().to_owned());
    }

    fn item_call(&mut self, item: &Item<'_>, children: &mut ChildThreads, out: &mut Emitter) {
        self.did(Last::Work);
        self.scripts.mark_covered();
        if !out.is_known(&item.id) {
            item.begin(out);
        }
        if item.starts_agent() {
            for thread in item.agents() {
                children.replay(&thread, &item.id, out);
            }
        }
        if item.kind == "web_search" {
            self.searched(item.get("action"));
        }
        // The item contains neither the sub-agent's result nor the picture.
        let is_partial = matches!(item.kind.as_str(), "sub_agent_activity" | "image_view");
        if is_partial && self.open.contains_key(&item.id) {
            return;
        }
        self.open.remove(&item.id);
        item.end(out);
    }

    fn complete(&mut self, payload: &Object<'_>, children: &mut ChildThreads, out: &mut Emitter) {
        let error = payload.get("error");
        let reason = item::message(error);
        if reason != self.error {
            out.notice(Level::Error, reason.as_str());
        }
        // Older files mark a failed turn only by a missing answer.
        let silent = self.last == Last::Nothing && payload.get("last_agent_message").is_null();
        let status = if !error.is_null() || silent {
            TurnStatus::Failed
        } else {
            TurnStatus::Completed
        };
        self.end_turn(status, reason, payload, children, out);
    }

    fn aborted(&mut self, payload: &Object<'_>, children: &mut ChildThreads, out: &mut Emitter) {
        let reason = payload.get("reason").string();
        let status = match reason.as_str() {
            "budget_limited" => TurnStatus::Failed,
            _ => TurnStatus::Canceled,
        };
        if self.agent.is_some() {
            out.notice(Level::Canceled, reason.as_str());
        }
        self.end_turn(status, reason, payload, children, out);
    }

    /// Ends the turn; only the root thread's turns are emitted.
    fn end_turn(
        &mut self,
        status: TurnStatus,
        reason: String,
        payload: &Object<'_>,
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        self.scripts.release(out);
        let now = out.current_time();
        children.replay_rest(self, now.as_deref(), out);
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
    fn without_messages_about_turns_an_answer_ends_the_turn() {
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
    fn a_script_is_emitted_only_if_no_item_covers_it() {
        let script = |id: &str| {
            line(
                "response_item",
                &format!(
                    r#"{{"type":"custom_tool_call","call_id":"{id}","name":"exec","input":"// x\nawait a();\nb();"}}"#
                ),
            )
        };
        let item = line(
            "event_msg",
            r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"e","command":["ls"],"exit_code":0}}"#,
        );
        let output = |id: &str, text: &str| {
            line(
                "response_item",
                &format!(
                    r#"{{"type":"custom_tool_call_output","call_id":"{id}","output":"{text}"}}"#
                ),
            )
        };
        let shown = |lines: &[String]| -> Vec<String> {
            let texts = events(&lines.concat());
            let texts = texts.iter().filter_map(|event| match &event.body {
                Body::ToolUse(call) => Some(call.arg.clone()),
                Body::ToolResult(result) => Some(result.output.to_string()),
                _ => None,
            });
            texts.collect()
        };
        let done = output("s", r"Script completed\nOutput:\nfoo");
        assert_eq!(
            shown(&[script("s"), item.clone(), done.clone()]),
            ["ls", ""]
        );
        assert_eq!(shown(&[script("s"), done]), ["await a();", "foo"]);
        let failed = output("s", r"Script failed\nOutput:\nfoo\nScript error:\nbug");
        assert_eq!(
            shown(&[script("s"), item, failed]),
            ["ls", "", "await a();", "bug"]
        );
        let yields = output("s", r"Script running with cell ID 5\nOutput:\nfoo\n");
        let wait = line(
            "response_item",
            r#"{"type":"function_call","name":"wait","arguments":"{\"cell_id\":\"5\"}","call_id":"w"}"#,
        );
        let late = output("w", r"Script completed\nOutput:\nlate");
        assert_eq!(
            shown(&[script("s"), yields, wait, late]),
            ["await a();", "foo\nlate"]
        );
        assert_eq!(shown(&[script("s")]), ["await a();"]);
    }

    #[test]
    fn messages_between_agents_lose_their_headers() {
        let letter = |head: &str, payload: &str| {
            let text = format!(
                r"Message Type: {head}\nTask name: /root/a\nSender: /root\nPayload:\n{payload}"
            );
            line(
                "response_item",
                &format!(
                    r#"{{"type":"agent_message","author":"/root/b","content":[{{"type":"input_text","text":"{text}"}}]}}"#
                ),
            )
        };
        let lines = [
            letter("NEW_TASK", ""),
            letter("NEW_TASK", "go"),
            letter("FINAL_ANSWER", "ok"),
        ];
        let events = events(&lines.concat());
        assert_eq!(kinds(&events), ["user", "context", "turn_end"]);
        let (Body::User(user), Body::Context(context)) = (&events[0].body, &events[1].body) else {
            panic!();
        };
        assert_eq!(user.text.as_str(), "go");
        assert_eq!(
            (context.name.as_str(), &*context.text.as_str()),
            ("b", "ok")
        );
    }

    #[test]
    fn a_shell_command_is_a_command() {
        let call = |id: &str, command: &str| {
            line(
                "response_item",
                &format!(
                    r#"{{"type":"function_call","name":"shell_command","arguments":"{{\"command\":\"{command}\"}}","call_id":"{id}"}}"#
                ),
            )
        };
        let output = |id: &str, text: &str| {
            line(
                "response_item",
                &format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#),
            )
        };
        let events = events(
            &[
                call("a", "cargo test"),
                output("a", r"Exit code: 101\nWall time: 3.2 seconds\nOutput:\nno"),
                call(
                    "b",
                    r"apply_patch <<'E'\\n*** Begin Patch\\n*** Add File: n\\n+x\\n*** End Patch\\nE",
                ),
                output("b", r"Exit code: 0\nWall time: 1 seconds\nOutput:\nok"),
                call("c", "rm"),
                output("c", "failed to spawn"),
            ]
            .concat(),
        );
        let results: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.body {
                Body::ToolResult(result) => {
                    Some((result.status, result.exit_code, result.edits.len()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            results,
            [
                (ToolStatus::Error, Some(101), 0),
                (ToolStatus::Ok, Some(0), 1),
                (ToolStatus::Error, None, 0)
            ]
        );
    }

    /// Editors make Codex save more messages (`persistExtendedHistory`), most of which
    /// the conversation repeats.
    #[test]
    fn messages_of_an_extended_history() {
        let call = line(
            "response_item",
            r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}"#,
        );
        let end = |id: &str| {
            line(
                "event_msg",
                &format!(
                    r#"{{"type":"exec_command_end","call_id":"{id}","command":["bash","-lc","ls"],"aggregated_output":"f\n","exit_code":0,"status":"completed"}}"#
                ),
            )
        };
        let output = line(
            "response_item",
            r#"{"type":"function_call_output","call_id":"c","output":"Process exited with code 0\nOutput:\nf\n"}"#,
        );
        let image = r#"{"type":"view_image_tool_call","call_id":"v","path":"/p/i.png"}"#;
        let drawn = r#""id":"g","call_id":"g","status":"completed","revised_prompt":"cat""#;
        let events = events(
            &[
                call,
                end("c"),
                output,
                end("by the user"),
                line("event_msg", image),
                line("event_msg", image),
                line(
                    "event_msg",
                    &format!(r#"{{"type":"image_generation_end",{drawn}}}"#),
                ),
                line(
                    "response_item",
                    &format!(r#"{{"type":"image_generation_call",{drawn}}}"#),
                ),
                line(
                    "event_msg",
                    r#"{"type":"entered_review_mode","user_facing_hint":"x"}"#,
                ),
                line(
                    "event_msg",
                    r#"{"type":"exited_review_mode","review_output":null}"#,
                ),
                line(
                    "event_msg",
                    r#"{"type":"thread_rolled_back","num_turns":1}"#,
                ),
                line(
                    "event_msg",
                    r#"{"type":"item_completed","item":{"type":"HookPrompt","id":"h"}}"#,
                ),
            ]
            .concat(),
        );
        let call = ["tool_use", "tool_result"];
        let expected = [&call.repeat(4)[..], &["state"; 4], &["turn_end"]].concat();
        assert_eq!(kinds(&events), expected);
    }

    #[test]
    fn searches_emitted_together_are_not_repeated() {
        let told = |query: &str| {
            line(
                "event_msg",
                &format!(
                    r#"{{"type":"web_search_end","call_id":"{query}","query":"{query}","action":{{"type":"search","query":"{query}"}}}}"#
                ),
            )
        };
        let made = |query: &str| {
            line(
                "response_item",
                &format!(
                    r#"{{"type":"web_search_call","action":{{"type":"search","query":"{query}"}}}}"#
                ),
            )
        };
        let lines = [told("a"), told("b"), made("a"), made("b"), made("b")];
        let calls = kinds(&events(&lines.concat()));
        let calls = calls.iter().filter(|kind| **kind == "tool_use").count();
        assert_eq!(calls, 3);
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
