//! The output of a call, in the form that the model gets: text with a header that
//! contains exit code and duration, or JSON with both. Failures are recognised
//! only by their text.

use crate::event::{Category, Media, ToolStatus};
use crate::json::Json;
use crate::source::Emitter;
use crate::source::codex::item;

/// The parsed output of a call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: Option<u64>,
    /// The command continues in the background.
    pub(super) running: bool,
    /// The name under which the script continues in the background.
    pub(super) cell: Option<String>,
    /// Pictures, sounds and files beside the text.
    pub(super) media: Vec<Media>,
    /// There was a header or JSON: the tool did run.
    ran: bool,
    /// The header reports a failure.
    failed: bool,
}

impl Output {
    /// Reads the `output` field: a string, or a list of parts.
    pub(super) fn read(json: Json<'_>, out: &Emitter) -> Self {
        let text = if json.is_array() {
            item::texts(json, "\n")
        } else {
            json.display().into_owned()
        };
        let output = Self::read_json(&text).unwrap_or_else(|| Self::read_text(&text));
        Self {
            media: out.media_in(json),
            ..output
        }
    }

    /// `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}`.
    fn read_json(text: &str) -> Option<Self> {
        let json = Json::parse(text).filter(|json| json.is_object())?;
        let metadata = json.get("metadata").object();
        let exit_code = metadata.get("exit_code");
        if exit_code.is_null() {
            return None;
        }
        Some(Self {
            text: json.get("output").string(),
            exit_code: exit_code.i64(),
            duration_ms: metadata
                .get("duration_seconds")
                .f64()
                .and_then(milliseconds),
            ran: true,
            ..Self::default()
        })
    }

    fn read_text(text: &str) -> Self {
        let mut output = Self::default();
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n').or(Some((rest, ""))) {
            if line == "Output:" {
                output.ran = true;
                rest = after;
                break;
            }
            if rest.is_empty() || !output.header(line) {
                break;
            }
            rest = after;
        }
        if output.ran || rest.starts_with("aborted") {
            rest.clone_into(&mut output.text);
            return output;
        }
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Extracts the texts of an MCP tool, which older versions wrap in JSON.
    pub(super) fn mcp_texts(&mut self, out: &Emitter) {
        let Some(json) = Json::parse(&self.text).filter(|json| json.is_array()) else {
            return;
        };
        let texts = item::texts(json, "\n");
        let media = out.media_in(json);
        if !texts.is_empty() || !media.is_empty() {
            self.media.extend(media);
            self.text = texts;
        }
    }

    /// Reads a line of the header; returns false for any other line.
    fn header(&mut self, line: &str) -> bool {
        let number = |prefix: &str| line.strip_prefix(prefix);
        if let Some(code) = number("Process exited with code ").or(number("Exit code: ")) {
            self.exit_code = code.parse().ok();
        } else if let Some(time) = number("Wall time: ").or(number("Wall time ")) {
            let seconds = time.strip_suffix(" seconds").unwrap_or(time);
            self.duration_ms = seconds.parse().ok().and_then(milliseconds);
        } else if line.starts_with("Process running with session ID ") {
            self.running = true;
        } else if let Some(cell) = number("Script running with cell ID ") {
            self.cell = Some(cell.to_owned());
        } else if line == "Script failed" {
            self.failed = true;
        } else {
            return [
                "Chunk ID: ",
                "Original token count: ",
                "Total output lines: ",
            ]
            .iter()
            .chain(&["Script completed"])
            .any(|prefix| line.starts_with(prefix));
        }
        true
    }

    /// Returns the status of a call of this tool.
    pub(super) fn status(&self, name: &str) -> ToolStatus {
        let starts_with_any =
            |starts: &[&str]| !self.ran && starts.iter().any(|words| self.text.starts_with(words));
        if starts_with_any(&["aborted by user", "aborted"]) {
            ToolStatus::Canceled
        } else if !self.ran && is_rejection(&self.text) {
            ToolStatus::Rejected
        } else if self.failed
            || self.exit_code.is_some_and(|code| code != 0)
            || starts_with_any(FAILURES)
            || !self.ran && is_bare_failure(name, &self.text)
        {
            ToolStatus::Error
        } else {
            ToolStatus::Ok
        }
    }
}

/// First words of a failed call's output.
const FAILURES: &[&str] = &[
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments",
    "tool call error: ",
    "err: ",
    "unable to ",
    "image path `",
];

fn is_rejection(text: &str) -> bool {
    text.starts_with("patch rejected")
        || text.starts_with("approval policy is ")
        || text.contains("rejected by user")
        || text.contains("Rejected(")
}

/// Returns true if the output of this tool, without header or JSON, is an error.
fn is_bare_failure(name: &str, text: &str) -> bool {
    match crate::source::category(name) {
        Category::Execute => name != "exec",
        Category::Edit => true,
        Category::Task => !text.is_empty() && Json::parse(text).is_none(),
        _ => false,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn milliseconds(seconds: f64) -> Option<u64> {
    (0.0..1e12)
        .contains(&seconds)
        .then(|| (seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Output {
        Output::read_json(text).unwrap_or_else(|| Output::read_text(text))
    }

    #[test]
    fn headers_are_removed() {
        let output = read(
            "Chunk ID: b77fa4\nWall time: 0.0891 seconds\nProcess exited with code 2\nOriginal token count: 17\nOutput:\nExit code: 5\n\n",
        );
        assert_eq!(output.text, "Exit code: 5\n\n");
        assert_eq!((output.exit_code, output.duration_ms), (Some(2), Some(89)));
        assert_eq!(output.status("exec_command"), ToolStatus::Error);
        let output = read("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n");
        assert_eq!(output.text, "Success.\n");
        assert_eq!(output.status("apply_patch"), ToolStatus::Ok);
        let output = read("Wall time: 1 seconds\nProcess running with session ID 5\nOutput:\n");
        assert!(output.running && output.text.is_empty());
        assert_eq!(output.status("exec_command"), ToolStatus::Ok);
    }

    #[test]
    fn only_the_json_form_of_outputs_is_parsed() {
        let output = read(r#"{"output":"x\n","metadata":{"exit_code":1,"duration_seconds":0.5}}"#);
        assert_eq!(
            (output.text.as_str(), output.duration_ms),
            ("x\n", Some(500))
        );
        assert_eq!(output.status("shell"), ToolStatus::Error);
        assert_eq!(read(r#"{"sum":5}"#).text, r#"{"sum":5}"#);
    }

    #[test]
    fn failures_are_recognised_by_their_text() {
        let status = |name, text| read(text).status(name);
        assert_eq!(
            status("frobnicate", "unsupported call: frobnicate"),
            ToolStatus::Error
        );
        assert_eq!(
            status("apply_patch", "apply_patch verification failed: no"),
            ToolStatus::Error
        );
        assert_eq!(
            status("exec_command", "Wall time: 2.7 seconds\naborted by user"),
            ToolStatus::Canceled
        );
        assert_eq!(
            status("exec_command", "aborted by user after 2.5s"),
            ToolStatus::Canceled
        );
        let never = "approval policy is Never; reject command — you cannot ask";
        assert_eq!(status("exec_command", never), ToolStatus::Rejected);
        let rejected =
            r#"exec_command failed: CreateProcess { message: "Rejected(\"rejected by user\")" }"#;
        assert_eq!(status("exec_command", rejected), ToolStatus::Rejected);
        let patch = "patch rejected: writing outside of the project";
        assert_eq!(status("apply_patch", patch), ToolStatus::Rejected);
        assert_eq!(
            status("spawn_agent", "agent limit reached"),
            ToolStatus::Error
        );
        assert_eq!(
            status("spawn_agent", "{\"agent_id\":\"x\"}"),
            ToolStatus::Ok
        );
        assert_eq!(status("followup_task", ""), ToolStatus::Ok);
        assert_eq!(status("update_plan", "Plan updated"), ToolStatus::Ok);
        assert_eq!(
            status("exec", "Script failed\nWall time 0.0 seconds\nOutput:\n"),
            ToolStatus::Error
        );
        assert_eq!(status("exec", "half way"), ToolStatus::Ok);
    }

    #[test]
    fn a_text_that_only_starts_like_a_header_is_kept() {
        let output = read("Exit code: 3\nis what it said");
        assert_eq!(output.text, "Exit code: 3\nis what it said");
        assert_eq!(output.exit_code, None);
    }

    #[test]
    fn output_about_a_rejection_is_not_a_rejection() {
        let text = "Exit code: 0\nOutput:\nrejected by user\n";
        assert_eq!(read(text).status("shell"), ToolStatus::Ok);
    }
}
