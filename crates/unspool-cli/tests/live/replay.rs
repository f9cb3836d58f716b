//! `--replay`: a recording in its own time.

use std::process::Stdio;

use crate::terminal::Start;
use crate::world::{corpus, one_shot, unspool};

const RECORDING: &str = "claude/partial/partial.live.jsonl";

#[test]
fn a_replay_ends_as_the_recording_looks() {
    let input = corpus(RECORDING);
    let path = input.to_str().unwrap();
    for speed in ["max", "200"] {
        let words = [path, "--no-summary", "--replay", "--speed", speed];
        let mut terminal = Start::unspool((80, 24), &words).start();
        assert_eq!(terminal.end().code(), Some(0));
        assert_eq!(terminal.lines(), one_shot(&input, 80));
        assert!(terminal.shows_cursor());
    }
}

#[test]
fn into_a_pipe_it_is_only_ever_added_to() {
    let input = corpus(RECORDING);
    let words = [
        input.to_str().unwrap(),
        "--width",
        "80",
        "--replay",
        "--speed",
        "max",
    ];
    let shown = |words: &[&str]| {
        let output = unspool(words).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown(&words);
    assert!(!text.contains(['\u{1b}', '\r']), "{text}");
    assert_eq!(text, shown(&words[..3]));
}

#[test]
fn ctrl_c_ends_it() {
    let input = corpus(RECORDING);
    let words = [
        input.to_str().unwrap(),
        "--no-summary",
        "--replay",
        "--speed",
        "0.01",
    ];
    let mut terminal = Start::unspool((80, 24), &words).start();
    crate::world::wait_until("the first frame", || !terminal.shows_cursor());
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(130));
    assert!(terminal.shows_cursor());
}
