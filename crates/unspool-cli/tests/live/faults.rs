//! Agents that misbehave, and a place to write to that fails: what came is
//! shown, and one line says what happened.

use std::fs;
use std::process::Output;

#[cfg(target_os = "linux")]
use crate::process::is_gone;
use crate::terminal::Start;
use crate::world::{Agent, delta, lines, session, text, turn_end};
#[cfg(target_os = "linux")]
use crate::world::{noted, wait_until};

fn shown(output: &Output) -> Vec<String> {
    lines(&String::from_utf8_lossy(&output.stdout))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An agent that has these files to write.
fn agent(files: &[(&str, String)], script: &str) -> Agent {
    let agent = Agent::sh(script);
    for (name, content) in files {
        fs::write(agent.path(name), content).unwrap();
    }
    agent
}

#[test]
fn an_agent_that_dies_in_the_middle_of_a_line() {
    let begin = session() + &text("a", "It begins.") + &delta("b", "Half a mess");
    let agent = agent(
        &[
            ("begin", begin),
            ("half", delta("b", "age").replace("age", "ag")),
        ],
        "cat begin; head -c 20 half; kill -9 $$",
    );
    let output = agent.run(&["--width", "80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(137));
    let shown = shown(&output);
    assert_eq!(
        shown[..3],
        ["• It begins.", "", "• Half a mess"],
        "{shown:?}"
    );
    assert!(
        said(&output).contains("was killed by signal 9"),
        "{}",
        said(&output)
    );
    assert_eq!(said(&output).lines().count(), 1);
}

#[test]
fn on_a_terminal_a_dead_agent_leaves_a_clean_screen() {
    let begin = session() + &text("a", "It begins.") + &delta("b", "Half a mess");
    let agent = agent(
        &[("begin", begin)],
        "cat begin; sleep 0.3; printf '{\"kind\"'; kill -9 $$",
    );
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    assert_eq!(terminal.end().code(), Some(137));
    let text = terminal.text();
    assert!(
        text.starts_with("• It begins.\n\n• Half a mess\n"),
        "{text}"
    );
    assert!(text.contains("was killed by signal 9"), "{text}");
    assert!(terminal.shows_cursor());
}

#[test]
fn garbage_between_the_lines_is_shown_and_does_no_harm() {
    let agent = agent(
        &[
            ("begin", session() + &text("a", "Before.")),
            ("end", text("b", "After.") + &turn_end()),
        ],
        "cat begin; echo 'Segfault? not quite'; printf '\\000\\377\\033[2J{\\n'; cat end",
    );
    let output = agent.run(&["--width", "80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = shown(&output).join("\n");
    assert!(text.contains("• Before."), "{text}");
    assert!(text.contains("Segfault? not quite"), "{text}");
    assert!(text.ends_with("• After."), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn an_agent_that_closes_its_output_and_goes_on() {
    let agent = agent(
        &[("begin", session() + &text("a", "That is all."))],
        "cat begin; exec >&- 2>&-; while [ ! -e stop ]; do sleep 0.05; done; exit 3",
    );
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    terminal.wait_for("closed its output but is still running");
    terminal.wait_for("That is all.");
    fs::write(agent.path("stop"), "").unwrap();
    assert_eq!(terminal.end().code(), Some(3));
    assert!(terminal.shows_cursor());
}

#[test]
fn an_agent_that_stalls_is_told_about() {
    let agent = agent(
        &[("begin", session() + &delta("a", "Let me think"))],
        "cat begin; while [ ! -e stop ]; do sleep 0.05; done",
    );
    let mut terminal =
        Start::unspool((80, 24), &["run", "--no-summary", "--", &agent.script]).start();
    terminal.wait_for("nothing new for 1");
    fs::write(agent.path("stop"), "").unwrap();
    assert_eq!(terminal.end().code(), Some(0));
    let text = terminal.text();
    assert!(text.starts_with("• Let me think"), "{text}");
    assert!(!text.contains("nothing new"), "{text}");
}

#[test]
#[ignore = "needs python3: run `cargo xtask test`"]
fn one_line_of_200_megabytes() {
    let agent = Agent::python(&format!(
        "w = sys.stdout.write\n\
         w({:?})\n\
         w('{{\"kind\":\"tool_result\",\"id\":\"t\",\"name\":\"Bash\",\"status\":\"ok\",\"output\":\"')\n\
         [w('huge line\\\\n' * 10000) for _ in range(1818)]\n\
         w('\"}}\\n')\n\
         w({:?})",
        session(),
        text("b", "After it.") + &turn_end(),
    ));
    let output = agent.run(&["--width", "80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let shown = shown(&output);
    assert_eq!(
        shown
            .iter()
            .filter(|line| line.contains("huge line"))
            .count(),
        5
    );
    assert!(
        shown.iter().any(|line| line.contains("… +181799")),
        "{shown:?}"
    );
    assert_eq!(shown.last().unwrap(), "• After it.");
}

#[test]
fn a_line_over_the_limit_is_left_out_and_said() {
    let agent = agent(
        &[(
            "begin",
            session() + &text("a", &"x".repeat(5000)) + &text("b", "After it."),
        )],
        "cat begin",
    );
    let output = agent
        .run(&["--width", "80", "--frame-limit", "1K"])
        .output()
        .unwrap();
    let text = shown(&output).join("\n");
    assert!(text.contains("over the limit"), "{text}");
    assert!(text.contains("• After it."), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_stop_the_display() {
    let agent = agent(
        &[
            ("begin", session() + &text("a", "First.")),
            ("end", text("b", "Last.") + &turn_end()),
        ],
        "cat begin; sleep 0.1; cat end",
    );
    let output = agent
        .run(&["--width", "80", "--save", "/dev/full"])
        .output()
        .unwrap();
    assert_eq!(shown(&output), ["• First.", "", "• Last."]);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("/dev/full") && said.contains("No space left"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_display_that_fails_does_not_stop_the_saving() {
    let agent = agent(
        &[("begin", session() + &text("a", "First."))],
        "cat begin; i=0; while [ $i -lt 300 ]; do cat begin; i=$((i+1)); done; : > ready",
    );
    let saved = agent.path("saved");
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = agent
        .run(&["--save", saved.to_str().unwrap()])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    let words = "unspool: cannot write the output: No space left";
    assert!(said(&output).starts_with(words), "{}", said(&output));
    let begin = fs::read(agent.path("begin")).unwrap();
    assert_eq!(fs::read(saved).unwrap(), begin.repeat(301));
}

#[cfg(target_os = "linux")]
#[test]
fn a_display_that_fails_takes_the_agent_with_it_unless_it_is_saved() {
    let agent = agent(
        &[("begin", session() + &text("a", "First."))],
        "echo $$ > outer; trap '' TERM; while :; do cat begin; sleep 0.02; done",
    );
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = agent.run(&[]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let outer = noted(&agent, "outer");
    wait_until("the end of the agent", || is_gone(outer));
}
