//! Tabs and control characters, in every place that takes text.

use serde_json::json;

use crate::events::{
    CODALOTL, Call, OWN, answer, assert_same, line, plain, reasoning, shows_line, texts,
};

/// Returns lines with a text in every place of the document, and the expected
/// last output if the text is displayed as `shown`.
fn places(text: &str, shown: &str) -> Vec<(String, String)> {
    [
        messages(text, shown),
        common_tools(text, shown),
        api_tools(text, shown),
    ]
    .concat()
}

fn messages(text: &str, shown: &str) -> Vec<(String, String)> {
    vec![
        (answer(text), format!("• {shown}")),
        (answer(&format!("`{text}`")), format!("• {shown}")),
        (answer(&format!("**{text}**")), format!("• {shown}")),
        (answer(&format!("# {text}")), format!("• {shown}")),
        (answer(&format!("- {text}")), format!("• - {shown}")),
        (answer(&format!("> {text}")), format!("• │ {shown}")),
        (answer(&format!("```\n{text}\n```")), format!("• {shown}")),
        (reasoning(text), format!("• {shown}")),
        (reasoning(&format!("**{text}**\n\nx")), format!("• {shown}")),
        (line("user_message", "text", text), format!("› {shown}")),
        (line("error", "message", text), format!("• Error: {shown}")),
        (
            line("warning", "message", text),
            format!("• Warning: {shown}"),
        ),
        (
            line("canceled", "message", text),
            format!("• Canceled: {shown}"),
        ),
    ]
}

fn common_tools(text: &str, shown: &str) -> Vec<(String, String)> {
    let call = |name: &str, input| Call::new(name, &input);
    vec![
        (
            call("shell", json!({"command": ["echo", text]})).announced(),
            format!("• Running echo {shown}"),
        ),
        (
            call("shell", json!({"command": text})).announced(),
            format!("• Running {shown}"),
        ),
        (
            call("shell", json!({"command": "ls"})).failed(text),
            format!("• Ran ls\n  └ Error: {shown}"),
        ),
        (
            call("ls", json!({"path": text})).announced(),
            format!("• List {shown}"),
        ),
        (
            call("read_file", json!({"path": text})).succeeded(text),
            format!("• Read {shown}"),
        ),
        (
            call(
                "update_plan",
                json!({"explanation": text, "plan": [{"step": text, "status": "pending"}]}),
            )
            .announced(),
            format!("• Update Plan\n  └ {shown}\n    □ {shown}"),
        ),
        (
            Call::with_text("some_tool", "").succeeded(text),
            format!("• Tool some_tool\n  └ {shown}"),
        ),
        (
            Call::with_text(
                "apply_patch",
                &format!("*** Begin Patch\n*** Update File: f\n {text}\n-{text}\n+{text}"),
            )
            .succeeded("ok"),
            format!("• Edit f\n         {shown}\n        -{shown}\n        +{shown}"),
        ),
    ]
}

fn api_tools(text: &str, shown: &str) -> Vec<(String, String)> {
    let call = |name: &str, input| Call::new(name, &input);
    vec![
        (
            call(
                "get_public_api",
                json!({"path": text, "identifiers": [text]}),
            )
            .announced(),
            format!("• Read Public API {shown}\n  └ {shown}"),
        ),
        (
            call(
                "clarify_public_api",
                json!({"path": text, "identifier": text, "question": text}),
            )
            .announced(),
            format!("• Clarifying {shown} in {shown}\n  └ {shown}"),
        ),
        (
            call(
                "clarify_public_api",
                json!({"path": "p", "identifier": "A"}),
            )
            .succeeded(text),
            format!("• Clarified A in p\n  └ {shown}"),
        ),
        (
            call(
                "update_usage",
                json!({"paths": [text], "instructions": text}),
            )
            .announced(),
            format!("• Updating Usage in {shown}\n  └ {shown}"),
        ),
        (
            call("change_api", json!({"path": text, "instructions": text})).announced(),
            format!("• Changing API in {shown}\n  └ {shown}"),
        ),
        (
            call(
                "get_usage",
                json!({"defining_package_path": text, "identifier": text}),
            )
            .announced(),
            format!("• Read Usage {shown} {shown}"),
        ),
        (
            call("module_info", json!({"package_search": text})).announced(),
            format!("• Read Module Info\n  └ Search: {shown}"),
        ),
        (
            call("run_tests", json!({"path": text, "test_name": text})).announced(),
            format!("• Running Tests {shown} -run {shown}"),
        ),
    ]
}

#[track_caller]
fn are_shown_as(text: &str, shown: &str) {
    for (lines, expected) in places(text, shown) {
        for width in [0, 120] {
            let texts = texts(plain(), CODALOTL, &lines, width);
            assert_same(&texts[texts.len() - 1..], &[&expected]);
        }
    }
}

#[test]
fn tabs_are_four_spaces_everywhere() {
    are_shown_as("a\tb", "a    b");
    are_shown_as("abc\td\t\te", "abc    d        e");
}

#[test]
fn tabs_in_the_output_of_commands_are_four_spaces() {
    let shell = Call::new("shell", &json!({"command": "ls"}));
    let test_run = Call::new("run_tests", &json!({"path": "p"}));
    let output = "a\tb\nabcdefghi\tb\n\t\tc\n\u{1b}[1mx\u{1b}[0m\ty";
    let expected = "\n  └ a    b\n    abcdefghi    b\n            c\n    x    y";
    for (lines, heading) in [
        (shell.succeeded(output), "• Ran ls"),
        (
            test_run.succeeded(&format!("<t ok=\"true\">\n{output}\n</t>")),
            "• Ran Tests p",
        ),
    ] {
        let texts = texts(plain(), CODALOTL, &lines, 80);
        assert_same(&texts[1..], &[format!("{heading}{expected}")]);
    }
}

#[test]
fn control_characters_are_escaped_everywhere() {
    are_shown_as("a\u{1b}[31mb", "a\\x1B[31mb");
    are_shown_as("a\u{1b}]52;c;eA==\u{7}b", "a\\x1B]52;c;eA==\\x07b");
    are_shown_as("a\u{8}\u{b}\u{7f}\u{9b}2Jb", "a\\x08\\x0B\\x7F\\x9B2Jb");
    are_shown_as("a\u{202e}b", "a\\u{202E}b");
}

/// Once in the line, twice in an input that is a JSON string.
#[test]
fn escapes_of_json_become_control_characters_and_are_escaped_again() {
    shows_line(
        r#"{"type":"assistant_text","agent":{"id":"a","depth":0},"content":"a\u001b[31mb\u0007\u009b\tc"}"#,
        r"«a •» a\x1B[31mb\x07\x9B    c",
    );
    shows_line(
        r#"{"type":"tool_call","agent":{"id":"a","depth":0},"tool":{"call_id":"1","name":"ls","input":"{\"path\":\"a\\u001b[31mb\\u0007\\tc\"}"}}"#,
        r"«a •» «c* List» a\x1B[31mb\x07    c",
    );
}

/// JSON output keeps its own escapes.
#[test]
fn the_json_of_other_tools_has_no_control_characters() {
    let text = "a\u{1b}[31m\tb\u{7f}\u{9b}";
    let call = Call::new("some_tool", &json!({ "x": text }));
    let lines = call.succeeded(&json!({ "y": text }).to_string());
    assert_same(
        &texts(plain(), CODALOTL, &lines, 80),
        &[
            r#"• Tool some_tool {"x":"a\u001b[31m\tb\x7F\x9B"}"#,
            r#"• Tool some_tool {"x":"a\u001b[31m\tb\x7F\x9B"}
  └ {
      "y": "a\u001b[31m\tb\x7F\x9B"
    }"#,
        ],
    );
}

/// Terminal output is interpreted: colours stay, other sequences are removed.
#[test]
fn escape_sequences_in_command_output_are_removed() {
    let call = Call::new("shell", &json!({"command": "ls"}));
    let output = "\u{1b}]0;title\u{7}a\u{1b}[31mb\u{1b}[0m\u{1b}[5Cc\r\nd\u{7}\u{0}";
    let texts = texts(plain(), CODALOTL, &call.succeeded(output), 80);
    assert_same(&texts[1..], &["• Ran ls\n  └ ab     c\n    d"]);
}

/// Labels of events that were read back can contain anything.
#[test]
fn labels_of_events_read_back_are_clean() {
    let bad = r"a\u001b[31m\tb";
    let shown = r"a\x1B[31m    b";
    for (line, expected) in [
        (
            format!(
                r#"{{"kind":"edit","seq":0,"edits":[{{"op":"move","path":"{bad}","new_path":"{bad}"}}]}}"#
            ),
            format!("• Rename {shown} → {shown}"),
        ),
        (
            format!(r#"{{"kind":"tool_use","seq":0,"id":"1","name":"{bad}","category":"other"}}"#),
            format!("• Tool {shown}"),
        ),
        (
            format!(
                r#"{{"kind":"tool_use","seq":0,"id":"1","name":"x","category":"execute","title":"{bad}"}}"#
            ),
            format!("• Running {shown}"),
        ),
        (
            format!(
                r#"{{"kind":"permission","seq":0,"id":"1","title":"{bad}","outcome":"{bad}"}}"#
            ),
            format!("• Permission {shown} ({shown})"),
        ),
        (
            format!(
                r#"{{"kind":"prompt","seq":0,"question":"{bad}","options":["{bad}"],"answer":"{bad}"}}"#
            ),
            format!("• {shown} {shown}"),
        ),
        (
            format!(r#"{{"kind":"context","seq":0,"name":"{bad}"}}"#),
            format!("• Context {shown}"),
        ),
        (
            format!(r#"{{"kind":"notice","seq":0,"level":"info","text":"{bad}"}}"#),
            format!("• {shown}"),
        ),
        (
            format!(r#"{{"kind":"unknown","seq":0,"text":"{bad}"}}"#),
            format!("• {shown}"),
        ),
    ] {
        assert_same(&texts(plain(), OWN, &line, 80), &[expected]);
    }
}
