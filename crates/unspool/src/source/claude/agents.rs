//! Sub-agents and their saved records.
//!
//! A live line contains the call that started its agent. A saved sub-agent has a
//! file of its own, whose `.meta.json` contains the call. Older versions wrote
//! side chains into the session itself; they are assigned to calls by the chain
//! of uuids and by the prompt.

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
    /// The agent whose call was just emitted and whose record is attached.
    started: Option<String>,
    /// Tasks of background agents, by call.
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
    /// Records that a call starts a sub-agent.
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

    /// Forgets a sub-agent: its call has a result.
    pub(super) fn end(&mut self, call: &str) {
        self.running.retain(|running| running.agent.parent != call);
    }

    /// Records that the agent of a call runs in the background.
    pub(super) fn add_background(&mut self, call: &str, task: &str) {
        self.background.insert(call.to_owned(), task.to_owned());
    }

    /// Removes the task of a background agent that has ended.
    pub(super) fn take_background(&mut self, call: &str) -> Option<String> {
        self.background.remove(call)
    }

    /// Updates the agent that a call started.
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

    /// Returns the agent of a live line.
    pub(super) fn of_call(&mut self, call: &str, line: &Line<'_>) -> Arc<Agent> {
        let id = line.agent_id.str().unwrap_or_default();
        let name = line.subagent_type.str().unwrap_or_default();
        self.describe(call, &id, &name, None);
        self.by_call(call)
            .map(|agent| Arc::clone(agent))
            .unwrap_or_default()
    }

    /// Returns the agent that a call started, even if the call was not seen.
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

    /// Returns the agent of a side-chain record in the session file.
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
        let is_record = |ending| name.strip_suffix(ending).is_some();
        let is_record = is_record(".jsonl") || is_record(".meta.json");
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

/// The saved record of a sub-agent. Its stem is the agent's id.
pub(super) type Record = SubagentFile<Details>;

/// Facts by which a record is assigned to a call.
#[derive(Clone, Default)]
pub(super) struct Details {
    /// Digest of the first prompt.
    prompt: u64,
    /// The session that the record was written for.
    session: String,
}

impl Record {
    /// Returns the agent, given the depth of its caller.
    pub(super) fn agent(&self, depth: u32) -> Arc<Agent> {
        Arc::new(Agent {
            id: self.stem.clone(),
            parent: self.call.clone(),
            depth: self.depth.filter(|depth| *depth > 0).unwrap_or(depth + 1),
            name: self.name.clone(),
        })
    }

    /// Sets the call, unless the record contains it.
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
