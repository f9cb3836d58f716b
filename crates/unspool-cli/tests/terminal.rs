//! The command on a real terminal: colours, its width, the closing summary, and
//! nothing that the terminal would obey.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "live/environment.rs"]
mod environment;

use std::io::Read;
use std::path::Path;

use pty_process::Size;
use pty_process::blocking::{Command, open};

const COLUMNS: u16 = 50;

/// Returns the output on a terminal of fifty columns.
fn on_a_terminal(arguments: &[&str]) -> String {
    on_a_terminal_with(arguments, "")
}

/// Returns the output on a terminal of fifty columns, with the variable COLUMNS.
fn on_a_terminal_with(arguments: &[&str], columns: &str) -> String {
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(24, COLUMNS)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_unspool")).env("TERM", "xterm-256color");
    for name in environment::REMOVED {
        command = command.env_remove(name);
    }
    let command = command.envs(environment::SET).env("COLUMNS", columns);
    let command = command.args(arguments);
    let mut child = command.spawn(pts).unwrap();
    let mut written = Vec::new();
    let mut chunk = [0; 4096];
    // The end of the other side is an error here, not the end of a file.
    while let Ok(length @ 1..) = pty.read(&mut chunk) {
        written.extend_from_slice(&chunk[..length]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    String::from_utf8(written).unwrap().replace("\r\n", "\n")
}

fn parity() -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let path = corpus.join("claude/parity/parity.live.jsonl");
    path.to_str().unwrap().to_owned()
}

/// The text without its SGR sequences.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain += piece.split_once('m').unwrap().1;
    }
    plain
}

#[test]
fn a_terminal_gets_colours_its_own_width_and_a_summary() {
    let text = on_a_terminal(&[&parity(), "--theme", "dark"]);
    assert!(text.starts_with("\u{1b}[38;5;247m• "), "{text:?}");
    let plain = plain(&text);
    let (shown, summary) = plain.trim_end().rsplit_once("\n\n").unwrap();
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert_eq!(widest, Some(usize::from(COLUMNS)));
    assert!(
        summary.starts_with("1 turn · 10 tool calls · "),
        "{summary}"
    );
    assert!(summary.contains(" tokens in ·\n"), "{summary}");
}

#[test]
fn the_columns_variable_is_stronger_than_the_size_of_the_terminal() {
    let parity = parity();
    let text = on_a_terminal_with(&[&parity, "--no-summary", "--theme", "mono"], "40");
    let widest = plain(&text).lines().map(|line| line.chars().count()).max();
    assert_eq!(widest, Some(40));
}

#[test]
fn the_summary_can_be_left_out() {
    for arguments in [
        &["--no-summary"][..],
        &["--display", "text"],
        &["--display", "verbose"],
        &["--copy-clean"],
    ] {
        let parity = parity();
        let text = on_a_terminal(&[&[parity.as_str(), "--theme", "dark"], arguments].concat());
        assert!(!text.contains("1 turn · "), "{arguments:?}");
    }
}

#[test]
fn answers_on_a_terminal_are_made_safe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let hostile = r#"{"kind":"text","seq":0,"id":"a","text":"\u001b]0;x\u0007\u009b2J"}
{"kind":"turn_end","seq":1,"status":"completed"}
"#;
    std::fs::write(&path, hostile).unwrap();
    let path = path.to_str().unwrap();
    for display in ["text", "verbose"] {
        let text = on_a_terminal(&[path, "--display", display, "--theme", "dark"]);
        assert_eq!(text, "\\x1B]0;x\\x07\\x9B2J\n");
    }
    let text = on_a_terminal(&[path, "--theme", "dark", "--no-summary"]);
    assert_eq!(plain(&text), "• \\x1B]0;x\\x07\\x9B2J\n");
}

/// A terminal that does not answer is not waited for long, and taken for dark.
#[test]
fn a_terminal_that_does_not_answer_is_dark() {
    let text = on_a_terminal(&[&parity(), "--no-summary"]);
    let dark = on_a_terminal(&[&parity(), "--no-summary", "--theme", "dark"]);
    assert!(text.ends_with(&dark), "{text:?}");
}
