//! Gemini CLI.
//!
//! Reads `--output-format stream-json` (both implementations),
//! `--output-format json`, and saved sessions: the current event log with the
//! records of sub-agents, and the single document of older versions. [`live`]
//! translates the output of a run, [`saved`] saved sessions.

use super::live_or_saved::LiveOrSaved;
use super::{Chat, Headless, Probe, Provider, ToolNames};
use crate::event::Category;
use crate::json::Object;

mod live;
mod saved;
mod sessions;
mod tool;

pub(crate) const PROVIDER: Provider =
    Provider::new("gemini", recognise, || Box::<Gemini>::default())
        .with_title("Gemini CLI")
        .with_about("Gemini CLI: stream-json, json, saved sessions")
        .with_example("gemini -p \"…\" --output-format stream-json | unspool events")
        .with_tools(TOOLS)
        .with_headless(
            Headless::new("gemini", &["-p"]).followed_by(&["--output-format", "stream-json"]),
        )
        .with_chat(Chat::new(
            &["gemini", "--acp"],
            "npm install -g @google/gemini-cli",
        ))
        .with_saved(sessions::SAVED);

const TOOLS: ToolNames = &[
    (Category::Read, &["read_many_files", "get_internal_docs"]),
    (Category::Search, &["search_file_content"]),
    (Category::Fetch, &["google_web_search"]),
    (Category::Think, &["update_topic"]),
    (
        Category::Plan,
        &[
            "write_todos",
            "enter_plan_mode",
            "exit_plan_mode",
            "tracker_create_task",
            "tracker_update_task",
            "tracker_get_task",
            "tracker_list_tasks",
            "tracker_add_dependency",
            "tracker_visualize",
        ],
    ),
    (
        Category::Task,
        &["invoke_agent", "codebase_investigator", "delegate_to_agent"],
    ),
];

type Gemini = LiveOrSaved<live::Live, saved::Saved>;

fn recognise(probe: &Probe<'_>) -> bool {
    probe.is_json() && (is_gemini_record(&probe.fields) || is_live(&probe.fields))
}

fn is_header(fields: &Object<'_>) -> bool {
    fields.get("sessionId").is_string() && fields.get("projectHash").is_string()
}

/// Returns true if only Gemini CLI saves a record with these fields.
fn is_gemini_record(fields: &Object<'_>) -> bool {
    const KEYS: &[&str] = &["id", "timestamp", "type", "content", "displayContent"];
    let is_message = || {
        fields.get("id").is_string()
            && fields.get("timestamp").is_string()
            && match fields.get("type").str().as_deref() {
                Some("gemini") => true,
                Some("user" | "info" | "error" | "warning") => {
                    fields.has("content") && fields.iter().all(|(key, _)| KEYS.contains(&key))
                }
                _ => false,
            }
    };
    is_header(fields)
        || fields.get("$set").is_object()
        || fields.get("$rewindTo").is_string()
        || is_message()
}

fn is_live(fields: &Object<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| fields.has(key));
    let Some(kind) = fields.get("type").str() else {
        return live::is_body(fields);
    };
    fields.get("timestamp").is_string()
        && match kind.as_ref() {
            "init" => has(&["session_id", "model"]),
            "message" => has(&["role", "content"]) && !fields.has("id"),
            "tool_use" => has(&["tool_name", "tool_id"]),
            "tool_result" => has(&["tool_id", "status"]),
            "error" => has(&["severity", "message"]),
            "result" => has(&["status", "stats"]),
            _ => false,
        }
}

#[cfg(test)]
mod tests;
