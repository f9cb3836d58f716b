//! Rules of the event format that are best shown by a few lines. General rules
//! are tested on the whole corpus.

use unspool::event::{Body, Category, PlanStatus, TurnStatus};
use unspool::{Event, Reader, answer::Answer, source};

fn events(lines: &[&str]) -> Vec<Event> {
    let mut reader = Reader::new();
    reader.push(lines.join("\n").as_bytes());
    reader.finish();
    reader.events().collect()
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.kind()).collect()
}

const CLAUDE: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/p","claude_code_version":"2.1.0"}"#;
const CODEX: &str = r#"{"type":"thread.started","thread_id":"t"}"#;

#[test]
fn events_keep_the_order_of_the_source_within_a_line() {
    let line = r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"x"}},{"type":"text","text":"b"},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"ls"}}]}}"#;
    let kinds = kinds(&events(&[CLAUDE, line]));
    assert_eq!(
        kinds,
        [
            "session", "text", "tool_use", "text", "tool_use", "turn_end"
        ]
    );
}

#[test]
fn two_blocks_of_one_message_have_two_ids() {
    let line = r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
    let ids: Vec<String> = events(&[CLAUDE, line])
        .into_iter()
        .filter_map(|event| match event.body {
            Body::Text(message) => Some(message.id),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_stream_without_a_closing_event_is_interrupted() {
    let begun = r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#;
    let events = events(&[CODEX, r#"{"type":"turn.started"}"#, begun]);
    assert_eq!(kinds(&events), ["session", "tool_use", "turn_end"]);
    let Some(Body::TurnEnd(end)) = events.last().map(|event| &event.body) else {
        panic!("no end");
    };
    assert_eq!(end.status, TurnStatus::Interrupted);
}

#[test]
fn totals_are_marked_as_cumulative() {
    let done = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}"#;
    let events = events(&[CODEX, done]);
    let Some(Body::Usage(usage)) = events.get(1).map(|event| &event.body) else {
        panic!("no usage");
    };
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens),
        (Some(10), Some(4))
    );
    assert!(usage.cumulative);
}

#[test]
fn a_plan_is_the_same_for_every_agent() {
    let claude = r#"{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"pending","activeForm":"B"}]}}]}}"#;
    let codex = r#"{"type":"item.started","item":{"id":"item_1","type":"todo_list","items":[{"text":"a","completed":true},{"text":"b","completed":false}]}}"#;
    for lines in [[CLAUDE, claude], [CODEX, codex]] {
        let events = events(&lines);
        assert_eq!(kinds(&events), ["session", "plan", "turn_end"]);
        let Body::Plan(plan) = &events[1].body else {
            panic!("no plan");
        };
        let entries: Vec<_> = plan
            .entries
            .iter()
            .map(|entry| (entry.text.as_str(), entry.status))
            .collect();
        assert_eq!(
            entries,
            [("a", PlanStatus::Completed), ("b", PlanStatus::Pending)]
        );
    }
}

/// Tool names in the agents' spelling.
const CATEGORIES: &[(Category, &[&str])] = &[
    (
        Category::Read,
        &[
            "Read",
            "read_file",
            "read_many_files",
            "read",
            "view_image",
            "read_mcp_resource",
            "ReadFile",
        ],
    ),
    (Category::Write, &["Write", "write_file", "write"]),
    (
        Category::Edit,
        &[
            "Edit",
            "NotebookEdit",
            "replace",
            "edit",
            "apply_patch",
            "file_change",
            "EditFile",
        ],
    ),
    (
        Category::Search,
        &["Grep", "grep_search", "grep", "tool_search"],
    ),
    (Category::List, &["Glob", "glob", "list_directory", "ls"]),
    (
        Category::Execute,
        &[
            "Bash",
            "bash",
            "run_shell_command",
            "exec_command",
            "command_execution",
            "shell",
            "write_stdin",
            "Command",
        ],
    ),
    (
        Category::Fetch,
        &[
            "WebFetch",
            "WebSearch",
            "web_fetch",
            "google_web_search",
            "webfetch",
            "websearch",
            "web_search",
        ],
    ),
    (Category::Think, &["update_topic", "Thinking"]),
    (
        Category::Plan,
        &[
            "TodoWrite",
            "TaskCreate",
            "TaskUpdate",
            "ExitPlanMode",
            "update_plan",
            "todowrite",
            "write_todos",
            "todo_write",
            "create_goal",
            "tracker_create_task",
            "UpdateTodoList",
        ],
    ),
    (
        Category::Task,
        &[
            "Agent",
            "Task",
            "task",
            "invoke_agent",
            "spawn_agent",
            "wait_agent",
            "agent",
            "Delegate",
        ],
    ),
    (
        Category::Other,
        &[
            "StructuredOutput",
            "mcp__server__tool",
            "skill",
            "question",
            "complete_task",
            "activate_skill",
        ],
    ),
];

#[test]
fn every_documented_tool_has_its_category() {
    for (category, names) in CATEGORIES {
        for name in *names {
            assert_eq!(source::category(name), *category, "{name}");
        }
    }
}

/// Returns what verbose mode writes.
fn verbose(lines: &[&str]) -> String {
    let mut answer = Answer::verbose();
    let mut out = Vec::new();
    for event in events(lines) {
        answer.event(&event, &mut out).expect("memory");
    }
    answer.finish(&mut out).expect("memory");
    String::from_utf8(out).expect("text")
}

fn claude_call(name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{{"id":"msg_1","role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"{name}","input":{input}}}]}}}}"#
    )
}

#[test]
fn common_tools_have_their_marker_and_others_their_raw_name() {
    for (name, input, marker) in [
        ("Read", r#"{"file_path":"a.rs"}"#, "Read(a.rs)"),
        (
            "Write",
            r#"{"file_path":"a.rs","content":"x"}"#,
            "Write(a.rs)",
        ),
        (
            "Edit",
            r#"{"file_path":"a.rs","old_string":"x"}"#,
            "Edit(a.rs)",
        ),
        ("Bash", r#"{"command":"ls -la"}"#, "Bash(ls -la)"),
        (
            "Grep",
            r#"{"pattern":"fn main","path":"src"}"#,
            "Grep(fn main)",
        ),
        ("Glob", r#"{"pattern":"**/*.rs"}"#, "Glob(**/*.rs)"),
        (
            "Task",
            r#"{"description":"look","prompt":"Look."}"#,
            "Task(look)",
        ),
        ("Frobnicate", r#"{"x":1}"#, "Frobnicate"),
        ("Frobnicate", r#"{"path":"a"}"#, "Frobnicate(a)"),
        ("Frobnicate", "7", "Frobnicate"),
    ] {
        let shown = verbose(&[CLAUDE, &claude_call(name, input)]);
        assert_eq!(shown, format!("[tool: {marker}]\n"), "{name} {input}");
    }
}

#[test]
fn a_marker_is_at_most_40_characters_long() {
    let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(50));
    let expected = format!("[tool: Bash({}…)]\n", "x".repeat(39));
    assert_eq!(verbose(&[CLAUDE, &claude_call("Bash", &long)]), expected);
}

#[test]
fn a_function_call_of_codex_is_previewed_by_a_known_field() {
    let meta = r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p","originator":"codex_exec","cli_version":"0.120.0"}}"#;
    let call = r#"{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls -la\",\"yield_time_ms\":1000}","call_id":"c"}}"#;
    assert_eq!(verbose(&[meta, call]), "[tool: Bash(ls -la)]\n");
}

#[test]
fn a_whole_response_has_the_markers_of_a_stream() {
    let body = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"a.rs\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(verbose(&[body]), "I look.\n[tool: Read(a.rs)]\n");
}

#[test]
fn a_malformed_line_is_kept_and_the_stream_continues() {
    let call = claude_call("Read", r#"{"file_path":"a"}"#);
    let (cut, _) = call.split_at(call.len() / 2);
    let events = events(&[CLAUDE, cut, &call]);
    assert_eq!(
        kinds(&events),
        ["session", "unknown", "tool_use", "turn_end"]
    );
    assert_eq!(verbose(&[CLAUDE, cut, &call]), "[tool: Read(a)]\n");
}

#[test]
fn a_line_without_text_or_tools_writes_nothing() {
    let status = r#"{"type":"system","subtype":"status","status":"requesting","session_id":"s"}"#;
    let ping = r#"{"type":"stream_event","event":{"type":"ping"},"session_id":"s","parent_tool_use_id":null}"#;
    assert_eq!(verbose(&[CLAUDE, status, ping]), "");
}

#[test]
fn states_of_an_opencode_part_are_one_call() {
    let line = |kind: &str, part: &str| {
        format!(r#"{{"type":"{kind}","timestamp":1,"sessionID":"ses_1","part":{part}}}"#)
    };
    let tool = |state: &str| {
        let part = format!(
            r#"{{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","callID":"c","tool":"read","state":{state}}}"#
        );
        line("tool_use", &part)
    };
    let input = r#""input":{"filePath":"a.rs"}"#;
    let running = tool(&format!(
        r#"{{"status":"running",{input},"time":{{"start":1}}}}"#
    ));
    let done = tool(&format!(
        r#"{{"status":"completed",{input},"output":"x","title":"a.rs","metadata":{{}},"time":{{"start":1,"end":2}}}}"#
    ));
    let finished = line(
        "step_finish",
        r#"{"id":"prt_2","sessionID":"ses_1","messageID":"msg_1","type":"step-finish","reason":"tool-calls","cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}"#,
    );
    let events = events(&[&running, &done, &finished]);
    let ids: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolUse(call) => Some(call.id.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        !ids.is_empty() && ids.iter().all(|id| *id == "c"),
        "{ids:?}"
    );
    let results = kinds(&events)
        .into_iter()
        .filter(|kind| *kind == "tool_result");
    assert_eq!(results.count(), 1);
    assert_eq!(
        verbose(&[&running, &done, &finished]),
        "[tool: Read(a.rs)]\n"
    );
}
