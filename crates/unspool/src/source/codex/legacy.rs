//! Lines of `codex exec --json` in old versions: settings, the prompt, then
//! `{"id","msg"}` with messages of the core.
//!
//! There is no closing message: a turn is completed if the input ends after an
//! answer and no call is open. An error ends the turn.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{Turn, change, item, usage};
use crate::event::{
    Category, Edit, Level, Media, Payload, Permission, Session, ToolStatus, TurnEnd, TurnStatus,
};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::usage::Totals;
use crate::source::{Call, Emitter, Outcome};
use crate::tool;

/// Returns true if only this form has a line with these fields.
pub(super) fn is_frame(fields: &Object<'_>) -> bool {
    let settings = ["model", "provider", "workdir", "sandbox"];
    if settings.iter().all(|key| fields.has(key)) {
        return true;
    }
    let message = fields.get("msg");
    fields.get("id").is_string() && !fields.has("dir") && message.get("type").is_string()
}

#[derive(Clone, Default)]
pub(super) struct Legacy {
    turn: Turn,
    /// The last message was an answer.
    answered: bool,
    prompt: String,
    open: HashMap<String, Open>,
    /// The call that started last.
    last: String,
    usage: Totals,
}

/// A running call.
#[derive(Clone, Default)]
struct Open {
    /// Edits of a patch, which only its start contains.
    edits: Vec<Edit>,
    /// Bytes of an incomplete character at the end of the output.
    tail: Vec<u8>,
}

impl Legacy {
    pub(super) fn frame(&mut self, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let message = fields.get("msg");
        if message.is_object() {
            self.message(&message.object(), frame, out);
        } else if fields.has("prompt") {
            self.user(fields.get("prompt"), Vec::new(), out);
        } else if fields.has("workdir") {
            self.finish(out);
            self.prompt.clear();
            out.session(Session {
                provider: super::PROVIDER.name.to_owned(),
                model: fields.get("model").string(),
                cwd: fields.get("workdir").string(),
                ..Session::default()
            });
        } else {
            out.unknown(frame);
        }
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        let status = if self.answered && self.open.is_empty() {
            TurnStatus::Completed
        } else {
            TurnStatus::Interrupted
        };
        self.turn.cut(status, out);
    }

    fn message(&mut self, msg: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let kind = msg.get("type").string();
        if is_noise(&kind) {
            return;
        }
        if kind == "token_count" {
            self.usage.emit(usage::of_info(msg.get("info")), out);
            return;
        }
        self.turn.touch();
        self.answered = matches!(kind.as_str(), "agent_message" | "agent_message_delta");
        match kind.as_str() {
            "session_configured" => configured(msg, out),
            "task_started" => self.turn = Turn::Open,
            "user_message" => {
                let media = prompt_media(msg, out);
                self.user(msg.get("message"), media, out);
            }
            "agent_message" => out.text(None, msg.get("message").payload()),
            "agent_message_delta" => out.text_delta(None, &msg.get("delta").string()),
            "agent_reasoning" => out.reasoning(None, msg.get("text").payload()),
            "agent_reasoning_delta" => out.reasoning_delta(None, &msg.get("delta").string()),
            "plan_update" => plan(msg, out),
            "stream_error" => out.notice(Level::Retry, msg.get("message").payload()),
            "background_event" => out.notice(Level::Info, msg.get("message").payload()),
            "warning" | "deprecation_notice" => {
                out.notice(
                    Level::Warning,
                    super::first_text(msg, &["message", "summary"]),
                );
            }
            "error" => self.failed(msg, out),
            "task_complete" => self.turn.end(TurnEnd::default(), out),
            "turn_aborted" => self.aborted(msg, out),
            _ => self.call(&kind, msg, frame, out),
        }
    }

    fn call(&mut self, kind: &str, msg: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        match kind {
            "exec_command_begin" => self.begin(msg, "exec_command", &["command", "cwd"], out),
            "exec_command_output_delta" => self.output(msg, out),
            "exec_command_end" => self.end(msg, command_outcome(msg), out),
            "patch_apply_begin" => self.begin(msg, "apply_patch", &["changes"], out),
            "patch_apply_end" => self.end(msg, patch_outcome(msg), out),
            "mcp_tool_call_begin" => self.mcp_begin(msg, out),
            "mcp_tool_call_end" => self.end(msg, mcp_outcome(msg, out), out),
            "web_search_begin" => {}
            "web_search_end" => self.whole(msg, "web_search", &["query", "action"], out),
            "view_image_tool_call" => self.whole(msg, "view_image", &["path"], out),
            "exec_approval_request" | "apply_patch_approval_request" => approval(msg, out),
            _ => out.unknown(frame),
        }
    }

    fn user(&mut self, text: Json<'_>, media: Vec<Media>, out: &mut Emitter) {
        let prompt = text.string();
        self.turn = Turn::Open;
        if prompt != self.prompt {
            out.user_with_media(text.payload(), media, false);
            self.prompt = prompt;
        }
    }

    fn begin(&mut self, msg: &Object<'_>, name: &str, keys: &[&str], out: &mut Emitter) {
        let edits = change::edits(msg.get("changes"));
        let path = edits.first().map(|edit| edit.path.clone());
        let id = msg.get("call_id").string();
        out.tool_use(Call {
            id: &id,
            name,
            category: (!edits.is_empty()).then(|| change::category(&edits)),
            arg: path.map(Into::into),
            input: item::pick(msg, keys),
            ..Call::default()
        });
        let tail = Vec::new();
        self.last.clone_from(&id);
        self.open.insert(id, Open { edits, tail });
    }

    /// Returns the call of a message; the one that started last if it names none.
    fn call_id(&self, msg: &Object<'_>) -> String {
        let id = msg.get("call_id").string();
        if id.is_empty() && self.open.contains_key(&self.last) {
            return self.last.clone();
        }
        id
    }

    fn mcp_begin(&mut self, msg: &Object<'_>, out: &mut Emitter) {
        let id = msg.get("call_id").string();
        mcp_call(&id, msg.get("invocation"), out);
        self.last.clone_from(&id);
        self.open.insert(id, Open::default());
    }

    fn output(&mut self, msg: &Object<'_>, out: &mut Emitter) {
        let id = self.call_id(msg);
        let chunk = msg.get("chunk").string();
        let Ok(bytes) = BASE64.decode(chunk.as_bytes()) else {
            out.tool_output(&id, chunk);
            return;
        };
        let mut tail = self
            .open
            .get_mut(&id)
            .map(|open| std::mem::take(&mut open.tail))
            .unwrap_or_default();
        tail.extend(bytes);
        let rest = tail.split_off(whole_characters(&tail));
        out.tool_output(&id, String::from_utf8_lossy(&tail));
        if let Some(open) = self.open.get_mut(&id) {
            open.tail = rest;
        }
    }

    fn end(&mut self, msg: &Object<'_>, outcome: Outcome, out: &mut Emitter) {
        let id = self.call_id(msg);
        let open = self.open.remove(&id).unwrap_or_default();
        let edits = match outcome.status {
            ToolStatus::Ok => open.edits,
            _ => Vec::new(),
        };
        out.tool_result(&id, Outcome { edits, ..outcome });
    }

    /// Emits a call that is reported only at its end.
    fn whole(&mut self, msg: &Object<'_>, name: &str, keys: &[&str], out: &mut Emitter) {
        self.begin(msg, name, keys, out);
        self.end(msg, Outcome::default(), out);
    }

    fn failed(&mut self, msg: &Object<'_>, out: &mut Emitter) {
        let reason = item::message(msg.get("message"));
        out.notice(Level::Error, reason.as_str());
        self.turn.fail(reason, out);
    }

    fn aborted(&mut self, msg: &Object<'_>, out: &mut Emitter) {
        self.turn.end(
            TurnEnd {
                status: TurnStatus::Canceled,
                reason: msg.get("reason").string(),
                ..TurnEnd::default()
            },
            out,
        );
    }
}

/// Returns true for messages that repeat others or do not concern the user: the
/// diff of the turn is the sum of the patches, raw reasoning has a summary.
fn is_noise(kind: &str) -> bool {
    matches!(
        kind,
        "turn_diff"
            | "agent_reasoning_section_break"
            | "agent_reasoning_raw_content"
            | "agent_reasoning_raw_content_delta"
            | "shutdown_complete"
            | "conversation_path"
            | "mcp_list_tools_response"
            | "list_custom_prompts_response"
    )
}

fn configured(msg: &Object<'_>, out: &mut Emitter) {
    out.session(Session {
        provider: super::PROVIDER.name.to_owned(),
        id: msg.get("session_id").string(),
        model: msg.get("model").string(),
        ..Session::default()
    });
}

pub(super) fn plan(msg: &Object<'_>, out: &mut Emitter) {
    let input = item::pick(msg, &["plan", "explanation"]);
    let json = input.as_ref().map_or(Json::NULL, |input| input.json());
    if let Some(plan) = tool::plan("update_plan", json) {
        out.plan(plan);
    }
}

/// Emits the call of an MCP tool.
pub(super) fn mcp_call(id: &str, invocation: Json<'_>, out: &mut Emitter) {
    let fields = invocation.object();
    let tool = fields.get("tool").string();
    out.tool_use(Call {
        id,
        name: &item::mcp_name(&fields.get("server").string(), &tool),
        category: Some(item::mcp_category(&tool)),
        input: fields.get("arguments").into(),
        ..Call::default()
    });
}

/// Reads the end of a command, here and in session files.
pub(super) fn command_outcome(msg: &Object<'_>) -> Outcome {
    let exit_code = msg.get("exit_code").i64();
    let output = match msg.get("aggregated_output") {
        text if text.is_null() => {
            let parts = [msg.get("stdout").string(), msg.get("stderr").string()];
            Payload::from(parts.concat())
        }
        text => text.payload(),
    };
    Outcome {
        status: match (msg.get("status").str().as_deref(), exit_code) {
            (Some("declined"), _) => ToolStatus::Rejected,
            (_, None | Some(0)) => ToolStatus::Ok,
            (_, Some(_)) => ToolStatus::Error,
        },
        output,
        exit_code,
        duration_ms: item::duration_ms(msg.get("duration")),
        ..Outcome::default()
    }
}

/// Reads the end of a patch, here and in session files.
pub(super) fn patch_outcome(msg: &Object<'_>) -> Outcome {
    let success = msg.get("success").is_true();
    Outcome {
        status: match msg.get("status").str().as_deref() {
            Some("declined") => ToolStatus::Rejected,
            _ if success => ToolStatus::Ok,
            _ => ToolStatus::Error,
        },
        output: msg.get(if success { "stdout" } else { "stderr" }).payload(),
        ..Outcome::default()
    }
}

/// Reads the end of an MCP call, here and in session files.
pub(super) fn mcp_outcome(msg: &Object<'_>, out: &Emitter) -> Outcome {
    let result = msg.get("result").object();
    let answer = result.get("Ok");
    let failed = !answer.is_object() || answer.get("isError").is_true();
    let output = match result.get("Err") {
        error if error.is_null() => item::mcp_text(answer),
        error => item::message(error),
    };
    Outcome {
        status: if failed {
            ToolStatus::Error
        } else {
            ToolStatus::Ok
        },
        output: output.into(),
        duration_ms: item::duration_ms(msg.get("duration")),
        media: out.media_in(answer.get("content")),
        ..Outcome::default()
    }
}

/// Returns the pictures of a prompt, here and in session files: `data:` URLs and
/// paths.
pub(super) fn prompt_media(msg: &Object<'_>, out: &Emitter) -> Vec<Media> {
    let pictures = ["images", "local_images"];
    let pictures = pictures.iter().flat_map(|key| msg.get(key).array());
    pictures
        .map(|picture| out.media_address(picture, "image/*"))
        .collect()
}

fn approval(msg: &Object<'_>, out: &mut Emitter) {
    let id = msg.get("call_id").string();
    let reason = msg.get("reason").string();
    let input = item::pick(msg, &["command"]);
    let json = input.as_ref().map_or(Json::NULL, |input| input.json());
    out.permission(Permission {
        id: id.clone(),
        tool_id: id,
        title: if reason.is_empty() {
            tool::arg(Category::Execute, json)
        } else {
            reason
        },
        ..Permission::default()
    });
}

/// Returns the length of the bytes without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(error) => {
            let bad = error.valid_up_to() + error.error_len().unwrap_or(1);
            bad + bytes.get(bad..).map_or(0, whole_characters)
        }
        Ok(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, events, kinds};
    use super::*;
    use crate::event::Body;

    #[test]
    fn the_end_of_the_input_decides_the_status() {
        let begin = "{\"prompt\":\"x\"}\n{\"id\":\"0\",\"msg\":{\"type\":\"task_started\"}}\n";
        let answer = "{\"id\":\"0\",\"msg\":{\"type\":\"agent_message\",\"message\":\"done\"}}\n";
        let count = "{\"id\":\"0\",\"msg\":{\"type\":\"token_count\",\"info\":null}}\n";
        let call = "{\"id\":\"0\",\"msg\":{\"type\":\"exec_command_begin\",\"call_id\":\"c\",\"command\":[\"ls\"]}}\n";
        let end = |input: &[&str]| ends(&events(&input.concat()));
        assert_eq!(end(&[begin, answer, count]), [TurnStatus::Completed]);
        assert_eq!(end(&[begin]), [TurnStatus::Interrupted]);
        assert_eq!(end(&[begin, answer, call]), [TurnStatus::Interrupted]);
        assert_eq!(end(&[begin, call, answer]), [TurnStatus::Interrupted]);
    }

    #[test]
    fn characters_cut_between_two_pieces_of_output_are_joined() {
        let piece = |bytes: &[u8]| {
            format!(
                "{{\"id\":\"0\",\"msg\":{{\"type\":\"exec_command_output_delta\",\"call_id\":\"c\",\"chunk\":\"{}\"}}}}\n",
                BASE64.encode(bytes)
            )
        };
        let begin = "{\"id\":\"0\",\"msg\":{\"type\":\"exec_command_begin\",\"call_id\":\"c\",\"command\":[\"ls\"]}}\n";
        let input = [begin.to_owned(), piece(b"\xff\xe6"), piece(b"\xbc\xa2!")].concat();
        let text: String = events(&input)
            .iter()
            .filter_map(|event| match &event.body {
                Body::ToolOutput(output) => Some(output.text.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "\u{FFFD}漢!");
    }

    #[test]
    fn output_without_a_call_id_belongs_to_the_last_call() {
        let begin = |id: &str| {
            format!(
                "{{\"id\":\"0\",\"msg\":{{\"type\":\"exec_command_begin\",\"call_id\":\"{id}\",\"command\":[\"ls\"]}}}}\n"
            )
        };
        let piece =
            "{\"id\":\"0\",\"msg\":{\"type\":\"exec_command_output_delta\",\"chunk\":\"YQ==\"}}\n";
        let input = [begin("a"), begin("b"), piece.to_owned()].concat();
        let ids: Vec<String> = events(&input)
            .into_iter()
            .filter_map(|event| match event.body {
                Body::ToolOutput(output) => Some(output.id),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["b"]);
    }

    #[test]
    fn unknown_messages_are_kept() {
        let events = events("{\"id\":\"0\",\"msg\":{\"type\":\"hologram\"}}\n");
        assert_eq!(kinds(&events), ["unknown", "turn_end"]);
    }
}
