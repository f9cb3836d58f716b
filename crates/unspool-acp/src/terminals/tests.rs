//! Commands in terminals: limits, sizes, signals and orphans.

use std::sync::mpsc::channel;

use super::*;
use crate::platform::Process;

const WAIT: Duration = Duration::from_mins(1);

struct World {
    terminals: Terminals,
    events: Receiver<TerminalEvent>,
}

fn world() -> World {
    let (sender, events) = channel();
    let terminals = Terminals::new("/bin/sh".into(), move |event| {
        let _ = sender.send(event);
    });
    World { terminals, events }
}

impl World {
    fn start(&mut self, line: &str, limit: Option<u64>) {
        let command = TerminalCommand {
            command: line.to_owned(),
            cwd: "/".into(),
            limit,
            ..TerminalCommand::default()
        };
        self.terminals.start("t", &command).unwrap();
    }

    /// Waits for the end; returns how often output was announced.
    fn end(&self) -> usize {
        let mut announced = 0;
        while let TerminalEvent::Output(_) = self.events.recv_timeout(WAIT).unwrap() {
            announced += 1;
        }
        announced
    }

    /// Waits until the output contains a text.
    fn until(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let output = self.terminals.output("t").unwrap().text;
            if output.contains(text) {
                return output;
            }
            assert!(start.elapsed() < WAIT, "{output:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn is_alive(process: &str) -> bool {
    Process::of(process.parse().unwrap()).is_some()
}

#[test]
fn output_is_truncated_at_a_character_boundary() {
    let mut world = world();
    world.start("printf 'ééééé'", Some(5));
    world.end();
    let output = world.terminals.output("t").unwrap();
    assert_eq!((&*output.text, output.is_truncated), ("éé", true));
    assert_eq!(output.exit.unwrap().code, Some(0));
}

#[test]
fn a_flood_is_bounded_and_announced_once() {
    let mut world = world();
    world.start("yes | head -c 20000000; echo end", Some(1000));
    assert_eq!(world.end(), 1);
    let output = world.terminals.output("t").unwrap();
    assert!(output.text.len() <= 1000 && output.text.ends_with("y\r\nend\r\n"));
    assert!(world.terminals.take_new("t").len() <= NEW_LIMIT * 5 / 4);
    assert!(world.terminals.take_new("t").is_empty());
}

#[test]
fn a_terminal_has_the_size_that_was_set() {
    let mut world = world();
    world.terminals.resize(7, 33);
    world.start("stty size; read line; echo \"got $line\"", None);
    world.until("7 33");
    world.terminals.write("t", b"hello\n").unwrap();
    world.until("got hello");
}

#[test]
fn a_command_that_ignores_sigterm_is_killed() {
    let mut world = world();
    world.start(
        "trap '' TERM HUP; echo up; while :; do sleep 0.1; done",
        None,
    );
    world.until("up");
    world.terminals.kill("t");
    world.end();
    assert_eq!(world.terminals.exit("t").unwrap().0.signal, Some(9));
}

#[test]
fn releasing_ends_background_processes() {
    let mut world = world();
    world.start("trap '' HUP; sleep 1000 & echo pid $! end; exit 5", None);
    let output = world.until("end");
    let process = output.split(' ').nth(1).unwrap().to_owned();
    world.end();
    assert!(is_alive(&process), "{output:?}");
    assert_eq!(world.terminals.exit("t").unwrap().0.code, Some(5));
    world.terminals.release("t");
    let start = Instant::now();
    while is_alive(&process) {
        assert!(start.elapsed() < WAIT);
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(world.terminals.output("t"), None);
}

#[test]
fn dropping_terminals_ends_their_commands() {
    let mut world = world();
    world.start(
        "trap '' HUP TERM; echo pid $$ end; while :; do sleep 0.1; done",
        None,
    );
    let output = world.until("end");
    let process = output.split(' ').nth(1).unwrap().to_owned();
    drop(world);
    assert!(!is_alive(&process));
}

/// Runs a line that prints `pid` and the number of a process; returns the number.
#[cfg(target_os = "linux")]
fn started(world: &mut World, line: &str) -> String {
    world.start(line, None);
    let output = world.until("end");
    let process = output.split(' ').nth(1).unwrap().to_owned();
    assert!(is_alive(&process), "{output:?}");
    process
}

#[cfg(target_os = "linux")]
fn ends(process: &str) {
    let start = Instant::now();
    while is_alive(process) {
        assert!(start.elapsed() < WAIT, "{process} is alive");
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn releasing_ends_processes_that_left_the_group() {
    // It has its own session, no open files, and ignores signals.
    let daemon = "setsid sh -c 'trap \"\" HUP TERM; echo pid $$ end; \
                  exec </dev/null >/dev/null 2>&1; while :; do sleep 0.1; done' & sleep 100";
    let without_variables = "env -i setsid sh -c 'trap \"\" HUP TERM; echo pid $$ end; \
                             while :; do /bin/sleep 0.1; done' & sleep 100";
    for line in [daemon, without_variables] {
        let mut world = world();
        let process = started(&mut world, line);
        world.terminals.release("t");
        ends(&process);

        let process = started(&mut world, line);
        drop(world);
        ends(&process);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_reaches_processes_that_left_the_group_after_the_command_ended() {
    let mut world = world();
    let line = "setsid sh -c 'trap \"\" HUP TERM; echo pid $$ end; \
                exec </dev/null >/dev/null 2>&1; while :; do sleep 0.1; done' & sleep 0.3; exit 0";
    let process = started(&mut world, line);
    world.end();
    assert!(is_alive(&process));
    world.terminals.kill("t");
    ends(&process);
    assert_eq!(world.terminals.exit("t").unwrap().0.code, Some(0));
}
