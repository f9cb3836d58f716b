//! The lines of `codex exec --json`, and of `--experimental-json` before 0.44.
//!
//! The first versions wrote `session.created` and no turns: there, input that ends
//! after an answer with no call open is a completed turn. Items are never streamed. A file change has only paths; a todo list is a plan;
//! usage is the total of the thread. Item ids restart with each process, so those
//! of a second process in the same stream are made unique.

use super::item::{Calls, Item};
use super::{Turn, usage};
use crate::event::{Level, Plan, Session, TurnEnd, TurnStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;
use crate::source::usage::Totals;
use crate::tool;

/// Returns true if only `codex exec --json` writes a line with these fields.
pub(super) fn is_frame(fields: &Object<'_>) -> bool {
    match fields.get("type").str().as_deref() {
        Some("thread.started") => fields.has("thread_id"),
        Some("session.created") => fields.get("session_id").is_string(),
        Some("turn.started" | "turn.completed" | "turn.failed") => true,
        Some("item.started" | "item.updated" | "item.completed") => fields.has("item"),
        _ => false,
    }
}

#[derive(Clone, Default)]
pub(super) struct Exec {
    turn: Turn,
    /// The spelling is that of versions before 0.44.
    is_early: bool,
    /// The stream has lines about turns.
    has_turns: bool,
    /// The last item was an answer.
    answered: bool,
    /// Processes seen so far.
    runs: u32,
    calls: Calls,
    plan: Plan,
    usage: Totals,
    /// The last error emitted; the end of the turn repeats it.
    error: String,
}

impl Exec {
    pub(super) fn frame(&mut self, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        match fields.get("type").str().as_deref().unwrap_or_default() {
            "thread.started" => self.thread(fields.get("thread_id"), out),
            "session.created" => {
                self.thread(fields.get("session_id"), out);
                self.is_early = true;
            }
            "turn.started" => {
                self.has_turns = true;
                self.turn = Turn::Open;
            }
            "turn.completed" => self.completed(fields, out),
            "turn.failed" => self.failed(fields, out),
            "error" => self.error(fields, out),
            "item.started" | "item.updated" => self.item(fields, false, frame, out),
            "item.completed" => self.item(fields, true, frame, out),
            _ => out.unknown(frame),
        }
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.calls.release(out);
        let has_no_end = self.is_early && !self.has_turns;
        let status = if has_no_end && self.answered && self.calls.is_empty() {
            TurnStatus::Completed
        } else {
            TurnStatus::Interrupted
        };
        self.turn.cut(status, out);
    }

    /// Starts a process, which interrupts an open turn.
    fn thread(&mut self, id: Json<'_>, out: &mut Emitter) {
        self.finish(out);
        self.turn = Turn::Open;
        self.answered = false;
        self.runs += 1;
        self.calls = Calls::default();
        self.usage = Totals::default();
        self.error.clear();
        out.session(Session {
            provider: super::PROVIDER.name.to_owned(),
            id: id.string(),
            ..Session::default()
        });
    }

    fn completed(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.calls.release(out);
        self.usage.emit(usage::totals(fields.get("usage")), out);
        self.turn.end(TurnEnd::default(), out);
    }

    fn failed(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.calls.release(out);
        let reason = super::item::message(fields.get("error"));
        if reason != self.error {
            out.notice(Level::Error, reason.as_str());
        }
        self.turn.fail(reason, out);
    }

    fn error(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.turn.touch();
        let message = super::item::message(fields.get("message"));
        if is_retry(&message) {
            out.notice(Level::Retry, message);
        } else {
            out.notice(Level::Error, message.as_str());
            self.error = message;
            self.answered = false;
        }
    }

    fn item(&mut self, fields: &Object<'_>, whole: bool, frame: &Frame<'_>, out: &mut Emitter) {
        self.turn.touch();
        let item = Item::new(fields.get("item"));
        let id = self.block_id(&item.id);
        self.is_early |= fields.get("item").get("item_type").is_string();
        // The last form of the plan follows the answer.
        self.answered = match item.kind.as_str() {
            "agent_message" => true,
            "todo_list" => self.answered,
            _ => false,
        };
        match item.kind.as_str() {
            "agent_message" if whole => out.text(id.as_deref(), item.text()),
            "reasoning" if whole => out.reasoning(id.as_deref(), item.text()),
            "error" if whole => out.notice(Level::Warning, item.get("message").payload()),
            "agent_message" | "reasoning" | "error" => {}
            "todo_list" => self.todo_list(&item, whole, out),
            _ if !item.is_call() => out.unknown(frame),
            _ if whole => self.calls.completed(&item, out),
            _ => self.calls.started(&item, out),
        }
    }

    /// Emits the plan, unless it repeats the last one.
    fn todo_list(&mut self, item: &Item<'_>, whole: bool, out: &mut Emitter) {
        let items = item.get("items").array();
        let plan = Plan {
            entries: items.into_iter().map(tool::plan_entry).collect(),
            explanation: String::new(),
        };
        if !whole || plan != self.plan {
            out.plan(plan.clone());
        }
        self.plan = plan;
    }

    fn block_id(&self, id: &str) -> Option<String> {
        match self.runs {
            _ if id.is_empty() => None,
            0 | 1 => Some(id.to_owned()),
            run => Some(format!("{id}#{run}")),
        }
    }
}

/// Returns true if an error announces a retry.
pub(super) fn is_retry(message: &str) -> bool {
    // Older versions: "stream error: …; retrying 1/5 in 189ms…".
    message.starts_with("Reconnecting...")
        || (message.starts_with("stream error: ") && message.contains("; retrying "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, events, kinds};
    use crate::event::{Body, Category, Level, ToolStatus, TurnStatus};

    #[test]
    fn a_declined_command_is_rejected() {
        let events = events(
            r#"{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"rm x","aggregated_output":"","exit_code":null,"status":"declined"}}"#,
        );
        assert_eq!(kinds(&events), ["tool_use", "tool_result", "turn_end"]);
        let Body::ToolResult(result) = &events[1].body else {
            panic!();
        };
        assert_eq!(result.status, ToolStatus::Rejected);
    }

    #[test]
    fn the_first_of_two_ids_counts_and_a_search_waits_for_its_query() {
        let events = events(concat!(
            r#"{"type":"item.started","item":{"id":"item_1","type":"web_search","id":"ws_1","query":"","action":{"type":"other"}}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_1","type":"web_search","id":"ws_1","query":"q","action":{"type":"search"}}}"#,
        ));
        assert_eq!(kinds(&events), ["tool_use", "tool_result", "turn_end"]);
        let Body::ToolUse(call) = &events[0].body else {
            panic!();
        };
        assert_eq!((call.id.as_str(), call.arg.as_str()), ("item_1", "q"));
    }

    #[test]
    fn a_search_that_was_cut_off_is_shown() {
        let events = events(
            r#"{"type":"item.started","item":{"id":"item_1","type":"web_search","query":"","action":{"type":"other"}}}"#,
        );
        assert_eq!(kinds(&events), ["tool_use", "turn_end"]);
        assert_eq!(ends(&events), [TurnStatus::Interrupted]);
    }

    #[test]
    fn a_failure_without_an_error_line_before_it_is_shown() {
        let events = events(r#"{"type":"turn.failed","error":{"message":"no"}}"#);
        assert_eq!(kinds(&events), ["notice", "turn_end"]);
    }

    #[test]
    fn a_second_process_in_the_stream_has_ids_of_its_own() {
        let run = concat!(
            r#"{"type":"thread.started","thread_id":"t"}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"a"}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}"#,
            "\n",
        );
        let events = events(&run.repeat(2));
        let once = ["session", "text", "turn_end"];
        assert_eq!(kinds(&events), once.repeat(2));
        let ids: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.body {
                Body::Text(message) => Some(message.id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["item_0", "item_0#2"]);
    }

    #[test]
    fn a_second_thread_repeats_usage_and_errors_of_the_first() {
        let run = |id: &str| {
            format!(
                r#"{{"type":"thread.started","thread_id":"{id}"}}
{{"type":"turn.completed","usage":{{"input_tokens":5,"output_tokens":1}}}}
{{"type":"error","message":"no"}}
{{"type":"turn.failed","error":{{"message":"no"}}}}
"#
            )
        };
        let events = events(&(run("a") + &run("b")));
        let once = ["session", "usage", "turn_end", "notice", "turn_end"];
        assert_eq!(kinds(&events), once.repeat(2));
    }

    #[test]
    fn a_second_process_after_one_that_was_killed_ends_its_turn() {
        let thread = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n";
        let events = events(&thread.repeat(2));
        let once = ["session", "turn_end"];
        assert_eq!(kinds(&events), once.repeat(2));
    }

    /// All types of items, in the spelling of 0.43.
    const EARLY: &str = r#"{"type":"session.created","session_id":"s"}
{"type":"item.completed","item":{"id":"item_0","item_type":"reasoning","text":"**Look**"}}
{"type":"item.started","item":{"id":"item_1","item_type":"command_execution","command":"bash -lc 'make test'","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","item_type":"command_execution","command":"bash -lc 'make test'","aggregated_output":"no\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"item_2","item_type":"file_change","changes":[{"path":"/a.rs","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"id":"item_3","item_type":"mcp_tool_call","server":"s","tool":"t","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_3","item_type":"mcp_tool_call","server":"s","tool":"t","status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","item_type":"web_search","query":"q"}}
{"type":"item.started","item":{"id":"item_5","item_type":"todo_list","items":[{"text":"a","completed":false}]}}
{"type":"item.updated","item":{"id":"item_5","item_type":"todo_list","items":[{"text":"a","completed":true}]}}
{"type":"item.completed","item":{"id":"item_6","item_type":"error","message":"w"}}
{"type":"item.completed","item":{"id":"item_7","item_type":"assistant_message","text":"Done."}}
{"type":"item.completed","item":{"id":"item_5","item_type":"todo_list","items":[{"text":"a","completed":true}]}}
"#;

    fn bodies(input: &str) -> Vec<Body> {
        events(input).into_iter().map(|event| event.body).collect()
    }

    #[test]
    fn items_before_0_44_are_read_like_those_after_it() {
        let later = EARLY
            .replace("session.created", "thread.started")
            .replace("session_id", "thread_id")
            .replace("item_type", "type")
            .replace("assistant_message", "agent_message");
        let early = events(EARLY);
        assert_eq!(
            kinds(&early),
            [
                "session",
                "reasoning",
                "tool_use",
                "tool_result",
                "tool_use",
                "tool_result",
                "tool_use",
                "tool_result",
                "tool_use",
                "tool_result",
                "plan",
                "plan",
                "notice",
                "text",
                "turn_end"
            ]
        );
        let (early, later) = (bodies(EARLY), bodies(&later));
        let last = early.len() - 1;
        assert_eq!(early[..last], later[..last]);
    }

    #[test]
    fn a_stream_without_turns_is_completed_by_an_answer() {
        assert_eq!(ends(&events(EARLY)), [TurnStatus::Completed]);
        let answer =
            r#"{"type":"item.completed","item":{"item_type":"assistant_message","text":"hello"}}"#;
        assert_eq!(kinds(&events(answer)), ["text", "turn_end"]);
        assert_eq!(ends(&events(answer)), [TurnStatus::Completed]);
        let failed = format!("{answer}\n{{\"type\":\"error\",\"message\":\"no\"}}");
        assert_eq!(ends(&events(&failed)), [TurnStatus::Interrupted]);
        let cut = EARLY.lines().take(3).collect::<Vec<_>>().join("\n");
        assert_eq!(ends(&events(&cut)), [TurnStatus::Interrupted]);
        let turns = format!("{{\"type\":\"turn.started\"}}\n{answer}");
        assert_eq!(ends(&events(&turns)), [TurnStatus::Interrupted]);
    }

    #[test]
    fn every_call_between_agents_is_shown() {
        for (tool, name) in [
            ("interrupt_agent", "interrupt_agent"),
            ("interruptAgent", "interrupt_agent"),
            ("juggle_agents", "juggle_agents"),
            ("", "collab_tool_call"),
        ] {
            let item = format!(
                r#"{{"type":"item.completed","item":{{"id":"i","type":"collab_tool_call","tool":"{tool}","receiver_thread_ids":["t"],"status":"completed"}}}}"#
            );
            let events = events(&item);
            assert_eq!(kinds(&events), ["tool_use", "tool_result", "turn_end"]);
            assert!(
                matches!(&events[0].body, Body::ToolUse(call) if call.name == name
                    && call.category == Category::Task)
            );
        }
    }

    /// The wording before "Reconnecting... 1/5".
    #[test]
    fn retries_of_older_versions() {
        let events = events(concat!(
            r#"{"type":"turn.started"}"#,
            "\n",
            r#"{"type":"error","message":"stream error: disconnected; retrying 1/5 in 189ms…"}"#,
        ));
        assert!(matches!(&events[0].body, Body::Notice(notice) if notice.level == Level::Retry));
    }

    #[test]
    fn a_picture_of_an_mcp_tool_has_no_text() {
        let output = |content: &str| {
            let events = events(&format!(
                r#"{{"type":"item.completed","item":{{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","result":{{"content":{content}}},"status":"completed"}}}}"#
            ));
            match &events[1].body {
                Body::ToolResult(result) => result.output.to_string(),
                _ => panic!(),
            }
        };
        assert_eq!(output(r#"[{"type":"image","data":"iVBORw0KGgo"}]"#), "");
        let other = r#"[{"type":"resource_link","uri":"file:///y"}]"#;
        assert_eq!(output(other), other);
    }

    #[test]
    fn unknown_items_and_lines_are_kept() {
        let events = events(concat!(
            r#"{"type":"item.completed","item":{"id":"item_0","type":"hologram"}}"#,
            "\n",
            r#"{"type":"turn.paused"}"#,
        ));
        assert_eq!(kinds(&events), ["unknown", "unknown", "turn_end"]);
    }
}
