//! Conversations are recorded, listed and can be resumed.

use std::fs;

use rustix::process::Signal;

use crate::project::{Project, done, leave, send};
use crate::terminal::Start;
use crate::world::wait_until;

const SIZE: (u16, u16) = (100, 36);

#[test]
fn a_conversation_is_listed_shown_and_goes_on() {
    let project = Project::new();
    let agent = project.agent(&[], "");
    let quoted: Vec<String> = agent.iter().map(|word| format!("{word:?}")).collect();
    let config = format!("[chat.agents.mine]\ncommand = [{}]\n", quoted.join(", "));
    let config = project.configure(&config);
    let config = config.to_str().unwrap();
    let start = project
        .chat(SIZE, &["mine"])
        .variable("UNSPOOL_CONFIG", config);
    let mut terminal = start.start();
    terminal.wait_for("❯");
    wait_until("the agent", || !terminal.text().contains("starting"));
    send(&terminal, "what is a greeter");
    done(&terminal, "You said: what is a greeter");
    leave(&mut terminal);
    assert_eq!(project.records().len(), 1);

    let listed = project.command(&["sessions", "--json"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let row: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    assert_eq!(row["agent"], "mine", "{row}");
    assert_eq!(row["prompt"], "what is a greeter", "{row}");
    let id = row["id"].as_str().unwrap();

    let shown = project.command(&["show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("what is a greeter"), "{shown}");

    let start = project
        .chat(SIZE, &["--resume", id])
        .variable("UNSPOOL_CONFIG", config);
    let mut terminal = start.start();
    terminal.wait_for("› what is a greeter");
    wait_until("the agent", || !terminal.text().contains("starting"));
    leave(&mut terminal);
}

#[test]
fn a_conversation_goes_on_with_the_agent_that_is_named() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    send(&terminal, "what is a greeter");
    done(&terminal, "You said: what is a greeter");
    leave(&mut terminal);
    let (id, _) = state(&project);
    let dry = |arguments: &[&str]| {
        let fixed = ["chat", "--dry-run", "--resume", &id];
        let output = project.command(&[&fixed, arguments].concat()).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8(said).unwrap()
    };
    assert_eq!(dry(&["gemini", "--", "-m", "x"]), "gemini --acp -m x\n");
    assert!(dry(&["gemini", "codex"]).contains("--resume takes only one agent"));

    let moved = project.agent(&["--delay", "0"], "");
    let moved: Vec<&str> = moved.iter().map(String::as_str).collect();
    let arguments = [&["--resume", &id, "--"], moved.as_slice()].concat();
    let mut terminal = project.chat(SIZE, &arguments).start();
    terminal.wait_for("› what is a greeter");
    wait_until("the agent", || !terminal.text().contains("starting"));
    send(&terminal, "and a farewell");
    done(&terminal, "You said: and a farewell");
    leave(&mut terminal);
    assert_eq!(project.records().len(), 1);
    // It is the default for the next resume.
    assert!(dry(&[]).contains("--delay 0"), "{}", dry(&[]));
}

#[test]
fn a_kill_at_any_point_loses_at_most_the_last_line() {
    for point in [50, 150, 400, 900] {
        let project = Project::new();
        let mut terminal = project.talk(SIZE, &["--flood", "3000", "--delay", "1"], "");
        send(&terminal, "tell me all");
        wait_until("a recording", || !project.records().is_empty());
        std::thread::sleep(std::time::Duration::from_millis(point));
        terminal.signal(Signal::KILL);
        terminal.end();
        let text = fs::read_to_string(&project.records()[0]).unwrap();
        let (whole, cut) = text.rsplit_once('\n').unwrap_or(("", &text));
        for line in whole.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(event["kind"].is_string(), "{line}");
        }
        assert!(!cut.contains('\n'));
        let listed = project.command(&["sessions", "--json"]).output().unwrap();
        assert!(String::from_utf8_lossy(&listed.stdout).contains("tell me all"));
    }
}

/// Returns title and state of the project's only session in the list.
fn state(project: &Project) -> (String, String) {
    let listed = project.command(&["sessions", "--json"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let row: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    (text("id"), text("state"))
}

fn shown(project: &Project, id: &str) -> String {
    let shown = project.command(&["show", id]).output().unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

/// An agent in the middle of a call.
const AT_WORK: [&str; 3] = ["--open-call", "--until-canceled", "0"];
const RUNNING: &str = "Running make a mess";
const CUT: &str = "Interrupted: the stream ended before the agent finished.";

#[test]
fn a_hangup_closes_the_recording() {
    for signal in [Signal::HUP, Signal::TERM] {
        let project = Project::new();
        let mut terminal = project.talk(SIZE, &AT_WORK, "");
        send(&terminal, "go on");
        terminal.wait_for(RUNNING);
        assert_eq!(state(&project).1, "running");
        terminal.signal(signal);
        assert_eq!(terminal.end().code(), Some(128 + signal.as_raw()));
        let kept = fs::read_to_string(&project.records()[0]).unwrap();
        assert!(
            kept.trim_end().ends_with(r#""status":"interrupted"}"#),
            "{kept}"
        );
        let (id, state) = state(&project);
        assert_eq!(state, "cut off");
        let shown = shown(&project, &id);
        assert!(shown.contains("Canceled make a mess"), "{shown}");
        assert!(shown.contains(CUT) && !shown.contains("Running"), "{shown}");
    }
}

#[test]
fn calls_of_a_killed_chat_do_not_seem_to_run() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &AT_WORK, "");
    send(&terminal, "go on");
    terminal.wait_for(RUNNING);
    terminal.signal(Signal::KILL);
    terminal.end();
    let (id, cut) = state(&project);
    assert_eq!(cut, "cut off");
    assert!(shown(&project, &id).contains(CUT));
    let record = project.records().remove(0);
    let view = Start::unspool(SIZE, &["view", record.to_str().unwrap()]);
    let set = |start: Start, (name, value): &(&str, String)| start.variable(name, value);
    let mut terminal = project.variables().iter().fold(view, set).start();
    terminal.wait_for(CUT);
    assert!(
        terminal.text().contains(&format!("○ {RUNNING}")),
        "{}",
        terminal.text()
    );
    terminal.press(b"q");
    terminal.end();

    let mut terminal = project.chat(SIZE, &["--resume", &id]).start();
    terminal.wait_for("⊘ Canceled make a mess");
    terminal.wait_for(CUT);
    assert!(!terminal.text().contains("Running"), "{}", terminal.text());
    wait_until("the agent", || !terminal.text().contains("starting"));
    send(&terminal, "and again");
    terminal.wait_for(RUNNING);
    assert_eq!(terminal.text().matches("make a mess").count(), 2);
    assert_eq!(state(&project).1, "running");
    leave(&mut terminal);
    // The user stopped it.
    assert_eq!(state(&project).1, "stopped");
    let shown = shown(&project, &id);
    assert_eq!(shown.matches("Canceled make a mess").count(), 2, "{shown}");
    assert_eq!(shown.matches(CUT).count(), 1, "{shown}");
}

#[test]
fn the_prompt_history_is_restored() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    send(&terminal, "something worth repeating");
    leave(&mut terminal);
    let mut terminal = project.talk(SIZE, &[], "");
    terminal.press(b"\x1b[A");
    terminal.wait_for("❯ something worth repeating");
    terminal.press(b"\x03");
    leave(&mut terminal);
}

#[test]
fn nothing_outside_the_project_is_sent() {
    let project = Project::new();
    fs::write(project.home().join("secret.txt"), "keep out").unwrap();
    std::os::unix::fs::symlink("../secret.txt", project.root().join("link.txt")).unwrap();
    let mut terminal = project.talk(SIZE, &[], "");
    send(&terminal, "read @../secret.txt and @link.txt now");
    terminal.wait_for("was not sent: it is outside the project");
    let text = terminal.text().replace("\n    ", " ");
    let said = "link.txt was not sent: a symbolic link leads outside the project. Copy it into";
    assert!(text.contains(said), "{text}");
    leave(&mut terminal);
    let kept = fs::read_to_string(project.records().pop().unwrap()).unwrap();
    assert!(!kept.contains("keep out"));
}

#[test]
fn leaving_closes_the_question() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "claude/permission");
    send(&terminal, "go on");
    terminal.wait_for("allow once");
    leave(&mut terminal);
}
