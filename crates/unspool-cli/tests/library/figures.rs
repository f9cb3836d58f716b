//! `unspool stats`: what is added up, and how it is shown.

use std::fs;

use serde_json::Value;

use crate::world::{Home, corpus, objects};

#[test]
fn the_whole_is_the_sum_of_the_sessions() {
    let home = Home::of_all();
    let sessions = home.sessions(&[]);
    let total = home.stats("total", "", &[]);
    for name in [
        "turns",
        "tools",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "reasoning_tokens",
    ] {
        let sum: u64 = sessions.iter().map(|one| one[name].as_u64().unwrap()).sum();
        assert_eq!(total[name], sum, "{name}");
    }
    let cost: f64 = sessions
        .iter()
        .filter_map(|one| one["cost_usd"].as_f64())
        .sum();
    assert!((total["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9);
    assert_eq!(total["sessions"], sessions.len());
}

#[test]
fn groups_of_one_sort_make_up_the_whole() {
    let home = Home::of_all();
    let groups = objects(&home.run(&["stats", "--json"]).stdout);
    let sum = |by: &str, name: &str| -> u64 {
        let groups = groups.iter().filter(|group| group["by"] == by);
        groups.map(|group| group[name].as_u64().unwrap()).sum()
    };
    for by in ["agent", "model", "project", "day"] {
        for name in ["input_tokens", "output_tokens"] {
            assert_eq!(sum(by, name), sum("total", name), "{by} {name}");
        }
    }
    for by in ["agent", "model", "project", "day", "tool"] {
        assert_eq!(sum(by, "tools"), sum("total", "tools"), "{by}");
    }
    for by in ["agent", "model", "project", "day"] {
        for name in ["turns", "failed_tools", "errors", "time_ms"] {
            assert_eq!(sum(by, name), sum("total", name), "{by} {name}");
        }
    }
}

#[test]
fn days_are_those_of_the_place() {
    let home = Home::of_all();
    let days = |zone: &str| -> Vec<Value> {
        let mut command = home.unspool(&["stats", "--json", "--by", "day"]);
        let output = command.env("TZ", zone).output().unwrap();
        let groups = objects(&String::from_utf8(output.stdout).unwrap());
        groups
            .into_iter()
            .map(|group| group["name"].clone())
            .collect()
    };
    assert_eq!(days("UTC"), ["2026-11-15"]);
    assert_eq!(days("Asia/Tokyo"), ["2026-11-16"]);
}

#[test]
fn a_span_of_time_cuts_sessions() {
    let home = Home::new();
    let session = fs::read_to_string(corpus("claude/resume/resume.session.jsonl")).unwrap();
    home.write(".claude/projects/-p/a.jsonl", session);
    let all = home.stats("total", "", &[]);
    let until = home.stats("total", "", &["--until", "2026-11-15T18:30:20Z"]);
    let since = home.stats("total", "", &["--since", "2026-11-15T18:30:20Z"]);
    assert_eq!(until["input_tokens"], 14_412);
    let sum = until["input_tokens"].as_u64().unwrap() + since["input_tokens"].as_u64().unwrap();
    assert_eq!(all["input_tokens"], sum);
    assert_eq!(since["sessions"], 1);
}

#[test]
fn tables_are_drawn() {
    let home = Home::of_all();
    fs::remove_file(home.path("project/.aider.chat.history.md")).unwrap();
    insta::assert_snapshot!("tables", home.run(&["stats"]).stdout);
    insta::assert_snapshot!(
        "tools",
        home.run(&["stats", "--by", "tool", "--width", "60"]).stdout
    );
    let plain = |name: &str, value: &str| {
        let mut command = home.unspool(&["stats", "--by", "agent"]);
        let output = command.env(name, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (name, value) in [
        ("LC_ALL", "C"),
        ("TERM", "dumb"),
        ("LANG", "de_DE.ISO-8859-1"),
    ] {
        let shown = plain(name, value);
        assert!(shown.is_ascii() && shown.contains("####"), "{shown}");
    }
    assert!(plain("LANG", "de_DE.UTF-8").contains("█"));
    for width in ["80", "100", "120"] {
        let shown = home
            .run(&["stats", "--by", "agent", "--width", width])
            .stdout;
        let longest = shown.lines().map(|line| line.matches('█').count()).max();
        assert!(longest.is_some_and(|cells| cells >= 8), "{shown}");
        let heading = shown.lines().next().unwrap();
        for column in ["AGENT", "TIME", "INPUT", "OUTPUT", "COST"] {
            assert!(heading.contains(column), "{shown}");
        }
        let width: usize = width.parse().unwrap();
        let mut lines = shown.lines();
        assert!(lines.all(|line| line.chars().count() <= width), "{shown}");
    }
    let narrow = home.run(&["stats", "--width", "50"]).stdout;
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 50),
        "{narrow}"
    );
}

#[test]
fn comma_separated_values_are_safe() {
    let home = Home::new();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let session = session.replace("/home/user/project", r#"=cmd|\", \u202e!"#);
    home.write(".claude/projects/-p/a.jsonl", session);
    let shown = home
        .run(&["stats", "--csv", "--by", "project", "--by", "agent"])
        .stdout;
    let mut lines = shown.lines();
    assert_eq!(
        lines.next().unwrap(),
        "by,name,sessions,turns,tools,failed_tools,errors,time_ms,input_tokens,output_tokens,cached_tokens,reasoning_tokens,cost_usd"
    );
    let project = lines.next().unwrap();
    assert!(
        project.starts_with(r#"project,"'=cmd|"", \u{202E}!",1,"#),
        "{project}"
    );
    assert!(lines.next().unwrap().starts_with("agent,claude,1,1,"));
}

#[test]
fn groups_are_within_groups() {
    let home = Home::of_all();
    fs::remove_file(home.path("project/.aider.chat.history.md")).unwrap();
    let session = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let earlier = session.replace("2026-11-15", "2026-11-13");
    let earlier = earlier.replace("\"f6c4d2aa", "\"a6c4d2aa");
    home.write(".claude/projects/-p/earlier.jsonl", earlier);
    insta::assert_snapshot!(
        "nested",
        home.run(&["stats", "--by", "day,model", "--width", "100"])
            .stdout
    );
    insta::assert_snapshot!(
        "nested_csv",
        home.run(&["stats", "--by", "day,model", "--csv"]).stdout
    );
    let groups = objects(&home.run(&["stats", "--by", "agent,tool", "--json"]).stdout);
    let calls: u64 = groups
        .iter()
        .filter_map(|group| group["tools"].as_u64())
        .sum();
    assert_eq!(home.stats("total", "", &[])["tools"], calls);
    assert!(
        groups
            .iter()
            .all(|group| group["turns"].is_null() && group["cost_usd"].is_null())
    );
    let groups = objects(&home.run(&["stats", "--by", "model,tool", "--json"]).stdout);
    let calls = groups.iter().filter_map(|group| group["tools"].as_u64());
    assert_eq!(home.stats("total", "", &[])["tools"], calls.sum::<u64>());
    let odd = home.run(&["stats", "--by", "model,colour"]);
    assert_eq!(odd.status, Some(2), "{}", odd.stdout);
}

#[test]
fn each_model_gets_what_it_did() {
    let home = Home::new();
    let session = fs::read_to_string(corpus(
        "claude/parity/f3c28766-9691-4504-8054-ccb9e43462e9.jsonl",
    ))
    .unwrap();
    let all = {
        home.write(".claude/projects/-p/a.jsonl", &session);
        home.stats("total", "", &[])
    };
    // The model changes in the middle, between two messages.
    let mut lines: Vec<Value> = objects(&session);
    let last = lines.iter().rfind(|line| line["type"] == "assistant");
    let last = last.unwrap()["message"]["id"].clone();
    let mut calls = 0;
    for line in &mut lines {
        if line["message"]["id"] == last {
            line["message"]["model"] = "other-model".into();
        } else if line["type"] == "assistant" {
            calls += u64::from(line["message"]["content"][0]["type"] == "tool_use");
        }
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    home.write(".claude/projects/-p/a.jsonl", lines.join("\n"));
    let other = home.stats("model", "other-model", &[]);
    let models = objects(&home.run(&["stats", "--by", "model", "--json"]).stdout);
    let first = models
        .iter()
        .find(|group| group["name"] != "other-model")
        .unwrap();
    assert_eq!(
        (&first["tools"], &all["tools"]),
        (&calls.into(), &calls.into())
    );
    assert_eq!(first["failed_tools"], all["failed_tools"]);
    assert_eq!((&other["turns"], &other["tools"]), (&1.into(), &0.into()));
    assert_eq!(other["time_ms"], all["time_ms"]);
}

#[test]
fn no_figure_is_cut_while_a_name_can_be() {
    let home = Home::of_all();
    let hello = fs::read_to_string(corpus("claude/hello/hello.session.jsonl")).unwrap();
    let long = hello.replace(
        "claude-opus-5-5",
        "a-model-with-a-name-of-more-than-forty-columns",
    );
    home.write(
        ".claude/projects/-p/a.jsonl",
        long.replace("\"f6c4d2aa", "\"a6c4d2aa"),
    );
    for width in ["40", "32"] {
        let shown = home
            .run(&["stats", "--width", width, "--by", "model"])
            .stdout;
        let line = shown
            .lines()
            .find(|line| line.starts_with("a-model"))
            .unwrap();
        let figures: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert_eq!(figures, ["14k", "17"], "{shown}");
        assert!(line.contains('…'), "{shown}");
        let most: usize = width.parse().unwrap();
        assert!(
            shown.lines().all(|line| line.chars().count() <= most),
            "{shown}"
        );
    }
}

#[test]
fn runs_that_follow_each_other_in_a_file_all_count() {
    let run = |id: &str, input: u64, output: u64| {
        format!(
            r#"{{"type":"thread.started","thread_id":"{id}"}}
{{"type":"turn.started"}}
{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"Done."}}}}
{{"type":"turn.completed","usage":{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{output}}}}}
"#
        )
    };
    // The second one used as much as the first, the third more.
    let runs = [run("a", 100, 10), run("b", 100, 10), run("c", 300, 20)];
    let home = Home::new();
    home.write("logs/runs.jsonl", runs.concat());
    let total = home.stats("total", "", &["--in", "../logs"]);
    assert_eq!(total["input_tokens"], 500);
    assert_eq!(total["output_tokens"], 40);
}
