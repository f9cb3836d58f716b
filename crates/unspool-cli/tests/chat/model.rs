//! A scripted model on loopback, in the dialects that the real agents of these
//! tests speak: chat completions, responses, messages and Gemini's.
//!
//! Asked with tools at hand it writes a file by a shell command; told the
//! command's result, or without tools, it says a sentence.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// The command that the model asks to run.
pub(crate) const COMMAND: &str = "echo hello > made.txt";
/// Its final answer.
pub(crate) const ANSWER: &str = "The file **made.txt** is there.";

/// Starts the server and gives its address. It lives as long as the test.
pub(crate) fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Answers one request; an agent that has gone away is no concern of ours.
fn answer(stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (kind, reply) = reply(&path, &body);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(reply.as_bytes()).ok()
}

fn reply(path: &str, body: &[u8]) -> (&'static str, String) {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    if path.contains("chat/completions") {
        return ("text/event-stream", chat_completion(&asked));
    }
    if path.contains("streamGenerateContent") {
        return ("text/event-stream", event(&gemini(&asked)));
    }
    if path.contains("enerateContent") {
        return ("application/json", gemini(&asked).to_string());
    }
    let address = path.split('?').next().unwrap_or_default();
    if address.ends_with("/responses") {
        return ("text/event-stream", named(&responses(&asked)));
    }
    if address.ends_with("/messages") {
        return ("text/event-stream", named(&messages(&asked)));
    }
    ("application/json", "{}".to_owned())
}

/// Events that are named by their types.
fn named(events: &[Value]) -> String {
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    let lines = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", name(event)));
    lines.collect()
}

fn tools(asked: &Value) -> Vec<String> {
    let tools = asked["tools"].as_array().into_iter().flatten();
    tools
        .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
        .collect()
}

/// The Responses API, for Codex.
fn responses(asked: &Value) -> Vec<Value> {
    let was_run = asked["input"].to_string().contains("function_call_output");
    let tools = tools(asked);
    let arguments = match tools.iter().find_map(|tool| match tool.as_str() {
        "exec_command" => Some((tool, json!({"cmd": COMMAND}))),
        "shell_command" => Some((tool, json!({"command": COMMAND}))),
        "shell" => Some((tool, json!({"command": ["bash", "-lc", COMMAND]}))),
        _ => None,
    }) {
        Some(arguments) if !was_run => Some(arguments),
        _ => None,
    };
    let item = match arguments {
        Some((name, arguments)) => json!({
            "type": "function_call", "id": "f1", "call_id": "call_1", "name": name,
            "arguments": arguments.to_string(),
        }),
        None => json!({
            "type": "message", "id": "m1", "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER}],
        }),
    };
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": null,
        "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15,
    });
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r1"}})];
    if item["type"] == "message" {
        let mut begun = item.clone();
        begun["content"] = json!([]);
        events.push(json!({
            "type": "response.output_item.added", "output_index": 0, "item": begun,
        }));
        events.push(json!({
            "type": "response.output_text.delta", "item_id": "m1", "output_index": 0,
            "content_index": 0, "delta": ANSWER,
        }));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    events.push(json!({"type": "response.completed", "response": {"id": "r1", "usage": usage}}));
    events
}

/// The Messages API, for Claude Code.
fn messages(asked: &Value) -> Vec<Value> {
    let was_run = asked["messages"].to_string().contains("tool_result");
    let is_call = !was_run && tools(asked).iter().any(|tool| tool == "Bash");
    let message = json!({
        "id": "m1", "type": "message", "role": "assistant", "model": asked["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    });
    let (block, delta, stop) = if is_call {
        let input = json!({"command": COMMAND, "description": "Make a file"}).to_string();
        (
            json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input}),
            "tool_use",
        )
    } else {
        (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": ANSWER}),
            "end_turn",
        )
    };
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn chat_completion(asked: &Value) -> String {
    let messages = asked["messages"].as_array().cloned().unwrap_or_default();
    let was_run = messages.iter().any(|message| message["role"] == "tool");
    let tools = asked["tools"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    let shell = ["bash", "run_shell_command"]
        .into_iter()
        .find(|shell| names.contains(shell) && !was_run);
    let chunk = |delta: Value, end: Option<&str>| {
        event(&json!({
            "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
        }))
    };
    let mut stream = String::new();
    if let Some(shell) = shell {
        let arguments = json!({"command": COMMAND, "description": "Make a file"}).to_string();
        let function = json!({"name": shell, "arguments": arguments});
        let call = json!({"index": 0, "id": "call_1", "type": "function", "function": function});
        stream += &chunk(
            json!({"role": "assistant", "content": "Let me see. "}),
            None,
        );
        stream += &chunk(json!({ "tool_calls": [call] }), None);
        stream += &chunk(json!({}), Some("tool_calls"));
    } else {
        let (first, rest) = ANSWER.split_at(9);
        stream += &chunk(json!({"role": "assistant", "content": first}), None);
        stream += &chunk(json!({ "content": rest }), None);
        stream += &chunk(json!({}), Some("stop"));
    }
    stream + "data: [DONE]\n\n"
}

fn gemini(asked: &Value) -> Value {
    let was_run = asked["contents"].to_string().contains("functionResponse");
    let parts = if asked["tools"].is_array() && !was_run {
        let arguments = json!({"command": COMMAND, "description": "Make a file"});
        json!([
            {"text": "Let me see. "},
            {"functionCall": {"name": "run_shell_command", "args": arguments}},
        ])
    } else {
        json!([{ "text": ANSWER }])
    };
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15,
        },
        "modelVersion": "gemini-2.5-pro",
    })
}
