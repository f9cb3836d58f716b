//! The snippets of the format's guide, without a banner and without token counts.

use super::*;

const CALL: &str = "[blue]Tool Call:[/] web-search • full-web-search\n[blue]Arguments:[/] {\"query\": \"Model Control Protocol specification site:modelcontextprotocol.io\"}\n";
const QUESTION: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: \n";
const CHANGE: &str = "✅ Replaced 5 lines in path/to/file.py (change_id: 1a2b3c-4d5e)\n";
const ERROR: &str = "[red]ERROR:[/] Error in ReplaceText: File 'nonexistent.py' not found\n";
const THINKING: &str =
    "--------------\n► **THINKING**\nThe user wants it.\n------------\n► **ANSWER**\n";
const CONTEXT: &str =
    "<context name=\"gitStatus\">\n## Git Repository Status\n\nCurrent branch: main\n</context>\n";
const WORDS: &str = "I will look at it.\n";

/// Reads a text that no one names the agent of.
fn recognised(text: &str) -> Vec<Event> {
    let mut reader = Reader::new();
    reader.push(text.as_bytes());
    reader.finish();
    reader.events().collect()
}

fn untagged(text: &str) -> String {
    let tags = ["[blue]", "[red]", "[/]"];
    tags.iter()
        .fold(text.to_owned(), |text, tag| text.replace(tag, ""))
}

#[test]
fn every_snippet_counts_at_any_place() {
    let cases: &[(&[&str], &[&str])] = &[
        (&[CALL], &["tool_use"]),
        (&[CHANGE], &["tool_result"]),
        (&[CALL, QUESTION], &["tool_use", "prompt"]),
        (
            &[WORDS, CALL, QUESTION, CHANGE],
            &["text", "tool_use", "prompt", "tool_result"],
        ),
        (
            &[CONTEXT, CALL, QUESTION],
            &["context", "tool_use", "prompt"],
        ),
        (
            &[WORDS, CONTEXT, CALL, QUESTION],
            &["text", "context", "tool_use", "prompt"],
        ),
        (&[CONTEXT, WORDS, QUESTION], &["context", "text", "prompt"]),
        (
            &[THINKING, CALL, QUESTION],
            &["reasoning", "tool_use", "prompt"],
        ),
        (
            &[THINKING, WORDS, CALL, QUESTION, ERROR],
            &["reasoning", "text", "tool_use", "prompt", "tool_result"],
        ),
        (
            &["► **ANSWER**\n", WORDS, QUESTION, ERROR],
            &["text", "prompt", "notice"],
        ),
        (
            &[CALL, QUESTION, CHANGE, WORDS, THINKING, WORDS],
            &[
                "tool_use",
                "prompt",
                "tool_result",
                "text",
                "reasoning",
                "text",
            ],
        ),
        (
            &[CALL, WORDS, QUESTION],
            &["tool_use", "tool_result", "text", "prompt"],
        ),
        (
            &[WORDS, CHANGE, WORDS, CALL, ERROR],
            &["text", "tool_result", "text", "tool_use", "tool_result"],
        ),
    ];
    for (parts, expected) in cases {
        let text = parts.concat();
        for text in [untagged(&text), text] {
            let events = recognised(&text);
            let kinds = kinds(&events);
            let (first, kinds) = kinds.split_first().unwrap();
            let kinds: Vec<_> = kinds.iter().filter(|kind| **kind != "turn_end").collect();
            assert_eq!(*first, "session", "{text}");
            assert_eq!(kinds, expected.iter().collect::<Vec<_>>(), "{text}");
        }
    }
}

#[test]
fn quoted_and_indented_snippets_are_text() {
    let all = [CALL, QUESTION, CHANGE, ERROR, THINKING, CONTEXT].concat();
    let marked = |mark: &str| {
        let lines = all.lines().map(|line| format!("{mark}{line}\n"));
        lines.collect::<String>()
    };
    for quoted in [
        format!("```text\n{all}```\n"),
        format!("~~~\n{all}~~~\n"),
        format!("````\n```\n{all}```\n{all}````\n"),
        marked("> "),
        marked("    "),
    ] {
        let text = format!("{WORDS}\n{quoted}\nThat is all.");
        let events = read(&text);
        assert_eq!(kinds(&events), ["session", "text", "turn_end"], "{text}");
        assert_eq!(said(&events), [text]);
    }
}

#[test]
fn arguments_one_by_one_need_no_empty_lines() {
    let text = "Tool Call: local_tools • ReplaceText\nfile_path:\nsrc/a.py\nfind_text:\nx:\n\n  1\nreplace_text:\n2\nRun tools? (Y)es/(N)o [Yes]: ";
    let tagged = text
        .replace("_path:", "_path:[/]")
        .replace("_text:", "_text:[/]");
    let tagged = tagged
        .replace("\nfi", "\n[blue]fi")
        .replace("\nre", "\n[blue]re");
    for text in [text, &tagged] {
        let Body::ToolUse(call) = &bodies(text)[1] else {
            panic!("{text}");
        };
        assert_eq!(
            call.input.as_ref().unwrap().get(),
            r#"{"file_path":"src/a.py","find_text":"x:\n\n  1","replace_text":"2"}"#
        );
    }
}

#[test]
fn calls_of_the_banners_servers_need_no_token_counts() {
    let text = "Aider-CE v0.88.40\nMain model: m with agent edit format\nMCP servers configured: local_tools\n\nagent> Processing...\nI look.\n\nTool Call: SERVER • View\nArguments: {}\nRun tools? (Y)es/(N)o [Yes]: ";
    let events = read(&text.replace("SERVER", "local_tools"));
    assert_eq!(kinds(&events)[1..4], ["text", "tool_use", "prompt"]);
    let events = read(&text.replace("SERVER", "another"));
    assert_eq!(kinds(&events), ["session", "text", "turn_end"]);
}

#[test]
fn a_change_with_an_id_was_made_even_if_the_run_is_cut_off() {
    let text = "Tool Call: Local • ReplaceText\nfile_path:\na.py\n\nfind_text:\nx\n\nreplace_text:\ny\n\n\
        ✅ Replaced text in a.py (change_id: 1a2b3c4d)\n";
    let events = recognised(text);
    let made = events.iter().find_map(|event| match &event.body {
        Body::ToolResult(result) => result.edits.first(),
        _ => None,
    });
    assert_eq!(made.unwrap().hunks[0].lines, ["-x", "+y"]);
}
