//! `unspool follow`: files that grow, are cut, replaced, rotated, or come
//! later.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};

use crate::terminal::Start;
use crate::world::{corpus, session, text, turn_end, unspool, wait_until};

/// `unspool follow` into a pipe.
struct Follower {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Follower {
    fn new(arguments: &[&str], home: &Path) -> Self {
        let mut words = vec!["follow", "--width", "80"];
        words.extend(arguments);
        let mut child = unspool(&words)
            .env("HOME", home)
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (stdout, into) = (child.stdout.take().unwrap(), Arc::clone(&lines));
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                into.lock().unwrap().push(line.unwrap());
            }
        });
        Self { child, lines }
    }

    fn of(path: &Path) -> Self {
        Self::new(&[path.to_str().unwrap()], path.parent().unwrap())
    }

    /// The messages so far.
    fn messages(&self) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .filter_map(|line| line.strip_prefix("• ").map(str::to_owned))
            .collect()
    }

    #[track_caller]
    fn wait_for(&self, message: &str) {
        wait_until(message, || {
            self.messages().iter().any(|line| line == message)
        });
    }

    /// Ctrl-C.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        wait_until("the end", || self.child.try_wait().unwrap().is_some());
        (self.child.wait().unwrap().code(), self.messages())
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives the program time to look at a file in between. The result is the same if it
/// does not.
fn pause() {
    thread::sleep(Duration::from_millis(250));
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

fn session_file() -> (TempDir, std::path::PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    (folder, path)
}

#[test]
fn what_is_added_is_shown_and_ctrl_c_is_the_way_out() {
    let (_folder, path) = session_file();
    append(&path, &(session() + &text("a", "one")));
    let follower = Follower::of(&path);
    follower.wait_for("one");
    let line = text("b", "two");
    let (begin, rest) = line.split_at(20);
    append(&path, begin);
    pause();
    append(&path, rest);
    follower.wait_for("two");
    assert_eq!(
        follower.end(),
        (Some(0), vec!["one".to_owned(), "two".to_owned()])
    );
}

#[test]
fn a_file_that_appears_later() {
    let (folder, path) = session_file();
    let follower = Follower::of(&path);
    pause();
    append(&path, &(session() + &text("a", "late")));
    follower.wait_for("late");
    follower.end();
    // The same for a folder.
    let follower = Follower::new(&["later/session.jsonl"], folder.path());
    pause();
    fs::create_dir(folder.path().join("later")).unwrap();
    append(
        &folder.path().join("later/session.jsonl"),
        &(session() + &text("a", "later")),
    );
    follower.wait_for("later");
    follower.end();
}

#[test]
fn a_file_that_is_cut_begins_anew() {
    let (_folder, path) = session_file();
    append(&path, &(session() + &text("a", "one") + &text("b", "two")));
    let follower = Follower::of(&path);
    follower.wait_for("two");
    File::create(&path).unwrap();
    pause();
    append(&path, &(session() + &text("c", "three")));
    follower.wait_for("three");
    assert_eq!(follower.end().1, ["one", "two", "three"]);
}

#[test]
fn another_run_in_the_same_file_is_shown_as_a_whole() {
    let (_folder, path) = session_file();
    append(&path, &(session() + &text("a", "one") + &text("b", "two")));
    let follower = Follower::of(&path);
    follower.wait_for("two");
    let other = session() + &text("a", "other") + &text("b", "two") + &text("c", "end");
    fs::write(&path, other).unwrap();
    follower.wait_for("end");
    assert_eq!(follower.end().1, ["one", "two", "other", "two", "end"]);
}

#[test]
fn a_file_that_is_cut_and_longer_at_once() {
    let (_folder, path) = session_file();
    append(&path, &(session() + &text("a", "one")));
    let follower = Follower::of(&path);
    follower.wait_for("one");
    // Written anew in place, between two looks at it.
    let other = session() + &text("x", "a message that is much longer") + &text("y", "end");
    fs::write(&path, other).unwrap();
    follower.wait_for("end");
    assert_eq!(
        follower.end().1,
        ["one", "a message that is much longer", "end"]
    );
}

#[test]
fn a_file_that_is_replaced_shows_only_what_is_new() {
    let (folder, path) = session_file();
    let begin = session() + &text("a", "one") + &text("b", "two");
    append(&path, &begin);
    let follower = Follower::of(&path);
    follower.wait_for("two");
    let other = folder.path().join("other");
    append(&other, &(begin + &text("c", "three")));
    fs::rename(&other, &path).unwrap();
    follower.wait_for("three");
    assert_eq!(follower.end().1, ["one", "two", "three"]);
}

#[test]
fn a_file_that_is_rotated_loses_nothing() {
    let (folder, path) = session_file();
    append(&path, &(session() + &text("a", "one")));
    let follower = Follower::of(&path);
    follower.wait_for("one");
    append(&path, &text("b", "two"));
    let moved = folder.path().join("session.jsonl.1");
    fs::rename(&path, &moved).unwrap();
    append(&moved, &text("c", "three"));
    pause();
    append(&path, &(session() + &text("d", "four")));
    follower.wait_for("four");
    append(&path, &text("e", "five"));
    follower.wait_for("five");
    assert_eq!(follower.end().1, ["one", "two", "three", "four", "five"]);
}

/// A chat of Gemini CLI with these answers.
fn document(answers: &[&str]) -> String {
    let messages: Vec<String> = answers
        .iter()
        .enumerate()
        .map(|(id, text)| {
            format!(
                "    {{\n      \"id\": \"{id}\",\n      \"timestamp\": \"2026-11-15T10:00:0{id}.000Z\",\n      \
                 \"type\": \"gemini\",\n      \"content\": \"{text}\",\n      \"model\": \"gemini-3-pro\"\n    }}"
            )
        })
        .collect();
    format!(
        "{{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"startTime\": \"2026-11-15T10:00:00.000Z\",\n  \
         \"lastUpdated\": \"2026-11-15T10:00:09.000Z\",\n  \"messages\": [\n{}\n  ]\n}}\n",
        messages.join(",\n")
    )
}

#[test]
fn a_document_that_is_written_as_a_whole() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("session-x.json");
    fs::write(&path, document(&["one"])).unwrap();
    let follower = Follower::of(&path);
    follower.wait_for("one");
    // Found half written, then whole.
    let next = document(&["one", "two"]);
    fs::write(&path, &next.as_bytes()[..next.len() - 30]).unwrap();
    pause();
    fs::write(&path, &next).unwrap();
    follower.wait_for("two");
    fs::write(&path, document(&["one", "two", "three"])).unwrap();
    follower.wait_for("three");
    assert_eq!(follower.end().1, ["one", "two", "three"]);
}

#[test]
fn a_document_that_changes_in_its_middle_is_not_shown_again() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("session-x.json");
    fs::write(&path, document(&["one", "two", "three"])).unwrap();
    let follower = Follower::of(&path);
    follower.wait_for("three");
    fs::write(&path, document(&["one", "other", "three", "four"])).unwrap();
    follower.wait_for("four");
    assert_eq!(follower.end().1, ["one", "two", "three", "other", "four"]);
}

#[test]
fn a_rotated_file_keeps_its_last_line_without_an_end() {
    let (folder, path) = session_file();
    append(&path, &(session() + &text("a", "one")));
    let follower = Follower::of(&path);
    follower.wait_for("one");
    append(&path, text("b", "two").trim_end());
    pause();
    fs::rename(&path, folder.path().join("session.jsonl.1")).unwrap();
    append(&path, &(session() + &text("c", "three")));
    follower.wait_for("three");
    assert_eq!(follower.end().1, ["one", "two", "three"]);
}

#[test]
fn what_is_followed_is_said() {
    let folder = tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let path = folder.path().join("session.jsonl");
    let terminal = Start::unspool((120, 24), &["follow", name]).start();
    terminal.wait_for(&format!("Waiting for a session to appear in {name}"));
    append(&path, &(session() + &text("a", "one")));
    terminal.wait_for("• one");
    terminal.wait_for(&format!("┆ Following {}", path.display()));
    File::create(&path).unwrap();
    terminal.wait_for("session.jsonl was truncated");
    let other = folder.path().join("other");
    append(&other, &(session() + &text("a", "one") + &text("b", "two")));
    fs::rename(&other, &path).unwrap();
    terminal.wait_for("session.jsonl was replaced");
    terminal.wait_for("• two");
    assert_eq!(terminal.text().matches("• one").count(), 1);
    // One that is named is not repeated, the newest of a folder is.
    let terminal = Start::unspool((120, 24), &["follow", path.to_str().unwrap()]).start();
    terminal.wait_for("• two");
    assert!(
        !terminal.text().contains("Following"),
        "{}",
        terminal.text()
    );
    let terminal = Start::unspool((120, 24), &["follow", name]).start();
    terminal.wait_for(&format!("Following {}", path.display()));
}

#[test]
fn the_newest_session_is_found() {
    let home = tempdir().unwrap();
    let minutes = |ago: u64| SystemTime::now() - Duration::from_secs(60 * ago);
    for (name, ago) in [
        (".claude/projects/-p/old.jsonl", 9),
        (".claude/projects/-p/new.jsonl", 5),
        (".codex/sessions/2026/11/15/rollout-x.jsonl", 2),
        ("backup/run.jsonl", 1),
    ] {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        append(&path, &(session() + &text("a", name)));
        let times = FileTimes::new().set_modified(minutes(ago));
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_times(times)
            .unwrap();
    }
    let of = |arguments: &[&str]| {
        let follower = Follower::new(arguments, home.path());
        wait_until("a session", || !follower.messages().is_empty());
        follower.end().1
    };
    assert_eq!(of(&[]), [".codex/sessions/2026/11/15/rollout-x.jsonl"]);
    assert_eq!(
        of(&["--latest", "claude"]),
        [".claude/projects/-p/new.jsonl"]
    );
    assert_eq!(of(&["--in", "backup"]), ["backup/run.jsonl"]);
    assert_eq!(of(&[".claude"]), [".claude/projects/-p/new.jsonl"]);
    // What is written last but holds no session is none.
    append(&home.path().join(".claude/projects/-p/none.jsonl"), "{}\n");
    assert_eq!(
        of(&["--latest", "claude"]),
        [".claude/projects/-p/new.jsonl"]
    );
    let nothing = unspool(&["follow", "--latest", "gemini"])
        .env("HOME", home.path())
        .output();
    assert_eq!(nothing.unwrap().status.code(), Some(2));
}

#[test]
fn on_a_terminal_it_waits_without_a_trace() {
    let (_folder, path) = session_file();
    append(&path, &(session() + &text("a", "one") + &turn_end()));
    let mut terminal = Start::unspool((80, 24), &["follow", path.to_str().unwrap()]).start();
    terminal.wait_for("• one");
    append(&path, &text("b", "two"));
    terminal.wait_for("• two");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(terminal.lines(), ["• one", "", "• two"]);
    assert!(terminal.shows_cursor());
}

#[test]
fn a_session_is_followed_by_its_id() {
    let home = tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let recorded = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let path = folder.join("f6c4d2aa.jsonl");
    fs::write(&path, &recorded).unwrap();
    let follower = Follower::new(&["f6c4"], home.path());
    wait_until("the answer", || !follower.messages().is_empty());
    let before = follower.messages().len();
    let answer = recorded
        .lines()
        .rfind(|line| line.contains("\"type\":\"assistant\"") && line.contains("\"text\""))
        .unwrap();
    let answer = answer
        .replace("msg_", "msg_2")
        .replace("\"uuid\":\"", "\"uuid\":\"2");
    append(&path, &(answer + "\n"));
    wait_until("another answer", || follower.messages().len() > before);
    assert_eq!(follower.end().0, Some(0));
}

#[test]
fn a_session_in_a_database_is_followed_by_its_id() {
    let home = tempdir().unwrap();
    let folder = home.path().join(".local/share/opencode");
    fs::create_dir_all(&folder).unwrap();
    let recorded = corpus("opencode/command/command.session/opencode.db");
    let path = folder.join("opencode.db");
    fs::copy(recorded, &path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    let id: String = database
        .query_row(
            "SELECT id FROM session WHERE parent_id IS NULL",
            [],
            |row| row.get(0),
        )
        .unwrap();
    // A newer session, in which nothing was said.
    let columns: Vec<String> = database
        .prepare("SELECT name FROM pragma_table_info('session')")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let values = columns.iter().map(|name| match name.as_str() {
        "id" => "'ses_newer'".to_owned(),
        "time_created" => "time_created + 1000".to_owned(),
        "slug" => "'newer'".to_owned(),
        name => name.to_owned(),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let columns = columns.join(", ");
    let insert =
        format!("INSERT INTO session ({columns}) SELECT {values} FROM session WHERE id = ?1");
    database.execute(&insert, [&id]).unwrap();
    drop(database);
    let follower = Follower::new(&[&id], home.path());
    wait_until("an answer", || !follower.messages().is_empty());
    assert_eq!(follower.end().0, Some(0));
}
