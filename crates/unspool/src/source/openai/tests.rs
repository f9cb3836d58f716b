//! Rules that no recording shows.

use super::PROVIDER;
use crate::event::{Body, Category, Event, Level, ToolStatus, TurnStatus};
use crate::frame::Frame;
use crate::source::{Probe, testing};

fn read(input: &str) -> Vec<Event> {
    testing::events(&PROVIDER, input)
}

/// Returns a stream of chat chunks whose choice 0 has these deltas.
fn stream(deltas: &[&str], finish: Option<&str>) -> String {
    let chunk = |delta: &str, finish: Option<&str>| {
        let finish = finish.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut text: String = deltas.iter().map(|delta| chunk(delta, None)).collect();
    if finish.is_some() {
        text.push_str(&chunk("{}", finish));
    }
    text
}

/// Returns one line per event, with its kind and main fields. Joins deltas.
fn outline(input: &str) -> Vec<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for event in read(input) {
        let kind = event.body.kind().to_owned();
        let text = match &event.body {
            Body::Text(message) | Body::Reasoning(message) => message.text.to_string(),
            Body::ToolUse(call) => {
                let input = call.input.as_ref().map_or("", |input| input.get());
                format!("{} {} [{}] {input}", call.id, call.name, call.arg)
            }
            Body::ToolResult(result) => {
                format!("{} {:?} {}", result.id, result.status, result.output)
            }
            Body::ToolOutput(output) => format!("{} {}", output.id, output.text),
            Body::Notice(notice) => notice.text.to_string(),
            Body::TurnEnd(end) => format!("{:?} {}", end.status, end.reason),
            Body::Usage(usage) => format!("{:?} {:?}", usage.input_tokens, usage.output_tokens),
            Body::User(user) => user.text.to_string(),
            Body::Permission(permission) => format!("{} {}", permission.title, permission.outcome),
            _ => String::new(),
        };
        match (&event.body, lines.last_mut()) {
            (Body::Text(m) | Body::Reasoning(m), Some((id, last)))
                if m.delta && *id == format!("{kind} {}", m.id) =>
            {
                last.push_str(&text);
            }
            (Body::Text(m) | Body::Reasoning(m), _) => {
                lines.push((format!("{kind} {}", m.id), text));
            }
            _ => lines.push((kind, text)),
        }
    }
    lines
        .into_iter()
        .skip(1)
        .map(|(kind, text)| format!("{}: {text}", kind.split(' ').next().unwrap()))
        .collect()
}

fn recognised(frame: &str) -> bool {
    (PROVIDER.recognise)(&Probe::new(&Frame::new(frame)))
}

#[test]
fn inline_thinking_is_reasoning_however_it_is_cut() {
    let deltas = [
        r#"{"role":"assistant","content":""}"#,
        r#"{"content":"<th"}"#,
        r#"{"content":"ink>Why"}"#,
        r#"{"content":" not?</"}"#,
        r#"{"content":"think>Yes"}"#,
    ];
    let expected = [
        "reasoning: Why not?",
        "text: Yes",
        "turn_end: Completed stop",
    ];
    assert_eq!(outline(&stream(&deltas, Some("stop"))), expected);
    let body = r#"{"object":"chat.completion","choices":[{"message":{"content":"<think>Why not?</think>Yes"},"finish_reason":"stop"}]}"#;
    assert_eq!(outline(body), expected);
}

#[test]
fn repeated_reasoning_is_emitted_once() {
    let deltas = [
        r#"{"reasoning":"a","reasoning_content":"a","reasoning_details":[{"type":"reasoning.text","text":"a"}]}"#,
        r#"{"reasoning":null,"reasoning_details":[{"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"x"}]}"#,
    ];
    assert_eq!(outline(&stream(&deltas, Some("stop")))[0], "reasoning: ab");
}

#[test]
fn whole_calls_with_one_index_are_several() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"read","arguments":"{\"path\":\"y\"}"}}]}"#,
        r#"{"tool_calls":[{"function":{"name":"ls","arguments":{}}}]}"#,
    ];
    assert_eq!(
        outline(&stream(&deltas, Some("tool_calls"))),
        [
            "tool_use: a read [x] {\"path\":\"x\"}",
            "tool_use: b read [y] {\"path\":\"y\"}",
            "tool_use: call-1 ls [] {}",
            "turn_end: Completed tool_calls",
        ]
    );
}

#[test]
fn several_fragments_in_one_chunk_and_a_custom_tool() {
    let deltas = [
        r#"{"tool_calls":[{"index":1,"id":"b","type":"custom","custom":{"name":"grep","input":"TO"}},{"index":0,"id":"a","function":{"name":"now","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":1,"custom":{"input":"DO"}}]}"#,
    ];
    assert_eq!(
        outline(&stream(&deltas, Some("tool_calls")))[..2],
        ["tool_use: b grep [TODO] \"TODO\"", "tool_use: a now [] {}"]
    );
}

#[test]
fn a_call_before_more_text_keeps_its_place() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}]}"#,
        r#"{"content":"after"}"#,
    ];
    assert_eq!(
        outline(&stream(&deltas, Some("stop")))[..2],
        ["tool_use: a ls [] {}", "text: after"]
    );
}

#[test]
fn an_incomplete_call_is_not_lost() {
    let deltas = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\": \"sr"}}]}"#,
    ];
    assert_eq!(
        outline(&stream(&deltas, None)),
        [
            r#"tool_use: a read [] "{\"path\": \"sr""#,
            "turn_end: Interrupted "
        ]
    );
}

#[test]
fn growing_usage_is_emitted_once() {
    let chunk = |tokens: u32, choices: &str| {
        format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"id\":\"c\",\"choices\":[{choices}],\"usage\":{{\"prompt_tokens\":5,\"completion_tokens\":{tokens}}}}}\r\n\r\n"
        )
    };
    let delta = r#"{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}"#;
    let input = [chunk(1, delta), chunk(2, ""), "data:[DONE]\r\n\r\n".into()].concat();
    assert_eq!(
        outline(&input),
        [
            "text: a",
            "usage: Some(5) Some(2)",
            "turn_end: Completed stop"
        ]
    );
}

#[test]
fn the_closing_mark_is_enough_to_complete_and_responses_may_follow_each_other() {
    let input = stream(&[r#"{"content":"a"}"#], None) + "data: [DONE]\n\n";
    assert_eq!(outline(&input), ["text: a", "turn_end: Completed "]);
    let second =
        stream(&[r#"{"content":"b"}"#], Some("stop")).replace("\"id\":\"c\"", "\"id\":\"d\"");
    let input = stream(&[r#"{"content":"a"}"#], Some("length")) + &second;
    assert_eq!(
        outline(&input),
        [
            "text: a",
            "turn_end: Completed length",
            "text: b",
            "turn_end: Completed stop"
        ]
    );
}

#[test]
fn errors_of_every_vendor_are_notices() {
    let cases = [
        (r#"{"error":"model not found"}"#, "model not found", ""),
        (r#"{"detail":"Not Found"}"#, "Not Found", ""),
        (
            r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}"#,
            "body.model: Field required",
            "",
        ),
        (
            r#"{"error":{"code":429,"message":"slow down","metadata":{}},"user_id":"u"}"#,
            "slow down",
            "429",
        ),
        (
            r#"{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}"#,
            "too long",
            "400",
        ),
    ];
    for (body, message, reason) in cases {
        assert!(recognised(body), "{body}");
        let expected = [
            format!("notice: {message}"),
            format!("turn_end: Failed {reason}"),
        ];
        assert_eq!(outline(body), expected);
    }
}

#[test]
fn an_error_beside_a_choice_ends_the_turn_once() {
    let input = "data: {\"object\":\"chat.completion.chunk\",\"error\":{\"code\":\"server_error\",\"message\":\"gone\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(
        outline(input),
        ["text: a", "notice: gone", "turn_end: Failed server_error"]
    );
}

#[test]
fn other_formats_are_not_recognised() {
    for frame in [
        "",
        "<html><body>502 Bad Gateway</body></html>",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x"}}"#,
        r#"{"type":"error","message":"x"}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
        r#"{"type":"message","role":"user","content":"hi","timestamp":"t"}"#,
        r#"{"role":"user","parts":[{"text":"hi"}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}"#,
        r#"{"type":"reasoning","timestamp":1,"part":{}}"#,
        r#"{"message":"hello"}"#,
        r#"{"error":null}"#,
    ] {
        assert!(!recognised(frame), "{frame}");
    }
}

#[test]
fn old_functions_correlate_by_order() {
    let input = r#"[{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}},{"role":"function","name":"f","content":"1"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"no"}},{"role":"function","name":"f","content":"{\"exit_code\":3}"}]"#;
    assert_eq!(
        outline(input),
        [
            "user: q",
            "tool_use: function_call-1 f [] {}",
            "tool_result: function_call-1 Ok 1",
            "tool_use: function_call-2 f [] \"no\"",
            "tool_result: function_call-2 Error {\"exit_code\":3}",
            "turn_end: Interrupted ",
        ]
    );
}

#[test]
fn every_turn_of_a_conversation_ends() {
    let input = r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}},{"type":"input_image","image_url":"https://u"}]},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","refusal":"d","content":null}]"#;
    assert_eq!(
        outline(input),
        [
            "user: a",
            "text: b",
            "turn_end: Completed ",
            "user: c",
            "text: d",
            "turn_end: Failed refusal"
        ]
    );
    assert_eq!(read(r#"[{"role":"system","content":"s"}]"#).len(), 2);
}

#[test]
fn a_summary_replaces_the_reasoning() {
    let both = r#"{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"short"}],"content":[{"type":"reasoning_text","text":"long"}]}"#;
    let input = format!(
        r#"{{"type":"response.created","response":{{"id":"r","reasoning":{{"summary":"auto"}}}}}}
{{"type":"response.output_item.added","output_index":0,"item":{{"id":"rs","type":"reasoning"}}}}
{{"type":"response.reasoning_text.delta","item_id":"rs","content_index":0,"delta":"long"}}
{{"type":"response.reasoning_summary_text.delta","item_id":"rs","summary_index":0,"delta":"short"}}
{{"type":"response.output_item.done","output_index":0,"item":{both}}}
{{"type":"response.completed","response":{{"id":"r","status":"completed","output":[{both}]}}}}"#
    );
    assert_eq!(
        outline(&input),
        ["reasoning: short", "turn_end: Completed "]
    );
}

#[test]
fn reasoning_without_a_summary_streams() {
    let input = r#"{"type":"response.created","response":{"id":"r"}}
{"type":"response.reasoning_text.delta","item_id":"rs","content_index":0,"delta":"lo"}
{"type":"response.reasoning_text.delta","item_id":"rs","content_index":0,"delta":"ng"}
{"type":"response.output_item.done","output_index":0,"item":{"id":"rs","type":"reasoning","content":[{"text":"long"}]}}"#;
    assert_eq!(
        outline(input),
        ["reasoning: long", "turn_end: Interrupted "]
    );
    let held = input.replace(
        "\"id\":\"r\"",
        "\"id\":\"r\",\"reasoning\":{\"summary\":\"auto\"}",
    );
    let cut = held.replace("output_item.done", "in_progress");
    assert_eq!(outline(&cut).last().unwrap(), "turn_end: Interrupted ");
}

#[test]
fn the_final_response_adds_items_without_events() {
    let input = r#"{"type":"response.created","response":{"id":"r"}}
{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}
{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"id":"m","type":"message","content":[{"type":"output_text","text":"ab"},{"type":"output_text","text":"c"}]}]}}"#;
    let events = read(input);
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Text(message) => Some((message.id.as_str(), message.delta)),
            _ => None,
        })
        .collect();
    assert_eq!(ids, [("m", true), ("m", false), ("m/1", false)]);
}

#[test]
fn a_streamed_call_is_emitted_when_its_input_is_done() {
    let input = r#"{"type":"response.created","response":{"id":"r"}}
{"type":"response.output_item.added","output_index":0,"item":{"id":"fc","type":"function_call","call_id":"call","name":"ls","arguments":""}}
{"type":"response.function_call_arguments.delta","item_id":"fc","delta":"{\"path\""}
{"type":"response.function_call_arguments.delta","item_id":"fc","delta":":\".\"}"}"#;
    let done = "\n{\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc\",\"arguments\":\"{\\\"path\\\":\\\".\\\"}\"}";
    for input in [input.to_owned(), input.to_owned() + done] {
        assert_eq!(
            outline(&input),
            [
                "tool_use: call ls [.] {\"path\":\".\"}",
                "turn_end: Interrupted "
            ]
        );
    }
}

#[test]
fn an_error_and_the_response_that_failed_with_it_are_one_end() {
    let created = r#"{"type":"response.created","response":{"id":"r"}}"#;
    let error = r#"{"type":"error","sequence_number":1,"code":"server_error","message":"down"}"#;
    let failed = r#"{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"down"},"usage":{"input_tokens":1,"output_tokens":2},"output":[]}}"#;
    assert_eq!(
        outline(&[created, error, failed].join("\n")),
        [
            "notice: down",
            "usage: Some(1) Some(2)",
            "turn_end: Failed server_error"
        ]
    );
    let alone = ["notice: down", "turn_end: Failed server_error"];
    assert_eq!(outline(&[created, error].join("\n")), alone);
    let again = created.replace("\"r\"", "\"r2\"");
    assert_eq!(outline(&[created, error, &again].join("\n"))[..2], alone);
    let other = failed.replace("down", "out of reach");
    let lines = outline(&[created, error, &other].join("\n"));
    assert_eq!(
        (&*lines[0], &*lines[2]),
        ("notice: down", "notice: out of reach")
    );
}

#[test]
fn items_with_changing_ids_are_found_by_position() {
    let input = r#"{"type":"response.created","response":{"id":"r"}}
{"type":"response.output_item.added","output_index":0,"item":{"id":"m1","type":"message","content":[]}}
{"type":"response.output_item.added","output_index":1,"item":{"id":"f1","type":"function_call","call_id":"call","name":"ls","arguments":""}}
{"type":"response.output_text.delta","item_id":"m2","output_index":0,"content_index":0,"delta":"He"}
{"type":"response.function_call_arguments.delta","item_id":"f2","output_index":1,"delta":"{}"}
{"type":"response.output_text.delta","item_id":"m3","output_index":0,"content_index":0,"delta":"y"}
{"type":"response.output_item.done","output_index":0,"item":{"id":"m4","type":"message","content":[{"type":"output_text","text":"Hey"}]}}
{"type":"response.output_item.done","output_index":1,"item":{"id":"f3","type":"function_call","call_id":"call","name":"ls","arguments":"{\"path\":\".\"}"}}
{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#;
    assert_eq!(
        outline(input),
        [
            "text: Hey",
            "tool_use: call ls [.] {\"path\":\".\"}",
            "turn_end: Completed "
        ]
    );
}

#[test]
fn an_unknown_tool_of_the_server_keeps_its_fields() {
    let input = r#"{"object":"response","id":"r","status":"completed","output":[{"type":"quantum_call","id":"q","status":"completed","qubits":3,"query":"spin"}]}"#;
    assert_eq!(
        outline(input)[0],
        r#"tool_use: q quantum [spin] {"qubits":3,"query":"spin"}"#
    );
}

#[test]
fn names_and_thoughts_in_pieces() {
    let deltas = [
        r#"{"thinking":"Th"}"#,
        r#"{"thinking":"ink"}"#,
        r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"_file","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
    ];
    assert_eq!(
        outline(&stream(&deltas, Some("tool_calls"))),
        [
            "reasoning: Think",
            "tool_use: c read_file [] {}",
            "turn_end: Completed tool_calls"
        ]
    );
    let repeated = [
        r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"ls","arguments":"{"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"ls","arguments":"}"}}]}"#,
    ];
    assert_eq!(outline(&stream(&repeated, None))[0], "tool_use: c ls [] {}");
}

#[test]
fn the_choices_of_a_body_keep_their_order() {
    let input = r#"{"object":"chat.completion","choices":[{"index":1,"message":{"content":"B"},"finish_reason":"stop"},{"index":0,"message":{"content":"A"},"finish_reason":"length"}]}"#;
    assert_eq!(
        outline(input),
        ["text: A", "text: B", "turn_end: Completed length"]
    );
}

#[test]
fn a_search_in_a_page_and_a_command_that_never_exited() {
    let input = r#"[{"type":"web_search_call","id":"w","status":"completed","action":{"type":"find_in_page","url":"https://u","pattern":"x"}},
{"type":"shell_call","call_id":"s","action":{"commands":["a","b"]}},
{"type":"shell_call_output","call_id":"s","output":[{"stdout":"1","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"2","stderr":"","outcome":{"type":"timeout"}}]}]"#;
    let events = read(input);
    assert!(matches!(
        &events[1].body,
        Body::ToolUse(call) if call.category == Category::Search && call.arg == "x"
    ));
    assert_eq!(outline(input)[3], "tool_result: s Error 12\ntimeout\n");
}

#[test]
fn items_of_a_conversation_give_results() {
    let input = r#"[{"type":"apply_patch_call","call_id":"p","operation":{"type":"create_file","path":"a","diff":"+x\n"}},
{"type":"apply_patch_call_output","call_id":"p","status":"completed","output":"ok"},
{"type":"shell_call","call_id":"s","action":{"commands":["a","b"]}},
{"type":"shell_call_output","call_id":"s","output":[{"stdout":"1","stderr":"2","outcome":{"type":"exit","exit_code":4}},{"stdout":"3","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
{"type":"mcp_approval_request","id":"q","server_label":"t","name":"close","arguments":"{}"},
{"type":"mcp_approval_response","approval_request_id":"q","approve":false,"reason":"no"},
{"type":"mcp_call","id":"m","server_label":"t","name":"get","arguments":"{}","error":{"message":"down"}},
{"type":"custom_tool_call_output","call_id":"z","output":[{"type":"input_text","text":"late"}]},
{"type":"item_reference","id":"x"}]"#;
    assert_eq!(
        outline(input),
        [
            r#"tool_use: p apply_patch [a] {"type":"create_file","path":"a","diff":"+x\n"}"#,
            "tool_result: p Ok ok",
            r#"tool_use: s shell [a; b] {"commands":["a","b"]}"#,
            "tool_result: s Error 123",
            "permission: t.close ",
            "permission: t.close reject",
            "tool_result: q Rejected no",
            "tool_use: m t.get [] {}",
            "tool_result: m Error down",
            "tool_result: z Ok late",
            "turn_end: Interrupted ",
        ]
    );
    let edits = read(input).into_iter().find_map(|event| match event.body {
        Body::ToolResult(result) if result.id == "p" => Some(result.edits),
        _ => None,
    });
    assert_eq!(edits.unwrap()[0].hunks[0].lines, ["+x"]);
}

#[test]
fn running_shell_output_is_live() {
    let input = r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"so","type":"shell_call_output","call_id":"s"}}
{"type":"response.shell_call_output_content.delta","item_id":"so","command_index":0,"delta":{"stdout":"a\n"}}"#;
    assert_eq!(outline(input)[0], "tool_output: s a\n");
}

#[test]
fn unfinished_bodies_are_interrupted() {
    let body = |status: &str| {
        format!("{{\"object\":\"response\",\"id\":\"r\",\"status\":\"{status}\",\"output\":[]}}")
    };
    assert_eq!(outline(&body("queued")), ["turn_end: Interrupted "]);
    assert_eq!(
        outline(&body("cancelled")),
        ["turn_end: Canceled cancelled"]
    );
    let polled = [body("queued"), body("completed")].join("\n");
    assert_eq!(outline(&polled), ["turn_end: Completed "]);
}

#[test]
fn unknown_and_mistyped_frames_are_kept() {
    let input = r#"{"type":"response.telepathy","sequence_number":1}
{"type":"response.output_item.done","item":{"type":"wish"}}
{"choices":7}
{"object":"chat.completion","choices":[{"message":"x"}]}
{"type":"response.output_text.delta","delta":5,"item_id":[]}
"a string"
5"#;
    let kinds: Vec<_> = read(input).iter().map(|event| event.body.kind()).collect();
    assert_eq!(
        kinds,
        [
            "session", "unknown", "unknown", "unknown", "turn_end", "unknown", "unknown",
            "turn_end"
        ]
    );
}

#[test]
fn statuses_and_levels() {
    let events = read(r#"{"error":{"message":"m","type":"t","code":null}}"#);
    assert!(matches!(&events[1].body, Body::Notice(notice) if notice.level == Level::Error));
    assert!(
        matches!(&events[2].body, Body::TurnEnd(end) if end.status == TurnStatus::Failed && end.reason == "t")
    );
    let output = r#"{"type":"computer_call_output","call_id":"c","output":{"image_url":"data:"}}"#;
    assert!(matches!(
        &read(output)[1].body,
        Body::ToolResult(result) if result.status == ToolStatus::Ok && result.output.is_empty()
    ));
}

#[test]
fn a_result_before_its_call_is_one_call() {
    let call = r#"{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}"#;
    let result = r#"{"type":"function_call_output","call_id":"c1","output":"a"}"#;
    let lost = r#"{"type":"function_call_output","call_id":"c0","output":"b"}"#;
    let shown = ["tool_use: c1 ls [] {}", "tool_result: c1 Ok a"];
    let lines = |input: &str| -> Vec<String> {
        let lines = outline(input).into_iter();
        lines.filter(|line| line.starts_with("tool")).collect()
    };
    assert_eq!(lines(&format!("{result}\n{call}\n")), shown);
    assert_eq!(lines(&format!("[{result},{call}]")), shown);
    let body = format!(
        r#"{{"object":"response","id":"r","status":"completed","output":[{result},{call}]}}"#
    );
    assert_eq!(lines(&body), shown);
    let done = |item: &str, index: u32| {
        format!(
            "data: {{\"type\":\"response.output_item.done\",\"output_index\":{index},\"item\":{item}}}\n\n"
        )
    };
    assert_eq!(lines(&(done(result, 0) + &done(call, 1))), shown);
    let with_lost = lines(&format!("{lost}\n{result}\n{call}\n"));
    assert_eq!(with_lost, [shown[0], shown[1], "tool_result: c0 Ok b"]);
    let tool = r#"{"role":"tool","tool_call_id":"c1","content":"a"}"#;
    let answer = r#"{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"ls","arguments":"{}"}}]}"#;
    assert_eq!(lines(&format!("{tool}\n{answer}\n")), shown);
}

#[test]
fn unknown_deltas_parts_and_roles_are_kept() {
    let unknown = |input: &str| {
        let events = read(input);
        let unknown = events
            .iter()
            .filter(|event| matches!(event.body, Body::Unknown(_)));
        unknown.count()
    };
    assert_eq!(unknown(&stream(&[r#"{"hologram":"x"}"#], Some("stop"))), 1);
    assert_eq!(
        unknown(&stream(&[r#"{"content":"x","hologram":1}"#], Some("stop"))),
        0
    );
    let message = r#"{"type":"message","role":"assistant","content":[{"type":"hologram","x":1}]}"#;
    let body = format!(
        r#"{{"object":"response","id":"r","status":"completed","output":[{message},{{"type":"hologram"}}]}}"#
    );
    assert_eq!(unknown(&body), 2);
    let added = r#"{"type":"response.output_item.added","item":{"id":"i","type":"hologram"}}"#;
    assert_eq!(unknown(&format!("data: {added}\n\n")), 1);
    let calls = r#"{"role":"robot","content":null,"tool_calls":[{"id":"c"}]}"#;
    assert_eq!(unknown(calls), 1);
}
