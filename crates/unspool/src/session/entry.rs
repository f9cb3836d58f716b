//! Entries, the output of a session.

use std::sync::Arc;

use crate::event::{
    Agent, Context, Edits, Media, Message, Notice, Payload, Permission, Plan, Prompt, ToolResult,
    ToolUse, TurnEnd, Usage, User,
};
use crate::folder::Folder;

/// One thing shown to a person: a message, a tool call, a plan and so on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// A number unique within the session, also while the entry grows; entries
    /// that started later have higher numbers.
    pub number: u64,
    /// The start time.
    pub time: Option<String>,
    /// The sub-agent, or `None` for the root agent.
    pub agent: Option<Arc<Agent>>,
    /// The folder of the run, if known.
    pub folder: Option<Folder>,
    /// The content.
    pub item: Item,
}

impl Entry {
    /// Creates an entry of the root agent, outside any session.
    pub fn new(item: Item) -> Self {
        Self {
            number: 0,
            time: None,
            agent: None,
            folder: None,
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

    /// Sets [`folder`](Self::folder).
    pub fn with_folder(self, folder: impl Into<Option<Folder>>) -> Self {
        Self {
            folder: folder.into(),
            ..self
        }
    }

    /// Returns the nesting depth: 0 for the root agent.
    pub fn depth(&self) -> u32 {
        self.agent.as_ref().map_or(0, |agent| agent.depth)
    }
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of the event kinds")]
#[non_exhaustive]
pub enum Item {
    Session(crate::event::Session),
    User(User),
    Text(Text),
    Reasoning(Text),
    /// Pictures, sounds and files in an answer or in reasoning.
    Media(Vec<Media>),
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

/// A message, complete or so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Text {
    /// The block's id.
    pub id: String,
    /// The text.
    pub text: String,
    /// True if lines must be kept as they are, because the text is not
    /// Markdown.
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

/// A tool call and its result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The call; only id and name are known if it was never announced.
    pub call: ToolUse,
    /// The output while it ran.
    pub output: String,
    /// The result; `None` while it runs.
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
