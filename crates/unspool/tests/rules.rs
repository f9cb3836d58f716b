//! Rules of the event format that are best shown by a few lines. General rules
//! are tested on the whole corpus.

use unspool::event::{Body, Category, PlanStatus, TurnStatus};
use unspool::{Event, Reader, source};

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
