//! Rules that no recording shows, in the words of the format's own guide.

use crate::event::{Body, Event, Level, ToolStatus, TurnStatus};
use crate::{Reader, ReaderOptions};

fn read(text: &str) -> Vec<Event> {
    let mut reader = Reader::with_options(ReaderOptions {
        from: Some(super::PROVIDER),
        ..ReaderOptions::default()
    });
    reader.push(text.as_bytes());
    reader.finish();
    reader.events().collect()
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    let told = events.iter().map(|event| event.body.kind());
    told.filter(|kind| *kind != "state").collect()
}

fn bodies(text: &str) -> Vec<Body> {
    read(text).into_iter().map(|event| event.body).collect()
}

/// A turn of aider-ce 0.88: the answer, then what follows its token counts.
fn turn(answer: &str, after: &str) -> String {
    format!(
        "Aider-CE v0.88.40\nMain model: m with agent edit format\n\nagent> Processing...\n{answer}\n\nTokens: 1k sent, 900 received.\n\n{after}"
    )
}

/// A turn of aider itself: the answer, then what follows it.
fn classic(format: &str, answer: &str, after: &str) -> String {
    format!(
        "Aider v0.86.2\nMain model: m with {format} edit format\n\n> \n{answer}\n\n{after}\n\n> "
    )
}

/// The words of the model.
fn said(events: &[Event]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| match &event.body {
        Body::Text(message) => Some(message.text.to_string()),
        _ => None,
    });
    texts.collect()
}

const EDIT: &str = "Here.\n\na.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```";

#[test]
fn a_tool_call_with_tags_is_a_call_and_its_question_a_prompt() {
    let text = "[blue]Tool Call:[/] web-search • full-web-search\n[blue]Arguments:[/] {\"query\": \"Model Control Protocol\"}\nRun tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    let bodies = bodies(text);
    let Body::ToolUse(call) = &bodies[1] else {
        panic!("{bodies:?}");
    };
    assert_eq!(call.name, "web-search.full-web-search");
    assert_eq!(call.arg, "Model Control Protocol");
    let Body::Prompt(prompt) = &bodies[2] else {
        panic!("{bodies:?}");
    };
    assert_eq!(prompt.options, ["Yes", "No", "All", "Skip all"]);
    let Body::TurnEnd(end) = &bodies[3] else {
        panic!("{bodies:?}");
    };
    assert_eq!(end.status, TurnStatus::Interrupted);
}

#[test]
fn tagged_arguments_of_unknown_names_are_an_object() {
    let text = "[blue]Tool Call:[/] x • do\n[blue]first_one:[/]\na\nb\n[blue]second:[/]\nc\nRun tools? (Y)es/(N)o [Yes]: ";
    let Body::ToolUse(call) = &bodies(text)[1] else {
        panic!("no call");
    };
    let input = call.input.as_ref().unwrap().get();
    assert_eq!(input, r#"{"first_one":"a\nb","second":"c"}"#);
}

#[test]
fn colours_around_markers_do_not_hide_them() {
    let text = "\x1b[34mTool Call:\x1b[0m local_tools • View\n\x1b[34mArguments:\x1b[0m {\"file_path\": \"a\"}\n";
    assert_eq!(kinds(&read(text)), ["session", "tool_use", "turn_end"]);
}

#[test]
fn results_without_a_call_and_alarms_are_told() {
    let bodies = bodies(
        "✅ Replaced 5 lines in path/to/file.py (change_id: 1a2b3c-4d5e)\n[red]ERROR:[/] Error in ReplaceText: File 'x' not found\nWARNING: careful\n",
    );
    let Body::ToolResult(result) = &bodies[1] else {
        panic!("{bodies:?}");
    };
    assert_eq!(result.status, ToolStatus::Ok);
    let notices: Vec<_> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::Notice(notice) => Some((notice.level, notice.text.to_string())),
            _ => None,
        })
        .collect();
    assert_eq!(
        notices,
        [
            (
                Level::Error,
                "Error in ReplaceText: File 'x' not found".to_owned()
            ),
            (Level::Warning, "careful".to_owned())
        ]
    );
}

#[test]
fn context_blocks_are_told_before_the_answer() {
    let text = "<context name=\"gitStatus\">\n## Git Repository Status\n\nCurrent branch: main\n</context>\nFine.\n\nTokens: 1k sent, 2 received.\n";
    assert_eq!(
        kinds(&read(text)),
        ["session", "context", "text", "usage", "turn_end"]
    );
}

#[test]
fn markers_before_the_token_counts_are_the_models_words() {
    let fake = "Look:\nTool Call: local_tools • View\nArguments: {}\n✅ Done (change_id: x)\nRun tools? (Y)es/(N)o [Yes]: \n--------------\n► **THINKING**\nTokens: 1k sent, 2 received.\nApplied edit to x.py\n> quoted";
    let events = read(&turn(fake, "agent> Processing...\n"));
    assert_eq!(kinds(&events), ["session", "text", "usage", "turn_end"]);
    let Body::Text(message) = &events[1].body else {
        panic!("{events:?}");
    };
    assert_eq!(message.text, fake);
}

#[test]
fn token_counts_that_cannot_be_are_text() {
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
fn calls_without_questions_end_where_their_arguments_end() {
    let calls = "Tool Call: local_tools • View\nArguments: {\"file_path\": \"a\"}\n\n📎 Viewed 'a'\nNext.\n\nTokens: 1k sent, 900 received.\n\nagent> Processing...\n";
    assert_eq!(
        kinds(&read(&turn("Hi.", calls))),
        [
            "session",
            "text",
            "usage",
            "tool_use",
            "tool_result",
            "text",
            "usage",
            "turn_end"
        ]
    );
}

#[test]
fn an_error_names_its_tool() {
    let calls = "Tool Call: local_tools • View\nArguments: {}\n\nTool Call: local_tools • Grep\nArguments: {}\nRun tools? (Y)es/(N)o [Yes]: Error in Grep: no\n\nagent> ";
    let events = read(&turn("", calls));
    let Some(Body::ToolResult(result)) = events
        .iter()
        .map(|event| &event.body)
        .find(|body| matches!(body, Body::ToolResult(_)))
    else {
        panic!("{events:?}");
    };
    assert_eq!(
        (result.id.as_str(), result.status),
        ("call-2", ToolStatus::Error)
    );
}

/// Ids, statuses and outputs of the results of some calls of tools.
fn outcomes(tools: &[&str], printed: &str) -> Vec<(String, ToolStatus, String)> {
    let calls = tools
        .iter()
        .map(|tool| format!("Tool Call: {tool}\nArguments: {{}}\n\n"));
    let calls: String = calls.collect();
    let after = format!(
        "{calls}Run tools? (Y)es/(N)o [Yes]: \n{printed}\nDone.\n\nTokens: 1k sent, 900 received.\n\nagent> "
    );
    let results = bodies(&turn("Hi.", &after))
        .into_iter()
        .filter_map(|body| match body {
            Body::ToolResult(result) => Some((result.id, result.status, result.output.to_string())),
            _ => None,
        });
    results.collect()
}

#[test]
fn an_edit_is_the_result_of_a_tool_that_edits() {
    let line = "✅ Deleted lines 2-3 in a.py (change_id: 0a1b2c3d)";
    let results = outcomes(
        &[
            "ctx7 • get-docs",
            "local_tools • View",
            "local_tools • DeleteLines",
        ],
        line,
    );
    let of = |id: &str| results.iter().find(|result| result.0 == id).unwrap();
    assert_eq!(of("call-3").2, line);
    assert_eq!((of("call-1").2.as_str(), of("call-2").2.as_str()), ("", ""));
}

#[test]
fn an_error_behind_its_word_names_its_tool() {
    let printed = "✅ Replaced text in a.py (change_id: 0a1b2c3d)\n[red]ERROR:[/] Error in DeleteLines: File 'x' not found";
    let results = outcomes(
        &["local_tools • ReplaceText", "local_tools • DeleteLines"],
        printed,
    );
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].1, ToolStatus::Ok);
    assert_eq!(
        (results[1].1, results[1].2.as_str()),
        (
            ToolStatus::Error,
            "Error in DeleteLines: File 'x' not found"
        )
    );
}

#[test]
fn a_refused_call_on_a_terminal_is_rejected() {
    let text = turn("Hi.", "Tool Call: local_tools • View\nArguments: {}\nRun tools? (Y)es/(N)o [Yes]: n\n\nagent> /exit\n").replace('\n', "\r\n");
    let events = read(&text);
    assert!(events.iter().any(
        |event| matches!(&event.body, Body::ToolResult(result) if result.status == ToolStatus::Rejected)
    ));
}

/// Statuses of the results, and how many changes each made.
fn results(after: &str) -> Vec<(ToolStatus, usize)> {
    let text = format!(
        "cecli v1.10.0\nModels         m (main)\nSettings       agent (edit format)\n\nagent> I edit.\n\n1k ◇ 0.0% ↑ 90 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\nTool Call: local • EditFile\n\nfile_path:\na.py\n\nreplacement:\n{after}\n\n1k ◇ 0.0% ↑ 90 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\n\nagent> "
    );
    let results = bodies(&text).into_iter().filter_map(|body| match body {
        Body::ToolResult(result) => Some((result.status, result.edits.len())),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_change_that_was_shown_and_not_refused_is_a_result() {
    const QUESTION: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
    let shown = format!("@@ -1 +1 @@\n-a\n+b\n{QUESTION}");
    assert_eq!(results(&format!("{shown}Done.")), [(ToolStatus::Ok, 1)]);
    let went_on = format!("{shown}Continuing exploration...\nDone.");
    assert_eq!(results(&went_on), [(ToolStatus::Rejected, 0)]);
    let failed = format!("{shown}Error in EditFile: no such file\nDone.");
    assert_eq!(results(&failed), [(ToolStatus::Error, 0)]);
    let unseen = format!("Preview Unavailable: Content ID Verification Failed\n{QUESTION}Done.");
    assert_eq!(results(&unseen), [(ToolStatus::Error, 0)]);
}

#[test]
fn a_command_that_was_cut_off_has_no_result() {
    let call = "Tool Call: local_tools • Command\nArguments: {\"command_string\": \"make\"}\nRun tools? (Y)es/(N)o [Yes]: ";
    let runs = "⚙️ Executing non-interactive shell command: make\n";
    let events = read(&turn("I run.", &format!("{call}{runs}cc a.c\n\ncc b.")));
    assert_eq!(
        kinds(&events)[3..],
        ["tool_use", "prompt", "tool_output", "turn_end"]
    );
    let Body::ToolOutput(output) = &events[events.len() - 2].body else {
        panic!("{events:?}");
    };
    assert_eq!(output.text, "cc a.c\n\ncc b.");
    let told = |events: &[Event]| kinds(events)[5..].to_vec();
    let own = turn(
        "I run.",
        &format!("{call}⛭ Executing shell command with 30s timeout.\n"),
    );
    assert_eq!(told(&read(&own)), ["tool_output", "turn_end"]);
    let over = turn("I run.", &format!("{call}{runs}cc a.c\n\nagent> "));
    assert_eq!(told(&read(&over)), ["tool_result", "turn_end"]);
    let viewed = turn(
        "I look.",
        &format!("{}📎 Viewed 'a'\n", call.replace("Command", "View")),
    );
    assert_eq!(told(&read(&viewed)), ["tool_result", "turn_end"]);
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

#[test]
fn a_question_about_what_the_person_named_is_a_prompt() {
    const ASKS: &str = "(Y)es/(N)o/(D)on't ask again [Yes]: ";
    let file = format!("\nlib/b.py\nAdd file to the chat? {ASKS}It looks fine.");
    let address = format!(
        "\nhttps://x.org/a?b=c\nAdd URL to the chat? {ASKS}Scraping https://x.org/a?b=c...\nIt looks fine."
    );
    let counts = "Tokens: 1k sent, 900 received.";
    for (answer, told) in [
        (file.as_str(), &["notice", "prompt"][..]),
        (&address, &["notice", "prompt", "notice"]),
    ] {
        let events = read(&classic("diff", answer, counts));
        let kinds = kinds(&events);
        assert_eq!(kinds[1..=told.len()], *told, "{events:?}");
        assert_eq!(kinds[told.len() + 1..], ["text", "usage", "turn_end"]);
        assert_eq!(said(&events), ["It looks fine."]);
    }
    let typed = classic("diff", &file, counts).replace("> \n", "> fix it\n");
    let typed = typed
        .replace("[Yes]: It", "[Yes]: y\n\nIt")
        .replace('\n', "\r\n");
    let events = read(&typed);
    assert_eq!(
        kinds(&events),
        [
            "session", "user", "notice", "prompt", "text", "usage", "turn_end"
        ]
    );
    let own = "cecli v1.10.0\nModels         m (main)\nSettings       diff (edit format)\n\n> ";
    let own_counts = "1k ◇ 0.0% ↑ 900 ↓ 1k ◇ 0.0% ↑↓\n\n\n> ";
    let events = read(&format!("{own}{file}\n\n{own_counts}"));
    assert_eq!(said(&events), ["It looks fine."]);
    let quoted = file.trim_start();
    let events = read(&format!("{own}{quoted}\n\n{own_counts}"));
    assert_eq!(said(&events), [quoted]);
}

#[test]
fn questions_in_an_answer_are_text() {
    const QUESTION: &str =
        "Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: y\nThat is all.";
    for before in [
        "lib/b.py\n",
        "\nIt asks\n",
        "\nlib/b.py\n\n",
        "\nlib/b.py is\n",
    ] {
        let answer = format!("{before}{QUESTION}");
        let events = read(&classic("diff", &answer, "Tokens: 1k sent, 900 received."));
        assert_eq!(
            kinds(&events),
            ["session", "text", "usage", "turn_end"],
            "{answer}"
        );
        assert_eq!(said(&events), [answer.trim_start()]);
    }
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
fn token_counts_above_words_on_updating_are_text() {
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

#[test]
fn a_banner_names_the_model_in_every_spelling() {
    let after = "\nWeak model: w\nGit repo: .git with 4 files\nRepo-map: using 1024 tokens, files refresh\n\na.py\n> \nHere:\n\na.py\n```\nx = 1\n```\n\nTokens: 3k sent, 205 received.\nApplied edit to a.py\n\na.py\n> ";
    let long = "openrouter/anthropic/claude-3.7-sonnet";
    for (line, model) in [
        ("Model: m with whole edit format".to_owned(), "m"),
        (
            format!(
                "Main model: {long} with whole edit format, 8k \nthink tokens, prompt cache, infinite output"
            ),
            long,
        ),
        (
            format!("Model: {long} with whole edit format, 8k think \ntokens, infinite output"),
            long,
        ),
        (
            format!("Main model: {long} with whole edit format, prompt\ncache, infinite output"),
            long,
        ),
    ] {
        let events = read(&format!("Aider v0.86.2\n{line}{after}"));
        assert_eq!(
            kinds(&events),
            ["session", "text", "edit", "usage", "notice", "turn_end"],
            "{line}"
        );
        let Body::Session(session) = &events[0].body else {
            panic!("{events:?}");
        };
        assert_eq!(session.model, model);
        let states = events.iter().filter(|event| event.body.kind() == "state");
        assert_eq!(states.count(), 4, "three fields and the files");
        let line = line.lines().next().unwrap();
        assert!(super::line::is_distinctive(line), "{line}");
    }
}

#[test]
fn commands_that_were_allowed_together_are_calls_of_their_own() {
    let after = "Tokens: 1k sent, 900 received.\n\nmake all \nmake test\nRun shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: \nRunning make all\nRunning make\nRunning make all\nbuilt\n\nRunning make test\nRunning make all\nAdd command output to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: Added 2 lines of output to the chat.";
    let outputs: Vec<_> = bodies(&classic("diff", "Run.", after))
        .into_iter()
        .filter_map(|body| match body {
            Body::ToolResult(result) => Some(result.output.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        outputs,
        ["Running make\nRunning make all\nbuilt", "Running make all"]
    );
}

#[test]
fn quotations_are_no_prompts() {
    let text = "cecli v1.10.0\nModels         m (main)\nSettings       diff (edit format)\n\n> Hi.\n\n> a quotation\n\nBye.\n\n1k ◇ 0.0% ↑ 9 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\n\n> ";
    let events = read(text);
    assert_eq!(
        kinds(&events),
        ["session", "text", "usage", "usage", "turn_end"]
    );
}
