//! What a session hands out: entries, and what they are.

use std::sync::Arc;

use crate::event::{
    Agent, Context, Edits, Message, Notice, Payload, Permission, Plan, Prompt, ToolResult, ToolUse,
    TurnEnd, Usage, User,
};

/// One thing that a person looks at.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Tells it from all others of its session, also while it grows; what
    /// began later has a higher one.
    pub number: u64,
    /// When it began.
    pub time: Option<String>,
    /// The sub-agent that it belongs to.
    pub agent: Option<Arc<Agent>>,
    /// What it is.
    pub item: Item,
}

impl Entry {
    /// An entry of the root agent, outside any session.
    pub fn new(item: Item) -> Self {
        Self {
            number: 0,
            time: None,
            agent: None,
            item,
        }
    }

    /// Sets [`time`](Self::time).
    pub fn with_time(self, time: impl Into<String>) -> Self {
        Self {
            time: Some(time.into()),
            ..self
        }
    }

    /// Sets [`agent`](Self::agent).
    pub fn with_agent(self, agent: impl Into<Arc<Agent>>) -> Self {
        Self {
            agent: Some(agent.into()),
            ..self
        }
    }

    /// Nesting depth: 0 for the root agent.
    pub fn depth(&self) -> u32 {
        self.agent.as_ref().map_or(0, |agent| agent.depth)
    }
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of the event kinds")]
#[non_exhaustive]
pub enum Item {
    Session(crate::event::Session),
    User(User),
    Text(Text),
    Reasoning(Text),
    Tool(Tool),
    Plan(Plan),
    Edit(Edits),
    Permission(Permission),
    Prompt(Prompt),
    Context(Context),
    Notice(Notice),
    Usage(Usage),
    TurnEnd(TurnEnd),
    State(crate::event::State),
    Unknown(Payload),
}

/// A message, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Text {
    /// The block's id.
    pub id: String,
    /// The words.
    pub text: String,
    /// The lines are to stay as they are: the text is no markdown.
    pub preformatted: bool,
}

impl From<Message> for Text {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            text: message.text.into_string(),
            preformatted: message.preformatted,
        }
    }
}

/// A call with its result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The call; only id and name are known when it was never announced.
    pub call: ToolUse,
    /// What it wrote while it ran.
    pub output: String,
    /// How it ended; `None` while it runs.
    pub result: Option<ToolResult>,
}

constructors! {
    /// A message without an id.
    Text(text: String) {
        with_id => id: String,
        with_preformatted => preformatted: bool,
    }
    /// A running call.
    Tool(call: ToolUse) {
        with_output => output: String,
        with_result => result: Option<ToolResult>,
    }
}
