//! Results of Gemini's tools, live and saved: `resultDisplay` and the progress
//! report of a sub-agent.

use std::sync::Arc;

use crate::event::{Agent, Plan, RawJson, ToolStatus};
use crate::json::Json;
use crate::source::{Call, Emitter, Outcome};
use crate::tool;

/// Reads the list in a display of `write_todos` or of a tracker tool.
pub(super) fn todos(display: Json<'_>) -> Option<Plan> {
    let list = display.get("todos");
    list.is_array().then(|| Plan {
        entries: list.array().into_iter().map(tool::plan_entry).collect(),
        explanation: String::new(),
    })
}

/// Returns true if a tracker tool changes the list.
pub(super) fn changes_tracker(name: &str) -> bool {
    matches!(
        name,
        "tracker_create_task" | "tracker_update_task" | "tracker_add_dependency"
    )
}

/// Emits the last activities in the progress report of a sub-agent, whose record
/// is missing. Returns false if the display is not such a report.
pub(super) fn activities(display: Json<'_>, call: &str, out: &mut Emitter) -> bool {
    let fields = display.object();
    if !fields.get("isSubagentProgress").is_true() {
        return false;
    }
    let outer = out.current_agent();
    let list = fields.get("recentActivity").array();
    let id = list
        .iter()
        .find_map(|item| Some(item.get("id").str()?.split_once('#')?.0.to_owned()));
    out.agent(Some(Arc::new(Agent {
        id: id.unwrap_or_else(|| call.to_owned()),
        parent: call.to_owned(),
        depth: outer.as_ref().map_or(0, |agent| agent.depth) + 1,
        name: tool::label(&fields.get("agentName").display()),
    })));
    for item in list {
        activity(item, out);
    }
    out.agent(outer);
    true
}

fn activity(item: Json<'_>, out: &mut Emitter) {
    let fields = item.object();
    let (id, content) = (fields.get("id").string(), fields.get("content").string());
    if fields.get("type").str().as_deref() != Some("tool_call") {
        out.reasoning(Some(&id), content);
        return;
    }
    let args = fields.get("args");
    out.builtin_tool_use(Call {
        id: &id,
        name: &content,
        input: match args.str() {
            Some(text) => RawJson::new(&text).or_else(|| args.into()),
            None => args.into(),
        },
        ..Call::default()
    });
    let status = match fields.get("status").str().as_deref() {
        Some("completed") => ToolStatus::Ok,
        Some("error") => ToolStatus::Error,
        Some("cancelled") => ToolStatus::Canceled,
        _ => return,
    };
    out.tool_result(
        &id,
        Outcome {
            status,
            ..Outcome::default()
        },
    );
}
