//! Pictures in the formats of every agent: in a prompt, in a result, in an
//! answer and made by a tool.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use allocation_counter::measure;
use serde_json::{Value, json};
use unspool::formatter::{Config, Formatter};
use unspool::source::provider;
use unspool::{Event, Reader, ReaderOptions};

/// A PNG of 2×1 pixels.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAADklEQVR42mP4z8DwH4QBEfcD/f6tu5kAAAAASUVORK5CYII=";

/// A provider, lines that it wrote (`@` for the picture), and the kinds of the
/// events that hold it.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "claude",
        r#"{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}]}}
{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a.png"}}]}}
{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}]}]}}"#,
        &["user", "tool_result"],
    ),
    (
        "claude",
        r#"{"type":"user","sessionId":"s","uuid":"u","timestamp":"2026-11-15T18:16:10.081Z","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"@"}}]}}"#,
        &["user"],
    ),
    (
        "codex",
        r#"{"type":"thread.started","thread_id":"0199"}
{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":{"content":[{"type":"image","data":"@","mimeType":"image/png"}]},"status":"completed"}}"#,
        &["tool_result"],
    ),
    (
        "codex",
        r#"{"timestamp":"2026-11-15T18:16:10.081Z","type":"session_meta","payload":{"id":"s","cwd":"/w","cli_version":"0.150.0"}}
{"timestamp":"2026-11-15T18:16:10.081Z","type":"event_msg","payload":{"type":"user_message","message":"see","images":["data:image/png;base64,@"],"local_images":[]}}
{"timestamp":"2026-11-15T18:16:10.081Z","type":"response_item","payload":{"type":"function_call","name":"view_image","arguments":"{\"path\":\"a.png\"}","call_id":"v"}}
{"timestamp":"2026-11-15T18:16:10.081Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"ImageView","id":"v","path":"a.png"}}}
{"timestamp":"2026-11-15T18:16:10.081Z","type":"response_item","payload":{"type":"function_call_output","call_id":"v","output":[{"type":"input_image","image_url":"data:image/png;base64,@"}]}}
{"timestamp":"2026-11-15T18:16:10.081Z","type":"response_item","payload":{"type":"image_generation_call","id":"g","status":"completed","revised_prompt":"a gate","result":"@"}}"#,
        &["user", "tool_result", "tool_result"],
    ),
    (
        "codex",
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"a","content":[{"type":"text","text":"see"},{"type":"image","url":"data:image/png;base64,@"}]}}}
{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"imageGeneration","id":"g","status":"completed","revisedPrompt":"a gate","result":"@"}}}"#,
        &["user", "tool_result"],
    ),
    (
        "gemini",
        r#"{"type":"init","timestamp":"2026-11-15T18:16:10.081Z","session_id":"s","model":"auto"}
{"type":"message","timestamp":"2026-11-15T18:16:10.082Z","role":"user","content":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"@"}}]}
{"type":"message","timestamp":"2026-11-15T18:16:10.082Z","role":"assistant","content":[{"inlineData":{"mimeType":"image/png","data":"@"}}],"delta":true}"#,
        &["user", "text"],
    ),
    (
        "gemini",
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-15T18:16:10.081Z","lastUpdated":"2026-11-15T18:16:10.081Z","messages":[{"id":"u","timestamp":"2026-11-15T18:16:10.081Z","type":"user","content":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"@"}}]},{"id":"g","timestamp":"2026-11-15T18:16:10.081Z","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read_file","args":{"file_path":"a.png"},"status":"success","result":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"Binary content provided."}}},{"inlineData":{"mimeType":"image/png","data":"@"}}]}]}]}"#,
        &["user", "tool_result"],
    ),
    (
        "qwen",
        r#"{"type":"system","subtype":"init","uuid":"u","session_id":"s","cwd":"/w","tools":[],"model":"m","permission_mode":"default","qwen_code_version":"0.5.0"}
{"type":"assistant","uuid":"a","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"read_file","input":{"file_path":"a.png"}}]}}
{"type":"user","uuid":"b","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":false,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}]}]}}"#,
        &["tool_result"],
    ),
    (
        "qwen",
        r#"{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T18:16:10.081Z","type":"user","cwd":"/w","version":"0.5.0","message":{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"@"}}]}}
{"uuid":"r","parentUuid":"u","sessionId":"s","timestamp":"2026-11-15T18:16:10.081Z","type":"tool_result","cwd":"/w","version":"0.5.0","message":{"role":"user","parts":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":""},"parts":[{"inlineData":{"mimeType":"image/png","data":"@"}}]}}]},"toolCallResult":{"callId":"c","status":"success"}}"#,
        &["user", "tool_result"],
    ),
    (
        "opencode",
        r#"{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{"filePath":"a.png"},"output":"Image read successfully","title":"a.png","metadata":{},"time":{"start":1,"end":2},"attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,@"}]}}}"#,
        &["tool_result"],
    ),
    (
        "opencode",
        r#"{"info":{"id":"ses_1","title":"t","time":{"created":1,"updated":2}},"messages":[{"info":{"id":"msg_1","role":"user","sessionID":"ses_1","time":{"created":1}},"parts":[{"id":"prt_1","type":"text","text":"see"},{"id":"prt_2","type":"file","mime":"image/png","url":"data:image/png;base64,@"}]}]}"#,
        &["user"],
    ),
    (
        "openai",
        r#"[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]},{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]}]"#,
        &["user", "text"],
    ),
    (
        "openai",
        r#"{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"image_generation_call","id":"g","status":"completed","result":"@"},{"type":"code_interpreter_call","id":"c","status":"completed","code":"x","outputs":[{"type":"image","url":"data:image/png;base64,@"}]}]}"#,
        &["tool_result", "tool_result"],
    ),
    (
        "openai",
        r#"[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,@"}]},{"type":"function_call","call_id":"f","name":"shot","arguments":"{}"},{"type":"function_call_output","call_id":"f","output":[{"type":"input_image","image_url":"data:image/png;base64,@"}]},{"type":"computer_call","call_id":"k","id":"k","action":{"type":"screenshot"}},{"type":"computer_call_output","call_id":"k","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,@"}}]"#,
        &["user", "tool_result", "tool_result"],
    ),
    (
        "openai",
        r#"data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Look"}}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}}]}}]}

data: [DONE]
"#,
        &["text"],
    ),
    (
        "acp",
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"image","data":"@","mimeType":"image/png"}]}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"@","mimeType":"image/png"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Shot","kind":"other","status":"completed","content":[{"type":"content","content":{"type":"image","data":"@","mimeType":"image/png"}}]}}}"#,
        &["user", "text", "tool_result"],
    ),
];

fn read(name: &str, input: &str, with_media: bool) -> Vec<Event> {
    let options = ReaderOptions::default()
        .with_from(provider(name))
        .with_media(with_media);
    let mut reader = Reader::with_options(options);
    reader.push(input.replace('@', PNG).as_bytes());
    reader.finish();
    reader.events().collect()
}

/// Returns the kind of each event with media, and the media.
fn media(events: &[Event]) -> (Vec<String>, Vec<Value>) {
    let values = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap());
    let with_media = values.filter(|value| value.get("media").is_some());
    let facts = |value: Value| {
        (
            value["kind"].as_str().unwrap().to_owned(),
            value["media"].clone(),
        )
    };
    with_media.map(facts).unzip()
}

#[test]
fn pictures_of_every_agent_are_described() {
    let facts = json!([{"mime": "image/png", "bytes": 71, "width": 2, "height": 1}]);
    for (name, input, kinds) in CASES {
        let events = read(name, input, false);
        let (found, pictures) = media(&events);
        assert_eq!(found, *kinds, "{name} {input}\n{events:#?}");
        for picture in pictures {
            assert_eq!(picture, facts, "{name} {input}");
        }
        let lines = events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap());
        assert!(lines.into_iter().all(|line| !line.contains(PNG)), "{name}");
    }
}

#[test]
fn the_content_is_carried_on_request_and_read_back() {
    for (name, input, _) in CASES {
        let events = read(name, input, true);
        let (_, pictures) = media(&events);
        assert!(!pictures.is_empty(), "{name}");
        for picture in &pictures {
            assert_eq!(picture[0]["data"], PNG, "{name} {input}");
        }
        let lines: Vec<String> = events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap())
            .collect();
        let lines = lines.join("\n");
        assert_eq!(read("unspool", &lines, true), events, "{name}");
        let (_, facts) = media(&read("unspool", &lines, false));
        assert!(
            facts.iter().all(|facts| facts[0].get("data").is_none()),
            "{name}"
        );
    }
}

#[test]
fn pictures_are_shown_as_words() {
    for (name, input, kinds) in CASES {
        let formatter = Formatter::new(Config::default().with_plain_text(true));
        let shown = formatter.format_run(read(name, input, false), 80);
        let count = shown.matches("[image 2×1 PNG, 71 bytes]").count();
        assert_eq!(count, kinds.len(), "{name}\n{shown}");
    }
}

/// Returns the bytes allocated for reading a line.
fn allocated(line: &str) -> u64 {
    let options = ReaderOptions::default().with_from(provider("claude"));
    let mut reader = Reader::with_options(options);
    let mut kinds = Vec::new();
    let taken = measure(|| {
        reader.push(line.as_bytes());
        reader.push(b"\n");
        kinds = reader.events().map(|event| event.body.kind()).collect();
    });
    assert!(kinds.contains(&"user"), "{kinds:?}");
    taken.bytes_total
}

#[test]
fn a_large_picture_is_not_copied() {
    let (_, claude, _) = CASES[0];
    let large = format!("{PNG}{}", "A".repeat(8_000_000));
    let line = claude.lines().next().unwrap().replace('@', &large);
    // The same line with the content where nothing reads it.
    let unread = line.replace("\"data\"", "\"none\"");
    let (read, unread) = (allocated(&line), allocated(&unread));
    assert!(read < unread + 10_000, "{read} {unread}");
}
