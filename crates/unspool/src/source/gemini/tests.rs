//! Rules that no recording shows.

use super::*;
use crate::frame::Frame;
use crate::source::{Emitter, Source as _, testing};
use serde_json::Value;

/// Returns the events of some lines, without number and time.
fn events(lines: &[&str]) -> Vec<Value> {
    let mut values = testing::values(&testing::finish(testing::reader(&PROVIDER), lines));
    for fields in values.iter_mut().filter_map(Value::as_object_mut) {
        fields.remove("seq");
        fields.remove("time");
    }
    values
}

fn outline(events: &[Value]) -> Vec<String> {
    let keys = ["text", "status", "name", "title", "model", "id"];
    testing::outline(events, &keys)
}

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"x","kind":"main"}"#;
const PROMPT: &str =
    r#"{"id":"u","timestamp":"2026-01-01T00:00:01Z","type":"user","content":[{"text":"go"}]}"#;

#[test]
fn errors_of_a_live_run_are_emitted_once() {
    let events = events(&[
        r#"{"type":"init","timestamp":"t","session_id":"s","model":"auto"}"#,
        r#"{"type":"error","timestamp":"t","severity":"warning","message":"Loop detected"}"#,
        r#"{"type":"error","timestamp":"t","severity":"error","message":"gone"}"#,
        r#"{"type":"result","timestamp":"t","status":"error","error":{"type":"E","message":"gone"},"stats":{}}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "session auto",
            "notice Loop detected",
            "notice gone",
            "turn_end failed"
        ]
    );
    assert_eq!(events[3]["reason"], "E");
}

#[test]
fn calls_rejected_by_policy_and_failed_by_signal() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"tool_use","timestamp":"t","tool_name":"run_shell_command","tool_id":"{id}","parameters":{{}}}}"#
        )
    };
    let events = events(&[
        &call("a"),
        r#"{"type":"tool_result","timestamp":"t","tool_id":"a","status":"error","output":"no","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}"#,
        &call("b"),
        r#"{"type":"tool_result","timestamp":"t","tool_id":"b","status":"success","output":"Command terminated by signal: 9"}"#,
        &call("c"),
        r#"{"type":"tool_result","timestamp":"t","tool_id":"c","status":"success","output":"Command cancelled by user.\n\nOutput before cancellation:\nx"}"#,
        &call("d"),
        r#"{"type":"tool_result","timestamp":"t","tool_id":"d","status":"success","output":"log\nCommand exited with code: 3"}"#,
    ]);
    let statuses: Vec<&Value> = events
        .iter()
        .filter(|event| event["kind"] == "tool_result")
        .map(|event| &event["status"])
        .collect();
    assert_eq!(statuses, ["rejected", "error", "canceled", "ok"]);
    assert_eq!(events.last().unwrap()["status"], "interrupted");
}

#[test]
fn frames_with_wrong_types_are_kept() {
    let events = events(&[
        r#"{"type":"init","timestamp":7,"session_id":[],"model":{}}"#,
        r#"{"type":"message","role":"assistant","content":{"a":1},"delta":true}"#,
        r#"{"type":"message","role":"nobody"}"#,
        r#"{"type":"tool_use","tool_name":3,"tool_id":null,"parameters":"{\"command\":\"ls\"}"}"#,
        r#"{"type":"tool_result","tool_id":{},"status":1,"output":[1]}"#,
        r#"{"type":"news"}"#,
        r#"{"id":"m","type":"news"}"#,
        r#"{"$set":5}"#,
        "[STARTUP] noise",
        r#"{"type":"result","status":"success","stats":null}"#,
    ]);
    let unknown = events.iter().filter(|e| e["kind"] == "unknown").count();
    assert_eq!(unknown, 4);
    assert_eq!(events.last().unwrap()["status"], "completed");
}

#[test]
fn an_error_body_fails() {
    let events = events(&[
        r#"{"session_id":"s","error":{"type":"Error","message":"[API Error: x]","code":1}}"#,
    ]);
    assert_eq!(
        outline(&events),
        ["session s", "notice [API Error: x]", "turn_end failed"]
    );
}

#[test]
fn a_tracker_list_in_the_output_is_a_plan() {
    let events = events(&[
        r#"{"type":"tool_use","timestamp":"t","tool_name":"tracker_update_task","tool_id":"a","parameters":{"id":"1"}}"#,
        r#"{"type":"tool_result","timestamp":"t","tool_id":"a","status":"success","output":"{\"todos\":[{\"description\":\"x\",\"status\":\"completed\"}]}"}"#,
    ]);
    assert_eq!(events[2]["entries"][0]["status"], "completed");
}

#[test]
fn the_document_of_older_versions() {
    let events = events(&[
        r#"{"sessionId":"s","projectHash":"h","startTime":"a","lastUpdated":"b","summary":"Greeting","messages":[
        {"id":"1","timestamp":"c","type":"user","content":"hi"},
        {"id":"2","timestamp":"d","type":"gemini","content":"hello","tokens":null,"model":"m"}]}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "session Greeting",
            "user hi",
            "session Greeting",
            "text hello",
            "turn_end completed"
        ]
    );
    assert_eq!(events[2]["model"], "m");
}

#[test]
fn replaced_messages_are_not_repeated() {
    let call = r#"{"id":"c","name":"read_file","args":{"file_path":"a"},"status":"executing"}"#;
    let done = r#"{"id":"c","name":"read_file","args":{"file_path":"a"},"status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"A"}}}]}"#;
    let message = |text: &str, calls: &str| {
        format!(
            r#"{{"id":"g","timestamp":"t","type":"gemini","content":"{text}","tokens":{{"input":5,"output":2,"thoughts":1,"cached":3}},"toolCalls":[{calls}]}}"#
        )
    };
    let events = events(&[
        HEADER,
        PROMPT,
        &message("one", ""),
        &message("one", call),
        &message("one and two", done),
        &message("one and two", done),
        r#"{"$set":{"messages":[{"id":"u","type":"user","content":[{"text":"go"}]},{"id":"g","type":"gemini","content":[{"text":"one (masked)"}]},{"id":"n","type":"user","content":[{"text":"<state_snapshot>…"}]}]}}"#,
        r#"{"$rewindTo":"u"}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "session s",
            "user go",
            "text one",
            "usage ",
            "tool_use read_file",
            "text one and two",
            "tool_result ok",
            "context <state_snapshot>…",
            "state rewind",
            "turn_end interrupted",
        ]
    );
    assert_eq!(events[3]["output_tokens"], 3);
    assert_eq!(events[5]["id"], "g");
}

#[test]
fn notices_titles_and_failures() {
    let error = r#"{"id":"e","timestamp":"t","type":"error","content":"quota"}"#;
    let events = events(&[
        HEADER,
        PROMPT,
        error,
        error,
        r#"{"$set":{"summary":"A title","lastUpdated":"x","color":"red"}}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "session s",
            "user go",
            "notice quota",
            "session A title",
            "state color",
            "turn_end failed"
        ]
    );
}

#[test]
fn rejected_and_canceled_calls_of_saved_sessions_differ() {
    let call = |id: &str, status: &str, error: &str| {
        format!(
            r#"{{"id":"{id}","name":"run_shell_command","args":{{}},"status":"{status}","result":[{{"functionResponse":{{"response":{{"error":"{error}"}}}}}}]}}"#
        )
    };
    let calls = [
        call("a", "cancelled", "User denied execution."),
        call("b", "error", "Tool execution denied by policy."),
        call(
            "c",
            "cancelled",
            "[Operation Cancelled] Reason: User cancelled.",
        ),
    ];
    let message = format!(
        r#"{{"id":"g","timestamp":"t","type":"gemini","content":"","toolCalls":[{}]}}"#,
        calls.join(",")
    );
    let events = events(&[HEADER, PROMPT, &message]);
    assert_eq!(
        outline(&events)[5..],
        [
            "tool_result rejected",
            "tool_result rejected",
            "tool_result canceled",
            "turn_end canceled"
        ]
    );
}

#[test]
fn a_sub_agent_without_a_call_is_replayed_at_the_end() {
    let mut source = Gemini::default();
    source.attach(
        "x.jsonl",
        br#"{"sessionId":"x","projectHash":"h","kind":"subagent"}
{"id":"1","timestamp":"t","type":"gemini","content":"found"}
{"id":"2","type":"news"}
cut off"#,
    );
    let mut out = Emitter::new(false);
    for line in [HEADER, PROMPT] {
        let frame = Frame::new(line);
        out.begin(&frame);
        source.frame(&frame, &mut out);
    }
    source.finish(&mut out);
    let events: Vec<_> = std::iter::from_fn(|| out.pop()).collect();
    let kinds: Vec<_> = events.iter().map(|e| e.body.kind()).collect();
    assert_eq!(kinds, ["session", "user", "text", "unknown", "turn_end"]);
    assert_eq!(events[2].depth(), 1);
}

#[test]
fn a_call_without_an_agent_id_started_the_sub_agent_with_its_task() {
    let mut source = Gemini::default();
    for (id, task) in [("x", "Count tests"), ("y", "Find callers")] {
        let record = format!(
            r#"{{"sessionId":"{id}","projectHash":"h","kind":"subagent"}}
{{"id":"1","timestamp":"t","type":"user","content":[{{"text":"Do this: {task}"}}]}}
{{"id":"2","timestamp":"t","type":"gemini","content":"found by {id}"}}"#
        );
        source.attach(&format!("{id}.jsonl"), record.as_bytes());
    }
    let mut out = Emitter::new(false);
    let call = r#"{"id":"m","timestamp":"2026-01-01T00:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"c","name":"invoke_agent","args":{"agent_name":"a","prompt":"Find callers"},"status":"success"}]}"#;
    for line in [HEADER, PROMPT, call] {
        let frame = Frame::new(line);
        out.begin(&frame);
        source.frame(&frame, &mut out);
    }
    let mut agents = std::iter::from_fn(|| out.pop()).filter_map(|event| event.agent);
    let first = agents.next().unwrap();
    assert_eq!((first.id.as_str(), first.parent.as_str()), ("y", "c"));
    assert!(agents.all(|agent| agent.id == "y"));
}

#[test]
fn sub_agents_are_looked_for_beside_the_session() {
    let path = "/x/chats/session-2026-11-15T18-16-33fb7648.jsonl";
    let file = |path: &str, head: &str| crate::source::SavedFile {
        path: path.to_owned(),
        head: head.to_owned(),
    };
    assert_eq!(
        super::sessions::patterns(&file(path, ""), &[]),
        ["33fb7648*/*.jsonl"]
    );
    assert!(super::sessions::patterns(&file("/x/run.live.jsonl", ""), &[]).is_empty());
    let session = file(
        path,
        "{\"sessionId\":\"33fb7648-1\",\"projectHash\":\"h\"}\n{",
    );
    let found = [
        file("/x/chats/33fb7648-2/a.jsonl", ""),
        file("/x/chats/33fb7648-1/b.jsonl", ""),
    ];
    assert_eq!(super::sessions::select(&session, &found), [1]);
}

#[test]
fn a_run_that_the_user_canceled() {
    let events = events(&[
        r#"{"type":"init","timestamp":"t","session_id":"s","model":"auto"}"#,
        r#"{"type":"result","timestamp":"t","status":"error","error":{"type":"FatalCancellationError","message":"Operation cancelled."},"stats":{}}"#,
    ]);
    assert_eq!(
        outline(&events)[1..],
        ["notice Operation cancelled.", "turn_end canceled"]
    );
    assert_eq!(events[1]["level"], "canceled");
}

#[test]
fn a_failure_without_an_error_takes_the_last_one_as_reason() {
    let events = events(&[
        r#"{"type":"init","timestamp":"t","session_id":"s","model":"auto"}"#,
        r#"{"type":"error","timestamp":"t","severity":"error","message":"Empty response"}"#,
        r#"{"type":"result","timestamp":"t","status":"error","stats":{}}"#,
    ]);
    assert_eq!(
        outline(&events)[1..],
        ["notice Empty response", "turn_end failed"]
    );
    assert_eq!(events[2]["reason"], "Empty response");
}

/// When Gemini CLI compresses a conversation, it writes the summary, an answer
/// to it and the last messages again, all with new ids.
#[test]
fn a_compacted_conversation_is_not_repeated() {
    let list = r#"[{"id":"n1","type":"user","content":[{"text":"<state_snapshot>x</state_snapshot>"}]},{"id":"n2","type":"gemini","content":[{"text":"Got it. Thanks for the additional context!"}]},{"id":"n3","type":"user","content":[{"text":"go"}]}]"#;
    let set = format!(r#"{{"$set":{{"messages":{list}}}}}"#);
    let found = events(&[HEADER, PROMPT, &set]);
    assert_eq!(
        outline(&found),
        [
            "session s",
            "user go",
            "context <state_snapshot>x</state_snapshot>",
            "turn_end interrupted"
        ]
    );
    assert_eq!(found[2]["name"], "compacted");
    // A file that starts with it contains nothing else.
    let begun = events(&[HEADER, &set]);
    assert!(outline(&begun).contains(&"user go".to_owned()));
}

/// Gemini CLI accepts one task in progress only.
#[test]
fn a_refused_plan_is_a_warning_in_streams_and_saved_sessions() {
    let todos = r#"{"todos":[{"description":"a","status":"in_progress"},{"description":"b","status":"in_progress"}]}"#;
    let error = "Invalid parameters: Only one task can be in progress at a time.";
    let call = format!(
        r#"{{"type":"tool_use","timestamp":"t","tool_name":"write_todos","tool_id":"w","parameters":{todos}}}"#
    );
    let result = format!(
        r#"{{"type":"tool_result","timestamp":"t","tool_id":"w","status":"error","output":"x","error":{{"type":"invalid_tool_params","message":"{error}"}}}}"#
    );
    let refused = |events: &[Value]| -> Vec<String> {
        let lines = outline(events).into_iter();
        lines
            .filter(|line| line.starts_with("plan") || line.starts_with("notice"))
            .collect()
    };
    let warning = ["notice Invalid parameters: Only one task can be in progress at a time."];
    assert_eq!(refused(&events(&[&call, &result])), warning);
    let saved = format!(
        r#"{{"id":"g","timestamp":"t","type":"gemini","content":"","toolCalls":[{{"id":"w","name":"write_todos","args":{todos},"status":"error","result":[{{"functionResponse":{{"response":{{"error":"{error}"}}}}}}]}}]}}"#
    );
    assert_eq!(refused(&events(&[HEADER, PROMPT, &saved])), warning);
}

#[test]
fn a_known_envelope_with_unknown_content_is_unknown() {
    let call = r#"[{"name":"ls"}]"#;
    let events = events(&[
        &format!(r#"{{"type":"message","timestamp":"t","role":"assistant","toolCalls":{call}}}"#),
        HEADER,
        &format!(
            r#"{{"id":"g","timestamp":"t","type":"gemini","content":[{{"hologram":{call}}},{{"text":"seen"}}]}}"#
        ),
    ]);
    let kinds: Vec<&Value> = events.iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["unknown", "session", "text", "unknown", "turn_end"]);
}
