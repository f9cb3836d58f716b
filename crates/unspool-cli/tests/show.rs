//! `unspool [FILE…]` and `unspool demo` through the command line.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "live/environment.rs"]
mod environment;
#[path = "live/recording.rs"]
mod recording;

use std::process::Output;

use recording::{corpus, unspool};

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const CLAUDE: &str = "claude/parity/parity.live.jsonl";

#[test]
fn a_run_is_shown_in_full() {
    let output = unspool(&[&corpus(CLAUDE), "--width", "80"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output);
    assert!(text.starts_with("• I'll start by reading the main module.\n\n• Read "));
    assert!(text.contains("\n    … +6 lines\n• Edit "));
    assert!(text.contains("\n      8 +    return f\"Hello, {title_case(name)}!\"\n"));
    assert!(!text.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn the_demo_shows_a_run() {
    let demo = unspool(&["demo", "--width", "80"]);
    let session = "claude/parity/f3c28766-9691-4504-8054-ccb9e43462e9.jsonl";
    let shown = unspool(&[&corpus(session), "--width", "80"]);
    assert_eq!(demo.status.code(), Some(0));
    assert_eq!(text(&demo), text(&shown));
}

#[test]
fn colours_on_demand() {
    let output = unspool(&[&corpus(CLAUDE), "--color", "always"]);
    assert!(text(&output).starts_with("\u{1b}[38;5;247m• "));
}

#[test]
fn verbose_has_a_line_per_call_and_text_has_none() {
    let verbose = text(&unspool(&[&corpus(CLAUDE), "--display", "verbose"]));
    assert!(verbose.contains("\n[tool: Glob(**/*.py)]\n"), "{verbose}");
    let answer = text(&unspool(&[&corpus(CLAUDE), "--display", "text"]));
    assert!(!answer.contains("[tool: "));
    assert!(answer.starts_with("I'll start by reading the main module.\n"));
}

#[test]
fn raw_is_the_input_untouched_and_wins() {
    let output = unspool(&[&corpus(CLAUDE), "--raw", "--display", "text"]);
    assert_eq!(output.stdout, std::fs::read(corpus(CLAUDE)).unwrap());
}

#[test]
fn raw_is_the_input_of_every_agent_and_of_none() {
    let broken = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        broken.path(),
        b"{\"type\":\"assist\n\x00\xff\x1b[2J\r\nno end",
    )
    .unwrap();
    let mut files = vec![broken.path().to_str().unwrap().to_owned()];
    for agent in ["claude", "codex", "gemini", "opencode"] {
        files.push(corpus(&format!("{agent}/parity/parity.live.jsonl")));
    }
    files.push(corpus("openai/chat-choices/chat-choices.response.json"));
    for file in files {
        let output = unspool(&[&file, "--raw", "--display", "verbose"]);
        assert!(output.stdout == std::fs::read(&file).unwrap(), "{file}");
    }
}

#[test]
fn filters_leave_entries_out() {
    let output = unspool(&[&corpus(CLAUDE), "--only", "tool", "--tool", "Bash"]);
    let heads: Vec<String> = text(&output)
        .lines()
        .filter(|line| line.trim_start().starts_with('•'))
        .map(str::to_owned)
        .collect();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(heads.iter().all(|line| line.contains("• Ran ")));
}

#[test]
fn a_run_that_was_cut_off_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.jsonl");
    let whole = std::fs::read_to_string(corpus(CLAUDE)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 1].join("\n")).unwrap();
    let output = unspool(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("• Interrupted: the stream ended before the agent finished.\n"));
    let missing = unspool(&["no-such-file"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn edits_are_all_changes_of_files() {
    let parity = corpus("claude/parity/parity.live.jsonl");
    let only = text(&unspool(&[&parity, "--only", "edit", "--width", "80"]));
    let heads: Vec<&str> = only.lines().filter(|line| line.starts_with('•')).collect();
    assert_eq!(heads, ["• Edit src/greet.py", "• Add src/farewell.py"]);
    let others = text(&unspool(&[&parity, "--hide", "edit", "--width", "80"]));
    assert!(others.contains("• Ran ") && !others.contains("• Edit ") && !others.contains("• Add "));
}

#[test]
fn a_mistyped_subcommand_is_recognised() {
    for (typed, meant) in [("folow", "follow"), ("event", "events"), ("rnu", "run")] {
        let output = unspool(&[typed]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        let hint = format!("did you mean `unspool {meant}`?");
        assert!(said.contains(&hint), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    for typed in ["session.jsonl", "./folow", "bound"] {
        let said = String::from_utf8(unspool(&[typed]).stderr).unwrap();
        assert!(!said.contains("did you mean"), "{said}");
    }
}

#[test]
fn a_delegated_call_follows_the_entries_of_its_sub_agent_in_every_output() {
    let recording = corpus("claude/parity/parity.live.jsonl");
    let html: &[&str] = &["export", &recording, "--to", "html"];
    let comment: &[&str] = &["export", &recording, "--to", "markdown"];
    let plain: &[&str] = &["export", &recording, "--to", "text"];
    for arguments in [&[recording.as_str()], html, comment, plain] {
        let output = unspool(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let at = |words: &str| {
            text.find(words)
                .unwrap_or_else(|| panic!("{words} in {text}"))
        };
        assert!(at("grep -c TODO") < at("Delegated"), "{arguments:?}");
    }
}
