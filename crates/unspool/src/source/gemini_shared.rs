//! Formats that Gemini CLI and its fork Qwen Code share: parts of messages,
//! texts of shell results, edits in tool inputs and in `resultDisplay`, and the
//! sentences of refused and canceled calls.

use std::borrow::Cow;

use crate::event::{Edit, EditOp, Media, ToolStatus};
use crate::json::{Json, Object};
use crate::patch;
use crate::source::Emitter;

/// Returns the parts of a `PartListUnion`: one or several, each an object or a
/// bare string.
pub(super) fn parts(content: Json<'_>) -> Vec<Json<'_>> {
    if content.is_array() {
        content.array()
    } else {
        vec![content]
    }
}

/// Returns the text of a part; `None` for thoughts and other kinds of parts.
pub(super) fn part_text(part: Json<'_>) -> Option<Cow<'_, str>> {
    let fields = part.object();
    if fields.get("thought").is_true() {
        return None;
    }
    part.str().or_else(|| fields.get("text").str())
}

/// Returns true if a part has a form that is read.
pub(super) fn is_known_part(part: Json<'_>) -> bool {
    const KEYS: &[&str] = &[
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
    ];
    let fields = part.object();
    let is_known = |key: &&str| {
        let value = fields.get(key);
        value.is_object() || *key == "text" && value.is_string()
    };
    part.is_string() || part.is_null() || fields.is_empty() || KEYS.iter().any(is_known)
}

/// Joins the texts of all parts.
pub(super) fn joined_text(content: Json<'_>) -> String {
    parts(content).into_iter().filter_map(part_text).collect()
}

/// Returns the pictures, sounds and files among the parts of a message, and those
/// inside its function responses.
pub(super) fn media(content: Json<'_>, out: &Emitter) -> Vec<Media> {
    let parts = parts(content).into_iter();
    let media = parts.flat_map(|part| {
        let inner = out.media_in(part.get("functionResponse").get("parts"));
        out.media(part).into_iter().chain(inner)
    });
    media.collect()
}

/// The result of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command<'a> {
    pub(super) output: Cow<'a, str>,
    pub(super) exit_code: Option<i64>,
    pub(super) status: ToolStatus,
}

impl<'a> Command<'a> {
    /// A command that a signal may have ended: then its exit code is not 0, and
    /// the output says so.
    fn ended(output: &'a str, exit_code: Option<i64>, signal: Option<&str>) -> Self {
        let exit_code = exit_code.filter(|code| *code != 0 || signal.is_none());
        let is_ok = signal.is_none() && exit_code.is_none_or(|code| code == 0);
        Self {
            output: match signal {
                Some(signal) => with_line(output, &format!("Signal: {signal}")).into(),
                None => output.into(),
            },
            exit_code,
            status: if is_ok {
                ToolStatus::Ok
            } else {
                ToolStatus::Error
            },
        }
    }
}

/// Appends a line to a text.
fn with_line(text: &str, line: &str) -> String {
    match text.trim_end_matches('\n') {
        "" => line.to_owned(),
        text => format!("{text}\n{line}"),
    }
}

/// Reads the result of a command in the form that the model gets: a sentence
/// about a stopped command, or `Output: …` and the labeled lines around it,
/// possibly inside an `<untrusted_context>`; `None` if the text has another form.
pub(super) fn shell_text(text: &str) -> Option<Command<'_>> {
    /// Labels of the lines after the output, in order.
    const AFTER: &[&str] = &[
        "Error: ",
        "Exit Code: ",
        "Signal: ",
        "Background PIDs: ",
        "Process Group PGID: ",
    ];
    let text = text
        .strip_prefix("<untrusted_context>\n")
        .and_then(|text| text.strip_suffix("\n</untrusted_context>"))
        .unwrap_or(text);
    if let Some(status) = displayed_failure(text) {
        return Some(Command {
            output: text.into(),
            exit_code: None,
            status,
        });
    }
    let mut output = match text.strip_prefix("Output: ") {
        Some(output) => output,
        None if text.starts_with("Command: ") => text.split_once("\nOutput: ")?.1,
        None => return None,
    };
    let (mut error, mut exit_code, mut signal, mut before) = ("", None, None, AFTER.len());
    while let Some((head, line)) = output.rsplit_once('\n') {
        let found = AFTER
            .iter()
            .take(before)
            .enumerate()
            .find_map(|(n, label)| Some((n, *label, line.strip_prefix(label)?)));
        let Some((position, label, value)) = found else {
            break;
        };
        match label {
            "Error: " if value != "(none)" => error = value,
            "Exit Code: " => exit_code = value.parse().ok(),
            "Signal: " => signal = Some(value).filter(|signal| is_signal(signal)),
            _ => {}
        }
        output = head;
        before = position;
    }
    let output = if output == "(empty)" { error } else { output };
    Some(Command::ended(output, exit_code, signal))
}

fn is_signal(word: &str) -> bool {
    !matches!(word, "" | "(none)" | "null" | "0")
}

/// Reads Qwen Code's `shell_result`. `for_model` is the text that the model got.
pub(super) fn shell_display(display: &Object<'_>, for_model: &str) -> Option<Command<'static>> {
    if display.get("type").str().as_deref() != Some("shell_result") {
        return None;
    }
    let (text, output) = (display.get("text").string(), display.get("output").string());
    let texts = [text.as_str(), for_model];
    let note = texts
        .into_iter()
        .find(|text| displayed_failure(text).is_some());
    // Without output the display has the text for the model.
    let output = match shell_text(&text) {
        _ if !output.is_empty() => output,
        Some(shell) => shell.output.into_owned(),
        None => text.clone(),
    };
    let signal = display.get("signal").display();
    let signal = Some(&*signal).filter(|signal| is_signal(signal));
    let outcome = display.get("outcome").string();
    let is_stopped = note.is_some() || matches!(outcome.as_str(), "cancelled" | "timed_out");
    let is_said = |signal: &&str| is_stopped || output.contains(&format!("ignal: {signal}"));
    let exit_code = display.get("exitCode").i64();
    let mut command = Command::ended(&output, exit_code, signal.filter(|s| !is_said(s)));
    if signal.is_some() || is_stopped {
        command.exit_code = exit_code.filter(|code| *code != 0);
        command.status = ToolStatus::Error;
    }
    if let Some(note) = note {
        command.status = displayed_failure(note).unwrap_or_default();
        command.output = if note.contains(&output) {
            note.into()
        } else {
            with_line(&output, note.lines().next().unwrap_or_default()).into()
        };
    }
    if outcome == "cancelled" {
        command.status = ToolStatus::Canceled;
    }
    let output = command.output.into_owned().into();
    Some(Command {
        output,
        exit_code: command.exit_code,
        status: command.status,
    })
}

/// Reads the exit code from the display text of a command without output.
pub(super) fn displayed_exit_code(display: &str) -> Option<i64> {
    display
        .strip_prefix("Command exited with code: ")?
        .parse()
        .ok()
}

/// Returns the status if the display text says that a command was stopped.
pub(super) fn displayed_failure(display: &str) -> Option<ToolStatus> {
    const FAILED: &[&str] = &["Command terminated by signal: ", "Command failed: "];
    const CANCELED: &[&str] = &[
        "Command cancelled by user.",
        "Command was cancelled by user before it could complete.",
    ];
    let starts = |sentences: &[&str]| sentences.iter().any(|start| display.starts_with(start));
    if starts(CANCELED) {
        Some(ToolStatus::Canceled)
    } else if has_timed_out(display) || starts(FAILED) && !display.contains('\n') {
        Some(ToolStatus::Error)
    } else {
        None
    }
}

/// Returns true for the sentences `Command timed out after 1200ms before it could
/// complete. …` of Qwen Code, and Gemini CLI's about a silent command.
fn has_timed_out(display: &str) -> bool {
    let after = display.strip_prefix("Command timed out after ");
    let unit = after.map(|after| after.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_qwen = unit
        .and_then(|unit| unit.strip_prefix("ms"))
        .is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('.') || rest.starts_with(" before it")
        });
    is_qwen
        || display
            .starts_with("Command was automatically cancelled because it exceeded the timeout of ")
}

/// Classifies a call that did not succeed: rejected, canceled or failed.
pub(super) fn failure(text: &str) -> ToolStatus {
    const REFUSED: &[&str] = &[
        "Tool execution denied by policy",
        "User denied execution",
        "User did not allow tool call",
        "not allowed to run by the user",
        "was canceled by the user.",
        "but that permission was declined",
    ];
    const STOPPED: &[&str] = &[
        "[Operation Cancelled]",
        "User cancelled",
        "Tool call was cancelled",
        "Tool call cancelled",
        "The tool had already completed; its output was discarded.",
        "Skipped because the provider attempt was retried before execution.",
    ];
    // The sentences are at the start; a long output may quote anything.
    let head = text.lines().next().unwrap_or_default();
    if REFUSED.iter().any(|words| head.contains(words)) {
        ToolStatus::Rejected
    } else if STOPPED.iter().any(|words| head.starts_with(words)) {
        ToolStatus::Canceled
    } else {
        ToolStatus::Error
    }
}

/// Returns the status of a sub-agent that missed its goal, whatever the call's
/// own status; `None` if it reached the goal or nothing is known.
pub(super) fn sub_agent_failure(display: Json<'_>) -> Option<ToolStatus> {
    match display.get("terminateReason").str()?.as_ref() {
        "" | "GOAL" => None,
        "ABORTED" | "CANCELLED" => Some(ToolStatus::Canceled),
        _ => Some(ToolStatus::Error),
    }
}

/// Returns the edit that a `resultDisplay` describes.
pub(super) fn display_edits(display: Json<'_>) -> Vec<Edit> {
    let fields = display.object();
    let diff = fields.get("fileDiff").str();
    let new = fields.get("newContent").str();
    if diff.is_none() && new.is_none() {
        return Vec::new();
    }
    let path = ["filePath", "fileName"]
        .iter()
        .find_map(|key| fields.get(key).str())
        .unwrap_or_default();
    let old = fields
        .get("originalContent")
        .str()
        .filter(|old| !old.is_empty());
    let is_new = fields.get("isNewFile").bool().unwrap_or(old.is_none());
    if let Some(new) = new.as_deref().filter(|_| is_new) {
        return vec![patch::added(&path, new)];
    }
    let hunks = patch::hunks(diff.as_deref().unwrap_or_default());
    if hunks.is_empty() {
        let new = new.as_deref();
        return new
            .map(|new| {
                patch::from_texts(&path, Some(old.as_deref().unwrap_or_default()), new, true)
            })
            .into_iter()
            .collect();
    }
    vec![Edit {
        op: EditOp::Update,
        path: path.into_owned(),
        hunks,
        ..Edit::default()
    }]
}

/// Returns the edit that the input of a successful editing call describes.
pub(super) fn input_edits(name: &str, input: &Object<'_>) -> Vec<Edit> {
    let path = input.get("file_path").string();
    let text = |key| input.get(key).str();
    match name {
        "replace" | "edit" => match (text("old_string"), text("new_string")) {
            (Some(old), Some(new)) if !old.is_empty() => {
                vec![patch::from_texts(&path, Some(&old), &new, false)]
            }
            (_, Some(new)) => vec![patch::added(&path, &new)],
            _ => Vec::new(),
        },
        "write_file" => text("content")
            .map(|content| patch::added(&path, &content))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns true if [`input_edits`] supports the tool.
pub(super) fn is_editing(name: &str) -> bool {
    matches!(name, "replace" | "edit" | "write_file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_texts_of_both_agents() {
        let gemini = "<untrusted_context>\nOutput: a\nExit Code: 9\nb\nExit Code: 1\nProcess Group PGID: 3\n</untrusted_context>";
        assert_eq!(
            shell_text(gemini),
            Some(Command {
                output: "a\nExit Code: 9\nb".into(),
                exit_code: Some(1),
                status: ToolStatus::Error,
            })
        );
        let qwen = "Command: x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: (none)";
        assert_eq!(
            shell_text(qwen),
            Some(Command {
                output: "".into(),
                exit_code: Some(3),
                status: ToolStatus::Error,
            })
        );
        assert_eq!(shell_text("Output: (empty)"), Some(Command::default()));
        assert_eq!(shell_text("Command moved to background"), None);
    }

    #[test]
    fn a_command_that_could_not_start_shows_its_error() {
        let text = "Command: x\nDirectory: (root)\nOutput: (empty)\nError: spawn failed\nExit Code: (none)";
        let shell = shell_text(text).unwrap();
        assert_eq!((&*shell.output, shell.exit_code), ("spawn failed", None));
    }

    #[test]
    fn a_killed_command_has_no_exit_code_0_and_shows_its_signal() {
        let text = "Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: 9\nProcess Group PGID: 7";
        let killed = Command {
            output: "a\nSignal: 9".into(),
            exit_code: None,
            status: ToolStatus::Error,
        };
        assert_eq!(shell_text(text), Some(killed));
        let gemini = "<untrusted_context>\nOutput: (empty)\nSignal: 15\nProcess Group PGID: 7\n</untrusted_context>";
        assert_eq!(&*shell_text(gemini).unwrap().output, "Signal: 15");
        let display = r#"{"type":"shell_result","output":"a\n","text":"a","exitCode":0,"signal":9,"outcome":"failed"}"#;
        let display = Json::parse(display).unwrap().object();
        let killed = Command {
            output: "a\nSignal: 9".into(),
            exit_code: None,
            status: ToolStatus::Error,
        };
        assert_eq!(shell_display(&display, "a"), Some(killed));
    }

    #[test]
    fn a_command_that_timed_out_failed_and_says_so() {
        let note = "Command timed out after 1200ms before it could complete.";
        let text = format!("{note} Below is the output before it timed out:\nbegin");
        let stopped = |output: &str| {
            Some(Command {
                output: output.to_owned().into(),
                exit_code: None,
                status: ToolStatus::Error,
            })
        };
        assert_eq!(shell_text(&text), stopped(&text));
        let display = |text: &str| {
            format!(
                r#"{{"type":"shell_result","output":"begin","text":"{text}","exitCode":0,"signal":15,"outcome":"timed_out"}}"#
            )
        };
        let whole = display("begin");
        let whole = Json::parse(&whole).unwrap().object();
        assert_eq!(shell_display(&whole, &text), stopped(&text));
        let short = display("Command timed out after 1200ms.");
        let short = Json::parse(&short).unwrap().object();
        assert_eq!(
            shell_display(&short, ""),
            stopped("begin\nCommand timed out after 1200ms.")
        );
        let printed = "Command timed out after lunch\nand more";
        assert_eq!(shell_text(printed), None);
        let gemini = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.";
        assert_eq!(displayed_failure(gemini), Some(ToolStatus::Error));
    }

    #[test]
    fn rejected_canceled_and_failed_calls_differ() {
        let refused = [
            "Tool execution denied by policy. You are in Plan Mode.",
            "[Operation Cancelled] Reason: User denied execution.",
            "Tool \"run_shell_command\" was canceled by the user.",
            "Qwen Code requires permission to use \"edit\", but that permission was declined.",
        ];
        assert!(refused.iter().all(|t| failure(t) == ToolStatus::Rejected));
        assert_eq!(
            failure("[Operation Cancelled] Reason: User cancelled the operation"),
            ToolStatus::Canceled
        );
        assert_eq!(failure("File not found."), ToolStatus::Error);
        assert_eq!(
            failure("1 test failed\nUser denied execution"),
            ToolStatus::Error
        );
    }

    #[test]
    fn a_sub_agent_without_a_result_failed() {
        let status = |reason: &str| {
            let display = format!(r#"{{"terminateReason":"{reason}"}}"#);
            sub_agent_failure(Json::parse(&display).unwrap())
        };
        assert_eq!(status("GOAL"), None);
        assert_eq!(
            status("ERROR_NO_COMPLETE_TASK_CALL"),
            Some(ToolStatus::Error)
        );
        assert_eq!(status("ABORTED"), Some(ToolStatus::Canceled));
        assert_eq!(sub_agent_failure(Json::NULL), None);
    }

    #[test]
    fn edits_from_diffs_contents_and_inputs() {
        let json = |text| Json::parse(text).unwrap();
        let diff = display_edits(json(
            r#"{"fileDiff":"--- a\tCurrent\n+++ a\tProposed\n@@ -5,2 +5,1 @@\n x\n-y\n","filePath":"/p/a","originalContent":"x","newContent":"z"}"#,
        ));
        assert_eq!(
            (diff[0].path.as_str(), diff[0].op),
            ("/p/a", EditOp::Update)
        );
        assert_eq!(diff[0].hunks[0].old_start, Some(5));
        let whole = display_edits(json(
            r#"{"fileName":"a","originalContent":"x\ny\n","newContent":"x\nz\n"}"#,
        ));
        assert_eq!(whole[0].hunks[0].lines, [" x", "-y", "+z"]);
        assert_eq!(whole[0].hunks[0].new_start, Some(1));
        let new = display_edits(json(
            r#"{"fileDiff":"","filePath":"/p/b","originalContent":null,"newContent":"hi\n"}"#,
        ));
        assert_eq!(new[0].op, EditOp::Add);
        assert!(display_edits(json(r#"{"summary":"Found"}"#)).is_empty());
        let input = json(r#"{"file_path":"c","old_string":"","new_string":"n"}"#).object();
        assert_eq!(input_edits("replace", &input)[0].op, EditOp::Add);
        assert!(input_edits("replace", &json("7").object()).is_empty());
    }
}
