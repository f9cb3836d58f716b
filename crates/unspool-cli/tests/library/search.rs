//! Words in all sessions: what is found, how it is ranked and shown, and an index
//! that is brought up to date, shared, damaged and built anew.

use std::fs;
use std::process::Stdio;

use rusqlite::Connection;
use serde_json::Value;

use crate::world::{Home, Ran, corpus, field, objects};

const INDEX: &str = ".cache/unspool/words.db";

fn search(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let ran = home.run(&[&["sessions", "search", "--json"], arguments].concat());
    assert!(matches!(ran.status, Some(0 | 1)), "{}", ran.stderr);
    objects(&ran.stdout)
}

/// The ids of the sessions that are found, sorted.
fn agents(home: &Home, arguments: &[&str]) -> Vec<String> {
    let mut agents = field(&search(home, arguments), "agent");
    agents.sort();
    agents
}

/// A session of Claude Code, laid out as `claude/hello` of the corpus is.
fn session(id: &str, prompt: &str, answer: &str) -> String {
    let hello = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let text = |text: &str| serde_json::to_string(text).unwrap();
    let (prompt, answer) = (text(prompt), text(answer));
    let user = format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u-{id}","sessionId":"{id}","cwd":"/p","version":"2.1.325","timestamp":"2026-11-15T10:00:00.000Z","message":{{"role":"user","content":{prompt}}}}}"#
    );
    let reply = format!(
        r#"{{"parentUuid":"u-{id}","isSidechain":false,"type":"assistant","uuid":"a-{id}","sessionId":"{id}","cwd":"/p","version":"2.1.325","timestamp":"2026-11-15T10:00:05.000Z","message":{{"id":"m-{id}","role":"assistant","model":"m","stop_reason":"end_turn","content":[{{"type":"text","text":{answer}}}]}}}}"#
    );
    assert!(
        hello.contains(r#""type":"assistant""#),
        "the form is that of the corpus"
    );
    format!("{user}\n{reply}\n")
}

#[test]
fn words_are_found_wherever_they_stand() {
    let home = Home::of_all();
    let all = search(&home, &["greet*", "--limit", "50"]);
    assert!(all.len() >= 2, "{all:?}");
    // In a prompt, an answer, a command, a file name, an output.
    let hello = session("one", "Where is the zebra?", "It grazes beside the gnu.");
    home.write(".claude/projects/-p/one.jsonl", hello);
    for words in [
        &["zebra"][..],
        &["gnu", "zebra"],
        &["ZEBRA"],
        &["beside the gnu"],
    ] {
        assert_eq!(field(&search(&home, words), "id"), ["one"], "{words:?}");
    }
    assert!(search(&home, &["zebra gnu"]).is_empty());
    assert!(search(&home, &["zebra", "--without", "gnu"]).is_empty());
    assert!(search(&home, &["zebra", "--agent", "codex"]).is_empty());
    let nothing = home.run(&["sessions", "search", "quagga"]);
    assert_eq!(nothing.status, Some(1));
    assert_eq!(
        nothing.stderr,
        "unspool: none of 8 sessions contains \"quagga\"\n"
    );
    assert_eq!(home.run(&["sessions", "search", "->"]).status, Some(2));
}

#[test]
fn every_agent_is_searched() {
    let home = Home::of_all();
    // What each session was about, in its own words.
    let found = agents(&home, &["the", "--limit", "50"]);
    for agent in ["aider", "claude", "codex", "gemini", "opencode", "qwen"] {
        assert!(
            found.iter().any(|name| name == agent),
            "{agent} in {found:?}"
        );
    }
}

#[test]
fn a_match_is_shown_with_what_stands_around_it() {
    let home = Home::new();
    let answer = "First line.\nThe second line has the Öffnung.\nThird \u{1b}[31mline.";
    home.write(
        ".claude/projects/-p/a.jsonl",
        session("abcdef0123", "Look\u{202e}", answer),
    );
    let ran = home.run(&["sessions", "search", "offnung"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "abcdef01  claude  2026-11-15 10:00  /p  Look\\u{202E}\n            First line.\n    said    The second line has the Öffnung.\n            Third \\x1B[31mline.\n"
    );
    let narrow = home.run(&["sessions", "search", "offnung", "--width", "40"]);
    assert!(
        narrow.stdout.lines().all(|line| line.chars().count() <= 40),
        "{}",
        narrow.stdout
    );
    let json = search(&home, &["offnung"]);
    assert_eq!(
        json[0]["matches"][0]["line"],
        "The second line has the Öffnung."
    );
    assert_eq!(json[0]["matches"][0]["in"], "said");
}

#[test]
fn a_match_keeps_its_indentation() {
    let home = Home::new();
    let answer = "```\nfn main() {\n        if needle in_hay {\n            go();\n```";
    home.write(
        ".claude/projects/-p/a.jsonl",
        session("abcdef0123", "Look", answer),
    );
    let shown = home.run(&["sessions", "search", "needle", "in_hay"]).stdout;
    let expected = "            fn main() {\n    said            if needle in_hay {\n                        go();\n";
    assert!(shown.ends_with(expected), "{shown}");
    let json = search(&home, &["needle", "in_hay"]);
    assert_eq!(json[0]["matches"][0]["line"], "        if needle in_hay {");
    assert_eq!(json[0]["matches"][0]["found"], "needle in_hay");
}

#[test]
fn chinese_and_japanese_are_found_by_their_characters() {
    let home = Home::new();
    home.write(
        ".claude/projects/-p/a.jsonl",
        session("a", "测试失败了", "テストを直しました"),
    );
    for word in ["失败", "テスト", "直し"] {
        assert_eq!(search(&home, &[word]).len(), 1, "{word}");
    }
    assert!(search(&home, &["败失"]).is_empty());
}

#[test]
fn what_was_said_ranks_before_what_was_printed() {
    let home = Home::of_all();
    // A word that most sessions have would tell nothing.
    for number in 0..20 {
        let other = session(&format!("other-{number}"), "Something else", "Nothing.");
        home.write(&format!(".claude/projects/-p/other-{number}.jsonl"), other);
    }
    home.write(
        ".claude/projects/-p/a.jsonl",
        session("said", "Inventory?", "Inventory."),
    );
    assert_eq!(search(&home, &["inventory"])[0]["id"], "said");
}

#[test]
fn words_far_apart_are_found_too() {
    let home = Home::new();
    let long = format!("begins {} ends", "filler words here\n".repeat(20_000));
    home.write(".claude/projects/-p/a.jsonl", session("a", "x", &long));
    assert_eq!(search(&home, &["begins", "ends"]).len(), 1);
    assert!(search(&home, &["begins", "never"]).is_empty());
}

#[test]
fn only_what_is_new_is_indexed() {
    let home = Home::new();
    let path = home.write(
        ".claude/projects/-p/a.jsonl",
        session("a", "walrus", "Yes."),
    );
    assert_eq!(search(&home, &["walrus"]).len(), 1);
    let passages = |home: &Home| -> Vec<i64> {
        let index = Connection::open(home.path(INDEX)).unwrap();
        let mut ids = index.prepare("SELECT id FROM passage ORDER BY id").unwrap();
        let ids = ids.query_map([], |row| row.get(0)).unwrap();
        ids.map(Result::unwrap).collect()
    };
    let before = passages(&home);
    // Nothing changed: nothing is written.
    search(&home, &["walrus"]);
    assert_eq!(passages(&home), before);
    // It grew: the old words stay, the new ones are found.
    let more = session("a", "narwhal", "No.").replace("null", "\"a-a\"");
    let more = more
        .replace("\"u-a\"", "\"u-b\"")
        .replace("\"uuid\":\"a-a\"", "\"uuid\":\"a-b\"");
    let grown = fs::read_to_string(&path).unwrap() + &more;
    fs::write(&path, grown).unwrap();
    assert!(search(&home, &["narwhal", "--no-update"]).is_empty());
    assert_eq!(search(&home, &["narwhal"]).len(), 1);
    assert_eq!(search(&home, &["walrus"]).len(), 1);
    // It was written anew: the old words are gone.
    fs::write(&path, session("a", "seal", "No.")).unwrap();
    assert!(search(&home, &["narwhal"]).is_empty());
    assert_eq!(search(&home, &["seal"]).len(), 1);
    // It is gone.
    fs::remove_file(&path).unwrap();
    home.write(".claude/projects/-p/b.jsonl", session("b", "otter", "No."));
    assert!(search(&home, &["seal"]).is_empty());
    assert_eq!(search(&home, &["otter"]).len(), 1);
    let index = Connection::open(home.path(INDEX)).unwrap();
    let sessions: i64 = index
        .query_row("SELECT count(*) FROM session", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sessions, 1);
}

#[test]
fn a_damaged_index_is_built_anew() {
    let home = Home::of_all();
    let expected = search(&home, &["the", "--limit", "50"]).len();
    let break_it: [&dyn Fn(); 4] = [
        &|| fs::write(home.path(INDEX), "this is no database").unwrap(),
        &|| fs::write(home.path(INDEX), "").unwrap(),
        &|| {
            let mut bytes = fs::read(home.path(INDEX)).unwrap();
            bytes[4096..].fill(0xAB);
            fs::write(home.path(INDEX), bytes).unwrap();
        },
        &|| {
            let index = Connection::open(home.path(INDEX)).unwrap();
            index.pragma_update(None, "user_version", 4711).unwrap();
        },
    ];
    for (number, break_it) in break_it.iter().enumerate() {
        break_it();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(home.path(&format!("{INDEX}{suffix}")));
        }
        let found = search(&home, &["the", "--limit", "50"]).len();
        assert_eq!(found, expected, "{number}");
    }
}

#[test]
fn several_programs_may_index_and_search_at_once() {
    let home = Home::of_all();
    for number in 0..100 {
        let text = session(&format!("{number:08x}"), "pangolin", "Yes.");
        home.write(&format!(".claude/projects/-many/{number}.jsonl"), text);
    }
    let started: Vec<_> = (0..4)
        .map(|_| {
            home.unspool(&["sessions", "search", "pangolin", "--json", "--limit", "500"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in started {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.stderr.as_str(), ran.status), ("", Some(0)));
        assert_eq!(ran.stdout.lines().count(), 100);
    }
    let index = Connection::open(home.path(INDEX)).unwrap();
    let check: String = index
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    let words = "INSERT INTO words (words) VALUES ('integrity-check')";
    index.execute(words, []).unwrap();
}

#[test]
fn the_index_can_be_made_beforehand_and_killed_in_between() {
    let home = Home::of_all();
    for number in 0..300 {
        let text = session(&format!("{number:08x}"), "capybara", &"words ".repeat(3000));
        home.write(&format!(".claude/projects/-many/{number}.jsonl"), text);
    }
    let mut child = home
        .unspool(&["sessions", "index", "--quiet"])
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(150));
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = home.run(&["sessions", "index"]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (Some(0), "307 sessions are indexed\n")
    );
    let found = search(&home, &["capybara", "--no-update", "--limit", "500"]);
    assert_eq!(found.len(), 300);
}

#[test]
fn reports_more_matches_and_an_empty_index() {
    let home = Home::of_all();
    let search = |arguments: &[&str]| home.run(&[&["sessions", "search"], arguments].concat());
    let none = search(&["the", "--no-update"]);
    assert_eq!((none.status, none.stdout.as_str()), (Some(1), ""));
    let said = "unspool: nothing is indexed yet: search without --no-update, or run `unspool sessions index`\n";
    assert_eq!(none.stderr, said);
    let cut = search(&["the", "--json", "--limit", "2"]);
    assert_eq!(cut.stdout.lines().count(), 2);
    assert!(
        cut.stderr
            .contains("there are more than 2 matches: use --limit 20"),
        "{}",
        cut.stderr
    );
    let all = search(&["the", "--json", "--limit", "50"]);
    assert_eq!(all.stderr, "");
    let hello = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    home.write(".claude/projects/-p/new.jsonl", hello);
    let some = search(&["zebrafinch", "--no-update"]).stderr;
    let many = home.sessions(&[]).len();
    let said = format!(
        "none of the {} indexed sessions (of {many}) contains",
        many - 1
    );
    assert!(some.contains(&said), "{some}");
    let none = search(&["zebrafinch"]).stderr;
    assert!(
        none.contains(&format!("none of {many} sessions contains")),
        "{none}"
    );
}
