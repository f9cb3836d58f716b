//! The model's conversation in a session file: texts, calls and outputs.

use super::{Detail, Last, Thread};
use crate::event::{Level, ToolStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::codex::rollout::ChildThreads;
use crate::source::codex::rollout::call::{self, Open};
use crate::source::codex::rollout::output::Output;
use crate::source::codex::rollout::script;
use crate::source::codex::{first_text, item};
use crate::source::{Emitter, Outcome};

impl Thread {
    pub(super) fn response(
        &mut self,
        payload: &Object<'_>,
        frame: &Frame<'_>,
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        let id = first_text(payload, &["call_id", "id"]);
        match payload.get("type").str().as_deref().unwrap_or_default() {
            "message" | "reasoning" => self.conversation_text(payload, out),
            "function_call" if self.waits(&id, payload) => {}
            "custom_tool_call" if payload.get("name").string() == script::NAME => {
                self.did(Last::Work);
                self.scripts.begin(&id, payload.get("input"), out);
            }
            "function_call" => self.begin(&id, |id, out| call::function(id, payload, out), out),
            "custom_tool_call" => self.begin(&id, |id, out| call::custom(id, payload, out), out),
            "local_shell_call" => {
                let input = payload.get("action").into();
                self.begin(
                    &id,
                    |id, out| call::built_in(id, "local_shell", input, out),
                    out,
                );
            }
            "tool_search_call" => {
                let input = payload.get("arguments").into();
                self.begin(
                    &id,
                    |id, out| call::built_in(id, "tool_search", input, out),
                    out,
                );
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.output(&id, payload, children, out);
            }
            "tool_search_output" => {
                let output = payload.get("tools").payload();
                self.end(
                    &id,
                    Outcome {
                        output,
                        ..Outcome::default()
                    },
                    out,
                );
            }
            "web_search_call" => self.web_search_call(&id, payload, out),
            "image_generation_call" => self.image(&id, payload, out),
            "agent_message" => self.agent_message(payload, out),
            // The list of tools, snapshots, and marks of compaction.
            "additional_tools"
            | "ghost_snapshot"
            | "compaction"
            | "context_compaction"
            | "compaction_trigger"
            | "configuration_update"
            | "other" => {}
            _ => out.unknown(frame),
        }
    }

    /// Emits the text of the conversation, only in files without messages, which
    /// repeat it. User texts are left out: they are mixed with context that Codex
    /// added.
    fn conversation_text(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        if self.detail >= Detail::Messages {
            return;
        }
        if payload.get("role").string() == "assistant" {
            self.did(Last::Answer);
            out.text(None, item::texts(payload.get("content"), "\n"));
        } else if payload.get("type").string() == "reasoning" {
            self.did(Last::Work);
            out.reasoning(None, item::texts(payload.get("summary"), "\n"));
        }
    }

    fn begin(
        &mut self,
        id: &str,
        show: impl FnOnce(&str, &mut Emitter) -> Open,
        out: &mut Emitter,
    ) {
        self.did(Last::Work);
        let open = show(id, out);
        self.open.insert(id.to_owned(), open);
    }

    /// Returns true if a call only waits for a script.
    fn waits(&mut self, id: &str, payload: &Object<'_>) -> bool {
        let arguments = payload.get("arguments").string();
        let cell = Json::parse(&arguments).map(|arguments| arguments.get("cell_id").string());
        payload.get("name").string() == "wait"
            && cell.is_some_and(|cell| self.scripts.wait(id, &cell))
    }

    fn output(
        &mut self,
        id: &str,
        payload: &Object<'_>,
        children: &mut ChildThreads,
        out: &mut Emitter,
    ) {
        let mut output = Output::read(payload.get("output"), out);
        if self.scripts.is_open(id) {
            if payload.has("name") {
                out.notice(Level::Info, output.text);
            } else {
                self.did(Last::Work);
                self.scripts.output(id, output, out);
            }
            return;
        }
        let Some(open) = self.open.get(id) else {
            if !out.is_known(id) {
                self.result(id, &Open::default(), output, out);
            } else if payload.has("name") {
                // A script's text beside its result.
                out.notice(Level::Info, output.text);
            }
            return;
        };
        if self.paginated && output.running && open.name == "exec_command" {
            // The item contains the end.
            out.tool_output(id, output.text);
            return;
        }
        if open.name.contains('.') {
            output.mcp_texts(out);
        }
        if let Some(json) = Json::parse(&output.text) {
            // The answer of older versions to the call that starts an agent.
            children.replay(&json.get("agent_id").string(), id, out);
        }
        if let Some(open) = self.open.remove(id) {
            self.result(id, &open, output, out);
        }
    }

    fn result(&mut self, id: &str, open: &Open, output: Output, out: &mut Emitter) {
        self.did(Last::Work);
        let status = output.status(&open.name);
        let edits = match status {
            ToolStatus::Ok => open.edits.clone(),
            _ => Vec::new(),
        };
        out.tool_result(
            id,
            Outcome {
                status,
                exit_code: output.exit_code,
                duration_ms: output.duration_ms,
                output: output.text.into(),
                edits,
                media: output.media,
                ..Outcome::default()
            },
        );
    }

    /// Emits the end of a command, which may be a patch.
    pub(super) fn command_end(&mut self, id: &str, outcome: Outcome, out: &mut Emitter) {
        let open = self
            .open
            .get(id)
            .filter(|_| outcome.status == ToolStatus::Ok);
        let edits = open.map(|open| open.edits.clone()).unwrap_or_default();
        self.end(id, Outcome { edits, ..outcome }, out);
    }

    pub(super) fn end(&mut self, id: &str, outcome: Outcome, out: &mut Emitter) {
        self.did(Last::Work);
        self.open.remove(id);
        out.tool_result(id, outcome);
    }

    /// Emits a search, unless a message or an item did.
    fn web_search_call(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        let action = payload.get("action");
        let shown = self.searches.take(|shown| shown == action.raw());
        if shown.is_some() || out.is_known(id) {
            return;
        }
        // Older versions give it no id.
        let id = if id.is_empty() { "web_search" } else { id };
        self.web_search(id, payload, out);
    }

    pub(super) fn web_search(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        let input = item::pick(payload, &["query", "action"]);
        self.begin(
            id,
            |id, out| call::built_in(id, "web_search", input, out),
            out,
        );
        self.end(id, Outcome::default(), out);
    }

    /// Emits the call that generated a picture, unless an item did.
    pub(super) fn image(&mut self, id: &str, payload: &Object<'_>, out: &mut Emitter) {
        if out.is_known(id) {
            return;
        }
        let input = item::pick(payload, &["revised_prompt"]);
        self.begin(
            id,
            |id, out| call::built_in(id, "image_generation", input, out),
            out,
        );
        let media = item::generated_picture(payload.get("result"), out);
        let outcome = Outcome {
            media,
            ..Outcome::default()
        };
        self.end(id, outcome, out);
    }

    /// Emits a message from another agent: a task as a prompt, any other as context.
    /// An encrypted task has no text.
    fn agent_message(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        let text = item::texts(payload.get("content"), "\n");
        let (head, body) = text
            .split_once("\nPayload:\n")
            .filter(|(head, _)| head.starts_with("Message Type: "))
            .unwrap_or(("", &text));
        let body = body.trim();
        if body.is_empty() {
            return;
        }
        if self.agent.is_some() || head.starts_with("Message Type: NEW_TASK") {
            self.turn.touch();
            out.user(body, false);
        } else if !out.was_shown(body) {
            let author = payload.get("author").string();
            out.context(item::agent_name(&author), "", body);
        }
    }
}
