//! The terminal is restored, whatever ends or suspends the view.

use rustix::process::Signal;

use crate::process::state;
use crate::run::{Run, long};
use crate::terminal::{Start, Terminal};
use crate::world::{UNSPOOL, wait_until};

#[track_caller]
fn wait_for_restore(terminal: &Terminal) {
    wait_until("the terminal to be restored", || terminal.is_restored());
}

#[test]
fn by_signals() {
    let run = Run::of(&long(3));
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut terminal = run.open((80, 24));
        terminal.signal(signal);
        assert_eq!(terminal.end().code(), Some(code));
        assert!(terminal.is_restored());
    }
}

#[test]
fn by_suspend_and_resume() {
    let run = Run::of(&long(3));
    let mut terminal = run.open((80, 24));
    // Ctrl-Z works only if a shell could resume it.
    terminal.press(b"\x1a");
    terminal.wait_for("no shell could resume it");
    assert!(terminal.is_alternate());
    for _ in 0..2 {
        terminal.signal(Signal::TSTP);
        wait_for_restore(&terminal);
        wait_until("the stop", || state(terminal.pid()) == Some('T'));
        terminal.signal(Signal::CONT);
        wait_until("the view", || {
            terminal.is_alternate() && terminal.text().contains("prompt 0")
        });
    }
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(terminal.is_restored());
}

#[test]
fn when_the_window_is_closed_it_ends() {
    let run = Run::of(&long(3));
    let terminal = run.open((80, 24));
    let mut child = terminal.hang_up();
    wait_until("its end", || child.try_wait().unwrap().is_some());
}

/// Panics on request, which only test builds support.
#[cfg(debug_assertions)]
#[test]
fn by_a_panic_with_a_readable_message() {
    let run = Run::of(&long(3));
    for (place, words, code) in [
        ("paint", "painting was told to panic", 101),
        ("thread", "a thread was told to panic", 2),
    ] {
        let start = run.start((80, 24), &[]);
        let mut terminal = start.variable("UNSPOOL_TEST_PANIC", place).start();
        let status = terminal.end();
        assert_eq!(status.code(), Some(code), "{place}");
        assert!(terminal.is_restored());
        let text = terminal.text();
        assert!(text.contains(words), "{place}: {text}");
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        let left = bytes.rfind("\u{1b}[?1049l").unwrap();
        assert!(
            bytes.find(words).unwrap() > left,
            "{place}: it was painted over"
        );
    }
}

/// A shell treats a pipeline as one job.
#[test]
fn by_suspending_and_resuming_a_pipe() {
    let run = Run::of(&long(3));
    let folder = run.folder().to_str().unwrap();
    let start = Start::program((80, 24), "/bin/sh", &["-i"]);
    let start = start.variable("HOME", folder).variable("PS1", "$ ");
    let mut terminal = start.start();
    terminal.wait_for("$");
    let line = format!("cd {folder}; (cat run.jsonl; sleep 600) | {UNSPOOL} view --theme dark\n");
    terminal.press(line.as_bytes());
    for times in 1..3 {
        wait_until("the view", || {
            terminal.is_alternate() && terminal.text().contains("answer 2")
        });
        terminal.press(b"\x1a");
        wait_until("the shell's turn", || {
            terminal.is_restored() && terminal.text().matches("Stopped").count() >= times
        });
        terminal.press(b"fg\n");
    }
    wait_until("the view", || {
        terminal.is_alternate() && terminal.text().contains("answer 2")
    });
    terminal.press(b"q");
    wait_for_restore(&terminal);
    // Ends the other process of the pipeline.
    terminal.press(b"\x03");
    terminal.wait_for_end("$");
    terminal.press(b"exit\n");
    terminal.end();
}
