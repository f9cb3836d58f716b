//! `unspool sessions` on a terminal: the list is searched, a session is shown,
//! and the terminal is as it was, whatever happens.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::state;
use crate::terminal::{Size, Start, Terminal};
use crate::world::{UNSPOOL, corpus, unspool, wait_until};

const ESCAPE: &[u8] = b"\x1b";
const ENTER: &[u8] = b"\r";
const ANSWER: &str = "Hello! I'm ready to help with this project.";

/// A home directory with sessions of Claude Code.
struct Home(TempDir);

impl Home {
    fn of(prompts: &[&str]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let recorded = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
        let folder = home.path(".claude/projects/-home-user-project");
        fs::create_dir_all(&folder).unwrap();
        for (number, prompt) in prompts.iter().enumerate() {
            let session = recorded
                .replace("Say hello in one sentence.", prompt)
                .replace("f6c4d2aa", &format!("{number}6c4d2aa"))
                .replace("2026-11-15T", &format!("2026-10-{:02}T", 20 - number));
            fs::write(folder.join(format!("{number}.jsonl")), session).unwrap();
        }
        home
    }

    fn three() -> Self {
        Self::of(&[
            "Mend the flaky test",
            "Explain the 漢字 parser",
            "Write docs",
        ])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Variables that point at the test's own folders.
    fn variables(&self) -> [(&'static str, String); 8] {
        let at = |name: &str| self.path(name).to_str().unwrap().to_owned();
        [
            ("HOME", self.0.path().to_str().unwrap().to_owned()),
            ("CLAUDE_CONFIG_DIR", at(".claude")),
            ("CODEX_HOME", at(".codex")),
            ("XDG_CONFIG_HOME", at(".config")),
            ("XDG_DATA_HOME", at(".local/share")),
            ("UNSPOOL_CACHE_DIR", at(".cache")),
            ("UNSPOOL_PAGER", "cat".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
    }

    fn start(&self, start: Start) -> Start {
        let set = |start: Start, (name, value): &(&str, String)| start.variable(name, value);
        self.variables().iter().fold(start, set)
    }

    fn sessions(&self, size: Size, arguments: &[&str]) -> Start {
        let arguments = [&["sessions", "--theme", "dark"], arguments].concat();
        self.start(Start::unspool(size, &arguments))
    }

    /// The list, as it opens.
    fn list(&self, size: Size) -> Terminal {
        let terminal = self.sessions(size, &[]).start();
        terminal.wait_for("type to search");
        terminal
    }
}

/// The terminal is as a shell wants it.
#[track_caller]
fn is_given_back(terminal: &Terminal) {
    assert!(!terminal.is_alternate() && terminal.shows_cursor());
    assert!(!terminal.takes_mouse() && terminal.echoes());
}

#[test]
fn a_session_is_found_and_shown_and_the_list_is_back() {
    let home = Home::three();
    let mut terminal = home.list((80, 24));
    terminal.wait_for("3/3");
    assert!(terminal.is_alternate());
    terminal.press(b"flk");
    terminal.wait_for("1/3");
    assert!(!terminal.text().contains("parser"));
    terminal.press(ENTER);
    terminal.wait_for("Press a key to go back to the list.");
    assert!(terminal.text().contains(ANSWER), "{}", terminal.text());
    assert!(!terminal.is_alternate());
    terminal.press(b" ");
    terminal.wait_for("> flk");
    terminal.wait_for("1/3");
    terminal.press(ESCAPE);
    assert_eq!(terminal.end().code(), Some(0));
    is_given_back(&terminal);
    let text = terminal.text();
    assert!(text.contains(ANSWER) && !text.contains("1/3"), "{text}");
}

#[test]
#[ignore = "needs less: run `cargo xtask test`"]
fn a_pager_shows_it_and_leaves_nothing_behind() {
    let home = Home::three();
    let start = home
        .sessions((80, 24), &[])
        .variable("UNSPOOL_PAGER", "less");
    let mut terminal = start.start();
    terminal.wait_for("type to search");
    terminal.press(b"\x1b[B");
    terminal.press(ENTER);
    terminal.wait_for(ANSWER);
    terminal.wait_for("(END)");
    assert!(terminal.text().contains("漢字"));
    // Long enough for somebody who reads.
    std::thread::sleep(std::time::Duration::from_millis(400));
    terminal.press(b"q");
    terminal.wait_for("type to search");
    terminal.wait_for("▌ 2026-10-19");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(0));
    is_given_back(&terminal);
    assert_eq!(terminal.text(), "");
}

#[test]
fn the_screen_is_as_before() {
    let home = Home::three();
    let script = format!("echo before; {UNSPOOL} sessions; echo after $?");
    for keys in [ESCAPE, b"\x03", b"docs\x03"] {
        let start = Start::program((80, 24), "sh", &["-c", &script]);
        let mut terminal = home.start(start).start();
        terminal.wait_for("type to search");
        terminal.press(keys);
        terminal.end();
        assert_eq!(terminal.text(), "before\nafter 0");
        is_given_back(&terminal);
    }
}

#[test]
fn the_list_is_a_picture_that_people_can_read() {
    let home = Home::three();
    let terminal = home.list((112, 18));
    terminal.press(b"par");
    terminal.wait_for("> par");
    terminal.wait_for("1/3");
    insta::assert_snapshot!("wide", terminal.text());
    terminal.press(b"\x15");
    terminal.wait_for("3/3");
    terminal.resize((40, 10));
    wait_until("the small screen", || {
        let lines = terminal.lines();
        lines.len() == 10 && lines[9].ends_with("3/3") && lines[1] == "  AGENT   TITLE"
    });
    insta::assert_snapshot!("small", terminal.text());
    terminal.resize((80, 24));
    wait_until("the usual screen", || {
        let lines = terminal.lines();
        lines.len() == 24 && lines[23].ends_with("3/3")
    });
    insta::assert_snapshot!("usual", terminal.text());
}

#[test]
fn hostile_text_stays_text() {
    let home = Home::of(&[r"Wipe \u001b[2J\u001b]0;pwned\u0007\u202e it", "Other"]);
    let terminal = home.list((120, 20));
    terminal.press(b"wipe");
    terminal.wait_for("1/2");
    terminal.wait_for(r"Wipe \x1B[2J\x1B]0;pwned\x07\u{202E} it");
    let bytes = terminal.bytes();
    for hostile in [&b"\x1b]0;"[..], "\u{202e}".as_bytes(), b"\x07"] {
        assert!(!bytes.windows(hostile.len()).any(|part| part == hostile));
    }
}

#[test]
fn without_colours_there_are_none() {
    let home = Home::three();
    let start = home.sessions((80, 24), &[]).variable("NO_COLOR", "1");
    let terminal = start.start();
    terminal.wait_for("type to search");
    terminal.press(b"flaky");
    terminal.wait_for("1/3");
    let text = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(
        !text.contains("38;5;") && !text.contains("48;5;"),
        "{text:?}"
    );
    assert!(
        text.contains("\u{1b}[7m"),
        "the marked row is seen: {text:?}"
    );
}

#[test]
fn the_list_is_printed_where_nobody_chooses() {
    let home = Home::three();
    for arguments in [&["--list"][..], &["--json"], &["--width", "60"]] {
        let mut terminal = home.sessions((80, 24), arguments).start();
        assert_eq!(terminal.end().code(), Some(0));
        let text = terminal.text();
        assert!(text.contains("Mend the flaky test"), "{text}");
        is_given_back(&terminal);
    }
    let mut dumb = home
        .sessions((80, 24), &[])
        .variable("TERM", "dumb")
        .start();
    assert_eq!(dumb.end().code(), Some(0));
    let mut piped = unspool(&["sessions"]);
    let output = piped.envs(home.variables()).output().unwrap();
    for bytes in [dumb.bytes(), output.stdout] {
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("Mend the flaky test") && !text.contains("[?1049h"),
            "{text}"
        );
    }
}

#[test]
fn without_sessions_there_is_nothing_to_choose() {
    let home = Home::of(&[]);
    let mut terminal = home.sessions((80, 24), &[]).start();
    assert_eq!(terminal.end().code(), Some(0));
    let text = terminal.text();
    assert!(text.starts_with("unspool: found no session. It looked in:\n"));
    let claude = text.lines().find(|line| line.starts_with("  claude "));
    assert!(
        claude.is_some_and(|line| line.ends_with(" ~/.claude/projects")),
        "{text}"
    );
    let codex = text.lines().find(|line| line.starts_with("  codex "));
    assert!(
        codex.is_some_and(|line| line.contains(" ~/.codex/sessions (not there)")),
        "{text}"
    );
}

#[test]
fn unspool_alone_opens_the_list() {
    let home = Home::three();
    let start = Start::unspool((80, 24), &["--theme", "dark"]);
    let mut terminal = home.start(start).start();
    terminal.wait_for("type to search");
    terminal.wait_for("3/3");
    terminal.press(ESCAPE);
    assert_eq!(terminal.end().code(), Some(0));
    is_given_back(&terminal);
}

#[test]
fn unspool_alone_without_sessions_says_what_to_do() {
    let home = Home::of(&[]);
    let programs = home.path("bin");
    fs::create_dir(&programs).unwrap();
    let shown = |home: &Home| {
        let start = home.start(Start::unspool((80, 60), &["--theme", "dark"]));
        let mut terminal = start.variable("PATH", programs.to_str().unwrap()).start();
        assert_eq!(terminal.end().code(), Some(0));
        terminal.text()
    };
    let text = shown(&home);
    assert!(text.starts_with("unspool shows what a coding agent is doing."));
    for line in [
        "  my-agent --json \"…\" | unspool",
        "  unspool demo",
        "Sessions were searched in:",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    assert!(!text.contains("unspool run claude"), "{text}");
    let codex = programs.join("codex");
    fs::write(&codex, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&codex, PermissionsExt::from_mode(0o755)).unwrap();
    let text = shown(&home);
    for line in [
        "  unspool run codex \"explain this project\"",
        "  codex exec --json 'explain this project' | unspool",
        "  unspool demo",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    assert!(!text.contains("unspool run claude"), "{text}");
}

#[test]
fn unspool_alone_with_options_of_a_run_asks_for_one() {
    let home = Home::three();
    for option in [
        &["--raw"][..],
        &["--errors"],
        &["--replay"],
        &["--from", "codex"],
    ] {
        let start = Start::unspool((80, 24), &[&["--theme", "dark"], option].concat());
        let mut terminal = home.start(start).start();
        assert_eq!(terminal.end().code(), Some(2), "{option:?}");
        let text = terminal.text();
        assert!(text.contains("nothing to read: give a file"), "{text}");
    }
}

#[test]
fn a_session_that_is_gone_is_told_and_the_list_stays() {
    let home = Home::three();
    let terminal = home.list((80, 24));
    fs::remove_dir_all(home.path(".claude")).unwrap();
    terminal.press(ENTER);
    terminal.wait_for("Press a key to go back to the list.");
    assert!(terminal.text().contains("unspool: "), "{}", terminal.text());
    terminal.press(b"x");
    terminal.wait_for("type to search");
}

#[test]
fn signals_give_the_terminal_back() {
    let home = Home::three();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut terminal = home.list((80, 24));
        terminal.signal(signal);
        assert_eq!(terminal.end().code(), Some(code));
        is_given_back(&terminal);
    }
}

/// In a container, the process group and the session may belong to processes outside.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs user namespaces: run `cargo xtask test`"]
fn a_key_that_stops_is_no_harm_in_a_container() {
    let container = [
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--mount-proc",
    ];
    let home = Home::three();
    let arguments = [&container[..], &[UNSPOOL, "sessions", "--theme", "dark"]].concat();
    let mut terminal = home
        .start(Start::program((80, 24), "unshare", &arguments))
        .start();
    terminal.wait_for("type to search");
    terminal.press(b"\x1adocs");
    terminal.wait_for("1/3");
    terminal.press(ESCAPE);
    assert_eq!(terminal.end().code(), Some(0));
    is_given_back(&terminal);
}

#[test]
fn it_stops_and_goes_on() {
    let home = Home::three();
    let mut terminal = home.list((80, 24));
    // By a key only where a shell could continue it.
    terminal.press(b"\x1adocs");
    terminal.wait_for("1/3");
    for _ in 0..2 {
        terminal.signal(Signal::TSTP);
        wait_until("the stop", || {
            terminal.is_restored() && state(terminal.pid()) == Some('T')
        });
        terminal.signal(Signal::CONT);
        terminal.wait_for("> docs");
        terminal.wait_for("1/3");
    }
    terminal.press(ESCAPE);
    assert_eq!(terminal.end().code(), Some(0));
    is_given_back(&terminal);
}
