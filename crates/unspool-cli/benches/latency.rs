//! From an event to the screen: how long it takes until something that an agent
//! writes into the pipe is on its way to the terminal, and what the same costs
//! through `cat`, which looks at nothing.
//!
//! `cargo bench -p unspool-cli --bench latency` prints medians and the slowest
//! of twenty. A frame is painted at most every 16 ms, so a piece that comes
//! right behind another may wait that long.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail")]
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::blocking::{Command, open};

const ROUNDS: usize = 200;
/// Longer than a frame: each event comes to a screen at rest.
const APART: Duration = Duration::from_millis(37);

/// Starts a command on a terminal of its own; gives what it reads from and what
/// it wrote.
fn start(program: &str, arguments: &[&str]) -> (std::process::ChildStdin, Receiver<Vec<u8>>) {
    let (pty, pts) = open().unwrap();
    pty.resize(pty_process::Size::new(24, 80)).unwrap();
    let command = Command::new(program).args(arguments);
    let command = command
        .env("TERM", "xterm-256color")
        .env("COLORFGBG", "15;0")
        .stdin(Stdio::piped());
    let mut child = command.spawn(pts).unwrap();
    let input = child.stdin.take().unwrap();
    let (sender, written) = channel();
    thread::spawn(move || {
        let mut pty = pty;
        let mut chunk = vec![0; 1 << 16];
        while let Ok(length @ 1..) = pty.read(&mut chunk) {
            if sender.send(chunk[..length].to_vec()).is_err() {
                break;
            }
        }
        let _ = child.wait();
    });
    (input, written)
}

/// Waits until the word was written.
fn wait_for(word: &str, written: &Receiver<Vec<u8>>) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(word) {
        seen.extend(written.recv_timeout(Duration::from_secs(10)).unwrap());
    }
}

/// The times of all rounds, the shortest first.
fn measured(program: &str, arguments: &[&str], event: impl Fn(&str) -> String) -> Vec<Duration> {
    let (mut input, written) = start(program, arguments);
    let send = |input: &mut std::process::ChildStdin, word: &str| {
        input.write_all(event(word).as_bytes()).unwrap();
        input.flush().unwrap();
    };
    send(&mut input, "warm");
    wait_for("warm", &written);
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            thread::sleep(APART);
            while written.try_recv().is_ok() {}
            let word = format!("w{round:05}");
            let began = Instant::now();
            send(&mut input, &word);
            wait_for(&word, &written);
            began.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn report(name: &str, times: &[Duration]) {
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!("{name:28} {:7.2} ms {:7.2} ms", at(50), at(95));
}

fn main() {
    let unspool = env!("CARGO_BIN_EXE_unspool");
    let theme = ["--theme", "dark"];
    println!(
        "{:28} {:>10} {:>10}",
        "from event to screen", "median", "19 of 20"
    );
    let cat = measured("cat", &[], |word| format!("{word}\n"));
    report("cat", &cat);
    let call = |word: &str| {
        format!(
            "{{\"kind\":\"tool_use\",\"id\":\"{word}\",\"name\":\"Bash\",\"category\":\"execute\",\"arg\":\"{word}\"}}\n{{\"kind\":\"tool_result\",\"id\":\"{word}\",\"status\":\"ok\"}}\n"
        )
    };
    report("a finished call", &measured(unspool, &theme, call));
    let delta = |word: &str| {
        format!("{{\"kind\":\"text\",\"id\":\"a\",\"text\":\" {word}\",\"delta\":true}}\n")
    };
    report("a piece of an answer", &measured(unspool, &theme, delta));
}
