//! Tool calls that the document does not cover: rejected edits, sub-agents,
//! background tasks, search matches in long texts.

use serde_json::{Value, json};
use unspool::doc::entry::{Detail, Excerpt, LineMatcher};
use unspool::event::{Category, Event, ToolResult, ToolStatus, ToolUse};
use unspool::formatter::Config;
use unspool::page::{Options, Page};

use crate::events::{OWN, plain, texts};

/// Returns the last text of a call and its result.
fn formatted(config: Config, call: &Value, result: &Value) -> String {
    let mut call = call.clone();
    let mut result = result.clone();
    call["kind"] = "tool_use".into();
    result["kind"] = "tool_result".into();
    call["id"] = "1".into();
    result["id"] = "1".into();
    let lines = format!("{call}\n{result}");
    texts(config, OWN, &lines, 60).pop().unwrap_or_default()
}

fn shown(call: &Value, result: &Value) -> String {
    formatted(plain(), call, result)
}

#[test]
fn a_rejected_edit_looks_like_a_rejected_command() {
    let edit = json!({"name": "Edit", "category": "edit", "input": {"file_path": "a.rs"}});
    let refused = json!({"status": "rejected"});
    assert_eq!(shown(&edit, &refused), "• Rejected Edit a.rs");
    let reason = json!({"status": "rejected", "output": "not today"});
    assert_eq!(
        shown(&edit, &reason),
        "• Rejected Edit a.rs\n  └ Rejected: not today"
    );
    let patch = json!({"name": "apply_patch", "category": "edit",
        "input": "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\n"});
    assert_eq!(shown(&patch, &refused), "• Rejected Add b");
    let search = json!({"name": "Grep", "category": "search", "input": {"pattern": "x"}});
    let stopped = json!({"status": "canceled"});
    assert_eq!(shown(&search, &stopped), "• Canceled Search x");
}

#[test]
fn a_tool_without_a_name_is_shown_by_its_title() {
    let done = json!({"status": "ok"});
    for (name, title, expected) in [
        ("other", "ResourceManager", "• Tool ResourceManager {}"),
        (
            "think",
            "Compact conversation",
            "• Tool Compact conversation {}",
        ),
        ("other", "", "• Tool other {}"),
        ("lookup", "Look it up", "• Tool lookup {}"),
    ] {
        let call = json!({"name": name, "category": "other", "title": title, "input": {}});
        assert_eq!(shown(&call, &done), expected);
    }
}

#[test]
fn output_before_a_cancellation_is_not_shown_as_its_reason() {
    let lines = [
        json!({"kind": "tool_use", "id": "1", "name": "Bash", "category": "execute",
            "input": {"command": "seq 9"}}),
        json!({"kind": "tool_output", "id": "1", "text": "1\n2\n"}),
        json!({"kind": "tool_result", "id": "1", "status": "canceled"}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let last = texts(plain(), OWN, &lines, 60).pop().unwrap();
    assert_eq!(last, "• Canceled seq 9\n  └ 1\n    2");
}

#[test]
fn sub_agent_calls_look_the_same_for_every_agent() {
    let task = |name: &str, input: Value| {
        let call = json!({"name": name, "category": "task", "input": input});
        shown(&call, &json!({"status": "ok"}))
    };
    for (name, input, expected) in [
        (
            "spawn_agent",
            json!({"task_name": "look"}),
            "• Delegated look",
        ),
        (
            "wait",
            json!({"receiverThreadIds": []}),
            "• Waited for agents",
        ),
        ("wait_agent", json!({}), "• Waited for agents"),
        ("close_agent", json!({}), "• Closed agent"),
        ("list_agents", json!({}), "• List agents"),
        (
            "send_message",
            json!({"target": "look", "message": "Thanks."}),
            "• Messaged look\n  └ Thanks.",
        ),
        (
            "send_input",
            json!({"target": "01a1e082-7956-7191-8911-e67d41610f11"}),
            "• Messaged agent",
        ),
        (
            "sub_agent_activity",
            json!({"kind": "interacted", "agentPath": "/root/look"}),
            "• Messaged look",
        ),
    ] {
        assert_eq!(task(name, input), expected);
    }
    let started = json!({"name": "sub_agent_activity", "category": "task", "arg": "look",
        "input": {"activityKind": "started", "agentPath": "/root/look"}});
    assert_eq!(
        shown(&started, &json!({"status": "ok"})),
        "• Delegated look"
    );
    let spawn = json!({"name": "spawn_agent", "category": "task", "arg": "look"});
    let answer = json!({"status": "ok", "output": "{\"task_name\":\"/root/look\"}"});
    assert_eq!(shown(&spawn, &answer), "• Delegated look");
    let found = json!({"status": "ok", "output": "{\"found\":1}"});
    assert_eq!(
        shown(&spawn, &found),
        "• Delegated look\n  └ {\n      \"found\": 1\n    }"
    );
}

#[test]
fn background_work_is_marked_in_the_heading() {
    let agent = json!({"name": "Agent", "category": "task", "arg": "Scan",
        "input": {"run_in_background": true}});
    let launched =
        json!({"status": "ok", "output": "Async agent launched successfully. (internal)"});
    assert_eq!(
        shown(&agent, &launched),
        "• Delegated Scan (in the background)"
    );
    let bash = json!({"name": "Bash", "category": "execute",
        "input": {"command": "make", "run_in_background": true}});
    let running = json!({"status": "ok", "output": "Command running in background with ID: 5."});
    assert_eq!(shown(&bash, &running), "• Ran make (in the background)");
}

#[test]
fn files_are_found_by_a_pattern_and_listed_by_a_path() {
    let list = |arg: &str| {
        let call = json!({"name": "glob", "category": "list", "arg": arg});
        shown(&call, &json!({"status": "ok"}))
    };
    assert_eq!(list("**/*.rs"), "• Find **/*.rs");
    assert_eq!(list("src"), "• List src");
    let resources = json!({"name": "codex.list_mcp_resources", "category": "read"});
    assert_eq!(
        shown(&resources, &json!({"status": "ok"})),
        "• List MCP resources"
    );
}

/// Returns a call that adds a file of nine lines.
fn new_file() -> (Value, Value) {
    let lines: Vec<String> = (1..=9).map(|line| format!("+line {line}")).collect();
    let edits = json!([{"op": "add", "path": "a", "hunks": [{"new_start": 1, "lines": lines}]}]);
    (
        json!({"name": "Write", "category": "write"}),
        json!({"status": "ok", "edits": edits}),
    )
}

#[test]
fn search_matches_are_shown_in_new_files_and_read_output() {
    let mut config = plain();
    config.detail.search = Some(LineMatcher::new(|line| line.ends_with(" 7")));
    let (call, result) = new_file();
    assert_eq!(
        formatted(config.clone(), &call, &result),
        "• Add a\n         … +5 lines\n      6 +line 6\n      7 +line 7\n      8 +line 8\n      9 +line 9"
    );
    let read = json!({"name": "Read", "category": "read", "arg": "a"});
    let output = json!({"status": "ok", "output": "line 1\nline 7"});
    assert_eq!(
        formatted(config, &read, &output),
        "• Read a\n  └ line 1\n    line 7"
    );
    assert_eq!(shown(&read, &output), "• Read a");
}

#[test]
fn a_small_line_limit_also_cuts_edits() {
    let lines = ["-a", "-b", "-c", "+d"];
    let edits = json!([{"op": "update", "path": "a", "hunks": [{"old_start": 1, "new_start": 1, "lines": lines}]}]);
    let call = json!({"name": "Edit", "category": "edit"});
    let result = json!({"status": "ok", "edits": edits});
    let mut config = plain();
    config.detail.lines = Some(2);
    assert_eq!(
        formatted(config.clone(), &call, &result),
        "• Edit a\n      1 -a\n      2 -b\n         … +2 lines"
    );
    config.detail.lines = Some(3);
    assert!(formatted(config, &call, &result).ends_with("1 +d"));
}

#[test]
fn sentences_of_an_unknown_tool_break_between_words() {
    let call = json!({"name": "ask", "category": "other"});
    let words = "somewhat longer ".repeat(6);
    let text = shown(&call, &json!({"status": "ok", "output": words}));
    assert!(
        text.lines().all(|line| line.ends_with("longer")
            || line.ends_with("somewhat")
            || line.starts_with('•')),
        "{text}"
    );
    let table = json!({"status": "ok", "output": format!("a  b\n{}", "x ".repeat(40))});
    assert!(shown(&call, &table).contains("  └ a  b\n"));
}

#[test]
fn leading_blank_lines_are_not_shown() {
    let call = json!({"name": "Bash", "category": "execute", "input": {"command": "x"}});
    let result = json!({"status": "ok", "output": "\n\n\n\n\n\n\nword\n"});
    assert_eq!(shown(&call, &result), "• Ran x\n  └ word");
    let moved = json!({"status": "ok", "output": "\u{1b}[9;1Hword\n"});
    assert_eq!(shown(&call, &moved), "• Ran x\n  └ word");
}

#[test]
fn reasoning_under_an_empty_title_has_no_rule() {
    let line = json!({"kind": "reasoning", "id": "r", "text": "****\n\nHm."});
    assert_eq!(texts(plain(), OWN, &line.to_string(), 60), ["• Hm."]);
}

#[test]
fn the_routine_question_is_shown_while_it_waits_or_if_rejected() {
    let asked = |answer: &str| {
        let line = json!({"kind": "prompt", "question": "Run tools?", "answer": answer});
        texts(plain(), OWN, &line.to_string(), 60).concat()
    };
    assert_eq!(asked(""), "• Run tools?");
    assert_eq!(asked("y"), "");
    assert_eq!(asked("n"), "• Run tools? n");
}

/// Returns the settings of the command line tool, with `lines` lines per body.
fn tail(lines: usize) -> Config {
    let detail = Detail::default()
        .with_lines(lines)
        .with_failed(Excerpt::Tail);
    plain().with_detail(detail)
}

#[test]
fn a_failed_call_shows_the_end_of_its_output_on_request() {
    let run = json!({"name": "Bash", "category": "execute", "input": {"command": "make"}});
    let numbers = |count: usize| {
        let lines: Vec<String> = (1..=count).map(|n| format!("{n}\n")).collect();
        lines.concat()
    };
    let failed = json!({"status": "error", "exit_code": 2, "output": numbers(9)});
    let head = "• Ran make (exit 2)\n  └ 1\n";
    assert_eq!(
        formatted(tail(5), &run, &failed),
        format!("{head}    … +4 lines\n    6\n    7\n    8\n    9")
    );
    assert_eq!(
        shown(&run, &failed),
        format!("{head}    2\n    3\n    4\n    5\n    … +4 lines")
    );
    assert_eq!(
        formatted(tail(2), &run, &failed),
        format!("{head}    … +7 lines\n    9")
    );
    assert_eq!(
        formatted(tail(1), &run, &failed),
        format!("{head}    … +8 lines")
    );
    assert_eq!(formatted(tail(0), &run, &failed), "• Ran make (exit 2)");
    let five = json!({"status": "error", "exit_code": 2, "output": numbers(5)});
    assert_eq!(formatted(tail(5), &run, &five), shown(&run, &five));
    let ok = json!({"status": "ok", "exit_code": 0, "output": numbers(9)});
    assert_eq!(formatted(tail(5), &run, &ok), shown(&run, &ok));
    let explained = json!({"status": "ok", "exit_code": 1, "output": numbers(9)});
    assert!(formatted(tail(5), &run, &explained).ends_with("\n    9"));
}

#[test]
fn the_end_of_an_error_message_is_shown_on_request() {
    let other = json!({"name": "lookup", "category": "other", "input": {}});
    let output = "cannot look up:\r\na\rb\n\nc\nd\ne\nfor want of a nail\n\n";
    let failed = json!({"status": "error", "output": output});
    assert_eq!(
        formatted(tail(5), &other, &failed),
        "• Tool lookup {}\n  └ Error: cannot look up:\n    … +3 lines\n    c\n    d\n    e\n    for want of a nail"
    );
    let rejected = json!({"status": "rejected", "output": output});
    let shown = formatted(tail(5), &other, &rejected);
    assert!(shown.ends_with("… +3 lines"), "{shown}");
}

#[test]
fn colours_of_a_failed_command_continue_in_its_last_lines() {
    let run = json!({"name": "Bash", "category": "execute", "input": {"command": "make"}});
    let output = "start\n\u{1b}[31m2\n3\n4\n5\n6\u{1b}[0m\n7\n";
    let failed = json!({"status": "error", "exit_code": 2, "output": output});
    let config = tail(5).with_plain_text(false);
    let shown = formatted(config, &run, &failed);
    let red = |text: &str| format!("\u{1b}[38;5;1m{text}\u{1b}");
    assert!(
        ["4", "5", "6"]
            .iter()
            .all(|text| shown.contains(&red(text))),
        "{shown:?}"
    );
    assert!(!shown.contains(&red("7")), "{shown:?}");
}

#[test]
fn a_page_shows_the_end_of_a_failed_call_and_folds_the_rest() {
    let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\n")).collect();
    let call = ToolUse::new("1", "Bash")
        .with_category(Category::Execute)
        .with_arg("make");
    let result = ToolResult::new("1", ToolStatus::Error)
        .with_exit_code(2)
        .with_output(lines.concat());
    let mut html = Vec::new();
    let mut page = Page::html(&mut html, Options::default());
    page.event(Event::new(call)).unwrap();
    page.event(Event::new(result)).unwrap();
    page.finish().unwrap();
    let html = String::from_utf8(html).unwrap();
    let (above, folded) = html.split_once("<summary>Output</summary>").unwrap();
    assert!(above.contains("<details open>"), "{above}");
    for shown in ["line 1\n", "… +25 lines", "line 27\n", "line 30"] {
        assert!(above.contains(shown), "{above}");
    }
    assert!(!above.contains("line 2\n") && folded.contains("line 2\n"));
}
