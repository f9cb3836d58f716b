//! Rules that no recording shows, or that hold for every agent.

use serde_json::{Value, json};

use super::PROVIDER;
use crate::source::testing;

mod payloads;
mod several;

/// Returns the events of these lines, as JSON.
fn read(lines: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    read_text(&lines.join("\n"))
}

fn read_text(text: &str) -> Vec<Value> {
    testing::values(&testing::events(&PROVIDER, text))
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event["kind"].as_str().unwrap());
    kinds.filter(|kind| *kind != "session").collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let wanted = events.iter().filter(|event| event["kind"] == kind);
    wanted.collect()
}

fn agent(message: Value) -> Value {
    json!({"dir": "agent->client", "msg": message})
}

fn client(message: Value) -> Value {
    json!({"dir": "client->agent", "msg": message})
}

fn prompt(id: u32) -> Value {
    client(
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]}}),
    )
}

/// Returns a prompt of these blocks in this session.
fn prompt_in(session: &str, id: u32, blocks: Value) -> Value {
    client(
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt",
        "params": {"sessionId": session, "prompt": blocks}}),
    )
}

fn stop(id: u32, reason: &str) -> Value {
    agent(json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}}))
}

fn update(update: Value) -> Value {
    update_in("s", update)
}

fn update_in(session: &str, update: Value) -> Value {
    agent(json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": session, "update": update}}))
}

fn chunk(session: &str, text: &str) -> Value {
    update_in(
        session,
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    )
}

fn call(id: &str, status: &str) -> Value {
    update(
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "t",
        "kind": "execute", "status": status, "rawInput": {"command": "ls"}}),
    )
}

fn ask(id: u32, call: &str) -> Value {
    agent(
        json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {
        "sessionId": "s", "toolCall": {"toolCallId": call, "title": "Run", "kind": "execute"},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "n", "name": "No", "kind": "reject_once"}]}}),
    )
}

fn answer(id: u32, option: &str) -> Value {
    let outcome = json!({"outcome": "selected", "optionId": option});
    client(json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}}))
}

#[test]
fn stop_reasons_become_ends() {
    for (reason, status, said) in [
        ("end_turn", "completed", "end_turn"),
        ("max_tokens", "completed", "length"),
        ("max_turn_requests", "failed", "max_turn_requests"),
        ("refusal", "failed", "refusal"),
        ("cancelled", "canceled", "cancelled"),
    ] {
        let events = read(&[prompt(1), stop(1, reason)]);
        let end = of_kind(&events, "turn_end")[0];
        assert_eq!(
            (&end["status"], &end["reason"]),
            (&json!(status), &json!(said))
        );
    }
}

#[test]
fn an_error_of_a_prompt_is_emitted_once() {
    let error =
        agent(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}));
    let events = read(&[prompt(1), error.clone()]);
    assert_eq!(kinds(&events), ["user", "notice", "turn_end"]);
    assert_eq!(events.last().unwrap()["status"], "failed");
    let events = read(&[prompt(1), chunk("s", "no\n"), error]);
    assert_eq!(kinds(&events), ["user", "text", "turn_end"]);
}

#[test]
fn a_cut_stream_is_interrupted() {
    let events = read(&[prompt(1), call("c", "pending")]);
    assert_eq!(kinds(&events), ["user", "tool_use", "turn_end"]);
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    let raw = chunk("s", "hi")["msg"].clone();
    let events = read(&[raw]);
    assert_eq!(kinds(&events), ["text", "turn_end"]);
}

#[test]
fn a_loaded_session_has_no_turn() {
    let load = client(json!({"jsonrpc": "2.0", "id": 1, "method": "session/load",
        "params": {"sessionId": "s", "cwd": "/p"}}));
    let said = update(json!({"sessionUpdate": "user_message_chunk",
        "content": {"type": "text", "text": "q"}}));
    let result = agent(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let lines = [load, said, chunk("s", "a"), call("c", "completed"), result];
    let events = read(&lines);
    assert_eq!(kinds(&events), ["user", "text", "tool_use", "tool_result"]);
    let bare: Vec<Value> = lines[1..].iter().map(|line| line["msg"].clone()).collect();
    let events = read(&bare);
    assert_eq!(kinds(&events), ["user", "text", "tool_use", "tool_result"]);
}

#[test]
fn searches_for_file_names_live_and_in_a_loaded_session() {
    let find = update_in(
        "ses_1",
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "glob",
        "kind": "search", "status": "completed", "rawInput": {"pattern": "**/*.py"}}),
    );
    let load = client(json!({"jsonrpc": "2.0", "id": 1, "method": "session/load",
        "params": {"sessionId": "ses_1", "cwd": "/p"}}));
    for lines in [vec![find.clone()], vec![load, find]] {
        let events = read(&lines);
        assert_eq!(of_kind(&events, "tool_use")[0]["category"], "list");
    }
}

#[test]
fn a_call_waits_until_text_follows() {
    let grown = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "rawInput": {"command": "ls -l"}}),
    );
    let done = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "completed"}),
    );
    let events = read(&[
        prompt(1),
        call("c", "pending"),
        grown,
        done,
        stop(1, "end_turn"),
    ]);
    assert_eq!(
        kinds(&events),
        ["user", "tool_use", "tool_result", "turn_end"]
    );
    assert_eq!(of_kind(&events, "tool_use")[0]["arg"], "ls -l");
    let events = read(&[prompt(1), call("c", "pending"), chunk("s", "a")]);
    assert_eq!(kinds(&events), ["user", "tool_use", "text", "turn_end"]);
}

#[test]
fn no_update_reopens_a_call() {
    let late = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "title": "late", "content": []}),
    );
    let events = read(&[
        prompt(1),
        call("c", "in_progress"),
        call("c", "in_progress"),
        call("c", "completed"),
        chunk("s", "a"),
        late,
        call("c", "completed"),
        stop(1, "end_turn"),
    ]);
    let expected = ["user", "tool_use", "tool_result", "text", "turn_end"];
    assert_eq!(kinds(&events), expected);
}

#[test]
fn a_denial_without_an_update_ends_the_call() {
    let events = read(&[prompt(1), ask(1, "c"), answer(1, "n"), stop(1, "end_turn")]);
    let expected = [
        "user",
        "tool_use",
        "permission",
        "permission",
        "tool_result",
        "turn_end",
    ];
    assert_eq!(kinds(&events), expected);
    assert_eq!(of_kind(&events, "tool_result")[0]["status"], "rejected");
    assert_eq!(of_kind(&events, "permission")[1]["outcome"], "n");

    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    let canceled = client(json!({"jsonrpc": "2.0", "id": 1, "result": outcome}));
    let events = read(&[prompt(1), ask(1, "c"), canceled, stop(1, "cancelled")]);
    assert_eq!(of_kind(&events, "tool_result")[0]["status"], "canceled");
}

#[test]
fn two_requests_about_one_call() {
    let done = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "completed", "rawOutput": "fine"}),
    );
    let lines = [
        prompt(1),
        ask(1, "c"),
        call("c", "in_progress"),
        ask(2, "c"),
        answer(2, "y"),
        answer(1, "y"),
        done,
        stop(1, "end_turn"),
    ];
    let events = read(&lines);
    let ids: Vec<_> = of_kind(&events, "permission")
        .iter()
        .map(|p| p["id"].clone())
        .collect();
    assert_eq!(ids, ["1", "2", "2", "1"]);
    assert_eq!(of_kind(&events, "tool_result")[0]["output"], "fine");
}

#[test]
fn a_canceled_turn_cancels_its_calls() {
    let cancel = client(json!({"jsonrpc": "2.0", "method": "session/cancel",
        "params": {"sessionId": "s"}}));
    let events = read(&[
        prompt(1),
        call("c", "in_progress"),
        cancel,
        call("c", "failed"),
        stop(1, "cancelled"),
    ]);
    assert_eq!(of_kind(&events, "tool_result")[0]["status"], "canceled");
}

#[test]
fn two_sessions_on_one_connection_are_two_roots() {
    let events = read(&[chunk("a", "one "), chunk("b", "two "), chunk("a", "three")]);
    assert!(events.iter().all(|event| event.get("agent").is_none()));
    let ids: Vec<_> = of_kind(&events, "text")
        .iter()
        .map(|text| text["id"].clone())
        .collect();
    assert_eq!(ids, ["text-1", "text-2", "text-1"]);
    assert_eq!(of_kind(&events, "session").len(), 2);
}

#[test]
fn a_session_id_may_name_a_sub_agent() {
    let events = read(&[prompt(1), chunk("s:subagent:t", "hi"), stop(1, "end_turn")]);
    let agent = &of_kind(&events, "text")[0]["agent"];
    assert_eq!(
        (&agent["id"], &agent["depth"]),
        (&json!("s:subagent:t"), &json!(1))
    );
}

#[test]
fn lines_that_are_not_messages_are_kept() {
    let text = format!(
        "welcome to bash\n{}\n\u{7}{{\n{}",
        prompt(1),
        stop(1, "end_turn")
    );
    assert_eq!(
        kinds(&read_text(&text)),
        ["unknown", "user", "unknown", "turn_end"]
    );
    let odd = json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s", "update": {"sessionUpdate": "a_new_kind"}}});
    let events = read(&[
        odd.clone(),
        json!({"jsonrpc": "2.0", "method": "new/method"}),
    ]);
    assert_eq!(kinds(&events), ["unknown", "unknown"]);
    assert_eq!(of_kind(&events, "unknown")[0]["raw"], odd.to_string());
}

#[test]
fn messages_with_wrong_types() {
    let odd = [
        json!(null),
        json!(7),
        json!("x"),
        json!([1]),
        json!({"a": []}),
        json!(true),
    ];
    let updates = [
        "tool_call",
        "tool_call_update",
        "plan",
        "usage_update",
        "user_message_chunk",
        "agent_message_chunk",
        "state_update",
        "subagent_update",
        "session_message",
        "notice",
        "terminal_update",
        "session_info_update",
        "compaction_update",
        "plan_update",
    ];
    let fields = [
        "toolCallId",
        "status",
        "content",
        "rawInput",
        "rawOutput",
        "locations",
        "title",
        "_meta",
        "entries",
        "plan",
        "state",
        "sessionId",
        "cost",
        "used",
        "error",
        "output",
    ];
    let mut lines = vec![prompt(1)];
    for kind in updates {
        for value in &odd {
            let mut fields: serde_json::Map<String, Value> = fields
                .iter()
                .map(|key| ((*key).to_owned(), value.clone()))
                .collect();
            fields.insert("sessionUpdate".to_owned(), json!(kind));
            lines.push(update(Value::Object(fields)));
        }
    }
    for value in &odd {
        lines.push(agent(
            json!({"jsonrpc": "2.0", "id": value, "result": value}),
        ));
        lines.push(client(
            json!({"jsonrpc": "2.0", "id": value, "error": value}),
        ));
        let method = "session/request_permission";
        lines.push(agent(
            json!({"jsonrpc": "2.0", "id": value, "method": method, "params": value}),
        ));
    }
    lines.push(stop(1, "end_turn"));
    let events = read(&lines);
    assert_eq!(of_kind(&events, "turn_end").len(), 1);
}

#[test]
fn the_clients_terminals_are_a_calls_output() {
    let running = update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute",
        "status": "in_progress", "content": [{"type": "terminal", "terminalId": "t"}]}),
    );
    let request = |id: u32, method: &str| {
        agent(json!({"jsonrpc": "2.0", "id": id, "method": method,
            "params": {"sessionId": "s", "terminalId": "t"}}))
    };
    let result =
        |id: u32, result: Value| client(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let done = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "completed"}),
    );
    let events = read(&[
        prompt(1),
        running,
        request(1, "terminal/output"),
        result(1, json!({"output": "one\n", "truncated": false})),
        request(2, "terminal/output"),
        result(2, json!({"output": "one\ntwo\n", "truncated": false})),
        request(3, "terminal/wait_for_exit"),
        result(3, json!({"exitCode": 2, "signal": null})),
        request(4, "terminal/release"),
        result(4, json!(null)),
        done,
        stop(1, "end_turn"),
    ]);
    let outputs: Vec<_> = of_kind(&events, "tool_output")
        .iter()
        .map(|o| o["text"].clone())
        .collect();
    assert_eq!(outputs, ["one\n", "two\n"]);
    let end = of_kind(&events, "tool_result")[0];
    assert_eq!(
        (&end["status"], &end["exit_code"]),
        (&json!("error"), &json!(2))
    );
    assert_eq!(end["output"], "one\ntwo\n");
}

#[test]
fn a_form_is_a_prompt_and_its_answer() {
    let ask = agent(
        json!({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {
        "sessionId": "s", "message": "Which one?", "mode": "form", "requestedSchema": {
            "type": "object", "properties": {"n": {"type": "string", "enum": ["a", "b"],
            "default": "a"}}}}}),
    );
    let given = client(json!({"jsonrpc": "2.0", "id": 9,
        "result": {"action": "accept", "content": {"n": "b"}}}));
    let events = read(&[prompt(1), ask, given, stop(1, "end_turn")]);
    let prompts = of_kind(&events, "prompt");
    assert_eq!(prompts[0]["question"], "Which one?");
    assert_eq!(
        (&prompts[0]["options"], &prompts[0]["default"]),
        (&json!(["a", "b"]), &json!("a"))
    );
    assert_eq!(prompts[1]["answer"], "b");
}

#[test]
fn a_form_of_several_fields_has_no_options() {
    let ask = agent(
        json!({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {
        "sessionId": "s", "message": "About you", "mode": "form", "requestedSchema": {
            "type": "object", "properties": {"name": {"type": "string"},
            "color": {"type": "string", "enum": ["red", "green"], "default": "red"}}}}}),
    );
    let given = client(json!({"jsonrpc": "2.0", "id": 9,
        "result": {"action": "accept", "content": {"name": "Ada", "color": "green"}}}));
    let events = read(&[prompt(1), ask, given, stop(1, "end_turn")]);
    let prompts = of_kind(&events, "prompt");
    assert_eq!(prompts[0]["question"], "About you (2 fields)");
    assert_eq!(
        (prompts[0].get("options"), prompts[0].get("default")),
        (None, None)
    );
    assert_eq!(prompts[1]["question"], "About you (2 fields)");
    assert_eq!(prompts[1]["answer"], "name: Ada, color: green");
}

#[test]
fn notices_and_compactions() {
    let events = read(&[
        prompt(1),
        update(
            json!({"sessionUpdate": "notice", "severity": "warning", "title": "Slow",
            "description": "very"}),
        ),
        update(
            json!({"sessionUpdate": "compaction_update", "compactionId": "1",
            "status": "in_progress"}),
        ),
        update(
            json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "1",
            "content": {"type": "text", "text": "so far"}}),
        ),
        update(
            json!({"sessionUpdate": "compaction_update", "compactionId": "1",
            "status": "completed"}),
        ),
        stop(1, "end_turn"),
    ]);
    let notice = of_kind(&events, "notice")[0];
    assert_eq!(
        (&notice["level"], &notice["text"]),
        (&json!("warning"), &json!("Slow\nvery"))
    );
    assert_eq!(of_kind(&events, "context")[0]["text"], "so far");
}

#[test]
fn the_drafts_turns_end_with_a_state() {
    let state = |state: Value| {
        let mut state = state;
        state["sessionUpdate"] = json!("state_update");
        update(state)
    };
    let echo = update(json!({"sessionUpdate": "user_message", "messageId": "u",
        "content": [{"type": "text", "text": "go"}]}));
    let accepted = agent(json!({"jsonrpc": "2.0", "id": 1, "result": {"messageId": "u"}}));
    let whole = |text: &str| {
        update(json!({"sessionUpdate": "agent_message", "messageId": "m",
            "content": [{"type": "text", "text": text}]}))
    };
    let piece = update(
        json!({"sessionUpdate": "agent_message_chunk", "messageId": "m",
        "content": {"type": "text", "text": "hi"}}),
    );
    let open = [
        prompt(1),
        echo,
        accepted,
        state(json!({"state": "running"})),
        piece,
        whole("hi"),
    ];
    let events = read(&open);
    assert_eq!(kinds(&events), ["user", "text", "turn_end"]);
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    let mut closed = open.to_vec();
    closed.push(whole("hi there"));
    closed.push(state(json!({"state": "idle", "stopReason": "end_turn"})));
    let events = read(&closed);
    assert_eq!(kinds(&events), ["user", "text", "text", "turn_end"]);
    assert_eq!(events.last().unwrap()["status"], "completed");
}

#[test]
fn streamed_content_is_joined() {
    let piece = |text: &str| {
        update(
            json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c",
            "content": {"type": "content", "content": {"type": "text", "text": text}}}),
        )
    };
    let done = update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "completed"}),
    );
    let lines = [
        prompt(1),
        call("c", "in_progress"),
        piece("a"),
        piece("b"),
        done,
        stop(1, "end_turn"),
    ];
    let events = read(&lines);
    assert_eq!(of_kind(&events, "tool_result")[0]["output"], "a\nb");
}

#[test]
fn a_message_without_an_id_ends_when_its_tokens_are_counted() {
    let chunk = |text: &str| {
        update(json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text}}))
    };
    let count = |used: u32| update(json!({"sessionUpdate": "usage_update", "used": used}));
    let ids = |lines: &[Value]| -> Vec<String> {
        let events = read(lines);
        let texts = of_kind(&events, "text");
        let ids = texts.iter().map(|text| text["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    };
    let two = [prompt(1), chunk("All done."), count(5), chunk("# Report")];
    assert_eq!(ids(&two), ["text-1", "text-2"]);
    let one = [prompt(1), chunk("All do"), count(5), chunk("ne.")];
    assert_eq!(ids(&one), ["text-1", "text-1"]);
}

#[test]
fn texts_of_gemini_itself_are_not_messages() {
    let chunk = |kind: &str, text: &str| {
        update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}))
    };
    let events = read(&[
        prompt(1),
        chunk("agent_thought_chunk", "****\n"),
        chunk("agent_thought_chunk", "****\nHm."),
        chunk("agent_message_chunk", "[MODE_UPDATE] autoEdit"),
        chunk("user_message_chunk", "[Function Response: replace]"),
        chunk("agent_message_chunk", "[MODE_UPDATE] is a word."),
        stop(1, "end_turn"),
    ]);
    assert_eq!(
        kinds(&events),
        ["user", "reasoning", "state", "text", "turn_end"]
    );
    assert_eq!(of_kind(&events, "reasoning")[0]["text"], "Hm.");
    assert_eq!(of_kind(&events, "state")[0]["value"], "autoEdit");
}

#[test]
fn an_invalid_call_of_opencode_keeps_its_tool() {
    let call = |fields: Value| {
        let mut fields = fields;
        fields["toolCallId"] = json!("c");
        agent(json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "ses_1", "update": fields}}))
    };
    let wrong = json!({"tool": "bash", "error": "no"});
    let events = read(&[
        call(
            json!({"sessionUpdate": "tool_call", "title": "bash", "kind": "execute",
            "status": "pending", "rawInput": {}}),
        ),
        call(
            json!({"sessionUpdate": "tool_call_update", "title": "invalid", "kind": "other",
            "status": "in_progress", "rawInput": wrong}),
        ),
        call(
            json!({"sessionUpdate": "tool_call_update", "title": "Invalid Tool",
            "status": "completed", "rawOutput": {"output": "no"}}),
        ),
    ]);
    let used = of_kind(&events, "tool_use")[0];
    assert_eq!(
        (&used["name"], &used["title"]),
        (&json!("bash"), &Value::Null)
    );
    assert_eq!(used["input"], Value::Null);
    assert_eq!(of_kind(&events, "tool_result")[0]["status"], "error");
}

fn thread_status(kind: &str) -> Value {
    update(json!({"sessionUpdate": "session_info_update",
        "_meta": {"codex": {"threadStatus": {"type": kind}}}}))
}

#[test]
fn an_error_of_the_thread_is_not_an_answer() {
    let events = read(&[
        prompt(1),
        thread_status("active"),
        chunk("s", "Half."),
        thread_status("systemError"),
        chunk("s", "no quota\n\n"),
        stop(1, "end_turn"),
        prompt(2),
        thread_status("active"),
        chunk("s", "Fine."),
        stop(2, "end_turn"),
    ]);
    assert_eq!(
        kinds(&events),
        [
            "user", "text", "notice", "turn_end", "user", "text", "turn_end"
        ]
    );
    let told = of_kind(&events, "notice")[0];
    assert_eq!(
        (&told["level"], &told["text"]),
        (&json!("error"), &json!("no quota"))
    );
    let ends: Vec<&Value> = of_kind(&events, "turn_end");
    assert_eq!(ends[0]["status"], "failed");
    assert_eq!(ends[1]["status"], "completed");
}

#[test]
fn an_error_that_was_a_message_is_emitted_once() {
    let failed = update(json!({"sessionUpdate": "state_update", "state": "idle",
        "stopReason": "error", "error": {"message": "no quota"}}));
    let events = read(&[
        prompt(1),
        thread_status("systemError"),
        chunk("s", "no quota\n\n"),
        failed,
    ]);
    assert_eq!(kinds(&events), ["user", "notice", "turn_end"]);
    assert_eq!(of_kind(&events, "turn_end")[0]["status"], "failed");
}
