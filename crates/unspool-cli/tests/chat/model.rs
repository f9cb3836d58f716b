//! A scripted model on loopback, in the two dialects that the real agents of
//! these tests speak: chat completions and Gemini's.
//!
//! Asked with tools at hand it writes a file by a shell command; told the
//! command's result, or without tools, it says a sentence.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// What the model wants to be run.
pub(crate) const COMMAND: &str = "echo hello > made.txt";
/// What it says in the end.
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
    ("application/json", "{}".to_owned())
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
