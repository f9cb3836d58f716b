//! The library of saved sessions at several sizes: how long the first look at all
//! of them takes, and how long every further one.
//!
//! `cargo bench -p unspool-cli --bench library` makes sessions of Claude Code and
//! Codex in a folder of its own, most of them small and a few large as those on
//! people's disks are, and runs `unspool sessions` and `unspool stats`. Each line
//! is one size; the last columns show that the time grows with the bytes on the
//! first look, and with the number of files on a further one.
//!
//! Then it indexes all of them and searches: for a word that one session has, for
//! one that all have, and for two of which one is rare. `--large` adds a size of
//! 1 GB; `--huge` measures nothing but 10,000 sessions of 5 GB.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]
#![expect(clippy::print_stdout, reason = "this is what it is for")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "sizes need not be exact"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [100, 400, 1600];
const LARGE: usize = 24_000;
const HUGE: usize = 10_000;
/// Factor by which huge sessions are longer.
const HUGE_CALLS: f64 = 13.0;

fn main() {
    println!(
        "{:>8}  {:>7}  {:>7}  {:>5}  {:>8}  {:>7}  {:>7}  {:>7}  {:>5}  {:>8}  {:>7}  {:>9}  {:>7}",
        "sessions",
        "MB",
        "first s",
        "MB/s",
        "second s",
        "µs each",
        "stats s",
        "index s",
        "MB/s",
        "index MB",
        "rare ms",
        "common ms",
        "both ms"
    );
    let is_asked = |option: &str| std::env::args().any(|argument| argument == option);
    let sizes = SIZES
        .into_iter()
        .chain(is_asked("--large").then_some(LARGE));
    let mut sizes: Vec<(usize, f64)> = sizes.map(|size| (size, 1.0)).collect();
    if is_asked("--huge") {
        sizes = vec![(HUGE, HUGE_CALLS)];
    }
    for (size, calls) in sizes {
        let home = tempfile::tempdir().unwrap();
        let bytes = generate(home.path(), size, calls);
        let first = timed(home.path(), &["sessions", "--json"], size);
        let second = fastest(home.path(), &["sessions", "--json"], size);
        let stats = fastest(home.path(), &["stats", "--json"], 0);
        let index = timed(home.path(), &["sessions", "index"], 0);
        let search = |words: &[&str], found: usize| {
            let arguments = [&["sessions", "search", "--json"], words].concat();
            fastest(home.path(), &arguments, found).as_secs_f64() * 1e3
        };
        let megabytes = bytes as f64 / 1e6;
        let indexed = fs::metadata(home.path().join(".cache/unspool/words.db"));
        println!(
            "{size:>8}  {megabytes:>7.1}  {:>7.3}  {:>5.0}  {:>8.3}  {:>7.0}  {:>7.3}  {:>7.3}  {:>5.0}  {:>8.1}  {:>7.0}  {:>9.0}  {:>7.0}",
            first.as_secs_f64(),
            megabytes / first.as_secs_f64(),
            second.as_secs_f64(),
            second.as_secs_f64() * 1e6 / size as f64,
            stats.as_secs_f64(),
            index.as_secs_f64(),
            megabytes / index.as_secs_f64(),
            indexed.unwrap().len() as f64 / 1e6,
            search(&["needle17"], 1),
            search(&["failing"], 10),
            search(&["needle17", "ok"], 1),
        );
    }
}

fn fastest(home: &Path, arguments: &[&str], lines: usize) -> Duration {
    (0..5).map(|_| timed(home, arguments, lines)).min().unwrap()
}

/// Returns the time of a run, and checks the number of its lines unless any will do.
fn timed(home: &Path, arguments: &[&str], expected: usize) -> Duration {
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_unspool"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let took = began.elapsed();
    let lines = String::from_utf8(output.stdout).unwrap().lines().count();
    assert!(expected == 0 || lines == expected, "{lines} of {expected}");
    took
}

/// Makes that many sessions and tells how many bytes they are.
fn generate(home: &Path, sessions: usize, times: f64) -> usize {
    let mut random = Random(7);
    (0..sessions)
        .map(|number| {
            // Log-normal, more or less: a few KB to some MB, 40 KB on average.
            let calls = (times * 4.0 * 2.0_f64.powf(random.normal() * 1.7)).ceil() as usize;
            let calls = calls.clamp(1, 600 * times as usize);
            let (path, text) = if number % 2 == 0 {
                claude(number, calls, &mut random)
            } else {
                codex(number, calls, &mut random)
            };
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &text).unwrap();
            text.len()
        })
        .sum()
}

fn claude(number: usize, calls: usize, random: &mut Random) -> (String, String) {
    let id = format!("{number:08x}-0000-4000-8000-000000000000");
    let project = number % 20;
    let mut text = String::new();
    let mut line = |second: usize, kind: &str, message: &str| {
        let time = time(number, second);
        let _ = writeln!(
            text,
            r#"{{"parentUuid":null,"isSidechain":false,"type":"{kind}","uuid":"u-{number}-{second}","timestamp":"{time}","sessionId":"{id}","cwd":"/home/me/project-{project}","version":"2.1.325","message":{message}}}"#
        );
    };
    line(
        0,
        "user",
        &format!(r#"{{"role":"user","content":"Mend the failing tests, needle{number}."}}"#),
    );
    for call in 0..calls {
        let usage =
            r#""usage":{"input_tokens":12,"cache_read_input_tokens":14000,"output_tokens":90}"#;
        let tool = format!(
            r#"{{"id":"msg_{number}_{call}","role":"assistant","model":"claude-opus-5-5","content":[{{"type":"tool_use","id":"toolu_{number}_{call}","name":"Bash","input":{{"command":"cargo test"}}}}],{usage}}}"#
        );
        line(2 * call + 1, "assistant", &tool);
        let output = random.output();
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number}_{call}","content":"{output}"}}]}}"#
        );
        line(2 * call + 2, "user", &result);
    }
    line(
        2 * calls + 3,
        "assistant",
        r#"{"id":"msg_last","role":"assistant","model":"claude-opus-5-5","stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}"#,
    );
    (format!(".claude/projects/-p{project}/{id}.jsonl"), text)
}

fn codex(number: usize, calls: usize, random: &mut Random) -> (String, String) {
    let id = format!("{number:08x}-1111-7000-8000-000000000000");
    let mut text = String::new();
    let mut line = |second: usize, kind: &str, payload: &str| {
        let time = time(number, second);
        let _ = writeln!(
            text,
            r#"{{"timestamp":"{time}","type":"{kind}","payload":{payload}}}"#
        );
    };
    let project = number % 20;
    line(
        0,
        "session_meta",
        &format!(
            r#"{{"id":"{id}","cwd":"/home/me/project-{project}","cli_version":"0.137.0","source":"exec"}}"#
        ),
    );
    line(0, "event_msg", r#"{"type":"task_started"}"#);
    line(
        0,
        "event_msg",
        &format!(
            r#"{{"type":"user_message","message":"Mend the failing tests, needle{number}."}}"#
        ),
    );
    for call in 0..calls {
        line(
            2 * call + 1,
            "response_item",
            &format!(
                r#"{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"cargo test\"}}","call_id":"call_{number}_{call}"}}"#
            ),
        );
        let output = random.output();
        line(
            2 * call + 2,
            "response_item",
            &format!(
                r#"{{"type":"function_call_output","call_id":"call_{number}_{call}","output":"{output}"}}"#
            ),
        );
        let total = (call + 1) * 1000;
        line(
            2 * call + 2,
            "event_msg",
            &format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total},"output_tokens":{call}}},"last_token_usage":{{"total_tokens":1001}}}}}}"#
            ),
        );
    }
    line(
        2 * calls + 3,
        "event_msg",
        r#"{"type":"agent_message","message":"Done."}"#,
    );
    line(
        2 * calls + 3,
        "event_msg",
        r#"{"type":"task_complete","duration_ms":5000}"#,
    );
    let day = number / 50 % 28 + 1;
    (
        format!(".codex/sessions/2026/10/{day:02}/rollout-2026-10-{day:02}T10-00-00-{id}.jsonl"),
        text,
    )
}

fn time(number: usize, second: usize) -> String {
    let day = number / 50 % 28 + 1;
    let (hour, minute) = (number % 20, second / 60 % 60);
    format!(
        "2026-10-{day:02}T{hour:02}:{minute:02}:{:02}.{:03}Z",
        second % 60,
        number % 1000
    )
}

/// Numbers that are the same each time (a linear congruential generator).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    /// Twelve even ones make a nearly normal one.
    fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12)
            .map(|_| (self.next() % 10_000) as f64 / 10_000.0)
            .sum();
        sum - 6.0
    }

    /// Output of a command as a JSON string: some lines to some thousands.
    fn output(&mut self) -> String {
        let lines = (60.0 * 2.0_f64.powf(self.normal() * 1.5)).ceil() as usize;
        let mut text = String::new();
        for line in 0..lines.min(4000) {
            let _ = write!(
                text,
                r"test module_{}::case_{line} ... ok {:x}\n",
                line % 9,
                self.next()
            );
        }
        text
    }
}
