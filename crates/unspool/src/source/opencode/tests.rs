//! Rules that no recording shows.

use crate::Reader;
use crate::event::{Body, Category, Event, TurnStatus};
use crate::json::Json;
use crate::source::testing;

fn reader() -> Reader {
    testing::reader(&super::PROVIDER)
}

fn read(frames: &[String]) -> Vec<Event> {
    testing::finish(reader(), frames)
}

/// Compares events as JSON, each with a part of the text.
fn assert_shape(events: &[Event], pieces: &[(&str, &str)]) {
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let kinds = testing::kinds(events);
    let expected: Vec<&str> = pieces.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, expected, "{lines:#?}");
    for (line, (_, piece)) in lines.iter().zip(pieces) {
        assert!(line.contains(piece), "{line} lacks {piece}");
    }
}

fn live(kind: &str, part: &str) -> String {
    format!(r#"{{"type":"{kind}","timestamp":1,"sessionID":"ses_1","part":{part}}}"#)
}

fn tool(call: &str, name: &str, state: &str) -> String {
    live(
        "tool_use",
        &format!(
            r#"{{"id":"prt_{call}","type":"tool","callID":"{call}","tool":"{name}","state":{state}}}"#
        ),
    )
}

fn event(kind: &str, properties: &str) -> String {
    format!(r#"{{"id":"evt_1","type":"{kind}","properties":{properties}}}"#)
}

fn part(session: &str, part: &str) -> String {
    let part = part.replacen('{', &format!("{{\"sessionID\":\"{session}\","), 1);
    event(
        "message.part.updated",
        &format!(r#"{{"sessionID":"{session}","part":{part}}}"#),
    )
}

fn idle(session: &str) -> String {
    event("session.idle", &format!(r#"{{"sessionID":"{session}"}}"#))
}

#[test]
fn canceled_rejected_and_timed_out_calls() {
    let aborted = r#"{"status":"completed","input":{},"output":"x\n<shell_metadata>\nUser aborted the command\n</shell_metadata>","metadata":{"exit":null}}"#;
    let interrupted = r#"{"status":"error","input":{},"error":"Tool execution aborted","metadata":{"interrupted":true}}"#;
    let dismissed =
        r#"{"status":"error","input":{},"error":"Error: The user dismissed this question"}"#;
    let killed = r#"{"status":"completed","input":{},"output":"","metadata":{"exit":null}}"#;
    let task =
        r#"{"status":"completed","input":{},"output":"<task id=\"ses_2\" state=\"error\">x"}"#;
    let events = read(&[
        tool("a", "bash", aborted),
        tool("b", "read", interrupted),
        tool("c", "question", dismissed),
        tool("d", "bash", killed),
        tool("e", "task", task),
    ]);
    let statuses: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) => Some(format!("{:?}", result.status)),
            _ => None,
        })
        .collect();
    assert_eq!(
        statuses,
        ["Canceled", "Canceled", "Rejected", "Error", "Error"]
    );
}

#[test]
fn writes_and_edits_that_create_or_replace_a_file() {
    let replaced = r#"{"status":"completed","input":{"filePath":"/f","content":"a\nb\n"},"output":"","metadata":{"exists":true}}"#;
    let made = r#"{"status":"completed","input":{"filePath":"/g","oldString":"","newString":"x"},"output":"","metadata":{"diff":"--- /g\n+++ /g\n@@ -0,0 +1,1 @@\n+x\n"}}"#;
    let events = read(&[tool("a", "write", replaced), tool("b", "edit", made)]);
    assert_shape(
        &events,
        &[
            ("session", ""),
            ("tool_use", r#""category":"write""#),
            (
                "tool_result",
                r#""edits":[{"op":"update","path":"/f","hunks":[{"new_start":1,"lines":["+a","+b"]}]}]"#,
            ),
            ("tool_use", ""),
            (
                "tool_result",
                r#""edits":[{"op":"add","path":"/g","hunks":[{"new_start":1,"lines":["+x"]}]}]"#,
            ),
            ("turn_end", "interrupted"),
        ],
    );
}

#[test]
fn a_turn_continues_after_an_error_with_a_retry() {
    let error = r#"{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}"#;
    let events = read(&[
        error.to_owned(),
        error.to_owned(),
        live("step_start", "{}"),
        live("text", r#"{"id":"prt_1","text":"mended"}"#),
        live("step_finish", r#"{"reason":"stop"}"#),
    ]);
    assert_shape(
        &events,
        &[
            ("session", "ses_1"),
            ("notice", "too long"),
            ("text", "mended"),
            ("turn_end", r#""status":"completed","reason":"stop""#),
        ],
    );
}

#[test]
fn unknown_and_mistyped_frames_are_kept() {
    let events = read(&[
        live("new_thing", r#"{"text":"x"}"#),
        live("text", "5"),
        live("tool_use", r#"{"state":[],"tool":7}"#),
        event("session.next.text.delta", "{}"),
        event("server.heartbeat", "{}"),
        part("ses_1", r#"{"id":"prt_1","type":"hologram"}"#),
        "not json".to_owned(),
    ]);
    let unknown = events
        .iter()
        .filter(|event| matches!(event.body, Body::Unknown(_)))
        .count();
    assert_eq!(unknown, 5);
}

#[test]
fn aborted_calls_come_before_the_end_of_the_turn() {
    let message = |completed: &str| {
        event(
            "message.updated",
            &format!(
                r#"{{"info":{{"id":"msg_1","role":"assistant","sessionID":"ses_1","time":{{"created":1{completed}}}}}}}"#
            ),
        )
    };
    let running = r#"{"id":"prt_1","messageID":"msg_1","type":"tool","callID":"a","tool":"bash","state":{"status":"running","input":{"command":"x"},"metadata":{"output":"o"}}}"#;
    let aborted = r#"{"id":"prt_1","messageID":"msg_1","type":"tool","callID":"a","tool":"bash","state":{"status":"error","input":{"command":"x"},"error":"Tool execution aborted"}}"#;
    let error = r#"{"sessionID":"ses_1","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}"#;
    let events = read(&[
        message(""),
        part("ses_1", running),
        event("session.error", error),
        idle("ses_1"),
        part("ses_1", aborted),
        message(",\"completed\":2"),
        idle("ses_1"),
        part("ses_1", aborted),
        idle("ses_1"),
    ]);
    assert_shape(
        &events,
        &[
            ("session", "ses_1"),
            ("tool_use", "\"arg\":\"x\""),
            ("tool_output", "\"text\":\"o\""),
            ("notice", "canceled"),
            ("tool_result", "canceled"),
            ("turn_end", "canceled"),
        ],
    );
}

#[test]
fn a_rejected_call_gets_a_result() {
    let running = r#"{"id":"prt_1","type":"tool","callID":"a","tool":"bash","state":{"status":"running","input":{}}}"#;
    let asked = r#"{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["rm *"],"tool":{"callID":"a"}}"#;
    let reply = r#"{"sessionID":"ses_1","requestID":"per_1","reply":"reject"}"#;
    let events = read(&[
        event("permission.asked", asked),
        part("ses_1", running),
        event("permission.replied", reply),
        idle("ses_1"),
    ]);
    assert_shape(
        &events,
        &[
            ("session", ""),
            ("tool_use", ""),
            ("permission", r#""tool_id":"a","title":"bash rm *""#),
            ("permission", r#""outcome":"reject""#),
            ("tool_result", "rejected"),
            ("turn_end", "completed"),
        ],
    );
}

#[test]
fn a_sub_agent_may_use_its_callers_call_id() {
    let task = r#"{"id":"prt_1","type":"tool","callID":"c","tool":"task","state":{"status":"running","input":{"subagent_type":"explore"},"metadata":{"sessionId":"ses_2"}}}"#;
    let inner = r#"{"id":"prt_2","type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{"filePath":"/f"},"output":"x"}}"#;
    let done = r#"{"id":"prt_1","type":"tool","callID":"c","tool":"task","state":{"status":"completed","input":{},"output":"y"}}"#;
    let events = read(&[
        part("ses_1", task),
        part("ses_2", inner),
        idle("ses_2"),
        part("ses_1", done),
    ]);
    assert_shape(
        &events,
        &[
            ("session", "ses_1"),
            ("tool_use", "\"id\":\"c\""),
            ("tool_use", r#""parent":"c","depth":1,"name":"explore""#),
            ("tool_result", "\"id\":\"prt_2\""),
            ("tool_result", "\"id\":\"c\""),
            ("turn_end", "interrupted"),
        ],
    );
}

#[test]
fn a_stream_that_starts_in_the_middle() {
    let delta = r#"{"sessionID":"ses_1","messageID":"m","partID":"p","field":"text","delta":"lo"}"#;
    let events = read(&[
        event("message.part.delta", delta),
        part(
            "ses_1",
            r#"{"id":"p","messageID":"m","type":"text","text":"Hello","time":{"start":1,"end":2}}"#,
        ),
        idle("ses_1"),
        idle("ses_1"),
        part(
            "ses_1",
            r#"{"id":"q","messageID":"n","type":"text","text":"Next"}"#,
        ),
    ]);
    assert_shape(
        &events,
        &[
            ("session", "ses_1"),
            ("text", "\"delta\":true"),
            ("text", "Hello"),
            ("turn_end", "completed"),
            ("user", "Next"),
            ("turn_end", "interrupted"),
        ],
    );
}

#[test]
fn growing_texts_of_older_servers_are_streamed() {
    let growing = |text: &str, end: &str| {
        let part = format!(
            r#"{{"id":"p","messageID":"m","type":"reasoning","text":"{text}","time":{{"start":1{end}}}}}"#
        );
        part_with_session(&part)
    };
    let events = read(&[
        growing("a", ""),
        growing("a b", ""),
        growing("a b", ",\"end\":2"),
        growing("a b", ",\"end\":2"),
    ]);
    assert_shape(
        &events,
        &[
            ("session", ""),
            ("reasoning", "\"text\":\"a\""),
            ("reasoning", "\"text\":\" b\""),
            ("turn_end", ""),
        ],
    );
}

fn part_with_session(json: &str) -> String {
    part("ses_1", json)
}

#[test]
fn a_saved_session_ends_each_turn_and_shows_a_running_call() {
    let export = r#"{"info":{"id":"ses_1","projectID":"p"},"messages":[
        {"info":{"id":"msg_1","role":"user","sessionID":"ses_1"},"parts":[{"id":"prt_1","type":"text","text":"one"}]},
        {"info":{"id":"msg_2","role":"assistant","modelID":"m","finish":"length","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}},"parts":[]},
        {"info":{"id":"msg_3","role":"user"},"parts":[{"id":"prt_3","type":"text","text":"two"}]},
        {"info":{"id":"msg_4","role":"assistant"},"parts":[{"id":"prt_4","type":"retry","attempt":1,"error":{"name":"APIError","data":{"message":"again"}}},{"id":"prt_5","type":"tool","callID":"c","tool":"bash","state":{"status":"running","input":{"command":"x"},"metadata":{"output":"so far"}}}]}
    ]}"#;
    let mut reader = reader();
    reader.push(export.as_bytes());
    reader.finish();
    let events: Vec<Event> = reader.events().collect();
    assert_shape(
        &events,
        &[
            ("session", "\"model\":\"m\""),
            ("user", "one"),
            (
                "usage",
                r#""input_tokens":10,"output_tokens":5,"cached_tokens":4,"reasoning_tokens":3"#,
            ),
            ("turn_end", r#""status":"completed","reason":"length""#),
            ("user", "two"),
            ("notice", "again"),
            ("tool_use", ""),
            ("tool_output", "so far"),
            ("turn_end", "interrupted"),
        ],
    );
}

#[test]
fn a_sub_agent_without_a_call_is_replayed_at_the_end() {
    let child = r#"{"info":{"id":"ses_2","parentID":"ses_1","agent":"explore"},"messages":[{"info":{"id":"msg_1","role":"assistant"},"parts":[{"id":"prt_1","type":"text","text":"lost"}]}]}"#;
    let mut reader = reader();
    reader.attach("child.json", child.as_bytes());
    reader.attach("junk.json", b"[1, 2");
    reader.push(br#"{"info":{"id":"ses_1"},"messages":[]}"#);
    reader.finish();
    let events: Vec<Event> = reader.events().collect();
    assert_shape(
        &events,
        &[
            ("session", "ses_1"),
            (
                "text",
                r#""agent":{"id":"ses_2","depth":1,"name":"explore"}"#,
            ),
        ],
    );
}

#[test]
fn an_empty_saved_session_has_no_turn() {
    let stored = r#"{"id":"ses_1","projectID":"p","title":"New session - 2026-01-01T00:00:00Z","version":"1.1.65"}"#;
    assert_shape(&read(&[stored.to_owned()]), &[("session", "1.1.65")]);
}

#[test]
fn frames_of_other_agents_are_not_recognised() {
    let claims = |text: &str| {
        let fields = Json::parse(text).unwrap().object();
        super::is_ours(&crate::source::Probe {
            text,
            event: "",
            fields,
        })
    };
    assert!(claims(&event("server.connected", "{}")));
    assert!(claims(r#"{"type":"server.connected","properties":{}}"#));
    assert!(claims(
        r#"{"payload":{"type":"sync","syncEvent":{"type":"session.created.1"}}}"#
    ));
    for other in [
        r#"{"type":"object","properties":{}}"#,
        r#"{"type":"a.b","id":"x1","properties":{}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message"}}"#,
        r#"{"type":"text","sessionID":"abc","timestamp":1}"#,
        r#"{"info":{"id":"x"},"messages":[]}"#,
    ] {
        assert!(!claims(other), "{other}");
    }
}

#[test]
fn an_output_limit_is_not_a_failure() {
    let error = r#"{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"MessageOutputLengthError","data":{}}}"#;
    let events = read(&[error.to_owned()]);
    let Some(Body::TurnEnd(end)) = events.last().map(|event| &event.body) else {
        panic!("a turn end");
    };
    assert_eq!(
        (end.status, end.reason.as_str()),
        (TurnStatus::Completed, "length")
    );
}

#[test]
fn the_result_decides_the_category() {
    let ended = |name: &str, metadata: &str, output: &str| {
        let state = format!(
            r#"{{"status":"completed","input":{{"filePath":"/p"}},"output":"{output}","metadata":{metadata}}}"#
        );
        let events = read(&[tool("c", name, &state)]);
        let category = events.iter().find_map(|event| match &event.body {
            Body::ToolUse(call) => Some(call.category),
            _ => None,
        });
        category.unwrap()
    };
    let listed = r"<path>/p</path>\n<type>directory</type>\n";
    assert_eq!(ended("read", "{}", listed), Category::List);
    assert_eq!(
        ended("read", "{}", r"<path>/p</path>\n<type>file</type>\n"),
        Category::Read
    );
    let files = |kinds: [&str; 2]| {
        let files = kinds.map(|kind| format!(r#"{{"type":"{kind}","filePath":"/p","patch":""}}"#));
        format!(r#"{{"files":[{}]}}"#, files.join(","))
    };
    let patched = |kinds| ended("apply_patch", &files(kinds), "");
    assert_eq!(patched(["add", "add"]), Category::Write);
    assert_eq!(patched(["move", "move"]), Category::Move);
    assert_eq!(patched(["delete", "add"]), Category::Edit);
}

#[test]
fn reading_a_folder_becomes_a_listing() {
    let state = |state: &str| {
        let tool = format!(
            r#"{{"id":"prt_1","messageID":"msg_1","type":"tool","callID":"c","tool":"read","state":{state}}}"#
        );
        part("ses_1", &tool)
    };
    let events = read(&[
        state(r#"{"status":"running","input":{"filePath":"/p"}}"#),
        state(
            r#"{"status":"completed","input":{"filePath":"/p"},"output":"","metadata":{"display":{"type":"directory"}}}"#,
        ),
    ]);
    let categories: Vec<Category> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolUse(call) => Some(call.category),
            _ => None,
        })
        .collect();
    assert_eq!(categories, [Category::Read, Category::List]);
}

#[test]
fn the_diff_of_an_old_patch_belongs_to_the_patched_file() {
    let state = r#"{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: z.txt\n@@\n-x\n+y\n*** End Patch"},"output":"ok","metadata":{"diff":"@@ -1,1 +1,1 @@\n-x\n+y\n"}}"#;
    let events = read(&[tool("c", "patch", state)]);
    let edits = events.iter().find_map(|event| match &event.body {
        Body::ToolResult(result) => Some(&result.edits),
        _ => None,
    });
    assert_eq!(edits.unwrap()[0].path, "z.txt");
}

#[test]
fn a_question_is_a_prompt_when_asked_and_when_answered_or_dismissed() {
    let answers = |events: &[Event]| -> Vec<(String, String)> {
        let prompts = events.iter().filter_map(|event| match &event.body {
            Body::Prompt(prompt) => Some((prompt.question.clone(), prompt.answer.clone())),
            _ => None,
        });
        prompts.collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(q, a)| ((*q).to_owned(), (*a).to_owned()))
            .collect()
    };
    let questions = r#"[{"question":"Which?","options":[{"label":"A"}]},{"question":"Why?"}]"#;
    let asked = event(
        "question.asked",
        &format!(r#"{{"id":"que_1","sessionID":"ses_1","questions":{questions}}}"#),
    );
    let rejected = r#"{"sessionID":"ses_1","requestID":"que_1"}"#;
    let replied = r#"{"sessionID":"ses_1","requestID":"que_1","answers":[["A","B"],[]]}"#;
    let both = [("Which?", ""), ("Why?", "")];
    assert_eq!(answers(&read(std::slice::from_ref(&asked))), pairs(&both));
    let events = read(&[asked.clone(), event("question.rejected", rejected)]);
    let dismissed = [("Which?", "dismissed"), ("Why?", "dismissed")];
    assert_eq!(answers(&events)[2..], pairs(&dismissed));
    let events = read(&[asked, event("question.replied", replied)]);
    let answered = [("Which?", "A, B"), ("Why?", "unanswered")];
    assert_eq!(answers(&events)[2..], pairs(&answered));

    // The same in the stream of a run, where the call is one line.
    let call = |state: &str| {
        format!(
            r#"{{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{{"id":"prt_1","callID":"c","tool":"question","state":{{"input":{{"questions":{questions}}},{state}}}}}}}"#
        )
    };
    let events = read(&[call(
        r#""status":"completed","output":"x","metadata":{"answers":[["A","B"],[]]}"#,
    )]);
    assert_eq!(answers(&events), pairs(&answered));
    let events = read(&[call(
        r#""status":"error","error":"Error: The user dismissed this question""#,
    )]);
    assert_eq!(answers(&events), pairs(&dismissed));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event.body, Body::ToolUse(_)))
    );
}
