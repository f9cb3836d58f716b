//! A million pieces: the memory does not grow with what has passed.

use std::fs;
use std::process::Child;

use crate::terminal::Start;
use crate::world::{Agent, delta, one_shot, session, turn_end, unspool, wait_until};

/// Maximum resident memory of the process, in KB.
const MOST: u64 = 64 << 10;

/// An agent that writes a million pieces in messages of a thousand, and waits
/// until it may end.
fn agent() -> Agent {
    let piece = delta("m%d", "ab ");
    Agent::python(&format!(
        "w = sys.stdout.write\nw({:?})\n\
         for m in range(1000): w({piece:?} % m * 1000)\n\
         w({:?})\nsys.stdout.flush()\nopen('done', 'w').close()\n\
         while not os.path.exists('stop'): time.sleep(0.02)",
        session(),
        turn_end(),
    ))
}

/// The most memory that a process has had, in KB.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "needs python3: run `cargo xtask test`"]
fn a_million_pieces_through_a_pipe() {
    let agent = agent();
    let words = ["run", "--width", "80", "--", &agent.script];
    let out = fs::File::create(agent.path("out")).unwrap();
    let mut child: Child = unspool(&words).stdout(out).spawn().unwrap();
    wait_until("a million pieces", || agent.path("done").exists());
    let is_shown = || fs::metadata(agent.path("out")).unwrap().len() > 2_950_000;
    wait_until("the last message", is_shown);
    let peak = peak(child.id());
    fs::write(agent.path("stop"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(peak <= MOST, "{peak} KB");
    let text = fs::read_to_string(agent.path("out")).unwrap();
    assert_eq!(text.matches("ab").count(), 1_000_000);
}

/// Watches the agent on a terminal to its end, and what that takes. The
/// scrollback holds the last 10,000 lines of it.
fn watched(agent: &Agent) -> Vec<String> {
    let words = ["run", "--no-summary", "--", &agent.script];
    let mut terminal = Start::unspool((80, 24), &words).start();
    wait_until("a million pieces", || agent.path("done").exists());
    let peak = peak(terminal.pid().as_raw_nonzero().get().unsigned_abs());
    fs::write(agent.path("stop"), "").unwrap();
    assert_eq!(terminal.end().code(), Some(0));
    assert!(peak <= MOST, "{peak} KB");
    let lines = terminal.lines();
    assert!(lines.len() > 9_000);
    lines
}

#[test]
#[ignore = "needs python3: run `cargo xtask test`"]
fn a_million_pieces_on_a_terminal() {
    let agent = agent();
    let lines = watched(&agent);
    assert!(
        lines
            .iter()
            .all(|line| line.is_empty() || line.contains("ab ab "))
    );
}

/// One message of a million pieces, which is on the screen all the time.
#[test]
#[ignore = "needs python3: run `cargo xtask test`"]
fn one_message_of_a_million_pieces_on_a_terminal() {
    let piece = |text: &str| delta("m", text);
    let agent = Agent::python(&format!(
        "def run(w):\n\
         \x20   w({:?})\n\
         \x20   for p in range(25000): w({:?} % p + {:?} * 38 + {:?})\n\
         \x20   w({:?})\n\
         run(open('run.jsonl', 'w').write)\n\
         run(sys.stdout.write)\nsys.stdout.flush()\nopen('done', 'w').close()\n\
         while not os.path.exists('stop'): time.sleep(0.02)",
        session(),
        piece("Part %d "),
        piece("ab *c* "),
        piece("end.\n\n"),
        turn_end(),
    ));
    let lines = watched(&agent);
    let expected = one_shot(&agent.path("run.jsonl"), 80);
    let last = &expected[expected.len() - lines.len()..];
    assert!(
        lines == last,
        "{:?}",
        lines.iter().zip(last).find(|(a, b)| a != b)
    );
}
