//! OpenAI-compatible endpoints: answers of the chat completions and Responses
//! APIs of OpenAI and of compatible servers.
//!
//! There are four formats, each in its own file: bodies and conversations of
//! chat messages (`chat`), streamed chat completions (`chunk`), Responses bodies
//! and streams (`responses`) with their items (`item`), and errors in every
//! vendor's form (here).
//!
//! A stream is shown live. A body (`stream: false`) gives the same events all at
//! once.
//!
//! A response is one turn, even if it ends with a tool call: the caller runs the
//! tool, and the next response is another turn.

use super::usage::Names;
use super::{Emitter, Provider, Source};
use crate::event::{Category, Level, Session, TurnEnd, TurnStatus, Usage};
use crate::frame::Frame;
use crate::json::{self, Json, Object};
use calls::Calls;
use chat::Contents;
use chunk::{Chunks, End};
use item::BlockIds;
use responses::Responses;
use shape::Shape;

mod arguments;
mod calls;
mod chat;
mod chunk;
mod item;
mod responses;
mod shape;
#[cfg(test)]
mod tests;
mod think;

pub(crate) const PROVIDER: Provider =
    Provider::new("openai", shape::recognise, || Box::<Openai>::default())
        .with_title("OpenAI-compatible")
        .with_about(
            "OpenAI-compatible endpoints: chat completions and Responses, bodies and streams",
        )
        .with_example("curl -N https://api.openai.com/v1/chat/completions … | unspool events")
        .with_tools(&[
            (Category::Search, &["file_search"]),
            (Category::Execute, &["local_shell", "code_interpreter"]),
        ]);

#[derive(Clone, Default)]
struct Openai {
    introduced: bool,
    model: String,
    calls: Calls,
    chunks: Chunks,
    responses: Responses,
    last: Last,
}

/// The last entry of a saved conversation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    /// A question, a call or a result: something must follow.
    Open,
    Answer,
    Refusal,
}

impl Source for Openai {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        if json::trim(frame.text) == "[DONE]" {
            self.chunks.end(End::Closed, &mut self.calls, out);
            return;
        }
        let Some(json) = frame.json().filter(|json| json.is_object()) else {
            out.unknown(frame);
            return;
        };
        let fields = json.object();
        let shape = Shape::of(&fields, frame.event);
        if !matches!(shape, Some(Shape::Event)) {
            self.responses.settle(&mut self.calls, out);
        }
        match shape {
            Some(Shape::Chunk) => {
                if !self.chunk(&fields, out) {
                    out.unknown(frame);
                }
            }
            Some(Shape::Body) => self.body(&fields, out),
            Some(Shape::Response) => {
                self.introduce(&fields, out);
                self.responses.body(&fields, &mut self.calls, out);
            }
            Some(Shape::Event) => self.event(frame, &fields, out),
            Some(Shape::Message) => self.message(frame, &fields, out),
            Some(Shape::Item) => self.item(frame, json, out),
            Some(Shape::Error) => self.error(json, &fields, out),
            None => out.unknown(frame),
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        self.chunks.end(End::Cut, &mut self.calls, out);
        self.responses.cut(&mut self.calls, out);
        self.calls.release_early(out);
        self.end_conversation(out);
        out.interrupted();
    }
}

impl Openai {
    /// Emits the session, again if the model changes. The wire has the time when the
    /// response started, not the times of its parts.
    fn introduce(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let model = fields.get("model").str().unwrap_or_default();
        if self.introduced && (model.is_empty() || model == self.model) {
            return;
        }
        self.introduced = true;
        self.model = model.into_owned();
        let created = [fields.get("created"), fields.get("created_at")];
        out.time_ms(created.iter().find_map(|time| milliseconds(*time)));
        out.session(Session {
            provider: PROVIDER.name.to_owned(),
            id: fields.get("id").string(),
            model: self.model.clone(),
            ..Session::default()
        });
        out.time(None);
    }

    fn chunk(&mut self, chunk: &Object<'_>, out: &mut Emitter) -> bool {
        let choices = chunk.get("choices").array();
        if !choices.is_empty() || chunk.get("usage").is_object() {
            self.introduce(chunk, out);
        }
        let is_known = self.chunks.chunk(chunk, &mut self.calls, out);
        if let Some(error) = error_in(chunk, &choices) {
            self.chunks.fail(error, &mut self.calls, out);
        }
        is_known
    }

    fn body(&mut self, body: &Object<'_>, out: &mut Emitter) {
        self.chunks.end(End::Closed, &mut self.calls, out);
        self.introduce(body, out);
        out.open_turn();
        let mut choices = body.get("choices").array();
        choices.sort_by_key(|choice| choice.get("index").u64());
        let mut refusal = false;
        for (position, choice) in choices.iter().enumerate() {
            let message = choice.get("message").object();
            let contents = chat::assistant(&message, &mut self.calls, out);
            refusal |= contents.refusal && position == 0;
        }
        out.usage(usage(body.get("usage")));
        if let Some(error) = error_in(body, &choices) {
            failed(error, out);
            return;
        }
        let first = choices.first().copied().unwrap_or(Json::NULL);
        out.turn_end(finished(&first.get("finish_reason").string(), refusal));
    }

    fn event(&mut self, frame: &Frame<'_>, fields: &Object<'_>, out: &mut Emitter) {
        let response = fields.get("response").object();
        if !self.introduced || !response.is_empty() {
            self.introduce(&response, out);
        }
        self.responses.event(frame, fields, &mut self.calls, out);
    }

    fn error(&mut self, json: Json<'_>, fields: &Object<'_>, out: &mut Emitter) {
        if !self.introduced {
            self.introduce(&Object::default(), out);
        }
        let error = [fields.get("error"), fields.get("detail")]
            .into_iter()
            .find(|error| !error.is_null())
            .unwrap_or(json);
        self.responses.release(&mut self.calls, out);
        self.chunks.fail(error, &mut self.calls, out);
    }

    /// Emits a message of a saved conversation.
    fn message(&mut self, frame: &Frame<'_>, message: &Object<'_>, out: &mut Emitter) {
        if !self.introduced {
            self.introduce(&Object::default(), out);
        }
        let content = message.get("content");
        let role = message.get("role").string();
        match role.as_str() {
            "assistant" => {
                let contents = chat::assistant(message, &mut self.calls, out);
                self.remember(contents);
            }
            "user" => self.user(content, out),
            "tool" => {
                let id = message.get("tool_call_id").string();
                let name = message.get("name").string();
                self.calls.result(&id, &name, content, out);
                self.last = Last::Open;
            }
            "function" => {
                let name = message.get("name").string();
                self.calls.legacy_result(&name, content, out);
                self.last = Last::Open;
            }
            // Only the content of a message is context.
            _ if message.iter().any(|(key, _)| key.contains("call")) => out.unknown(frame),
            _ => out.context(&role, "", calls::content_text(content)),
        }
    }

    /// Emits an item of a saved conversation.
    fn item(&mut self, frame: &Frame<'_>, item: Json<'_>, out: &mut Emitter) {
        if !self.introduced {
            self.introduce(&Object::default(), out);
        }
        match item::item(item, BlockIds::UNNAMED, &mut self.calls, out) {
            Some(contents) if contents.calls => self.last = Last::Open,
            Some(_) => {}
            None => out.unknown(frame),
        }
    }

    fn user(&mut self, content: Json<'_>, out: &mut Emitter) {
        self.calls.release_early(out);
        self.end_conversation(out);
        let media = out.media_in(content);
        out.user_with_media(calls::content_text(content), media, false);
        self.last = Last::Open;
    }

    fn remember(&mut self, contents: Contents) {
        self.last = match contents {
            Contents { calls: true, .. } => Last::Open,
            Contents { refusal: true, .. } => Last::Refusal,
            Contents { .. } => Last::Answer,
        };
    }

    /// Ends a turn of a saved conversation after the assistant's answer.
    fn end_conversation(&mut self, out: &mut Emitter) {
        match std::mem::take(&mut self.last) {
            Last::Nothing | Last::Open => {}
            Last::Answer => out.turn_end(finished("", false)),
            Last::Refusal => out.turn_end(finished("", true)),
        }
    }
}

/// Converts seconds to milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds since 1970 are far from the limits"
)]
fn milliseconds(seconds: Json<'_>) -> Option<i64> {
    let seconds = seconds.f64()?;
    (seconds > 0.0 && seconds < 1e12).then_some((seconds * 1000.0) as i64)
}

/// Returns the error in an answer, of the whole or of a choice.
fn error_in<'a>(fields: &Object<'a>, choices: &[Json<'a>]) -> Option<Json<'a>> {
    std::iter::once(fields.get("error"))
        .chain(choices.iter().map(|choice| choice.get("error")))
        .find(|error| !error.is_null())
}

/// Returns the end of a response with a finish reason.
fn finished(reason: &str, refusal: bool) -> TurnEnd {
    let (status, reason) = match reason {
        "content_filter" | "error" | "insufficient_system_resource" => (TurnStatus::Failed, reason),
        "abort" | "cancelled" => (TurnStatus::Canceled, reason),
        _ if refusal => (TurnStatus::Failed, "refusal"),
        "length" | "max_output_tokens" => (TurnStatus::Completed, "length"),
        _ => (TurnStatus::Completed, reason),
    };
    TurnEnd {
        status,
        reason: reason.to_owned(),
        ..TurnEnd::default()
    }
}

/// Emits an error in any vendor's form and ends the turn.
fn failed(error: Json<'_>, out: &mut Emitter) {
    out.notice(Level::Error, error_text(error));
    out.turn_end(failure(error));
}

/// Returns the end of a response with an error.
fn failure(error: Json<'_>) -> TurnEnd {
    let fields = error.object();
    let reason = [fields.get("code"), fields.get("type")]
        .into_iter()
        .find(|reason| !reason.is_null())
        .unwrap_or(Json::NULL);
    TurnEnd {
        status: TurnStatus::Failed,
        reason: reason.display().into_owned(),
        ..TurnEnd::default()
    }
}

fn error_text(error: Json<'_>) -> String {
    if error.is_array() {
        let lines: Vec<String> = error.array().into_iter().map(validation_error).collect();
        return lines.join("\n");
    }
    let fields = error.object();
    let message = [fields.get("message"), fields.get("detail")]
        .into_iter()
        .find(|message| !message.is_null())
        .unwrap_or(error);
    message.display().into_owned()
}

/// Formats a validation error: location and message.
fn validation_error(entry: Json<'_>) -> String {
    let Some(message) = entry.get("msg").str() else {
        return entry.display().into_owned();
    };
    let place: Vec<String> = entry
        .get("loc")
        .array()
        .into_iter()
        .map(|step| step.display().into_owned())
        .collect();
    if place.is_empty() {
        message.into_owned()
    } else {
        format!("{}: {message}", place.join("."))
    }
}

/// Reads the tokens, in the spelling of either API. Both count the cached ones
/// in the input and the reasoning in the output.
fn usage(figures: Json<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["prompt_tokens", "input_tokens"],
        output: &["completion_tokens", "output_tokens"],
        cached: &[
            "prompt_tokens_details.cached_tokens",
            "input_tokens_details.cached_tokens",
            "prompt_cache_hit_tokens",
        ],
        reasoning: &[
            "completion_tokens_details.reasoning_tokens",
            "output_tokens_details.reasoning_tokens",
        ],
    };
    let fields = figures.object();
    Usage {
        cost_usd: fields.get("cost").f64(),
        ..NAMES.read(&fields)
    }
}
