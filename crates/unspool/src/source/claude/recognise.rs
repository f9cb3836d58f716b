//! Recognises lines that only Claude Code writes.
//!
//! Qwen Code writes the same live lines with other ids and another order of
//! fields, and its saved messages have other content. A line that both could
//! have written is not recognised.

use crate::json::Json;
use crate::source::Probe;

pub(super) fn recognise(probe: &Probe<'_>) -> bool {
    let kind = probe.str("type");
    match kind.as_str() {
        "assistant" | "user" | "stream_event" => is_conversation(probe),
        "system" => is_system(probe),
        "result" => {
            probe.has(&["session_id"])
                && ["total_cost_usd", "modelUsage", "cost_usd"]
                    .iter()
                    .any(|key| probe.fields.has(key))
        }
        "attachment" => probe.has(&["attachment", "isSidechain", "sessionId"]),
        "tool_progress" => probe.has(&["tool_use_id", "tool_name", "session_id"]),
        "prompt_suggestion" => probe.has(&["suggestion", "session_id"]),
        "rate_limit_event" => probe.has(&["rate_limit_info", "session_id"]),
        "tool_use_summary" => probe.has(&["summary", "session_id"]),
        "summary" => probe.has(&["summary", "leafUuid"]),
        "file-history-snapshot" => probe.has(&["messageId", "snapshot"]),
        "queue-operation" => probe.has(&["operation", "sessionId"]),
        "last-prompt" | "atis-latch" | "tools-used" | "api-request" | "api-request-blob"
        | "api-request-shape" | "cost-state" | "ai-title" | "custom-title" => {
            probe.has(&["sessionId"])
        }
        _ => false,
    }
}

/// Returns true for a message of the conversation, live or saved.
fn is_conversation(probe: &Probe<'_>) -> bool {
    let message = probe.fields.get("message").object();
    if probe.has(&["parentUuid", "sessionId"]) {
        return message.has("content");
    }
    let event = probe.fields.get("event");
    if !probe.has(&["session_id", "parent_tool_use_id"])
        || (!message.has("content") && !event.is_object())
    {
        return false;
    }
    starts(message.get("id"), "msg_")
        || message.get("model").str().as_deref() == Some(super::SYNTHETIC)
        || starts(event.get("message").get("id"), "msg_")
        || ["api_message_id", "tool_use_result", "tool_result_meta"]
            .iter()
            .any(|key| probe.fields.has(key))
        || message.get("content").array().iter().any(has_its_call)
        || has_its_field_order(probe)
}

fn has_its_call(block: &Json<'_>) -> bool {
    ["id", "tool_use_id"]
        .iter()
        .any(|key| starts(block.get(key), "toolu_"))
}

/// Returns true if the uuid follows the message: Qwen Code puts it first.
fn has_its_field_order(probe: &Probe<'_>) -> bool {
    let place = |keys: &[&str]| {
        probe
            .fields
            .iter()
            .position(|(name, _)| keys.contains(&name))
    };
    match (place(&["message", "event"]), place(&["uuid"])) {
        (Some(what), Some(uuid)) => what < uuid,
        (what, None) => what.is_some(),
        _ => false,
    }
}

fn is_system(probe: &Probe<'_>) -> bool {
    let subtype = probe.str("subtype");
    if probe.has(&["parentUuid", "sessionId"]) {
        return !probe.fields.has("systemPayload");
    }
    if !probe.has(&["session_id"]) {
        return false;
    }
    match subtype.as_str() {
        "init" => {
            !probe.fields.has("qwen_code_version")
                && ["claude_code_version", "apiKeySource", "permissionMode"]
                    .iter()
                    .any(|key| probe.fields.has(key))
        }
        "api_retry" => probe.has(&["attempt", "retry_delay_ms"]),
        "hook_started" | "hook_response" => probe.has(&["hook_id", "hook_event"]),
        "task_started" | "task_progress" | "task_updated" | "task_notification" => {
            probe.has(&["task_id", "run_id"])
        }
        "permission_denied" => probe.has(&["tool_name", "tool_use_id"]),
        "background_tasks_changed" => probe.has(&["tasks"]),
        "model_fallback" => probe.has(&["original_model", "fallback_model"]),
        "compact_boundary" => probe.has(&["compact_metadata"]),
        "session_state_changed" => probe.has(&["state"]),
        "thinking_tokens" => probe.has(&["estimated_tokens"]),
        _ => false,
    }
}

fn starts(id: Json<'_>, prefix: &str) -> bool {
    id.str().is_some_and(|id| id.starts_with(prefix))
}
