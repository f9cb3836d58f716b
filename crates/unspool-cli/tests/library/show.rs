//! Sessions by their ids.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::world::{Home, corpus, field};

const CLAUDE: &str = "f3c28766-9691-4504-8054-ccb9e43462e9";

#[test]
fn a_session_is_shown_by_its_id_as_by_its_file() {
    let home = Home::of_all();
    let path = home
        .path(".claude/projects/-home-user-project")
        .join(format!("{CLAUDE}.jsonl"));
    let by_file = home.run(&[path.to_str().unwrap()]);
    assert_eq!(by_file.status, Some(0));
    assert!(by_file.stdout.contains("Tidy up the greeter package"));
    for arguments in [
        &["show", CLAUDE] as &[&str],
        &["show", "f3c"],
        &["F3C28"],
        &["show", "f"],
    ] {
        assert_eq!(home.run(arguments).stdout, by_file.stdout, "{arguments:?}");
    }
    let file = home.run(&["show", path.to_str().unwrap(), "--display", "text"]);
    let id = home.run(&["f3c28", "--display", "text"]);
    assert_eq!((id.stdout.len() > 100, &id.stdout), (true, &file.stdout));
    let events = home.run(&["events", path.to_str().unwrap()]);
    assert_eq!(home.run(&["events", "f3c"]).stdout, events.stdout);
    assert!(events.stdout.starts_with("{\"kind\":\"session\""));
    let raw = home.run(&["show", "f3c", "--raw"]);
    assert_eq!(raw.stdout, fs::read_to_string(path).unwrap());
}

#[test]
fn every_session_of_the_list_can_be_shown() {
    let home = Home::of_all();
    for session in home.sessions(&[]) {
        let id = session["id"].as_str().unwrap();
        let shown = home.run(&["show", id]);
        assert_eq!(shown.status, Some(0), "{id}: {}", shown.stderr);
        let prompt = session["prompt"].as_str().unwrap();
        let words: Vec<&str> = prompt.split_whitespace().take(2).collect();
        assert!(
            shown.stdout.contains(&words.join(" ")),
            "{id}: {}",
            shown.stdout
        );
    }
}

#[test]
fn what_means_none_or_several_is_an_error() {
    let home = Home::of_all();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    for id in ["f3aa", "f3bb"] {
        let session = session.replace("f6c4d2aa", id);
        home.write(&format!(".claude/projects/-p/{id}.jsonl"), session);
    }
    let several = home.run(&["show", "f3"]);
    assert_eq!((several.status, several.stdout.as_str()), (Some(2), ""));
    for id in [CLAUDE, "f3aa", "f3bb"] {
        assert!(
            several.stderr.contains(&format!("\n  {id}")),
            "{}",
            several.stderr
        );
    }
    let none = home.run(&["show", "beefbeef"]);
    assert_eq!(none.status, Some(2));
    assert!(
        none.stderr.contains("no session has the id beefbeef"),
        "{}",
        none.stderr
    );
    let no_file = home.run(&["missing.jsonl"]);
    assert!(
        no_file.stderr.contains("cannot read missing.jsonl"),
        "{}",
        no_file.stderr
    );
    // A file is a file, whatever it is called.
    fs::write(
        home.path("project/f3aa"),
        "{\"kind\":\"text\",\"text\":\"from the file\"}\n",
    )
    .unwrap();
    assert!(home.run(&["f3aa"]).stdout.contains("from the file"));
}

#[test]
fn the_newest_is_shown() {
    let home = Home::of_all();
    // What it tells itself decides, not when the file was copied.
    let gemini = ".gemini/tmp/project/chats/session-2026-11-15T18-16-33fb7648.jsonl";
    let text = fs::read_to_string(home.path(gemini)).unwrap();
    let file = fs::File::options().write(true).open(home.path(gemini));
    home.write(gemini, text.replace("2026-11-15T", "2026-11-16T"));
    let earlier = SystemTime::now() - Duration::from_mins(15);
    file.unwrap().set_modified(earlier).unwrap();
    let newest = home.run(&["show", "--latest"]);
    assert!(
        newest
            .stdout
            .contains("Make split_words ignore punctuation"),
        "{}",
        newest.stderr
    );
    let claude = home.run(&["show", "--latest", "claude"]);
    assert!(claude.stdout.contains("Tidy up the greeter package"));
    let both = home.run(&["show", "--latest", "claude", "f3c"]);
    assert_eq!(both.status, Some(2));
    assert_eq!(home.run(&["show", "--latest", "nobody"]).status, Some(2));
    let empty = Home::new();
    for (arguments, agent) in [
        (&["show", "--latest"][..], "any agent"),
        (&["show", "--latest", "codex"], "codex"),
        (&["follow", "--latest", "codex"], "codex"),
    ] {
        let none = empty.run(arguments);
        assert_eq!(none.status, Some(2));
        let words = format!("found no session of {agent} on this machine");
        assert!(none.stderr.contains(&words), "{}", none.stderr);
        assert!(none.stderr.contains("\n  codex  "), "{}", none.stderr);
        let has_others = none.stderr.contains("\n  claude ");
        assert_eq!(has_others, agent == "any agent", "{}", none.stderr);
    }
}

#[test]
fn the_latest_of_files_of_one_moment_is_the_one_that_is_listed_first() {
    let hello = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    for (early, late) in [("a", "b"), ("b", "a")] {
        let home = Home::new();
        for (name, year) in [(early, "2024-"), (late, "2025-")] {
            let text = hello
                .replace("2026-", year)
                .replace("\"sessionId\":\"", &format!("\"sessionId\":\"{name}"))
                .replace("Say hello", &format!("Say {year}hello"));
            let path = home.write(&format!(".claude/projects/-p/{name}.jsonl"), text);
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        }
        let shown = home.run(&["show", "--latest"]).stdout;
        assert!(shown.contains("Say 2025-hello"), "{shown}");
    }
}

#[test]
fn ids_and_files_choose_in_lists_too() {
    let home = Home::of_all();
    let one = home.sessions(&["f3c"]);
    assert_eq!(field(&one, "id"), [CLAUDE]);
    let path = one[0]["path"].as_str().unwrap();
    assert_eq!(field(&home.sessions(&[path]), "id"), [CLAUDE]);
    let both = field(&home.sessions(&["f3c", "01a1"]), "agent");
    assert_eq!(both.len(), 2);
    assert_eq!(home.stats("total", "", &["f3c"])["sessions"], 1);
    let stranger = corpus("claude/hello/hello.session.jsonl");
    let stranger = home.sessions(&[stranger.to_str().unwrap()]);
    assert_eq!(field(&stranger, "prompt"), ["Say hello in one sentence."]);
}

#[test]
fn the_id_of_a_sub_agent_leads_to_its_session() {
    let home = Home::of_all();
    for (sub_agent, session) in [
        ("ad390c01", CLAUDE),
        ("01a1e06d-2a08", "01a1e06d-237f-7d01-8624-d4ad3ffd1919"),
        ("7d917026", "33fb7648-f46c-48ac-a94d-a177fcd8b1ac"),
        (
            "general-purpose-call",
            "968eb64f-c4b5-4887-8e1b-3ae223da4d8e",
        ),
    ] {
        let ran = home.run(&["show", sub_agent]);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (Some(2), ""),
            "{sub_agent}"
        );
        let said = format!(
            "{sub_agent} is a sub-agent: it is shown in its session, unspool show {session}"
        );
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
    let database = home.path(".local/share/opencode/opencode.db");
    let database = rusqlite::Connection::open(database).unwrap();
    let query = "SELECT id, parent_id FROM session WHERE parent_id IS NOT NULL";
    let (child, parent): (String, String) = database
        .query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let ran = home.run(&["export", &child, "--to", "text"]);
    let said = format!("unspool show {parent}");
    assert!(ran.stderr.contains(&said), "{}", ran.stderr);
}
