//! Output of `gemini -p`: `--output-format stream-json`, and the single object of
//! `--output-format json`.
//!
//! The stream has no message ids and no final forms, only deltas. A result does
//! not repeat its tool's name or input, so those of editing tools are kept until
//! the result.

use std::collections::HashMap;

use super::tool;
use crate::event::{
    Category, Edit, EditOp, Level, Payload, RawJson, Session, ToolStatus, TurnEnd, TurnStatus,
    Usage,
};
use crate::json::{Json, Object};
use crate::patch;
use crate::source::live_or_saved;
use crate::source::usage::{Names, add};
use crate::source::{Call, Emitter, Outcome, gemini_shared};

/// State of one run.
#[derive(Clone, Default)]
pub(super) struct Live {
    /// Open calls of editing and tracker tools.
    calls: HashMap<String, Held>,
    /// The last error emitted; the end of the run may repeat it.
    error: String,
}

#[derive(Clone)]
struct Held {
    name: String,
    input: Option<RawJson>,
}

impl live_or_saved::Live for Live {
    fn event(&mut self, fields: &Object<'_>, out: &mut Emitter) -> bool {
        out.time(fields.get("timestamp").str());
        match fields.get("type").str().as_deref() {
            Some("init") => self.init(fields, out),
            Some("message") => return message(fields, out),
            Some("tool_use") if !is_of_another_agent(fields) => self.tool_use(fields, out),
            Some("tool_result") => self.tool_result(fields, out),
            Some("error") if !is_of_another_agent(fields) => self.error(fields, out),
            Some("result") if !is_of_another_agent(fields) => self.result(fields, out),
            None if is_body(fields) => self.body(fields, out),
            _ => return false,
        }
        true
    }
}

impl Live {
    fn init(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        out.interrupted();
        *self = Self::default();
        out.session(Session {
            provider: super::PROVIDER.name.to_owned(),
            id: fields.get("session_id").string(),
            model: fields.get("model").string(),
            ..Session::default()
        });
        out.open_turn();
    }

    fn tool_use(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let id = fields.get("tool_id").string();
        let name = fields.get("tool_name").string();
        let input: Option<RawJson> = fields.get("parameters").into();
        if gemini_shared::is_editing(&name) || tool::changes_tracker(&name) {
            let held = Held {
                name: name.clone(),
                input: input.clone(),
            };
            self.calls.insert(id.clone(), held);
        }
        out.builtin_tool_use(Call {
            id: &id,
            name: &name,
            input,
            ..Call::default()
        });
    }

    fn tool_result(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let id = fields.get("tool_id").string();
        let held = self.calls.remove(&id);
        let status = fields.get("status").string();
        let outcome = match status.as_str() {
            "cancelled" => Outcome {
                status: ToolStatus::Canceled,
                ..failure(fields)
            },
            "error" => failure(fields),
            _ => success(&id, held.as_ref(), fields.get("output"), out),
        };
        out.tool_result(&id, outcome);
        let output = fields.get("output").str().unwrap_or_default();
        if held.is_some_and(|held| tool::changes_tracker(&held.name))
            && let Some(plan) = Json::parse(&output).and_then(tool::todos)
        {
            out.plan(plan);
        }
    }

    fn error(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let level = match fields.get("severity").str().as_deref() {
            Some("warning") => Level::Warning,
            _ => Level::Error,
        };
        self.error = fields.get("message").display().into_owned();
        out.notice(level, self.error.clone());
    }

    fn result(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        let stats = fields.get("stats").object();
        out.usage(run_usage(&stats));
        let failed = fields.get("status").str().as_deref() != Some("success");
        // A failed run reports a duration of 0.
        let duration = stats.get("duration_ms").u64().filter(|ms| *ms > 0);
        self.end(failed, fields.get("error"), duration, out);
    }

    fn body(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        out.session(Session {
            provider: super::PROVIDER.name.to_owned(),
            id: fields.get("session_id").string(),
            model: only_model(fields.get("stats").get("models")),
            ..Session::default()
        });
        out.text(None, fields.get("response").payload());
        for warning in fields.get("warnings").array() {
            out.notice(Level::Warning, warning.payload());
        }
        out.usage(body_usage(fields.get("stats").get("models")));
        let error = fields.get("error");
        self.end(!error.is_null(), error, None, out);
    }

    fn end(&mut self, failed: bool, error: Json<'_>, duration: Option<u64>, out: &mut Emitter) {
        let error = error.object();
        let message = error.get("message").display();
        let reason = match error.get("type").display() {
            kind if kind == "unknown" => message.clone(),
            kind => kind,
        };
        let canceled = failed && reason == "FatalCancellationError";
        let (level, failure) = if canceled {
            (Level::Canceled, TurnStatus::Canceled)
        } else {
            (Level::Error, TurnStatus::Failed)
        };
        if message != self.error {
            out.notice(level, message);
        }
        // A run may end because of an earlier error and not repeat it.
        let reason = match reason.into_owned() {
            reason if failed && reason.is_empty() => std::mem::take(&mut self.error),
            reason => reason,
        };
        out.turn_end(TurnEnd {
            status: if failed {
                failure
            } else {
                TurnStatus::Completed
            },
            reason,
            duration_ms: duration,
            turns: None,
        });
        *self = Self::default();
    }
}

/// Returns true for an event of OpenCode or a result of Claude Code or Qwen Code,
/// which have some of the same types.
fn is_of_another_agent(fields: &Object<'_>) -> bool {
    fields.get("sessionID").is_string() || fields.get("subtype").is_string()
}

/// Returns true for the object of `--output-format json`.
pub(super) fn is_body(fields: &Object<'_>) -> bool {
    let is_result = fields.get("stats").get("models").is_object() && fields.has("response");
    let is_error = fields.get("error").get("message").is_string()
        && fields
            .iter()
            .all(|(key, _)| matches!(key, "session_id" | "error" | "warnings"));
    fields.get("session_id").is_string() && (is_result || is_error)
}

fn message(fields: &Object<'_>, out: &mut Emitter) -> bool {
    let content = fields.get("content");
    match fields.get("role").str().as_deref() {
        _ if content.is_null() => return false,
        Some("user" | "assistant") if content.is_array() => parts(fields, out),
        Some("user") => out.user(content.payload(), false),
        Some("assistant") if fields.get("delta").is_true() => {
            out.text_delta(None, &content.display());
        }
        Some("assistant") => out.text(None, content.payload()),
        _ => return false,
    }
    true
}

/// Emits a message in parts: texts, pictures, sounds and files.
fn parts(fields: &Object<'_>, out: &mut Emitter) {
    let content = fields.get("content");
    let text = gemini_shared::joined_text(content);
    let media = gemini_shared::media(content, out);
    if fields.get("role").str().as_deref() == Some("user") {
        out.user_with_media(text, media, false);
        return;
    }
    if fields.get("delta").is_true() {
        out.text_delta(None, &text);
    } else {
        out.text(None, text);
    }
    for media in media {
        out.text_media(None, media);
    }
}

/// Reads a failed result. `error.message` is longer than its output.
fn failure(fields: &Object<'_>) -> Outcome {
    let error = fields.get("error").object();
    let message = error.get("message").str().filter(|text| !text.is_empty());
    let output = match message {
        Some(message) => Payload::from(message),
        None => fields.get("output").payload(),
    };
    let status = match error.get("type").str().as_deref() {
        Some("policy_violation") => ToolStatus::Rejected,
        _ => gemini_shared::failure(&output.as_str()),
    };
    Outcome {
        status,
        output,
        ..Outcome::default()
    }
}

fn success(id: &str, held: Option<&Held>, output: Json<'_>, out: &mut Emitter) -> Outcome {
    let mut outcome = Outcome {
        output: output.payload(),
        ..Outcome::default()
    };
    match out.category_of(id) {
        Some(Category::Execute) => {
            let display = output.str().unwrap_or_default();
            outcome.exit_code = gemini_shared::displayed_exit_code(&display);
            if let Some(status) = gemini_shared::displayed_failure(&display) {
                outcome.status = status;
            } else if outcome.exit_code.is_some_and(|code| code != 0) {
                outcome.status = ToolStatus::Error;
            }
        }
        Some(Category::Task) => {
            let display = output.str().unwrap_or_default();
            if let Some(display) = Json::parse(&display)
                && tool::activities(display, id, out)
            {
                outcome.output = display.get("result").payload();
                outcome.status = gemini_shared::sub_agent_failure(display).unwrap_or_default();
            }
        }
        _ => {}
    }
    if let Some(held) = held {
        let input = held.input.as_ref().map_or(Json::NULL, RawJson::json);
        outcome.edits = edits(&held.name, &input.object(), &output.display());
    }
    outcome
}

/// Returns the edits of a call: from the output if it is a diff, else from the
/// input.
fn edits(name: &str, input: &Object<'_>, output: &str) -> Vec<Edit> {
    let path = input.get("file_path").string();
    let mut edits = if output.starts_with("Index: ") {
        patch::unified(&path, output)
    } else {
        Vec::new()
    };
    if edits.is_empty() {
        return gemini_shared::input_edits(name, input);
    }
    if output.contains("\n@@ -0,0 ") {
        for edit in &mut edits {
            edit.op = EditOp::Add;
            for hunk in &mut edit.hunks {
                hunk.old_start = None;
            }
        }
    }
    edits
}

/// Reads the totals of a run. Thoughts are counted in `total_tokens` alone.
fn run_usage(stats: &Object<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["input_tokens"],
        output: &["output_tokens"],
        cached: &["cached"],
        reasoning: &[],
    };
    let mut usage = NAMES.read(stats);
    let mut known = usage.input_tokens;
    add(&mut known, usage.output_tokens);
    let known = known.unwrap_or(0);
    let total = stats.get("total_tokens").u64().unwrap_or(known);
    if total == 0 {
        return Usage::default();
    }
    let thoughts = Some(total.saturating_sub(known)).filter(|count| *count > 0);
    if usage.output_tokens.is_some() {
        add(&mut usage.output_tokens, thoughts);
    }
    Usage {
        reasoning_tokens: thoughts,
        cumulative: true,
        ..usage
    }
}

/// Returns the model, if there was one only.
fn only_model(models: Json<'_>) -> String {
    match models.object().iter().collect::<Vec<_>>().as_slice() {
        [(model, _)] => (*model).to_string(),
        _ => String::new(),
    }
}

/// Adds up the tokens of all models.
fn body_usage(models: Json<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["prompt"],
        output: &["candidates"],
        cached: &["cached"],
        reasoning: &["thoughts"],
    };
    let mut total = Usage {
        cumulative: true,
        ..Usage::default()
    };
    for (_, model) in models.object().iter() {
        let usage = NAMES.read(&model.get("tokens").object());
        add(&mut total.input_tokens, usage.input_tokens);
        add(&mut total.output_tokens, usage.output_tokens);
        add(&mut total.output_tokens, usage.reasoning_tokens);
        add(&mut total.cached_tokens, usage.cached_tokens);
        add(&mut total.reasoning_tokens, usage.reasoning_tokens);
    }
    total
}
