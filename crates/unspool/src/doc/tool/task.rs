//! Sub-agents: the work that they are given, and how they are looked after. The
//! same is told in the same words, whichever way an agent tells it.

use super::{Part, View, body, spaced, wrapping};
use crate::doc::{Block, Role, markdown, spans_mut};
use crate::event::Category;
use crate::json::{Json, Object};
use crate::session::Tool;

/// What a call has to do with a sub-agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errand {
    /// Gives it work.
    Work,
    /// Says something to it.
    Message,
    /// Waits until some have news.
    Wait,
    Close,
    Stop,
    Resume,
    List,
}

impl Errand {
    fn of(tool: &Tool) -> Self {
        match tool.call.name.to_ascii_lowercase().as_str() {
            "wait" | "wait_agent" => Self::Wait,
            "close_agent" => Self::Close,
            "interrupt_agent" | "taskstop" | "task_stop" => Self::Stop,
            "resume_agent" => Self::Resume,
            "list_agents" | "listagents" => Self::List,
            "send_input" | "send_message" | "sendmessage" | "followup_task" => Self::Message,
            "sub_agent_activity" if !starts(tool) => Self::Message,
            _ => Self::Work,
        }
    }

    /// The verb while it goes on, and afterwards.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Work => ("Delegating", "Delegated"),
            Self::Message => ("Messaging", "Messaged"),
            Self::Wait => ("Waiting for", "Waited for"),
            Self::Close => ("Closing", "Closed"),
            Self::Stop => ("Stopping", "Stopped"),
            Self::Resume => ("Resuming", "Resumed"),
            Self::List => ("List", "List"),
        }
    }
}

/// Whether what Codex tells of a sub-agent is that it began.
fn starts(tool: &Tool) -> bool {
    let input = tool.call.input.as_ref().map(|input| input.json().object());
    let kind = |key| {
        input
            .as_ref()
            .is_some_and(|input| input.get(key).string() == "started")
    };
    kind("kind") || kind("activityKind")
}

/// Whether a call gives work to a sub-agent, and does not only look after one.
pub(in crate::doc) fn delegates(tool: &Tool) -> bool {
    tool.call.category == Category::Task && Errand::of(tool) == Errand::Work
}

/// What is seen of the call.
pub(super) fn parts(view: &View<'_>) -> Vec<Part> {
    let errand = Errand::of(view.tool);
    let (running, done) = errand.verbs();
    let object = match errand {
        Errand::Work => work(view),
        Errand::Wait | Errand::List => "agents".to_owned(),
        _ => addressee(view),
    };
    let mut spans = vec![view.verb(running, done), spaced(&object)];
    spans.extend(view.goes_on().then(super::in_background));
    let head = view.head(spans);
    let body = view.failure().or_else(|| match errand {
        Errand::Work | Errand::Wait => answer(view, &view.output()),
        Errand::Message => answer(view, &view.input.text(&["message", "prompt"])?),
        _ => None,
    });
    std::iter::once(head).chain(body).collect()
}

/// The work in one line.
fn work(view: &View<'_>) -> String {
    let call = &view.tool.call;
    let told = view
        .input
        .text(&["description", "task_name", "prompt", "message"]);
    let told = told.unwrap_or_else(|| match call.arg.as_str() {
        "" => call.name.clone(),
        arg => arg.to_owned(),
    });
    told.trim().lines().next().unwrap_or_default().to_owned()
}

/// Whom a call is about. Ids say nothing to a person.
fn addressee(view: &View<'_>) -> String {
    let told = view
        .input
        .text(&["target", "to", "agentPath", "agent_path", "recipient"]);
    let name = told.as_deref().and_then(|path| path.rsplit('/').next());
    match name.filter(|name| !is_id(name)) {
        Some(name) => name.to_owned(),
        None => "agent".to_owned(),
    }
}

/// Whether this is an id such as `01a1e082-7956-7191-8911-e67d41610f11`.
fn is_id(name: &str) -> bool {
    name.len() == 36 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Whether this only tells the program that something was begun or is over.
fn is_receipt(fields: &Object<'_>) -> bool {
    ["task_name", "agent_id", "timed_out"]
        .iter()
        .any(|key| fields.has(key))
}

/// What a sub-agent came back with, or was told: markdown, cut like all bodies.
fn answer(view: &View<'_>, text: &str) -> Option<Part> {
    if wrapping::is_in_background(text) {
        return None;
    }
    let text = wrapping::answer(text);
    if let Some(object) = Json::parse(text.trim()).filter(|json| json.is_object()) {
        let told = || view.body(&super::pretty(text), Role::Accent);
        return (!is_receipt(&object.object())).then(told)?;
    }
    let body::Head {
        before,
        text,
        after,
    } = body::head(text, view.detail);
    let text = body::cut_text(text, view.detail);
    let mut blocks = markdown::blocks_of(&text, view.detail.highlight);
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
