//! The list: its sessions, their sources and its formats.

use std::fs;

use crate::world::{Home, PLACES, copy, corpus, field};

#[test]
fn the_sessions_of_all_agents_are_one_list() {
    let home = Home::of_all();
    let sessions = home.sessions(&[]);
    let told: Vec<String> = sessions
        .iter()
        .map(|session| {
            let words = [
                "agent", "started", "turns", "tools", "state", "title", "prompt",
            ];
            let words = words.map(|name| field(std::slice::from_ref(session), name).join(""));
            words.join(" | ")
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    let tokens = field(&sessions, "input_tokens");
    assert!(tokens.iter().all(|tokens| tokens != "0"), "{tokens:?}");
}

#[test]
fn a_list_for_people_is_aligned_and_fits() {
    let home = Home::of_all();
    // Its id is made of its path, which is another one each time.
    fs::remove_file(home.path("project/.aider.chat.history.md")).unwrap();
    let wide = home.run(&["sessions"]).stdout;
    insta::assert_snapshot!("wide", wide);
    let narrow = home.run(&["sessions", "--width", "80"]).stdout;
    insta::assert_snapshot!("narrow", narrow);
    for width in [40, 60, 100, 120] {
        let shown = home
            .run(&["sessions", "--width", &width.to_string()])
            .stdout;
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= width, "{shown}");
    }
    let folded = home.run(&["sessions", "--width", "40"]).stdout;
    insta::assert_snapshot!("folded", folded);
    assert!(!wide.contains('\t') && !wide.contains('\u{1b}'));
    let colours = home.run(&["sessions", "--color", "always", "--theme", "dark"]);
    assert!(colours.stdout.contains("\u{1b}["));
}

#[test]
fn a_narrow_list_tells_what_did_not_go_well() {
    let home = Home::new();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    home.write(".claude/projects/-p/whole.jsonl", &session);
    let user = session
        .lines()
        .find(|line| line.contains("\"type\":\"user\""));
    let open = user
        .unwrap()
        .replace("\"sessionId\":\"f", "\"sessionId\":\"0");
    home.write(".claude/projects/-p/open.jsonl", open);
    let shown = home.run(&["sessions", "--width", "40"]).stdout;
    assert_eq!(shown.matches("\n  running: ").count(), 1, "{shown}");
    assert!(!shown.contains("finished"), "{shown}");
}

#[test]
fn titles_and_prompts_are_listed_without_markdown() {
    let home = Home::new();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let prompt = session
        .lines()
        .find(|line| line.contains("\"type\":\"user\""));
    let prompt: serde_json::Value = serde_json::from_str(prompt.unwrap()).unwrap();
    for (number, text) in ["**Fix** `x`", "# Sort __init__.py"].iter().enumerate() {
        let mut prompt = prompt.clone();
        prompt["message"]["content"] = (*text).into();
        prompt["sessionId"] = format!("{number}f7b5c1e-0000-4000-8000-000000000000").into();
        home.write(
            &format!(".claude/projects/-p/{number}.jsonl"),
            prompt.to_string(),
        );
    }
    let shown = home.run(&["sessions"]).stdout;
    assert!(shown.contains("  Fix x\n"), "{shown}");
    assert!(shown.contains("  Sort __init__.py\n"), "{shown}");
    let found = home.run(&["sessions", "search", "fix"]).stdout;
    assert!(
        found.lines().next().unwrap().ends_with("  Fix x"),
        "{found}"
    );
}

#[test]
fn sub_agents_belong_to_the_session_that_started_them() {
    let home = Home::of_all();
    for (agent, tools) in [("claude", 10), ("codex", 12), ("gemini", 12), ("qwen", 10)] {
        let sessions = home.sessions(&["--agent", agent]);
        assert_eq!(sessions.len(), 1, "{agent}: {sessions:?}");
        assert_eq!(sessions[0]["tools"], tools, "{agent}");
    }
}

#[test]
fn variables_move_the_places() {
    let elsewhere = Home::new();
    for (variable, agent, below, value) in [
        ("CLAUDE_CONFIG_DIR", "claude", ".claude", ".claude"),
        ("CODEX_HOME", "codex", ".codex", ".codex"),
        ("GEMINI_CLI_HOME", "gemini", ".gemini", ""),
        ("QWEN_HOME", "qwen", ".qwen", ".qwen"),
        ("QWEN_RUNTIME_DIR", "qwen", ".qwen", ".qwen"),
        ("XDG_DATA_HOME", "opencode", ".local", ".local/share"),
    ] {
        let home = Home::of_all();
        let here = |variable: Option<&str>| {
            let mut command = home.unspool(&["sessions", "--json", "--agent", agent]);
            if let Some(variable) = variable {
                command.env(variable, elsewhere.path(value));
            }
            command.output().unwrap().stdout
        };
        let at_home = here(None);
        fs::rename(home.path(below), elsewhere.path(below)).unwrap();
        assert!(here(None).is_empty(), "{variable}");
        let moved = String::from_utf8(here(Some(variable))).unwrap();
        let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
        assert_eq!(lines(moved.as_bytes()), lines(&at_home), "{variable}");
        assert!(lines(&at_home) > 1, "{variable}");
        fs::remove_dir_all(elsewhere.path(below)).unwrap();
    }
}

#[test]
fn a_database_and_a_history_may_be_named() {
    let home = Home::of_all();
    let database = home.path("work.db");
    fs::rename(home.path(".local/share/opencode/opencode.db"), &database).unwrap();
    fs::remove_dir_all(home.path(".local/share/opencode/storage")).unwrap();
    let history = home.path("chats.md");
    fs::rename(home.path("project/.aider.chat.history.md"), &history).unwrap();
    let list = |agent: &str, variable: &str, value: &std::path::Path| {
        let mut command = home.unspool(&["sessions", "--json", "--agent", agent]);
        let output = command.env(variable, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    assert_eq!(list("opencode", "OPENCODE_DB", &database), 1);
    assert_eq!(list("opencode", "OPENCODE_OTHER", &database), 0);
    assert_eq!(list("aider", "AIDER_CHAT_HISTORY_FILE", &history), 1);
    assert_eq!(list("aider", "AIDER_OTHER", &history), 0);
}

#[test]
fn aider_is_found_in_the_projects_of_the_others() {
    let home = Home::new();
    let project = home.path("far/away");
    copy(&corpus("aider/classic-mentions"), &project);
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let session = session.replace("/home/user/project", project.to_str().unwrap());
    assert!(home.sessions(&[]).is_empty());
    home.write(".claude/projects/-far-away/a.jsonl", session);
    assert_eq!(field(&home.sessions(&[]), "agent"), ["aider", "claude"]);
    let words = project.to_str().unwrap();
    assert_eq!(field(&home.sessions(&[]), "project"), [words, words]);
}

#[test]
fn every_chat_of_a_history_is_a_session() {
    let home = Home::new();
    let chat = |day: &str, prompt: &str| {
        format!(
            "\n# aider chat started at {day} 10:00:00\n\n> Aider v0.86.2  \n\n#### {prompt}\n\nYes.\n\n> Tokens: 1.0k sent, 5 received. Cost: $0.01 message, $0.01 session.  \n"
        )
    };
    let two = chat("2026-11-14", "First?") + &chat("2026-11-15", "Second?");
    let path = home.write("project/.aider.chat.history.md", &two);
    let sessions = home.sessions(&[]);
    assert_eq!(field(&sessions, "prompt"), ["Second?", "First?"]);
    assert_eq!(field(&sessions, "cost_usd"), ["0.01", "0.01"]);
    assert_eq!(home.stats("total", "", &[])["cost_usd"], 0.02);
    let ids = field(&sessions, "id");
    fs::write(&path, two + &chat("2026-11-16", "Third?")).unwrap();
    let sessions = home.sessions(&[]);
    assert_eq!(field(&sessions, "prompt"), ["Third?", "Second?", "First?"]);
    assert_eq!(field(&sessions, "id")[1..], ids);
}

#[test]
fn a_review_is_called_by_what_its_agent_was_asked() {
    let home = Home::new();
    let to = home.path(".codex/sessions/2026/11/15");
    copy(&corpus("codex/review/review.session"), &to);
    let prompts = field(&home.sessions(&[]), "prompt");
    assert_eq!(prompts.len(), 1);
    let words = "Review the current code changes";
    assert!(prompts[0].starts_with(words), "{prompts:?}");
}

#[test]
fn folders_may_be_named() {
    let home = Home::new();
    for (_, from, to) in PLACES {
        copy(&corpus(from), &home.path("backup").join(to));
    }
    home.write("backup/package.json", r#"{"name":"x"}"#);
    assert!(home.sessions(&[]).is_empty());
    let folder = home.path("backup");
    let ran = home.run(&["sessions", "--json", "--in", folder.to_str().unwrap()]);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.stdout.lines().count(), PLACES.len());
    let one = home.path("backup/.codex");
    let sessions = home.sessions(&["--in", one.to_str().unwrap()]);
    assert_eq!(field(&sessions, "agent"), ["codex"]);
    let none = home.run(&["sessions", "--in", "nowhere"]);
    assert_eq!(none.status, Some(2));
    assert!(none.stderr.contains("nowhere: no such file or directory"));
}

#[test]
fn filters_choose() {
    let home = Home::of_all();
    let copy_of = |case: &str| {
        let session = fs::read_to_string(corpus(&format!("claude/{case}/{case}.session.jsonl")));
        home.write(
            &format!(".claude/projects/-p/{case}.jsonl"),
            session.unwrap(),
        );
    };
    copy_of("apierror");
    copy_of("interrupted-tool-sigkill");
    let set_old = |case: &str| {
        let path = home.path(&format!(".claude/projects/-p/{case}.jsonl"));
        let file = fs::File::options().write(true).open(path).unwrap();
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        file.set_modified(long_ago).unwrap();
    };
    set_old("interrupted-tool-sigkill");
    let failed = home.sessions(&["--failed"]);
    assert_eq!(field(&failed, "state"), ["cut off", "failed"]);
    let agents = field(&home.sessions(&["--agent", "qwen,gemini"]), "agent");
    assert_eq!(agents.len(), 2);
    let all = home.sessions(&[]).len();
    let project = home.sessions(&["--project", "/home/user"]).len();
    let word = home.sessions(&["--project", "USER/pro"]).len();
    assert_eq!((project, word), (all - 2, all - 2), "not gemini, not aider");
    let since = home.sessions(&["--since", "2026-11-15T18:56:00Z"]);
    let until = home.sessions(&["--until", "2026-11-15T18:56:00Z"]);
    assert_eq!(since.len() + until.len(), all);
    assert!(!since.is_empty() && !until.is_empty());
    let unknown = home.run(&["sessions", "--agent", "nobody"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("claude, codex"));
}

#[test]
fn a_session_that_was_just_written_is_running() {
    let home = Home::new();
    let name = "claude/interrupted-tool-sigkill/interrupted-tool-sigkill.session.jsonl";
    let session = fs::read_to_string(corpus(name)).unwrap();
    home.write(".claude/projects/-p/a.jsonl", session);
    assert_eq!(field(&home.sessions(&[]), "state"), ["running"]);
}

#[test]
fn what_agents_write_is_made_clean() {
    let home = Home::new();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let session = session.replace(
        "Say hello in one sentence.",
        r"Wipe \u001b[2J\u001b]52;c;aGk=\u0007 \u202e it",
    );
    home.write(".claude/projects/-p/a.jsonl", session);
    let ran = home.run(&["sessions"]);
    assert!(
        ran.stdout
            .contains(r"Wipe \x1B[2J\x1B]52;c;aGk=\x07 \u{202E} it"),
        "{}",
        ran.stdout
    );
    let skipped = home.write(
        ".codex/sessions/2026/11/15/rollout-\u{1b}[2J.jsonl",
        "{\"half",
    );
    assert!(skipped.exists());
    assert!(!home.run(&["sessions"]).stderr.contains('\u{1b}'));
}

#[test]
fn a_session_in_a_database_and_in_an_export_is_listed_once() {
    let home = Home::new();
    let from = corpus("opencode/command/command.session");
    for name in ["opencode.db", "export.json"] {
        home.write(
            &format!("backup/{name}"),
            fs::read(from.join(name)).unwrap(),
        );
    }
    let backup = home.path("backup");
    let sessions = home.sessions(&["--in", backup.to_str().unwrap()]);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let found = home.run(&[
        "sessions",
        "search",
        "--json",
        "the",
        "--in",
        backup.to_str().unwrap(),
    ]);
    assert_eq!(found.stdout.lines().count(), 1, "{}", found.stdout);
}

#[test]
fn a_record_of_a_sub_agent_that_changes_changes_its_session() {
    let home = Home::new();
    copy(
        &corpus("codex/parity/parity.session"),
        &home.path(".codex/sessions/2026/11/15"),
    );
    let tools = || home.sessions(&[])[0]["tools"].as_u64().unwrap();
    let before = tools();
    let read = |count: &str| {
        let said = home.run(&["sessions", "--verbose"]).stderr;
        assert!(said.contains(count), "{said}");
    };
    read("2 files found, 0 of them read");
    assert_eq!(
        home.run(&["sessions", "search", "zebra"]).status,
        Some(1),
        "nobody has said it"
    );
    let child = home.path(
        ".codex/sessions/2026/11/15/rollout-2026-11-15T18-16-53-01a1e06d-2a08-7d72-a6fd-13b3938a5e95.jsonl",
    );
    let mut text = fs::read_to_string(&child).unwrap();
    text += "{\"timestamp\":\"2026-11-15T18:16:54.000Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"exec_command\",\"arguments\":\"{\\\"cmd\\\":\\\"echo zebra\\\"}\",\"call_id\":\"call_new\"}}\n";
    fs::write(&child, text).unwrap();
    assert_eq!(tools(), before + 1);
    read("2 files found, 0 of them read");
    assert_eq!(home.run(&["sessions", "search", "zebra"]).status, Some(0));
}

#[test]
fn options_may_stand_before_the_subcommand() {
    let home = Home::of_all();
    let behind = home.run(&["sessions", "search", "--json", "the", "--agent", "codex"]);
    let before = home.run(&["sessions", "--agent", "codex", "--json", "search", "the"]);
    assert_eq!(before.stdout.lines().count(), 1, "{}", before.stderr);
    assert_eq!(before.stdout, behind.stdout);
    let both = home.run(&["sessions", "f3c", "search", "the"]);
    assert_eq!(both.status, Some(2));
    let mistyped = home.run(&["sessions", "serach", "the"]).stderr;
    assert!(
        mistyped.contains("did you mean `unspool sessions search`?"),
        "{mistyped}"
    );
}

#[test]
fn those_that_have_no_place_are_found_in_folders() {
    let home = Home::new();
    fs::create_dir(home.path("in")).unwrap();
    for (name, run) in [
        ("a.jsonl", "acp/claude/parity.acp.jsonl"),
        ("b.jsonl", "claude/parity/parity.live.jsonl"),
    ] {
        fs::copy(corpus(run), home.path("in").join(name)).unwrap();
    }
    let listed = home.sessions(&["--in", "../in", "--agent", "acp"]);
    assert_eq!(field(&listed, "agent"), ["acp"]);
}
