//! Formatting event by event: messages appear when they are complete, and no
//! text ends in a newline.

use unspool::Event;
use unspool::formatter::{Config, Formatter};

use crate::events::{assert_same, plain};

fn event(line: &str) -> Event {
    Event::from_json(line).expect("an event")
}

/// Checks the output of each event, including empty output.
#[track_caller]
fn gives(steps: &[(&str, &str)]) {
    let mut formatter = Formatter::new(plain());
    let shown: Vec<String> = steps
        .iter()
        .map(|(line, _)| formatter.format_event(&event(line), 80))
        .collect();
    let expected: Vec<&str> = steps.iter().map(|(_, text)| *text).collect();
    assert_same(&shown, &expected);
}

#[test]
fn deltas_appear_when_their_message_is_complete() {
    gives(&[
        (r#"{"kind":"text","id":"m","delta":true,"text":"Hel"}"#, ""),
        (
            r#"{"kind":"text","id":"m","delta":true,"text":"lo `x"}"#,
            "",
        ),
        (r#"{"kind":"text","id":"m","delta":true,"text":"`."}"#, ""),
        (
            r#"{"kind":"tool_use","id":"1","name":"Bash","category":"execute","input":{"command":"ls"}}"#,
            "• Hello x.\n• Running ls",
        ),
        (r#"{"kind":"tool_output","id":"1","text":"a\n"}"#, ""),
        (
            r#"{"kind":"tool_result","id":"1","status":"ok","output":"a\nb\n"}"#,
            "• Ran ls\n  └ a\n    b",
        ),
    ]);
}

#[test]
fn a_final_form_replaces_its_deltas() {
    gives(&[
        (r#"{"kind":"text","id":"m","delta":true,"text":"Hel"}"#, ""),
        (r#"{"kind":"text","id":"m","text":"Hello."}"#, "• Hello."),
        (r#"{"kind":"turn_end","status":"completed"}"#, ""),
    ]);
}

#[test]
fn reasoning_streams_like_text() {
    gives(&[
        (
            r#"{"kind":"reasoning","id":"r","delta":true,"text":"**Look"}"#,
            "",
        ),
        (
            r#"{"kind":"reasoning","id":"r","delta":true,"text":"ing**\n\nmore"}"#,
            "",
        ),
        (
            r#"{"kind":"text","id":"m","delta":true,"text":"Done."}"#,
            "• Looking",
        ),
        (r#"{"kind":"turn_end","status":"completed"}"#, "• Done."),
    ]);
}

#[test]
fn a_plan_beside_a_message_follows_it() {
    gives(&[
        (r#"{"kind":"text","id":"m","delta":true,"text":"I "}"#, ""),
        (
            r#"{"kind":"plan","entries":[{"text":"a","status":"pending"}]}"#,
            "",
        ),
        (r#"{"kind":"text","id":"m","delta":true,"text":"go."}"#, ""),
        (
            r#"{"kind":"user","text":"yes"}"#,
            "• I go.\n• Update Plan\n  └ □ a\n› yes",
        ),
    ]);
}

/// One event of each kind, with newlines wherever possible, and true if it is
/// visible.
const KINDS: &[(&str, bool)] = &[
    (r#"{"kind":"session","provider":"p","model":"m"}"#, false),
    (r#"{"kind":"user","text":"a\n\n"}"#, true),
    (r#"{"kind":"text","text":"a\n\n```\nb\n\n```\n\n"}"#, true),
    (
        r#"{"kind":"text","text":"- a\n- b\n\n| a |\n|---|\n| b |\n\n---\n"}"#,
        true,
    ),
    (r#"{"kind":"reasoning","text":"a\n\n"}"#, true),
    (
        r#"{"kind":"tool_use","id":"1","name":"Bash","category":"execute","input":{"command":"ls\n"}}"#,
        true,
    ),
    (r#"{"kind":"tool_output","id":"1","text":"a\n\n"}"#, false),
    (
        r#"{"kind":"tool_result","id":"1","status":"ok","output":"a\n\nb\n\n\n"}"#,
        true,
    ),
    (
        r#"{"kind":"tool_result","id":"2","name":"x","status":"error","output":"a\n\n"}"#,
        true,
    ),
    (
        r#"{"kind":"tool_result","id":"3","name":"x","status":"ok","output":"\n\n"}"#,
        true,
    ),
    (
        r#"{"kind":"plan","explanation":"a\n","entries":[{"text":"b\n","status":"pending"}]}"#,
        true,
    ),
    (
        r#"{"kind":"edit","edits":[{"op":"update","path":"a\n","hunks":[{"lines":["+b","+"," "]}]}]}"#,
        true,
    ),
    (
        r#"{"kind":"permission","id":"p","title":"a\n","outcome":"yes\n"}"#,
        true,
    ),
    (
        r#"{"kind":"prompt","question":"a?\n","options":["y","n\n"],"answer":"y\n"}"#,
        true,
    ),
    (r#"{"kind":"context","name":"a\n","text":"b\n"}"#, true),
    (r#"{"kind":"notice","level":"error","text":"a\n\n"}"#, true),
    (
        r#"{"kind":"notice","level":"warning","text":"a\n\n"}"#,
        true,
    ),
    (
        r#"{"kind":"notice","level":"canceled","text":"a\n\n"}"#,
        true,
    ),
    (r#"{"kind":"notice","level":"retry","text":"a\n\n"}"#, true),
    (r#"{"kind":"notice","level":"info","text":"a\n\n"}"#, true),
    (r#"{"kind":"usage","input_tokens":1}"#, true),
    (r#"{"kind":"turn_end","status":"interrupted"}"#, true),
    (r#"{"kind":"turn_end","status":"completed"}"#, false),
    (r#"{"kind":"state","name":"mode","value":"x"}"#, false),
    (r#"{"kind":"unknown","text":"a\n\nb\n\n"}"#, true),
];

#[test]
fn no_text_starts_or_ends_with_a_newline() {
    for width in [0, 30, 31, 80] {
        for config in [plain(), Config::default()] {
            let mut formatter = Formatter::new(config);
            for (line, is_shown) in KINDS {
                let text = formatter.format_event(&event(line), width);
                assert_eq!(!text.is_empty(), *is_shown, "{line}");
                assert_eq!(text.trim_matches('\n'), text, "{line}");
                for line in text.lines() {
                    assert_eq!(line.trim_end(), line);
                }
            }
        }
    }
}

#[test]
fn every_kind_is_tested() {
    let mut kinds: Vec<&str> = KINDS
        .iter()
        .map(|(line, _)| event(line).body.kind())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "context",
            "edit",
            "notice",
            "permission",
            "plan",
            "prompt",
            "reasoning",
            "session",
            "state",
            "text",
            "tool_output",
            "tool_result",
            "tool_use",
            "turn_end",
            "unknown",
            "usage",
            "user"
        ]
    );
}
