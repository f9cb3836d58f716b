//! Qwen Code.
//!
//! Reads `--output-format stream-json` with and without partial messages, the
//! array of `--output-format json`, and saved sessions with the records of
//! sub-agents. The stream resembles Claude Code's, a saved session Gemini CLI's.
//! [`live`] translates the output of a run, [`saved`] saved sessions.

use super::live_or_saved::LiveOrSaved;
use super::{Chat, Headless, Probe, Provider, ToolNames};
use crate::event::{Category, RawJson};
use crate::json::{Json, Object};

mod live;
mod saved;
mod sessions;

pub(crate) const PROVIDER: Provider = Provider::new("qwen", recognise, || Box::<Qwen>::default())
    .with_title("Qwen Code")
    .with_about("Qwen Code: stream-json, json, saved sessions")
    .with_example("qwen \"…\" --output-format stream-json | unspool events")
    .with_tools(TOOLS)
    .with_headless(Headless::new("qwen", &["-p"]).followed_by(&[
        "--output-format",
        "stream-json",
        "--include-partial-messages",
    ]))
    .with_chat(Chat::new(
        &["qwen", "--acp"],
        "npm install -g @qwen-code/qwen-code",
    ))
    .with_saved(sessions::SAVED);

const TOOLS: ToolNames = &[
    (Category::Read, &["zoom_image"]),
    (Category::Edit, &["notebook_edit"]),
    (Category::Search, &["tool_search"]),
    (Category::Execute, &["monitor"]),
    (Category::Plan, &["enter_plan_mode", "exit_plan_mode"]),
    (
        Category::Task,
        &[
            "task_stop",
            "task_create",
            "task_update",
            "task_list",
            "send_message",
            "list_agents",
        ],
    ),
];

type Qwen = LiveOrSaved<live::Live, saved::Saved>;

/// Returns true for Claude Code's envelope with content that only Qwen writes.
fn recognise(probe: &Probe<'_>) -> bool {
    let fields = &probe.fields;
    if probe.has(&["uuid", "sessionId", "timestamp", "type"]) {
        return fields.get("message").get("parts").is_array()
            || fields.get("systemPayload").is_object()
            || fields.get("toolCallResult").is_object();
    }
    if !probe.has(&["uuid", "session_id", "type"]) {
        return false;
    }
    match probe.str("type").as_str() {
        "system" => {
            fields.has("qwen_code_version")
                || (fields.get("data").is_object() && fields.has("parent_tool_use_id"))
        }
        // Claude Code writes the same fields in another order.
        "stream_event" | "user" => {
            let keys = ["type", "uuid", "session_id", "parent_tool_use_id"];
            fields.iter().map(|(key, _)| key).take(4).eq(keys)
        }
        "assistant" => {
            let id = fields.get("message").get("id").str();
            id.is_some() && id == fields.get("uuid").str()
        }
        "result" => {
            probe.has(&["num_turns", "permission_denials"])
                && !fields.has("total_cost_usd")
                && !fields.has("modelUsage")
        }
        _ => false,
    }
}

/// Returns the tool of a call: the input of `tool_call` contains the real one.
fn unwrap_call<'a>(name: &str, input: Json<'a>) -> (String, Json<'a>) {
    if name == "tool_call" {
        let fields = input.object();
        let inner = fields.get("name").string();
        if !inner.is_empty() {
            return (inner, fields.get("arguments"));
        }
    }
    (name.to_owned(), input)
}

/// Returns true if a tool starts a sub-agent.
fn starts_agent(name: &str) -> bool {
    matches!(name, "agent" | "task")
}

/// Splits an answer from the API error that Qwen Code appends to it, possibly with
/// a line of advice about limits.
fn split_api_error(text: &str) -> (&str, &str) {
    const ADVICE: &[&str] = &[
        "Possible quota limitations in place",
        "Please wait and try again later.",
    ];
    let Some(start) = text.rfind("[API Error: ") else {
        return (text, "");
    };
    let (answer, error) = text.split_at(start);
    let body = match error.trim_end().rsplit_once('\n') {
        Some((body, line)) if ADVICE.iter().any(|advice| line.starts_with(advice)) => body,
        _ => error,
    };
    if body.trim_end().ends_with(']') {
        (answer, error)
    } else {
        (text, "")
    }
}

/// Returns true if an API error after this text may be a quotation of the model.
/// Qwen Code appends its own without a space.
fn may_be_quoted(answer: &str) -> bool {
    answer.ends_with(char::is_whitespace)
}

/// A call that is kept until its result.
#[derive(Clone)]
struct Held {
    name: String,
    input: Option<RawJson>,
}

impl Held {
    fn input(&self) -> Object<'_> {
        let input = self.input.as_ref().map_or(Json::NULL, RawJson::json);
        input.object()
    }
}

#[cfg(test)]
mod tests;
