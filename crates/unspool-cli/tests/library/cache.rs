//! The cache: only changed files are read again, a cache that cannot
//! be used does no harm, and several programs may use it at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use rusqlite::Connection;

use crate::world::{Home, Ran, corpus, field};

const CACHE: &str = ".cache/unspool/library.db";

fn hello() -> String {
    fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap()
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let home = Home::of_all();
    let first = home.run(&["sessions", "--verbose"]);
    assert!(
        first.stderr.contains("9 files found, 9 of them read"),
        "{}",
        first.stderr
    );
    let second = home.run(&["sessions", "--verbose"]);
    assert!(
        second.stderr.contains("9 files found, 0 of them read"),
        "{}",
        second.stderr
    );
    assert_eq!(second.stdout, first.stdout);
}

#[test]
fn nobody_else_reads_what_is_kept() {
    let home = Home::of_all();
    let mode = |below: &str| {
        let metadata = fs::metadata(home.path(below)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    home.run(&["sessions", "search", "hello"]);
    assert_eq!(mode(".cache/unspool"), 0o700);
    for name in ["library.db", "words.db"] {
        let path = format!(".cache/unspool/{name}");
        assert_eq!(mode(&path), 0o600, "{name}");
        fs::set_permissions(home.path(&path), fs::Permissions::from_mode(0o644)).unwrap();
    }
    home.run(&["sessions", "search", "hello"]);
    for name in ["library.db", "words.db"] {
        assert_eq!(mode(&format!(".cache/unspool/{name}")), 0o600, "{name}");
    }
}

#[test]
fn size_and_time_decide_whether_a_file_changed() {
    let home = Home::new();
    let path = home.write(".claude/projects/-p/a.jsonl", hello());
    assert_eq!(
        field(&home.sessions(&[]), "prompt"),
        ["Say hello in one sentence."]
    );
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let other = hello().replace("Say hello in", "Say no! ! in");
    fs::write(&path, other).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    // Nobody changes a file like this; it shows that the file is not opened.
    assert_eq!(
        field(&home.sessions(&[]), "prompt"),
        ["Say hello in one sentence."]
    );
    file.set_modified(modified + std::time::Duration::from_millis(1))
        .unwrap();
    assert_eq!(
        field(&home.sessions(&[]), "prompt"),
        ["Say no! ! in one sentence."]
    );
    fs::remove_file(&path).unwrap();
    assert!(home.sessions(&[]).is_empty());
    let rows: i64 = Connection::open(home.path(CACHE))
        .unwrap()
        .query_row("SELECT count(*) FROM session", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}

#[test]
fn a_sub_agents_record_changes_its_session() {
    let home = Home::of_all();
    let read = |home: &Home| {
        home.run(&["sessions", "--verbose", "--agent", "claude"])
            .stderr
    };
    read(&home);
    assert!(read(&home).contains(" 0 of them read"));
    let below = ".claude/projects/-home-user-project/f3c28766-9691-4504-8054-ccb9e43462e9";
    let path = home
        .path(below)
        .join("subagents/agent-ad390c01cc4bc0893.jsonl");
    let record = fs::read_to_string(&path).unwrap();
    fs::write(&path, record + "\n").unwrap();
    assert!(read(&home).contains(" 1 of them read"));
}

#[test]
fn a_cache_that_cannot_be_used_is_made_anew() {
    let home = Home::of_all();
    let expected = home.run(&["sessions"]).stdout;
    let break_it: [&dyn Fn(); 4] = [
        &|| fs::write(home.path(CACHE), "this is no database").unwrap(),
        &|| fs::write(home.path(CACHE), "").unwrap(),
        &|| {
            let mut bytes = fs::read(home.path(CACHE)).unwrap();
            bytes[4096..].fill(0xAB);
            fs::write(home.path(CACHE), bytes).unwrap();
        },
        &|| {
            let cache = Connection::open(home.path(CACHE)).unwrap();
            cache.pragma_update(None, "user_version", 4711).unwrap();
        },
    ];
    for (number, break_it) in break_it.iter().enumerate() {
        break_it();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(home.path(&format!("{CACHE}{suffix}")));
        }
        let ran = home.run(&["sessions"]);
        assert_eq!(
            (ran.stdout, ran.stderr, ran.status),
            (expected.clone(), String::new(), Some(0)),
            "{number}"
        );
        let again = home.run(&["sessions", "--verbose"]);
        assert!(
            again.stderr.contains(" 0 of them read"),
            "{number}: {}",
            again.stderr
        );
    }
}

#[test]
fn it_works_without_a_cache() {
    let home = Home::of_all();
    let expected = home.run(&["sessions"]).stdout;
    let total = home.stats("total", "", &[]);
    let without = |arguments: &[&str]| {
        let mut command = home.unspool(arguments);
        Ran::of(
            command
                .env("UNSPOOL_CACHE_DIR", "/dev/null/cache")
                .output()
                .unwrap(),
        )
    };
    let ran = without(&["sessions"]);
    assert_eq!((ran.stdout, ran.stderr), (expected, String::new()));
    let told = without(&["sessions", "--verbose"]).stderr;
    assert!(told.contains("the cache cannot be written"), "{told}");
    let stats = without(&["stats", "--json"]).stdout;
    let first: serde_json::Value = serde_json::from_str(stats.lines().next().unwrap()).unwrap();
    assert_eq!(first, total);
}

#[test]
fn the_folder_may_be_named() {
    let home = Home::of_all();
    let folder = home.path("kept here");
    let mut command = home.unspool(&["sessions"]);
    command.env("UNSPOOL_CACHE_DIR", &folder).output().unwrap();
    assert!(folder.join("library.db").exists());
    assert!(!home.path(CACHE).exists());
}

#[test]
fn several_programs_may_look_at_once() {
    let home = Home::of_all();
    for number in 0..200 {
        let session = hello().replace("f6c4d2aa", &format!("{number:08x}"));
        home.write(&format!(".claude/projects/-many/{number}.jsonl"), session);
    }
    let start = |mut command: Command| {
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let started: Vec<_> = (0..4)
        .map(|_| start(home.unspool(&["sessions", "--json"])))
        .collect();
    let ran: Vec<Ran> = started
        .into_iter()
        .map(|child| Ran::of(child.wait_with_output().unwrap()))
        .collect();
    for one in &ran {
        assert_eq!((one.stderr.as_str(), one.status), ("", Some(0)));
        assert_eq!(one.stdout.lines().count(), 207);
        assert_eq!(one.stdout, ran[0].stdout);
    }
    let cache = Connection::open(home.path(CACHE)).unwrap();
    let check: String = cache
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    assert!(
        home.run(&["sessions", "--verbose"])
            .stderr
            .contains(" 0 of them read")
    );
}

#[test]
fn a_database_that_was_replaced_is_read_though_its_times_are_the_same() {
    let home = Home::of_all();
    let path = home.path(".local/share/opencode/opencode.db");
    let title = |to: &str, path: &std::path::Path| {
        let database = Connection::open(path).unwrap();
        let title = format!("UPDATE session SET title = '{to}' WHERE parent_id IS NULL");
        database.execute_batch(&title).unwrap();
    };
    let listed = || field(&home.sessions(&["--agent", "opencode"]), "title").join(" ");
    title("First of all", &path);
    assert!(listed().contains("First of all"), "{}", listed());
    let found = |word: &str| home.run(&["sessions", "search", word]).status == Some(0);
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    let same_times = |path: &std::path::Path| {
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(times).unwrap();
    };
    let word = |to: &str, path: &std::path::Path| {
        let database = Connection::open(path).unwrap();
        let data = format!(r#"{{"type":"text","text":"{to}"}}"#);
        database
            .execute(
                "UPDATE part SET data = ?1 WHERE id = (SELECT min(id) FROM part)",
                [data],
            )
            .unwrap();
    };
    assert!(!found("zweitens"));
    // Another file in its place.
    let other = home.path("project/other.db");
    fs::copy(&path, &other).unwrap();
    title("Second of", &other);
    word("zweitens", &other);
    same_times(&other);
    fs::rename(&other, &path).unwrap();
    assert!(listed().contains("Second of"), "{}", listed());
    assert!(found("zweitens"));
    // Something else in the same file.
    title("Third of all", &path);
    same_times(&path);
    assert!(listed().contains("Third of all"), "{}", listed());
}

#[test]
fn words_are_found_also_where_no_index_can_be_kept() {
    let home = Home::of_all();
    home.write("file", "in the way");
    let usual = home
        .run(&["sessions", "search", "greeter", "--json"])
        .stdout;
    let mut command = home.unspool(&["sessions", "search", "greeter", "--json"]);
    command.env("UNSPOOL_CACHE_DIR", home.path("file/cache"));
    let temporary = home.path("temporary");
    fs::create_dir(&temporary).unwrap();
    command.env("TMPDIR", &temporary);
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(!usual.is_empty());
    assert_eq!(ran.stdout, usual);
    assert!(ran.stderr.contains("for this search"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
