//! Permission requests: visibility and keys.

use rustix::process::{Signal, kill_process};

use crate::process::descendants;
use crate::project::{Project, answer, leave, pause, send};
use crate::terminal::{Size, Terminal};
use crate::world::wait_until;

const SIZE: Size = (100, 36);
const ASKS: &str = "allow once";
const CTRL_C: &[u8] = b"\x03";

/// Opens a chat in which the agent asks before anything was visible in a larger
/// window.
fn asked(project: &Project, size: Size) -> Terminal {
    let agent = project.agent(&[], "claude/permission");
    let words: Vec<&str> = agent.iter().map(String::as_str).collect();
    let first = ["--prompt", "Make some changes", "--"];
    let terminal = project.chat(size, &[&first, words.as_slice()].concat());
    let terminal = terminal.start();
    wait_until("the question", || {
        let bytes = terminal.bytes();
        let title = b"\x1b]2;? ";
        bytes.windows(title.len()).any(|part| part == title)
    });
    pause();
    terminal
}

#[test]
fn a_small_window_shows_the_request() {
    for size in [(40, 12), (40, 8)] {
        let project = Project::new();
        let mut terminal = asked(&project, size);
        let text = terminal.text();
        // The call itself is above it, if there is space.
        let asked = text.split("── permission").nth(1).unwrap_or_default();
        assert!(asked.contains("Add /tmp/"), "{size:?}:\n{text}");
        assert!(text.contains(ASKS), "{size:?}:\n{text}");
        terminal.press(b"a");
        terminal.resize(SIZE);
        terminal.wait_for("Pending touch rejected.txt");
        leave(&mut terminal);
    }
}

#[test]
fn a_tiny_window_requires_scrolling() {
    for size in [(20, 5), (10, 4)] {
        let project = Project::new();
        let mut terminal = asked(&project, size);
        assert!(terminal.text().contains("Add /"), "{}", terminal.text());
        terminal.press(b"a");
        terminal.wait_for("Too small");
        // PgDn
        (0..8).for_each(|_| {
            terminal.press(b"\x1b[6~");
            terminal.wait_for_quiet();
        });
        terminal.press(b"a");
        terminal.resize(SIZE);
        terminal.wait_for("Pending touch rejected.txt");
        leave(&mut terminal);
    }
}

#[test]
fn an_unread_request_needs_a_second_key() {
    let project = Project::new();
    let mut terminal = asked(&project, (20, 6));
    // End
    terminal.press(b"\x1b[F");
    pause();
    terminal.press(b"a");
    terminal.wait_for("unread");
    pause();
    terminal.press(b"a");
    terminal.resize(SIZE);
    terminal.wait_for("Pending touch rejected.txt");
    leave(&mut terminal);
}

#[test]
fn an_invisible_request_cannot_be_allowed() {
    let project = Project::new();
    let mut terminal = asked(&project, (40, 1));
    for key in [b"a" as &[u8], b"A", b"1", b"\x1b[B\r"] {
        terminal.press(key);
        terminal.wait_for("Too small");
        pause();
    }
    terminal.resize(SIZE);
    terminal.wait_for("src/extra.py");
    assert!(!terminal.text().contains('✓'), "{}", terminal.text());
    // It disappears with the next frame, not after five seconds.
    pause();
    assert!(!terminal.text().contains("Too small"));
    assert!(terminal.text().contains("asks"), "{}", terminal.text());
    answer(&terminal, ASKS, b"a");
    terminal.wait_for("Pending touch rejected.txt");
    // Rejecting always works.
    terminal.resize((40, 1));
    pause();
    terminal.press(b"r");
    pause();
    terminal.resize(SIZE);
    terminal.wait_for("Rejected touch rejected.txt");
    leave(&mut terminal);
}

#[test]
fn a_key_without_a_matching_option_says_so() {
    let project = Project::new();
    let mut terminal = asked(&project, (40, 14));
    terminal.press(b"R");
    terminal.wait_for("The agent does not offer to reject alwa…");
    terminal.resize(SIZE);
    terminal.wait_for("The agent does not offer to reject always.");
    assert!(terminal.text().contains(ASKS), "{}", terminal.text());
    leave(&mut terminal);
}

#[test]
fn ctrl_c_cancels_the_turn_and_all_requests() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &["--ask-twice"], "claude/permission");
    terminal.press(b"!sleep 60\r");
    terminal.wait_for("Running sleep 60");
    send(&terminal, "go on");
    terminal.wait_for("1 more request");
    // It grants nothing, so no pause is needed.
    terminal.press(CTRL_C);
    wait_until("the questions to go", || !terminal.text().contains(ASKS));
    assert!(terminal.is_alternate());
    assert!(terminal.text().contains("Running sleep 60"));
    let kept = std::fs::read_to_string(project.records().pop().unwrap()).unwrap();
    let outcomes = kept.lines().filter(|line| line.contains("\"outcome\":"));
    let outcomes: Vec<&str> = outcomes.collect();
    assert!(outcomes.len() >= 2, "{outcomes:?}");
    for outcome in outcomes {
        assert!(outcome.contains("\"cancelled\""), "{outcome}");
    }
    leave(&mut terminal);
}

#[test]
fn a_call_that_was_never_allowed_does_not_run() {
    let project = Project::new();
    let mut terminal = project.talk(SIZE, &[], "claude/permission");
    let agents = descendants(terminal.pid());
    send(&terminal, "go on");
    answer(&terminal, "Write src/extra.py", b"r");
    terminal.wait_for("Pending touch rejected.txt");
    for agent in agents {
        let _ = kill_process(agent, Signal::KILL);
    }
    terminal.wait_for("was killed by signal 9");
    let text = terminal.text();
    assert!(!text.contains("Running"), "{text}");
    assert!(text.contains("⊘ Canceled touch rejected.txt"), "{text}");
    leave(&mut terminal);
}
