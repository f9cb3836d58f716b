//! The root sessions of a connection and their sub-agents.
//!
//! A session belongs to a sub-agent if a `subagent_update` names it or its id is
//! `ROOT:subagent:THREAD`. Any other session is a root. Sub-agents inside their
//! parent's session are identified by the call that started them, in `_meta`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::{Agent, Usage};
use crate::json::{Json, Object};
use crate::recent::RecentMap;
use crate::tool;

/// Sessions and sub-agents that are remembered.
const REMEMBERED: usize = 1024;
/// Calls whose session is remembered.
const CALLS: usize = 16_384;

/// A session of the user.
#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact from the wire"
)]
pub(super) struct Root {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) title: String,
    pub(super) cwd: String,
    /// Its `session` event was emitted.
    pub(super) announced: bool,
    /// The input contains the client's requests for it.
    pub(super) requested: bool,
    /// Number of prompts without an end.
    pub(super) prompts: u32,
    /// The draft's state: the agent is running.
    pub(super) running: bool,
    /// A turn without a prompt in the input is open.
    pub(super) inferred: bool,
    /// Updates are the history of a loaded session.
    pub(super) replaying: bool,
    pub(super) canceled: bool,
    pub(super) reject_all: bool,
    /// The rest of the prompt that an agent may repeat.
    pub(super) echo: String,
    /// Number of pictures, sounds and files in the prompt that an agent may repeat.
    pub(super) echoed_media: usize,
    pub(super) usage: Usage,
    pub(super) thread_error: ThreadError,
}

/// An error in a thread of Codex.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ThreadError {
    #[default]
    None,
    /// The next message contains its text.
    Announced,
    /// Its text was emitted.
    Emitted,
}

impl Root {
    pub(super) fn is_open(&self) -> bool {
        self.prompts > 0 || self.running || self.inferred
    }

    /// Removes a text, or what came with it, that repeats the prompt; returns false
    /// for any other text.
    pub(super) fn take_echo(&mut self, text: &str, media: usize) -> bool {
        if media > 0 && text.is_empty() {
            let rest = self.echoed_media.checked_sub(media);
            self.echoed_media = rest.unwrap_or_default();
            return rest.is_some();
        }
        let rest = self.echo.trim_start().strip_prefix(text.trim_start());
        let rest = rest.map(str::to_owned);
        let is_echo = rest.is_some();
        self.echo = rest.unwrap_or_default();
        is_echo
    }
}

/// A session of a sub-agent.
#[derive(Clone)]
struct Child {
    parent: String,
    agent: Arc<Agent>,
    spoke: bool,
}

#[derive(Clone, Default)]
pub(super) struct Sessions {
    roots: BTreeMap<String, Root>,
    /// Roots that were open at the last clean-up; the next one is when as many were
    /// added.
    kept: usize,
    /// Sub-agents by their sessions.
    children: RecentMap<String, Child, REMEMBERED>,
    /// Sub-agents in their parent's session, by the call that started them.
    by_call: RecentMap<String, Arc<Agent>, REMEMBERED>,
    /// The session that used the id of a call first.
    owners: RecentMap<String, String, CALLS>,
}

impl Sessions {
    /// Returns an id that is unique on the connection: two root sessions may use the
    /// same id.
    pub(super) fn call_id(&mut self, session: &str, id: &str) -> String {
        if id.is_empty() {
            return String::new();
        }
        let Some(owner) = self.owners.get(id) else {
            self.owners.insert(id.to_owned(), session.to_owned());
            return id.to_owned();
        };
        if owner == session || self.root_of(owner) == self.root_of(session) {
            return id.to_owned();
        }
        format!("{}/{id}", self.root_of(session))
    }

    /// Returns the root session with this id, added if it is new.
    pub(super) fn root(&mut self, id: &str) -> &mut Root {
        let room = self.kept.saturating_mul(2).max(REMEMBERED);
        if self.roots.len() >= room && !self.roots.contains_key(id) {
            self.roots.retain(|_, root| root.is_open());
            self.kept = self.roots.len();
        }
        self.roots.entry(id.to_owned()).or_insert_with(|| Root {
            id: id.to_owned(),
            ..Root::default()
        })
    }

    /// Returns the root session with this id, if it is known.
    pub(super) fn known_root(&mut self, id: &str) -> Option<&mut Root> {
        self.roots.get_mut(id)
    }

    /// Returns true while the updates of a root session are its history.
    pub(super) fn is_replaying(&self, id: &str) -> bool {
        self.roots.get(id).is_some_and(|root| root.replaying)
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.values()
    }

    /// Returns the root session of a session.
    pub(super) fn root_of<'s>(&self, session: &'s str) -> Cow<'s, str> {
        let Some(mut child) = self.child(session) else {
            return Cow::Borrowed(session);
        };
        // Bounded, because sessions could be each other's parents.
        for _ in 1..64 {
            match self.child(&child.parent) {
                Some(parent) => child = parent,
                None => break,
            }
        }
        Cow::Owned(child.parent.clone())
    }

    pub(super) fn is_child(&self, session: &str) -> bool {
        self.child(session).is_some()
    }

    pub(super) fn is_child_of(&self, session: &str, parent: &str) -> bool {
        self.child(session)
            .is_some_and(|child| child.parent == parent)
    }

    fn child(&self, session: &str) -> Option<&Child> {
        self.children.get(session)
    }

    pub(super) fn agent_of(&self, session: &str) -> Option<Arc<Agent>> {
        self.child(session).map(|child| child.agent.clone())
    }

    /// Adds a sub-agent if the id of a session says that it is one.
    pub(super) fn notice_id(&mut self, session: &str) {
        if let Some((parent, _)) = session.rsplit_once(":subagent:")
            && !self.is_child(session)
        {
            let parent = parent.to_owned();
            self.add_child(session, &parent, "");
        }
    }

    /// Reads a `subagent_update` of the session `parent`.
    pub(super) fn subagent(&mut self, parent: &str, update: &Object<'_>) {
        let session = update.get("sessionId").string();
        if session.is_empty() || session == parent {
            return;
        }
        let title = update.get("title").string();
        let name = if title.is_empty() {
            update.get("description").string()
        } else {
            title
        };
        let name = tool::headline(&name);
        if !self.is_child(&session) {
            self.add_child(&session, parent, &name);
        } else if !name.is_empty() {
            self.change(&session, |agent| agent.name = name);
        }
    }

    fn add_child(&mut self, session: &str, parent: &str, name: &str) {
        let depth = self.agent_of(parent).map_or(0, |agent| agent.depth);
        let child = Child {
            parent: parent.to_owned(),
            agent: Arc::new(Agent {
                id: tool::label(session),
                parent: String::new(),
                depth: depth.saturating_add(1),
                name: name.to_owned(),
            }),
            spoke: false,
        };
        self.children.insert(session.to_owned(), child);
    }

    fn change(&mut self, session: &str, change: impl FnOnce(&mut Agent)) {
        if let Some(child) = self.children.get_mut(session) {
            change(Arc::make_mut(&mut child.agent));
        }
    }

    /// Sets the call that started the sub-agent of a session.
    pub(super) fn started_by(&mut self, session: &str, call: &str) {
        if !call.is_empty() {
            self.change(session, |agent| {
                if agent.parent.is_empty() {
                    agent.parent = tool::label(call);
                }
            });
        }
    }

    /// Records that the sub-agent of a session wrote something.
    pub(super) fn spoke(&mut self, session: &str) {
        if let Some(child) = self.children.get_mut(session) {
            child.spoke = true;
        }
    }

    pub(super) fn has_spoken(&self, session: &str) -> bool {
        self.child(session).is_some_and(|child| child.spoke)
    }

    /// Returns the sub-agent that a call started, if it is known.
    pub(super) fn by_call(&self, call: &str) -> Option<Arc<Agent>> {
        self.by_call.get(call).cloned()
    }

    /// Adds the sub-agent that a call of `caller` started.
    pub(super) fn add_by_call(
        &mut self,
        call: &str,
        caller: Option<&Agent>,
        name: String,
    ) -> Arc<Agent> {
        let agent = Arc::new(Agent {
            id: tool::label(call),
            parent: tool::label(call),
            depth: caller.map_or(0, |agent| agent.depth).saturating_add(1),
            name,
        });
        self.by_call.insert(call.to_owned(), agent.clone());
        agent
    }
}

/// Returns the call whose sub-agent sent an update in its parent's session.
pub(super) fn parent_call(update: &Object<'_>) -> String {
    let meta = update.get("_meta");
    let claude = meta.get("claudeCode").get("parentToolUseId");
    let call = if claude.is_string() {
        claude
    } else {
        meta.get("parentToolCallId")
    };
    call.string()
}

/// Returns the model of a new or loaded session.
pub(super) fn model(result: &Object<'_>) -> String {
    let current = result.get("models").get("currentModelId").string();
    if !current.is_empty() {
        return current;
    }
    let options = result.get("configOptions").array().into_iter();
    let is_model = |option: &Object<'_>| {
        ["category", "id", "configId"]
            .iter()
            .any(|key| option.get(key).str().as_deref() == Some("model"))
    };
    options
        .map(Json::object)
        .find(is_model)
        .map(|option| option.get("currentValue").string())
        .unwrap_or_default()
}
