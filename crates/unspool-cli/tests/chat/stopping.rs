//! Stopping an agent, leaving, and queued messages.

use std::fs;

use crate::project::{ENTER, ESCAPE, LEAVE, Project, leave, pause, send};
use crate::world::wait_until;

const SIZE: (u16, u16) = (100, 30);
const CTRL_C: &[u8] = b"\x03";
const RESTART: &[u8] = b"\x12";
const ASKS: &str = "is not stopping. End it?";

#[test]
fn the_kill_question_closes_if_the_agent_stops() {
    let project = Project::new();
    let stop = project.missing();
    let mut terminal = project.talk(SIZE, &["--until-canceled", &stop], "");
    send(&terminal, "go on");
    terminal.wait_for("working");
    terminal.press(&ESCAPE.repeat(3));
    terminal.wait_for(ASKS);
    fs::write(&stop, "").unwrap();
    wait_until("the question to go", || !terminal.text().contains(ASKS));
    fs::remove_file(&stop).unwrap();
    send(&terminal, "again");
    terminal.wait_for("working");
    terminal.press(CTRL_C);
    terminal.wait_for("Stopping…");
    terminal.press(CTRL_C);
    terminal.wait_for(ASKS);
    fs::write(&stop, "").unwrap();
    wait_until("the question to go", || !terminal.text().contains(ASKS));
    fs::remove_file(&stop).unwrap();
    // The prompt has the focus again.
    send(&terminal, "hello there");
    terminal.wait_for("› hello there");
    leave(&mut terminal);
}

#[test]
fn leaving_needs_a_second_press_after_the_hint() {
    let project = Project::new();
    let stop = project.root();
    let flags = ["--until-canceled", stop.to_str().unwrap()];
    let mut terminal = project.talk(SIZE, &flags, "");
    let told = "Press Ctrl-C again to quit.";
    for begin in ["written and taken away", "sent"] {
        terminal.press(begin.as_bytes());
        terminal.wait_for(begin);
        if begin == "sent" {
            terminal.press(ENTER);
            terminal.wait_for("working");
        }
        terminal.press(CTRL_C);
        wait_until("the end of it", || {
            let text = terminal.text();
            !text.contains("working") && !text.contains(&format!("❯ {begin}"))
        });
        terminal.press(CTRL_C);
        terminal.wait_for(told);
        assert!(terminal.is_alternate());
        // The hint disappears after a while.
        wait_until("the end of the word", || !terminal.text().contains(told));
    }
    terminal.press(CTRL_C);
    terminal.wait_for(told);
    terminal.press(CTRL_C);
    assert!(terminal.end().success());
    assert!(!terminal.is_alternate());
}

#[test]
fn queued_messages_of_a_killed_agent_return_to_the_prompt() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--hang-after", "2", "--ignore-term"], "");
    send(&terminal, "first");
    terminal.wait_for("working");
    for text in ["second thought", "third thought"] {
        send(&terminal, text);
        terminal.wait_for(&format!("queued: {text}"));
    }
    terminal.press(b"fourth");
    terminal.wait_for("❯ fourth");
    terminal.press(&ESCAPE.repeat(3));
    terminal.wait_for(ASKS);
    pause();
    terminal.press(b"y");
    terminal.wait_for("was ended");
    let text = terminal.text();
    assert!(!text.contains("queued:"), "{text}");
    terminal.wait_for("❯ second thought");
    terminal.wait_for("third thought");
    terminal.wait_for("fourth");
    assert_eq!(text.matches("thought").count(), 2, "{text}");
    terminal.press(RESTART);
    wait_until("another agent", || {
        !terminal.text().contains("ended, Ctrl-R")
    });
    terminal.wait_for("❯ second thought");
    terminal.press(LEAVE);
    wait_until("the end", || {
        if terminal.text().contains("still working") {
            pause();
            terminal.press(b"y");
        }
        !terminal.is_alternate()
    });
    terminal.end();
}

#[test]
fn queued_messages_of_a_dead_agent_return_to_the_prompt() {
    let project = Project::new();
    let flags = ["--flood", "5", "--delay", "800", "--die-after", "5"];
    let mut terminal = project.talk(SIZE, &flags, "");
    send(&terminal, "first");
    terminal.wait_for("working");
    send(&terminal, "second thought");
    terminal.wait_for("queued: second thought");
    terminal.wait_for("exited with status 3");
    terminal.wait_for("❯ second thought");
    assert!(!terminal.text().contains("queued:"), "{}", terminal.text());
    terminal.press(RESTART);
    wait_until("another agent", || {
        !terminal.text().contains("ended, Ctrl-R")
    });
    assert_eq!(terminal.text().matches("second thought").count(), 1);
    terminal.press(CTRL_C);
    leave(&mut terminal);
}

#[test]
fn an_unresponsive_agent_is_reported_and_stopped() {
    let project = Project::new();
    let mut terminal = project.start(SIZE, &["--silent"], "").start();
    terminal.wait_for("no answer yet, Ctrl-C to stop");
    terminal.press(CTRL_C);
    terminal.wait_for("did not answer and was ended. Ctrl-R restarts it.");
    assert!(terminal.is_alternate());
    leave(&mut terminal);
}
