//! Several sessions on one connection.

use serde_json::{Value, json};

use super::{chunk, of_kind, prompt_in, read, stop, update_in};

#[test]
fn two_sessions_may_use_the_same_ids_at_once() {
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    let call = |session: &str, status: &str, output: &str| {
        update_in(
            session,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "execute",
            "status": status, "rawInput": {"command": session},
            "content": [{"type": "content", "content": {"type": "text", "text": output}}]}),
        )
    };
    let lines = [
        prompt_in("a", 1, said("one")),
        prompt_in("b", 2, said("two")),
        chunk("a", "A1"),
        chunk("b", "B1"),
        chunk("a", "A2"),
        chunk("b", "B2"),
        call("a", "in_progress", ""),
        chunk("b", "B3"),
        call("b", "in_progress", ""),
        chunk("a", "A3"),
        call("b", "failed", "from b"),
        call("a", "completed", "from a"),
        stop(1, "end_turn"),
        stop(2, "end_turn"),
    ];
    let events = read(&lines);
    let texts: Vec<(&str, &str)> = of_kind(&events, "text")
        .into_iter()
        .map(|text| (text["id"].as_str().unwrap(), text["text"].as_str().unwrap()))
        .collect();
    assert_eq!(
        texts,
        [
            ("text-1", "A1"),
            ("text-2", "B1"),
            ("text-1", "A2"),
            ("text-2", "B2"),
            ("text-2", "B3"),
            ("text-3", "A3"),
        ]
    );
    let results: Vec<(&str, &str)> = of_kind(&events, "tool_result")
        .into_iter()
        .map(|result| {
            (
                result["id"].as_str().unwrap(),
                result["output"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(results, [("b/c", "from b"), ("c", "from a")]);
    let args: Vec<&Value> = of_kind(&events, "tool_use")
        .into_iter()
        .map(|call| &call["arg"])
        .collect();
    assert_eq!(args, ["a", "b"]);
}
