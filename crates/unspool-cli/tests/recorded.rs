//! Details of recorded runs that are easily shown wrong: outcomes,
//! in which order things happened, and the same words for all agents.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "live/environment.rs"]
mod environment;
#[path = "live/recording.rs"]
mod recording;

use recording::{corpus, unspool};

/// A recording as it is shown, with more options.
fn shown(name: &str, options: &[&str]) -> String {
    let path = corpus(name);
    let width = ["--width", "80"];
    let width = if options.contains(&"--width") {
        &[]
    } else {
        &width[..]
    };
    let output = unspool(&[&[path.as_str()], width, options].concat());
    String::from_utf8(output.stdout).unwrap()
}

/// The lines that begin with one of these words.
fn lines_with<'a>(text: &'a str, words: &[&str]) -> Vec<&'a str> {
    let begins = |line: &&str| words.iter().any(|word| line.contains(word));
    text.lines().filter(begins).collect()
}

#[test]
fn edits_of_aider_say_whether_they_were_made() {
    for kind in ["txt", "session.md"] {
        let name = format!("aider/classic-bad-edit/classic-bad-edit.{kind}");
        let text = shown(&name, &["--only", "edit"]);
        let failed = "• Edit app.py\n        -    return 'not there'\n        +    return 1\n  \
                      └ Error: This SEARCH block failed to exactly match lines in app.py";
        assert_eq!(text.trim_end(), [failed; 3].join("\n"), "{kind}");
    }
    for name in ["classic-commands", "classic-mentions"] {
        let text = shown(&format!("aider/{name}/{name}.txt"), &["--only", "edit"]);
        let heads = lines_with(&text, &["•"]);
        assert_eq!(heads, ["• Edit app.py", "• Rejected Add lib/extra.py"]);
    }
    let text = shown("aider/classic-patch/classic-patch.txt", &["--only", "edit"]);
    assert!(text.starts_with("• Edit app.py\n         def greet(name):\n"));
    let (_, added) = text.split_once("• Add lib/extra.py\n").unwrap();
    let failed = "  └ Error: ADD Error: File already exists: lib/extra.py\n";
    assert!(added.contains(failed), "{text}");
}

#[test]
fn a_file_that_aider_was_started_with_is_no_new_one() {
    for name in [
        "ce088-whole/ce088-whole.txt",
        "ce088-whole/ce088-whole.session.md",
        "classic-whole/classic-whole.txt",
    ] {
        let text = shown(&format!("aider/{name}"), &["--only", "edit"]);
        let heads = lines_with(&text, &["•"]);
        assert_eq!(heads, ["• Edit app.py", "• Add lib/extra.py"], "{name}");
    }
}

#[test]
fn leaving_aider_does_not_hide_that_it_failed() {
    let failed = corpus("aider/classic-bad-edit/classic-bad-edit.session.md");
    assert_eq!(unspool(&[&failed]).status.code(), Some(1));
    let fine = corpus("aider/classic-thinking/classic-thinking.session.md");
    assert_eq!(unspool(&[&fine]).status.code(), Some(0));
}

#[test]
fn a_plan_that_was_called_for_ends_the_message() {
    let text = shown("acp/aider/acp-plan.acp.stdout.jsonl", &[]);
    let heads = lines_with(&text, &["•"]);
    let expected = [
        "• Update Plan",
        "• Step 2.",
        "• Update Plan",
        "• Update Plan",
        "• Step 4.",
        "• Update Plan",
        "• All three are done.",
    ];
    assert_eq!(heads, expected);
}

#[test]
fn an_answer_cut_at_the_token_limit_says_so() {
    for name in [
        "openai/chat-length/chat-length.sse.txt",
        "openai/resp-length/resp-length.response.json",
        "opencode/length/length.live.jsonl",
    ] {
        let text = shown(name, &["--only", "notice"]);
        let expected = "• Warning: the answer was cut off at the token limit.\n";
        assert_eq!(text, expected, "{name}");
    }
}

#[test]
fn a_compacted_conversation_is_told_in_one_way() {
    for name in [
        "acp/codex/compaction.acp.jsonl",
        "claude/streamin/streamin.live.jsonl",
        "claude/streamin/streamin.session.jsonl",
        "codex/appserver-compaction/compaction.appserver.jsonl",
        "codex/compaction/compaction.session.jsonl",
        "opencode/compaction/compaction.live.jsonl",
        "opencode/compaction/compaction.sse.txt",
    ] {
        let text = shown(name, &[]);
        assert_eq!(
            lines_with(&text, &["ompacted"]),
            ["• Context compacted"],
            "{name}"
        );
    }
}

#[test]
fn a_command_of_aider_itself_is_a_call() {
    for name in ["classic-mentions", "ce-mentions"] {
        let text = shown(&format!("aider/{name}/{name}.txt"), &["--tool", "shell"]);
        let expected = "• Ran python app.py\n  └ /bin/sh: 1: python: not found\n";
        assert_eq!(text, expected, "{name}");
    }
}

#[test]
fn few_lines_of_an_edit_show_what_was_changed() {
    let options = ["--only", "edit", "--lines", "1"];
    let text = shown("claude/parity/parity.live.jsonl", &options);
    let changed = "      8 -    return \"Hello, \" + title_case(name) + \"!\"\n";
    assert!(text.contains(changed), "{text}");
}

#[test]
fn what_failed_says_what_it_was() {
    let text = shown("claude/plan-tasks/plan-tasks.live.jsonl", &["--errors"]);
    assert_eq!(text, "• Warning: Task not found: #9\n");
    let text = shown("gemini/parallel/parallel.live.jsonl", &["--errors"]);
    assert!(!text.contains("Command exited with code"), "{text}");
}

#[test]
fn the_work_of_a_sub_agent_ends_with_its_call() {
    let text = shown("acp/claude/nested-v1sub.acp.jsonl", &[]);
    let ends = lines_with(&text, &["Delegated"]);
    assert_eq!(ends, ["  • Delegated Inner job", "• Delegated Outer job"]);
}

#[test]
fn permission_is_answered_in_the_same_words() {
    let of = |name: &str| -> Vec<String> {
        let text = shown(name, &["--only", "permission", "--width", "0"]);
        let answer = |line: &str| Some(line.rsplit_once(" (")?.1.trim_end_matches(')').to_owned());
        text.lines().filter_map(answer).collect()
    };
    let claude = of("acp/claude/permission.acp.jsonl");
    assert_eq!(claude, ["allowed", "rejected", "always allowed"]);
    let codex = of("acp/codex/permission-reject.acp.jsonl");
    assert!(codex.iter().any(|answer| answer == "rejected"), "{codex:?}");
}

#[test]
fn a_long_input_of_an_unknown_tool_is_cut() {
    let name = "acp/codex/permission-auto.acp.jsonl";
    let longest = |options: &[&str]| {
        let text = shown(name, options);
        let lines = lines_with(&text, &["• Tool Guardian Review"]);
        let lengths = lines.iter().map(|line| line.chars().count());
        lengths.max().unwrap()
    };
    assert_eq!(longest(&["--width", "0"]), 403);
    assert!(longest(&["--width", "0", "--lines", "all"]) > 403);
}

#[test]
fn runs_of_two_agents_in_one_pipe_are_both_read() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(corpus(name)).unwrap();
    let agents = ["claude", "codex", "gemini", "opencode"];
    for (first, second) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        let names = [first, second].map(|at| format!("{0}/parity/parity.live.jsonl", agents[at]));
        let both = folder.path().join("both.jsonl");
        std::fs::write(&both, names.each_ref().map(|name| read(name)).concat()).unwrap();
        for kinds in ["tool,unknown", "usage"] {
            let options = ["--width", "80", "--only", kinds];
            let together = unspool(&[&[both.to_str().unwrap()], &options[..]].concat());
            let alone = names.each_ref().map(|name| shown(name, &options[2..]));
            let together = String::from_utf8(together.stdout).unwrap();
            assert_eq!(
                together,
                alone.concat(),
                "{kinds} of {} and {}",
                agents[first],
                agents[second]
            );
        }
    }
}

/// The lines of both, one of each in turn.
fn mixed(first: &[&str], second: &[&str]) -> String {
    let mut text = String::new();
    for at in 0..first.len().max(second.len()) {
        for line in [first.get(at), second.get(at)].into_iter().flatten() {
            text.extend([line, "\n"]);
        }
    }
    text
}

#[test]
fn runs_of_two_agents_line_by_line_are_both_read() {
    let folder = tempfile::tempdir().unwrap();
    let both = folder.path().join("both.jsonl");
    let both = both.to_str().unwrap();
    let read = |name: &str| std::fs::read_to_string(corpus(name)).unwrap();
    let calls = [
        "--only",
        "tool,unknown,usage",
        "--lines",
        "0",
        "--width",
        "0",
    ];
    let heads = |text: &str| {
        let lines = text.lines().filter(|line| line.contains('•'));
        // Where runs alternate, the folder of the other one is not taken for its own.
        let whole = |line: &str| line.replace("/home/user/project/", "");
        let whole = |line: &str| whole(line).replace("in /home/user/project", "in .");
        let mut heads: Vec<String> = lines.map(whole).collect();
        heads.sort_unstable();
        heads
    };
    for (first, second) in [
        ("claude", "codex"),
        ("codex", "gemini"),
        ("gemini", "opencode"),
        ("gemini", "claude"),
        ("opencode", "qwen"),
    ] {
        let names = [first, second].map(|name| format!("{name}/parity/parity.live.jsonl"));
        let texts = names.each_ref().map(|name| read(name));
        let lines = texts
            .each_ref()
            .map(|text| text.lines().collect::<Vec<_>>());
        std::fs::write(both, mixed(&lines[0], &lines[1])).unwrap();
        let together = unspool(&[&[both], &calls[..]].concat());
        assert_eq!(together.status.code(), Some(0), "{first} and {second}");
        let alone = names.each_ref().map(|name| shown(name, &calls)).concat();
        let together = String::from_utf8(together.stdout).unwrap();
        assert_eq!(heads(&together), heads(&alone), "{first} and {second}");
    }
}

#[test]
fn of_several_runs_the_one_that_was_cut_off_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let both = folder.path().join("both.jsonl");
    let both = both.to_str().unwrap();
    let read = |name: &str| std::fs::read_to_string(corpus(name)).unwrap();
    let texts = ["claude", "codex"].map(|name| read(&format!("{name}/parity/parity.live.jsonl")));
    let [claude, codex] = texts
        .each_ref()
        .map(|text| text.lines().collect::<Vec<_>>());
    let (_, cut) = claude.split_last().unwrap();
    let behind = [cut, &codex].concat().join("\n");
    for run in [behind, mixed(cut, &codex)] {
        std::fs::write(both, run).unwrap();
        let output = unspool(&[both, "--only", "notice", "--width", "0"]);
        assert_eq!(output.status.code(), Some(1));
        let said = "• Interrupted: the stream ended before the agent finished: claude.\n";
        assert_eq!(String::from_utf8(output.stdout).unwrap(), said);
        let events = String::from_utf8(unspool(&["events", both]).stdout).unwrap();
        assert_eq!(events.matches(r#""status":"interrupted""#).count(), 1);
    }
}

#[test]
fn what_was_left_out_is_said_and_is_no_success() {
    let path = corpus("codex/parity/parity.live.jsonl");
    let limit = ["--frame-limit", "300"];
    let output = unspool(&[&[path.as_str(), "--only", "notice"], &limit[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let said =
        "bytes is over the limit of 300 bytes and was left out: {\"type\":\"item.completed\"";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
    let events = unspool(&[&["events", path.as_str()], &limit[..]].concat());
    assert_eq!(events.status.code(), Some(1));
    assert_eq!(unspool(&["events", &path]).status.code(), Some(0));
}
