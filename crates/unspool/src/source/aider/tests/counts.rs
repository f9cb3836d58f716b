//! Token counts and token limits.

use super::*;

const EDIT: &str = "Here.\n\na.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```";

#[test]
fn implausible_token_counts_are_text() {
    let long = "many words and more words ".repeat(20);
    let text = format!(
        "Aider v0.86.2\nMain model: m with diff edit format\n\n> \n{long}\nTokens: 1k sent, 2 received.\nApplied edit to x.py\nend\n\nTokens: 1k sent, 900 received.\n\n> "
    );
    assert_eq!(
        kinds(&read(&text)),
        ["session", "text", "usage", "turn_end"]
    );
}

const CACHED: &[&str] = &[
    "Tokens: 12k sent, 1.3k cache write, 8.2k cache hit, 345 received.\nCost: $0.05 message, $0.11 session.",
    "Tokens: 12k sent, 8.2k cache hit, 345 received. Cost: $0.05 message, $0.11 \nsession.",
    "Tokens: 125k sent, 8.2k cache hit, 12,345 received. Cost: $0.05 message, \n$0.11 session.",
    "Tokens: 12k sent, 8.2k cache hit,\n345 received. Cost: $0.05\nmessage, $0.11 session.",
];

#[test]
fn token_counts_on_several_lines_are_one() {
    for counts in CACHED {
        let events = read(&classic(
            "diff",
            EDIT,
            &format!("{counts}\nApplied edit to a.py"),
        ));
        assert_eq!(
            kinds(&events),
            [
                "session", "text", "edit", "usage", "usage", "notice", "turn_end"
            ],
            "{counts}"
        );
        let costs: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.body {
                Body::Usage(usage) => Some((usage.cached_tokens, usage.cost_usd)),
                _ => None,
            })
            .collect();
        assert_eq!(costs, [(Some(8200), Some(0.05)), (None, Some(0.11))]);
    }
}

#[test]
fn token_counts_on_several_lines_end_a_call() {
    for counts in CACHED {
        let text = turn(
            "Hi.",
            &format!(
                "Tool Call: local_tools • Thinking\n\nThoughts:\nHm\n\n{counts}\n\nFinished.\n\nagent> "
            ),
        );
        assert_eq!(
            kinds(&read(&text)),
            [
                "session",
                "text",
                "usage",
                "tool_use",
                "tool_result",
                "usage",
                "usage",
                "turn_end"
            ],
            "{counts}"
        );
    }
}

#[test]
fn quoted_token_counts_on_several_lines_are_text() {
    for counts in CACHED {
        let answer = format!("It printed:\n\n{counts}\nand went on.\n\nTokens: 5 sent, 1");
        let text = classic("diff", &answer, "Tokens: 1k sent, 900 received.");
        let events = read(&text);
        assert_eq!(kinds(&events), ["session", "text", "usage", "turn_end"]);
        assert_eq!(said(&events), [answer]);
    }
}

#[test]
fn a_chat_history_has_the_cost_below_the_token_counts() {
    let text = "# aider chat started at 2026-02-03 10:11:12\n\n> Aider v0.86.2  \n\n#### hi  \n\nHello.\n\n> Tokens: 12k sent, 1.3k cache write, 8.2k cache hit, 345 received.\nCost: $0.05 message, $0.11 session.  \n\n#### bye  \n\n> Tokens: 1k sent, 1 cache write, 1 cache hit, 2 received.\n\nYou said.\n";
    let events = read(text);
    assert_eq!(
        kinds(&events),
        [
            "session", "user", "text", "usage", "usage", "turn_end", "user", "text", "turn_end"
        ]
    );
}

#[test]
fn an_exhausted_output_limit_completes_the_turn() {
    let limit = |line: &str| {
        turn(
            "Hi.",
            &format!(
                "Model m has hit a token limit!\nToken counts below are approximate.\n\n{line}\n\nhttps://x\nOpen URL for more info? (Y)es/(N)o/(D)on't ask again [Yes]: \n\nagent> "
            ),
        )
    };
    let end = |text: &str| match read(text).pop().unwrap().body {
        Body::TurnEnd(end) => (end.status, end.reason),
        other => panic!("{other:?}"),
    };
    let output = limit("Output tokens: ~4,096 of 4,096 -- possibly exceeded output limit!");
    assert_eq!(end(&output), (TurnStatus::Completed, "length".to_owned()));
    let input = limit("Input tokens: ~245 of 200 -- possibly exhausted context window!");
    assert_eq!(end(&input).0, TurnStatus::Failed);
}

const LIMIT: &str =
    "Model openai/m has hit a token limit!\nToken counts below are approximate.\n\n";

#[test]
fn a_token_limit_ends_the_answer_that_it_cuts() {
    let output = format!(
        "{LIMIT}Input tokens: ~245 of 128,000\nOutput tokens: ~16,384 of 16,384 -- possibly exceeded output limit!\nTotal tokens: ~16,629 of 128,000\n\nhttps://x.org\nOpen URL for more info? (Y)es/(N)o/(D)on't ask again [Yes]: "
    );
    let events = read(&classic("diff", &format!("{EDIT}\n\nHalf an ans"), &output));
    assert_eq!(
        kinds(&events),
        [
            "session", "text", "edit", "text", "notice", "prompt", "turn_end"
        ]
    );
    assert_eq!(said(&events), ["Here.", "Half an ans"]);
    let Body::TurnEnd(end) = &events.last().unwrap().body else {
        panic!("{events:?}");
    };
    assert_eq!(
        (end.status, end.reason.as_str()),
        (TurnStatus::Completed, "length")
    );
    let input = output.replace(" -- possibly exceeded output limit!", "");
    let events = read(&classic("diff", "", &input));
    assert_eq!(kinds(&events), ["session", "notice", "prompt", "turn_end"]);
    let Body::TurnEnd(end) = &events.last().unwrap().body else {
        panic!("{events:?}");
    };
    assert_eq!(end.status, TurnStatus::Failed);
}

#[test]
fn a_token_limit_in_an_answer_is_text() {
    let first = LIMIT.lines().next().unwrap();
    for answer in [
        format!("It says:\n\n{first}\n\nThat means less."),
        format!("It says:\n{LIMIT}That means less."),
    ] {
        let events = read(&classic("diff", &answer, "Tokens: 1k sent, 900 received."));
        assert_eq!(kinds(&events), ["session", "text", "usage", "turn_end"]);
        assert_eq!(said(&events), [answer]);
    }
}

const PATCH: &str = "Here:\n*** Begin Patch\n*** Update File: q.py\n*** Move to: r.py\n@@ class X\n-old\n+new\n*** Add File: c.py\n+one\n*** Delete File: d.py\n*** End Patch";

#[test]
fn a_patch_is_applied_right_below_the_token_counts() {
    let lines = [
        "Updating and moving q.py to r.py",
        "Adding c.py",
        "Deleting d.py",
    ];
    for first in 0..lines.len() {
        let counts = "Tokens: 3.1k sent, 205 received.";
        let after = format!(
            "{counts}\n{}\nCommit abcdef1 feat: x",
            lines[first..].join("\n")
        );
        let events = read(&classic("patch", PATCH, &after));
        let kinds = kinds(&events);
        assert_eq!(
            kinds[..6],
            ["session", "text", "edit", "edit", "edit", "usage"]
        );
        let notices = kinds[6..].iter().filter(|kind| **kind == "notice");
        assert_eq!(notices.count(), lines.len() - first + 1);
        assert_eq!(kinds.last(), Some(&"turn_end"));
    }
}

#[test]
fn token_counts_above_quoted_output_are_text() {
    let quoted = "It printed:\n\nTokens: 3.1k sent, 205 received.\nUpdating e.py\nand went on.";
    for (format, answer) in [
        ("patch", quoted.to_owned()),
        ("patch", format!("{PATCH}\n\n{quoted}")),
        (
            "diff",
            format!("{PATCH}\n\n{}", quoted.replace("e.py", "c.py")),
        ),
    ] {
        let events = read(&classic(format, &answer, "Tokens: 1k sent, 900 received."));
        let said = said(&events).join("\n");
        let (_, quoted) = answer.split_once("It printed:").unwrap();
        assert!(said.ends_with(quoted), "{said}");
        let usages = kinds(&events).into_iter().filter(|kind| *kind == "usage");
        assert_eq!(usages.count(), 1);
    }
}
