//! What `qwen` prints with `--output-format stream-json` or `json`.
//!
//! One message has blocks of one kind. Partial messages stream a block and
//! then repeat it whole; the ids of later messages of a turn are not known
//! while they stream, so a block is named by the event that started it.
//! Everything of a sub-agent carries the id of the call that started it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{Held, called, split_api_error, starts_agent};
use crate::event::{
    Agent, Category, Edit, EditOp, Level, Payload, Permission, Session, ToolStatus, TurnEnd,
    TurnStatus, Usage,
};
use crate::json::{Json, Object};
use crate::source::{Call, Emitter, Outcome, genai};
use crate::tool;

/// The events of one run.
#[derive(Clone, Default)]
pub(super) struct Live {
    /// Sub-agents by the call that started them, while that is open.
    agents: HashMap<String, Arc<Agent>>,
    /// Open calls of editing tools.
    calls: HashMap<String, Held>,
    /// Blocks that were streamed and have not come whole, per parent call.
    blocks: HashMap<String, VecDeque<String>>,
    /// The API error that was told, which the end of the run repeats.
    error: String,
    /// Whether the root agent said anything since the turn began.
    answered: bool,
}

impl Live {
    /// Translates an event; `false` if it is unknown.
    pub(super) fn event(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let parent = fields.get("parent_tool_use_id").string();
        out.agent(self.agent(&parent));
        match fields.get("type").str().as_deref() {
            Some("system") => self.system(fields, out),
            Some("assistant") => self.assistant(&parent, fields, out),
            Some("user") => self.user(fields, out),
            Some("stream_event") => self.stream_event(&parent, fields, out),
            Some("result") => {
                self.result(fields, out);
                true
            }
            Some("control_request") => {
                control_request(fields, out);
                true
            }
            // The client's side of the control protocol.
            Some("control_response" | "control_cancel_request") => true,
            _ => false,
        }
    }

    fn agent(&self, parent: &str) -> Option<Arc<Agent>> {
        if parent.is_empty() {
            return None;
        }
        let known = self.agents.get(parent).cloned();
        known.or_else(|| {
            Some(Arc::new(Agent {
                id: parent.to_owned(),
                parent: parent.to_owned(),
                depth: 1,
                name: String::new(),
            }))
        })
    }

    fn system(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let data = fields.get("data");
        let subtype = fields.get("subtype").string();
        match subtype.as_str() {
            // A run of Claude Code begins.
            "init" if fields.has("claude_code_version") => return false,
            "init" => {
                out.interrupted();
                *self = Self::default();
                out.session(Session {
                    provider: super::PROVIDER.name.to_owned(),
                    version: fields.get("qwen_code_version").string(),
                    id: fields.get("session_id").string(),
                    model: fields.get("model").string(),
                    cwd: fields.get("cwd").string(),
                    title: String::new(),
                    ..Session::default()
                });
                out.open_turn();
            }
            "retry" => out.notice(Level::Retry, words(data)),
            "model_fallback" => out.notice(Level::Warning, words(data)),
            "continue_turn_failed" => out.notice(Level::Error, words(data)),
            // They repeat the call of a background agent and its message.
            "task_started" | "task_notification" => {}
            "worktree_started" | "worktree_restored" => out.state(&subtype, data),
            _ => return false,
        }
        true
    }

    fn assistant(&mut self, parent: &str, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let message = fields.get("message").object();
        let id = message.get("id").string();
        let content = message.get("content");
        let mut known = true;
        for (index, block) in genai::parts(content).into_iter().enumerate() {
            let block_fields = block.object();
            match block_fields.get("type").str().as_deref() {
                Some("text") => {
                    let block_id = self.block(parent, &id, index);
                    self.text(&block_id, &block_fields.get("text").display(), out);
                }
                Some("thinking") => {
                    let block_id = self.block(parent, &id, index);
                    out.reasoning(Some(&block_id), block_fields.get("thinking").payload());
                }
                Some("tool_use") => self.tool_use(&block_fields, out),
                None if block.is_string() => self.text(&id, &block.display(), out),
                _ => known = false,
            }
        }
        let usage = usage(&message.get("usage").object());
        if usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0) > 0 {
            out.usage(usage);
        }
        known
    }

    /// The id of a whole block: the one under which it was streamed, if any.
    fn block(&mut self, parent: &str, message: &str, index: usize) -> String {
        let streamed = self.blocks.get_mut(parent).and_then(VecDeque::pop_front);
        streamed.unwrap_or_else(|| match index {
            0 => message.to_owned(),
            _ => format!("{message}/{}", index + 1),
        })
    }

    fn text(&mut self, id: &str, text: &str, out: &mut Emitter) {
        let (text, error) = split_api_error(text);
        self.answered |= !text.is_empty() && out.current_agent().is_none();
        out.text(Some(id), text);
        self.api_error(error, out);
    }

    /// Tells an error, unless it was told.
    fn api_error(&mut self, error: &str, out: &mut Emitter) {
        if !error.is_empty() && self.error != error {
            out.notice(Level::Error, error);
            error.clone_into(&mut self.error);
        }
    }

    fn tool_use(&mut self, block: &Object<'_>, out: &mut Emitter) {
        let id = block.get("id").string();
        let (name, input) = called(&block.get("name").display(), block.get("input"));
        if genai::is_editing(&name) {
            let held = Held {
                name: name.clone(),
                input: input.into(),
            };
            self.calls.insert(id.clone(), held);
        }
        if starts_agent(&name) {
            let agent = Agent {
                id: id.clone(),
                parent: id.clone(),
                depth: out.current_agent().map_or(0, |agent| agent.depth) + 1,
                name: tool::label(&input.get("subagent_type").display()),
            };
            self.agents.insert(id.clone(), Arc::new(agent));
        }
        out.tool_use(Call {
            id: &id,
            name: &name,
            input: input.into(),
            ..Call::default()
        });
    }

    fn user(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let mut known = true;
        for block in genai::parts(fields.get("message").get("content")) {
            let block_fields = block.object();
            match block_fields.get("type").str().as_deref() {
                Some("tool_result") => self.tool_result(&block_fields, out),
                Some("text") => said(&block_fields.get("text").display(), out),
                None if block.is_string() => said(&block.display(), out),
                _ => known = false,
            }
        }
        known
    }

    fn tool_result(&mut self, block: &Object<'_>, out: &mut Emitter) {
        let id = block.get("tool_use_id").string();
        let held = self.calls.remove(&id);
        self.agents.remove(&id);
        self.blocks.remove(&id);
        let content = block.get("content");
        let text = genai::joined_text(content);
        let failed = block.get("is_error").is_true();
        let mut outcome = Outcome {
            output: if content.is_array() {
                text.as_str().into()
            } else {
                content.payload()
            },
            ..Outcome::default()
        };
        if out.category_of(&id) == Some(Category::Execute)
            && let Some(shell) = genai::shell_text(&text)
        {
            outcome.output = shell.output.into();
            outcome.exit_code = shell.exit_code;
        }
        if failed {
            outcome.status = genai::failure(&text);
        } else if outcome.exit_code.is_some_and(|code| code != 0) {
            outcome.status = ToolStatus::Error;
        } else if let Some(held) = held {
            outcome.edits = edits(&held, &text);
        }
        out.tool_result(&id, outcome);
    }

    fn stream_event(&mut self, parent: &str, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let event = fields.get("event").object();
        match event.get("type").str().as_deref() {
            Some("content_block_start") => {
                let kind = event.get("content_block").get("type").str();
                if matches!(kind.as_deref(), Some("text" | "thinking")) {
                    let blocks = self.blocks.entry(parent.to_owned()).or_default();
                    blocks.push_back(fields.get("uuid").string());
                    // A block that never came whole must not stay for ever.
                    if blocks.len() > 64 {
                        blocks.pop_front();
                    }
                }
            }
            Some("content_block_delta") => self.delta(parent, &event.get("delta").object(), out),
            Some("tool_progress") => {
                let id = event.get("tool_use_id").string();
                out.tool_output(&id, event.get("content").payload());
            }
            Some("goal_state") => {
                let state = event.get("goal_state");
                if !state.get("goal").is_null() {
                    out.state("goal", state);
                }
            }
            // The whole message follows.
            Some(
                "message_start" | "message_delta" | "message_stop" | "content_block_stop" | "ping",
            ) => {}
            _ => return false,
        }
        true
    }

    fn delta(&mut self, parent: &str, delta: &Object<'_>, out: &mut Emitter) {
        let blocks = self.blocks.get(parent);
        let id = blocks.and_then(VecDeque::back).cloned();
        // The arguments of calls and signatures come with the whole message.
        match delta.get("type").str().as_deref() {
            Some("text_delta") => {
                let text = delta.get("text").display();
                let (text, error) = split_api_error(&text);
                self.answered |= !text.is_empty() && parent.is_empty();
                out.text_delta(id.as_deref(), text);
                self.api_error(error, out);
            }
            Some("thinking_delta") => {
                out.reasoning_delta(id.as_deref(), &delta.get("thinking").display());
            }
            _ => {}
        }
    }

    fn result(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let failed = fields.get("is_error").is_true();
        let text = fields.get("result").str().unwrap_or_default();
        if !failed && !self.answered {
            out.text(None, text.as_ref());
        }
        for denial in fields.get("permission_denials").array() {
            let id = denial.get("tool_use_id").string();
            if out.is_open(&id) {
                let outcome = Outcome {
                    status: ToolStatus::Rejected,
                    ..Outcome::default()
                };
                out.tool_result(&id, outcome);
            }
        }
        let error = fields.get("error");
        let message = error.get("message").str().or_else(|| error.str());
        if let Some(message) = message {
            self.api_error(&message, out);
        }
        let usage = usage(&fields.get("usage").object());
        if usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0) > 0 {
            out.usage(Usage {
                cumulative: true,
                ..usage
            });
        }
        out.turn_end(TurnEnd {
            status: if failed {
                TurnStatus::Failed
            } else {
                TurnStatus::Completed
            },
            reason: match fields.get("subtype").string() {
                subtype if subtype == "success" => String::new(),
                subtype => subtype,
            },
            duration_ms: fields.get("duration_ms").u64(),
            turns: fields.get("num_turns").u64(),
        });
        *self = Self::default();
    }
}

/// The words in the data of a system event.
fn words(data: Json<'_>) -> Payload {
    let fields = data.object();
    ["message", "error", "reason"]
        .iter()
        .map(|key| fields.get(key))
        .find(|value| value.is_string())
        .map_or_else(Payload::default, Json::payload)
}

/// The stream does not repeat the prompt: without a parent these are reports
/// of agents in the background.
fn said(text: &str, out: &mut Emitter) {
    if out.current_agent().is_none() && text.starts_with("Background agent \"") {
        out.notice(Level::Info, text);
    } else {
        out.user(text, false);
    }
}

fn control_request(fields: &Object<'_>, out: &mut Emitter) {
    let request = fields.get("request").object();
    // The other requests are about the connection alone.
    if request.get("subtype").str().as_deref() == Some("can_use_tool") {
        out.permission(Permission {
            id: fields.get("request_id").display().into_owned(),
            tool_id: request.get("tool_use_id").string(),
            title: request.get("tool_name").string(),
            ..Permission::default()
        });
    }
}

/// `input_tokens` includes the cached ones, `output_tokens` the reasoning.
fn usage(usage: &Object<'_>) -> Usage {
    Usage {
        input_tokens: usage.get("input_tokens").u64(),
        output_tokens: usage.get("output_tokens").u64(),
        cached_tokens: usage.get("cache_read_input_tokens").u64(),
        ..Usage::default()
    }
}

/// The change that a call made. What the tool says tells whether the file is
/// new, and shows the edited lines with their numbers.
fn edits(held: &Held, said: &str) -> Vec<Edit> {
    let input = held.input();
    let mut edits = genai::input_edits(&held.name, &input);
    if held.name == "write_file" && said.starts_with("Successfully overwrote") {
        for edit in &mut edits {
            edit.op = EditOp::Update;
        }
    }
    let start = edited_line(said, &input.get("new_string").display());
    for edit in &mut edits {
        if let ([hunk], EditOp::Update, Some(line)) = (edit.hunks.as_mut_slice(), edit.op, start)
            && hunk.new_start.is_none()
            && !input.get("replace_all").is_true()
        {
            hunk.old_start = Some(line);
            hunk.new_start = Some(line);
        }
    }
    edits
}

/// The line at which `new` stands, by what is shown of the edited file:
/// `… Showing lines 4-11 of 14 from the edited file:\n\n---\n\n…`.
fn edited_line(said: &str, new: &str) -> Option<u64> {
    let (head, shown) = said.split_once(" from the edited file:\n\n---\n\n")?;
    let (_, range) = head.rsplit_once("Showing lines ")?;
    let first: u64 = range.split_once('-')?.0.parse().ok()?;
    let mut places = shown.match_indices(new).filter(|_| !new.trim().is_empty());
    let (place, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let before = shown.get(..place)?.matches('\n').count();
    Some(first + u64::try_from(before).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_lines_number_an_edit() {
        let said = "The file: /a has been updated. Showing lines 4-11 of 14 from the edited file:\n\n---\n\n\ndef main(path):\n    new\n    rest\n";
        assert_eq!(edited_line(said, "    new\n"), Some(6));
        assert_eq!(edited_line(said, "nowhere"), None);
        assert_eq!(edited_line(said, ""), None);
        assert_eq!(edited_line("Showing lines x-", "new"), None);
    }
}
