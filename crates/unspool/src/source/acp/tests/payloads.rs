//! Content of messages and calls: blocks, chunks, inputs.

use serde_json::{Value, json};

use super::{
    call, chunk, client, kinds, of_kind, prompt, prompt_in, read, stop, update, update_in,
};
use crate::source::testing::{PNG, png};

#[test]
fn media_in_a_prompt_are_facts_beside_its_text() {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let events = read(&[prompt_in("s", 1, json!([image])), stop(1, "end_turn")]);
    let user = of_kind(&events, "user")[0];
    assert_eq!((&user["text"], &user["media"]), (&Value::Null, &png()));
    let file = json!({"type": "resource",
        "resource": {"uri": "file:///b.rs", "text": "fn b() {}"}});
    let said = json!([{"type": "text", "text": "see"}, image, file]);
    let events = read(&[prompt_in("s", 1, said), stop(1, "end_turn")]);
    assert_eq!(kinds(&events), ["user", "context", "turn_end"]);
    let user = of_kind(&events, "user")[0];
    assert_eq!(user["text"], "see\nfile:///b.rs");
    assert_eq!(user["media"], png());
    assert_eq!(of_kind(&events, "context")[0]["text"], "fn b() {}");
    let done = update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "fetch",
        "status": "completed", "content": [{"type": "content", "content": file}]}),
    );
    let events = read(&[prompt(1), done, stop(1, "end_turn")]);
    assert_eq!(of_kind(&events, "tool_result")[0]["output"], "fn b() {}");
}

#[test]
fn media_of_every_kind_are_read_from_chunks_and_results() {
    let blob = json!({"type": "resource",
        "resource": {"uri": "file:///a.png", "mimeType": "image/png", "blob": PNG}});
    let link = json!({"type": "resource_link", "uri": "file:///b.pdf", "name": "b.pdf",
        "mimeType": "application/pdf", "size": 7});
    let sound = json!({"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let chunk = |kind: &str, content: &Value| {
        update(json!({"sessionUpdate": kind, "messageId": "m", "content": content}))
    };
    let text = json!({"type": "text", "text": "Look: "});
    let done = update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read",
        "status": "completed", "content": [{"type": "content", "content": blob},
            {"type": "content", "content": link}]}),
    );
    let raw = update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "d", "kind": "other",
        "status": "completed", "rawOutput": {"result": {"content": [image]}}}),
    );
    let events = read(&[
        prompt(1),
        chunk("agent_thought_chunk", &image),
        chunk("agent_message_chunk", &text),
        chunk("agent_message_chunk", &sound),
        done,
        raw,
        stop(1, "end_turn"),
    ]);
    let thought = of_kind(&events, "reasoning")[0];
    assert_eq!(
        (&thought["media"], &thought["delta"]),
        (&png(), &json!(true))
    );
    let texts = of_kind(&events, "text");
    assert_eq!(texts[0]["text"], "Look: ");
    let wav = json!([{"mime": "audio/wav", "bytes": 5}]);
    assert_eq!(
        (&texts[1]["media"], &texts[1]["id"]),
        (&wav, &texts[0]["id"])
    );
    let results = of_kind(&events, "tool_result");
    let names: Vec<&Value> = (0..2).map(|at| &results[0]["media"][at]["name"]).collect();
    assert_eq!(names, ["file:///a.png", "b.pdf"]);
    assert_eq!(results[0]["output"], Value::Null);
    assert_eq!(
        (&results[1]["media"], &results[1]["output"]),
        (&png(), &Value::Null)
    );
}

#[test]
fn a_repeated_picture_of_the_prompt_is_not_another_message() {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let said = json!([{"type": "text", "text": "see"}, image]);
    let echo = |content: &Value| {
        update(json!({"sessionUpdate": "user_message_chunk", "content": content}))
    };
    let events = read(&[
        prompt_in("s", 1, said.clone()),
        echo(&said[0]),
        echo(&image),
        stop(1, "end_turn"),
    ]);
    assert_eq!(kinds(&events), ["user", "turn_end"]);
    // A loaded session has no prompt before it.
    let events = read(&[echo(&said[0]), echo(&image)]);
    assert_eq!(kinds(&events), ["user"]);
    assert_eq!(of_kind(&events, "user")[0]["media"], png());
}

#[test]
fn chunks_of_a_user_message_are_joined() {
    let piece = |session: &str, text: &str| {
        update_in(
            session,
            json!({"sessionUpdate": "user_message_chunk",
            "content": {"type": "text", "text": text}}),
        )
    };
    let lines = [
        piece("s", "old "),
        piece("s", "question"),
        piece("t", "else"),
        chunk("s", "a"),
        piece("s", "next"),
    ];
    let events = read(&lines);
    let said: Vec<&Value> = of_kind(&events, "user")
        .into_iter()
        .map(|user| &user["text"])
        .collect();
    assert_eq!(said, ["old question", "else", "next"]);
}

#[test]
fn a_list_of_steps_is_a_plan_for_any_agent() {
    let steps = json!({"todos": [{"content": "A", "status": "in_progress"}]});
    let todo = |status: &str| {
        update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "other",
            "title": "todowrite", "status": status, "rawInput": steps}),
        )
    };
    let events = read(&[
        prompt(1),
        todo("in_progress"),
        todo("completed"),
        stop(1, "end_turn"),
    ]);
    assert_eq!(kinds(&events), ["user", "plan", "turn_end"]);
    assert_eq!(of_kind(&events, "plan")[0]["entries"][0]["text"], "A");
}

#[test]
fn an_invalid_call_of_opencode_keeps_its_name() {
    let call = |status: &str, title: &str| {
        update_in(
            "ses_1",
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "other",
            "title": title, "status": status, "rawInput": {"tool": "foo", "error": "none"}}),
        )
    };
    let events = read(&[
        call("in_progress", "invalid"),
        call("completed", "Invalid Tool"),
    ]);
    assert_eq!(of_kind(&events, "tool_use").len(), 1);
    let result = of_kind(&events, "tool_result")[0];
    assert_eq!(
        (&result["name"], &result["status"]),
        (&json!("foo"), &json!("error"))
    );
}

#[test]
fn the_result_of_opencode_decides_the_category() {
    let ended = |title: &str, metadata: Value| {
        let call = |status: &str, output: Value| {
            update_in(
                "ses_1",
                json!({"sessionUpdate": "tool_call_update", "toolCallId": title, "title": title,
                "kind": "other", "status": status, "rawInput": {"filePath": "/p"},
                "rawOutput": output}),
            )
        };
        let output = json!({"output": "", "metadata": metadata});
        let events = read(&[call("in_progress", Value::Null), call("completed", output)]);
        of_kind(&events, "tool_use").last().unwrap()["category"].clone()
    };
    assert_eq!(
        ended("read", json!({"display": {"type": "directory"}})),
        "list"
    );
    assert_eq!(ended("read", json!({"display": {"type": "file"}})), "read");
    let file = |kind: &str| json!({"type": kind, "filePath": "/p", "patch": ""});
    let files = |kinds: &[&str]| {
        let files: Vec<Value> = kinds.iter().copied().map(file).collect();
        json!({"files": files})
    };
    assert_eq!(ended("apply_patch", files(&["delete"])), "delete");
    assert_eq!(ended("apply_patch", files(&["add", "update"])), "edit");
}

#[test]
fn a_call_that_ends_after_a_canceled_turn_is_canceled() {
    let cancel = client(json!({"jsonrpc": "2.0", "method": "session/cancel",
        "params": {"sessionId": "s"}}));
    let lines = [
        prompt(1),
        call("c", "in_progress"),
        cancel,
        stop(1, "cancelled"),
        call("c", "failed"),
        prompt(2),
        call("d", "failed"),
        stop(2, "end_turn"),
    ];
    let events = read(&lines);
    let ends: Vec<&Value> = of_kind(&events, "tool_result")
        .into_iter()
        .map(|result| &result["status"])
        .collect();
    assert_eq!(ends, ["canceled", "error"]);
}
