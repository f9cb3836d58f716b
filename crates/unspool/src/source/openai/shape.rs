//! Formats of frames, and recognition of OpenAI-compatible endpoints.

use crate::json::{Json, Object};
use crate::source::Probe;

/// Returns true if only an OpenAI-compatible endpoint can have sent a frame.
/// Messages, items and errors, which are common, must not be wrapped.
pub(super) fn recognise(probe: &Probe<'_>) -> bool {
    let fields = &probe.fields;
    match Shape::of(fields, probe.event) {
        Some(Shape::Chunk | Shape::Body | Shape::Response | Shape::Event) => true,
        Some(Shape::Message) => is_bare_message(fields),
        Some(Shape::Item) => is_bare_item(fields),
        Some(Shape::Error) => is_bare_error(fields),
        None => false,
    }
}

/// The format of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Chunk,
    Body,
    Response,
    Event,
    /// A message of a saved conversation.
    Message,
    /// An item of a saved conversation in the form of the Responses API.
    Item,
    Error,
}

impl Shape {
    pub(super) fn of(fields: &Object<'_>, event: &str) -> Option<Self> {
        let kind = fields.get("type").str().unwrap_or_default();
        let object = fields.get("object").str().unwrap_or_default();
        if let Some(shape) = Self::of_choices(fields, &object) {
            return Some(shape);
        }
        if object == "response" {
            return Some(Self::Response);
        }
        let numbered = fields.has("sequence_number") || (event == "error" && fields.has("message"));
        if kind.starts_with("response.")
            || (numbered && matches!(&*kind, "error" | "keepalive" | "ping"))
            || (kind.is_empty() && event.starts_with("response."))
        {
            return Some(Self::Event);
        }
        let is_message = matches!(&*kind, "" | "message") && fields.get("role").is_string();
        let keys = ["content", "tool_calls", "function_call"];
        if is_message && keys.iter().any(|key| fields.has(key)) {
            return Some(Self::Message);
        }
        // An item may contain an error, too.
        if object != "error" && !matches!(&*kind, "" | "error") {
            return Some(Self::Item);
        }
        let is_error = object == "error" || !fields.get("error").is_null() || fields.has("detail");
        is_error.then_some(Self::Error)
    }

    fn of_choices(fields: &Object<'_>, object: &str) -> Option<Self> {
        let choices = fields.get("choices");
        if !choices.is_array() {
            return None;
        }
        let first = choices.array().into_iter().next().unwrap_or(Json::NULL);
        let known = object.starts_with("chat.completion") || object == "text_completion";
        if object == "chat.completion" || first.get("message").is_object() {
            return Some(Self::Body);
        }
        // Azure's first chunk contains only the results of its filter.
        let is_chunk =
            known || first.get("delta").is_object() || fields.has("prompt_filter_results");
        is_chunk.then_some(Self::Chunk)
    }
}

/// Returns true for a bare chat message or message item. Messages of agents have
/// additional fields or parts.
fn is_bare_message(fields: &Object<'_>) -> bool {
    const ROLES: &[&str] = &[
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
    ];
    const FIELDS: &[&str] = &[
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "annotations",
        "audio",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
    ];
    const ITEM_FIELDS: &[&str] = &["type", "id", "status", "phase"];
    const PARTS: &[&str] = &[
        "text",
        "image_url",
        "input_audio",
        "file",
        "refusal",
        "input_text",
        "input_image",
        "input_file",
        "output_text",
    ];
    let role = fields.get("role").string();
    let known_part = |part: &Json<'_>| {
        let kind = part.get("type").string();
        PARTS.contains(&kind.as_str())
    };
    let parts = fields.get("content").array();
    let is_item = parts.iter().any(|part| {
        let kind = part.get("type").string();
        kind.starts_with("input_") || kind.starts_with("output_") || kind == "refusal"
    });
    ROLES.contains(&role.as_str())
        && parts.iter().all(known_part)
        && fields
            .iter()
            .all(|(key, _)| FIELDS.contains(&key) || (is_item && ITEM_FIELDS.contains(&key)))
}

/// Returns true for a bare item of a conversation, by its specific fields.
fn is_bare_item(fields: &Object<'_>) -> bool {
    let kind = fields.get("type").string();
    let has = |keys: &[&str]| keys.iter().all(|key| fields.has(key));
    !fields.has("timestamp")
        && match kind.as_str() {
            "function_call" => has(&["call_id", "name", "arguments"]),
            "custom_tool_call" => has(&["call_id", "name", "input"]),
            "reasoning" => fields.get("summary").is_array(),
            "mcp_call" | "mcp_list_tools" | "mcp_approval_request" => has(&["server_label"]),
            "mcp_approval_response" => has(&["approval_request_id"]),
            "web_search_call"
            | "image_generation_call"
            | "code_interpreter_call"
            | "file_search_call" => has(&["id", "status"]),
            "compaction" => has(&["encrypted_content"]),
            "local_shell_call" | "shell_call" | "computer_call" => has(&["call_id", "action"]),
            "apply_patch_call" => has(&["call_id", "operation"]),
            _ => kind.ends_with("_call_output") && has(&["call_id", "output"]),
        }
}

/// Returns true for a body that is an error.
fn is_bare_error(fields: &Object<'_>) -> bool {
    const FIELDS: &[&str] = &[
        "error",
        "object",
        "message",
        "type",
        "param",
        "code",
        "detail",
        "status",
        "request_id",
        "user_id",
    ];
    let error = fields.get("error");
    let detail = fields.get("detail");
    let is_validation = |entry: &Json<'_>| entry.get("msg").is_string();
    let told = fields.get("object").str().as_deref() == Some("error")
        || error.is_string()
        || error.get("message").is_string()
        || detail.is_string()
        || (detail.is_array() && detail.array().iter().all(is_validation));
    let typed = fields.has("type") && fields.get("object").is_null();
    told && !typed && fields.iter().all(|(key, _)| FIELDS.contains(&key))
}
