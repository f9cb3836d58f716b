//! Lines beside the conversation: control messages and progress of a live
//! stream, metadata of a saved session.

use super::Claude;
use super::system;
use super::wire::Line;
use crate::event::{Level, Permission};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;

impl Claude {
    pub(super) fn sideband(
        &mut self,
        kind: &str,
        line: &Line<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        if is_bookkeeping(kind) {
            return;
        }
        let fields = frame.json().unwrap_or_default().object();
        match kind {
            "system" => self.system(line, &fields, frame, out),
            "result" => self.result(line, &fields, out),
            "attachment" => self.attachment(line, &fields, frame, out),
            "control_request" => self.ask(line, &fields, frame, out),
            "control_response" => self.answer_permission(&fields, frame, out),
            "control_cancel_request" => self.withdraw(&fields, out),
            "cost-state" => {
                self.total(fields.get("modelUsage"), fields.get("totalCostUSD"), out);
            }
            "ai-title" => self.title(fields.get("aiTitle"), line, out),
            "custom-title" => self.title(fields.get("customTitle"), line, out),
            "summary" => self.title(fields.get("summary"), line, out),
            "tool_progress" => {
                let retry = fields.get("subagent_retry");
                if retry.is_object() {
                    system::retry(retry.get("error_status"), retry.get("error_category"), out);
                }
            }
            "prompt_suggestion" => out.state(kind, fields.get("suggestion")),
            "rate_limit_event" => out.state(kind, fields.get("rate_limit_info")),
            "auth_status" => {
                self.introduce(line, out);
                out.notice(Level::Error, fields.get("error").payload());
            }
            _ => {
                self.introduce(line, out);
                out.unknown(frame);
            }
        }
    }

    fn title(&mut self, title: Json<'_>, line: &Line<'_>, out: &mut Emitter) {
        if let Some(title) = title.str().filter(|title| !title.is_empty()) {
            self.session.title = title.into_owned();
            if self.emitted.is_none() {
                self.introduce(line, out);
            } else {
                self.emit_session(out);
            }
        }
    }

    /// Emits a request for permission. Other control requests do not concern the
    /// user.
    fn ask(&mut self, line: &Line<'_>, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let request = fields.get("request").object();
        match request.get("subtype").str().as_deref() {
            Some("can_use_tool") => {}
            Some(kind) if is_about_connection(kind) => return,
            _ => {
                out.unknown(frame);
                return;
            }
        }
        self.introduce(line, out);
        let id = fields.get("request_id").string();
        let call = request.get("tool_use_id").string();
        let titles = ["title", "description", "display_name", "tool_name"];
        let title = titles.iter().find_map(|key| request.get(key).str());
        self.calls.asked.insert(id.clone(), call.clone());
        out.permission(Permission {
            id,
            tool_id: call,
            title: title.unwrap_or_default().into_owned(),
            ..Permission::default()
        });
    }

    fn answer_permission(&mut self, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let response = fields.get("response").object();
        let kind = response.get("subtype").string();
        if !matches!(kind.as_str(), "success" | "error") {
            out.unknown(frame);
        }
        let answer = response.get("response").get("behavior").string();
        let outcome = if answer.is_empty() {
            response.get("subtype").string()
        } else {
            answer
        };
        self.decide(response.get("request_id").string(), outcome, out);
    }

    fn withdraw(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.decide(
            fields.get("request_id").string(),
            "cancelled".to_owned(),
            out,
        );
    }

    fn decide(&mut self, request: String, outcome: String, out: &mut Emitter) {
        if let Some(call) = self.calls.asked.remove(&request) {
            if outcome == "cancelled" {
                self.calls.withdrawn.push(call.clone());
            }
            out.permission(Permission {
                id: request,
                tool_id: call,
                outcome,
                ..Permission::default()
            });
        }
    }

    /// Emits the few attachments that matter to the user; most are reminders for the
    /// model.
    fn attachment(
        &mut self,
        line: &Line<'_>,
        fields: &Object<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        let attachment = fields.get("attachment").object();
        let kind = attachment.get("type").str().unwrap_or_default();
        match kind.as_ref() {
            "hook_blocking_error" => {
                let error = attachment.get("blockingError");
                let text = match error.get("blockingError") {
                    inner if inner.is_null() => error,
                    inner => inner,
                };
                out.notice(Level::Warning, text.payload());
            }
            "hook_non_blocking_error" | "hook_error_during_execution" => {
                let said = ["stderr", "content", "stdout"].map(|key| attachment.get(key));
                let said = said.into_iter().find(|text| !text.display().is_empty());
                out.notice(Level::Warning, said.unwrap_or_default().payload());
            }
            "hook_system_message" => out.notice(Level::Info, attachment.get("content").payload()),
            "queued_command" => {
                self.introduce(line, out);
                let prompt = attachment.get("prompt");
                let texts = prompt
                    .array()
                    .into_iter()
                    .filter_map(|block| block.get("text").str());
                let text = texts.collect::<Vec<_>>().join("\n");
                if text.is_empty() {
                    out.user(prompt.str().unwrap_or_default(), true);
                } else {
                    out.user(text, true);
                }
            }
            "structured_output" => {
                out.text(None, attachment.get("data").payload());
                self.turn.settled(out);
            }
            "max_turns_reached" => self.turn.failed("max_turns", out),
            kind if is_reminder(kind) => {}
            _ => out.unknown(frame),
        }
    }
}

/// Returns true for control requests that set up or steer the connection.
fn is_about_connection(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "initialize",
        "interrupt",
        "hook_callback",
        "elicitation",
        "end_session",
        "stop_task",
        "rewind_files",
        "seed_read_state",
        "cancel_async_message",
        "side_question",
        "generate_session_title",
        "channel_enable",
    ];
    const PREFIXES: &[&str] = &[
        "set_",
        "get_",
        "mcp_",
        "apply_",
        "reload_",
        "remote_control",
    ];
    KINDS.contains(&kind) || PREFIXES.iter().any(|prefix| kind.starts_with(prefix))
}

/// Returns true for attachments that only the model reads: reminders, listings,
/// and content of files that the prompt mentions.
fn is_reminder(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "agent_mention",
        "already_read_file",
        "async_hook_response",
        "auto_mode",
        "auto_mode_exit",
        "budget_usd",
        "command_permissions",
        "compact_file_reference",
        "companion_intro",
        "context_efficiency",
        "current_session_memory",
        "date",
        "date_change",
        "diagnostics",
        "directory",
        "dynamic_skill",
        "edited_image_file",
        "edited_text_file",
        "environment",
        "file",
        "git_status",
        "hook_additional_context",
        "hook_cancelled",
        "hook_permission_decision",
        "hook_stopped_continuation",
        "hook_success",
        "image",
        "invoked_skills",
        "mcp_resource",
        "memory_update",
        "model",
        "nested_memory",
        "new_file",
        "opened_file_in_ide",
        "output_style",
        "pdf_reference",
        "plan_file_reference",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "prompt_snapshot",
        "relevant_memories",
        "remote_session_change",
        "selected_lines_in_ide",
        "skill_discovery",
        "task_status",
        "teammate_mailbox",
        "todo",
        "ultrathink_effort",
        "unknown_command_fallback",
    ];
    const ENDINGS: &[&str] = &["_reminder", "_delta", "_listing", "_context", "_usage"];
    KINDS.contains(&kind) || ENDINGS.iter().any(|ending| kind.ends_with(ending))
}

/// Returns true for lines of internal use: queue, requests, caches, settings, and
/// progress that the conversation shows anyway.
fn is_bookkeeping(kind: &str) -> bool {
    matches!(
        kind,
        "queue-operation"
            | "last-prompt"
            | "atis-latch"
            | "tools-used"
            | "mode"
            | "api-request"
            | "api-request-blob"
            | "api-request-shape"
            | "progress"
            | "tag"
            | "file-history-snapshot"
            | "file-history-delta"
            | "permission-mode"
            | "content-replacement"
            | "worktree-state"
            | "pr-link"
            | "agent-name"
            | "agent-color"
            | "agent-setting"
            | "bridge-session"
            | "history-suppression"
            | "attribution-snapshot"
            | "memory-mode"
            | "session-owner"
            | "isolation-latch"
            | "dev-mods"
            | "derived-from"
            | "data-flow-records"
            | "data-flow-incomplete"
            | "fork-context-ref"
            | "frame-link"
            | "observer-ref"
            | "continued-in"
            | "resume-head-vouch"
            | "ended-by-model"
            | "relocated"
            | "repl-mode"
            | "keep_alive"
            | "tool_use_summary"
            | "active_goal"
            | "conversation_reset"
    ) || kind.starts_with("artifact-")
}
