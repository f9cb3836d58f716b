//! Keys on a real terminal.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::run::{Run, is_read, long};
use crate::terminal::{Start, Terminal};
use crate::world::{PATIENCE, UNSPOOL, unspool, wait_until};

/// Returns the first row of the selected entry.
fn marked(terminal: &Terminal) -> String {
    let lines = terminal.lines();
    let row = lines.iter().find(|line| line.starts_with('▌'));
    row.map(|row| row.trim_end_matches(['│', '█', ' ']).to_owned())
        .unwrap_or_default()
}

#[track_caller]
fn wait_for_mark(terminal: &Terminal, wanted: &str) {
    let began = Instant::now();
    while marked(terminal) != wanted {
        assert!(
            began.elapsed() < PATIENCE,
            "{wanted:?} was never marked:\n{}",
            terminal.text()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn moving_folding_searching_and_filtering() {
    let run = Run::of(&long(40));
    let mut terminal = run.open((80, 24));
    assert_eq!(marked(&terminal), "▌ › prompt 0");
    terminal.wait_for("Mend the parser");
    terminal.press(b"p");
    wait_for_mark(&terminal, "▌ › prompt 1");
    terminal.press(b"e");
    wait_for_mark(&terminal, "▌ ✗ Ran make t1x2");
    assert!(!terminal.text().contains("secret t1x2"));
    terminal.press(b"\r");
    terminal.wait_for("secret t1x2");
    terminal.press(b"\r");
    wait_until("the fold", || !terminal.text().contains("secret t1x2"));
    // Folded text is found and unfolded.
    terminal.press(b"/secret t30x1\r");
    terminal.wait_for("▌   secret t30x1");
    terminal.wait_for("1 entry");
    terminal.press(b"\x1b");
    wait_until("the end of the search", || {
        !terminal.text().contains("1 entry")
    });
    terminal.press(b"f");
    terminal.wait_for("[x] prompts");
    terminal.press(b"o\x1b");
    wait_until("the filter", || {
        let text = terminal.text();
        text.contains("filtered") && !text.contains("Ran make") && text.contains("› prompt 31")
    });
    terminal.press(b"fa\x1b");
    wait_until("all kinds", || !terminal.text().contains("filtered"));
    terminal.press(b"G");
    wait_for_mark(&terminal, "▌ • answer 39");
    terminal.press(b"?");
    terminal.wait_for("half a page down");
    terminal.press(b"\x1b");
    wait_until("the transcript", || {
        !terminal.text().contains("half a page")
    });
    terminal.press(b":begin\r");
    wait_for_mark(&terminal, "▌ › prompt 0");
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_view_can_start_at_a_match() {
    let run = Run::of(&long(40));
    let mut terminal = run.start((80, 24), &["--search", "secret t30x1"]).start();
    terminal.wait_for("▌   secret t30x1");
    terminal.wait_for("1 entry");
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
    let mut terminal = run.start((80, 24), &["--search", "prompt 0"]).start();
    wait_for_mark(&terminal, "▌ › prompt 0");
    terminal.wait_for("1 entry");
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_resize_keeps_the_position() {
    let run = Run::of(&long(40));
    let terminal = run.open((80, 24));
    terminal.press(b"ppppp");
    wait_for_mark(&terminal, "▌ › prompt 5");
    for size in [(50, 12), (120, 40), (80, 24)] {
        terminal.resize(size);
        wait_until("the new size", || {
            terminal.lines().len() == usize::from(size.1)
        });
        wait_for_mark(&terminal, "▌ › prompt 5");
    }
}

#[test]
fn a_file_that_grows_is_followed_from_the_end() {
    let run = Run::of(&long(10));
    let terminal = run.open((80, 24));
    terminal.press(b"G");
    wait_for_mark(&terminal, "▌ • answer 9");
    let mut file = File::options().append(true).open(&run.path).unwrap();
    writeln!(file, r#"{{"kind":"text","id":"n","text":"brand new"}}"#).unwrap();
    wait_for_mark(&terminal, "▌ • brand new");
    terminal.press(b"kkkk");
    wait_for_mark(&terminal, "▌ ✓ Ran make t9x3");
    writeln!(file, r#"{{"kind":"text","id":"o","text":"newer still"}}"#).unwrap();
    terminal.wait_for("▼ more below");
    assert!(!terminal.text().contains("newer still"));
}

#[test]
fn a_pipe_is_watched_while_keys_come_from_the_terminal() {
    let start = Start::unspool((80, 24), &["view", "--theme", "dark"]);
    let mut terminal = start.stdin(Stdio::piped()).start();
    let mut pipe = terminal.stdin();
    let lines = long(3);
    pipe.write_all((lines.join("\n") + "\n").as_bytes())
        .unwrap();
    terminal.wait_for("answer 2");
    terminal.press(b"g");
    wait_for_mark(&terminal, "▌ › prompt 0");
    drop(pipe);
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn the_latest_session_may_be_in_another_folder() {
    let run = Run::of(&long(3));
    let home = tempfile::tempdir().unwrap();
    let start = |arguments: &[&str]| {
        let arguments = [&["view", "--latest"], arguments].concat();
        let start = Start::unspool((80, 24), &arguments);
        start
            .variable("HOME", home.path().to_str().unwrap())
            .start()
    };
    assert_eq!(start(&[]).end().code(), Some(2));
    let mut terminal = start(&["--in", run.folder().to_str().unwrap()]);
    terminal.wait_for("answer 2");
    terminal.press(b"q");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn empty_input_is_reported() {
    let takes_the_screen = |terminal: &Terminal| {
        let bytes = terminal.bytes();
        bytes.windows(8).any(|part| part == b"\x1b[?1049h")
    };
    let script = format!(": | {UNSPOOL} view");
    let mut terminal = Start::program((80, 24), "/bin/sh", &["-c", &script]).start();
    assert_eq!(terminal.end().code(), Some(2));
    terminal.wait_for("unspool: standard input: nothing to read");
    assert!(!takes_the_screen(&terminal));
    // Waits for input that may still come.
    let start = Start::unspool((80, 24), &["view", "--theme", "dark"]);
    let mut terminal = start.stdin(Stdio::piped()).start();
    let pipe = terminal.stdin();
    wait_until("the screen", || terminal.is_alternate());
    drop(pipe);
    assert_eq!(terminal.end().code(), Some(2));
    assert!(!terminal.is_alternate());
    terminal.wait_for("unspool: standard input: nothing to read");
}

#[test]
fn an_entry_is_copied_and_opened_in_an_editor() {
    let run = Run::of(&long(2));
    let editor = run.folder().join("editor");
    std::fs::write(&editor, "#!/bin/sh\ncp \"$1\" \"$HOME/edited\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).unwrap();
    let start = run.start((80, 24), &[]);
    let terminal = start.variable("EDITOR", editor.to_str().unwrap()).start();
    is_read(&terminal);
    terminal.press(b"y");
    terminal.wait_for("copied 1 line");
    // "prompt 0"
    let bytes = terminal.bytes();
    let wanted = b"\x1b]52;c;cHJvbXB0IDA=\x07";
    assert!(bytes.windows(wanted.len()).any(|part| part == wanted));
    // A message does not hide the effect of the next key.
    terminal.press(b"/zzz\r");
    terminal.wait_for("/zzz  not found");
    terminal.press(b"\x1b");
    // Sent together they would be another key.
    wait_until("the end of the search", || {
        !terminal.text().contains("not found")
    });
    terminal.press(b"v");
    let edited = run.folder().join("edited");
    wait_until("the editor", || edited.exists());
    wait_until("the text", || {
        std::fs::read_to_string(&edited).unwrap() == "prompt 0\n"
    });
    wait_until("the screen", || terminal.is_alternate());
    wait_for_mark(&terminal, "▌ › prompt 0");
}

#[test]
fn nothing_is_written_when_nothing_changes() {
    let run = Run::of(&long(5));
    let terminal = run.open((80, 24));
    let before = terminal.wait_for_quiet();
    // Keys without effect write nothing; the last one reports.
    terminal.press(b"kkggy");
    terminal.wait_for("copied 1 line");
    let bytes = terminal.bytes();
    let written = String::from_utf8_lossy(&bytes[before..]).into_owned();
    assert!(!written.contains("prompt"), "{written:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let run = Run::of(&long(1));
    let path = run.path.to_str().unwrap();
    let output = unspool(&["view", path]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("unspool show"), "{said}");
    let path = run.folder().join("missing.jsonl");
    let mut missing = Start::unspool((80, 24), &["view", path.to_str().unwrap()]).start();
    assert_eq!(missing.end().code(), Some(2));
    assert!(missing.text().contains("cannot read"));
    assert!(!missing.is_alternate());
}

#[test]
fn piped_input_can_be_exported() {
    let run = Run::of(&long(3));
    let folder = run.folder().to_str().unwrap();
    let script = format!("cd {folder} && (cat run.jsonl; sleep 600) | {UNSPOOL} view");
    let start = Start::program((80, 24), "/bin/sh", &["-c", &script]);
    let terminal = start.variable("HOME", folder).start();
    terminal.wait_for("answer 2");
    terminal.press(b"x");
    terminal.wait_for("wrote run.html");
    let page = std::fs::read_to_string(run.folder().join("run.html")).unwrap();
    assert!(page.contains("prompt 0") && page.contains("answer 2"));
    terminal.press(b"q");
    wait_until("the end", || terminal.is_restored());
}

/// Returns the first of these words on the screen with the escape code before it.
fn code_of(painted: &str, words: &str) -> String {
    let before = painted.split(words).next().unwrap();
    let codes = before.rsplit_once("\u{1b}[0m").unwrap().1;
    codes.replace("\u{1b}[", "").replace('m', " ")
}

#[test]
fn the_current_match_stands_out() {
    for theme in ["dark", "mono"] {
        let run = Run::of(&long(3));
        let path = run.path.to_str().unwrap();
        let start = Start::unspool((80, 110), &["view", "--theme", theme, path]);
        let terminal = start.start();
        is_read(&terminal);
        terminal.press(b"/prompt\r");
        terminal.wait_for("1 of 3 entries");
        let looks = || {
            let painted = terminal.painted();
            let rows: Vec<&str> = painted
                .lines()
                .filter(|row| row.contains("prompt"))
                .collect();
            let rows = rows.into_iter().filter(|row| row.contains('›'));
            rows.map(|row| code_of(row, "prompt")).collect::<Vec<_>>()
        };
        let first = looks();
        assert_eq!(first.len(), 3, "{first:?}");
        assert_ne!(first[0], first[1], "{theme}");
        assert_eq!(first[1], first[2], "{theme}");
        terminal.press(b"n");
        terminal.wait_for("2 of 3 entries");
        wait_until("another one that stands out", || {
            let next = looks();
            next[1] == first[0] && next[0] == first[1] && next[2] == first[1]
        });
    }
}

#[test]
fn a_letter_in_the_palette_is_typed() {
    let run = Run::of(&long(1));
    let mut terminal = run.open((80, 24));
    terminal.press(b":q");
    terminal.wait_for(":q");
    assert!(terminal.is_alternate());
    terminal.press(b"uit\r");
    assert_eq!(terminal.end().code(), Some(0));
}
