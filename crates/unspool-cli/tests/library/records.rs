//! Several records of one session: what `run --save` wrote lies beside what the
//! agent keeps. It is one session, in the list and in the figures.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{Home, copy, corpus};

const FIGURES: [&str; 6] = [
    "turns",
    "tools",
    "failed_tools",
    "errors",
    "input_tokens",
    "output_tokens",
];

fn figures(of: &Value) -> Vec<u64> {
    let figure = |name: &&str| of[*name].as_u64().unwrap();
    FIGURES.iter().map(figure).collect()
}

/// The scenarios of an agent that are there as a live stream and saved.
fn scenarios(agent: &str) -> Vec<(PathBuf, PathBuf)> {
    let folders = fs::read_dir(corpus(agent)).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path());
    let both = folders.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?.to_owned();
        // Folders of an older version are called after it.
        let name = name.trim_end_matches("-1.1");
        let live = folder.join(format!("{name}.live.jsonl"));
        let saved = folder.join(format!("{name}.session"));
        (live.is_file() && saved.is_dir()).then_some((live, saved))
    });
    let mut both: Vec<_> = both.collect();
    both.sort();
    both
}

/// Copies all that is saved; of OpenCode, the database or else the export.
fn save(from: &Path, to: &Path) {
    copy(from, to);
    let is_exported = !to.join("opencode.db").exists() && !to.join("storage").exists();
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_export = name.starts_with("export") && !name.contains(".snap");
        if is_exported && is_export {
            fs::copy(&file, to.join(name)).unwrap();
        }
    }
}

#[test]
fn a_stream_beside_its_session_counts_once() {
    for agent in ["opencode", "gemini"] {
        let scenarios = scenarios(agent);
        assert!(scenarios.len() > 5, "{agent}: {scenarios:?}");
        for (live, saved) in scenarios {
            let place = saved.display();
            let home = Home::new();
            save(&saved, &home.path("saved"));
            save(&saved, &home.path("both"));
            let stream = fs::read(&live).unwrap();
            home.write("live/run.jsonl", &stream);
            home.write("both/run.jsonl", &stream);
            let total = |folder: &str| {
                let folder = home.path(folder);
                home.stats("total", "", &["--in", folder.to_str().unwrap()])
            };
            let both = figures(&total("both"));
            let (saved, live) = (figures(&total("saved")), figures(&total("live")));
            assert!(
                both == saved || both == live,
                "{place}: {both:?} of {saved:?} and {live:?}"
            );
            let folder = home.path("both");
            let listed = home.sessions(&["--in", folder.to_str().unwrap()]);
            assert_eq!(listed.len(), 1, "{place}");
            assert_eq!(figures(&listed[0]), both, "{place}");
        }
    }
}

#[test]
fn what_a_stream_or_a_copy_repeats_with_the_same_times_counts_once() {
    let home = Home::new();
    let folder = ".claude/projects/-home-user-project";
    copy(&corpus("claude/parity"), &home.path(folder));
    let failed = "claude/apierror/apierror";
    let saved = fs::read(corpus(&format!("{failed}.session.jsonl"))).unwrap();
    home.write(".claude/projects/-p/a.jsonl", saved);
    let alone = home.stats("total", "", &[]);
    assert!(alone["errors"] != 0 && alone["tools"] != 0);
    let stream = fs::read(corpus(&format!("{failed}.live.jsonl"))).unwrap();
    home.write("runs/run.jsonl", stream);
    // A copy without its sub-agents tells what they used as a sum.
    let session = "f3c28766-9691-4504-8054-ccb9e43462e9.jsonl";
    let text = fs::read(home.path(folder).join(session)).unwrap();
    home.write("runs/copy.jsonl", text);
    let runs = home.path("runs");
    let arguments = ["--in", runs.to_str().unwrap()];
    assert_eq!(home.stats("total", "", &arguments), alone);
    let listed = home.sessions(&arguments);
    let sum = |name: &str| -> u64 { listed.iter().map(|one| one[name].as_u64().unwrap()).sum() };
    for name in FIGURES {
        assert_eq!(alone[name], sum(name), "{name}");
    }
}

#[test]
fn streams_of_one_session_that_went_on_count_both() {
    let home = Home::new();
    for name in ["continue.live.jsonl", "continue.turn2.live.jsonl"] {
        let stream = fs::read(corpus("opencode/continue").join(name)).unwrap();
        home.write(&format!("runs/{name}"), stream);
    }
    let tokens = |name: &str| {
        let path = home.path("runs").join(name);
        let total = home.stats("total", "", &["--in", path.to_str().unwrap()]);
        total["input_tokens"].as_u64().unwrap()
    };
    let each = [
        tokens("continue.live.jsonl"),
        tokens("continue.turn2.live.jsonl"),
    ];
    assert!(each.iter().all(|tokens| *tokens > 0));
    assert_eq!(tokens(""), each.iter().sum::<u64>());
}

#[test]
fn the_list_takes_the_record_that_tells_most_and_what_only_others_tell() {
    let home = Home::new();
    let saved = corpus("gemini/parity/parity.session/project");
    copy(&saved, &home.path(".gemini/tmp/project"));
    home.write(".gemini/tmp/project/.project_root", "/home/me/shop\n");
    let stream = fs::read(corpus("gemini/parity/parity.live.jsonl")).unwrap();
    // The newest file tells least.
    let half = &stream[..stream.len() / 2];
    home.write("runs/run.jsonl", half);
    let folder = home.path("runs");
    let arguments = ["--in", folder.to_str().unwrap()];
    let listed = home.sessions(&arguments);
    assert_eq!(listed.len(), 1);
    assert!(listed[0]["path"].as_str().unwrap().contains(".gemini"));
    let total = home.stats("total", "", &arguments);
    assert_eq!(figures(&listed[0]), figures(&total));
    // What tells of no project is found in it all the same.
    let hello = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    home.write("two/a.jsonl", &hello);
    let poorer = hello
        .replace("\"cwd\"", "\"was\"")
        .replace("\"version\"", "\"v\"");
    home.write("two/b.jsonl", poorer);
    let folder = home.path("two");
    let all = ["--in", folder.to_str().unwrap(), "--agent", "claude"];
    let project = [&all[..], &["--project", "/home/user"]].concat();
    assert_eq!(home.stats("total", "", &project)["sessions"], 1);
    assert_eq!(
        home.stats("total", "", &all),
        home.stats("total", "", &project)
    );
}

/// A log of a session that did one failed call and counted 10 tokens.
const RUN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s-loaded","prompt":[{"type":"text","text":"Look"}]}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-loaded","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Read a","kind":"read","status":"failed"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-loaded","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"No."}}}}
{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":8,"outputTokens":2}}}
"#;

/// A log in which the same session is loaded.
const LOAD: &str = r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s-loaded","cwd":"/p"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-loaded","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Look"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-loaded","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Read a","kind":"read","status":"failed"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-loaded","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"No."}}}}
{"jsonrpc":"2.0","id":2,"result":{"modes":{"currentModeId":"a","availableModes":[]}}}
"#;

#[test]
fn the_history_of_a_loaded_session_counts_once() {
    let home = Home::new();
    let more = RUN.replace("\"id\":1", "\"id\":3").replace("c1", "c2");
    home.write("run/log.jsonl", RUN);
    home.write("load/log.jsonl", LOAD);
    home.write("both/log.jsonl", format!("{RUN}{LOAD}"));
    home.write("on/log.jsonl", format!("{LOAD}{more}"));
    home.write("all/log.jsonl", format!("{RUN}{LOAD}{more}"));
    // The output of the agent alone.
    let output = format!("{LOAD}{more}");
    let output: Vec<&str> = output
        .lines()
        .filter(|line| !line.contains("session/prompt") && !line.contains("session/load"))
        .collect();
    home.write("output/log.jsonl", output.join("\n"));
    let total = |folder: &str| {
        let folder = home.path(folder);
        figures(&home.stats("total", "", &["--in", folder.to_str().unwrap()]))
    };
    let once = [1, 1, 1, 0, 8, 2];
    assert_eq!(total("run"), once);
    assert_eq!(total("load"), [0; 6]);
    assert_eq!(total("both"), once);
    assert_eq!(total("on"), once);
    assert_eq!(total("output"), once);
    assert_eq!(total("all"), once.map(|figure| 2 * figure));
}
