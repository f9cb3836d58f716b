//! Ctrl-C, Ctrl-Z, and a terminal that goes away.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;

use crate::process::{is_gone, state};
use crate::terminal::{Start, Terminal};
use crate::world::{Agent, delta, noted, session, text, wait_until};

/// `unspool run` with an agent on a terminal.
fn run(agent: &Agent, arguments: &[&str]) -> Terminal {
    let mut words = vec!["run", "--no-summary"];
    words.extend(arguments);
    words.extend(["--", &agent.script]);
    Start::unspool((80, 24), &words).start()
}

/// An agent that writes a session and then does what the script says.
fn agent(script: &str) -> Agent {
    let agent = Agent::sh(&format!("cat begin\n{script}"));
    fs::write(agent.path("begin"), session() + &delta("a", "working ")).unwrap();
    fs::write(agent.path("last"), delta("a", "stopped")).unwrap();
    agent
}

#[track_caller]
fn is_clean(terminal: &Terminal) {
    assert!(terminal.shows_cursor(), "the cursor is back");
    assert!(terminal.wraps(), "long lines wrap");
    assert!(terminal.echoes(), "what is typed is shown");
    let text = terminal.text();
    assert!(!text.contains(|c| ('⠀'..='⣿').contains(&c)), "{text}");
}

#[test]
fn ctrl_c_is_the_agents_to_answer() {
    let agent = agent("trap 'cat last; exit 7' INT\necho $$ > outer\nwhile :; do sleep 0.05; done");
    let mut terminal = run(&agent, &[]);
    terminal.wait_for("working");
    noted(&agent, "outer");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(7));
    is_clean(&terminal);
    assert!(
        terminal.text().contains("• working stopped"),
        "{}",
        terminal.text()
    );
    assert!(
        terminal.text().contains("exited with status 7"),
        "{}",
        terminal.text()
    );
}

#[test]
fn an_agent_without_an_answer_is_ended_by_the_signal() {
    let agent = agent("exec sleep 100");
    let mut terminal = run(&agent, &[]);
    terminal.wait_for("working");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(130));
    is_clean(&terminal);
    assert!(terminal.text().contains("• working"), "{}", terminal.text());
}

#[test]
fn the_third_ctrl_c_ends_all_that_was_started() {
    let agent = agent(
        "trap ': > first' INT\ntrap ': > second' TERM\n\
         (trap '' INT TERM; sh -c 'echo $$ > inner; exec sleep 100') &\n\
         echo $$ > outer\nwhile :; do sleep 0.05; done",
    );
    let mut terminal = run(&agent, &[]);
    terminal.wait_for("working");
    let (outer, inner) = (noted(&agent, "outer"), noted(&agent, "inner"));
    for signal in ["first", "second"] {
        terminal.press(b"\x03");
        wait_until(signal, || agent.path(signal).exists());
        assert!(!is_gone(outer));
    }
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(137));
    is_clean(&terminal);
    wait_until("the end of all", || is_gone(outer) && is_gone(inner));
}

#[test]
fn ctrl_c_ends_a_pipe_whose_writer_goes_on() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    pipe.write_all((session() + &delta("a", "working")).as_bytes())
        .unwrap();
    terminal.wait_for("working");
    assert_eq!(terminal.press_until_end(b"\x03").code(), Some(130));
    is_clean(&terminal);
    assert!(terminal.text().contains("• working"), "{}", terminal.text());
}

#[test]
fn what_is_typed_does_not_disturb() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    let run = session() + &text("a", "first") + &delta("b", "second ");
    pipe.write_all(run.as_bytes()).unwrap();
    terminal.wait_for("second");
    terminal.press(b"typed\r\r\r\x1b[A");
    pipe.write_all(delta("b", "third").as_bytes()).unwrap();
    terminal.wait_for("second third");
    terminal.press(b"more\r");
    assert!(!terminal.echoes());
    drop(pipe);
    terminal.end();
    is_clean(&terminal);
    assert_eq!(terminal.lines()[..3], ["• first", "", "• second third"]);
    assert!(!terminal.text().contains("typed"));
}

#[test]
fn stopped_and_continued_the_screen_is_right() {
    let mut terminal = Start::unspool((80, 24), &["--no-summary"])
        .stdin(Stdio::piped())
        .start();
    let mut pipe = terminal.stdin();
    pipe.write_all((session() + &text("a", "first") + &delta("b", "second ")).as_bytes())
        .unwrap();
    terminal.wait_for("second");
    // What a shell does for Ctrl-Z and `fg`.
    terminal.signal(Signal::TSTP);
    wait_until("the stop", || state(terminal.pid()) == Some('T'));
    wait_until("the cursor", || terminal.shows_cursor());
    assert_eq!(terminal.lines(), ["• first"]);
    assert!(terminal.echoes());
    terminal.print("\r\n[1]+  Stopped\r\n$ fg\r\n");
    terminal.resize((60, 20));
    terminal.signal(Signal::CONT);
    terminal.wait_for("second");
    pipe.write_all((delta("b", "third")).as_bytes()).unwrap();
    terminal.wait_for("second third");
    drop(pipe);
    terminal.end();
    is_clean(&terminal);
    let lines = terminal.lines();
    assert_eq!(
        lines[..6],
        ["• first", "", "[1]+  Stopped", "$ fg", "", "• second third"],
    );
}

#[test]
fn a_stop_is_passed_on_to_the_agent() {
    // One process: a shell that is about to start another one waits for it unstopped.
    let agent = agent("echo $$ > outer\nexec sleep 600");
    let mut terminal = run(&agent, &[]);
    terminal.wait_for("working");
    let outer = noted(&agent, "outer");
    terminal.signal(Signal::TSTP);
    wait_until("the stop of both", || {
        state(terminal.pid()) == Some('T') && state(outer) == Some('T')
    });
    terminal.signal(Signal::CONT);
    wait_until("both go on", || {
        state(outer) != Some('T') && state(terminal.pid()) != Some('T')
    });
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(130));
}

#[test]
fn a_terminal_that_goes_away_takes_the_agent_with_it() {
    let agent = agent("trap '' HUP\necho $$ > outer\nwhile :; do cat last; sleep 0.05; done");
    let terminal = run(&agent, &[]);
    terminal.wait_for("working");
    let outer = noted(&agent, "outer");
    let mut child = terminal.hang_up();
    wait_until("the end of the program", || {
        child.try_wait().unwrap().is_some()
    });
    wait_until("the end of the agent", || is_gone(outer));
}
