//! `unspool run`: the status, standard error, saving, and what cannot be
//! started.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::{command, is_gone};
use crate::terminal::Start;
use crate::world::{Agent, lines, noted, session, text, turn_end, unspool, wait_until};

#[test]
fn the_status_is_the_agents() {
    for status in [0, 1, 42, 255] {
        let agent = Agent::sh(&format!("echo hello; exit {status}"));
        let output = agent.run(&[]).output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(output.stderr.is_empty(), status == 0);
    }
}

#[test]
fn standard_error_stays_apart() {
    let agent = Agent::sh("cat begin; echo 'warning: \x1b[31mold\x1b[0m' >&2");
    fs::write(
        agent.path("begin"),
        session() + &text("a", "Hello.") + &turn_end(),
    )
    .unwrap();
    let output = agent.run(&["--width", "80"]).output().unwrap();
    assert_eq!(
        lines(&String::from_utf8_lossy(&output.stdout)),
        ["• Hello."]
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.starts_with("warning: ") && !said.contains('\u{1b}'),
        "{said:?}"
    );
    // On a terminal it stands, dimmed, between the finished lines.
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    assert_eq!(terminal.end().code(), Some(0));
    assert!(
        terminal.text().contains("┆ warning: "),
        "{}",
        terminal.text()
    );
    assert!(terminal.text().contains("• Hello."), "{}", terminal.text());
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    let (before, _) = bytes.split_once("warning: ").unwrap();
    let code = before.rsplit('\n').next().unwrap();
    assert!(code.contains("\u{1b}[2") || code.contains(";2"), "{code:?}");
}

#[test]
fn every_byte_is_saved_also_when_nobody_reads_on() {
    let agent = Agent::sh("cat begin; i=0; while [ $i -lt 2000 ]; do cat line; i=$((i+1)); done");
    fs::write(agent.path("begin"), session()).unwrap();
    fs::write(agent.path("line"), text("a", "Hello.\u{0} \\ud83d")).unwrap();
    let saved = agent.path("saved");
    let command = agent
        .run(&["--save", saved.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn();
    let mut child = command.unwrap();
    let head = std::process::Command::new("head")
        .arg("-1")
        .stdin(child.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(!head.stdout.is_empty());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut expected = fs::read(agent.path("begin")).unwrap();
    expected.extend(fs::read(agent.path("line")).unwrap().repeat(2000));
    assert!(fs::read(saved).unwrap() == expected);
}

#[test]
fn what_is_not_there_is_said() {
    let output = unspool(&["run", "--", "no-such-agent", "x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no-such-agent is not installed"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let output = unspool(&["run", "claude", "fix it"])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    let output = unspool(&["run", "--", "/"]).output().unwrap();
    assert_eq!(output.status.code(), Some(126));
}

#[test]
fn a_dry_run_prints_the_command_as_a_shell_takes_it() {
    let words = [
        "run",
        "--dry-run",
        "claude",
        "it's \"here\"",
        "--model",
        "opus",
    ];
    let output = unspool(&words).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let words = shlex::split(&line).unwrap();
    assert_eq!(words[..3], ["claude", "-p", "it's \"here\""]);
    assert_eq!(words[words.len() - 2..], ["--model", "opus"]);
}

#[test]
fn a_prompt_stands_before_the_arguments_of_the_agent() {
    let output = unspool(&["run", "--dry-run", "claude", "--", "--help"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(r#"unspool run claude "…" --help"#), "{said}");
}

#[test]
fn what_is_piped_in_goes_to_the_agent() {
    let agent = Agent::sh("echo \"got $(cat)\"");
    let mut child = agent
        .run(&["--width", "80"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a prompt").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("got a prompt"));
}

#[test]
fn an_agent_that_reads_from_the_terminal_gets_nothing() {
    // From its standard input it gets the end; from the terminal itself it
    // would be stopped for ever.
    let script = "read line; [ -z \"$line\" ] && cat begin; read line < /dev/tty; cat end";
    let agent = Agent::sh(script);
    fs::write(agent.path("begin"), session() + &text("a", "Nothing.")).unwrap();
    fs::write(agent.path("end"), text("b", "Something.")).unwrap();
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    terminal.wait_for("Nothing.");
    terminal.wait_for("waiting for the terminal");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(130));
    assert!(terminal.shows_cursor());
    assert!(!terminal.text().contains("Something."));
}

#[test]
fn a_child_of_the_agent_that_holds_the_pipe_does_not_hold_up_the_end() {
    let agent = Agent::sh("cat begin; (exec sleep 600) & echo $! > child; exit 0");
    fs::write(
        agent.path("begin"),
        session() + &text("a", "Hello.") + &turn_end(),
    )
    .unwrap();
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    assert_eq!(terminal.end().code(), Some(0));
    let _ = kill_process(noted(&agent, "child"), Signal::KILL);
    assert_eq!(terminal.lines(), ["• Hello."]);
}

#[test]
fn a_reader_that_goes_away_ends_the_agent_and_is_no_error() {
    let agent = Agent::sh("echo $$ > outer; cat begin; while :; do cat line; sleep 0.02; done");
    fs::write(agent.path("begin"), session()).unwrap();
    fs::write(agent.path("line"), text("a", "Hello.")).unwrap();
    let mut child = agent
        .run(&[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert_eq!(first, "• Hello.\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let process = noted(&agent, "outer");
    wait_until("the end of the agent", || is_gone(process));
}

#[test]
fn an_agent_that_is_saved_keeps_its_status_when_nobody_reads_on() {
    let agent = Agent::sh("i=0; while [ $i -lt 100 ]; do cat line; i=$((i+1)); done; exit 3");
    fs::write(agent.path("line"), session() + &text("a", "Hello.")).unwrap();
    let saved = agent.path("saved");
    let mut child = agent
        .run(&["--save", saved.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(
        fs::read(saved).unwrap(),
        fs::read(agent.path("line")).unwrap().repeat(100)
    );
}

#[test]
fn a_program_that_is_told_to_end_ends_the_agent() {
    let agent = Agent::sh("echo $$ > outer; trap '' TERM; cat begin; while :; do sleep 0.05; done");
    fs::write(agent.path("begin"), session() + &text("a", "Hello.")).unwrap();
    let out = fs::File::create(agent.path("out")).unwrap();
    let mut child = agent
        .run(&[])
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the first message", || {
        fs::metadata(agent.path("out")).unwrap().len() > 0
    });
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(137));
    assert!(is_gone(noted(&agent, "outer")));
}

#[test]
fn what_nobody_recognises_is_shown_all_the_same() {
    let agent = Agent::sh("echo 'Loading the model'; while [ ! -e stop ]; do sleep 0.05; done");
    let words = ["run", "--no-summary", "--", &agent.script];
    let mut terminal = Start::unspool((80, 24), &words).start();
    terminal.wait_for("Loading the model");
    fs::write(agent.path("stop"), "").unwrap();
    terminal.end();
}

#[test]
fn a_program_that_is_killed_by_force_takes_the_agent_with_it() {
    let agent = Agent::sh("echo $$ > outer; cat begin; while :; do sleep 0.05; done");
    fs::write(agent.path("begin"), session() + &text("a", "Hello.")).unwrap();
    let out = fs::File::create(agent.path("out")).unwrap();
    let mut child = agent.run(&[]).stdout(out).spawn().unwrap();
    wait_until("the first message", || {
        fs::metadata(agent.path("out")).unwrap().len() > 0
    });
    let process = noted(&agent, "outer");
    assert!(!is_gone(process));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_until("the end of the agent", || is_gone(process));
}

#[test]
fn what_can_only_be_known_by_starting_it_is_said_too() {
    let agent = Agent::sh("exit 0");
    fs::write(
        &agent.script,
        format!("#!{}/missing\n", agent.folder.path().display()),
    )
    .unwrap();
    let output = agent.run(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&agent.script), "{said}");
    // Its arguments are its own.
    let agent = Agent::sh("echo \"$@\"");
    let words = ["run", "--", &agent.script, "--", "--help", "-x", ""];
    let output = unspool(&words).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("-- --help -x"), "{shown}");
}

#[test]
fn what_an_agent_writes_for_a_terminal_is_interpreted() {
    let agent =
        Agent::sh("cat begin; printf 'loading 1%%\\rloading 99%%\\n\\033[31mred\\033[0m\\n' >&2");
    fs::write(
        agent.path("begin"),
        session() + &text("a", "Hello.") + &turn_end(),
    )
    .unwrap();
    let output = agent.run(&[]).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "loading 99%\nred\n"
    );
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    assert_eq!(terminal.end().code(), Some(0));
    let shown = terminal.text();
    assert!(
        shown.contains("┆ loading 99%") && shown.contains("┆ red"),
        "{shown}"
    );
    assert!(!shown.contains("\\x"), "{shown}");
}

#[test]
fn a_recording_is_not_written_over_by_chance() {
    let agent = Agent::sh("echo hello");
    let saved = agent.path("saved");
    fs::write(&saved, "old\n").unwrap();
    let path = saved.to_str().unwrap();
    let refused = agent.run(&["--save", path]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("saved exists: use --force"), "{said}");
    assert_eq!(fs::read_to_string(&saved).unwrap(), "old\n");
    let run = |option: &str| {
        let output = agent.run(&["--save", path, option]).output().unwrap();
        assert!(output.status.success());
        fs::read_to_string(&saved).unwrap()
    };
    assert_eq!(run("--append"), "old\nhello\n");
    assert_eq!(run("--force"), "hello\n");
    let device = agent.run(&["--save", "/dev/null"]).output().unwrap();
    assert!(device.status.success());
}

#[test]
fn what_cannot_be_started_spoils_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (new, old) = (folder.path().join("new"), folder.path().join("old"));
    fs::write(&old, "old\n").unwrap();
    for (path, option) in [(&new, "--append"), (&new, "--force"), (&old, "--force")] {
        let path = path.to_str().unwrap();
        let words = ["run", "--save", path, option, "--", "no-such-agent"];
        let output = unspool(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(127));
    }
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(&old).unwrap(), "old\n");
}

#[test]
fn what_the_agent_started_ends_with_us_too() {
    // One that the agent started, which does not end with it.
    let agent = Agent::sh("sleep 1000 & echo $! > child; echo started; wait");
    let mut run = agent.run(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let child = noted(&agent, "child");
    assert!(!is_gone(child));
    let unspool = Pid::from_child(&run);
    kill_process(unspool, Signal::KILL).unwrap();
    run.wait().unwrap();
    wait_until("its end", || is_gone(child));
}

#[test]
fn what_the_agent_started_ends_with_ctrl_c_too() {
    for (signal, ignored) in [(Signal::INT, ""), (Signal::INT, "TERM"), (Signal::TERM, "")] {
        let agent = Agent::sh(&format!(
            "trap 'exit 0' INT TERM; (trap '' INT {ignored}; exec sleep 1000 > /dev/null 2>&1) & \
             echo $! > child; echo started; wait"
        ));
        let mut run = agent.run(&[]).stdout(Stdio::piped()).spawn().unwrap();
        let child = noted(&agent, "child");
        // It takes a moment until it ignores what it is to ignore.
        wait_until("the sleep", || command(child).starts_with("sleep"));
        kill_process(Pid::from_child(&run), signal).unwrap();
        run.wait().unwrap();
        wait_until("its end", || is_gone(child));
    }
}

#[test]
fn what_the_agent_leaves_running_is_left_alone() {
    let agent = Agent::sh("sleep 600 > /dev/null 2>&1 & echo $! > child; echo started");
    let output = agent.run(&[]).output().unwrap();
    assert!(output.status.success());
    let child = noted(&agent, "child");
    assert!(!is_gone(child));
    kill_process(child, Signal::KILL).unwrap();
}
