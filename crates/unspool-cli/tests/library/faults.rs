//! Files that cannot be read: the others are listed, and a line says what was
//! skipped and why.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;

use crate::world::{Home, corpus, listing};

fn hello() -> String {
    fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap()
}

#[test]
fn bad_files_do_not_keep_good_ones_from_being_listed() {
    let home = Home::new();
    home.write(".claude/projects/-p/good.jsonl", hello());
    home.write(".claude/projects/-p/half.jsonl", r#"{"type":"user","mess"#);
    fs::create_dir_all(home.path(".claude/projects/-p/folder.jsonl")).unwrap();
    symlink("loop.jsonl", home.path(".claude/projects/-p/loop.jsonl")).unwrap();
    home.write(
        ".gemini/tmp/p/chats/session-a.json",
        r#"{"sessionId":"a","projectHash":"b","startTime":"2026"#,
    );
    home.write(
        ".local/share/opencode/opencode.db",
        "SQLite format 3\0 and then nothing",
    );
    home.write(
        ".codex/sessions/2026/11/15/rollout-new.jsonl",
        "{\"timestamp\":\"2031-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"n\",\"cli_version\":\"9.0\",\"cwd\":\"/p\"}}\n\
         {\"timestamp\":\"2031-01-01T00:00:01Z\",\"type\":\"hologram\",\"payload\":{\"frames\":[1]}}\n",
    );
    let ran = home.run(&["sessions"]);
    assert_eq!(ran.status, Some(0));
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    let place = format!("skipped {}/", home.path("").display());
    let told = ran.stderr.replace(&place.replace("//", "/"), "skipped ~/");
    insta::assert_snapshot!(told);
    // What is skipped is told once, and counted from then on.
    let counted = "skipped 6 as before: --verbose lists them\n";
    assert_eq!(home.run(&["sessions"]).stderr, counted);
    let new = home.write(".claude/projects/-p/new.jsonl", "{\"type\":\"user\",");
    let again = home.run(&["stats", "--json"]).stderr;
    let new = format!("skipped {}: broken", new.display());
    assert!(
        again.starts_with(counted) && again.contains(&new),
        "{again}"
    );
    let all = home.run(&["sessions", "search", "--verbose", "x"]).stderr;
    let told = all.lines().filter(|line| line.starts_with("skipped /"));
    assert_eq!(told.count(), 7, "{all}");
}

#[test]
fn what_is_no_database_of_opencode_is_called_that() {
    let home = Home::new();
    let path = home.write(".local/share/opencode/opencode.db", "just text");
    let told = || home.run(&["sessions", "--verbose"]).stderr;
    assert!(
        told().contains("opencode.db: not a database of OpenCode\n"),
        "{}",
        told()
    );
    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE notes (text)").unwrap();
    assert!(
        told().contains("opencode.db: this is not a database of OpenCode\n"),
        "{}",
        told()
    );
}

#[test]
fn an_index_that_cannot_be_opened_is_named() {
    let home = Home::new();
    home.write(".claude/projects/-p/good.jsonl", hello());
    let path = home.path(".cache/unspool/words.db");
    fs::create_dir_all(path.join("x")).unwrap();
    let ran = home.run(&["sessions", "search", "hello"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let words = format!("cannot open the index {}: ", path.display());
    assert!(ran.stderr.starts_with(&words), "{}", ran.stderr);
}

#[test]
fn a_folder_that_cannot_be_entered_is_told_about() {
    let home = Home::new();
    home.write(".claude/projects/-p/good.jsonl", hello());
    fs::create_dir_all(home.path(".codex")).unwrap();
    // A circle keeps everybody out, also who may read everything.
    symlink("sessions", home.path(".codex/sessions")).unwrap();
    let ran = home.run(&["sessions", "--json"]);
    assert_eq!(ran.stdout.lines().count(), 1);
    let words = ".codex/sessions: too many levels of symbolic links";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

#[test]
fn nothing_but_bad_files_is_a_failure() {
    let home = Home::new();
    home.write(
        ".claude/projects/-p/half.jsonl",
        "{\"type\":\"user\",\"mess",
    );
    assert_eq!(home.run(&["sessions"]).status, Some(2));
    assert_eq!(home.run(&["stats"]).status, Some(2));
    for command in ["sessions", "stats"] {
        let nothing = Home::new().run(&[command]);
        assert_eq!(nothing.status, Some(0));
        assert_eq!(nothing.stdout, "");
        assert!(nothing.stderr.contains("found no session"));
    }
}

#[test]
fn what_does_not_match_is_told_from_what_is_not_there() {
    let home = Home::of_all();
    let count = home.sessions(&[]).len();
    for command in ["sessions", "stats"] {
        let ran = home.run(&[command, "--project", "/nosuch"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""));
        assert!(ran.stderr.contains("sessions matches"), "{}", ran.stderr);
        assert!(count > 1 && !ran.stderr.contains("found no"));
    }
    let folder = home.path("in");
    fs::create_dir_all(&folder).unwrap();
    let ran = home.run(&["stats", folder.to_str().unwrap()]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("is a folder: look into it with --in"));
}

#[test]
fn a_walk_ends_whatever_the_links_lead_to() {
    let home = Home::new();
    home.write("in/a/run.jsonl", hello());
    symlink("..", home.path("in/a/up")).unwrap();
    symlink("/dev/zero", home.path("in/zero.jsonl")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(home.path("in/socket.jsonl")).unwrap();
    let folder = home.path("in");
    let ran = home.run(&["sessions", "--json", "--in", folder.to_str().unwrap()]);
    assert_eq!(ran.stdout.lines().count(), 1);
    for words in [
        "in/a/up: a link back to a folder above it",
        "in/zero.jsonl: no ordinary file",
        "in/socket.jsonl: no ordinary file",
    ] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
#[ignore = "needs user namespaces: run `cargo xtask test`"]
fn what_may_not_be_read_is_skipped_until_it_may() {
    let home = Home::new();
    home.write(".claude/projects/-p/good.jsonl", hello());
    let other = hello().replace("f6c4d2aa", "f6c4d2ab");
    let path = home.write(".claude/projects/-q/secret.jsonl", other);
    let set = |mode: u32| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    set(0o000);
    let ran = home.run_without_privileges(&["sessions", "--json"]);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("secret.jsonl: permission denied"),
        "{}",
        ran.stderr
    );
    set(0o600);
    assert_eq!(home.sessions(&[]).len(), 2);
}

#[test]
fn nothing_is_written_beside_a_database() {
    let home = Home::of_all();
    let folder = home.path(".local/share/opencode");
    let before = listing(&folder);
    assert_eq!(home.sessions(&["--agent", "opencode"]).len(), 2);
    assert_eq!(home.stats("agent", "opencode", &[])["sessions"], 2);
    assert_eq!(listing(&folder), before);
    // The same with a log that a running agent keeps.
    let writer = Connection::open(folder.join("opencode.db")).unwrap();
    writer
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
             UPDATE session SET title = 'from the log', time_updated = time_updated + 1
             WHERE parent_id IS NULL;",
        )
        .unwrap();
    let before = listing(&folder);
    assert!(before.iter().any(|line| line.contains("opencode.db-wal")));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let ran = home.run(&["sessions", "--json", "--agent", "opencode"]);
    assert!(
        ran.stdout.contains("from the log"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(listing(&folder), before);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    drop(writer);
}

#[test]
fn a_file_that_grows_while_it_is_read_is_listed() {
    let home = Home::new();
    let path = home.write(".claude/projects/-p/growing.jsonl", hello());
    let line = hello().lines().last().unwrap().to_owned() + "\n";
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            while !is_done.load(Ordering::Relaxed) {
                // Half lines too.
                let (one, two) = line.split_at(line.len() / 2);
                file.write_all(one.as_bytes()).unwrap();
                file.write_all(two.as_bytes()).unwrap();
                thread::sleep(std::time::Duration::from_micros(200));
            }
        });
        for _ in 0..10 {
            let ran = home.run(&["sessions", "--json"]);
            assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stderr);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(home.sessions(&[]).len(), 1);
    let ran = home.run(&["sessions", "--verbose"]);
    assert!(
        ran.stderr.contains("1 files found, 0 of them read"),
        "{}",
        ran.stderr
    );
}

#[test]
fn links_that_lead_in_a_circle_are_named_in_the_agents_own_place() {
    let home = Home::of_all();
    let before = home.sessions(&[]).len();
    symlink("..", home.path(".codex/sessions/2026/round")).unwrap();
    symlink("self", home.path(".claude/projects/self")).unwrap();
    let ran = home.run(&["sessions", "--json"]);
    assert_eq!(ran.status, Some(0));
    assert_eq!(ran.stdout.lines().count(), before);
    for said in [
        "2026/round: a link back to a folder above it",
        "projects/self: too many levels of symbolic links",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn a_session_that_cannot_be_read_is_no_session_that_is_not_there() {
    let home = Home::new();
    let path = home.write(".claude/projects/-p/4f2a9c11-0001.jsonl", "{\"type\":\"us");
    for command in ["show", "stats", "export"] {
        let ran = home.run(&[command, "4f2a"]);
        assert_eq!(ran.status, Some(2), "{command}");
        let said = format!("cannot read {}: broken", path.display());
        assert!(ran.stderr.contains(&said), "{command}: {}", ran.stderr);
    }
    let none = home.run(&["show", "0001x"]);
    assert!(
        none.stderr.contains("no session has the id"),
        "{}",
        none.stderr
    );
}

#[test]
fn damage_is_called_that() {
    let home = Home::new();
    let database = fs::read(corpus("opencode/command/command.session/opencode.db")).unwrap();
    let noise = |at: u32| at.wrapping_mul(2_654_435_761).to_be_bytes()[0];
    let noise: Vec<u8> = (0..200 * 4096).map(noise).collect();
    let mut damaged = database.clone();
    let end = damaged.len().min(4096 + noise.len());
    damaged[4096..end].copy_from_slice(&noise[..end - 4096]);
    let db = home.write(".local/share/opencode/opencode.db", damaged);
    let below = ".codex/sessions/2026/11/15/rollout-2026-11-15T18-18-00";
    let zst = home.write(
        &format!("{below}-01a1e06c-7777-7000-8000-000000000000.jsonl.zst"),
        [b"\x28\xb5\x2f\xfd".as_slice(), &noise[..300]].concat(),
    );
    let other = home.write(
        &format!("{below}-01a1e06c-8888-7000-8000-000000000000.jsonl.zst"),
        &noise[1..300],
    );
    let listed = home.run(&["sessions"]).stderr;
    for (path, said) in [
        (db, "it is damaged"),
        (
            zst,
            "it is compressed, and damaged or cut off: it cannot be unpacked",
        ),
        (
            other,
            "is not compressed as its name says: it may be damaged",
        ),
    ] {
        let line = format!("skipped {}: {said}\n", path.display());
        assert!(listed.contains(&line), "{listed}");
        let shown = home.run(&[path.to_str().unwrap()]);
        assert_eq!(shown.status, Some(2));
        let last = shown.stderr.trim_end();
        assert!(last.ends_with(said), "{last}");
    }
}
