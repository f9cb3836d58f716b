//! Renders calls that manage sub-agents, in the same words for every agent.

use super::{Part, View, body, envelope, spaced};
use crate::doc::{Block, Role, prose, spans_mut};
use crate::event::Category;
use crate::json::{Json, Object};
use crate::session::Tool;

/// The action of a sub-agent call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Starts it with a task.
    Start,
    /// Sends it a message.
    Message,
    /// Waits for news from sub-agents.
    Wait,
    Close,
    Stop,
    Resume,
    List,
}

impl Action {
    fn of(tool: &Tool) -> Self {
        match tool.call.name.to_ascii_lowercase().as_str() {
            "wait" | "wait_agent" => Self::Wait,
            "close_agent" => Self::Close,
            "interrupt_agent" | "taskstop" | "task_stop" => Self::Stop,
            "resume_agent" => Self::Resume,
            "list_agents" | "listagents" => Self::List,
            "send_input" | "send_message" | "sendmessage" | "followup_task" => Self::Message,
            "sub_agent_activity" if !is_start(tool) => Self::Message,
            _ => Self::Start,
        }
    }

    /// Returns the verb while the call runs, and afterwards.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Start => ("Delegating", "Delegated"),
            Self::Message => ("Messaging", "Messaged"),
            Self::Wait => ("Waiting for", "Waited for"),
            Self::Close => ("Closing", "Closed"),
            Self::Stop => ("Stopping", "Stopped"),
            Self::Resume => ("Resuming", "Resumed"),
            Self::List => ("List", "List"),
        }
    }
}

/// Returns true if a Codex sub-agent activity is the start of the sub-agent.
fn is_start(tool: &Tool) -> bool {
    let input = tool.call.input.as_ref().map(|input| input.json().object());
    let kind = |key| {
        input
            .as_ref()
            .is_some_and(|input| input.get(key).string() == "started")
    };
    kind("kind") || kind("activityKind")
}

/// Returns true if the call gives a task to a sub-agent.
pub(in crate::doc) fn is_delegation(tool: &Tool) -> bool {
    tool.call.category == Category::Task && Action::of(tool) == Action::Start
}

/// Renders the call.
pub(super) fn parts(view: &View<'_>) -> Vec<Part> {
    let action = Action::of(view.tool);
    let (running, done) = action.verbs();
    let object = match action {
        Action::Start => task(view),
        Action::Wait | Action::List => "agents".to_owned(),
        _ => addressee(view),
    };
    let mut spans = vec![view.verb(running, done), spaced(&object)];
    spans.extend(view.runs_in_background().then(super::background_suffix));
    let head = view.head(spans);
    let body = view.failure().or_else(|| match action {
        Action::Start | Action::Wait => answer(view, &view.output()),
        Action::Message => answer(view, &view.input.text(&["message", "prompt"])?),
        _ => None,
    });
    std::iter::once(head).chain(body).collect()
}

/// Returns the task in one line.
fn task(view: &View<'_>) -> String {
    let call = &view.tool.call;
    let text = view
        .input
        .text(&["description", "task_name", "prompt", "message"]);
    let text = text.unwrap_or_else(|| match call.arg.as_str() {
        "" => call.name.clone(),
        arg => arg.to_owned(),
    });
    text.trim().lines().next().unwrap_or_default().to_owned()
}

/// Returns the name of the sub-agent, or `agent` if there is only an id.
fn addressee(view: &View<'_>) -> String {
    let text = view
        .input
        .text(&["target", "to", "agentPath", "agent_path", "recipient"]);
    let name = text.as_deref().and_then(|path| path.rsplit('/').next());
    match name.filter(|name| !is_id(name)) {
        Some(name) => name.to_owned(),
        None => "agent".to_owned(),
    }
}

/// Returns true for an id such as `01a1e082-7956-7191-8911-e67d41610f11`.
fn is_id(name: &str) -> bool {
    name.len() == 36 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Returns true for a JSON acknowledgement without content for people.
fn is_acknowledgement(fields: &Object<'_>) -> bool {
    ["task_name", "agent_id", "timed_out"]
        .iter()
        .any(|key| fields.has(key))
}

/// Renders a sub-agent's answer or message as Markdown, cut like other bodies.
pub(super) fn answer(view: &View<'_>, text: &str) -> Option<Part> {
    if envelope::is_in_background(text) {
        return None;
    }
    let text = envelope::answer(text);
    if let Some(object) = Json::parse(text.trim()).filter(|json| json.is_object()) {
        let text = || view.body(&super::pretty(text), Role::Accent);
        return (!is_acknowledgement(&object.object())).then(text)?;
    }
    let body::Head {
        before,
        text,
        after,
    } = body::head(text, view.detail);
    let text = body::cut_text(text, view.detail);
    let mut blocks = prose::blocks(&text, view.detail.highlight);
    if blocks.is_empty() {
        return None;
    }
    for span in blocks.iter_mut().flat_map(spans_mut) {
        if span.style.role == Role::Normal {
            span.style.role = Role::Accent;
        }
    }
    blocks.splice(..0, body::rest_line(before).map(Block::Paragraph));
    blocks.extend(body::rest_line(after).map(Block::Paragraph));
    Some(Part::response(blocks))
}
