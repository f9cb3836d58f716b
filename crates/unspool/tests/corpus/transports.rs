//! Tests that a run looks the same over each transport of its agent: live, saved,
//! over the Agent Client Protocol, and from Codex's app-server. Names, categories,
//! arguments and statuses of calls, and plans, are equal except where a wire lacks
//! them, which `LACKS` and the agents' pages in `docs/agents` list.

use serde_json::Value;
use unspool::Event;
use unspool::event::{Body, ToolStatus};

use crate::parity::run;

/// The same task over the transports of an agent; the first knows most.
const RUNS: &[&[&str]] = &[
    &[
        "gemini/parity/parity.live.jsonl",
        "gemini/parity/parity.session/project/chats/session-2026-11-15T18-16-33fb7648.jsonl",
        "acp/gemini/parity.acp.jsonl",
    ],
    &[
        "gemini/thinking/thinking.live.jsonl",
        "gemini/thinking/thinking.session/project/chats/session-2026-11-15T18-16-c3655418.jsonl",
        "acp/gemini/thinking.acp.jsonl",
    ],
    &[
        "gemini/errors/errors.session/project/chats/session-2026-11-15T18-16-822dea54.jsonl",
        "gemini/errors/errors.live.jsonl",
        "acp/gemini/errors.acp.stdout.jsonl",
    ],
    &[
        "gemini/plan/plan.live.jsonl",
        "gemini/plan/plan.session/project/chats/session-2026-11-15T18-17-89ea56c8.jsonl",
        "acp/gemini/plan.acp.jsonl",
    ],
    &[
        "qwen/parity/parity.live.jsonl",
        "qwen/parity/parity.session/projects/-home-user-project/chats/968eb64f-c4b5-4887-8e1b-3ae223da4d8e.jsonl",
        "acp/qwen/parity.acp.jsonl",
    ],
    &[
        "claude/parity/parity.live.jsonl",
        "claude/parity/f3c28766-9691-4504-8054-ccb9e43462e9.jsonl",
        "acp/claude/parity.acp.jsonl",
        "acp/claude/parity-v2.acp.jsonl",
    ],
    &[
        "claude/errors/errors.live.jsonl",
        "acp/claude/errors.acp.stdout.jsonl",
        "acp/claude/errors-v2.acp.jsonl",
    ],
    &["claude/plan/plan.live.jsonl", "acp/claude/plan.acp.jsonl"],
    &[
        "codex/parity/parity.live.jsonl",
        "codex/parity/parity.session/rollout-2026-11-15T18-16-51-01a1e06d-237f-7d01-8624-d4ad3ffd1919.jsonl",
        "codex/appserver-parity/parity.appserver.jsonl",
        "acp/codex/parity.acp.jsonl",
        "acp/codex-zed/parity.acp.jsonl",
    ],
    &[
        "codex/mcp/mcp.live.jsonl",
        "codex/mcp/mcp.session.jsonl",
        "codex/appserver-mcp/mcp.appserver.jsonl",
        "acp/codex/mcp.acp.jsonl",
        "acp/codex-zed/mcp.acp.jsonl",
    ],
    &[
        "codex/plan/plan.live.jsonl",
        "codex/plan/plan.session.jsonl",
        "codex/appserver-plan/plan.appserver.jsonl",
    ],
    &[
        "opencode/parity/parity.live.jsonl",
        "opencode/parity/parity.session/export.json",
        "acp/opencode/parity.acp.jsonl",
    ],
    &[
        "opencode/errors/errors.live.jsonl",
        "acp/opencode/errors.acp.stdout.jsonl",
    ],
    &["opencode/mcp/mcp.live.jsonl", "acp/opencode/mcp.acp.jsonl"],
    &[
        "opencode/patch/patch.live.jsonl",
        "acp/opencode/patch.acp.jsonl",
    ],
    &[
        "opencode/plan/plan.live.jsonl",
        "acp/opencode/plan.acp.jsonl",
    ],
];

/// A difference that a wire cannot avoid: transport, start of the call in the first
/// transport, start of the call here (empty if it is missing), reason.
type Lack = (&'static str, &'static str, &'static str, &'static str);

const LACKS: &[Lack] = &[
    (
        "acp/gemini/parity",
        "invoke_agent | task | Find every caller of split_words and sa…",
        "invoke_agent | task | codebase_investigator",
        "the prompt of a sub-agent is not sent",
    ),
    (
        "gemini/errors/errors.live",
        "run_shell_command | execute | echo 'collecting ...'; echo 'ImportErro… | error",
        "run_shell_command | execute | echo 'collecting ...'; echo 'ImportErro… | ok",
        "exit codes are not sent",
    ),
    (
        "acp/gemini/errors",
        "run_shell_command | execute | echo 'collecting ...'; echo 'ImportErro… | error",
        "run_shell_command | execute | echo 'collecting ...'; echo 'ImportErro… | ok",
        "exit codes are not sent",
    ),
    (
        "acp/gemini/errors",
        "frobnicate",
        "",
        "calls of unknown tools are not sent",
    ),
    (
        "acp/gemini/errors",
        "read_file | read | README.md",
        "read_file | read | ",
        "calls with invalid arguments have only an id",
    ),
    (
        "acp/gemini/errors",
        "read_file | read | /etc/hostname",
        "read_file | read | ",
        "calls with invalid arguments have only an id",
    ),
    (
        "acp/gemini/plan",
        "plan",
        "write_todos | plan | Set 3 todo(s) | ok",
        "the items of a todo list are not sent",
    ),
    (
        "acp/gemini/plan",
        "write_file | write | tests/test_a.py | ok",
        "write_file | write | tests/test_a.py | error",
        "the client's file access failed in this run",
    ),
    (
        "codex/parity/parity.session",
        "command_execution",
        "exec_command",
        "a session has the model's names, not those of items",
    ),
    (
        "codex/plan/plan.session",
        "command_execution",
        "exec_command",
        "a session has the model's names, not those of items",
    ),
    (
        "codex/parity/parity.session",
        "file_change",
        "apply_patch",
        "a session has the model's names, not those of items",
    ),
    (
        "codex/plan/plan.session",
        "file_change",
        "apply_patch",
        "a session has the model's names, not those of items",
    ),
    (
        "codex/parity/parity.session",
        "wait | task | ",
        "wait_agent | task | THREAD",
        "items name no thread",
    ),
    (
        "codex/parity/parity.session",
        "close_agent | task | ",
        "close_agent | task | THREAD",
        "items name no thread",
    ),
    (
        "codex/mcp/mcp.session",
        "codex.list_mcp_resources",
        "list_mcp_resources",
        "a session has the model's names, not those of items",
    ),
    (
        "acp/codex/parity",
        "command_execution | execute | cat src/tally.py",
        "exec_command | read | src/tally.py",
        "commands that only read are described, not sent",
    ),
    (
        "acp/codex/parity",
        "command_execution | execute | ls -la",
        "exec_command | list | .",
        "commands that only read are described, not sent",
    ),
    (
        "acp/codex/parity",
        "command_execution | execute | find . -name '*.py' -not -path './.git/…",
        "exec_command | list | *.py",
        "commands that only read are described, not sent",
    ),
    (
        "acp/codex/parity",
        "command_execution | execute | grep -rn \"def \" src tests",
        "exec_command | search | 'def ' in src",
        "commands that only read are described, not sent",
    ),
    (
        "acp/codex/parity",
        "command_execution",
        "exec_command",
        "the adapter sends the model's names of commands",
    ),
    (
        "acp/codex/parity",
        "file_change",
        "edit",
        "edits have a kind and no name",
    ),
    (
        "acp/codex-zed/parity",
        "command_execution",
        "exec_command",
        "the adapter sends Codex's older events",
    ),
    (
        "acp/codex-zed/parity",
        "file_change",
        "apply_patch",
        "the adapter sends Codex's older events",
    ),
    (
        "acp/codex-zed/parity",
        "spawn_agent",
        "",
        "the embedded version has no sub-agents",
    ),
    (
        "acp/codex-zed/parity",
        "wait",
        "",
        "the embedded version has no sub-agents",
    ),
    (
        "acp/codex-zed/parity",
        "close_agent",
        "",
        "the embedded version has no sub-agents",
    ),
];

/// Calls that only one transport has: transport, start of the call, reason.
const MORE: &[(&str, &str, &str)] = &[(
    "codex/mcp/mcp.session",
    "tool_search",
    "searches for tools are no items",
)];

/// Returns the root agent's calls and plans, one line each, without history.
fn lines(events: &[Event]) -> Vec<String> {
    let cwd = events.iter().find_map(|event| match &event.body {
        Body::Session(session) if !session.cwd.is_empty() => Some(session.cwd.clone()),
        _ => None,
    });
    let cwd = cwd.unwrap_or_else(|| "/home/user/project".to_owned()) + "/";
    let mut ids: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut statuses: Vec<Option<ToolStatus>> = Vec::new();
    let current = |event: &&Event| event.agent.is_none() && !event.replayed;
    for event in events.iter().filter(current) {
        match &event.body {
            Body::ToolUse(call) => {
                let category = serde_json::to_value(call.category).unwrap();
                let category = category.as_str().unwrap().to_owned();
                let arg = without_thread(call.arg.strip_prefix(&cwd).unwrap_or(&call.arg));
                let line = format!("{} | {category} | {arg}", call.name);
                if let Some(at) = ids.iter().position(|id| *id == call.id) {
                    lines[at] = line;
                } else {
                    ids.push(&call.id);
                    lines.push(line);
                    statuses.push(None);
                }
            }
            Body::ToolResult(result) => {
                if let Some(at) = ids.iter().position(|id| *id == result.id) {
                    statuses[at] = Some(result.status);
                }
            }
            Body::Plan(_) => {
                ids.push("");
                lines.push("plan".to_owned());
                statuses.push(None);
            }
            _ => {}
        }
    }
    let with_status = |(line, status): (String, Option<ToolStatus>)| match status {
        Some(status) => {
            let status = serde_json::to_value(status).unwrap_or(Value::Null);
            format!("{line} | {}", status.as_str().unwrap_or_default())
        }
        None => line,
    };
    lines.into_iter().zip(statuses).map(with_status).collect()
}

/// Replaces the id of a thread, which differs in each run.
fn without_thread(arg: &str) -> &str {
    let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    if arg.len() == 36 && arg.chars().all(is_id) {
        "THREAD"
    } else {
        arg
    }
}

/// Returns the calls that a transport must have, given those of the first.
fn expected(first: &[String], transport: &str, used: &mut Vec<usize>) -> Vec<String> {
    let here = |line: &String| {
        let lack = LACKS
            .iter()
            .position(|(of, call, ..)| transport.starts_with(of) && line.starts_with(call));
        let Some(at) = lack else {
            return Some(line.clone());
        };
        used.push(at);
        let (_, call, instead, _) = LACKS[at];
        let rest = line.strip_prefix(call)?;
        (!instead.is_empty()).then(|| format!("{instead}{rest}"))
    };
    first.iter().filter_map(here).collect()
}

#[test]
fn a_run_has_the_same_calls_over_each_transport() {
    let mut used = Vec::new();
    for transports in RUNS {
        let first = lines(run(transports[0]));
        assert!(!first.is_empty(), "{}", transports[0]);
        for transport in &transports[1..] {
            let more = |line: &String| {
                let is_more = |(of, call, _): &(&str, &str, &str)| {
                    transport.starts_with(of) && line.starts_with(call)
                };
                MORE.iter().any(is_more)
            };
            let mut calls = lines(run(transport));
            calls.retain(|line| !more(line));
            let expected = expected(&first, transport, &mut used);
            assert_eq!(calls, expected, "{transport} (left), {}", transports[0]);
        }
    }
    for (at, (transport, call, ..)) in LACKS.iter().enumerate() {
        assert!(used.contains(&at), "{transport} has {call}");
    }
}

/// Gemini CLI sends no inputs over the protocol: they are read from descriptions.
#[test]
fn inputs_read_from_descriptions_are_those_of_the_model() {
    let inputs = |name: &str| -> Vec<(String, Value)> {
        let calls = run(name).iter().filter_map(|event| match &event.body {
            Body::ToolUse(call) if event.agent.is_none() => {
                let input = call.input.as_ref()?;
                Some((call.name.clone(), serde_json::from_str(input.get()).ok()?))
            }
            _ => None,
        });
        calls.collect()
    };
    let mut compared = 0;
    for transports in &RUNS[..2] {
        let sent = inputs(transports[0]);
        let read = inputs(transports[2]);
        assert_eq!(read.len(), sent.len(), "{}", transports[2]);
        for ((name, read), (sent_name, sent)) in read.iter().zip(&sent) {
            assert_eq!(name, sent_name);
            for (key, value) in read.as_object().unwrap() {
                assert_eq!(Some(value), sent.get(key), "{name}: {key}");
                compared += 1;
            }
        }
    }
    assert!(compared > 10, "{compared}");
}
