//! Who speaks: the root sessions of a connection and the sub-agents in them.
//!
//! A session is a sub-agent's if the wire says so: `subagent_update` names it,
//! or its id does (`ROOT:subagent:THREAD`). Any other session is a root of its
//! own. Sub-agents inside their parent's session are told by the call that
//! started them, in `_meta`.

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

/// A session that a person talks to.
#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact that the wire told"
)]
pub(super) struct Root {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) title: String,
    pub(super) cwd: String,
    /// A `session` event told of it.
    pub(super) announced: bool,
    /// The input holds the client's requests for it.
    pub(super) requested: bool,
    /// Prompts whose end has not come.
    pub(super) prompts: u32,
    /// The draft's state: the agent works.
    pub(super) running: bool,
    /// A turn whose prompt was not in the input has begun.
    pub(super) inferred: bool,
    /// What comes is the history of a session that is loaded.
    pub(super) replaying: bool,
    pub(super) canceled: bool,
    pub(super) reject_all: bool,
    /// What an agent that repeats the prompt has still to say of it.
    pub(super) echo: String,
    pub(super) usage: Usage,
    pub(super) fault: Fault,
}

/// What Codex told of an error in the thread.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fault {
    #[default]
    None,
    /// There is one; the words come as the next message.
    Known,
    /// They have come.
    Told,
}

impl Root {
    pub(super) fn is_open(&self) -> bool {
        self.prompts > 0 || self.running || self.inferred
    }

    /// Whether the person's words repeat the prompt that was just sent.
    pub(super) fn is_echo(&mut self, text: &str) -> bool {
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
    /// Roots that were still open when the others were forgotten; so many more come
    /// before all are looked at again.
    kept: usize,
    /// Sub-agents by their sessions.
    children: RecentMap<String, Child, REMEMBERED>,
    /// Sub-agents in their parent's session, by the call that started them.
    by_call: RecentMap<String, Arc<Agent>, REMEMBERED>,
    /// The session that used the id of a call first.
    owners: RecentMap<String, String, CALLS>,
}

impl Sessions {
    /// The id by which a call is told from all others of the connection. Its own
    /// counts in its session alone, and another root session may use it as well.
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

    /// The root session with this id, made where it is new.
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

    /// The root session with this id, if it was heard of.
    pub(super) fn known_root(&mut self, id: &str) -> Option<&mut Root> {
        self.roots.get_mut(id)
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.values()
    }

    /// The root session that a session belongs to.
    pub(super) fn root_of<'s>(&self, session: &'s str) -> Cow<'s, str> {
        let Some(mut child) = self.child(session) else {
            return Cow::Borrowed(session);
        };
        // Bounded, because parents could name each other.
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

    /// Makes sure that a session whose id says so is known as a sub-agent's.
    pub(super) fn notice_id(&mut self, session: &str) {
        if let Some((parent, _)) = session.rsplit_once(":subagent:")
            && !self.is_child(session)
        {
            let parent = parent.to_owned();
            self.add_child(session, &parent, "");
        }
    }

    /// Takes a `subagent_update` that came in the session `parent`.
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

    /// The call that started the sub-agent of a session is known.
    pub(super) fn started_by(&mut self, session: &str, call: &str) {
        if !call.is_empty() {
            self.change(session, |agent| {
                if agent.parent.is_empty() {
                    agent.parent = tool::label(call);
                }
            });
        }
    }

    /// The sub-agent of a session said something itself.
    pub(super) fn spoke(&mut self, session: &str) {
        if let Some(child) = self.children.get_mut(session) {
            child.spoke = true;
        }
    }

    pub(super) fn has_spoken(&self, session: &str) -> bool {
        self.child(session).is_some_and(|child| child.spoke)
    }

    /// The sub-agent that a call started, if it was seen.
    pub(super) fn by_call(&self, call: &str) -> Option<Arc<Agent>> {
        self.by_call.get(call).cloned()
    }

    /// Registers the sub-agent that a call of `caller` started.
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

/// The call of the parent that an update inside its session belongs to.
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

/// The model that a new or loaded session has.
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
