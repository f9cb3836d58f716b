//! Windows that change their size while something is shown: no word is lost,
//! none is there twice.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::terminal::{Size, Start, Terminal};
use crate::tmux::Tmux;
use crate::world::{UNSPOOL, at_once, call, delta, result, session, text, turn_end, wait_until};

/// Changes that terminals get wrong most easily, to and fro: to less than a full
/// line, to a few rows, and both at once. None goes below half of what was there
/// before, which is right on any screen, however empty.
const CHANGES: [&[Size]; 6] = [
    &[(80, 24), (79, 24), (77, 23)],
    &[(80, 24), (41, 24), (80, 24), (41, 24)],
    &[(80, 24), (80, 12), (80, 6)],
    &[(80, 24), (50, 14), (31, 9), (62, 18), (120, 36)],
    &[(40, 10), (21, 6), (40, 12), (80, 24)],
    &[(100, 5), (60, 8), (100, 4), (100, 8)],
];

/// Changes to much less at once, which are right where enough rows stand above
/// what is open. The terminal changes first and tells it later (tmux waits for a
/// quarter of a second).
const JUMPS: [&[Size]; 5] = [
    &[(120, 24), (20, 24)],
    &[(80, 24), (14, 24)],
    &[(200, 30), (40, 30)],
    &[(80, 24), (80, 5)],
    &[(160, 24), (80, 12), (20, 24)],
];

const STEPS: usize = 32;

/// One step of the agent, all of whose words are there once.
struct Step {
    out: String,
    words: Vec<String>,
}

fn step(number: usize) -> Step {
    let many = |name: &str, count: usize| -> Vec<String> {
        (0..count)
            .map(|at| format!("{name}{number}x{at}e"))
            .collect()
    };
    let mut out = String::new();
    let words = match number % 4 {
        // A message that grows, and is over when the next begins.
        0 | 1 => {
            let words = many("grow", 60);
            for word in &words {
                out.push_str(&delta(&format!("m{number}"), &format!("{word} ")));
            }
            words
        }
        // Commands side by side.
        2 => {
            let words = many("run", 3);
            for word in &words {
                out.push_str(&call(word, word));
            }
            words
        }
        _ => {
            for at in 0..3 {
                let id = format!("run{}x{at}e", number - 1);
                out.push_str(&result(&id, "done\n"));
            }
            let words = many("whole", 14);
            out.push_str(&text(&format!("m{number}"), &words.join(" ")));
            words
        }
    };
    Step { out, words }
}

/// The words of all steps, in the order in which they are shown.
fn expected() -> Vec<String> {
    (0..STEPS).flat_map(|number| step(number).words).collect()
}

/// The words with a number in them, in the order in which they are there.
fn words(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .filter(|word| word.contains('x') && word.contains(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

/// Returns true for lines that are valid in the middle of a run: no word twice, and
/// each in its place. Of what is open, only the last is shown.
fn is_sound(lines: &[String], expected: &[String]) -> bool {
    let whole: Vec<String> = words(lines);
    let places = whole
        .iter()
        .filter_map(|word| expected.iter().position(|other| other == word));
    places.is_sorted_by(|a, b| a < b)
}

/// One size after the other, and back again.
fn to_and_fro(sizes: &[Size], number: usize) -> Size {
    let last = sizes.len() - 1;
    let at = number % (2 * last);
    sizes[at.min(2 * last - at)]
}

/// A terminal that is played to.
trait Window {
    fn resize(&self, size: Size);
    fn wait_for_paint(&self);
    fn lines(&self) -> Vec<String>;
}

impl Window for Terminal {
    fn resize(&self, size: Size) {
        Terminal::resize(self, size);
    }

    fn wait_for_paint(&self) {
        let before = self.bytes().len();
        wait_until("something to be painted", || self.bytes().len() > before);
    }

    fn lines(&self) -> Vec<String> {
        Terminal::lines(self)
    }
}

impl Window for Tmux {
    fn resize(&self, size: Size) {
        Tmux::resize(self, size);
    }

    fn wait_for_paint(&self) {
        // What is painted is not known, but the spinner turns.
        thread::sleep(Duration::from_millis(100));
    }

    fn lines(&self) -> Vec<String> {
        Tmux::lines(self)
    }
}

/// Returns true if a part of a step is visible: its words, or the last letters of the
/// last one. What is open and too long for a row goes on in the next, and on a
/// small screen it is cut.
fn shows_some(lines: &[String], words: &[String]) -> bool {
    let text = lines.concat();
    let (name, _) = words[0].split_once('x').unwrap();
    let last = words.last().unwrap();
    let (_, end) = last.split_at(last.len() - 3);
    text.contains(&format!("{name}x")) || text.contains(end)
}

#[track_caller]
fn wait_for_sound(window: &impl Window, expected: &[String], words: &[String]) {
    let mut lines: Vec<String> = Vec::new();
    let began = Instant::now();
    while !(shows_some(&lines, words) && is_sound(&lines, expected)) {
        let shown = lines.join("\n");
        assert!(began.elapsed().as_secs() < 30, "no {words:?}:\n{shown}");
        lines = window.lines();
    }
}

/// Lines that a shell has printed before.
fn prompts(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("prompt-{number}$"))
}

/// The start of a script that prints them.
fn prompt_script(count: usize) -> String {
    let lines: Vec<String> = prompts(count).collect();
    format!(
        "printf '%s\\n' {}\n",
        shlex::try_join(lines.iter().map(String::as_str)).unwrap()
    )
}

/// Plays all steps and changes the size after each. Where the sizes are much
/// the same, the change sometimes comes before anything was painted.
fn play(sizes: &[Size], pipe: &mut impl Write, window: &impl Window) {
    let expected = expected();
    let (mut narrow, mut wide) = (u16::MAX, 0);
    for (columns, rows) in sizes {
        narrow = narrow.min(*columns).min(rows * 4);
        wide = wide.max(*columns).max(rows * 4);
    }
    let is_eager = narrow * 3 > wide * 2;
    pipe.write_all(session().as_bytes()).unwrap();
    for number in 0..STEPS {
        let Step { out, words } = step(number);
        pipe.write_all(out.as_bytes()).unwrap();
        if !is_eager || number % 3 != 0 {
            window.wait_for_paint();
            wait_for_sound(window, &expected, &words);
        }
        window.resize(to_and_fro(sizes, number + 1));
        if number % 2 == 0 {
            window.wait_for_paint();
            wait_for_sound(window, &expected, &words);
        }
    }
    pipe.write_all(turn_end().as_bytes()).unwrap();
}

/// Plays in the emulator, below so many prompts.
fn in_emulator(sizes: &[Size], above: usize) -> Vec<String> {
    let script = format!("{}exec {UNSPOOL} --no-summary", prompt_script(above));
    let start = Start::program(sizes[0], "sh", &["-c", &script]).stdin(Stdio::piped());
    let mut terminal = start.start();
    let mut pipe = terminal.stdin();
    play(sizes, &mut pipe, &terminal);
    drop(pipe);
    assert_eq!(terminal.end().code(), Some(0));
    assert!(terminal.shows_cursor());
    terminal.lines()
}

/// The same in tmux.
fn in_tmux(sizes: &[Size], above: usize) -> Vec<String> {
    let prompts = prompt_script(above);
    let script = format!("mkfifo in\n{prompts}{UNSPOOL} --no-summary < in");
    let tmux = Tmux::start(sizes[0], &script);
    let path = tmux.path("in");
    wait_until("the pipe", || path.exists());
    let mut pipe = File::options().write(true).open(path).unwrap();
    play(sizes, &mut pipe, &tmux);
    drop(pipe);
    assert_eq!(tmux.end(), 0);
    assert!(tmux.shows_cursor());
    tmux.lines()
}

#[track_caller]
fn check(lines: &[String], sizes: &[Size], above: usize) {
    let found = words(lines);
    let expected = expected();
    let first = found
        .iter()
        .zip(&expected)
        .position(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "{sizes:?} {above}: {} words, {} expected, different from {first:?}\n{}",
        found.len(),
        expected.len(),
        lines.join("\n")
    );
    check_prompts(lines, above);
}

/// Checks that the earlier lines are still there.
#[track_caller]
fn check_prompts(lines: &[String], above: usize) {
    let found = lines.iter().filter(|line| line.contains("prompt-"));
    let expected: Vec<String> = prompts(above).collect();
    assert!(found.eq(&expected), "{}", lines.join("\n"));
}

#[test]
fn no_word_is_lost_or_doubled() {
    at_once(&CHANGES, |sizes| check(&in_emulator(sizes, 1), sizes, 1));
}

#[test]
fn no_word_is_lost_or_doubled_by_much_less_at_once() {
    for above in [14, 24] {
        at_once(&JUMPS, |sizes| {
            check(&in_emulator(sizes, above), sizes, above);
        });
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
        check(&in_emulator(&sizes, 1), &sizes, 1);
        Ok(())
    });
    checked.unwrap();
}

#[test]
#[ignore = "needs tmux: run `cargo xtask test`"]
fn no_word_is_lost_or_doubled_in_tmux() {
    at_once(&CHANGES[..5], |sizes| check(&in_tmux(sizes, 1), sizes, 1));
}

#[test]
#[ignore = "needs tmux: run `cargo xtask test`"]
fn no_word_is_lost_or_doubled_in_tmux_by_much_less_at_once() {
    for above in [14, 24] {
        at_once(&JUMPS, |sizes| check(&in_tmux(sizes, above), sizes, above));
    }
}

/// The boundary: below half of the width at once on a screen that is nearly
/// empty. The terminal pushes open rows into the scrollback before anybody is
/// told; they stay there, two at most, and nothing else is lost or doubled.
#[test]
fn on_an_empty_screen_two_open_rows_may_stay() {
    let (sizes, above) = ([(80, 24), (10, 24)], 1);
    let script = format!("{}exec {UNSPOOL} --no-summary", prompt_script(above));
    let start = Start::program(sizes[0], "sh", &["-c", &script]).stdin(Stdio::piped());
    let mut terminal = start.start();
    let mut pipe = terminal.stdin();
    let Step {
        out,
        words: expected,
    } = step(0);
    pipe.write_all((session() + &out).as_bytes()).unwrap();
    terminal.wait_for("grow0x59e");
    terminal.resize(sizes[1]);
    terminal.wait_for_paint();
    pipe.write_all(turn_end().as_bytes()).unwrap();
    drop(pipe);
    assert_eq!(terminal.end().code(), Some(0));
    let lines = terminal.lines();
    check_prompts(&lines, above);
    let found = words(&lines);
    assert!(found.ends_with(&expected), "{}", lines.join("\n"));
    // Eight words fill a row.
    let left = found.len() - expected.len();
    assert!(left <= 2 * 8, "{left} words:\n{}", lines.join("\n"));
}
