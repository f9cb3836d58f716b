//! Tests that the same task looks the same for every agent: the `parity` run of
//! each live provider gives the same kinds of events in the same order.

use std::fmt::Write as _;
use std::path::Path;

use unspool::Event;
use unspool::event::{Body, Category, ToolStatus, TurnStatus};
use unspool::session::Item;

use crate::{files, shown};

/// The parity runs. Each agent did the same task with its own tools: look at a
/// file, list, search, run a command, edit, write a new file, delegate.
const RUNS: &[&str] = &[
    "claude/parity/parity.live.jsonl",
    "codex/parity/parity.live.jsonl",
    "gemini/parity/parity.live.jsonl",
    "gemini/parity_agentsession/parity_agentsession.live.jsonl",
    "qwen/parity/parity.live.jsonl",
    "opencode/parity/parity.live.jsonl",
    "openai/chat-parity/chat-parity.messages.json",
    "acp/claude/parity.acp.jsonl",
    "acp/gemini/parity.acp.jsonl",
    "acp/qwen/parity.acp.jsonl",
];

pub(crate) fn run(name: &str) -> &'static [Event] {
    let found = files::all_events()
        .iter()
        .find(|(recording, _)| recording.name == name);
    let (_, events) = found.unwrap_or_else(|| panic!("{name} is not in the corpus"));
    events
}

/// Returns the root agent's steps, each once.
fn steps(events: &[Event]) -> Vec<Category> {
    let mut steps = Vec::new();
    for event in events.iter().filter(|event| event.agent.is_none()) {
        if let Body::ToolUse(call) = &event.body {
            let step = step(call.category, &call.arg);
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
    }
    steps
}

/// Returns the step that a call belongs to. Codex has no tools for exploring:
/// it uses the shell, and its patches also write new files.
fn step(category: Category, arg: &str) -> Category {
    let program = arg.split(' ').next().unwrap_or_default();
    match (category, program) {
        (Category::Execute, "cat") => Category::Read,
        (Category::Execute, "ls" | "find") if !arg.contains("&&") => Category::List,
        (Category::Execute, "grep") => Category::Search,
        (Category::Write, _) => Category::Edit,
        (category, _) => category,
    }
}

#[test]
fn every_provider_has_the_same_steps_in_the_same_order() {
    let order = [
        Category::Read,
        Category::List,
        Category::Search,
        Category::Execute,
        Category::Edit,
        Category::Task,
    ];
    for name in RUNS {
        let mut steps = steps(run(name));
        if name.starts_with("openai") {
            // A conversation with an endpoint has no sub-agents.
            steps.push(Category::Task);
        }
        steps.dedup();
        assert_eq!(steps, order, "{name}");
    }
}

#[test]
fn every_provider_has_the_same_kinds_of_events() {
    for name in RUNS {
        let events = run(name);
        let root: Vec<&Event> = events
            .iter()
            .filter(|event| event.agent.is_none())
            .collect();
        let has = |kind: &str| root.iter().any(|event| event.body.kind() == kind);
        for kind in ["session", "text", "tool_use", "tool_result", "turn_end"] {
            assert!(has(kind), "{name} has no {kind}");
        }
        assert!(matches!(root[0].body, Body::Session(_)), "{name}");
        let last = root.iter().rev().find_map(|event| match &event.body {
            Body::TurnEnd(end) => Some(end.status),
            _ => None,
        });
        assert_eq!(last, Some(TurnStatus::Completed), "{name}");
    }
}

#[test]
fn every_provider_has_diffs_of_its_edits() {
    for name in RUNS {
        // `exec --json` of Codex only names the changed files.
        let has_lines = !name.starts_with("codex/");
        let edited = run(name).iter().any(|event| match &event.body {
            Body::ToolResult(result) => {
                result.status == ToolStatus::Ok
                    && result
                        .edits
                        .iter()
                        .any(|edit| !has_lines || !edit.hunks.is_empty())
            }
            _ => false,
        });
        assert!(edited, "{name}");
    }
}

/// Parity runs shown beside the others, although their agents did part of the
/// task in another way or order.
const MORE_RUNS: &[&str] = &[
    "codex/appserver-parity/parity.appserver.jsonl",
    "openai/resp-parity/resp-parity.input.json",
    "acp/codex/parity.acp.jsonl",
    "acp/opencode/parity.acp.jsonl",
    "aider/ce-agent-parity/ce-agent-parity.txt",
    "codalotl/parity/parity.live.jsonl",
];

/// Shows each step of the task in all runs, side by side.
#[test]
fn the_same_work_looks_the_same() {
    let mut content = String::new();
    for section in [
        "answer", "read", "list", "search", "execute", "edit", "write", "task", "plan", "other",
    ] {
        let _ = writeln!(content, "==================== {section}");
        for name in RUNS.iter().chain(MORE_RUNS) {
            let texts = section_of(run(name), section);
            if !texts.is_empty() {
                let _ = writeln!(content, "---- {name}\n{}", texts.join("\n"));
            }
        }
    }
    insta::with_settings!({
        snapshot_path => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/shown"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("parity", content);
    });
}

/// Returns the formatted entries of one step, including those of sub-agents.
fn section_of(events: &[Event], section: &str) -> Vec<String> {
    let formatter = shown::formatter(true);
    let is_wanted = |item: &Item| match item {
        Item::Text(_) => section == "answer",
        Item::Plan(_) => section == "plan",
        Item::Tool(tool) => {
            let category = match step(tool.call.category, &tool.call.arg) {
                Category::Edit => tool.call.category,
                step => step,
            };
            format!("{category:?}").to_lowercase() == section
        }
        // The frequency of usage reports is not part of the task.
        Item::Usage(_) => false,
        _ => section == "other",
    };
    shown::entries(events)
        .iter()
        .filter(|entry| is_wanted(&entry.item))
        .map(|entry| formatter.format_entry(entry, 100))
        .filter(|text| !text.is_empty())
        .collect()
}
