//! Rules of the format's guide that no recording shows.

use crate::event::{Body, Event, Level, ToolStatus, TurnStatus};
use crate::{Reader, ReaderOptions};

mod calls;
mod counts;
mod guide;
mod pauses;
mod snippets;
mod widths;

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
    let kinds = events.iter().map(|event| event.body.kind());
    kinds.filter(|kind| *kind != "state").collect()
}

fn bodies(text: &str) -> Vec<Body> {
    read(text).into_iter().map(|event| event.body).collect()
}

/// A turn of aider-ce 0.88: the answer, and the lines after its token counts.
fn turn(answer: &str, after: &str) -> String {
    format!(
        "Aider-CE v0.88.40\nMain model: m with agent edit format\n\nagent> Processing...\n{answer}\n\nTokens: 1k sent, 900 received.\n\n{after}"
    )
}

/// A turn of aider itself: the answer, and the lines after it.
fn classic(format: &str, answer: &str, after: &str) -> String {
    format!(
        "Aider v0.86.2\nMain model: m with {format} edit format\n\n> \n{answer}\n\n{after}\n\n> "
    )
}

/// Returns the texts of the model.
fn said(events: &[Event]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| match &event.body {
        Body::Text(message) => Some(message.text.to_string()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn colours_around_markers_do_not_hide_them() {
    let text = "\x1b[34mTool Call:\x1b[0m local_tools • View\n\x1b[34mArguments:\x1b[0m {\"file_path\": \"a\"}\n";
    assert_eq!(kinds(&read(text)), ["session", "tool_use", "turn_end"]);
}

#[test]
fn context_blocks_come_before_the_answer() {
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
fn a_question_about_a_named_file_is_a_prompt() {
    const ASKS: &str = "(Y)es/(N)o/(D)on't ask again [Yes]: ";
    let file = format!("\nlib/b.py\nAdd file to the chat? {ASKS}It looks fine.");
    let address = format!(
        "\nhttps://x.org/a?b=c\nAdd URL to the chat? {ASKS}Scraping https://x.org/a?b=c...\nIt looks fine."
    );
    let counts = "Tokens: 1k sent, 900 received.";
    for (answer, expected) in [
        (file.as_str(), &["notice", "prompt"][..]),
        (&address, &["notice", "prompt", "notice"]),
    ] {
        let events = read(&classic("diff", answer, counts));
        let kinds = kinds(&events);
        assert_eq!(kinds[1..=expected.len()], *expected, "{events:?}");
        assert_eq!(kinds[expected.len() + 1..], ["text", "usage", "turn_end"]);
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
fn quotations_are_not_prompts() {
    let text = "cecli v1.10.0\nModels         m (main)\nSettings       diff (edit format)\n\n> Hi.\n\n> a quotation\n\nBye.\n\n1k ◇ 0.0% ↑ 9 ↓ $0.1 • 1k ◇ 0.0% ↑↓ $0.1\n\n\n> ";
    let events = read(text);
    assert_eq!(
        kinds(&events),
        ["session", "text", "usage", "usage", "turn_end"]
    );
}
