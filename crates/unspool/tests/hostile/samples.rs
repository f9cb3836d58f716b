//! Samples of everything that events can contain: each kind, category, special
//! tool and status, with every field filled.

use serde_json::{Value, json};

/// Each sample consists of a few related events.
pub(crate) fn samples() -> Vec<Vec<Value>> {
    let mut samples = messages();
    samples.extend(questions());
    samples.extend(notices());
    samples.extend(categories());
    samples.extend(special_tools());
    samples.extend(results());
    samples.push(edits());
    for sample in &mut samples {
        for (seq, event) in sample.iter_mut().enumerate() {
            event["seq"] = seq.into();
            event["time"] = "2026-11-15T18:16:10.081Z".into();
        }
    }
    samples
}

fn messages() -> Vec<Vec<Value>> {
    let media = json!([{"mime": "image/png", "bytes": 71, "width": 2, "height": 1, "name": "a.png", "data": "AAAA"}]);
    let agent = json!({"id": "x", "parent": "1", "depth": 1, "name": "helper"});
    let markdown = "# Heading\n\nSome *words*, `code`, [a link](https://example.com/a \"title\"), ![an image](b.png), <https://example.com>, [ref].\n\n- item\n  1. inner\n- [x] done\n\n> quote\n\n```rust\nfn main() {}\n```\n\n```made-up\ntext\n```\n\n    indented\n\n| a | b |\n|---|--:|\n| c | d |\n\n<b>html</b>\n\n[^1]: note\n\n[ref]: https://example.com/ref\n";
    vec![
        vec![
            json!({"kind": "session", "provider": "claude", "version": "1", "id": "s", "model": "m", "cwd": "/w", "title": "t", "forked_from": "r"}),
        ],
        vec![json!({"kind": "user", "text": "Hello\nthere", "queued": true})],
        vec![json!({"kind": "user", "text": "Hello", "agent": agent})],
        vec![json!({"kind": "user", "text": "See", "media": media})],
        vec![json!({"kind": "text", "id": "p", "delta": true, "media": media})],
        vec![json!({"kind": "reasoning", "id": "p", "delta": true, "media": media})],
        vec![
            json!({"kind": "tool_result", "id": "p", "name": "Read", "status": "ok", "media": media}),
        ],
        vec![json!({"kind": "text", "id": "a", "text": markdown})],
        vec![json!({"kind": "text", "id": "a", "text": "as it\n  is", "preformatted": true})],
        vec![
            json!({"kind": "text", "id": "a", "text": "Hel", "delta": true}),
            json!({"kind": "tool_use", "id": "1", "name": "Bash", "category": "execute", "arg": "ls"}),
            json!({"kind": "text", "id": "a", "text": "lo", "delta": true}),
            json!({"kind": "text", "id": "a", "text": "Hello!"}),
        ],
        vec![
            json!({"kind": "reasoning", "id": "a", "text": "**Title**\n\nWords with `code`.", "agent": agent}),
        ],
        vec![
            json!({"kind": "reasoning", "id": "a", "text": "Words without a title.", "delta": true}),
        ],
    ]
}

fn questions() -> Vec<Vec<Value>> {
    let options = json!([
        {"id": "y", "name": "Yes", "kind": "allow_once"},
        {"id": "a", "name": "Always", "kind": "allow_always"},
        {"id": "n", "name": "No", "kind": "reject_once"},
        {"id": "v", "name": "Never", "kind": "reject_always"},
    ]);
    vec![
        vec![
            json!({"kind": "permission", "id": "p", "tool_id": "1", "title": "Run ls", "options": options}),
            json!({"kind": "permission", "id": "p", "tool_id": "1", "outcome": "y"}),
        ],
        vec![
            json!({"kind": "permission", "id": "p", "tool_id": "1", "title": "Run ls", "options": options, "outcome": "canceled"}),
        ],
        vec![
            json!({"kind": "prompt", "question": "Which?", "options": ["a", "b"], "default": "a", "answer": "b"}),
            json!({"kind": "prompt", "question": "Which?", "options": ["a", "b"], "default": "a"}),
        ],
    ]
}

fn notices() -> Vec<Vec<Value>> {
    let mut notices = vec![
        vec![
            json!({"kind": "context", "name": "system", "title": "System prompt", "text": "Be kind."}),
        ],
        vec![json!({"kind": "context", "name": "system", "text": "Be kind."})],
        vec![json!({"kind": "plan", "explanation": "Why", "entries": [
            {"text": "one", "status": "completed", "priority": "high"},
            {"text": "two", "status": "in_progress", "priority": "medium"},
            {"text": "three", "status": "pending", "priority": "low"},
            {"text": "four", "status": "canceled"},
        ]})],
        vec![
            json!({"kind": "usage", "input_tokens": 1, "output_tokens": 2, "cached_tokens": 3, "reasoning_tokens": 4, "cost_usd": 0.5, "context_used": 6, "context_size": 7, "cumulative": true}),
        ],
        vec![json!({"kind": "state", "name": "mode", "value": {"id": "plan", "names": ["a"]}})],
        vec![
            json!({"kind": "unknown", "text": "{\"type\":\"new\"}", "unclaimed": true, "raw": "{\"type\":\"new\"}"}),
        ],
        vec![json!({"kind": "not_invented_yet", "text": "x"})],
    ];
    for level in ["info", "warning", "retry", "error", "canceled"] {
        notices.push(vec![
            json!({"kind": "notice", "level": level, "text": "Something happened.", "left_out": 7}),
        ]);
    }
    for status in ["completed", "failed", "canceled", "interrupted"] {
        notices.push(vec![
            json!({"kind": "turn_end", "status": status, "reason": "because", "duration_ms": 5, "turns": 2}),
        ]);
    }
    notices
}

/// Returns a call that runs, prints output and ends.
fn call(name: &str, category: &str, input: Value, output: &str) -> Vec<Value> {
    vec![
        json!({"kind": "tool_use", "id": "1", "name": name, "category": category, "arg": "arg", "input": input, "title": "A title"}),
        json!({"kind": "tool_output", "id": "1", "text": "so far\n"}),
        json!({"kind": "tool_result", "id": "1", "name": name, "status": "ok", "output": output, "duration_ms": 3}),
    ]
}

fn categories() -> Vec<Vec<Value>> {
    let everything = json!({
        "file_path": "a.rs", "path": "src", "command": "/bin/bash -lc 'ls -la'", "pattern": "x+", "glob": "*.rs",
        "query": "q", "url": "https://example.com", "description": "Look around", "prompt": "Look\naround",
    });
    let mut calls: Vec<Vec<Value>> = [
        "read", "write", "edit", "delete", "move", "search", "list", "execute", "fetch", "think",
        "plan", "task", "other",
    ]
    .into_iter()
    .map(|category| call("some_tool", category, everything.clone(), "a\nb\n"))
    .collect();
    calls.push(call("some_tool", "list", json!({"path": "src"}), "a"));
    calls.push(call("web_search", "fetch", json!({"query": "q"}), "a"));
    calls.push(call(
        "shell",
        "execute",
        json!({"command": ["bash", "-lc", "ls"]}),
        "a",
    ));
    calls.push(call("shell", "execute", json!({}), "Exit: 0\nOutput:\na"));
    calls.push(call(
        "some_tool",
        "other",
        json!("{\"path\": \"encoded\"}"),
        "{\"field\": [\"value\"]}",
    ));
    calls.push(call(
        "some_tool",
        "other",
        json!(["a", {"b": "c"}]),
        "<tag>text</tag>",
    ));
    calls.push(call(
        "helper",
        "task",
        json!({"message": "Do it"}),
        "<result>**done** `code`</result>",
    ));
    // Without input and title: only the preview and the name are known.
    for category in ["read", "execute", "task", "search", "fetch", "edit"] {
        calls.push(vec![
            json!({"kind": "tool_use", "id": "1", "name": "some_tool", "category": category, "arg": "preview"}),
        ]);
        calls.push(vec![
            json!({"kind": "tool_use", "id": "1", "name": "some_tool", "category": category}),
        ]);
    }
    calls
}

fn special_tools() -> Vec<Vec<Value>> {
    vec![
        call("ls", "list", json!({"path": "some/path"}), "a"),
        call("read_file", "read", json!({"path": "some/file.go"}), "a"),
        call(
            "update_plan",
            "plan",
            json!({"plan": [{"step": "a", "status": "pending"}]}),
            "ok",
        ),
        call(
            "get_public_api",
            "read",
            json!({"path": "pkg", "identifiers": ["A", "B"]}),
            "a",
        ),
        call(
            "clarify_public_api",
            "read",
            json!({"path": "pkg", "identifier": "A", "question": "What?"}),
            "An answer.",
        ),
        call(
            "update_usage",
            "edit",
            json!({"paths": ["a", "b", "c", "d"], "instructions": "Do."}),
            "ok",
        ),
        call(
            "change_api",
            "edit",
            json!({"path": "pkg", "instructions": "Do."}),
            "ok",
        ),
        call(
            "get_usage",
            "search",
            json!({"defining_package_path": "pkg", "identifier": "A"}),
            "1: a\n2: b",
        ),
        call(
            "module_info",
            "read",
            json!({"package_search": "x", "include_dependency_packages": true}),
            "a",
        ),
        call(
            "run_tests",
            "execute",
            json!({"path": "pkg", "verbose": true, "test_name": "T"}),
            "<test-status ok=\"true\">\nok\n</test-status>",
        ),
        call(
            "run_project_tests",
            "execute",
            json!({}),
            "<test-status ok=\"false\">\nno\n</test-status>",
        ),
        call(
            "apply_patch",
            "edit",
            json!("*** Begin Patch\n*** End Patch"),
            "ok",
        ),
    ]
}

/// Each status, with and without an exit code, and a result without a call.
fn results() -> Vec<Vec<Value>> {
    let mut results = Vec::new();
    for status in ["ok", "error", "rejected", "canceled"] {
        for category in ["execute", "read", "edit", "task", "other"] {
            let mut lines = call(
                "some_tool",
                category,
                json!({"path": "a"}),
                "what it said\nand more",
            );
            lines[2]["status"] = status.into();
            results.push(lines.clone());
            lines[2]["exit_code"] = 3.into();
            results.push(lines);
        }
        results.push(vec![
            json!({"kind": "tool_result", "id": "9", "name": "Bash", "status": status, "output": "alone"}),
        ]);
    }
    results
}

fn edits() -> Vec<Value> {
    let edits = json!([
        {"op": "add", "path": "new.rs", "hunks": [{"new_start": 1, "lines": ["+one", "+two"]}]},
        {"op": "update", "path": "old.rs", "hunks": [
            {"old_start": 1, "new_start": 1, "lines": [" a", "-b", "+c"]},
            {"lines": [" d"]},
        ]},
        {"op": "delete", "path": "gone.rs"},
        {"op": "move", "path": "from.rs", "new_path": "to.rs"},
    ]);
    let mut lines = call("Edit", "edit", json!({"file_path": "old.rs"}), "ok");
    lines[2]["edits"] = edits.clone();
    lines.push(json!({"kind": "edit", "edits": edits}));
    for status in ["error", "rejected", "canceled"] {
        lines.push(
            json!({"kind": "edit", "edits": edits, "status": status, "reason": "It did not fit."}),
        );
    }
    lines
}
