//! Rules that no recording shows.

use super::*;
use crate::frame::Frame;
use crate::source::{Emitter, Source as _, testing};
use serde_json::Value;

fn events(lines: &[&str]) -> Vec<Value> {
    testing::values(&testing::finish(testing::reader(&PROVIDER), lines))
}

fn outline(events: &[Value]) -> Vec<String> {
    testing::outline(events, &["text", "status", "name", "title", "id"])
}

const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","usage":{},"permission_denials":[]}"#;

fn call(id: &str, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m-{id}","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
    )
}

#[test]
fn an_api_error_in_deltas_is_emitted_once() {
    let stream = |event: &str| format!(r#"{{"type":"stream_event","uuid":"b","event":{event}}}"#);
    let events = events(&[
        &stream(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#),
        &stream(r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Once "}}"#),
        &stream(
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"[API Error: 500]"}}"#,
        ),
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Once [API Error: 500]"}]}}"#,
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 500]"}}"#,
    ]);
    assert_eq!(
        outline(&events),
        ["text Once ", "notice [API Error: 500]", "turn_end failed"]
    );
}

#[test]
fn reports_of_background_agents_are_notices() {
    let events = events(&[
        &call(
            "a",
            "agent",
            r#"{"description":"d","subagent_type":"general-purpose"}"#,
        ),
        r#"{"type":"user","parent_tool_use_id":"a","message":{"content":[{"type":"text","text":"look"}]}}"#,
        r#"{"type":"system","subtype":"task_started","data":{"task_id":"t","tool_use_id":"a"}}"#,
        r#"{"type":"user","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":false,"content":"Background agent launched successfully."}]}}"#,
        r#"{"type":"user","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"Background agent \"general-purpose: d\" completed."}]}}"#,
        r#"{"type":"system","subtype":"task_notification","data":{"status":"completed"}}"#,
        RESULT,
    ]);
    assert_eq!(
        outline(&events),
        [
            "tool_use agent",
            "user look",
            "tool_result ok",
            "notice Background agent \"general-purpose: d\" completed.",
            "text done",
            "turn_end completed"
        ]
    );
    assert_eq!(events[1]["agent"]["name"], "general-purpose");
}

#[test]
fn nested_agents_are_deeper() {
    let inner = call("b", "agent", "{}").replacen('{', r#"{"parent_tool_use_id":"a","#, 1);
    let events = events(&[
        &call("a", "agent", "{}"),
        &inner,
        r#"{"type":"user","parent_tool_use_id":"b","message":{"content":"deep"}}"#,
    ]);
    assert_eq!(events[1]["agent"]["depth"], 1);
    assert_eq!(events[2]["agent"]["depth"], 2);
    assert_eq!(events[2]["agent"]["parent"], "b");
}

#[test]
fn wrapped_calls_and_late_denials_are_shown() {
    let events = events(&[
        &call(
            "a",
            "tool_call",
            r#"{"name":"web_fetch","arguments":{"url":"http://x"}}"#,
        ),
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"web_fetch","tool_use_id":"a"}}"#,
        r#"{"type":"stream_event","event":{"type":"tool_progress","tool_use_id":"a","content":"50 %"}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[{"tool_use_id":"a"},{"tool_use_id":"z"}]}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "tool_use web_fetch",
            "permission web_fetch",
            "tool_output 50 %",
            "tool_result rejected",
            "turn_end completed"
        ]
    );
    assert_eq!(events[0]["arg"], "http://x");
    assert_eq!(events[0]["category"], "fetch");
}

#[test]
fn retries_and_discarded_calls() {
    let events = events(&[
        &call("a", "read_file", "{}"),
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"Skipped because the provider attempt was retried before execution."}]}}"#,
        r#"{"type":"system","subtype":"retry","data":{"reason":"retry","attempt":1}}"#,
    ]);
    assert_eq!(
        outline(&events),
        [
            "tool_use read_file",
            "tool_result canceled",
            "notice retry",
            "turn_end interrupted"
        ]
    );
    assert_eq!(events[2]["level"], "retry");
}

#[test]
fn frames_with_wrong_types_are_kept() {
    let events = events(&[
        r#"{"type":"system","subtype":"news"}"#,
        r#"{"type":"system","subtype":"init","cwd":1,"model":null}"#,
        r#"{"type":"assistant","message":{"id":7,"content":[{"type":"picture"}],"usage":[]}}"#,
        r#"{"type":"assistant","message":5}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":1,"content":[{"type":"text","text":"x"}]}]}}"#,
        r#"{"type":"stream_event","event":{"type":"news"}}"#,
        r#"{"sessionId":"s","type":"news"}"#,
        r#"{"sessionId":"s","type":"system","subtype":"news"}"#,
        "noise",
    ]);
    let unknown = events.iter().filter(|e| e["kind"] == "unknown").count();
    assert_eq!(unknown, 7);
}

fn record(kind: &str, rest: &str) -> String {
    format!(r#"{{"uuid":"x-{kind}","sessionId":"s","timestamp":"t","type":"{kind}",{rest}}}"#)
}

#[test]
fn reports_titles_and_queued_prompts_of_saved_sessions() {
    let prompt = record("user", r#""message":{"parts":[{"text":"go"}]}"#);
    let events = events(&[
        &prompt,
        &record(
            "user",
            r#""subtype":"notification","systemPayload":{"displayText":"done"}"#,
        ),
        &record(
            "user",
            r#""subtype":"mid_turn_user_message","message":{"parts":[{"text":"also"}]}"#,
        ),
        &record(
            "system",
            r#""subtype":"custom_title","systemPayload":{"customTitle":"T"}"#,
        ),
        &record("system", r#""subtype":"rewind","systemPayload":{"to":1}"#),
        &record(
            "assistant",
            r#""usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":10},"message":{"parts":[{"text":"a","thought":true},{"text":"b"},{"text":"c"},{"functionCall":{"id":"1","name":"tool_call","args":{"name":"glob","arguments":{"pattern":"*"}}}},{"text":"d"}]}"#,
        ),
        &record(
            "tool_result",
            r#""message":{"parts":[{"functionResponse":{"id":"1","name":"tool_call","response":{"output":"o"}}}]}"#,
        ),
        &prompt,
    ]);
    assert_eq!(
        outline(&events),
        [
            "session s",
            "user go",
            "notice done",
            "user also",
            "session T",
            "state rewind",
            "reasoning a",
            "text bc",
            "tool_use glob",
            "text d",
            "usage ",
            "tool_result ok",
            "turn_end interrupted",
            "user go",
            "turn_end interrupted",
        ]
    );
    assert_eq!(events[3]["queued"], true);
    assert_eq!(events[10]["output_tokens"], 5);
    assert_eq!(events[9]["id"], "x-assistant/3");
}

#[test]
fn commands_killed_by_a_signal_have_no_exit_code() {
    let events = events(&[
        &record(
            "assistant",
            r#""message":{"parts":[{"functionCall":{"id":"1","name":"run_shell_command","args":{"command":"x"}}}]}"#,
        ),
        &record(
            "tool_result",
            r#""message":{"parts":[{"functionResponse":{"id":"1","response":{"error":"killed"}}}]},"toolCallResult":{"callId":"1","status":"error","resultDisplay":{"type":"shell_result","exitCode":0,"signal":9,"output":"","text":"Command terminated by signal: 9"}}"#,
        ),
    ]);
    let result = &events[2];
    assert_eq!(result["status"], "error");
    assert_eq!(result["output"], "Command terminated by signal: 9");
    assert!(result["exit_code"].is_null());
}

#[test]
fn a_sub_agent_without_metadata_is_found_by_its_file_name() {
    let mut source = Qwen::default();
    let child = record(
        "assistant",
        r#""agentId":"a","message":{"parts":[{"text":"found"}]}"#,
    );
    source.attach("agent-explore-call_2.jsonl", child.as_bytes());
    let other = child.replace("found", "nothing");
    source.attach("agent-explore-call_9.jsonl", other.as_bytes());
    let mut out = Emitter::new(false);
    let parent = record(
        "assistant",
        r#""message":{"parts":[{"functionCall":{"id":"call_2","name":"agent","args":{}}}]}"#,
    );
    let frame = Frame::new(&parent);
    out.begin(&frame);
    source.frame(&frame, &mut out);
    source.finish(&mut out);
    let events: Vec<_> = std::iter::from_fn(|| out.pop()).collect();
    let parents: Vec<_> = events
        .iter()
        .filter_map(|event| event.agent.as_ref().map(|agent| agent.parent.as_str()))
        .collect();
    assert_eq!(parents, ["call_2", ""]);
}

#[test]
fn sub_agents_are_looked_for_beside_the_chats() {
    let file = |path: &str| crate::source::SavedFile {
        path: path.to_owned(),
        head: String::new(),
    };
    assert_eq!(
        super::sessions::patterns(&file("/p/chats/1-2.jsonl"), &[]),
        [
            "../subagents/1-2/agent-*.jsonl",
            "../subagents/1-2/agent-*.meta.json"
        ]
    );
    assert!(super::sessions::patterns(&file("/p/parity.live.jsonl"), &[]).is_empty());
}

#[test]
fn the_wrapper_is_removed() {
    let input = Json::parse(r#"{"name":"web_fetch","arguments":{"url":"u"}}"#).unwrap();
    let (name, inner) = unwrap_call("tool_call", input);
    assert_eq!(
        (name.as_str(), inner.raw()),
        ("web_fetch", r#"{"url":"u"}"#)
    );
    assert_eq!(unwrap_call("tool_call", Json::NULL).0, "tool_call");
}

#[test]
fn api_errors_are_split_off() {
    assert_eq!(
        split_api_error("Once [API Error: terminated]"),
        ("Once ", "[API Error: terminated]")
    );
    let quoted = "It prints [API Error: x] and stops.";
    assert_eq!(split_api_error(quoted), (quoted, ""));
}

/// Both start with the same line, except for the agent's version.
#[test]
fn claude_code_and_qwen_code_may_follow_each_other() {
    let run = |program: &str| {
        [
            format!(r#"{{"type":"system","subtype":"init","uuid":"u","session_id":"{program}","{program}_code_version":"1","apiKeySource":"none","model":"m","cwd":"/p","tools":[]}}"#),
            r#"{"type":"result","subtype":"success","uuid":"v","session_id":"s","is_error":false,"num_turns":1,"result":"Done.","permission_denials":[]}"#.to_owned(),
        ]
        .join("\n")
    };
    for (first, second) in [("claude", "qwen"), ("qwen", "claude")] {
        let mut reader = crate::Reader::new();
        reader.push([run(first), run(second)].join("\n").as_bytes());
        reader.finish();
        let found: Vec<String> = reader
            .events()
            .filter_map(|event| match event.body {
                crate::event::Body::Session(session) => Some(session.provider),
                crate::event::Body::TurnEnd(end) => Some(format!("{:?}", end.status)),
                _ => None,
            })
            .collect();
        assert_eq!(found, [first, "Completed", second, "Completed"]);
    }
}

/// A live line with an answer.
fn answer(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn success(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","permission_denials":[]}}"#
    )
}

/// Qwen Code appends one of three pieces of advice.
#[test]
fn an_api_error_with_advice_is_emitted_once() {
    let error = r"[API Error: 429 (Status: RESOURCE_EXHAUSTED)]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.";
    let end = format!(
        r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"error":{{"message":"{error}"}}}}"#
    );
    let events = events(&[&answer(error), &end]);
    let error = error.replace(r"\n", "\n");
    assert_eq!(
        outline(&events),
        [format!("notice {error}"), "turn_end failed".to_owned()]
    );
}

/// Older versions end with `success`, and the error is at the end of the answer.
#[test]
fn an_api_error_fails_a_run_that_reports_success() {
    let alone = "[API Error: Connection error.]";
    let events_of = |text: &str| events(&[&answer(text), &success(text)]);
    let found = ["notice [API Error: Connection error.]", "turn_end failed"];
    let events = events_of(alone);
    assert_eq!(outline(&events), found);
    assert_eq!(events[1]["reason"], "api_error");
    let behind = events_of(&format!("Partial text{alone}"));
    assert_eq!(outline(&behind), ["text Partial text", found[0], found[1]]);
}

#[test]
fn a_quoted_api_error_stays_in_the_answer() {
    let text = "Your log says: [API Error: 500 from upstream]";
    let whole = format!("text {text}");
    let shown = ["text Your log says: ", whole.as_str()];
    let at_the_end = events(&[&answer(text), &success(text)]);
    assert_eq!(
        outline(&at_the_end),
        [shown[0], shown[1], "turn_end completed"]
    );
    let going_on = events(&[&answer(text), &call("a", "glob", "{}"), RESULT]);
    assert_eq!(
        outline(&going_on),
        [shown[0], shown[1], "tool_use glob", "turn_end completed"]
    );
    let cut = events(&[&answer(text)]);
    assert_eq!(
        outline(&cut),
        [
            shown[0],
            "notice [API Error: 500 from upstream]",
            "turn_end interrupted"
        ]
    );
}

#[test]
fn a_quoted_api_error_is_streamed() {
    let stream = |event: &str| format!(r#"{{"type":"stream_event","uuid":"b","event":{event}}}"#);
    let text = "Your log says: [API Error: 500]";
    let events = events(&[
        &stream(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#),
        &stream(&format!(
            r#"{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )),
        &answer(text),
        &success(text),
    ]);
    let whole = format!("text {text}");
    assert_eq!(outline(&events), [whole.as_str(), "turn_end completed"]);
}

#[test]
fn a_run_that_the_user_canceled() {
    let events = events(&[
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"Operation cancelled."}}"#,
    ]);
    assert_eq!(
        outline(&events),
        ["notice Operation cancelled.", "turn_end canceled"]
    );
    assert_eq!(events[0]["level"], "canceled");
}

#[test]
fn a_thought_has_its_subject_once() {
    let thought = |text: &str, subject: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{text}","content":[{{"type":"thinking","thinking":"{text}","signature":"{subject}"}}]}}}}"#
        )
    };
    let events = events(&[
        &thought("look first", "Parser"),
        // Versions that put the subject into the text too.
        &thought("Lexer: look then", "Lexer"),
        &thought("done", ""),
        RESULT,
    ]);
    assert_eq!(
        outline(&events)[..3],
        [
            "reasoning **Parser**\nlook first",
            "reasoning Lexer: look then",
            "reasoning done"
        ]
    );
}

#[test]
fn a_denial_over_the_control_protocol() {
    let events = events(&[
        &call("a", "run_shell_command", r#"{"command":"rm x"}"#),
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","tool_use_id":"a"}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny"}}}"#,
        r#"{"type":"control_cancel_request","request_id":"r"}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"[Operation Cancelled] Reason: no"}]}}"#,
        RESULT,
    ]);
    assert_eq!(events[2]["outcome"], "deny");
    assert_eq!(
        outline(&events)[3..5],
        ["tool_result rejected", "text done"]
    );
}

#[test]
fn overwritten_content_is_unknown() {
    let events = events(&[
        &call("a", "write_file", r#"{"file_path":"/p/b","content":"1\n"}"#),
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":false,"content":"Successfully overwrote file: /p/b."}]}}"#,
        RESULT,
    ]);
    let edit = &events[1]["edits"][0];
    assert_eq!(edit["op"], "update");
    assert!(edit["hunks"].is_null());
}

#[test]
fn a_refused_plan_is_a_warning_in_streams_and_saved_sessions() {
    let todos = r#"{"todos":[{"id":"1","content":"a","status":"in_progress"},{"id":"1","content":"b","status":"pending"}]}"#;
    let refused = |events: &[Value]| -> Vec<String> {
        let lines = outline(events).into_iter();
        lines
            .filter(|line| line.starts_with("plan") || line.starts_with("notice"))
            .collect()
    };
    let live = events(&[
        &call("w", "todo_write", todos),
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"w","is_error":true,"content":"Todo IDs must be unique within the array"}]}}"#,
        RESULT,
    ]);
    let warning = ["notice Todo IDs must be unique within the array"];
    assert_eq!(refused(&live), warning);
    let record = |kind: &str, rest: &str| {
        format!(
            r#"{{"uuid":"u","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"{kind}",{rest}}}"#
        )
    };
    let saved = events(&[
        &record(
            "assistant",
            &format!(
                r#""message":{{"parts":[{{"functionCall":{{"id":"w","name":"todo_write","args":{todos}}}}}]}}"#
            ),
        ),
        &record(
            "tool_result",
            r#""message":{"parts":[{"functionResponse":{"id":"w","response":{"error":"Todo IDs must be unique within the array"}}}]},"toolCallResult":{"callId":"w","status":"error"}"#,
        ),
    ]);
    assert_eq!(refused(&saved), warning);
}

#[test]
fn killed_and_timed_out_commands_failed_without_an_exit_code() {
    let note = "Command timed out after 1200ms before it could complete.";
    let result = |id: &str, text: &str, is_error: bool| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{is_error},"content":"{text}"}}]}}}}"#
        )
    };
    let killed = r"Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: 9\nProcess Group PGID: 7";
    for is_error in [false, true] {
        let events = events(&[
            &call("a", "run_shell_command", r#"{"command":"x"}"#),
            &result("a", killed, is_error),
            &call("b", "run_shell_command", r#"{"command":"x"}"#),
            &result("b", note, is_error),
        ]);
        let results: Vec<&Value> = events
            .iter()
            .filter(|event| event["kind"] == "tool_result")
            .collect();
        assert_eq!(results[0]["output"], "a\nSignal: 9");
        assert_eq!(results[1]["output"], note);
        for result in results {
            assert_eq!(result["status"], "error");
            assert_eq!(result["exit_code"], Value::Null);
        }
    }
}
