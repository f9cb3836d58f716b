//! Events → entries: deltas joined into messages, calls joined with their
//! results.
//!
//! A [`Session`] keeps only what is open and hands each [`Entry`] out when it is
//! finished, at the place where it finished. A view that shows work in progress
//! looks at [`Session::open`].

use std::sync::Arc;

use crate::event::{
    Agent, Body, Context, Edit, Event, Message, Notice, Payload, Permission, Plan, Prompt,
    ToolResult, ToolUse, TurnEnd, TurnStatus, Usage, User,
};

/// One thing that a person looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it began.
    pub time: Option<String>,
    /// The sub-agent that it belongs to.
    pub agent: Option<Arc<Agent>>,
    /// What it is.
    pub item: Item,
}

impl Entry {
    /// Nesting depth: 0 for the root agent.
    pub fn depth(&self) -> u32 {
        self.agent.as_ref().map_or(0, |agent| agent.depth)
    }
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of the event kinds")]
pub enum Item {
    Session(crate::event::Session),
    User(User),
    Text(Text),
    Reasoning(Text),
    Tool(Tool),
    Plan(Plan),
    Edit(Vec<Edit>),
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
pub struct Text {
    /// The block's id.
    pub id: String,
    /// The words.
    pub text: String,
}

/// A call with its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool {
    /// The call; only id and name are known when it was never announced.
    pub call: ToolUse,
    /// What it wrote while it ran.
    pub output: String,
    /// How it ended; `None` while it runs.
    pub result: Option<ToolResult>,
}

/// Bytes of a running call's output that are kept.
const KEPT_OUTPUT: usize = 1 << 20;

/// Joins events into entries.
#[derive(Clone, Debug, Default)]
pub struct Session {
    open: Vec<Entry>,
    /// Finished beside a message that still grows.
    waiting: Vec<Entry>,
}

impl Session {
    /// A session in which nothing has happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is not finished: messages that grow, calls that run, requests
    /// without an answer; oldest first.
    pub fn open(&self) -> &[Entry] {
        &self.open
    }

    /// Takes the next event and hands out the entries that it finishes. What
    /// finishes beside a message that still grows follows that message.
    pub fn apply(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        let mut entries = Vec::new();
        self.take(event, &mut |entry| entries.push(entry));
        for entry in entries {
            if !is_message(&entry.item) && self.message_is_open(entry.agent.as_deref()) {
                self.waiting.push(entry);
            } else {
                let agent = entry.agent.clone();
                finished(entry);
                self.release(agent.as_deref(), finished);
            }
        }
    }

    /// The stream has ended: what is open is handed out as it is.
    pub fn finish(&mut self, finished: &mut dyn FnMut(Entry)) {
        self.close(&mut |entry| finished(entry));
        self.waiting.drain(..).for_each(finished);
    }

    /// Hands out what waited for an agent's message that is over.
    fn release(&mut self, agent: Option<&Agent>, finished: &mut dyn FnMut(Entry)) {
        if self.waiting.is_empty() || self.message_is_open(agent) {
            return;
        }
        let waited = |entry: &mut Entry| entry.agent.as_deref() == agent;
        self.waiting.extract_if(.., waited).for_each(finished);
    }

    fn message_is_open(&self, agent: Option<&Agent>) -> bool {
        self.open
            .iter()
            .any(|open| is_message(&open.item) && open.agent.as_deref() == agent)
    }

    /// Messages come before calls that never ended.
    fn close(&mut self, finished: &mut dyn FnMut(Entry)) {
        let messages = |entry: &mut Entry| is_message(&entry.item);
        self.open.extract_if(.., messages).for_each(&mut *finished);
        self.waiting.drain(..).for_each(&mut *finished);
        self.open.drain(..).for_each(finished);
    }

    fn take(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        let Event {
            time, agent, body, ..
        } = event;
        if ends_messages(&body) {
            self.end_messages(agent.as_deref(), &body, finished);
        }
        let entry = |item| Entry {
            time: time.clone(),
            agent: agent.clone(),
            item,
        };
        match body {
            Body::Text(message) => self.message(message, false, entry, finished),
            Body::Reasoning(message) => self.message(message, true, entry, finished),
            Body::ToolUse(call) => self.call(call, entry),
            Body::ToolOutput(output) => self.output(&output.id, &output.text),
            Body::ToolResult(result) => self.result(result, entry, finished),
            Body::Permission(permission) => self.permission(permission, entry, finished),
            Body::TurnEnd(end) => {
                // Calls may outlive a turn that went well.
                if end.status != TurnStatus::Completed {
                    self.close(finished);
                }
                finished(entry(Item::TurnEnd(end)));
            }
            Body::Session(session) => finished(entry(Item::Session(session))),
            Body::User(user) => finished(entry(Item::User(user))),
            Body::Plan(plan) => finished(entry(Item::Plan(plan))),
            Body::Edit(edits) => finished(entry(Item::Edit(edits.edits))),
            Body::Prompt(prompt) => finished(entry(Item::Prompt(prompt))),
            Body::Context(context) => finished(entry(Item::Context(context))),
            Body::Notice(notice) => finished(entry(Item::Notice(notice))),
            Body::Usage(usage) => finished(entry(Item::Usage(usage))),
            Body::State(state) => finished(entry(Item::State(state))),
            Body::Unknown(unknown) => finished(entry(Item::Unknown(unknown.text))),
        }
    }

    /// A request waits for its answer; the answer alone does not say to what.
    fn permission(
        &mut self,
        mut permission: Permission,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        let asked = self.open.iter().position(
            |open| matches!(&open.item, Item::Permission(asked) if asked.id == permission.id),
        );
        if let Some(asked) = asked
            && let Item::Permission(asked) = self.open.remove(asked).item
        {
            if permission.title.is_empty() {
                permission.title = asked.title;
            }
            if permission.options.is_empty() {
                permission.options = asked.options;
            }
        }
        let is_answered = !permission.outcome.is_empty();
        let entry = entry(Item::Permission(permission));
        if is_answered {
            finished(entry);
        } else {
            self.open.push(entry);
        }
    }

    fn message(
        &mut self,
        message: Message,
        reasoning: bool,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        let item = |text: Text| {
            if reasoning {
                Item::Reasoning(text)
            } else {
                Item::Text(text)
            }
        };
        let position = self.open.iter().position(|open| match &open.item {
            Item::Text(text) => !reasoning && text.id == message.id,
            Item::Reasoning(text) => reasoning && text.id == message.id,
            _ => false,
        });
        if !message.delta {
            // The final form wins over what was streamed.
            if let Some(position) = position {
                self.open.remove(position);
            }
            let text = message.text.to_string();
            finished(entry(item(Text {
                id: message.id,
                text,
            })));
            return;
        }
        if let Some(Entry {
            item: Item::Text(text) | Item::Reasoning(text),
            ..
        }) = position.and_then(|position| self.open.get_mut(position))
        {
            text.text.push_str(&message.text.as_str());
        } else {
            let text = message.text.to_string();
            self.open.push(entry(item(Text {
                id: message.id,
                text,
            })));
        }
    }

    /// Ends the messages of an agent that something else follows.
    fn end_messages(
        &mut self,
        agent: Option<&Agent>,
        body: &Body,
        finished: &mut dyn FnMut(Entry),
    ) {
        let goes_on = |item: &Item| match (item, body) {
            (Item::Text(text), Body::Text(message))
            | (Item::Reasoning(text), Body::Reasoning(message)) => text.id == message.id,
            _ => false,
        };
        let ends = |open: &mut Entry| {
            matches!(open.item, Item::Text(_) | Item::Reasoning(_))
                && open.agent.as_deref() == agent
                && !goes_on(&open.item)
        };
        self.open.extract_if(.., ends).for_each(finished);
    }

    fn call(&mut self, call: ToolUse, entry: impl Fn(Item) -> Entry) {
        match self.tool(&call.id) {
            Some(tool) => tool.call = call,
            None => self.open.push(entry(Item::Tool(Tool {
                call,
                ..Tool::default()
            }))),
        }
    }

    fn tool(&mut self, id: &str) -> Option<&mut Tool> {
        self.open
            .iter_mut()
            .find_map(|entry| match &mut entry.item {
                Item::Tool(tool) if tool.call.id == id => Some(tool),
                _ => None,
            })
    }

    fn output(&mut self, id: &str, text: &Payload) {
        if let Some(tool) = self.tool(id) {
            tool.output.push_str(&text.as_str());
            if tool.output.len() > 2 * KEPT_OUTPUT {
                let mut from = tool.output.len() - KEPT_OUTPUT;
                while !tool.output.is_char_boundary(from) {
                    from += 1;
                }
                tool.output.drain(..from);
            }
        }
    }

    fn result(
        &mut self,
        result: ToolResult,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        let is_open =
            |open: &Entry| matches!(&open.item, Item::Tool(tool) if tool.call.id == result.id);
        let mut open = match self.open.iter().position(is_open) {
            Some(position) => self.open.remove(position),
            None => entry(Item::Tool(Tool {
                call: ToolUse {
                    id: result.id.clone(),
                    name: result.name.clone(),
                    category: crate::tool::category(&result.name),
                    ..ToolUse::default()
                },
                ..Tool::default()
            })),
        };
        if let Item::Tool(tool) = &mut open.item {
            tool.result = Some(result);
        }
        finished(open);
    }
}

fn is_message(item: &Item) -> bool {
    matches!(item, Item::Text(_) | Item::Reasoning(_))
}

/// Whether a message cannot go on after this. What only stands beside it
/// (results, plans, notices …) does not end it.
fn ends_messages(body: &Body) -> bool {
    matches!(
        body,
        Body::Text(_) | Body::Reasoning(_) | Body::ToolUse(_) | Body::User(_) | Body::TurnEnd(_)
    )
}
