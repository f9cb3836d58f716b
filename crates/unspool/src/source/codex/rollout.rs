//! Session files (`rollout-TIME-THREAD.jsonl`), one per thread.
//!
//! A file contains everything twice: as items of the model's conversation
//! (`response_item`) and as messages of Codex (`event_msg`). Texts come from the
//! messages, calls from the conversation, results from whichever comes first;
//! see `thread`.
//!
//! Sub-agents have files of their own. They are attached before the first line
//! and replayed right after the call that started them. One that no call refers
//! to is replayed at the end of the turn in which it started, or at the end.

use std::borrow::Cow;
use std::sync::Arc;

use crate::event::Agent;
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::source::Emitter;
use crate::source::codex::item;
use thread::Thread;

mod call;
mod output;
mod script;
mod thread;

/// Returns true if only a session file of Codex has a line with these fields.
pub(super) fn is_frame(fields: &Object<'_>) -> bool {
    fields.has("timestamp")
        && fields.has("payload")
        && matches!(
            fields.get("type").str().as_deref(),
            Some(
                "session_meta"
                    | "turn_context"
                    | "world_state"
                    | "token_usage_record"
                    | "response_item"
                    | "event_msg"
                    | "compacted"
                    | "retained_context"
                    | "inter_agent_communication"
                    | "inter_agent_communication_metadata"
                    | "security_risk_score"
            )
        )
}

#[derive(Clone, Default)]
pub(super) struct Rollout {
    root: Thread,
    children: ChildThreads,
}

impl Rollout {
    pub(super) fn frame(&mut self, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        self.root.line(fields, frame, &mut self.children, out);
    }

    pub(super) fn attach(&mut self, bytes: &[u8]) {
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        let first = text.lines().next().unwrap_or_default();
        let Some(line) = Json::parse(first) else {
            return;
        };
        let child = Child::new(&line.object(), Arc::clone(&text));
        self.children.0.push(child);
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.children.replay_rest(&self.root, None, out);
        self.root.finish(out);
    }
}

/// Files of sub-agents that were not replayed yet.
#[derive(Clone, Default)]
struct ChildThreads(Vec<Child>);

#[derive(Clone)]
struct Child {
    thread: String,
    parent: String,
    name: String,
    /// Time of the first line.
    started: String,
    text: Arc<str>,
}

impl Child {
    fn new(line: &Object<'_>, text: Arc<str>) -> Self {
        let meta = line.get("payload").object();
        let subagent = meta.get("source").get("subagent");
        let spawn = subagent.get("thread_spawn");
        let names = [
            meta.get("agent_nickname"),
            spawn.get("agent_nickname"),
            meta.get("agent_role"),
            meta.get("agent_path"),
            subagent,
            subagent.get("other"),
        ];
        let parents = [
            meta.get("parent_thread_id"),
            spawn.get("parent_thread_id"),
            meta.get("session_id"),
        ];
        let first = |values: &[Json<'_>]| {
            let mut texts = values.iter().filter_map(|value| value.str());
            texts.next().map(Cow::into_owned).unwrap_or_default()
        };
        Self {
            thread: meta.get("id").string(),
            parent: first(&parents),
            name: item::agent_name(&first(&names)).to_owned(),
            started: line.get("timestamp").string(),
            text,
        }
    }
}

impl ChildThreads {
    /// Replays the file of a thread, if it exists, below a call.
    fn replay(&mut self, thread: &str, call: &str, out: &mut Emitter) {
        if let Some(index) = self.0.iter().position(|c| c.thread == thread) {
            self.replay_child(index, call, out);
        }
    }

    /// Replays the review that `parent` requested; returns false if it has no file.
    fn replay_review(&mut self, parent: &Thread, out: &mut Emitter) -> bool {
        let review = |c: &Child| c.name == "review" && c.parent == parent.id();
        let index = self.0.iter().position(review);
        if let Some(index) = index {
            self.replay_child(index, "", out);
        }
        index.is_some()
    }

    /// Replays threads that no call refers to; with a time, only those that started
    /// before it.
    fn replay_rest(&mut self, parent: &Thread, until: Option<&str>, out: &mut Emitter) {
        while let Some(index) = self.0.iter().position(|child| {
            until.is_none_or(|until| child.started.as_str() <= until && child.parent == parent.id())
        }) {
            self.replay_child(index, "", out);
        }
    }

    fn replay_child(&mut self, index: usize, call: &str, out: &mut Emitter) {
        let child = self.0.remove(index);
        let caller = out.current_agent();
        let agent = Arc::new(Agent {
            id: child.thread,
            parent: call.to_owned(),
            depth: caller.as_ref().map_or(0, |agent| agent.depth) + 1,
            name: child.name,
        });
        let mut thread = Thread::of_agent(&agent);
        out.replay(&child.text, |frame, out| {
            out.agent(Some(Arc::clone(&agent)));
            match frame.json() {
                Some(json) => thread.line(&json.object(), frame, self, out),
                None => out.unknown(frame),
            }
        });
    }
}
