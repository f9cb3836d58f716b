//! Strips the envelope that agents put around a result for the model: tags,
//! headers and sentences that repeat the heading.

use std::borrow::Cow;

use crate::doc::from_first_line;
use crate::json::{Json, Object};

/// Placeholders for empty output.
const EMPTY_OUTPUT: &[&str] = &["(Bash completed with no output)", "(no output)", "(empty)"];

/// Messages that replace the output of a command that the agent keeps to
/// itself.
const ANNOUNCEMENTS: &[&str] = &[
    "⛭ Executing shell command",
    "⚙️ Executing non-interactive shell command",
];

/// Tags of notes that an agent appends to a command's output.
const NOTES: &[&str] = &["shell_metadata", "bash_metadata", "persisted-output"];

/// First words of results for work that continues in the background.
const IN_BACKGROUND: &[&str] = &[
    "Async agent launched successfully.",
    "Command running in background with ID: ",
];

/// Maximum lines of a header.
pub(super) const LONGEST_HEADER: usize = 12;

/// Returns the output of a command.
pub(super) fn command_output(text: &str, exit_code: Option<i64>) -> Cow<'_, str> {
    let text = without_preamble(text, exit_code);
    let line = text.trim();
    let is_announced = ANNOUNCEMENTS.iter().any(|start| line.starts_with(start));
    let is_code = |code: i64| line == format!("Command exited with code: {code}");
    if exit_code.is_some_and(is_code) {
        return Cow::Borrowed("");
    }
    if EMPTY_OUTPUT.contains(&line) || (is_announced && !line.contains('\n')) {
        return Cow::Borrowed("");
    }
    untag_notes(text)
}

/// Skips the header, the exit code and leading blank lines.
pub(super) fn without_preamble(text: &str, exit_code: Option<i64>) -> &str {
    from_first_line(without_exit_code(without_header(text), exit_code))
}

/// Returns true if a result only announces that the work continues.
pub(super) fn is_in_background(text: &str) -> bool {
    IN_BACKGROUND.iter().any(|start| text.starts_with(start))
}

/// Returns the messages of aider's report for the model:
/// `{"result":[{"content":…}],"errors":[…]}`.
pub(super) fn report(text: &str) -> Option<String> {
    let fields = text
        .starts_with("{\"result\"")
        .then(|| Json::parse(text))??
        .object();
    let (results, errors) = (fields.get("result"), fields.get("errors"));
    if !results.is_array() || !errors.is_array() {
        return None;
    }
    let mut messages: Vec<String> = Vec::new();
    for error in errors.array().into_iter().map(Json::string) {
        // An error can itself be an encoded list of errors.
        let listed = Json::parse(&error).map(Json::array).unwrap_or_default();
        let listed: Vec<String> = listed.into_iter().map(Json::string).collect();
        messages.extend(if listed.is_empty() {
            vec![error]
        } else {
            listed
        });
    }
    let all = messages.clone();
    let is_repeated = |word: &String| {
        all.iter()
            .any(|other| other.len() > word.len() && other.contains(word.as_str()))
    };
    messages.retain(|word| !is_repeated(word));
    if messages.is_empty() {
        let results = results.array().into_iter().map(Json::object);
        messages.extend(results.map(|result: Object<'_>| result.get("content").string()));
    }
    // Drop the message that ends a turn.
    messages.retain(|message| !message.starts_with("Yielded."));
    Some(messages.join("\n"))
}

/// Returns the output of a command before its cancellation, if the agent's
/// message about the cancellation encloses it.
pub(super) fn before_cancel(text: &str) -> Option<&str> {
    const ABOVE: &str = "Command cancelled by user.\n\nOutput before cancellation:\n";
    const BELOW: &str = "<shell_metadata>\nUser aborted the command\n</shell_metadata>";
    let text = text.trim();
    let rest = text.strip_prefix(ABOVE);
    rest.or_else(|| text.strip_suffix(BELOW)).map(str::trim)
}

/// Returns true if the cancellation message replaces the output.
pub(super) fn is_cancel_message(text: &str) -> bool {
    text.trim_start().starts_with("aborted by user")
}

/// Returns true if the text only says that the call was rejected or canceled,
/// like the heading.
fn is_redundant(text: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "User refused permission to run tool",
        "The user rejected permission to use this specific tool call.",
        "The user doesn't want to proceed with this tool use.",
        "Tool permission request failed: Error: Tool use aborted",
        "Tool call was cancelled before execution.",
        "Tool execution aborted",
        "Command cancelled by user.",
    ];
    let by_name = text.starts_with("Tool \"") && text.ends_with("\" was canceled by the user.");
    let is_known = by_name || PREFIXES.iter().any(|start| text.starts_with(start));
    is_known && !text.contains("the user said")
}

/// Returns the reason of a failure.
pub(super) fn reason(text: &str) -> Cow<'_, str> {
    if let Some(report) = report(text.trim()) {
        return Cow::Owned(report);
    }
    let text = without_header(text).trim();
    let text = text
        .strip_prefix("<tool_use_error>")
        .and_then(|text| text.strip_suffix("</tool_use_error>"))
        .unwrap_or(text);
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    if is_redundant(text) {
        return Cow::Borrowed("");
    }
    // A note explains the failure; the output before it does not.
    match split_note(text) {
        Some((output, note)) if is_shell_note(text) => Cow::Owned(joined(note, output)),
        Some((output, note)) => Cow::Owned(joined(output, note)),
        None => Cow::Borrowed(text),
    }
}

/// Skips a header of `Name: value` lines that ends in `Output:`.
fn without_header(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..LONGEST_HEADER {
        let Some((line, after)) = rest.split_once('\n') else {
            let is_empty = rest.trim_end() == "Output:";
            return if is_empty { "" } else { text };
        };
        if line.trim_end() == "Output:" {
            return after;
        }
        if !line.contains(": ") {
            return text;
        }
        rest = after;
    }
    text
}

/// Skips a first line `Exit code N` that repeats the exit code.
fn without_exit_code(text: &str, exit_code: Option<i64>) -> &str {
    let Some(code) = exit_code else {
        return text;
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let code_in_text = first
        .trim_end()
        .strip_prefix("Exit code ")
        .and_then(|code| code.parse::<i64>().ok());
    if code_in_text == Some(code) {
        rest
    } else {
        text
    }
}

/// Removes the tags around notes below an output.
fn untag_notes(text: &str) -> Cow<'_, str> {
    match split_note(text) {
        Some((output, note)) => Cow::Owned(joined(output, note)),
        None => Cow::Borrowed(text),
    }
}

/// Splits an output into the printed text and the note below it.
fn split_note(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    if !text.ends_with('>') {
        return None;
    }
    NOTES.iter().find_map(|tag| {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let (output, note) = text.rsplit_once(open.as_str())?;
        let note = note.strip_suffix(close.as_str())?;
        Some((output.trim_end(), note.trim()))
    })
}

/// Returns true if the note explains how the command ended.
fn is_shell_note(text: &str) -> bool {
    text.trim_end().ends_with("_metadata>")
}

fn joined(first: &str, second: &str) -> String {
    let between = if first.is_empty() || second.is_empty() {
        ""
    } else {
        "\n"
    };
    format!("{first}{between}{second}")
}

/// Returns a sub-agent's answer.
pub(super) fn answer(text: &str) -> &str {
    let inner = text
        .trim_end()
        .strip_suffix("</task_result>")
        .and_then(|text| text.split_once("<task_result>"))
        .map(|(_, inner)| inner.trim());
    inner.unwrap_or_else(|| without_tag(without_tag(without_claude_notes(text))))
}

/// Strips Claude Code's notes for the model: the tools used and the sub-agent's
/// id.
fn without_claude_notes(text: &str) -> &str {
    let rest = text
        .trim_start()
        .strip_prefix("<tools-used-before-summary>");
    let report = rest.and_then(|rest| rest.split_once("</tools-used-before-summary>"));
    let Some((_, report)) = report else {
        return text;
    };
    let report = report.trim();
    match report.rsplit_once('\n') {
        Some((answer, id)) if id.starts_with("agentId: ") => answer.trim_end(),
        _ => report,
    }
}

/// Returns the text inside a single XML-like tag that encloses all of it; other
/// text stays unchanged.
pub(super) fn without_tag(text: &str) -> &str {
    tagged(text).map_or(text, |inner| inner.trim_matches('\n'))
}

fn tagged(text: &str) -> Option<&str> {
    let (tag, rest) = text.trim().strip_prefix('<')?.split_once('>')?;
    let name = tag.split_whitespace().next()?;
    let inner = rest.strip_suffix('>')?.strip_suffix(name)?;
    let inner = inner.strip_suffix("</")?;
    (!inner.contains(&format!("</{name}>"))).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_exit_code_is_removed() {
        assert_eq!(command_output("Exit code 1\nboom", Some(1)), "boom");
        assert_eq!(command_output("Exit code 1", Some(1)), "");
        assert_eq!(
            command_output("Exit code 2\nboom", Some(1)),
            "Exit code 2\nboom"
        );
        assert_eq!(
            command_output("Exit code 1\nboom", None),
            "Exit code 1\nboom"
        );
    }

    #[test]
    fn leading_blank_lines_are_removed() {
        assert_eq!(command_output("\n \n\r\n  a\n\nb", None), "  a\n\nb");
        assert_eq!(command_output("  a", None), "  a");
        assert_eq!(from_first_line("\n\n"), "");
    }

    #[test]
    fn headers_and_placeholders_are_removed() {
        assert_eq!(
            command_output(
                "Command: make\nProcess State: exit status 2\nOutput:\nno rule\n",
                Some(2)
            ),
            "no rule\n"
        );
        assert_eq!(command_output("a: b\nOutput:", None), "");
        assert_eq!(
            command_output("(Bash completed with no output)", Some(0)),
            ""
        );
        assert_eq!(command_output("a: b\nc\n", None), "a: b\nc\n");
    }

    #[test]
    fn notes_lose_their_tags_and_the_gap_before_them() {
        let text = "before\n\n\n<shell_metadata>\nstopped after 700 ms\n</shell_metadata>";
        assert_eq!(command_output(text, None), "before\nstopped after 700 ms");
        assert_eq!(
            reason("<bash_metadata>\nstopped\n</bash_metadata>"),
            "stopped"
        );
        assert_eq!(reason(text), "stopped after 700 ms\nbefore");
        assert_eq!(
            command_output("a <shell_metadata> b", None),
            "a <shell_metadata> b"
        );
    }

    #[test]
    fn sub_agent_answers_lose_their_envelope() {
        let text = "task_id: ses_1 (for resuming)\n\n<task_result>\nDone.\n</task_result>";
        assert_eq!(answer(text), "Done.");
        assert_eq!(answer("<r>\nDone.\n</r>"), "Done.");
        assert_eq!(answer("Done."), "Done.");
        let noted =
            "<tools-used-before-summary>Bash</tools-used-before-summary>\n\n4 files.\nagentId: a60";
        assert_eq!(answer(noted), "4 files.");
    }

    #[test]
    fn only_a_tag_around_the_whole_text_is_removed() {
        assert_eq!(without_tag("<r ok=\"1\">\nDone.\n</r>"), "Done.");
        for text in [
            "<status>failed</status> <code>3</code>",
            "<a>1</a>\n<a>2</a>",
            "<a>b>",
            "<>x</>",
        ] {
            assert_eq!(without_tag(text), text);
        }
    }

    #[test]
    fn aider_reports_are_reduced_to_their_messages() {
        let failed = r#"{"result": [], "errors": ["[\"Edit 1: no\"]", "Nothing:\nEdit 1: no"], "details": []}"#;
        assert_eq!(reason(failed), "Nothing:\nEdit 1: no");
        let done = r#"{"result": [{"content": "Yielded. Summary: x", "_": {}}, {"content": "a"}], "errors": []}"#;
        assert_eq!(report(done).as_deref(), Some("a"));
        assert_eq!(report(r#"{"result": 7}"#), None);
        assert_eq!(
            command_output("⛭ Executing shell command with 30s timeout.", None),
            ""
        );
    }

    #[test]
    fn error_tags_are_removed() {
        let text = "<tool_use_error>Error: No such tool: x</tool_use_error>";
        assert_eq!(reason(text), "No such tool: x");
        assert_eq!(reason("Error: gone\n"), "gone");
    }
}
