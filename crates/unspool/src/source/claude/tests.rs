//! Rules that no recorded run shows.

use super::PROVIDER;
use crate::event::{Body, EditOp, Level, PlanStatus, ToolStatus, TurnStatus};
use crate::source::SavedFile;
use crate::source::testing::{self, finish, kinds};
use crate::{Event, Reader};

fn reader() -> Reader {
    testing::reader(&PROVIDER)
}

fn events(lines: &[&str]) -> Vec<Event> {
    finish(reader(), lines)
}

fn results(events: &[Event]) -> Vec<&crate::event::ToolResult> {
    let results = events.iter().filter_map(|event| match &event.body {
        Body::ToolResult(result) => Some(result),
        _ => None,
    });
    results.collect()
}

fn ends(events: &[Event]) -> Vec<(TurnStatus, &str)> {
    let ends = events.iter().filter_map(|event| match &event.body {
        Body::TurnEnd(end) => Some((end.status, end.reason.as_str())),
        _ => None,
    });
    ends.collect()
}

/// A live line with one block of the root agent.
fn block(message: &str, block: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{message}","content":[{block}]}},"parent_tool_use_id":null,"session_id":"s"}}"#
    )
}

fn call(id: &str, name: &str, input: &str) -> String {
    block(
        "m",
        &format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#),
    )
}

/// A live line with the result of a call, and more fields of the line.
fn result(id: &str, content: &str, is_error: bool, more: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content},"is_error":{is_error}}}]}},"session_id":"s"{more}}}"#
    )
}

#[test]
fn lines_with_wrong_types_are_kept() {
    let events = events(&[
        r#"{"type":7}"#,
        r#"{"type":"assistant","message":"words"}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":5},{"type":"tool_use","id":1,"name":2,"input":3}]}}"#,
        r#"{"type":"user","message":{"content":null}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":[],"content":{"a":1},"is_error":"x"}]},"tool_use_result":[1]}"#,
        r#"{"type":"system","subtype":9}"#,
        r#"{"type":"stream_event","event":[]}"#,
        r#"{"type":"result","usage":"x","modelUsage":[],"duration_ms":"y","is_error":1}"#,
        "[1,2]",
        "not JSON at all",
    ]);
    assert_eq!(
        kinds(&events),
        [
            "session",
            "unknown",
            "unknown",
            "text",
            "tool_use",
            "unknown",
            "tool_result",
            "unknown",
            "unknown",
            "turn_end",
            "unknown",
            "unknown"
        ]
    );
}

#[test]
fn unknown_lines_are_kept() {
    let events = events(&[
        r#"{"type":"brand_new","session_id":"s"}"#,
        r#"{"type":"system","subtype":"brand_new","session_id":"s"}"#,
        &block("m", r#"{"type":"hologram"}"#),
        r#"{"type":"stream_event","event":{"type":"brand_new"}}"#,
        r#"{"type":"keep_alive"}"#,
    ]);
    let unknown = kinds(&events)
        .iter()
        .filter(|kind| **kind == "unknown")
        .count();
    assert_eq!(unknown, 4);
    assert!(
        events
            .iter()
            .all(|e| e.raw.is_some() == (e.body.kind() == "unknown"))
    );
}

#[test]
fn blocks_of_one_line_keep_their_order_and_have_their_own_ids() {
    let blocks = r#"{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"Read","input":{}},{"type":"text","text":"b"}"#;
    let events = events(&[&block("m", blocks)]);
    assert_eq!(
        kinds(&events),
        ["session", "text", "tool_use", "text", "turn_end"]
    );
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Text(message) => Some(message.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["m:0", "m:2"]);
}

#[test]
fn a_streamed_message_that_comes_whole_in_one_line_is_not_repeated() {
    let streamed = |event: &str| {
        format!(
            r#"{{"type":"stream_event","event":{event},"parent_tool_use_id":null,"session_id":"s"}}"#
        )
    };
    let lines = [
        streamed(r#"{"type":"message_start","message":{"id":"m","content":[]}}"#),
        streamed(
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
        ),
        streamed(
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}"#,
        ),
        block(
            "m",
            r#"{"type":"text","text":"Hello"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"id"}}"#,
        ),
    ];
    let events = events(&lines.each_ref().map(String::as_str));
    assert_eq!(kinds(&events), ["session", "text", "tool_use", "turn_end"]);
}

#[test]
fn of_two_equal_keys_the_first_counts() {
    let line = r#"{"type":"assistant","type":"user","message":{"id":"m","content":[{"type":"text","text":"a","text":"b"}]},"message":{}}"#;
    let events = events(&[line]);
    assert!(matches!(&events[1].body, Body::Text(message) if message.text == "a"));
}

#[test]
fn deltas_without_a_message_id_are_not_repeated() {
    let delta = |text: &str| {
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":1,"delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let stop = r#"{"type":"stream_event","event":{"type":"content_block_stop","index":1}}"#;
    let lines = [
        delta("Hel"),
        delta("lo"),
        stop.to_owned(),
        block("m", r#"{"type":"text","text":"Hello"}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(
        kinds(&events(&lines)),
        ["session", "text", "text", "turn_end"]
    );
}

#[test]
fn a_final_form_that_differs_replaces_what_was_streamed() {
    let events = events(&[
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"draft"}}}"#,
        &block("m", r#"{"type":"text","text":"final"}"#),
    ]);
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Text(message) => Some((message.id.as_str(), message.delta)),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [("m:0", true), ("m:0", false)]);
}

#[test]
fn a_result_is_not_repeated_and_has_a_reason() {
    let text = block("m", r#"{"type":"text","text":"Done."}"#);
    let of = |result: &str| {
        let events = events(&[&text, result]);
        let texts = kinds(&events)
            .iter()
            .filter(|kind| **kind == "text")
            .count();
        let (status, reason) = ends(&events)[0];
        (texts, status, reason.to_owned())
    };
    assert_eq!(
        of(r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.\n\n"}"#),
        (1, TurnStatus::Completed, String::new())
    );
    assert_eq!(
        of(
            r#"{"type":"result","subtype":"success","is_error":false,"result":"More.","stop_reason":"max_tokens"}"#
        ),
        (2, TurnStatus::Completed, "length".to_owned())
    );
    assert_eq!(
        of(
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","stop_reason":"refusal"}"#
        ),
        (1, TurnStatus::Failed, "refusal".to_owned())
    );
    assert_eq!(
        of(
            r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted","errors":["Too expensive"]}"#
        ),
        (1, TurnStatus::Failed, "budget_exhausted".to_owned())
    );
    assert_eq!(
        of(r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#),
        (1, TurnStatus::Failed, "error_during_execution".to_owned())
    );
}

#[test]
fn a_stream_that_is_cut_is_interrupted() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"x"}"#;
    assert_eq!(ends(&events(&[init])), [(TurnStatus::Interrupted, "")]);
    let cut = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"te"#;
    assert_eq!(
        kinds(&events(&[init, cut])),
        ["session", "unknown", "turn_end"]
    );
}

#[test]
fn rejected_and_canceled_calls_differ() {
    let reject =
        r#""The user doesn't want to proceed with this tool use. The tool use was rejected""#;
    let decision = r#","tool_result_meta":[{"id":"b","non_execution_kind":"user-rejected","permission_decision":{"decision":"reject"}}]"#;
    let kind = r#","tool_result_meta":[{"id":"c","non_execution_kind":"user-rejected"}]"#;
    let lines = [
        call("a", "Bash", "{}"),
        result("a", reject, true, ""),
        call("b", "Bash", "{}"),
        result("b", r#""no""#, true, decision),
        call("c", "Bash", "{}"),
        result("c", reject, true, kind),
        call("d", "Bash", "{}"),
        result(
            "d",
            r#""half""#,
            false,
            r#","tool_use_result":{"stdout":"half", "interrupted" : true}"#,
        ),
        call("e", "Bash", "{}"),
        result("e", r#""Exit code 2\nboom""#, true, ""),
        call("f", "Read", "{}"),
        result("f", r#""Exit code 2\nis what the file says""#, true, ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    let outcomes: Vec<_> = results(&events)
        .iter()
        .map(|r| (r.status, r.exit_code))
        .collect();
    assert_eq!(
        outcomes,
        [
            (ToolStatus::Rejected, None),
            (ToolStatus::Rejected, None),
            (ToolStatus::Canceled, None),
            (ToolStatus::Canceled, None),
            (ToolStatus::Error, Some(2)),
            (ToolStatus::Error, None),
        ]
    );
}

#[test]
fn edits_from_the_result_else_from_the_input() {
    let patch = r#","tool_use_result":{"filePath":"f","oldString":"a","structuredPatch":[{"oldStart":3,"newStart":4,"lines":["-a","+b","\\ No newline at end of file"]}]}"#;
    let lines = [
        call("a", "Edit", r#"{"file_path":"f"}"#),
        result("a", r#""ok""#, false, patch),
        call(
            "b",
            "Edit",
            r#"{"file_path":"g","old_string":"x","new_string":"y"}"#,
        ),
        result("b", r#""ok""#, false, ""),
        call("c", "Write", r#"{"file_path":"h","content":"new\n"}"#),
        result("c", r#""File created successfully at: h""#, false, ""),
        call("d", "Write", r#"{"file_path":"i","content":"new\n"}"#),
        result("d", r#""The file i has been updated""#, false, ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    let edits: Vec<_> = results(&events).iter().map(|r| &r.edits[0]).collect();
    assert_eq!(
        (edits[0].hunks[0].old_start, edits[0].hunks[0].new_start),
        (Some(3), Some(4))
    );
    assert_eq!(edits[0].hunks[0].lines, ["-a", "+b"]);
    assert_eq!(
        (edits[1].hunks[0].old_start, edits[1].hunks[0].lines.len()),
        (None, 2)
    );
    assert_eq!(
        (edits[2].op, edits[2].hunks[0].new_start),
        (EditOp::Add, Some(1))
    );
    assert_eq!((edits[3].op, edits[3].hunks.len()), (EditOp::Update, 0));
}

#[test]
fn a_sub_agents_tasks_are_read_from_their_texts() {
    let lines = [
        call("a", "TaskCreate", r#"{"subject":"one"}"#),
        result("a", r#""Task #7 created successfully: one""#, false, ""),
        call("b", "TaskUpdate", r#"{"taskId":"7","status":"deleted"}"#),
        result("b", r#""Updated task #7 status""#, false, ""),
        call("c", "TaskUpdate", r#"{"taskId":"8","status":"completed"}"#),
        result("c", r#""Task not found""#, false, ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    assert_eq!(
        kinds(&events),
        ["session", "plan", "plan", "notice", "turn_end"]
    );
    assert!(
        matches!(&events[2].body, Body::Plan(plan) if plan.entries[0].status == PlanStatus::Canceled)
    );
    assert!(matches!(&events[3].body, Body::Notice(notice) if notice.level == Level::Warning));
}

/// A record of a saved session.
fn saved(kind: &str, message: &str, more: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"sessionId":"s","version":"2","cwd":"/p","type":"{kind}","message":{message}{more}}}"#
    )
}

#[test]
fn a_saved_turn_ends_where_the_next_starts() {
    let lines = [
        saved("user", r#"{"content":"one"}"#, ""),
        saved(
            "assistant",
            r#"{"id":"a","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}],"stop_reason":"tool_use"}"#,
            "",
        ),
        saved("user", r#"{"content":"two"}"#, ""),
        saved(
            "assistant",
            r#"{"id":"b","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#,
            "",
        ),
        saved(
            "assistant",
            r#"{"id":"b","content":[{"type":"text","text":"y"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#,
            "",
        ),
        saved("user", r#"{"content":"three"}"#, ""),
        saved(
            "assistant",
            r#"{"id":"c","content":[{"type":"text","text":"z"}],"stop_reason":"max_tokens"}"#,
            "",
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    assert_eq!(
        ends(&events),
        [
            (TurnStatus::Interrupted, ""),
            (TurnStatus::Completed, ""),
            (TurnStatus::Completed, "length")
        ]
    );
    let usages = kinds(&events)
        .iter()
        .filter(|kind| **kind == "usage")
        .count();
    assert_eq!(usages, 1);
}

#[test]
fn side_chains_in_the_session_itself_find_their_call() {
    let task = |id: &str, prompt: &str| {
        format!(
            r#"{{"id":"{id}","content":[{{"type":"tool_use","id":"{id}","name":"Task","input":{{"prompt":"{prompt}","subagent_type":"helper"}}}}]}}"#
        )
    };
    let chain = |kind: &str, message: &str, uuid: &str, parent: &str| {
        format!(
            r#"{{"parentUuid":{parent},"uuid":"{uuid}","isSidechain":true,"sessionId":"s","type":"{kind}","message":{message}}}"#
        )
    };
    let lines = [
        saved("user", r#"{"content":"go"}"#, ""),
        saved("assistant", &task("t1", "first"), ""),
        saved("assistant", &task("t2", "second"), ""),
        chain("user", r#"{"content":"first"}"#, "u1", "null"),
        chain("user", r#"{"content":"second"}"#, "u2", "null"),
        chain(
            "assistant",
            r#"{"id":"x","content":[{"type":"text","text":"1"}]}"#,
            "u3",
            r#""u1""#,
        ),
        chain(
            "assistant",
            r#"{"id":"y","content":[{"type":"text","text":"2"}]}"#,
            "u4",
            r#""u2""#,
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    let parents: Vec<_> = events
        .iter()
        .filter_map(|event| event.agent.as_ref())
        .map(|agent| (agent.parent.as_str(), agent.depth, agent.name.as_str()))
        .collect();
    let (first, second) = (("t1", 1, "helper"), ("t2", 1, "helper"));
    assert_eq!(parents, [first, second, first, second]);
}

#[test]
fn a_record_is_replayed_after_its_call_or_at_the_end() {
    let record = |text: &str| {
        saved(
            "assistant",
            &format!(r#"{{"id":"{text}","content":[{{"type":"text","text":"{text}"}}]}}"#),
            r#","isSidechain":true"#,
        )
    };
    let mut reader = reader();
    reader.attach("agent-1.jsonl", record("asked").as_bytes());
    reader.attach(
        "agent-1.meta.json",
        br#"{"toolUseId":"t","agentType":"helper","spawnDepth":1}"#,
    );
    reader.attach("agent-2.jsonl", record("orphan").as_bytes());
    let task = r#"{"id":"a","content":[{"type":"tool_use","id":"t","name":"Agent","input":{"prompt":"p"}}]}"#;
    let answer = r#"{"id":"b","content":[{"type":"text","text":"root"}],"stop_reason":"end_turn"}"#;
    let lines = [
        saved("user", r#"{"content":"go"}"#, ""),
        saved("assistant", task, ""),
        saved("assistant", answer, ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = finish(reader, &lines);
    assert_eq!(
        kinds(&events),
        [
            "session", "user", "tool_use", "text", "text", "text", "turn_end"
        ]
    );
    let agents: Vec<_> = events
        .iter()
        .map(|e| e.agent.as_ref().map(|a| a.id.as_str()))
        .collect();
    assert_eq!(agents[2..], [None, Some("1"), None, Some("2"), None]);
}

#[test]
fn a_record_of_a_sub_agent_can_be_read_on_its_own() {
    let lines = [
        saved(
            "user",
            r#"{"content":"go"}"#,
            r#","isSidechain":true,"agentId":"a1""#,
        ),
        saved(
            "assistant",
            r#"{"id":"b","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#,
            r#","isSidechain":true,"agentId":"a1""#,
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(ends(&events(&lines)), [(TurnStatus::Completed, "")]);
}

#[test]
fn files_beside_a_session_belong_to_it_if_they_name_it() {
    let file = |path: &str, session: &str| SavedFile {
        path: path.to_owned(),
        head: format!(r#"{{"type":"user","sessionId":"{session}","message":{{}}}}"#),
    };
    let session = file("/p/one.jsonl", "one");
    assert_eq!(
        super::sessions::patterns(&session, &[]),
        ["one/subagents/*", "agent-*.jsonl"]
    );
    let fork = |origin: &str| SavedFile {
        path: "/p/two.jsonl".to_owned(),
        head: format!(r#"{{"sessionId":"two","forkedFrom":{{"sessionId":"{origin}"}}}}"#),
    };
    let patterns = super::sessions::patterns(&fork("one"), &[]);
    assert_eq!(patterns[2..], ["one/subagents/*", "../*/one/subagents/*"]);
    assert_eq!(super::sessions::patterns(&fork("../../*"), &[]).len(), 2);
    let found = [
        file("/p/agent-a.jsonl", "one"),
        file("/p/agent-b.jsonl", "two"),
        file("/p/one/subagents/agent-c.meta.json", ""),
    ];
    assert_eq!(super::sessions::select(&session, &found), [0, 2]);
}

#[test]
fn a_message_queued_during_a_turn_is_a_user_message() {
    let line = r#"{"type":"attachment","isSidechain":false,"sessionId":"s","version":"2","attachment":{"type":"queued_command","prompt":"wait"}}"#;
    let events = events(&[line]);
    assert!(matches!(&events[1].body, Body::User(user) if user.queued && user.text == "wait"));
}

#[test]
fn the_cost_is_emitted_without_models_too() {
    let events = events(&[
        r#"{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":1}}"#,
    ]);
    let mut stats = crate::stats::Stats::default();
    for event in &events {
        stats.event(event);
    }
    let usage = stats.usage();
    assert_eq!((usage.input_tokens, usage.cost_usd), (Some(7), Some(0.5)));
}

#[test]
fn the_end_of_a_background_agent_is_reported() {
    let started = r#"{"type":"system","subtype":"task_started","task_id":"a","tool_use_id":"t","description":"Scan","is_backgrounded":true,"task_type":"local_agent"}"#;
    let said = block("m", r#"{"type":"text","text":"Found."}"#);
    let ended = r#"{"type":"system","subtype":"task_notification","task_id":"a","tool_use_id":"t","status":"completed","summary":"Found."}"#;
    let events = events(&[started, &said, ended]);
    let notices = events.iter().filter_map(|event| match &event.body {
        Body::Notice(notice) => Some(notice.text.to_string()),
        _ => None,
    });
    assert_eq!(notices.collect::<Vec<_>>(), ["Agent \"Scan\" finished"]);
}

#[test]
fn a_call_denied_by_a_rule_is_rejected() {
    let asked =
        r#""Claude requested permissions to write to /p/x, but you haven't granted it yet.""#;
    let kind = |id: &str| {
        format!(r#","tool_result_meta":[{{"id":"{id}","non_execution_kind":"user-rejected"}}]"#)
    };
    let lines = [
        call("a", "Write", "{}"),
        result("a", asked, true, &kind("a")),
        call("b", "Bash", "{}"),
        r#"{"type":"system","subtype":"permission_denied","tool_use_id":"b"}"#.to_owned(),
        result("b", r#""not here""#, true, &kind("b")),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    let statuses: Vec<_> = results(&events).iter().map(|r| r.status).collect();
    assert_eq!(statuses, [ToolStatus::Rejected, ToolStatus::Rejected]);
}

#[test]
fn an_api_error_is_recognised_without_its_flag() {
    let words = [
        "It may not exist",
        "Claude AI usage limit reached|1764000000",
    ];
    for (text, error) in [(words[0], r#","error":"invalid_request""#), (words[1], "")] {
        let message = format!(
            r#"{{"id":"m","model":"<synthetic>","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"stop_sequence"}}"#
        );
        let live = format!(r#"{{"type":"assistant","message":{message},"session_id":"s"{error}}}"#);
        let end = format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"result":"{text}","session_id":"s"}}"#
        );
        for lines in [vec![live, end], vec![saved("assistant", &message, error)]] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let events = events(&lines);
            assert_eq!(kinds(&events), ["session", "notice", "turn_end"], "{text}");
            assert_eq!(ends(&events), [(TurnStatus::Failed, "api_error")]);
        }
    }
}

#[test]
fn output_of_a_slash_command_is_not_an_error() {
    let line = r#"{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"Total cost: $1"}]},"session_id":"s"}"#;
    assert_eq!(kinds(&events(&[line])), ["session", "text", "turn_end"]);
}

#[test]
fn tasks_are_ordered_by_number() {
    let lines = [
        call("a", "TaskCreate", r#"{"subject":"one"}"#),
        call("b", "TaskCreate", r#"{"subject":"two"}"#),
        result("b", r#""Task #2 created successfully: two""#, false, ""),
        result("a", r#""Task #1 created successfully: one""#, false, ""),
        call("c", "TaskCreate", r#"{"subject":"three"}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    assert_eq!(
        kinds(&events),
        ["session", "plan", "plan", "tool_use", "turn_end"]
    );
    let Body::Plan(plan) = &events[2].body else {
        panic!();
    };
    let texts: Vec<&str> = plan.entries.iter().map(|e| e.text.as_str()).collect();
    assert_eq!(texts, ["one", "two"]);
    assert!(matches!(&events[3].body, Body::ToolUse(call) if call.arg == "three"));
}

#[test]
fn a_prompt_of_one_picture_starts_a_turn() {
    let lines = [
        saved("user", r#"{"content":"one"}"#, ""),
        saved(
            "assistant",
            r#"{"id":"a","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#,
            "",
        ),
        saved("user", r#"{"content":[{"type":"image","source":{}}]}"#, ""),
        saved(
            "assistant",
            r#"{"id":"b","content":[{"type":"text","text":"y"}],"stop_reason":"end_turn"}"#,
            "",
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(ends(&events(&lines)), [(TurnStatus::Completed, ""); 2]);
}

#[test]
fn a_call_with_a_withdrawn_request_is_canceled_unless_it_has_a_result() {
    let ask = |id: &str| {
        format!(
            r#"{{"type":"control_request","request_id":"r{id}","request":{{"subtype":"can_use_tool","tool_use_id":"{id}"}}}}"#
        )
    };
    let withdraw =
        |id: &str| format!(r#"{{"type":"control_cancel_request","request_id":"r{id}"}}"#);
    let lines = [
        call("a", "Bash", "{}"),
        ask("a"),
        withdraw("a"),
        result("a", r#""done""#, false, ""),
        call("b", "Bash", "{}"),
        ask("b"),
        withdraw("b"),
        r#"{"type":"result","subtype":"success","terminal_reason":"aborted_tools"}"#.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let events = events(&lines);
    let statuses: Vec<_> = results(&events).iter().map(|r| r.status).collect();
    assert_eq!(statuses, [ToolStatus::Ok, ToolStatus::Canceled]);
}
