//! Output of `qwen` with `--output-format stream-json` or `json`.
//!
//! A message has blocks of one kind. Partial messages stream a block, then repeat
//! it whole. The ids of later messages of a turn are unknown while they stream, so
//! a block gets the id of the event that started it. Events of a sub-agent contain
//! the id of the call that started it.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Held, may_be_quoted, split_api_error, starts_agent, unwrap_call};
use crate::event::{
    Agent, Category, Edit, EditOp, Level, Media, Payload, Permission, Session, ToolStatus, TurnEnd,
    TurnStatus, Usage,
};
use crate::json::{Json, Object};
use crate::recent::{RecentMap, RecentQueue, RecentSet};
use crate::source::live_or_saved;
use crate::source::usage::{self, Names};
use crate::source::{Call, Emitter, Outcome, gemini_shared, media};
use crate::tool;

/// State of one run.
#[derive(Clone, Default)]
pub(super) struct Live {
    /// Sub-agents by the open call that started them.
    agents: HashMap<String, Arc<Agent>>,
    /// Open calls of editing tools.
    calls: HashMap<String, Held>,
    /// Streamed blocks without a final form, by parent call.
    blocks: HashMap<String, RecentQueue<String, REMEMBERED>>,
    /// The last API error emitted; the end of the run repeats it.
    error: String,
    /// Nothing followed that error: it ended the turn.
    gave_up: bool,
    /// An answer with an API error at its end that may be a quotation; the end of the
    /// run decides.
    doubtful: Option<Doubtful>,
    /// Calls that open requests for permission are about.
    asked: RecentMap<String, String, REMEMBERED>,
    /// Rejected calls without a result.
    refused: RecentSet<String, REMEMBERED>,
    /// The root agent has answered in this turn.
    answered: bool,
}

/// An answer that may end with an API error.
#[derive(Clone)]
struct Doubtful {
    id: String,
    text: String,
    error: String,
}

const TOKENS: Names = Names {
    input: &["input_tokens"],
    output: &["output_tokens"],
    cached: &["cache_read_input_tokens"],
    reasoning: &[],
};

/// Requests, refusals and blocks of one agent that are remembered.
const REMEMBERED: usize = 64;

impl live_or_saved::Live for Live {
    fn event(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
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
            Some("control_request") => self.ask(fields, out),
            Some("control_response") => {
                self.answer(&fields.get("response").object(), out);
                true
            }
            Some("control_cancel_request") => {
                let request = fields.get("request_id").display().into_owned();
                self.decide(request, "cancelled", out);
                true
            }
            _ => false,
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        if let Some(doubtful) = self.doubtful.take() {
            self.api_error(&doubtful.error, out);
        }
        out.interrupted();
    }
}

impl Live {
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
            // A run of Claude Code starts.
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
            "retry" => out.notice(Level::Retry, text_of(data)),
            "model_fallback" => out.notice(Level::Warning, text_of(data)),
            "continue_turn_failed" => out.notice(Level::Error, text_of(data)),
            // They repeat the call of a background agent and its message.
            "task_started" | "task_notification" => {}
            "worktree_started" | "worktree_restored" => out.state(&subtype, data),
            _ => return false,
        }
        true
    }

    fn assistant(&mut self, parent: &str, fields: &Object<'_>, out: &mut Emitter) -> bool {
        self.resume(out);
        let message = fields.get("message").object();
        let id = message.get("id").string();
        let content = message.get("content");
        let mut known = true;
        for (index, block) in gemini_shared::parts(content).into_iter().enumerate() {
            let block_fields = block.object();
            match block_fields.get("type").str().as_deref() {
                Some("text") => {
                    let streamed = self.blocks.get(parent).is_some_and(|b| !b.is_empty());
                    let block_id = self.block(parent, &id, index);
                    let text = block_fields.get("text").display();
                    self.text(&block_id, &text, streamed, out);
                }
                Some("thinking") => {
                    let block_id = self.block(parent, &id, index);
                    out.reasoning(Some(&block_id), thought(&block_fields));
                }
                Some("tool_use") => self.tool_use(&block_fields, out),
                None if block.is_string() => self.text(&id, &block.display(), false, out),
                _ => match out.media(block) {
                    Some(media) => out.text_media(Some(&id), media),
                    None => known = false,
                },
            }
        }
        usage::emit(TOKENS.read(&message.get("usage").object()), out);
        known
    }

    /// Returns the id of a whole block: the one of its stream, if any.
    fn block(&mut self, parent: &str, message: &str, index: usize) -> String {
        let streamed = self.blocks.get_mut(parent).and_then(|b| b.take(|_| true));
        streamed.unwrap_or_else(|| match index {
            0 => message.to_owned(),
            _ => format!("{message}/{}", index + 1),
        })
    }

    fn text(&mut self, id: &str, text: &str, streamed: bool, out: &mut Emitter) {
        let (mut answer, mut error) = split_api_error(text);
        let is_known = self.error == error;
        if streamed && !is_known {
            // Qwen Code sends its own error as a separate delta.
            (answer, error) = (text, "");
        }
        self.answered |= !answer.is_empty() && out.current_agent().is_none();
        out.text(Some(id), answer);
        if may_be_quoted(answer) && !error.is_empty() && !is_known {
            self.doubtful = Some(Doubtful {
                id: id.to_owned(),
                text: text.to_owned(),
                error: error.to_owned(),
            });
        } else {
            self.api_error(error, out);
        }
    }

    /// Takes a doubtful answer as a quotation, because the turn continues.
    fn resume(&mut self, out: &mut Emitter) {
        self.gave_up = false;
        if let Some(doubtful) = self.doubtful.take() {
            out.text(Some(&doubtful.id), doubtful.text);
        }
    }

    /// Emits an error, unless it repeats the last one.
    fn api_error(&mut self, error: &str, out: &mut Emitter) {
        if !error.is_empty() {
            self.gave_up = true;
            if self.error != error {
                out.notice(Level::Error, error);
                error.clone_into(&mut self.error);
            }
        }
    }

    fn tool_use(&mut self, block: &Object<'_>, out: &mut Emitter) {
        let id = block.get("id").string();
        let (name, input) = unwrap_call(&block.get("name").display(), block.get("input"));
        if gemini_shared::is_editing(&name) {
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
        out.builtin_tool_use(Call {
            id: &id,
            name: &name,
            input: input.into(),
            ..Call::default()
        });
    }

    fn user(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        self.resume(out);
        let mut known = true;
        let content = fields.get("message").get("content");
        let mut media = gemini_shared::media(content, out);
        for block in gemini_shared::parts(content) {
            let block_fields = block.object();
            match block_fields.get("type").str().as_deref() {
                Some("tool_result") => self.tool_result(&block_fields, out),
                Some("text") => {
                    user_text(&block_fields.get("text").display(), &mut media, out);
                }
                None if block.is_string() => user_text(&block.display(), &mut media, out),
                _ => known &= media::is_media(block),
            }
        }
        out.user_with_media("", media, false);
        known
    }

    fn tool_result(&mut self, block: &Object<'_>, out: &mut Emitter) {
        let id = block.get("tool_use_id").string();
        let held = self.calls.remove(&id);
        self.agents.remove(&id);
        self.blocks.remove(&id);
        let content = block.get("content");
        let text = gemini_shared::joined_text(content);
        let failed = block.get("is_error").is_true();
        let mut outcome = Outcome {
            output: if content.is_array() {
                text.as_str().into()
            } else {
                content.payload()
            },
            media: out.media_in(content),
            ..Outcome::default()
        };
        if out.category_of(&id) == Some(Category::Execute)
            && let Some(shell) = gemini_shared::shell_text(&text)
        {
            outcome.output = shell.output.into();
            outcome.exit_code = shell.exit_code;
            outcome.status = shell.status;
        }
        let refused = self.refused.remove(&id);
        if failed && refused.is_some() {
            outcome.status = ToolStatus::Rejected;
        } else if outcome.status != ToolStatus::Ok {
            // The text of the command says how it ended.
        } else if failed {
            outcome.status = gemini_shared::failure(&text);
        } else if let Some(held) = held {
            outcome.edits = edits(&held, &text);
        }
        out.tool_result(&id, outcome);
    }

    fn stream_event(&mut self, parent: &str, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let event = fields.get("event").object();
        match event.get("type").str().as_deref() {
            Some("content_block_start") => {
                self.resume(out);
                match event.get("content_block").get("type").str().as_deref() {
                    Some("text" | "thinking") => {
                        let blocks = self.blocks.entry(parent.to_owned()).or_default();
                        blocks.push(fields.get("uuid").string());
                    }
                    Some("tool_use") => {}
                    _ => return false,
                }
            }
            Some("content_block_delta") => {
                return self.delta(parent, &event.get("delta").object(), out);
            }
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

    fn delta(&mut self, parent: &str, delta: &Object<'_>, out: &mut Emitter) -> bool {
        let blocks = self.blocks.get(parent);
        let id = blocks.and_then(|blocks| blocks.back().cloned());
        // The whole message contains arguments and signatures.
        match delta.get("type").str().as_deref() {
            Some("text_delta") => {
                let text = delta.get("text").display();
                let (mut answer, mut error) = split_api_error(&text);
                if !answer.is_empty() {
                    // Qwen Code sends its own error as a separate delta.
                    (answer, error) = (&text, "");
                }
                self.answered |= !answer.is_empty() && parent.is_empty();
                out.text_delta(id.as_deref(), answer);
                self.api_error(error, out);
            }
            Some("thinking_delta") => {
                out.reasoning_delta(id.as_deref(), &delta.get("thinking").display());
            }
            Some("input_json_delta" | "signature_delta") => {}
            _ => return false,
        }
        true
    }

    /// Emits a request for permission. Other known control requests concern only the
    /// connection.
    fn ask(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        let request = fields.get("request").object();
        let kind = request.get("subtype").string();
        if kind != "can_use_tool" {
            return kind == "initialize"
                || kind == "interrupt"
                || ["set_", "get_", "mcp_", "supported_", "hook_"]
                    .iter()
                    .any(|prefix| kind.starts_with(prefix));
        }
        let id = fields.get("request_id").display().into_owned();
        let call = request.get("tool_use_id").string();
        self.asked.insert(id.clone(), call.clone());
        out.permission(Permission {
            id,
            tool_id: call,
            title: request.get("tool_name").string(),
            ..Permission::default()
        });
        true
    }

    fn answer(&mut self, response: &Object<'_>, out: &mut Emitter) {
        let request = response.get("request_id").display().into_owned();
        let answer = response.get("response").get("behavior").string();
        let outcome = match answer.as_str() {
            "" => response.get("subtype").string(),
            _ => answer,
        };
        self.decide(request, &outcome, out);
    }

    fn decide(&mut self, request: String, outcome: &str, out: &mut Emitter) {
        let Some(call) = self.asked.remove(&request) else {
            return;
        };
        if outcome == "deny" {
            self.refused.add(&call);
        }
        out.permission(Permission {
            id: request,
            tool_id: call,
            outcome: outcome.to_owned(),
            ..Permission::default()
        });
    }

    fn result(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let mut failed = fields.get("is_error").is_true();
        if let Some(doubtful) = self.doubtful.take() {
            if failed {
                self.api_error(&doubtful.error, out);
            } else {
                out.text(Some(&doubtful.id), doubtful.text);
            }
        }
        let text = fields.get("result").str().unwrap_or_default();
        if !failed && !self.answered {
            let (answer, error) = split_api_error(&text);
            out.text(None, answer);
            self.api_error(error, out);
        }
        let mut reason = match fields.get("subtype").string() {
            subtype if subtype == "success" => String::new(),
            subtype => subtype,
        };
        // Older versions report success after an API error.
        if self.gave_up && !failed {
            failed = true;
            "api_error".clone_into(&mut reason);
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
        let canceled = failed && message.as_deref() == Some("Operation cancelled.");
        if let Some(message) = message {
            if canceled {
                out.notice(Level::Canceled, message);
            } else {
                self.api_error(&message, out);
            }
        }
        let total = Usage {
            cumulative: true,
            ..TOKENS.read(&fields.get("usage").object())
        };
        usage::emit(total, out);
        out.turn_end(TurnEnd {
            status: match failed {
                true if canceled => TurnStatus::Canceled,
                true => TurnStatus::Failed,
                false => TurnStatus::Completed,
            },
            reason,
            duration_ms: fields.get("duration_ms").u64(),
            turns: fields.get("num_turns").u64(),
        });
        *self = Self::default();
    }
}

/// Returns the text in the data of a system event.
fn text_of(data: Json<'_>) -> Payload {
    let fields = data.object();
    ["message", "error", "reason"]
        .iter()
        .map(|key| fields.get(key))
        .find(|value| value.is_string())
        .map_or_else(Payload::default, Json::payload)
}

/// Emits a user text. The stream does not contain the prompt: the root agent's
/// texts are reports of background agents.
fn user_text(text: &str, media: &mut Vec<Media>, out: &mut Emitter) {
    if out.current_agent().is_none() && text.starts_with("Background agent \"") {
        out.notice(Level::Info, text);
    } else {
        out.user_with_media(text, std::mem::take(media), false);
    }
}

/// Returns a thought with its subject as a heading.
fn thought(block: &Object<'_>) -> Payload {
    let (text, subject) = (block.get("thinking"), block.get("signature").string());
    let output = text.str().unwrap_or_default();
    if subject.trim().is_empty() || output.trim_start().starts_with(subject.trim()) {
        return text.payload();
    }
    format!("**{}**\n{output}", subject.trim()).into()
}

/// Returns the edits of a call. The output shows whether the file is new, and the
/// line numbers.
fn edits(held: &Held, output: &str) -> Vec<Edit> {
    let input = held.input();
    let mut edits = gemini_shared::input_edits(&held.name, &input);
    if held.name == "write_file" && output.starts_with("Successfully overwrote") {
        for edit in &mut edits {
            // The old content is unknown.
            edit.op = EditOp::Update;
            edit.hunks.clear();
        }
    }
    let start = edited_line(output, &input.get("new_string").display());
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

/// Returns the line number of `new` in the part of the file that is shown:
/// `… Showing lines 4-11 of 14 from the edited file:\n\n---\n\n…`.
fn edited_line(output: &str, new: &str) -> Option<u64> {
    let (head, shown) = output.split_once(" from the edited file:\n\n---\n\n")?;
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
        let output = "The file: /a has been updated. Showing lines 4-11 of 14 from the edited file:\n\n---\n\n\ndef main(path):\n    new\n    rest\n";
        assert_eq!(edited_line(output, "    new\n"), Some(6));
        assert_eq!(edited_line(output, "nowhere"), None);
        assert_eq!(edited_line(output, ""), None);
        assert_eq!(edited_line("Showing lines x-", "new"), None);
    }
}
