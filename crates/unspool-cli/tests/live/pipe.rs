//! Pipes and logs: nothing is touched again, and nothing is there twice.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use crate::world::{Agent, call, delta, result, session, text, turn_end, unspool};

fn start(arguments: &[&str]) -> Child {
    let mut command = unspool(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn each_message_is_written_once_it_is_complete() {
    let mut child = start(&["--width", "80"]);
    let mut pipe = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    pipe.write_all((session() + &delta("a", "one ") + &delta("a", "two")).as_bytes())
        .unwrap();
    pipe.write_all(call("t", "ls").as_bytes()).unwrap();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "• one two\n");
    pipe.write_all((result("t", "x\n") + &turn_end()).as_bytes())
        .unwrap();
    drop(pipe);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "\n• Ran ls\n  └ x\n");
    child.wait().unwrap();
}

#[test]
fn text_is_written_as_it_comes() {
    let mut child = start(&["--display", "text"]);
    let mut pipe = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut piece = [0; 4];
    pipe.write_all((session() + &delta("a", "one ")).as_bytes())
        .unwrap();
    out.read_exact(&mut piece).unwrap();
    assert_eq!(&piece, b"one ");
    pipe.write_all(delta("a", "two ").as_bytes()).unwrap();
    out.read_exact(&mut piece).unwrap();
    assert_eq!(&piece, b"two ");
    drop(pipe);
    child.wait().unwrap();
}

#[test]
fn the_log_of_an_agent_that_is_run_has_no_codes() {
    let agent = Agent::sh("cat begin; sleep 0.3; cat end");
    let begin = session() + &delta("a", "one ") + &call("t", "ls");
    std::fs::write(agent.path("begin"), begin).unwrap();
    let end = result("t", "x\n") + &text("b", "two") + &turn_end();
    std::fs::write(agent.path("end"), end).unwrap();
    for (name, value) in [
        ("CI", "true"),
        ("GITLAB_CI", "true"),
        ("TERM", "xterm-256color"),
    ] {
        let output = agent
            .run(&["--width", "80"])
            .env(name, value)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, "• one\n\n• Ran ls\n  └ x\n\n• two\n");
    }
    let output = agent
        .run(&["--width", "80"])
        .env("GITHUB_ACTIONS", "true")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "• one\n\n::group::• Ran ls\n  └ x\n::endgroup::\n\n• two\n"
    );
}

/// Returns the log of a run in GitHub Actions.
fn log(run: &str, arguments: &[&str]) -> Vec<String> {
    let mut child = unspool(arguments)
        .env("GITHUB_ACTIONS", "true")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(run.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn notice(level: &str, words: &str) -> String {
    format!("{{\"kind\":\"notice\",\"level\":\"{level}\",\"text\":\"{words}\"}}\n")
}

fn annotations(log: &[String]) -> Vec<&str> {
    let is_annotation = |line: &&str| {
        let starts = ["::error", "::warning", "::notice"];
        starts.iter().any(|start| line.starts_with(start))
    };
    log.iter()
        .map(String::as_str)
        .filter(is_annotation)
        .collect()
}

#[test]
fn only_a_failure_that_ends_a_turn_is_annotated_in_github_actions() {
    let failed = turn_end().replace("completed", "failed");
    let recovered = session()
        + &notice("warning", "soon")
        + &notice("retry", "again")
        + &notice("error", "busy")
        + &text("a", "::stop-commands::x")
        + &turn_end();
    let lines = log(&recovered, &[]);
    assert_eq!(annotations(&lines), [] as [&str; 0]);
    assert!(lines.contains(&"• Warning: soon".to_owned()), "{lines:?}");
    assert!(lines.contains(&"• Error: busy".to_owned()), "{lines:?}");
    assert!(lines.contains(&"• ::stop-commands::x".to_owned()));
    // Two turns failed, each for its last error.
    let run = session()
        + &notice("error", "first")
        + &notice(
            "error",
            "no\\nmore 100%: \\u001b[1;31mred\\u001b[0m, \\u001b[2Kgone",
        )
        + &failed
        + &text("b", "Well.")
        + &failed
        + &text("c", "Done.")
        + &turn_end();
    let lines = log(&run, &[]);
    assert_eq!(
        annotations(&lines),
        [
            "::error title=claude::the run failed: no more 100%25: red, \\x1B[2Kgone",
            "::error title=claude::the run failed"
        ],
        "{lines:?}"
    );
    let stopped = session() + &turn_end().replace("completed", "canceled");
    let lines = log(&stopped, &[]);
    let expected = ["::warning title=claude::the run was canceled"];
    assert_eq!(annotations(&lines), expected);
    let cut = session() + &turn_end().replace("completed", "interrupted");
    let lines = log(&cut, &[]);
    let why = "::error title=claude::the stream ended before the agent finished";
    assert_eq!(annotations(&lines), [why], "{lines:?}");
    assert!(!lines.join("\n").contains("Interrupted"), "said twice");
}

#[test]
fn annotations_are_one_line_at_any_width_and_with_any_filter() {
    let words = "The service is overloaded, and will be for a while: ".repeat(5);
    let run = session() + &notice("error", &words) + &turn_end().replace("completed", "failed");
    let run = run.replace("\"claude\"", "\"my:own, 100%\"");
    for arguments in [
        &["--width", "40"][..],
        &["--color", "always"],
        &["--only", "user"],
    ] {
        let lines = log(&run, arguments);
        let expected = format!(
            "::error title=my%3Aown%2C 100%25::the run failed: {}",
            words.trim_end()
        );
        assert_eq!(annotations(&lines), [expected], "{arguments:?}");
    }
}

#[test]
fn nothing_that_an_agent_prints_commands_github_actions() {
    let words = "::error::a\nb ##[error]c\n  ::d::\n";
    let agent = Agent::sh("cat words >&2; cat run");
    std::fs::write(agent.path("words"), words).unwrap();
    let run = session() + &call("t", "ls") + &result("t", words) + &turn_end();
    std::fs::write(agent.path("run"), run).unwrap();
    let mut command = agent.run(&["--width", "80"]);
    let ran = command.env("GITHUB_ACTIONS", "true").output().unwrap();
    let errors = String::from_utf8(ran.stderr).unwrap();
    let expected = "\\x3A:error::a\nb \\x23#[error]c\n  \\x3A:d::\n";
    assert!(errors.contains(expected), "{errors}");
    let shown = String::from_utf8(ran.stdout).unwrap();
    let expected = "  └ ::error::a\n    b \\x23#[error]c\n      \\x3A:d::\n";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn failed_calls_stay_folded_in_github_actions() {
    let failed = result("t", "gone").replace("\"ok\"", "\"error\"");
    let silent = result("u", "").replace("\"ok\"", "\"error\"");
    let run =
        session() + &call("t", "date +%s") + &failed + &call("u", "false") + &silent + &turn_end();
    let expected = [
        "::group::• Ran date +%25s",
        "  └ Error: gone",
        "::endgroup::",
        "::group::• Ran false",
        "  └ Error.",
        "::endgroup::",
    ];
    assert_eq!(log(&run, &[]), expected);
    let coloured = log(&run, &["--color", "always"]);
    assert_eq!(annotations(&coloured), [] as [&str; 0]);
}

#[test]
fn lines_of_a_program_that_is_no_agent_flow() {
    // Fewer lines than are looked at to recognise an agent, and more.
    for lines in [2, 40] {
        let mut child = start(&["--width", "80"]);
        let mut pipe = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut all = String::new();
        for number in 0..lines {
            writeln!(pipe, "line {number} of many").unwrap();
        }
        for _ in 0..lines {
            out.read_line(&mut all).unwrap();
        }
        pipe.write_all(b"\n  indented\nthe end").unwrap();
        for _ in 0..2 {
            out.read_line(&mut all).unwrap();
        }
        drop(pipe);
        out.read_to_string(&mut all).unwrap();
        assert!(child.wait().unwrap().success());
        // The same as when all of it is there at once.
        let mut child = start(&["--width", "80"]);
        let mut pipe = child.stdin.take().unwrap();
        for number in 0..lines {
            writeln!(pipe, "line {number} of many").unwrap();
        }
        pipe.write_all(b"\n  indented\nthe end").unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(all, String::from_utf8(output.stdout).unwrap());
    }
}
