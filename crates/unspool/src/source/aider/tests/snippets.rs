//! Snippets of the guide to the linear output, word for word.

use super::*;

const CALL: &str = "[blue]Tool Call:[/] web-search • full-web-search\n[blue]Arguments:[/] {\"query\": \"Model Control Protocol specification site:modelcontextprotocol.io\"}\n";
const RUN: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";
const DONE: &str = "✅ Replaced 5 lines in path/to/file.py (change_id: 1a2b3c-4d5e)\n";
const FAILED: &str = "[red]ERROR:[/] Error in ReplaceText: File 'nonexistent.py' not found\n";
const THOUGHT: &str = "--------------\n► **THINKING**\nThe user wants to find all files related to the template system. I should use the `grep` tool to search for the word \"template\" in the codebase. This will give me a starting point for the refactoring task.\n------------\n► **ANSWER**\n";
const BLOCK: &str = "app.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";

#[test]
fn each_snippet_alone_is_what_the_guide_calls_it() {
    for (snippet, kind) in [
        (CALL, "tool_use"),
        (RUN, "prompt"),
        (DONE, "tool_result"),
        (FAILED, "notice"),
        (THOUGHT, "reasoning"),
        ("Edit the files? (Y)es/(N)o/(T)weak [Yes]: ", "prompt"),
    ] {
        assert!(kinds(&read(snippet)).contains(&kind), "{snippet}");
    }
}

#[test]
fn a_tool_error_keeps_its_message_without_the_tag() {
    let bodies = bodies(FAILED);
    let notice = bodies.iter().find_map(|body| match body {
        Body::Notice(notice) => Some((notice.level, notice.text.to_string())),
        _ => None,
    });
    let text = "Error in ReplaceText: File 'nonexistent.py' not found";
    assert_eq!(notice, Some((Level::Error, text.to_owned())));
}

#[test]
fn a_call_its_question_and_its_result_are_a_round() {
    let call = "[blue]Tool Call:[/] local_tools • ReplaceText\n[blue]Arguments:[/] {}\n";
    let events = read(&turn("I edit.", &format!("{call}{RUN}{DONE}\nagent> ")));
    assert_eq!(
        kinds(&events)[3..],
        ["tool_use", "prompt", "tool_result", "turn_end"]
    );
}

#[test]
fn an_architects_question_may_be_tweaked() {
    let bodies = bodies("Edit the files? (Y)es/(N)o/(T)weak [Yes]: ");
    let prompt = bodies.iter().find_map(|body| match body {
        Body::Prompt(prompt) => Some(prompt),
        _ => None,
    });
    let prompt = prompt.expect("a prompt");
    assert_eq!(prompt.question, "Edit the files?");
    assert_eq!(prompt.options, ["Yes", "No", "Tweak"]);
    assert_eq!(prompt.default, "Yes");
}

#[test]
fn the_context_blocks_of_the_guide_are_contexts() {
    for (name, title, text) in [
        (
            "context_summary",
            "Current Context Overview",
            "Model context limit: 200,000 tokens\n\n### Editable Files\n\n- my_file.py: 1,234 tokens (🟡 Medium)",
        ),
        (
            "gitStatus",
            "Git Repository Status",
            "Current branch: main\nStatus:\n M my_file.py\n?? new_file.py",
        ),
        (
            "tool_usage_history",
            "Turn and Tool Call Statistics",
            "- Current turn: 3\n- Total tool calls this turn: 5",
        ),
    ] {
        let block = format!("<context name=\"{name}\">\n## {title}\n\n{text}\n</context>\n");
        let bodies = bodies(&block);
        let context = bodies.iter().find_map(|body| match body {
            Body::Context(context) => Some(context),
            _ => None,
        });
        let context = context.unwrap_or_else(|| panic!("{bodies:?}"));
        assert_eq!(
            (context.name.as_str(), context.title.as_str()),
            (name, title)
        );
        assert_eq!(context.text, text);
    }
}

#[test]
fn markdown_of_the_model_is_text_as_it_came() {
    let markdown = "## A Heading\n\n- A list item\n- Another list item\n\n```python\n# A code block\ndef hello():\n    print(\"world\")\n```";
    let events = read(&turn(markdown, "agent> "));
    assert_eq!(said(&events), [markdown]);
}

#[test]
fn reasoning_is_apart_from_the_answer() {
    let events = read(&turn(&format!("{THOUGHT}It is here."), "agent> "));
    assert_eq!(kinds(&events)[..3], ["session", "reasoning", "text"]);
    assert_eq!(said(&events), ["It is here."]);
}

#[test]
fn an_agent_may_edit_with_blocks_of_its_own() {
    let events = read(&turn(
        &format!("I edit.\n\n{BLOCK}"),
        "Applied edit to app.py\n\nagent> ",
    ));
    let edit = events.iter().find_map(|event| match &event.body {
        Body::Edit(edit) => Some(&edit.edits[0]),
        _ => None,
    });
    let edit = edit.expect("an edit");
    assert_eq!(
        (edit.path.as_str(), &edit.hunks[0].lines[..]),
        ("app.py", &["-a".into(), "+b".into()][..])
    );
}

#[test]
fn an_architect_plans_asks_and_edits() {
    let plan = "To implement this feature, I will first add a test case to `tests/test_templates.py` that expects a header to be parsed.";
    let text = format!(
        "Aider v0.86.2\nModel: m with architect edit format\nEditor model: e with editor-diff edit format\n\narchitect> \n{plan}\n\nTokens: 1k sent, 90 received.\nEdit the files? (Y)es/(N)o [Yes]: \n{BLOCK}\nTokens: 1k sent, 90 received.\nApplied edit to app.py\n\narchitect> "
    );
    let events = read(&text);
    let shown: Vec<_> = kinds(&events)
        .into_iter()
        .filter(|kind| ["text", "prompt", "edit"].contains(kind))
        .collect();
    assert_eq!(shown, ["text", "prompt", "edit"]);
    assert_eq!(said(&events), [plan]);
}

#[test]
fn markers_inside_a_fence_are_text() {
    let answer = format!("It prints:\n\n```\n{CALL}{RUN}\n{DONE}```\n\nSo it is.");
    let events = read(&turn(&answer, "agent> "));
    assert_eq!(kinds(&events), ["session", "text", "usage", "turn_end"]);
}
