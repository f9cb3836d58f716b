//! Writes to the terminal: nothing when nothing changes, only a few
//! rows when little does, and never anything that takes the scrollback away.

use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::terminal::{Start, Terminal};
use crate::world::{UNSPOOL, call, delta, result, session, text, turn_end, wait_until};

fn start(arguments: &[&str]) -> Terminal {
    let mut words = vec!["--no-summary"];
    words.extend(arguments);
    Start::unspool((80, 24), &words)
        .stdin(Stdio::piped())
        .start()
}

/// The start of a frame.
const FRAME: &str = "\u{1b}[?2026h";

/// Counts how often a sequence was written.
pub(crate) fn count(bytes: &[u8], sequence: &str) -> usize {
    String::from_utf8_lossy(bytes).matches(sequence).count()
}

#[test]
fn a_stalled_agent_costs_a_row_ten_times_a_second() {
    let mut terminal = start(&[]);
    let mut pipe = terminal.stdin();
    let words = "word ".repeat(60);
    pipe.write_all((session() + &delta("a", &words)).as_bytes())
        .unwrap();
    terminal.wait_for("word word");
    terminal.wait_for("⠙");
    let (before, began) = (terminal.bytes().len(), Instant::now());
    thread::sleep(Duration::from_secs(1));
    wait_until("the spinner to turn", || terminal.bytes().len() > before);
    let written = terminal.bytes().len() - before;
    // Eleven pictures of the spinner in a second, each a short row.
    let pictures = usize::try_from(began.elapsed().as_millis() / 100).unwrap() + 2;
    assert!(
        written <= pictures * 120,
        "{written} bytes for {pictures} pictures"
    );
    drop(pipe);
    terminal.end();
}

#[test]
fn nothing_is_written_when_nothing_goes_on() {
    let mut terminal = start(&[]);
    let mut pipe = terminal.stdin();
    let run = session() + &text("a", "all done") + &turn_end();
    pipe.write_all(run.as_bytes()).unwrap();
    terminal.wait_for("all done");
    // The last frame of the turn takes the spinner away.
    wait_until("the end of the spinner", || !terminal.text().contains(" s"));
    terminal.wait_for_quiet();
    drop(pipe);
    terminal.end();
}

#[test]
fn frames_are_few_whole_and_leave_the_scrollback_alone() {
    let mut terminal = start(&[]);
    let mut pipe = terminal.stdin();
    let began = Instant::now();
    pipe.write_all(session().as_bytes()).unwrap();
    for message in 0..60 {
        for piece in 0..40 {
            let line = delta(&format!("m{message}"), &format!("piece{piece} "));
            pipe.write_all(line.as_bytes()).unwrap();
        }
        thread::sleep(Duration::from_millis(5));
        if message % 12 == 0 {
            let seen = count(&terminal.bytes(), FRAME);
            wait_until("another frame", || count(&terminal.bytes(), FRAME) > seen);
        }
    }
    drop(pipe);
    terminal.end();
    let most = usize::try_from(began.elapsed().as_millis() * 60 / 1000).unwrap() + 2;
    let bytes = terminal.bytes();
    let frames = count(&bytes, FRAME);
    assert!(
        frames > 3,
        "the terminal said that it knows synchronised updates"
    );
    assert_eq!(count(&bytes, "\u{1b}[?2026l"), frames);
    assert!(frames <= most, "{frames} frames, at most {most}");
    for sequence in [
        "\u{1b}[3J",
        "\u{1b}[2J",
        "\u{1b}[1J",
        "\u{1b}c",
        "\u{1b}[H",
        "\u{1b}[?1049h",
    ] {
        assert_eq!(count(&bytes, sequence), 0, "{sequence:?}");
    }
}

#[test]
fn a_call_becomes_its_finished_form_in_place() {
    let mut terminal = start(&[]);
    let mut pipe = terminal.stdin();
    let run = session() + &text("a", "I look.") + &call("t1", "sleep 3") + &call("t2", "make");
    pipe.write_all(run.as_bytes()).unwrap();
    terminal.wait_for("make");
    let running = terminal.lines();
    assert!(
        running.iter().any(|line| line.contains("Running sleep 3")),
        "{running:?}"
    );
    wait_until("the elapsed time", || {
        let lines = terminal.lines();
        let mut elapsed = lines
            .iter()
            .filter_map(|line| line.split_once("Running sleep 3 ")?.1.strip_suffix(" s"));
        elapsed.any(|seconds| seconds.parse::<u32>().is_ok())
    });
    pipe.write_all(result("t1", "slept\n").as_bytes()).unwrap();
    terminal.wait_for("Ran sleep 3");
    terminal.wait_for("slept");
    pipe.write_all((result("t2", "made\n") + &turn_end()).as_bytes())
        .unwrap();
    drop(pipe);
    terminal.end();
    assert_eq!(
        terminal.lines(),
        [
            "• I look.",
            "",
            "• Ran sleep 3",
            "  └ slept",
            "• Ran make",
            "  └ made"
        ]
    );
}

#[test]
fn a_dumb_terminal_gets_lines_alone() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .variable("TERM", "dumb")
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    let run = session() + &delta("a", "one ") + &delta("a", "two") + &text("b", "three");
    pipe.write_all(run.as_bytes()).unwrap();
    terminal.wait_for("three");
    drop(pipe);
    terminal.end();
    assert_eq!(terminal.lines(), ["• one two", "", "• three"]);
    assert!(!terminal.bytes().contains(&0x1b), "{:?}", terminal.text());
}

#[test]
fn without_colours_it_is_live_all_the_same() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .variable("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    pipe.write_all((session() + &delta("a", "one ")).as_bytes())
        .unwrap();
    terminal.wait_for("• one");
    pipe.write_all(delta("a", "two").as_bytes()).unwrap();
    terminal.wait_for("• one two");
    drop(pipe);
    terminal.end();
    assert_eq!(terminal.lines()[0], "• one two");
    assert_eq!(count(&terminal.bytes(), "\u{1b}[38"), 0);
    assert_eq!(count(&terminal.bytes(), "\u{1b}[1m"), 0);
}

#[test]
fn a_slow_terminal_slows_the_agent_down_and_loses_nothing() {
    let mut terminal = start(&[]);
    let mut pipe = terminal.stdin();
    let writer = thread::spawn(move || {
        pipe.write_all(session().as_bytes()).unwrap();
        for number in 0..3000 {
            let line = text(&format!("m{number}"), &format!("message number {number}"));
            pipe.write_all(line.as_bytes()).unwrap();
        }
        pipe.write_all(turn_end().as_bytes()).unwrap();
    });
    terminal.wait_for("message number 1");
    terminal.while_blocked(|| thread::sleep(Duration::from_millis(700)));
    writer.join().unwrap();
    terminal.end();
    let lines = terminal.lines();
    let messages: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(messages.len(), 3000);
    assert_eq!(messages[2999], "• message number 2999");
}

#[test]
fn a_bar_shows_how_far_a_large_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    file.write_all(session().as_bytes()).unwrap();
    for number in 0..3000 {
        let words = "A *word* `of` **many**. ".repeat(400);
        let long = text(&number.to_string(), &words);
        file.write_all(long.as_bytes()).unwrap();
    }
    drop(file);
    let (path, out) = (path.to_str().unwrap(), folder.path().join("out"));
    let out = out.to_str().unwrap();
    let sh = |command: &str| {
        let mut terminal = Start::program((80, 24), "sh", &["-c", command]).start();
        assert_eq!(terminal.end().code(), Some(0));
        // What is left on the screen, and what was there before.
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        (terminal.text(), bytes)
    };
    // An export is written when all secrets of the run are known.
    for (command, work) in [
        (format!("{UNSPOOL} {path} > {out}"), "Reading"),
        (
            format!("{UNSPOOL} export {path} --to html -o {out} --force"),
            "Writing",
        ),
    ] {
        let (left, seen) = sh(&command);
        assert!(
            seen.contains(work) && seen.contains(" MB of "),
            "{command}: {seen:?}"
        );
        assert_eq!(left.trim(), "", "{command}");
    }
    // A reader that takes its time is a person with a pager.
    let (_, seen) = sh(&format!("{UNSPOOL} {path} | (sleep 2; cat > /dev/null)"));
    assert!(!seen.contains("Reading"), "{seen:?}");
}
