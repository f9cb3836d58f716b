//! The model's conversation in a session file: what it said, the calls that
//! it made, and what it was given back.

use super::{Last, Record, Thread};
use crate::event::{Level, ToolStatus};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::codex::rollout::Family;
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
        family: &mut Family,
        out: &mut Emitter,
    ) {
        let id = first_text(payload, &["call_id", "id"]);
        match payload.get("type").str().as_deref().unwrap_or_default() {
            "message" | "reasoning" => self.spoken(payload, out),
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
                self.output(&id, payload, family, out);
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
            "agent_message" => self.letter(payload, out),
            // The catalogue of tools, snapshots, and marks of compaction.
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

    /// Texts of the conversation are what the messages say too; they count
    /// only in a file without messages. What the user said is mixed there
    /// with what the program added, and is left to the messages.
    fn spoken(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        if self.record >= Record::Messages {
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

    /// Whether a call only waits for a script.
    fn waits(&mut self, id: &str, payload: &Object<'_>) -> bool {
        let arguments = payload.get("arguments").string();
        let cell = Json::parse(&arguments).map(|arguments| arguments.get("cell_id").string());
        payload.get("name").string() == "wait"
            && cell.is_some_and(|cell| self.scripts.wait(id, &cell))
    }

    fn output(&mut self, id: &str, payload: &Object<'_>, family: &mut Family, out: &mut Emitter) {
        let mut output = Output::read(payload.get("output"));
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
                // What a script has to say beside its result.
                out.notice(Level::Info, output.text);
            }
            return;
        };
        if self.paginated && output.running && open.name == "exec_command" {
            // The item tells the end.
            out.tool_output(id, output.text);
            return;
        }
        if open.name.contains('.') {
            output.mcp_texts();
        }
        if let Some(json) = Json::parse(&output.text) {
            // What an older version answers to the call that starts an agent.
            family.play(&json.get("agent_id").string(), id, out);
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
                ..Outcome::default()
            },
        );
    }

    /// A command ended, which may have been a patch.
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

    /// A search that a message or an item did not show already.
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

    /// A picture that was made, unless an item showed it already.
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
        self.end(id, Outcome::default(), out);
    }

    /// A message from another agent: a task is what somebody asks for, all
    /// else is context. Of a task that is encrypted there is nothing to show.
    fn letter(&mut self, payload: &Object<'_>, out: &mut Emitter) {
        let text = item::texts(payload.get("content"), "\n");
        let (head, words) = text
            .split_once("\nPayload:\n")
            .filter(|(head, _)| head.starts_with("Message Type: "))
            .unwrap_or(("", &text));
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        if self.agent.is_some() || head.starts_with("Message Type: NEW_TASK") {
            self.turn.touch();
            out.user(words, false);
        } else if !out.was_shown(words) {
            let author = payload.get("author").string();
            out.context(item::agent_name(&author), "", words);
        }
    }
}
