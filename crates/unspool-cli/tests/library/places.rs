//! Where sessions are looked for: every command that takes an id or a selection
//! looks into the same places.

use std::fs;

use crate::world::{Home, copy, corpus, field};

const HELLO: &str = "f6c4d2aa";

fn hello() -> String {
    fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap()
}

#[test]
fn all_commands_look_into_the_folders_of_the_configuration_and_those_typed() {
    let home = Home::new();
    home.write("runs/a.jsonl", hello());
    let runs = home.path("runs");
    let commands = |folders: &[&str]| {
        let run = |arguments: &[&str]| home.run(&[arguments, folders].concat());
        for (ran, said) in [
            (run(&["sessions", "--list", HELLO]), "Say hello"),
            (run(&["stats", "--csv", HELLO]), "agent,claude,1"),
            (run(&["show", HELLO]), "Say hello"),
            (run(&["show", "--latest"]), "Say hello"),
            (run(&["show", "--latest", "claude"]), "Say hello"),
            (run(&["show", HELLO, "--raw"]), "Say hello"),
            (run(&["export", HELLO, "--to", "text"]), "Say hello"),
        ] {
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            assert!(ran.stdout.contains(said), "{}", ran.stdout);
        }
    };
    assert_eq!(home.run(&["show", HELLO]).status, Some(2));
    commands(&["--in", runs.to_str().unwrap()]);
    let config = format!("[sessions]\nfolders = [\"{}\"]\n", runs.display());
    home.write(".config/unspool/config.toml", config);
    commands(&[]);
    assert_eq!(home.run(&[HELLO]).status, Some(0));
    let folder = home.path("missing");
    let missing = home.run(&["show", HELLO, "--in", folder.to_str().unwrap()]);
    assert_eq!(missing.status, Some(2));
    let said = "/missing: no such file or directory";
    assert!(missing.stderr.contains(said), "{}", missing.stderr);
}

#[test]
fn folders_of_the_configuration_may_be_at_home_or_beside_it() {
    let home = Home::new();
    let other = hello().replace(HELLO, "a6c4d2aa");
    home.write("runs/a.jsonl", hello());
    home.write(".config/unspool/more/b.jsonl", other);
    home.write(
        ".config/unspool/config.toml",
        "[sessions]\nfolders = [\"~/runs\", \"more\", \"~/gone\"]\n",
    );
    let ran = home.run(&["sessions", "--json"]);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stderr);
    let gone = format!(
        "unspool: sessions.folders: {}: no such file or directory\n",
        home.path("gone").display()
    );
    assert_eq!(ran.stderr, gone);
    assert_eq!(home.run(&["show", HELLO]).stderr, gone);
    let shown = home.run(&["config"]).stdout;
    assert!(
        shown.contains(home.path("runs").to_str().unwrap()),
        "{shown}"
    );
}

#[test]
fn a_folder_is_the_same_however_it_is_called() {
    let home = Home::new();
    copy(
        &corpus("aider/classic-mentions"),
        &home.path("project/runs/shop"),
    );
    let absolute = home.path("project/runs");
    let by_path = home.sessions(&["--in", absolute.to_str().unwrap()]);
    assert!(!by_path.is_empty());
    assert_eq!(home.sessions(&["--in", "runs"]), by_path);
    assert_eq!(home.sessions(&["--in", "./runs/../runs/shop"]), by_path);
    let file = home.sessions(&["runs/shop/.aider.chat.history.md"]);
    assert_eq!(field(&file, "id"), field(&by_path, "id"));
}

#[test]
fn histories_of_aider_are_found_in_the_projects_of_other_agents() {
    let home = Home::new();
    copy(&corpus("aider/classic-mentions"), &home.path("shop"));
    let shop = home.path("shop");
    let session = hello().replace("/home/user/project", shop.to_str().unwrap());
    home.write(".claude/projects/-shop/a.jsonl", session);
    home.write(".claude/projects/-shop/half.jsonl", "{\"type\":\"us");
    let all = field(&home.sessions(&[]), "agent");
    assert!(all.contains(&"aider".to_owned()) && all.contains(&"claude".to_owned()));
    let fresh = || fs::remove_dir_all(home.path(".cache")).unwrap();
    fresh();
    let ran = home.run(&["sessions", "--json", "--agent", "aider"]);
    assert_eq!(ran.stdout.lines().count() + 1, all.len(), "{}", ran.stdout);
    assert!(!ran.stdout.contains("claude"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    // What was skipped on the way is told when it is asked for.
    let told = home.run(&["sessions", "--json"]).stderr;
    assert!(told.contains("half.jsonl: broken"), "{told}");
    fresh();
    assert_eq!(home.run(&["show", "--latest", "aider"]).status, Some(0));
}

#[test]
fn a_history_of_aider_may_have_any_name() {
    let home = Home::new();
    let history = corpus("aider/classic-mentions/classic-mentions.session.md");
    let history = fs::read_to_string(history).unwrap();
    home.write("kept/monday.md", &history);
    home.write("kept/README.md", "# What is kept here\n");
    home.write("kept/notes.txt", &history);
    let found = home.sessions(&["--in", "../kept"]);
    assert!(!found.is_empty());
    for session in found {
        assert_eq!(session["agent"], "aider");
        assert!(session["path"].as_str().unwrap().ends_with("monday.md"));
    }
}

#[test]
fn the_latest_is_the_one_that_was_last_worked_on() {
    let home = Home::new();
    let write = |name: &str, month: &str, last: &str| {
        let text = hello().replace(HELLO, name).replace("2026-11", month);
        let lines = text.lines().map(|line| {
            let is_last = line.contains("\"type\":\"assistant\"");
            if is_last {
                line.replace(month, last)
            } else {
                line.to_owned()
            }
        });
        let text: Vec<String> = lines.collect();
        home.write(
            &format!(".claude/projects/-p/{name}.jsonl"),
            text.join("\n"),
        );
    };
    // The first goes on longest; the second begins last; the third is copied last.
    write("aaaa", "2026-01", "2026-09");
    write("bbbb", "2026-05", "2026-05");
    write("cccc", "2026-03", "2026-03");
    let listed = field(&home.sessions(&[]), "id");
    let begin: Vec<&str> = listed
        .iter()
        .map(|id| id.split('-').next().unwrap())
        .collect();
    assert_eq!(begin, ["bbbb", "cccc", "aaaa"]);
    let raw = home.run(&["show", "--latest", "--raw"]).stdout;
    assert!(raw.contains("aaaa"), "{raw}");
    let help = home.run(&["show", "--help"]).stdout;
    assert!(help.contains("most recently active"), "{help}");
}
