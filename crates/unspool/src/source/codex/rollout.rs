//! Session files (`rollout-TIME-THREAD.jsonl`), one per thread.
//!
//! A file says everything twice: as items of the model's conversation
//! (`response_item`) and as messages of the program (`event_msg`). Texts are
//! taken from the messages, calls from the conversation, results from
//! whichever comes first; `thread` has the details.
//!
//! Sub-agents have files of their own. They are attached before the first
//! line, and each is played right after the call that started it. One that no
//! call refers to is played when the turn in which it began is over, or at the
//! end.

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

/// Whether only a session file of Codex has a line with these fields.
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
    family: Family,
}

impl Rollout {
    pub(super) fn frame(&mut self, fields: &Object<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        self.root.line(fields, frame, &mut self.family, out);
    }

    pub(super) fn attach(&mut self, bytes: &[u8]) {
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        let first = text.lines().next().unwrap_or_default();
        let Some(line) = Json::parse(first) else {
            return;
        };
        let child = Child::new(&line.object(), Arc::clone(&text));
        self.family.children.push(child);
    }

    pub(super) fn finish(&mut self, out: &mut Emitter) {
        self.family.play_rest(&self.root, None, out);
        self.root.finish(out);
    }
}

/// The files of sub-agents that were not played yet.
#[derive(Clone, Default)]
struct Family {
    children: Vec<Child>,
}

#[derive(Clone)]
struct Child {
    thread: String,
    parent: String,
    name: String,
    /// Time of the first line.
    begin: String,
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
            let mut words = values.iter().filter_map(|value| value.str());
            words.next().map(Cow::into_owned).unwrap_or_default()
        };
        Self {
            thread: meta.get("id").string(),
            parent: first(&parents),
            name: item::agent_name(&first(&names)).to_owned(),
            begin: line.get("timestamp").string(),
            text,
        }
    }
}

impl Family {
    /// Plays the file of this thread, if it is there, below the call with the
    /// id `call`.
    fn play(&mut self, thread: &str, call: &str, out: &mut Emitter) {
        if let Some(index) = self.children.iter().position(|c| c.thread == thread) {
            self.play_child(index, call, out);
        }
    }

    /// Plays the review that `parent` asked for.
    fn play_review(&mut self, parent: &Thread, out: &mut Emitter) -> bool {
        let review = |c: &Child| c.name == "review" && c.parent == parent.id();
        let index = self.children.iter().position(review);
        if let Some(index) = index {
            self.play_child(index, "", out);
        }
        index.is_some()
    }

    /// Plays what nothing refers to. With a time, only what began before it.
    fn play_rest(&mut self, parent: &Thread, until: Option<&str>, out: &mut Emitter) {
        while let Some(index) = self.children.iter().position(|child| {
            until.is_none_or(|until| child.begin.as_str() <= until && child.parent == parent.id())
        }) {
            self.play_child(index, "", out);
        }
    }

    fn play_child(&mut self, index: usize, call: &str, out: &mut Emitter) {
        let child = self.children.remove(index);
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
