//! Nesting far deeper than in any real run: no panic, no stack overflow, no
//! line too wide.

use serde_json::json;
use unspool::layout;

use crate::{entries, events, formatter};

const WIDTHS: [usize; 4] = [31, 40, 80, 200];

/// Formats lines of events at all widths; returns the text at the last one.
fn shown(lines: &str) -> String {
    let events = events(lines.as_bytes());
    assert!(!events.is_empty());
    let mut last = String::new();
    for plain in [true, false] {
        let formatter = formatter(plain);
        for entry in entries(&events) {
            // Without a width, only check that it terminates.
            formatter.format_entry(&entry, 0);
            for width in WIDTHS {
                last = formatter.format_entry(&entry, width);
                for line in last.lines().filter(|_| plain) {
                    let cells = layout::width(line);
                    assert!(cells <= width, "{cells} cells at {width}: {line:?}");
                }
            }
        }
    }
    last
}

fn answer(text: &str) -> String {
    json!({"kind": "text", "seq": 0, "id": "a", "text": text}).to_string()
}

#[test]
fn sub_agents_at_any_depth() {
    for depth in (1..60).chain([100, 300, 1000, 2000, u32::MAX]) {
        let agent = json!({"id": "x", "parent": "1", "depth": depth, "name": "helper"});
        let lines = [
            json!({"kind": "text", "seq": 0, "id": "a", "text": "Some words that have to be wrapped, `code` and a very_long_word_that_has_to_be_cut_somewhere.\n\n- item\n\n| a | b |\n|---|---|\n| c | d |", "agent": agent}),
            json!({"kind": "tool_use", "seq": 1, "id": "1", "name": "Bash", "category": "execute", "arg": "ls", "agent": agent}),
            json!({"kind": "tool_result", "seq": 2, "id": "1", "name": "Bash", "status": "ok", "output": "a line of output that is rather long\nb", "agent": agent}),
            json!({"kind": "edit", "seq": 3, "edits": [{"op": "update", "path": "a", "hunks": [{"old_start": 1, "new_start": 1, "lines": ["+a line that is rather long"]}]}], "agent": agent}),
        ]
        .map(|line| line.to_string());
        shown(&lines.join("\n"));
    }
}

#[test]
fn quotes_nested_a_thousand_deep() {
    for depth in [10, 100, 1000] {
        let text = shown(&answer(&format!("{}the words", "> ".repeat(depth))));
        assert!(text.contains("the words"), "{depth}");
    }
}

#[test]
fn lists_nested_a_thousand_deep() {
    for depth in [10, 100, 1000] {
        let text = shown(&answer(&format!("{}the words", "- ".repeat(depth))));
        assert!(text.contains("the words"), "{depth}");
        let text = shown(&answer(&format!(
            "{}the words",
            "1. > - ".repeat(depth / 3)
        )));
        assert!(text.contains("the words"), "{depth}");
    }
    let lines: Vec<String> = (0..300)
        .map(|depth| format!("{}- item {depth}", "  ".repeat(depth)))
        .collect();
    assert!(shown(&answer(&lines.join("\n"))).contains("item 299"));
}

#[test]
fn emphasis_links_and_brackets_nested_deep() {
    for (open, close) in [
        ("*", "*"),
        ("**a ", "** "),
        ("[", "](x)"),
        ("![", "](x)"),
        ("<b>", "</b>"),
        ("a`", ""),
        ("~~a ", "~~"),
        ("[[", ""),
        ("_a", ""),
    ] {
        let text = format!("{}words{}", open.repeat(5000), close.repeat(5000));
        assert!(shown(&answer(&text)).contains("words"), "{open}");
    }
}

#[test]
fn json_nested_a_hundred_thousand_deep() {
    const DEPTH: usize = 100_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
        let nested = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        let output = serde_json::to_string(&nested).unwrap();
        let lines = format!(
            "{{\"kind\":\"tool_use\",\"seq\":0,\"id\":\"1\",\"name\":\"frob\",\"category\":\"other\",\"input\":{nested}}}\n\
             {{\"kind\":\"tool_result\",\"seq\":1,\"id\":\"1\",\"name\":\"frob\",\"status\":\"ok\",\"output\":{output}}}\n\
             {{\"kind\":\"state\",\"seq\":2,\"name\":\"mode\",\"value\":{nested}}}\n"
        );
        let text = shown(&lines);
        drop(text);
    }
}

#[test]
fn json_nested_deep_in_the_wire_of_every_provider() {
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let wires = [
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"frob","input":{{"a":{nested}}}}}]}},"session_id":"s"}}"#
        ),
        format!(
            r#"{{"type":"item.completed","item":{{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","arguments":{nested},"status":"completed"}}}}"#
        ),
        format!(
            r#"{{"type":"tool_use","timestamp":"2026-11-15T18:16:10.437Z","tool_name":"frob","tool_id":"t","parameters":{{"a":{nested}}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","rawInput":{nested}}}}}}}"#
        ),
        format!(r#"{{"kind":"made_up","value":{nested}}}"#),
        nested,
    ];
    for wire in wires {
        for provider in unspool::source::BUILTIN {
            let mut reader = unspool::Reader::with_options(
                unspool::ReaderOptions::default()
                    .with_from(unspool::source::provider(provider.name)),
            );
            reader.push(wire.as_bytes());
            reader.push(b"\n");
            reader.finish();
            let events: Vec<unspool::Event> = reader.events().collect();
            for entry in entries(&events) {
                formatter(true).format_entry(&entry, 80);
            }
        }
    }
}
