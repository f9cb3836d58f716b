//! Conversations, prompts, tabs and menus.

use std::fs;
use std::path::Path;

use crate::project::{
    ENTER, ESCAPE, HELP, LOGIN, MODES, NEXT_TAB, OPTIONS, PALETTE, PREVIOUS_TAB, Project, answer,
    leave, pause, send,
};
use crate::tmux::Tmux;
use crate::world::{UNSPOOL, wait_until};

const SIZE: (u16, u16) = (100, 36);
const ASKS: &str = "allow once";

#[test]
fn a_conversation_with_permissions() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "claude/permission");
    send(&terminal, "Make some changes");
    answer(&terminal, "Write src/extra.py", b"a");
    answer(&terminal, "touch rejected.txt", b"r");
    terminal.wait_for("Rejected touch rejected.txt");
    answer(&terminal, "Edit README.md", b"a");
    terminal.wait_for("One call was rejected; the rest was applied.");
    let text = terminal.text();
    for shown in [
        "› Make some changes",
        "✓ Add",
        "⊘ Rejected",
        "✓ Edit",
        "$0.03",
    ] {
        assert!(text.contains(shown), "{shown}:\n{text}");
    }
    leave(&mut terminal);
}

#[test]
fn keys_typed_ahead_and_enter_allow_nothing() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "claude/permission");
    terminal.press(b"go on\raaaa\r\r");
    terminal.wait_for(ASKS);
    terminal.press(ENTER);
    pause();
    terminal.press(ENTER);
    pause();
    let text = terminal.text();
    assert!(
        text.contains("Write src/extra.py") && text.contains(ASKS),
        "{text}"
    );
    assert!(!text.contains('✓'), "{text}");
    // Esc cancels the turn, and with it the question.
    terminal.press(ESCAPE);
    wait_until("the question to go", || !terminal.text().contains(ASKS));
    leave(&mut terminal);
}

#[test]
fn rules_answer_and_say_so() {
    let project = Project::new();
    let config = project.configure(
        "[[chat.rules]]\naction = 'allow'\nkind = 'edit'\npath = '**'\n\
         [[chat.rules]]\naction = 'deny'\ncommand = 'touch *'\n",
    );
    let start = project.start(SIZE, &[], "claude/permission");
    let mut terminal = start
        .variable("UNSPOOL_CONFIG", config.to_str().unwrap())
        .start();
    terminal.wait_for("Manual");
    send(&terminal, "Make some changes");
    terminal.wait_for("One call was rejected; the rest was applied.");
    let text = terminal.text();
    assert!(
        text.contains("Rule 1 allowed: Write src/extra.py"),
        "{text}"
    );
    assert!(text.contains("Rule 2 denied: touch rejected.txt"), "{text}");
    leave(&mut terminal);
}

#[test]
fn a_message_is_queued_while_the_agent_works() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--hang-after", "3"], "");
    send(&terminal, "first");
    terminal.wait_for("working");
    send(&terminal, "second thought");
    terminal.wait_for("queued: second thought");
    // Ctrl-X takes it back.
    terminal.press(b"\x18");
    wait_until("the queue to be empty", || {
        !terminal.text().contains("queued:")
    });
    terminal.wait_for("❯ second thought");
    terminal.press(b"\x03");
    leave(&mut terminal);
}

#[test]
fn a_shell_command_runs_in_a_terminal() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    terminal.press(b"!test -t 1 && echo on a terminal in $(basename $PWD)\r");
    terminal.wait_for("on a terminal in project");
    terminal.press(b"!sleep 60\r");
    terminal.wait_for("Running sleep 60");
    terminal.press(b"\x03");
    terminal.wait_for("Canceled sleep 60");
    leave(&mut terminal);
}

#[test]
fn commands_and_files_are_completed() {
    let project = Project::new();
    fs::write(project.root().join("needle.txt"), "in the haystack").unwrap();
    let mut terminal = project.talk(SIZE, &[], "claude/plan");
    terminal.press(b"look at @need");
    terminal.wait_for("needle.txt");
    terminal.press(b"\t");
    terminal.wait_for("@needle.txt");
    terminal.press(b"\x03/");
    terminal.wait_for("/");
    terminal.press(ESCAPE);
    pause();
    terminal.press(b"\x03");
    leave(&mut terminal);
}

#[test]
fn help_modes_and_settings_are_lists() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "claude/permission");
    terminal.press(HELP);
    terminal.wait_for("pressed twice: stop the agent");
    terminal.press(ESCAPE);
    pause();
    terminal.press(MODES);
    terminal.wait_for("Accept edits");
    terminal.press(ESCAPE);
    pause();
    terminal.press(OPTIONS);
    terminal.wait_for("Model: Default (recommended)");
    terminal.press(b"model\r");
    terminal.wait_for("Opus");
    terminal.press(ESCAPE);
    pause();
    leave(&mut terminal);
}

#[test]
fn a_login_is_asked_for() {
    let project = Project::new();
    let mut terminal = project.start(SIZE, &["--needs-login"], "").start();
    terminal.wait_for("log in");
    terminal.press(ESCAPE);
    pause();
    terminal.wait_for("login required");
    terminal.press(LOGIN);
    terminal.wait_for("log in");
    terminal.press(ENTER);
    wait_until("the login", || !terminal.text().contains("login required"));
    send(&terminal, "hello there");
    terminal.wait_for("› hello there");
    leave(&mut terminal);
}

#[test]
fn two_agents_in_tabs_and_a_notification_when_one_asks() {
    let project = Project::new();
    let words = |name: &str| {
        let agent = project.agent(&["--delay", "20"], name);
        let quoted: Vec<String> = agent.iter().map(|word| format!("{word:?}")).collect();
        quoted.join(", ")
    };
    let config = project.configure(&format!(
        "[chat.agents.one]\ncommand = [{}]\n[chat.agents.two]\ncommand = [{}]\n",
        words("claude/permission"),
        words("claude/plan")
    ));
    let start = project.chat(SIZE, &["one", "two"]);
    let mut terminal = start
        .variable("UNSPOOL_CONFIG", config.to_str().unwrap())
        .start();
    terminal.wait_for("● one");
    terminal.wait_for("● two");
    send(&terminal, "make changes");
    terminal.press(NEXT_TAB);
    // The agent in the other tab asks.
    terminal.wait_for("? one");
    // The notification follows the frame.
    wait_until("a call", || {
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        let calls = [
            "\u{1b}]9;one: asks for permission",
            "\u{1b}]777;notify;one;",
        ];
        calls.iter().all(|call| bytes.contains(call))
    });
    terminal.press(NEXT_TAB);
    answer(&terminal, "Write src/extra.py", b"r");
    leave(&mut terminal);
}

#[test]
fn a_megabyte_is_pasted_at_once() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    let text = "0123456789abcde\n".repeat(1 << 16);
    terminal.press(format!("\x1b[200~{text}\x1b[201~").as_bytes());
    terminal.wait_for("1.0 MB");
    terminal.press(ENTER);
    // Everything was sent; only the start is shown until unfolded.
    terminal.wait_for("0123456789abcde 0123456789abcde");
    terminal.press(b"\t");
    terminal.wait_for("i to write");
    terminal.press(b"g");
    terminal.wait_for("… +65524 lines");
    terminal.press(b"\r");
    wait_until("all of it", || !terminal.text().contains("… +65524"));
    leave(&mut terminal);
}

#[test]
fn without_a_name_a_list_opens() {
    let project = Project::new();
    let mut terminal = project
        .chat(SIZE, &[])
        .variable("PATH", &project.missing())
        .start();
    terminal.wait_for("open another agent");
    terminal.wait_for("not installed: claude-agent-acp");
    terminal.press(b"gemini\r");
    terminal.wait_for("gemini is not installed");
    terminal.press(b"\x11");
    terminal.end();
    assert!(!terminal.is_alternate());
}

#[test]
fn a_form_is_filled_in_and_shown() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--form"], "");
    send(&terminal, "make a release");
    terminal.wait_for("3 of 6, 2 to do");
    pause();
    terminal.press(b"Spring\x13");
    // The focus moves to the missing field.
    terminal.wait_for("4 of 6, 1 to do");
    terminal.wait_for("is required");
    terminal.press(b" \x13");
    terminal.wait_for("\"action\":\"accept\"");
    terminal.wait_for("(6 fields)");
    terminal.wait_for("name: Spring");
    leave(&mut terminal);
}

#[test]
fn a_terminal_without_a_call_is_visible_while_it_runs() {
    let project = Project::new();
    let pipe = project.root().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let command = "echo begun; cat pipe; echo over";
    let mut terminal = project.talk(SIZE, &["--terminal", command], "");
    send(&terminal, "run it");
    answer(&terminal, "allow once", b"a");
    terminal.wait_for("Running echo begun");
    terminal.wait_for("└ begun");
    std::fs::write(&pipe, "").unwrap();
    terminal.wait_for("Ran echo begun");
    terminal.wait_for("\"exitCode\":0");
    assert_eq!(
        terminal.text().matches("over").count(),
        2,
        "{}",
        terminal.text()
    );
    leave(&mut terminal);
}

#[test]
fn a_conversation_is_exported() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    send(&terminal, "what is a greeter");
    terminal.wait_for("You said: what is a greeter");
    terminal.press(b"\t");
    terminal.wait_for("i to write");
    terminal.press(b"x");
    terminal.wait_for("wrote ");
    let text = terminal.text();
    let name = text
        .split("wrote ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next();
    let page = Path::new(name.unwrap());
    let html = fs::read_to_string(page).unwrap();
    fs::remove_file(page).unwrap();
    assert!(html.contains("what is a greeter"));
    leave(&mut terminal);
}

#[test]
#[ignore = "needs tmux: run `cargo xtask test`"]
fn a_conversation_in_tmux() {
    let project = Project::new();
    let root = project.root();
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let variables = project.variables().into_iter();
    let mut lines: Vec<String> = variables
        .map(|(name, value)| format!("export {name}={}", quoted(&value)))
        .collect();
    let fixed = [UNSPOOL, "chat", "--project", root.to_str().unwrap(), "--"];
    let agent = project.agent(&[], "claude/permission");
    let words = fixed.into_iter().map(str::to_owned).chain(agent);
    let words: Vec<String> = words.map(|word| quoted(&word)).collect();
    lines.push(words.join(" "));
    let tmux = Tmux::start((100, 30), &lines.join("\n"));
    let waits = |words: &str| {
        wait_until(words, || tmux.screen().contains(words));
        pause();
    };
    waits("❯");
    wait_until("the agent", || !tmux.screen().contains("starting"));
    tmux.press(&["-l", "Make some changes"]);
    waits("Make some changes");
    tmux.press(&["Enter"]);
    waits("Write src/extra.py");
    tmux.press(&["a"]);
    waits("Pending touch rejected.txt");
    tmux.press(&["r"]);
    waits("Edit README.md");
    tmux.press(&["a"]);
    waits("One call was rejected");
    // A wide character at the border after a resize.
    tmux.resize((60, 20));
    waits("One call was rejected");
    assert!(tmux.screen().lines().all(|line| line.chars().count() <= 60));
    tmux.press(&["F1"]);
    waits("In the prompt");
    tmux.press(&["Escape"]);
    wait_until("the help to go", || {
        !tmux.screen().contains("In the prompt")
    });
    pause();
    tmux.press(&["C-q"]);
    assert_eq!(tmux.end(), 0);
    assert!(tmux.shows_cursor());
    assert!(
        !tmux.screen().contains("One call was rejected"),
        "{}",
        tmux.screen()
    );
}

#[test]
fn a_terminal_shown_by_a_late_call_appears_once() {
    for pause in ["0", "300", "2500", "4500"] {
        let project = Project::new();
        let command = "echo begun; sleep 2; echo over";
        let flags = ["--terminal", command, "--late-call", pause];
        let mut terminal = project.talk(SIZE, &flags, "");
        send(&terminal, "run it");
        answer(&terminal, "allow once", b"a");
        terminal.wait_for("\"exitCode\":0");
        terminal.wait_for("✓ Ran echo begun");
        let text = terminal.text();
        assert_eq!(text.matches("echo begun").count(), 1, "{pause}:\n{text}");
        assert_eq!(text.matches("└ begun").count(), 1, "{pause}:\n{text}");
        leave(&mut terminal);
    }
}

#[test]
fn a_call_that_is_never_closed_does_not_spin_again() {
    let project = Project::new();
    let flags = ["--open-call", "--flood", "10", "--delay", "200"];
    let mut terminal = project.talk(SIZE, &flags, "");
    send(&terminal, "go on");
    terminal.wait_for("Running make a mess");
    terminal.wait_for("○ Running make a mess");
    terminal.wait_for("no result");
    send(&terminal, "and again");
    wait_until("the next one", || {
        terminal.text().matches("Running").count() == 2
    });
    let text = terminal.text();
    assert_eq!(text.matches("○ Running make a mess").count(), 1, "{text}");
    assert_eq!(text.matches("no result").count(), 1, "{text}");
    leave(&mut terminal);
}

#[test]
fn commands_are_found_by_other_words() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "");
    terminal.press(PALETTE);
    terminal.wait_for("Commands");
    // A letter that is a shortcut elsewhere is typed.
    terminal.press(b"q");
    terminal.wait_for(":q");
    pause();
    assert!(terminal.text().contains("Commands"), "{}", terminal.text());
    terminal.press(b"uit");
    terminal.wait_for(":quit");
    terminal.press(ENTER);
    assert!(terminal.end().success());
    assert!(!terminal.is_alternate());
}

#[test]
fn tabs_can_be_switched_during_a_login() {
    let project = Project::new();
    let words = |flags: &[&str]| {
        let agent = project.agent(flags, "");
        let quoted: Vec<String> = agent.iter().map(|word| format!("{word:?}")).collect();
        quoted.join(", ")
    };
    let config = project.configure(&format!(
        "[chat.agents.one]\ncommand = [{}]\n[chat.agents.two]\ncommand = [{}]\n",
        words(&["--needs-login"]),
        words(&[])
    ));
    let start = project.chat(SIZE, &["one", "two"]);
    let mut terminal = start
        .variable("UNSPOOL_CONFIG", config.to_str().unwrap())
        .start();
    terminal.wait_for("A key");
    terminal.press(NEXT_TAB);
    wait_until("the other tab", || !terminal.text().contains("A key"));
    send(&terminal, "hello there");
    terminal.wait_for("› hello there");
    terminal.press(PREVIOUS_TAB);
    terminal.wait_for("A key");
    terminal.press(ENTER);
    wait_until("the login", || !terminal.text().contains("login required"));
    leave(&mut terminal);
}
