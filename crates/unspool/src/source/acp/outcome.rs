//! Results of calls: status, output, exit code and edits, in the formats of all
//! adapters.

use super::call::{Call, json};
use super::content;
use super::edits;
use super::terminal::Terminal;
use super::{Program, aider};
use crate::event::{Category, Edit, ToolStatus};
use crate::json::{Json, Object};
use crate::source::edits::announced;
use crate::source::{Emitter, Outcome, gemini_shared};

/// Facts about the end of a call.
pub(super) struct End<'a> {
    /// The last status on the wire.
    pub(super) word: &'a str,
    pub(super) terminal: Option<&'a Terminal>,
    /// The client canceled the turn.
    pub(super) canceled: bool,
    /// The user rejected this and all later calls.
    pub(super) reject_all: bool,
}

/// Texts of canceled calls.
const CANCELED: &[&str] = &[
    "<shell_metadata>\nUser aborted the command\n</shell_metadata>",
    "Command cancelled by user.\n\nOutput before cancellation:",
    "Tool call was cancelled before execution.",
    "Tool execution aborted",
    "Tool permission request failed: Error: Tool use aborted",
];

/// Texts of rejected calls.
const REJECTED: &[&str] = &[
    "The user rejected permission to use this specific tool call.",
    "User refused permission to run tool",
];

/// Returns true for Qwen's text of a rejected call.
fn was_canceled_by_user(text: &str) -> bool {
    text.starts_with("Tool \"") && text.ends_with("\" was canceled by the user.")
}

impl Call {
    /// Returns the result of the call; `last` is the message that ended it.
    pub(super) fn outcome(&self, last: &Object<'_>, end: &End<'_>, out: &Emitter) -> Outcome {
        let raw = json(self.raw_output.as_ref());
        let terminal = end.terminal.map(Terminal::text).unwrap_or_default();
        let output = if terminal.is_empty() {
            content::output(last, json(self.content.as_ref()), raw)
        } else {
            terminal.into()
        };
        let text = output.as_str();
        let exit_code = end
            .terminal
            .and_then(|terminal| terminal.exit_code)
            .or_else(|| exit_code(raw))
            .or_else(|| self.exit_code_in(&text, end));
        let status = self.status(&text, raw, exit_code, end);
        let edits = if status == ToolStatus::Ok {
            self.changes()
        } else {
            Vec::new()
        };
        drop(text);
        Outcome {
            status,
            output,
            exit_code,
            edits,
            duration_ms: duration(raw),
            name: self.tool().into_owned(),
            media: content::output_media(last, json(self.content.as_ref()), raw, out),
        }
    }

    /// Reads the exit code that Claude's adapter writes above the output.
    fn exit_code_in(&self, text: &str, end: &End<'_>) -> Option<i64> {
        if self.category() != Category::Execute {
            return None;
        }
        if let Some(raw) = json(self.raw_output.as_ref()).str()
            && let Some((code, _)) = content::exec_report(&raw)
        {
            return Some(code);
        }
        let line = text.lines().next()?.strip_prefix("Exit code ")?;
        (end.word == "failed").then(|| line.trim().parse().ok())?
    }

    fn status(
        &self,
        text: &str,
        raw: Json<'_>,
        exit_code: Option<i64>,
        end: &End<'_>,
    ) -> ToolStatus {
        let failed = end.word != "completed";
        let stopped = raw.get("outcome").str().as_deref() == Some("cancelled");
        if end.word == "cancelled" || stopped || CANCELED.iter().any(|marker| text.contains(marker))
        {
            return ToolStatus::Canceled;
        }
        if failed && let Some(refused) = self.refused {
            return refused;
        }
        if failed && end.canceled {
            return ToolStatus::Canceled;
        }
        if failed && self.never_ran == "user-rejected" && !self.asked {
            return ToolStatus::Canceled;
        }
        let no_code = |terminal: &Terminal| terminal.exited && terminal.exit_code.is_none();
        let ran = !text.is_empty() || (self.started && !end.terminal.is_some_and(no_code));
        // The user was asked, or rejected all before: so this was rejected.
        let skipped = (end.reject_all || self.asked) && !ran;
        let refused = skipped || !self.never_ran.is_empty() || REJECTED.contains(&text);
        if failed && (refused || was_canceled_by_user(text)) {
            return ToolStatus::Rejected;
        }
        // OpenCode has no exit code for a command that timed out.
        let metadata = raw.get("metadata").object();
        let was_cut = self.is_opencode() && metadata.has("exit") && exit_code.is_none();
        let shell = gemini_shared::shell_display(&raw.object(), "");
        if failed
            || was_cut
            || shell.is_some_and(|shell| shell.status != ToolStatus::Ok)
            || self.is_invalid()
            || (self.program == Program::Aider && aider::has_failed(text))
            || exit_code.is_some_and(|code| code != 0)
        {
            return ToolStatus::Error;
        }
        ToolStatus::Ok
    }

    fn changes(&self) -> Vec<Edit> {
        if let Some(edits) = &self.edits {
            return edits.clone();
        }
        let input = json(self.input.as_ref());
        let edits = edits::of_call(&edits::Ended {
            input,
            content: json(self.content.as_ref()),
            raw: json(self.raw_output.as_ref()),
            whole: self.is_gemini(),
        });
        if edits.is_empty() && self.kind == "edit" {
            return announced(Category::Edit, input);
        }
        edits
    }
}

fn exit_code(raw: Json<'_>) -> Option<i64> {
    let fields = raw.object();
    if let Some(shell) = gemini_shared::shell_display(&fields, "") {
        return shell.exit_code;
    }
    let own = |fields: &Object<'_>| {
        let code = fields.get("exit_code").i64();
        code.or_else(|| fields.get("exitCode").i64())
    };
    // Copilot's list has an item for the end of the command.
    let listed = || {
        let items = fields.get("contents").array();
        items.iter().rev().find_map(|item| own(&item.object()))
    };
    own(&fields)
        .or_else(|| fields.get("metadata").get("exit").i64())
        .or_else(listed)
}

fn duration(raw: Json<'_>) -> Option<u64> {
    let duration = raw.get("duration").object();
    let (seconds, nanos) = (duration.get("secs").u64()?, duration.get("nanos").u64()?);
    Some(
        seconds
            .saturating_mul(1000)
            .saturating_add(nanos / 1_000_000),
    )
}
