//! Agents that misbehave.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, kill_process};

use crate::process::{descendants, is_gone, is_running};
use crate::project::{Project, answer, leave, send};
#[cfg(target_os = "linux")]
use crate::world::at_once;
use crate::world::wait_until;

const SIZE: (u16, u16) = (100, 30);

#[test]
fn an_agent_that_is_not_installed() {
    let project = Project::new();
    let text = project.root().join("README.md");
    let text = text.to_str().unwrap();
    let missing = project.missing();
    let cases: [(&[&str], &str); 5] = [
        (&["--", ""], "give the agent's command after `--`"),
        (
            &["gemini"],
            "gemini is not installed, or not in your PATH. To install it: npm install",
        ),
        (
            &["--", "gemini"],
            "gemini is not installed, or not in your PATH",
        ),
        (
            &["--", &missing],
            "/missing cannot be started: there is no such file",
        ),
        (
            &["--", text],
            "README.md cannot be started: it is not an executable file",
        ),
    ];
    for (arguments, said) in cases {
        let start = project.chat(SIZE, arguments).variable("PATH", &missing);
        let mut terminal = start.start();
        assert_eq!(terminal.end().code(), Some(2));
        assert!(
            terminal.text().replace('\n', "").contains(said),
            "{}",
            terminal.text()
        );
        // The screen was not taken over.
        let bytes = terminal.bytes();
        assert!(!bytes.windows(8).any(|part| part == b"\x1b[?1049h"));
    }
}

/// Writes a script to the project folder.
fn script(project: &Project, name: &str, text: &str) -> String {
    let path = project.root().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_script_without_its_interpreter_is_refused_without_a_screen() {
    let project = Project::new();
    let missing = project.missing();
    let text = format!("#! {missing}/python -u\nprint()\n");
    let whole = script(&project, "agent", &text);
    script(&project, "short", &format!("#!{missing}/sh"));
    script(&project, "windows", "#!/bin/sh\r\nexit\r\n");
    let cases = [
        (&*whole, "/missing/python, which is not there"),
        ("short", "short cannot be started: its first line names"),
        ("windows", "names /bin/sh\\r, which is not there"),
    ];
    for (program, said) in cases {
        let path = project.root();
        let start = project.chat(SIZE, &["--", program]);
        let mut terminal = start.variable("PATH", path.to_str().unwrap()).start();
        assert_eq!(terminal.end().code(), Some(2));
        let text = terminal.text().replace('\n', "");
        assert!(text.contains(said), "{text}");
        let bytes = terminal.bytes();
        assert!(!bytes.windows(8).any(|part| part == b"\x1b[?1049h"));
    }
}

#[test]
fn an_unsuitable_terminal_is_refused_with_advice() {
    let project = Project::new();
    for (term, said) in [
        ("dumb", "TERM=dumb does not support it"),
        ("", "TERM is not set"),
    ] {
        let start = project.start(SIZE, &[], "").variable("TERM", term);
        let mut terminal = start.start();
        assert_eq!(terminal.end().code(), Some(2));
        let text = terminal.text().replace('\n', "");
        for said in [said, "xterm-256color", "`unspool run`"] {
            assert!(text.contains(said), "{text}");
        }
    }
}

#[test]
fn one_of_several_agents_that_cannot_be_started_says_so_in_its_tab() {
    let project = Project::new();
    let agent = project.agent(&[], "");
    let quoted: Vec<String> = agent.iter().map(|word| format!("{word:?}")).collect();
    let missing = project.missing();
    let odd = script(&project, "odd", &format!("#!{missing}/sh\n"));
    let config = format!(
        "[chat.agents.mine]\ncommand = [{}]\n[chat.agents.odd]\ncommand = [{odd:?}]\n",
        quoted.join(", ")
    );
    let config = project.configure(&config);
    let start = project
        .chat(SIZE, &["mine", "gemini", "odd"])
        .variable("UNSPOOL_CONFIG", config.to_str().unwrap())
        .variable("PATH", &missing);
    let mut terminal = start.start();
    terminal.wait_for("✗ gemini");
    terminal.press(crate::project::NEXT_TAB);
    terminal.wait_for("gemini is not installed. To install it: npm install");
    terminal.press(crate::project::NEXT_TAB);
    terminal.wait_for("odd cannot be started: its first line names");
    leave(&mut terminal);
}

#[test]
fn an_agent_that_dies_says_why() {
    let project = Project::new();
    let flags = ["--stderr", "out of \u{1b}[31mluck\n", "--die-after", "5"];
    let mut terminal = project.talk(SIZE, &flags, "claude/permission");
    send(&terminal, "go");
    terminal.wait_for("exited with status 3. Its last output:");
    terminal.wait_for("out of luck");
    terminal.wait_for("Ctrl-R restarts it.");
    leave(&mut terminal);
}

#[test]
fn a_refusal_says_why_and_sends_nothing_to_the_terminal() {
    let project = Project::new();
    let flags = ["--refuse-prompt", "out of \u{1b}[31mluck today"];
    let mut terminal = project.talk(SIZE, &flags, "");
    send(&terminal, "go");
    terminal.wait_for(r"Error: out of \x1B[31mluck today");
    leave(&mut terminal);
}

#[test]
fn garbage_wrong_ids_and_unknown_messages_are_harmless() {
    let project = Project::new();
    let flags = [
        "--stray",
        "welcome to the shell",
        "--garbage",
        "--wrong-ids",
        "--unknown",
    ];
    let mut terminal = project.talk(SIZE, &flags, "claude/permission");
    terminal.wait_for("printed more that is not a protocol");
    send(&terminal, "go on");
    answer(&terminal, "Write src/extra.py", b"r");
    leave(&mut terminal);
    let kept = fs::read_to_string(project.records().pop().unwrap()).unwrap();
    assert!(kept.contains("printed: welcome to the shell"), "{kept}");
}

#[test]
fn the_same_question_twice_and_one_after_the_end() {
    let project = Project::new();
    let flags = ["--ask-twice", "--ask-after-cancel", "--text-after-end"];
    let mut terminal = project.talk(SIZE, &flags, "claude/permission");
    send(&terminal, "go on");
    terminal.wait_for("1 more request");
    answer(&terminal, "Write src/extra.py", b"\x1b");
    wait_until("the questions to go", || {
        !terminal.text().contains("allow once")
    });
    terminal.wait_for_quiet();
    assert!(
        !terminal.text().contains("allow once"),
        "{}",
        terminal.text()
    );
    leave(&mut terminal);
}

#[test]
fn a_flood_is_shown_to_its_end() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--flood", "20000"], "");
    send(&terminal, "tell me all");
    wait_until("a recording", || !project.records().is_empty());
    wait_until("the end of the turn", || {
        let all = fs::read_to_string(&project.records()[0]).unwrap();
        all.contains("\"kind\":\"turn_end\"")
    });
    let all = fs::read_to_string(project.records().pop().unwrap()).unwrap();
    for piece in ["\" 0\"", "\" 19999\""] {
        assert!(
            all.contains(piece),
            "{piece}: {} lines",
            all.lines().count()
        );
    }
    leave(&mut terminal);
}

#[test]
fn no_process_is_left_behind() {
    for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
        let project = Project::new();
        let flags = ["--ignore-term", "--spawn"];
        let mut terminal = project.talk(SIZE, &flags, "claude/permission");
        let children = descendants(terminal.pid());
        assert!(!children.is_empty());
        terminal.signal(signal);
        terminal.end();
        for child in children {
            wait_until("the agent's end", || is_gone(child));
        }
        if signal != Signal::KILL {
            assert!(!terminal.is_alternate(), "{signal:?}");
            assert!(terminal.shows_cursor() && terminal.echoes(), "{signal:?}");
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_leaves_no_agent_and_a_readable_screen() {
    let project = Project::new();
    let start = project.start(SIZE, &["--ignore-term", "--spawn"], "");
    let mut terminal = start.variable("UNSPOOL_TEST_PANIC", "paint").start();
    let status = terminal.end();
    assert_eq!(status.code(), Some(101));
    assert!(!terminal.is_alternate() && terminal.shows_cursor() && terminal.echoes());
    let text = terminal.text();
    assert!(text.contains("painting was told to panic"), "{text}");
    let root = project.root().to_str().unwrap().to_owned();
    wait_until("the agent's end", || {
        !is_running(&["fake-acp-agent", &root])
    });
}

#[test]
fn an_agent_that_died_is_started_again() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--die-after", "3"], "");
    send(&terminal, "are you there");
    terminal.wait_for("exited with status 3");
    send(&terminal, "hello again");
    terminal.wait_for("Ctrl-R restarts it");
    // The text in the prompt is kept.
    terminal.wait_for("❯ hello again");
    terminal.press(b"\x12");
    wait_until("another agent", || {
        terminal.text().matches("exited with").count() < 2
    });
    terminal.press(b"\x03");
    leave(&mut terminal);
}

/// Closing a window may send more than one signal.
#[cfg(target_os = "linux")]
#[test]
fn no_process_of_a_terminal_is_left_behind() {
    let ends: [&[Signal]; 4] = [
        &[Signal::TERM],
        &[Signal::HUP, Signal::HUP, Signal::TERM],
        &[Signal::KILL],
        &[],
    ];
    at_once(&ends, |signals| {
        let project = Project::new();
        let file = project.home().join("stray");
        let command = format!(
            "setsid sh -c 'echo $$ > {0}; exec sleep 3600' & sleep 3600",
            file.display()
        );
        let flags = ["--ignore-term", "--terminal", &command];
        let mut terminal = project.talk(SIZE, &flags, "");
        send(&terminal, "run it");
        answer(&terminal, "allow once", b"a");
        let mut stray = None;
        wait_until("the stray", || {
            let text = fs::read_to_string(&file).unwrap_or_default();
            stray = text.trim().parse().ok().and_then(Pid::from_raw);
            stray.is_some()
        });
        let stray = stray.unwrap();
        assert!(!is_gone(stray));
        if signals.is_empty() {
            let mut child = terminal.hang_up();
            wait_until("its end", || child.try_wait().unwrap().is_some());
        } else {
            for signal in *signals {
                let _ = kill_process(terminal.pid(), *signal);
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            terminal.end();
        }
        wait_until(&format!("the end of the stray after {signals:?}"), || {
            is_gone(stray)
        });
    });
}

#[test]
fn error_output_explains_a_disconnect() {
    let project = Project::new();
    let said = "reading the key\n\u{1b}[31mno such key\u{1b}[0m";
    let refusal = "Query closed before response received";
    let flags = ["--stderr", said, "--refuse-prompt", refusal];
    let mut terminal = project.talk(SIZE, &flags, "");
    send(&terminal, "go on");
    terminal.wait_for(refusal);
    terminal.wait_for("printed before that:");
    terminal.wait_for("no such key");
    let text = terminal.text();
    assert!(!text.contains("x1B") && !text.contains("[31m"), "{text}");
    // It is reported once.
    send(&terminal, "and again");
    wait_until("the second refusal", || {
        terminal.text().matches(refusal).count() == 2
    });
    assert_eq!(terminal.text().matches("no such key").count(), 1);
    leave(&mut terminal);
}

#[test]
fn coloured_error_output_is_shown_as_text() {
    let project = Project::new();
    let stray =
        "\u{1b}[2K\u{1b}[1mOpen\u{1b}[0m \u{1b}]8;;http://127.0.0.1/\u{7}this page\u{1b}]8;;\u{7}";
    let mut terminal = project.talk(SIZE, &["--stray", stray], "");
    terminal.wait_for("printed: Open this page");
    leave(&mut terminal);
}
