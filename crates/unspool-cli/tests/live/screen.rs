//! After a run, scrollback and screen hold what would have been written into a
//! pipe.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::terminal::{Size, Start, Terminal};
use crate::tmux::Tmux;
use crate::world::{
    UNSPOOL, at_once, call, corpus, delta, one_shot, result, session, text, turn_end, wait_until,
};

const SIZES: [Size; 4] = [(80, 24), (40, 10), (100, 5), (20, 8)];

/// Sends a recording line by line, with pauses in which frames are painted.
fn play(input: &Path, pipe: &mut impl Write) {
    for (number, line) in fs::read(input)
        .unwrap()
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
    {
        pipe.write_all(line).unwrap();
        thread::sleep(Duration::from_millis(if number % 7 == 0 { 18 } else { 1 }));
    }
}

fn shown(input: &Path, size: Size) -> Terminal {
    let start = Start::unspool(size, &["--no-summary"]).stdin(Stdio::piped());
    let mut terminal = start.start();
    let mut pipe = terminal.stdin();
    play(input, &mut pipe);
    drop(pipe);
    terminal.end();
    terminal
}

#[track_caller]
fn check(name: &str) {
    let input = corpus(name);
    at_once(&SIZES, |size| {
        let terminal = shown(&input, *size);
        is_one_shot(&terminal.lines(), &input, *size);
        assert!(terminal.shows_cursor() && terminal.wraps());
    });
}

#[track_caller]
fn is_one_shot(shown: &[String], input: &Path, size: Size) {
    let expected = one_shot(input, size.0.into());
    // On a busy machine the emulator answers questions when the program is over.
    let is_answer = |line: &&String| line.starts_with("^[[?2026;") || line.starts_with("^[]10;");
    let shown: Vec<String> = shown
        .iter()
        .filter(|line| !is_answer(line))
        .cloned()
        .collect();
    assert!(
        shown == expected,
        "{} at {size:?}\n--- shown\n{}\n--- expected\n{}",
        input.display(),
        shown.join("\n"),
        expected.join("\n")
    );
}

/// Recordings that are played at a time; they mostly wait.
const AT_ONCE: usize = 4;

/// All recordings, each at one of the sizes, faster than an agent writes.
#[test]
fn every_recording() {
    let pattern = corpus("*/*/**/*").display().to_string();
    let inputs: Vec<PathBuf> = glob::glob(&pattern)
        .unwrap()
        .filter_map(Result::ok)
        .filter(|path| {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            path.is_file() && matches!(extension.as_ref(), "jsonl" | "json" | "txt" | "md")
        })
        .collect();
    assert!(inputs.len() > 300, "only {} recordings", inputs.len());
    let next = AtomicUsize::new(0);
    at_once(&[(); AT_ONCE], |()| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(number) else {
                return;
            };
            let size = SIZES[number % SIZES.len()];
            let start = Start::unspool(size, &["--no-summary"]).stdin(Stdio::piped());
            let mut terminal = start.start();
            let mut pipe = terminal.stdin();
            play_in_frames(input, &mut pipe);
            drop(pipe);
            terminal.end();
            is_one_shot(&terminal.lines(), input, size);
        }
    });
}

/// Sends a recording in a few pieces, cut anywhere, with a frame after each.
fn play_in_frames(input: &Path, pipe: &mut impl Write) {
    const FRAMES: usize = 6;
    let bytes = fs::read(input).unwrap();
    for piece in bytes.chunks(bytes.len() / FRAMES + 1) {
        pipe.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn claude_with_pieces_of_messages() {
    check("claude/partial/partial.live.jsonl");
}

#[test]
fn claude_with_calls_side_by_side() {
    check("claude/partial-parallel/partial-parallel.live.jsonl");
}

#[test]
fn claude_that_fails() {
    check("claude/partial-apierror/partial-apierror.live.jsonl");
}

#[test]
fn gemini_over_acp_with_nasty_text() {
    check("acp/gemini/nasty.acp.jsonl");
}

#[test]
fn codex_over_acp_with_agents_below() {
    check("acp/codex/collab-v2-subagents.acp.jsonl");
}

#[test]
#[ignore = "needs tmux: run `cargo xtask test`"]
fn in_tmux_too() {
    for name in [
        "claude/partial/partial.live.jsonl",
        "acp/codex/collab-v2-subagents.acp.jsonl",
    ] {
        let input = corpus(name);
        at_once(&SIZES, |size| {
            let tmux = Tmux::start(*size, &format!("mkfifo in\n{UNSPOOL} --no-summary < in"));
            let path = tmux.path("in");
            wait_until("the pipe", || path.exists());
            let mut pipe = File::options().write(true).open(path).unwrap();
            play(&input, &mut pipe);
            drop(pipe);
            tmux.end();
            is_one_shot(&tmux.lines(), &input, *size);
            assert!(tmux.shows_cursor());
        });
    }
}

/// Wide characters and clusters at every place of the last columns.
#[test]
fn wide_characters_at_the_edge() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("wide.jsonl");
    let mut run = session();
    for (number, wide) in ["漢", "한", "🙂", "e\u{301}", "ﾊ"].iter().enumerate() {
        for shift in 0..3 {
            let id = format!("m{number}x{shift}");
            let text = format!("{}{}", "a".repeat(shift), wide.repeat(90));
            for piece in text.chars().collect::<Vec<_>>().chunks(11) {
                run.push_str(&delta(&id, &piece.iter().collect::<String>()));
            }
            let id = format!("t{number}x{shift}");
            run.push_str(&call(&id, &format!("echo {text}")));
            run.push_str(&result(&id, &format!("{text}\n{wide}\n")));
        }
    }
    run.push_str(&turn_end());
    fs::write(&input, run).unwrap();
    at_once(&[(40, 10), (41, 10), (20, 8), (80, 24)], |size| {
        let terminal = shown(&input, *size);
        is_one_shot(&terminal.lines(), &input, *size);
    });
}

#[test]
fn an_open_part_that_is_taller_than_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("tall.jsonl");
    let mut run = session() + &text("a", "Twelve at once.");
    let ids: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
    for id in &ids {
        run.push_str(&call(id, &format!("make {id}")));
    }
    for line in 0..40 {
        run.push_str(&delta("b", &format!("- item number {line}\n")));
    }
    for id in ids.iter().rev() {
        run.push_str(&result(id, &format!("made {id}\nand more\n")));
    }
    run.push_str(&turn_end());
    fs::write(&input, run).unwrap();
    at_once(&[(80, 6), (40, 3), (80, 2), (80, 1), (35, 24)], |size| {
        let terminal = shown(&input, *size);
        is_one_shot(&terminal.lines(), &input, *size);
    });
}

#[test]
fn a_question_that_waits_is_shown() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    let call = "Tool Call: local • ReadFile\n\nrange_1: app.py • 1 • 9\n";
    let question = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    pipe.write_all([call, question].concat().as_bytes())
        .unwrap();
    terminal.wait_for("Run tools? (Yes/No/All/Skip all)");
    assert!(terminal.text().contains("app.py"));
    // The answer is not printed on a pipe: the work that follows shows it.
    pipe.write_all("\n✓ Retrieved context for 1 operation(s)\nSo be it.\n\n1k ◇ 0.0% ↑ 9 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\n".as_bytes())
        .unwrap();
    terminal.wait_for("So be it.");
    assert!(!terminal.text().contains("Run tools?"));
    drop(pipe);
    terminal.end();
}
