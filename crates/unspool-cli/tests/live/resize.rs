//! Windows that change their size while something is shown: no word is lost,
//! none is there twice.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::terminal::{Size, Start, Terminal};
use crate::tmux::{self, Tmux};
use crate::world::{UNSPOOL, call, delta, result, session, text, turn_end, wait_until};

/// Changes that terminals get wrong most easily: to less than a full line and
/// back, to a few rows, both at once, and again before anything was painted.
const CHANGES: [&[Size]; 6] = [
    &[(80, 24), (79, 24), (80, 24)],
    &[(80, 24), (41, 24), (80, 24), (41, 24)],
    &[(80, 24), (80, 12), (80, 6), (80, 24)],
    &[(80, 24), (50, 14), (31, 9), (62, 18), (120, 40)],
    &[(40, 10), (21, 6), (40, 12), (80, 24)],
    &[(100, 5), (60, 8), (100, 4), (100, 30)],
];

const STEPS: usize = 40;

/// What the agent writes in one step, and a word of it that is to be seen
/// before the next change. All words are there once.
fn step(number: usize) -> (String, String) {
    let words = |from: &str| {
        let words: Vec<String> = (0..14).map(|at| format!("{from}{number}x{at}")).collect();
        words.join(" ")
    };
    let mut out = String::new();
    match number % 4 {
        // A message that grows, and is over when the next begins.
        0 | 1 => {
            for word in words("grow").split_inclusive(' ') {
                out.push_str(&delta(&format!("m{number}"), word));
            }
        }
        2 => out.push_str(&call(&format!("t{number}"), &format!("run{number}"))),
        _ => {
            let id = format!("t{}", number - 1);
            out.push_str(&result(&id, &format!("line{number}a\nline{number}b\n")));
            out.push_str(&text(&format!("m{number}"), &words("whole")));
        }
    }
    let seen = match number % 4 {
        0 | 1 => format!("grow{number}x13"),
        2 => format!("run{number}"),
        _ => format!("whole{number}x13"),
    };
    (out, seen)
}

/// The words of all steps, in the order in which they are shown.
fn expected() -> Vec<String> {
    let mut words = Vec::new();
    for number in 0..STEPS {
        let many = |from: &str| {
            (0..14)
                .map(move |at| format!("{from}{number}x{at}"))
                .collect()
        };
        let mut new: Vec<String> = match number % 4 {
            0 | 1 => many("grow"),
            2 => vec![format!("run{number}")],
            _ => {
                let mut new = vec![format!("line{number}a"), format!("line{number}b")];
                new.extend::<Vec<String>>(many("whole"));
                new
            }
        };
        words.append(&mut new);
    }
    words
}

/// The words with a number in them, in the order in which they are there.
fn words(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

/// Plays all steps and changes the size after each. Where the sizes are much
/// the same, the change sometimes comes before anything was painted.
fn play(sizes: &[Size], pipe: &mut impl Write, resize: impl Fn(Size), wait: impl Fn(&str)) {
    let (mut narrow, mut wide) = (u16::MAX, 0);
    for (columns, rows) in sizes {
        narrow = narrow.min(*columns).min(rows * 4);
        wide = wide.max(*columns).max(rows * 4);
    }
    let is_eager = narrow * 3 > wide * 2;
    pipe.write_all(session().as_bytes()).unwrap();
    for number in 0..STEPS {
        let (out, seen) = step(number);
        pipe.write_all(out.as_bytes()).unwrap();
        if !is_eager || number % 3 != 0 {
            wait(&seen);
        }
        // First the screen fills.
        if number >= 8 {
            resize(sizes[number % sizes.len()]);
        }
    }
    pipe.write_all(turn_end().as_bytes()).unwrap();
}

fn in_emulator(sizes: &[Size]) -> Terminal {
    let start = Start::unspool(sizes[0], &["--no-summary"]).stdin(Stdio::piped());
    let mut terminal = start.start();
    let mut pipe = terminal.stdin();
    play(
        sizes,
        &mut pipe,
        |size| terminal.resize(size),
        |text| terminal.wait_for(text),
    );
    drop(pipe);
    assert_eq!(terminal.end().code(), Some(0));
    terminal
}

#[track_caller]
fn check(lines: &[String], sizes: &[Size]) {
    let found = words(lines);
    let expected = expected();
    let first = found
        .iter()
        .zip(&expected)
        .position(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "{sizes:?}: {} words, {} expected, different from {first:?}\n{}",
        found.len(),
        expected.len(),
        lines.join("\n")
    );
}

#[test]
fn no_word_is_lost_or_doubled() {
    for sizes in CHANGES {
        check(&in_emulator(sizes).lines(), sizes);
    }
}

/// A size, and how it becomes smaller and larger, never to less than half.
fn changes() -> impl Strategy<Value = Vec<Size>> {
    let steps = proptest::collection::vec((55_u16..180, 55_u16..180), 2..6);
    steps.prop_map(|steps| {
        let mut sizes = vec![(80, 24)];
        let (mut columns, mut rows) = (80, 24);
        for (wider, higher) in steps {
            columns = (columns * wider / 100).clamp(22, 160);
            rows = (rows * higher / 100).clamp(5, 50);
            sizes.push((columns, rows));
        }
        // And back, so that the first follows the last.
        let back: Vec<Size> = sizes.iter().rev().skip(1).copied().collect();
        sizes.extend(back);
        sizes
    })
}

#[test]
fn no_word_is_lost_or_doubled_whatever_the_sizes() {
    let config = Config {
        cases: 4,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let checked = TestRunner::new(config).run(&changes(), |sizes| {
        check(&in_emulator(&sizes).lines(), &sizes);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn no_word_is_lost_or_doubled_in_tmux() {
    if !tmux::is_there() {
        return;
    }
    for sizes in CHANGES.iter().take(5) {
        let script = format!("mkfifo in\n{UNSPOOL} --no-summary < in");
        let tmux = Tmux::start(sizes[0], &script);
        let path = tmux.path("in");
        wait_until("the pipe", || path.exists());
        let mut pipe = File::options().write(true).open(path).unwrap();
        play(
            sizes,
            &mut pipe,
            |size| tmux.resize(size),
            |text| tmux.wait_for(text),
        );
        drop(pipe);
        assert_eq!(tmux.end(), 0);
        check(&tmux.lines(), sizes);
        assert!(tmux.shows_cursor());
    }
}
