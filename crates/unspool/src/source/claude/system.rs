//! `system` lines, live and saved.

use super::Claude;
use super::user;
use super::wire::Line;
use crate::event::Level;
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

impl Claude {
    pub(super) fn system(
        &mut self,
        line: &Line<'_>,
        fields: &Object<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        let content = fields.get("content");
        match fields.get("subtype").str().as_deref().unwrap_or_default() {
            // A run of Qwen Code, which has the same envelope, starts.
            "init" if fields.has("qwen_code_version") => out.unknown(frame),
            "init" => self.init(fields, out),
            "task_started" => self.task_started(fields),
            "permission_denied" => {
                self.calls.denied.add(&fields.get("tool_use_id").string());
            }
            // Spinners, heartbeats, menu entries, and facts that other lines
            // state better: calls of sub-agents, hooks that only start.
            "status"
            | "thinking_tokens"
            | "session_state_changed"
            | "task_progress"
            | "task_updated"
            | "background_tasks_changed"
            | "hook_started"
            | "hook_progress"
            | "commands_changed"
            | "control_request_progress"
            | "elicitation_complete"
            | "files_persisted"
            | "memory_recall"
            | "memory_saved"
            | "mirror_error"
            | "plugin_install"
            | "worker_shutting_down"
            | "vcs_state_changed"
            | "code_change_published"
            | "session_title_changed"
            | "post_turn_summary"
            | "task_summary"
            | "agents_killed"
            | "scheduled_task_fire"
            | "permission_retry" => {}
            // Only a hook that objects is of interest.
            "hook_response" if !is_objection(fields) => {}
            "turn_duration" => self.turn.took(fields.get("durationMs").u64(), out),
            subtype => {
                self.introduce(line, out);
                self.notice_line(subtype, content, fields, frame, out);
            }
        }
    }

    /// Emits the lines that the user should see.
    fn notice_line(
        &mut self,
        subtype: &str,
        content: Json<'_>,
        fields: &Object<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        match subtype {
            "api_retry" => retry(fields.get("error_status"), fields.get("error"), out),
            "api_error" => saved_retry(fields.get("error"), content, out),
            "model_fallback" | "model_refusal_fallback" | "model_consent_fallback" => {
                out.notice(Level::Warning, content.payload());
                self.fall_back(fields, out);
            }
            "model_refusal_no_fallback" | "instruction_size_warning" => {
                out.notice(Level::Warning, content.payload());
            }
            "informational" | "notification" | "away_summary" => {
                let text = ["content", "text", "message"].map(|key| fields.get(key));
                let text = text.into_iter().find(|text| text.is_string());
                out.notice(level(fields), text.unwrap_or_default().payload());
            }
            "local_command" | "local_command_output" => self.local_command(content, out),
            "compact_boundary" => {
                self.turn.flush_known(out);
                // The summary follows as a message.
                let figures = ["compact_metadata", "compactMetadata"].map(|key| fields.get(key));
                let figures = figures.into_iter().find(|figures| !figures.is_null());
                out.state(subtype, figures.unwrap_or_default());
            }
            "task_notification" => self.task_notification(fields, out),
            "hook_response" => {
                let said = ["stderr", "output", "stdout"].map(|key| fields.get(key));
                let said = said.into_iter().find(|text| !text.display().is_empty());
                out.notice(Level::Warning, said.unwrap_or_default().payload());
            }
            "stop_hook_summary" => {
                for error in fields.get("hookErrors").array() {
                    out.notice(Level::Warning, error.payload());
                }
            }
            _ => out.unknown(frame),
        }
    }

    /// Starts a turn: the line comes once per turn.
    fn init(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let session = &mut self.session;
        session.id = fields.get("session_id").string();
        session.model = fields.get("model").string();
        session.cwd = fields.get("cwd").string();
        session.version = fields.get("claude_code_version").string();
        self.emit_session(out);
        out.open_turn();
    }

    fn fall_back(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let keys = ["fallback_model", "fallbackModel"];
        if let Some(model) = keys.iter().find_map(|key| fields.get(key).str()) {
            self.session.model = model.into_owned();
            self.emit_session(out);
        }
    }

    /// Emits the output of a slash command as its answer. Saved sessions have the
    /// command itself in the same kind of line.
    fn local_command(&mut self, content: Json<'_>, out: &mut Emitter) {
        let text = content.str().unwrap_or_default();
        if let Some(output) = user::tagged(&text, "local-command-stdout") {
            out.text(None, output.trim_end());
            self.turn.completed(out);
        } else if let Some(errors) = user::tagged(&text, "local-command-stderr") {
            out.notice(Level::Warning, errors);
            self.turn.completed(out);
        } else if let Some(command) = user::command(&text) {
            self.turn.flush(out);
            out.user(command, false);
        } else {
            out.text(None, text);
        }
    }

    fn task_started(&mut self, fields: &Object<'_>) {
        let name = fields.get("subagent_type").str().unwrap_or_default();
        let is_agent = fields.get("task_type").str().as_deref() == Some("local_agent");
        if is_agent || !name.is_empty() {
            let call = fields.get("tool_use_id").string();
            let id = fields.get("task_id").string();
            let depth = fields.get("spawn_depth").u64();
            let depth = depth.and_then(|depth| u32::try_from(depth).ok());
            self.agents.describe(&call, &id, &name, depth);
            if fields.get("is_backgrounded").is_true() {
                let task = fields.get("description").string();
                self.agents.add_background(&call, &task);
            }
        }
    }

    /// Reports the end of a background task, in the words of a saved session. Other
    /// tasks end with the result of their call.
    fn task_notification(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let call = fields.get("tool_use_id").str().unwrap_or_default();
        let summary = fields.get("summary").string();
        if out.is_open(&call) {
            return;
        }
        let status = fields.get("status").string();
        let level = match status.as_str() {
            "completed" | "" => Level::Info,
            _ => Level::Warning,
        };
        if !out.was_shown(&summary) {
            out.notice(level, summary);
        } else if let Some(task) = self.agents.take_background(&call) {
            let end = if level == Level::Info {
                "finished"
            } else {
                &status
            };
            out.notice(level, format!("Agent \"{task}\" {end}"));
        }
    }
}

/// Emits the notice of a failed attempt that is retried.
pub(super) fn retry(status: Json<'_>, error: Json<'_>, out: &mut Emitter) {
    let words = [status.display(), error.display()];
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let text = words.join(" ");
    out.notice(Level::Retry, text.trim());
}

fn saved_retry(error: Json<'_>, content: Json<'_>, out: &mut Emitter) {
    let fields = error.object();
    let cause = fields.get("cause");
    let told = [
        fields.get("formatted"),
        fields.get("message"),
        cause.get("message"),
        cause.get("code"),
        fields.get("status"),
        content,
    ];
    let told = told.into_iter().find(|text| !text.display().is_empty());
    out.notice(Level::Retry, told.unwrap_or(error).payload());
}

fn is_objection(fields: &Object<'_>) -> bool {
    fields.get("outcome").str().as_deref() == Some("error")
        || fields.get("exit_code").i64().is_some_and(|code| code != 0)
}

fn level(fields: &Object<'_>) -> Level {
    match fields.get("level").str().as_deref() {
        Some("warning" | "warn") => Level::Warning,
        Some("error") => Level::Error,
        _ => Level::Info,
    }
}
