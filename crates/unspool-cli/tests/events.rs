//! `unspool events` through its command line: what is printed, what is said on
//! standard error, and the exit status.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A whole run of Codex, in two events.
const HELLO: &str = r#"{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hello"}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}
"#;

fn unspool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_unspool"))
}

fn events(arguments: &[&str]) -> Output {
    unspool()
        .arg("events")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn kinds(output: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(output)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

#[test]
fn prints_one_event_a_line() {
    let folder = TempDir::new().unwrap();
    let output = events(&[&file(&folder, "run.jsonl", HELLO)]);
    assert_eq!(
        kinds(&output.stdout),
        ["session", "text", "usage", "turn_end"]
    );
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn reads_several_files_each_from_its_beginning() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (
        file(&folder, "a.jsonl", HELLO),
        file(&folder, "b.txt", "just text\n"),
    );
    let output = events(&[&a, &b]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let seqs: Vec<u64> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(seqs, [0, 1, 2, 3, 0]);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_read() {
    let folder = TempDir::new().unwrap();
    let good = file(&folder, "good.jsonl", HELLO);
    let missing = folder.path().join("missing.jsonl");
    let output = events(&[missing.to_str().unwrap(), &good]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("missing.jsonl"),
        "{}",
        stderr(&output)
    );
    assert_eq!(kinds(&output.stdout).len(), 4);
}

#[test]
fn a_directory_is_refused_with_a_file_to_take_instead() {
    let folder = TempDir::new().unwrap();
    let inside = file(&folder, "session.jsonl", HELLO);
    let output = events(&[folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("is a directory"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains(&inside), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_fails_while_it_is_read_is_named() {
    let output = events(&["/proc/self/mem"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("/proc/self/mem"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_binary_file_is_refused_unless_it_is_asked_for_as_text() {
    let folder = TempDir::new().unwrap();
    let binary = file(&folder, "program", b"\x7fELF\x02\x01\0\0\0\xff\xfe\n\x80");
    let output = events(&[&binary]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("binary"), "{}", stderr(&output));
    let output = events(&["--from", "raw", &binary]);
    assert_eq!(kinds(&output.stdout), ["text", "text"]);
}

#[test]
fn gzip_and_zstd_files_are_read() {
    let folder = TempDir::new().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(HELLO.as_bytes()).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let (first, second) = HELLO.split_at(90);
    // A zstd file may hold several frames.
    let mut zstd = ruzstd::encoding::compress_to_vec(first.as_bytes(), level);
    zstd.extend(ruzstd::encoding::compress_to_vec(second.as_bytes(), level));
    for (name, bytes) in [
        ("a.jsonl.gz", gzip.finish().unwrap()),
        ("a.jsonl.zst", zstd),
    ] {
        let output = events(&[&file(&folder, name, &bytes)]);
        assert_eq!(
            kinds(&output.stdout),
            ["session", "text", "usage", "turn_end"],
            "{name}"
        );
        let cut = file(&folder, "cut", &bytes[..bytes.len() - 9]);
        let output = events(&[&cut]);
        assert_eq!(output.status.code(), Some(2), "{name} cut off");
        assert!(stderr(&output).contains("cut"), "{}", stderr(&output));
        assert!(
            !output.stdout.is_empty(),
            "{name}: what could be read is shown"
        );
    }
}

#[test]
fn events_of_several_files_are_read_back_as_they_are() {
    let folder = TempDir::new().unwrap();
    let run = file(&folder, "run.jsonl", HELLO);
    let written = events(&[&run, &run]).stdout;
    let back = events(&[&file(&folder, "two.events", &written)]).stdout;
    assert_eq!(written, back);
}

#[test]
fn empty_input_gives_no_event_and_no_error() {
    let output = events(&[]);
    assert!(output.status.success());
    assert!(output.stdout.is_empty());
}

#[test]
fn an_unknown_provider_is_wrong_use() {
    let output = events(&["--from", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("claude"),
        "the possible names: {}",
        stderr(&output)
    );
}

#[test]
fn a_provider_can_be_forced() {
    let folder = TempDir::new().unwrap();
    let output = events(&["--from", "raw", &file(&folder, "run.jsonl", HELLO)]);
    assert_eq!(kinds(&output.stdout), ["unknown"; 4]);
}

#[test]
fn raw_frames_are_added_on_request() {
    let folder = TempDir::new().unwrap();
    let output = events(&["--with-raw", &file(&folder, "run.jsonl", HELLO)]);
    let first = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let event: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(event["raw"], HELLO.lines().next().unwrap());
}

#[test]
fn a_frame_over_the_limit_becomes_a_notice() {
    let folder = TempDir::new().unwrap();
    let long = format!("{HELLO}{{\"type\":\"{}\"}}\n", "x".repeat(5000));
    let output = events(&["--frame-limit", "1K", &file(&folder, "run.jsonl", long)]);
    assert!(kinds(&output.stdout).contains(&"notice".to_owned()));
    assert_eq!(events(&["--frame-limit", "none"]).status.code(), Some(2));
}

#[test]
fn events_are_printed_before_the_pipe_ends() {
    let mut child = unspool()
        .arg("events")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in HELLO.lines().take(3) {
        writeln!(stdin, "{line}").unwrap();
    }
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("\"session\""), "{line}");
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("Hello"), "{line}");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_question_without_a_newline_is_printed_while_the_pipe_is_open() {
    const CALL: &str = "Tool Call: web-search • full-web-search\n\
        Arguments: {\"query\": \"Model Control Protocol\"}\n";
    const TOOLS: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    let call_and_tools = format!("{CALL}{TOOLS}");
    for (text, question, kinds) in [
        (
            call_and_tools.as_str(),
            "Run tools?",
            &["tool_use", "prompt"][..],
        ),
        (
            "Edit the files? (Y)es/(N)o/(T)weak [Yes]:",
            "Edit the files?",
            &["prompt"],
        ),
        (
            "The plan.\n\nProceed? (G)o/(S)top [Go]: ",
            "Proceed?",
            &["text", "prompt"],
        ),
    ] {
        let mut child = unspool()
            .arg("events")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut next = || {
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            serde_json::from_str::<serde_json::Value>(&line).unwrap()
        };
        stdin.write_all(text.as_bytes()).unwrap();
        assert_eq!(next()["kind"], "session", "{text}");
        for kind in kinds {
            let event = next();
            assert_eq!(event["kind"], *kind, "{text}");
            if *kind == "prompt" {
                assert_eq!(event["question"], question);
                assert_eq!(event.get("answer"), None);
            }
        }
        // Its answer is a second event, and the rest is read as if in one piece.
        let key = if question == "Proceed?" { "g" } else { "y" };
        writeln!(stdin, "{key}").unwrap();
        let event = next();
        assert_eq!(
            (&event["question"], &event["answer"]),
            (&question.into(), &key.into())
        );
        drop(stdin);
        assert_eq!(next()["kind"], "turn_end");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = unspool()
        .arg("events")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..1000 {
        if stdin.write_all(HELLO.as_bytes()).is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn every_provider_is_listed_with_an_example() {
    let output = unspool().arg("providers").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for name in [
        "claude", "codex", "gemini", "qwen", "opencode", "openai", "acp", "aider", "codalotl",
        "unspool",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
    }
    assert!(
        text.lines()
            .filter(|line| line.trim_start().starts_with('$'))
            .all(|line| line.trim().len() > 10)
    );
    let output = unspool().args(["providers", "--json"]).output().unwrap();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["example"].is_string());
    }
}

/// The files of sub-agents are found beside the session, whatever the folder
/// that the command was started in.
#[test]
fn sub_agents_files_are_read_with_their_session() {
    let session = glob::glob(&format!("{}/claude/**/subagents", corpus().display()))
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let session = session.parent().unwrap().with_extension("jsonl");
    let absolute = events(&[session.to_str().unwrap()]);
    let lines = String::from_utf8(absolute.stdout.clone()).unwrap();
    assert!(lines.lines().any(|line| line.contains("\"depth\":1")));
    let relative = unspool()
        .arg("events")
        .arg(session.file_name().unwrap())
        .current_dir(session.parent().unwrap())
        .output()
        .unwrap();
    assert_eq!(relative.stdout, absolute.stdout);
}

fn schema() -> jsonschema::Validator {
    let path = corpus().join("../../docs/events.schema.json");
    let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_recording_gives_events_of_the_schema() {
    let schema = schema();
    let mut files = 0;
    for ending in ["jsonl", "json", "txt", "md"] {
        let pattern = format!("{}/*/*/**/*.{ending}", corpus().display());
        for path in glob::glob(&pattern).unwrap() {
            let path = path.unwrap();
            let output = events(&["--with-raw", path.to_str().unwrap()]);
            files += 1;
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let event: Value = serde_json::from_str(line).unwrap();
                if let Err(error) = schema.validate(&event) {
                    panic!("{}: {error}\n{event}", path.display());
                }
            }
        }
    }
    assert!(files > 100, "{files} recordings");
}

#[test]
fn what_is_no_event_is_not_of_the_schema() {
    let schema = schema();
    let event = json!({"kind": "text", "seq": 1, "id": "a", "text": "words"});
    assert!(schema.is_valid(&event));
    let wrong = [
        ("kind", json!("words")),
        ("seq", json!("1")),
        ("seq", json!(-1)),
        ("text", json!(["words"])),
        ("text", Value::Null),
        ("time", json!("yesterday")),
    ];
    for (field, value) in wrong {
        let mut changed = event.clone();
        changed[field] = value;
        assert!(!schema.is_valid(&changed), "{changed}");
    }
}

#[test]
fn every_event_has_the_frame_that_it_was_made_of() {
    let corpus = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
        path.join(name).to_str().unwrap().to_owned()
    };
    let of = |name: &str| -> Vec<Value> {
        let output = events(&["--with-raw", name]);
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    // What is only told at the end has no frame.
    let aider = of(&corpus(
        "aider/classic-mentions/classic-mentions.session.md",
    ));
    let without = aider.iter().filter(|event| event["raw"].is_null());
    assert!(without.count() <= 4, "{aider:?}");
    let users = aider.iter().filter(|event| event["kind"] == "user");
    for user in users.filter(|user| !user["raw"].is_null()) {
        let text = user["text"].as_str().unwrap();
        assert_eq!(user["raw"].as_str().unwrap().trim(), format!("#### {text}"));
    }
    let gemini = of(&corpus(
        "gemini/parity/parity.session/project/chats/session-2026-11-15T18-16-33fb7648.jsonl",
    ));
    let agents: Vec<&Value> = gemini
        .iter()
        .filter(|event| !event["agent"].is_null() && event["kind"] == "tool_use")
        .collect();
    assert!(!agents.is_empty());
    for event in agents {
        let id = event["id"].as_str().unwrap();
        let frame: Value = serde_json::from_str(event["raw"].as_str().unwrap()).unwrap();
        // Its own record, not the call of its caller.
        assert!(frame["toolCalls"].to_string().contains(id), "{frame}");
        assert!(!frame.to_string().contains("agentId"), "{frame}");
    }
    let folder = TempDir::new().unwrap();
    let plain = of(&file(&folder, "plain.txt", "one\n\ntwo\n"));
    let raws: Vec<&str> = plain
        .iter()
        .map(|event| event["raw"].as_str().unwrap())
        .collect();
    assert_eq!(raws, ["one", "", "two"]);
}
