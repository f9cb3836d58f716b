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
            "attachment" => self.attachment(line, &fields, out),
            "control_request" => self.ask(line, &fields, out),
            "control_response" => self.answer_permission(&fields, out),
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
    fn ask(&mut self, line: &Line<'_>, fields: &Object<'_>, out: &mut Emitter) {
        let request = fields.get("request").object();
        if request.get("subtype").str().as_deref() != Some("can_use_tool") {
            return;
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

    fn answer_permission(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let response = fields.get("response").object();
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
    fn attachment(&mut self, line: &Line<'_>, fields: &Object<'_>, out: &mut Emitter) {
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
            _ => {}
        }
    }
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
