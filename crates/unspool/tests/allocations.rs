//! Counts heap allocations while reading and formatting.
//!
//! An event owns its texts, and so does the formatted text. Nothing else is
//! allocated per line: not for a line without events, not for output that is
//! not shown, and no more at the end of a long run than at its start.

use allocation_counter::{AllocationInfo, measure};
use unspool::Reader;
use unspool::formatter::{Config, Formatter};
use unspool::session::Session;

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/home/user/project","session_id":"s","model":"model","tools":["Bash"],"claude_code_version":"2.1.0"}"#;
const PING: &str =
    r#"{"type":"stream_event","event":{"type":"ping"},"session_id":"s","parent_tool_use_id":null}"#;
const DELTA: &str = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words"}},"session_id":"s","parent_tool_use_id":null}"#;

/// Starts a message, so that the following deltas belong to one.
const START: &str = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant","model":"model","content":[],"usage":{"input_tokens":1,"output_tokens":1}}},"session_id":"s","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null}"#;

/// Returns a shell call and its result with `lines` lines of output.
fn call(number: usize, lines: usize) -> String {
    let output = r"src/reader.rs:1:\tlet x = \u00e9;\n".repeat(lines);
    format!(
        r#"{{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{{"id":"m{number:09}","type":"message","role":"assistant","model":"model","content":[{{"type":"tool_use","id":"toolu_{number:09}","name":"Bash","input":{{"command":"grep -rn x src"}}}}],"usage":{{"input_tokens":12,"output_tokens":34}}}}}}
{{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number:09}","content":"{output}","is_error":false}}]}},"tool_use_result":{{"stdout":"{output}","stderr":"","interrupted":false}}}}
"#
    )
}

/// Returns many copies of a line, like the chunk of a pipe.
fn chunk(line: &str, count: usize) -> Vec<u8> {
    format!("{line}\n").repeat(count).into_bytes()
}

/// Returns a reader in the middle of a run.
fn reader() -> Reader {
    let mut reader = Reader::new();
    for line in [INIT, START] {
        reader.push(&chunk(line, 1));
    }
    reader.events().for_each(drop);
    reader
}

/// Returns the allocations for reading the bytes, and the number of events.
fn reading(reader: &mut Reader, bytes: &[u8]) -> (AllocationInfo, u64) {
    let mut events = 0;
    let taken = measure(|| {
        reader.push(bytes);
        events = reader.events().count() as u64;
    });
    (taken, events)
}

#[test]
fn lines_without_events_allocate_nothing() {
    for line in [PING, ""] {
        let mut reader = reader();
        let (taken, events) = reading(&mut reader, &chunk(line, 1000));
        assert_eq!((taken.count_total, events), (0, 0), "{line}");
    }
}

#[test]
fn a_delta_allocates_the_two_texts_of_its_event() {
    let mut reader = reader();
    // The queue for the events of a chunk is allocated once.
    reading(&mut reader, &chunk(DELTA, 1000));
    let (taken, events) = reading(&mut reader, &chunk(DELTA, 1000));
    assert_eq!(events, 1000);
    assert_eq!(taken.count_total, 2 * events);
    let texts = ["m1:0", "some words"].map(str::len);
    assert_eq!(
        taken.bytes_total,
        events * texts.iter().sum::<usize>() as u64
    );
}

#[test]
fn a_delta_allocates_little_for_every_provider() {
    // The first lines, a delta, and the maximum allocations for it.
    let agents = [
        (
            "gemini",
            r#"{"type":"init","timestamp":"2026-05-02T08:00:00.000Z","session_id":"s","model":"m"}"#,
            r#"{"type":"message","timestamp":"2026-05-02T08:00:00.000Z","role":"assistant","content":"some words","delta":true}"#,
            4,
        ),
        (
            "qwen",
            r#"{"type":"system","subtype":"init","uuid":"u","session_id":"s","cwd":"/w","tools":[],"mcp_servers":[],"model":"m","permission_mode":"default","slash_commands":[],"qwen_code_version":"0.15.10","agents":[]}"#,
            r#"{"type":"stream_event","uuid":"u","session_id":"s","parent_tool_use_id":null,"event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words"}}}"#,
            2,
        ),
        (
            "acp",
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words"}}}}"#,
            5,
        ),
        (
            "openai",
            "",
            r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"some words"},"finish_reason":null}]}
"#,
            7,
        ),
        (
            "unspool",
            r#"{"kind":"session","seq":0,"provider":"claude"}"#,
            r#"{"kind":"text","seq":1,"text":"some words","id":"m1","delta":true}"#,
            2,
        ),
    ];
    for (name, first, piece, most) in agents {
        let mut reader = Reader::new();
        reader.push(&chunk(first, 1));
        reading(&mut reader, &chunk(piece, 1000));
        let (taken, events) = reading(&mut reader, &chunk(piece, 1000));
        let provider = reader.provider().map(|provider| provider.name);
        assert_eq!((provider, events), (Some(name), 1000));
        assert!(
            taken.count_total <= most * events,
            "{name}: {} for {events} pieces",
            taken.count_total
        );
    }
}

#[test]
fn the_end_of_a_long_run_allocates_no_more_than_its_middle() {
    let run =
        |from: usize| -> String { (from..from + 500).map(|number| call(number, 3)).collect() };
    let mut reader = reader();
    // Caches of recent values fill up to their limits.
    for from in 0..20 {
        reading(&mut reader, run(from * 500).as_bytes());
    }
    let (middle, _) = reading(&mut reader, run(10_000).as_bytes());
    for from in 0..20 {
        reading(&mut reader, run(11_000 + from * 500).as_bytes());
    }
    let (end, events) = reading(&mut reader, run(100_000).as_bytes());
    assert_eq!(events, 1000);
    assert_eq!(end.count_total, middle.count_total);
    assert_eq!(end.bytes_total, middle.bytes_total);
}

#[test]
fn a_long_output_is_copied_once_and_not_decoded() {
    let (mut short, _) = reading(&mut reader(), call(1, 100).as_bytes());
    let (long, events) = reading(&mut reader(), call(1, 10_000).as_bytes());
    assert_eq!(events, 2);
    assert_eq!(long.count_total, short.count_total);
    let longer = (call(1, 10_000).len() - call(1, 100).len()) as u64;
    // The output occurs twice in the line, but is kept once.
    short.bytes_total += longer / 2;
    assert_eq!(long.bytes_total, short.bytes_total);
}

#[test]
fn formatting_a_long_output_costs_as_much_as_its_first_lines() {
    let shown = |lines: usize| {
        let mut reader = reader();
        reader.push(call(1, lines).as_bytes());
        let formatter = Formatter::new(Config::default().with_plain_text(true));
        let (mut session, mut text) = (Session::new(), String::new());
        let mut all = AllocationInfo::default();
        for event in reader.events() {
            session.apply(event, &mut |entry| {
                let taken = measure(|| text += &formatter.format_entry(&entry, 80));
                all.count_total += taken.count_total;
                all.bytes_total += taken.bytes_total;
            });
        }
        assert!(text.contains("src/reader.rs:1"), "{text}");
        (all.count_total, all.bytes_total)
    };
    // Allocate everything that is allocated once.
    shown(100);
    // Use counts of omitted lines with the same number of digits.
    assert_eq!(shown(200_000), shown(900_000), "allocations and bytes");
}
