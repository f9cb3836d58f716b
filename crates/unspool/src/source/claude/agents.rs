//! Sub-agents: who they are, and the saved records of what they did.
//!
//! A live line names the call that started its agent; a record in a saved
//! session lies in the agent's own file, whose `.meta.json` names the call.
//! Older versions wrote side chains into the session itself, where only the
//! chain of uuids and the prompt tell to which call they belong.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::sessions::session_of;
use super::wire::{Content, Line};
use crate::event::Agent;
use crate::json::Json;
use crate::recent::{RecentMap, RecentQueue};
use crate::source::subagents::{SubagentFile, SubagentFiles};

/// Sub-agents that are remembered.
const REMEMBERED: usize = 256;

#[derive(Clone, Default)]
pub(super) struct Agents {
    running: RecentQueue<Running, REMEMBERED>,
    files: SubagentFiles<Details>,
    /// The agent whose call was just made and whose record is here.
    started: Option<String>,
    /// The calls of those that work in the background, and their work.
    background: RecentMap<String, String, REMEMBERED>,
}

#[derive(Clone)]
struct Running {
    agent: Arc<Agent>,
    prompt: u64,
    /// The uuid of its last record in a side chain.
    last: String,
}

impl Agents {
    /// A call starts a sub-agent.
    pub(super) fn start(&mut self, call: &str, input: Json<'_>, depth: u32) {
        let fields = input.object();
        let prompt = digest(&fields.get("prompt").string());
        self.running.push(Running {
            agent: Arc::new(Agent {
                id: call.to_owned(),
                parent: call.to_owned(),
                depth: depth + 1,
                name: fields.get("subagent_type").string(),
            }),
            prompt,
            last: String::new(),
        });
        let is_its_record = |record: &Record| match record.call.as_str() {
            "" => record.details.prompt == prompt,
            named => named == call,
        };
        let record = self.files.iter().find(|record| is_its_record(record));
        self.started = record.map(|record| record.stem.clone());
    }

    /// The call of a sub-agent has its result; nothing more is to come from it.
    pub(super) fn end(&mut self, call: &str) {
        self.running.retain(|running| running.agent.parent != call);
    }

    /// The agent of a call works on while others do.
    pub(super) fn in_background(&mut self, call: &str, work: &str) {
        self.background.insert(call.to_owned(), work.to_owned());
    }

    /// The work of an agent in the background that has ended.
    pub(super) fn take_background(&mut self, call: &str) -> Option<String> {
        self.background.remove(call)
    }

    /// The stream says more of the agent that a call started.
    pub(super) fn describe(&mut self, call: &str, id: &str, name: &str, depth: Option<u32>) {
        let Some(agent) = self.by_call(call) else {
            return;
        };
        if !id.is_empty() && agent.id != id {
            id.clone_into(&mut Arc::make_mut(agent).id);
        }
        if !name.is_empty() && agent.name != name {
            name.clone_into(&mut Arc::make_mut(agent).name);
        }
        if let Some(depth) = depth.filter(|depth| *depth > 0 && agent.depth != *depth) {
            Arc::make_mut(agent).depth = depth;
        }
    }

    /// The agent of a live line.
    pub(super) fn of_call(&mut self, call: &str, line: &Line<'_>) -> Arc<Agent> {
        let id = line.agent_id.str().unwrap_or_default();
        let name = line.subagent_type.str().unwrap_or_default();
        self.describe(call, &id, &name, None);
        self.by_call(call)
            .map(|agent| Arc::clone(agent))
            .unwrap_or_default()
    }

    /// The agent that a call started; one is made for a call that was not seen.
    fn by_call(&mut self, call: &str) -> Option<&mut Arc<Agent>> {
        let is_its_agent = |running: &Running| running.agent.parent == call;
        if !self.running.iter().any(is_its_agent) {
            self.running.push(Running {
                agent: Arc::new(Agent {
                    id: call.to_owned(),
                    parent: call.to_owned(),
                    depth: 1,
                    name: String::new(),
                }),
                prompt: 0,
                last: String::new(),
            });
        }
        let running = self.running.iter_mut().rev().find(|r| is_its_agent(r))?;
        Some(&mut running.agent)
    }

    /// The agent of a record that lies in the session's own file.
    pub(super) fn of_sidechain(&mut self, line: &Line<'_>) -> Arc<Agent> {
        let id = line.agent_id.str().unwrap_or_default();
        let parent = line.parent_uuid.str().unwrap_or_default();
        let prompt = match &line.message.content {
            Content::Text(text) => digest(text),
            Content::Blocks(blocks) => blocks.first().map_or(0, |b| digest(&b.text.string())),
            Content::Nothing => 0,
        };
        let running = &self.running;
        let found = running
            .iter()
            .rposition(|r| !id.is_empty() && r.agent.id == id)
            .or_else(|| {
                running
                    .iter()
                    .rposition(|r| !r.last.is_empty() && r.last == parent)
            })
            .or_else(|| {
                running
                    .iter()
                    .rposition(|r| r.last.is_empty() && r.prompt == prompt)
            })
            .or_else(|| running.len().checked_sub(1).filter(|_| id.is_empty()));
        let index = found.unwrap_or_else(|| {
            self.running.push(Running {
                agent: Arc::new(Agent {
                    id: id.to_string(),
                    depth: 1,
                    ..Agent::default()
                }),
                prompt,
                last: String::new(),
            });
            self.running.len().saturating_sub(1)
        });
        let Some(running) = self.running.iter_mut().nth(index) else {
            return Arc::default();
        };
        running.last = line.uuid.string();
        if !id.is_empty() && running.agent.id != id {
            Arc::make_mut(&mut running.agent).id = id.into_owned();
        }
        Arc::clone(&running.agent)
    }

    /// Adds a file of `<session>/subagents/`.
    pub(super) fn attach(&mut self, name: &str, bytes: &[u8]) {
        let name = name.rsplit('/').next().unwrap_or(name);
        let is_record = name.ends_with(".jsonl") || name.ends_with(".meta.json");
        if let Some(name) = name.strip_prefix("agent-").filter(|_| is_record) {
            self.files.attach(name, bytes, |text| Details {
                prompt: first_prompt(text),
                session: text.lines().find_map(session_of).unwrap_or_default(),
            });
        }
    }

    /// Removes the record of the agent whose call was just made.
    pub(super) fn take_started(&mut self) -> Option<Record> {
        let id = self.started.take()?;
        self.take(&id)
    }

    /// Removes the record of the agent with this id.
    pub(super) fn take(&mut self, id: &str) -> Option<Record> {
        self.files.take(|file| file.stem == id)
    }

    /// Removes a record that no call asked for. A nested agent's record waits
    /// until its parent's was replayed; what the session's origin did after the
    /// fork does not belong to the fork.
    pub(super) fn take_next(&mut self, origin: &str) -> Option<Record> {
        self.files
            .retain(|file| origin.is_empty() || file.details.session != origin);
        let depth = |file: &Record| file.depth.unwrap_or(1);
        let least = self.files.iter().map(depth).min()?;
        self.files.take(|file| depth(file) == least)
    }
}

/// What one sub-agent did, as it was saved. The stem is the agent's id.
pub(super) type Record = SubagentFile<Details>;

/// What a record is found by.
#[derive(Clone, Default)]
pub(super) struct Details {
    /// Digest of the first prompt.
    prompt: u64,
    /// The session that the record was written for.
    session: String,
}

impl Record {
    /// The agent, where its caller has this depth.
    pub(super) fn agent(&self, depth: u32) -> Arc<Agent> {
        Arc::new(Agent {
            id: self.stem.clone(),
            parent: self.call.clone(),
            depth: self.depth.filter(|depth| *depth > 0).unwrap_or(depth + 1),
            name: self.name.clone(),
        })
    }

    /// Names the call, where the record itself did not.
    pub(super) fn called_by(mut self, call: &str) -> Self {
        if self.call.is_empty() {
            call.clone_into(&mut self.call);
        }
        self
    }
}

fn first_prompt(text: &str) -> u64 {
    let line = text.lines().find_map(Line::parse);
    match line.map(|line| line.message.content) {
        Some(Content::Text(text)) => digest(&text),
        Some(Content::Blocks(blocks)) => blocks.first().map_or(0, |b| digest(&b.text.string())),
        _ => 0,
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
