//! Nothing is counted twice. The corpus has no forked sessions, so they are made
//! here from recorded ones, the way the agents do it: Claude Code copies the lines
//! with their times under a new session id and adds `forkedFrom`; Codex writes the
//! lines of the origin again with new times below a `session_meta` that names the
//! origin; OpenCode copies messages with their data under new ids.

use std::fs;

use serde_json::{Value, json};

use crate::world::{Home, copy, corpus, objects};

fn recorded(name: &str) -> Vec<Value> {
    objects(&fs::read_to_string(corpus(name)).unwrap())
}

fn lines(objects: &[Value]) -> String {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn input(stats: &Value) -> u64 {
    stats["input_tokens"].as_u64().unwrap()
}

const CLAUDE: &str = "claude/resume/resume.session.jsonl";
const CODEX: &str = "codex/resume/resume.session.jsonl";

#[test]
fn a_resumed_session_of_claude_counts_each_message_once() {
    let home = Home::new();
    home.write(".claude/projects/-p/a.jsonl", lines(&recorded(CLAUDE)));
    let total = home.stats("total", "", &[]);
    // The usage of the second message stands on two lines; `cost-state` holds the
    // total of both runs at its end.
    assert_eq!(input(&total), 14_412 + 15_350 + 16_288);
    let cost = total["cost_usd"].as_f64().unwrap();
    assert!((cost - 0.016_693).abs() < 1e-9, "{cost}");
}

/// The session under a new id, without or with the totals, and one message more.
fn claude_fork(with_totals: bool) -> (Vec<Value>, u64) {
    let mut fork = recorded(CLAUDE);
    if !with_totals {
        fork.retain(|line| line["type"] != "cost-state");
    }
    let answer = fork.iter().rfind(|line| line["type"] == "assistant");
    let mut answer = answer.unwrap().clone();
    for line in &mut fork {
        let uuid = line["uuid"].clone();
        line["sessionId"] = json!("forked");
        line["forkedFrom"] = json!({"sessionId": "435f6220", "messageUuid": uuid});
    }
    answer["sessionId"] = json!("forked");
    answer["uuid"] = json!("a-new-one");
    answer["timestamp"] = json!("2026-11-16T09:00:00.000Z");
    answer["message"]["id"] = json!("msg_new");
    answer["message"]["usage"]["input_tokens"] = json!(5_000);
    let usage = &answer["message"]["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let added = 5_000 + count("cache_creation_input_tokens") + count("cache_read_input_tokens");
    fork.push(answer);
    (fork, added)
}

#[test]
fn a_forked_session_of_claude_adds_what_is_new() {
    for with_totals in [false, true] {
        let home = Home::new();
        home.write(".claude/projects/-p/a.jsonl", lines(&recorded(CLAUDE)));
        let before = home.stats("total", "", &[]);
        let (fork, added) = claude_fork(with_totals);
        home.write(".claude/projects/-p/forked.jsonl", lines(&fork));
        let total = home.stats("total", "", &[]);
        assert_eq!(total["sessions"], 2);
        assert_eq!(input(&total), input(&before) + added, "{with_totals}");
        assert_eq!(total["tools"], before["tools"], "{with_totals}");
        let costs = [&total, &before].map(|stats| stats["cost_usd"].as_f64().unwrap());
        assert!((costs[0] - costs[1]).abs() < 1e-9, "{costs:?}");
        // Alone, the fork is all that there is.
        let fork = home.stats("total", "", &["forked"]);
        assert_eq!(input(&fork), input(&total));
    }
}

#[test]
fn totals_of_codex_replace_each_other() {
    let home = Home::new();
    home.write(
        ".codex/sessions/2026/11/15/rollout-a.jsonl",
        lines(&recorded(CODEX)),
    );
    let total = home.stats("total", "", &[]);
    assert_eq!(
        (input(&total), total["output_tokens"].as_u64()),
        (4_636, Some(36))
    );
    assert_eq!((&total["turns"], &total["tools"]), (&json!(2), &json!(2)));
}

/// The origin again with new times, below a head that names it.
fn codex_fork(id: &str, origin: &[Value], from: &str) -> Vec<Value> {
    let mut head = origin[0].clone();
    head["payload"]["id"] = json!(id);
    head["payload"]["session_id"] = json!(id);
    head["payload"]["forked_from_id"] = json!(from);
    let mut fork = vec![head];
    fork.extend(origin.iter().cloned());
    for line in &mut fork {
        line["timestamp"] = json!("2026-11-16T08:00:00.000Z");
    }
    fork
}

/// One more request with this total; it took 1,000 tokens in and 10 out.
fn codex_count(total: u64) -> Value {
    let mut counts = recorded(CODEX).into_iter();
    let mut count = counts
        .rfind(|line| line["payload"]["type"] == "token_count")
        .unwrap();
    count["timestamp"] = json!("2026-11-16T09:00:00.000Z");
    let info = &mut count["payload"]["info"];
    info["total_token_usage"]["input_tokens"] = json!(total);
    info["total_token_usage"]["output_tokens"] = json!(46);
    info["last_token_usage"]["input_tokens"] = json!(1_000);
    info["last_token_usage"]["output_tokens"] = json!(10);
    info["last_token_usage"]["total_tokens"] = json!(1_010);
    count
}

fn codex_home(files: &[(&str, &[Value])]) -> Home {
    let home = Home::new();
    for (name, content) in files {
        home.write(
            &format!(".codex/sessions/2026/11/15/rollout-{name}.jsonl"),
            lines(content),
        );
    }
    home
}

#[test]
fn a_fork_of_codex_adds_what_is_new() {
    let origin = recorded(CODEX);
    let id = origin[0]["payload"]["id"].as_str().unwrap().to_owned();
    let mut fork = codex_fork("fork-1", &origin, &id);
    fork.push(codex_count(5_636));
    let mut grandchild = codex_fork("fork-2", &fork, "fork-1");
    grandchild.push(codex_count(7_636));
    let home = codex_home(&[("a", &origin), ("b", &fork), ("c", &grandchild)]);
    let total = home.stats("total", "", &[]);
    assert_eq!(total["sessions"], 3);
    assert_eq!(input(&total), 4_636 + 1_000 + 2_000);
    assert_eq!((&total["turns"], &total["tools"]), (&json!(2), &json!(2)));
    // Forks of an origin that is gone share what they took over from it.
    let mut sibling = codex_fork("fork-3", &origin, &id);
    sibling.push(codex_count(6_000));
    let home = codex_home(&[("b", &fork), ("d", &sibling)]);
    assert_eq!(
        input(&home.stats("total", "", &[])),
        4_636 + 1_000 + (6_000 - 4_636)
    );
}

#[test]
fn sessions_of_codex_that_only_look_alike_are_two() {
    let origin = recorded(CODEX);
    let mut other = origin.clone();
    other[0]["payload"]["id"] = json!("another");
    other[0]["payload"]["session_id"] = json!("another");
    let home = codex_home(&[("a", &origin), ("b", &other)]);
    let total = home.stats("total", "", &[]);
    assert_eq!(input(&total), 2 * 4_636);
    assert_eq!((&total["turns"], &total["tools"]), (&json!(4), &json!(4)));
}

#[test]
fn a_fork_of_codex_that_copies_no_counts_counts_its_own_request() {
    let origin = recorded(CODEX);
    let id = origin[0]["payload"]["id"].as_str().unwrap().to_owned();
    let mut fork = codex_fork("fork-1", &origin, &id);
    fork.retain(|line| line["payload"]["type"] != "token_count");
    fork.push(codex_count(5_636));
    let home = codex_home(&[("a", &origin), ("b", &fork)]);
    let total = input(&home.stats("total", "", &[]));
    // In the proportions of the total, so not to the last token.
    assert!((4_636 + 995..=4_636 + 1_010).contains(&total), "{total}");
}

#[test]
fn sub_agents_of_codex_have_totals_of_their_own() {
    let home = Home::new();
    copy(
        &corpus("codex/parity/parity.session"),
        &home.path(".codex/sessions/2026/11/15"),
    );
    let total = home.stats("total", "", &[]);
    assert_eq!(input(&total), 18_681 + 2_207);
    assert_eq!(total["sessions"], 1);
}

#[test]
fn children_of_opencode_are_counted_with_their_parents_alone() {
    let home = Home::new();
    copy(
        &corpus("opencode/command/command.session"),
        &home.path(".local/share/opencode"),
    );
    let document = |name: &str| -> Value {
        let path = corpus("opencode/command/command.session").join(name);
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let tokens = |document: &Value| -> u64 {
        let messages = document["messages"].as_array().unwrap().iter();
        let tokens = messages.map(|message| {
            let tokens = &message["info"]["tokens"];
            let count = |pointer: &str| tokens.pointer(pointer).and_then(Value::as_u64);
            count("/input").unwrap_or(0) + count("/cache/read").unwrap_or(0)
        });
        tokens.sum()
    };
    let (root, child) = (
        document("export.json"),
        document("export.child-ses_e1f5833b7ffezDj8B4l8nJR3ZA.json"),
    );
    let total = home.stats("total", "", &[]);
    assert_eq!(input(&total), tokens(&root) + tokens(&child));
    assert_eq!(total["sessions"], 1);
}

#[test]
fn a_fork_of_opencode_adds_nothing_by_itself() {
    let home = Home::new();
    let export =
        fs::read_to_string(corpus("opencode/command/command.session/export.json")).unwrap();
    home.write("in/a.json", &export);
    let folder = home.path("in");
    let before = home.stats("total", "", &["--in", folder.to_str().unwrap()]);
    // New ids for the session and its messages; times and figures are kept.
    let fork = export.replace("ses_", "ses_0").replace("msg_", "msg_0");
    home.write("in/b.json", fork);
    let total = home.stats("total", "", &["--in", folder.to_str().unwrap()]);
    assert_eq!(total["sessions"], 2);
    assert!(input(&before) > 0);
    for name in [
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "turns",
        "tools",
    ] {
        assert_eq!(total[name], before[name], "{name}");
    }
}

#[test]
fn a_live_stream_beside_its_saved_session_is_not_counted_again() {
    let home = Home::new();
    let saved = home.write("in/saved.jsonl", lines(&recorded(CLAUDE)));
    let folder = home.path("in");
    let folder = folder.to_str().unwrap();
    let before = home.stats("total", "", &["--in", folder]);
    for name in [
        "claude/resume/resume.live.jsonl",
        "claude/resume-run2/resume-run2.live.jsonl",
    ] {
        let name = corpus(name);
        let to = home.path("in").join(name.file_name().unwrap());
        fs::copy(name, to).unwrap();
    }
    let total = home.stats("total", "", &["--in", folder]);
    assert_eq!(total["input_tokens"], before["input_tokens"]);
    assert_eq!(total["sessions"], 1);
    // Without it, the second run's total holds that of the first.
    fs::remove_file(saved).unwrap();
    assert_eq!(input(&home.stats("total", "", &["--in", folder])), 46_050);
}

/// Claude Code's sub-agents write beside the session that started them; a fork
/// of it has copies of the calls and of the totals alone.
#[test]
fn a_fork_of_claude_counts_what_sub_agents_did_for_its_origin_once() {
    let origin = "f3c28766-9691-4504-8054-ccb9e43462e9";
    let home = Home::new();
    copy(
        &corpus("claude/parity"),
        &home.path(".claude/projects/-home-user-project"),
    );
    let before = home.stats("total", "", &[]);
    let mut fork = recorded(&format!("claude/parity/{origin}.jsonl"));
    for line in &mut fork {
        let uuid = line["uuid"].clone();
        line["sessionId"] = json!("aaaaaaaa-fork");
        if !uuid.is_null() {
            line["forkedFrom"] = json!({"sessionId": origin, "messageUuid": uuid});
        }
    }
    let check = |place: &str| {
        home.write(place, lines(&fork));
        let sessions = home.sessions(&[]);
        let fork = sessions.iter().find(|one| one["id"] == "aaaaaaaa-fork");
        let fork = fork.unwrap();
        assert_eq!(fork["forked_from"], origin, "{place}");
        assert_eq!(fork["tools"], before["tools"], "{place}");
    };
    let elsewhere = ".claude/projects/-home-user-other/aaaaaaaa-fork.jsonl";
    check(elsewhere);
    fs::remove_file(home.path(elsewhere)).unwrap();
    check(".claude/projects/-home-user-project/aaaaaaaa-fork.jsonl");
    let total = home.stats("total", "", &[]);
    assert_eq!(total["sessions"], 2);
    for name in ["input_tokens", "output_tokens", "turns", "tools", "time_ms"] {
        assert_eq!(total[name], before[name], "{name}");
    }
    // What a sub-agent of the origin did after the fork is not the fork's.
    let below = format!(".claude/projects/-home-user-project/{origin}/subagents/agent-later");
    let mut meta = recorded(&format!(
        "claude/parity/{origin}/subagents/agent-ad390c01cc4bc0893.meta.json"
    ));
    meta[0]["toolUseId"] = json!("toolu_later");
    home.write(&format!("{below}.meta.json"), meta[0].to_string());
    let record = home.path(&format!(
        ".claude/projects/-home-user-project/{origin}/subagents/agent-ad390c01cc4bc0893.jsonl"
    ));
    let record = fs::read_to_string(record).unwrap();
    let record = record.replace("ad390c01cc4bc0893", "later");
    home.write(&format!("{below}.jsonl"), record);
    let fork = home.path(".claude/projects/-home-user-project/aaaaaaaa-fork.jsonl");
    let shown = home.run(&["events", fork.to_str().unwrap()]).stdout;
    assert!(shown.contains("\"ad390c01cc4bc0893\""), "{shown}");
    assert!(!shown.contains("\"later\""), "{shown}");
}
