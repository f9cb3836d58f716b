//! Converts events to entries: joins deltas into messages and tool calls with
//! their results.
//!
//! A [`Session`] keeps only open entries and yields each [`Entry`] when it is
//! finished. A view that shows work in progress reads [`Session::open`].
//!
//! Only the root agent's message delays other entries; sub-agents run
//! concurrently and never delay each other. A turn that failed or was stopped
//! without a notice gets one, and its open calls count as canceled. A
//! permission request counts as answered when its call continues, even if no
//! answer was seen.
//!
//! ```
//! use unspool::session::{Item, Session};
//! use unspool::Event;
//!
//! let mut session = Session::new();
//! let mut entries = Vec::new();
//! for line in [
//!     r#"{"kind":"tool_use","id":"c1","name":"Bash","category":"execute","input":{"command":"make"}}"#,
//!     r#"{"kind":"text","id":"m1","text":"Still ","delta":true}"#,
//!     r#"{"kind":"tool_result","id":"c1","status":"ok","output":"done"}"#,
//! ] {
//!     session.apply(Event::from_json(line)?, &mut |entry| entries.push(entry));
//! }
//! session.finish(&mut |entry| entries.push(entry));
//! assert!(entries.iter().any(|entry| matches!(&entry.item, Item::Tool(tool) if tool.result.is_some())));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod entry;
mod task_names;
#[cfg(test)]
mod tests;
mod turn_notices;

pub use crate::folder::Folder;
pub use entry::{Entry, Item, Text, Tool};

use crate::event::{
    self, Agent, Body, Event, Level, Message, Payload, Permission, Plan, Prompt, ToolOutput,
    ToolResult, ToolStatus, ToolUse, TurnStatus,
};
use task_names::TaskNames;
use turn_notices::TurnNotices;

/// Bytes of a running call's output that are kept.
const KEPT_OUTPUT: usize = 1 << 20;

/// Approximate maximum of open entries; each event searches them.
const MOST_OPEN: usize = 1000;

/// Maximum of finished entries that wait for one message.
const MOST_WAITING: usize = 256;

/// Joins events into entries.
#[derive(Clone, Debug, Default)]
pub struct Session {
    open: Vec<Entry>,
    /// Entries that finished while a message of the root agent is open.
    waiting: Vec<Entry>,
    task_names: TaskNames,
    notices: TurnNotices,
    /// The notice that the turn was stopped. It follows the calls that were
    /// stopped.
    stop: Option<Entry>,
    /// The last plan and its agent, until the next user message. A repeated
    /// plan is dropped.
    plan: Option<(Option<String>, Plan)>,
    /// The id of the run.
    id: String,
    /// The folder of the run.
    folder: Option<Folder>,
    /// The number of the next entry.
    next: u64,
    /// The open entry that the last event changed.
    touched: Option<u64>,
}

impl Session {
    /// Creates an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the open entries, oldest first: growing messages, running calls
    /// and unanswered requests.
    pub fn open(&self) -> &[Entry] {
        &self.open
    }

    /// Returns the number of the open entry that the last event added or
    /// changed.
    pub fn touched(&self) -> Option<u64> {
        self.touched
    }

    /// Returns the open entry with this number.
    pub fn open_entry(&self, number: u64) -> Option<&Entry> {
        let at = self.open.binary_search_by_key(&number, |open| open.number);
        self.open.get(at.ok()?)
    }

    /// Returns the finished entries that wait for the root agent's message, in
    /// order.
    pub fn waiting(&self) -> &[Entry] {
        &self.waiting
    }

    /// Returns the root agent's open message, which is the next entry to be
    /// yielded. A view may show its first lines before it is complete.
    pub fn current(&self) -> Option<&Entry> {
        self.open.iter().find(|entry| delays_others(entry))
    }

    /// Processes an event and yields the entries that it finishes. Entries that
    /// finish while the root agent's message is open follow it, so that the
    /// message is not interrupted.
    pub fn apply(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        let mut current = self.current_key();
        let mut entries = Vec::new();
        self.process(event, &mut |entry| entries.push(entry));
        if self.open.len() > MOST_OPEN {
            self.evict_oldest(&mut entries);
        }
        for entry in entries {
            if current.is_some() && key(&entry) != current {
                self.waiting.push(entry);
                continue;
            }
            finished(entry);
            if current.take().is_some() {
                self.waiting.drain(..).for_each(&mut *finished);
            }
        }
        if self.waiting.len() > MOST_WAITING {
            self.release_waiting(finished);
        }
    }

    /// Yields the oldest open entries unfinished, if there are too many. A
    /// later result becomes an entry of its own.
    fn evict_oldest(&mut self, entries: &mut Vec<Entry>) {
        let oldest = |open: &mut Entry| !delays_others(open);
        entries.extend(self.open.extract_if(..MOST_OPEN / 2, oldest));
    }

    /// Yields a message that never ends, so that it does not delay other
    /// entries forever.
    fn release_waiting(&mut self, finished: &mut dyn FnMut(Entry)) {
        if let Some(position) = self.open.iter().position(delays_others) {
            finished(self.open.remove(position));
        }
        self.waiting.drain(..).for_each(finished);
    }

    /// Ends the stream: yields all open entries unfinished.
    pub fn finish(&mut self, finished: &mut dyn FnMut(Entry)) {
        self.close(finished);
        self.stop.take().into_iter().for_each(finished);
    }

    /// Ends the open message of a sub-agent that did something else, such as
    /// reporting its usage.
    pub(crate) fn end_sub_agent_message(
        &mut self,
        agent: Option<&Agent>,
        finished: &mut dyn FnMut(Entry),
    ) {
        if agent.is_none() {
            return;
        }
        let mut ended = Vec::new();
        let ends = |open: &mut Entry| is_message(&open.item) && is_of(open, agent);
        ended.extend(self.open.extract_if(.., ends));
        if self.current().is_some() {
            self.waiting.append(&mut ended);
        }
        ended.into_iter().for_each(finished);
    }

    fn current_key(&self) -> Option<Key> {
        self.current().and_then(key)
    }

    /// Yields all open entries: messages, then requests, then calls and questions.
    fn close(&mut self, finished: &mut dyn FnMut(Entry)) {
        let messages = |entry: &mut Entry| is_message(&entry.item);
        self.open.extract_if(.., messages).for_each(&mut *finished);
        self.waiting.drain(..).for_each(&mut *finished);
        let requests = |entry: &mut Entry| matches!(entry.item, Item::Permission(_));
        self.open.extract_if(.., requests).for_each(&mut *finished);
        self.open.drain(..).for_each(finished);
    }

    fn process(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        let Event {
            time, agent, body, ..
        } = event;
        let agent = agent.map(|agent| self.task_names.named_after_task(agent));
        if !may_precede_stop(&body) {
            self.stop.take().into_iter().for_each(&mut *finished);
        }
        if !may_precede_answer(&body) {
            let prompts = |entry: &mut Entry| matches!(entry.item, Item::Prompt(_));
            let passed = self.open.extract_if(.., prompts);
            passed
                .filter(|entry| !is_allowed(&entry.item))
                .for_each(&mut *finished);
        }
        if ends_messages(agent.as_deref(), &body) {
            self.end_messages(agent.as_deref(), &body, finished);
        }
        if let Body::ToolResult(result) = &body {
            self.end_messages_below(&result.id, finished);
        }
        if let Body::ToolResult(ToolResult { id, .. }) | Body::ToolOutput(ToolOutput { id, .. }) =
            &body
        {
            self.end_requests(id, finished);
        }
        if let (Body::Session(session), None) = (&body, &agent) {
            self.enter(session);
        }
        self.touched = None;
        let number = self.next;
        // The end of a turn may add a notice, and a text may come with media.
        self.next += 2;
        let folder = self.folder.clone();
        let entry = |item| Entry {
            number,
            time: time.clone(),
            agent: agent.clone(),
            folder: folder.clone(),
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
                // Calls may outlive a successful turn.
                if end.status != TurnStatus::Completed {
                    if end.status == TurnStatus::Canceled {
                        self.cancel_calls(agent.as_deref());
                    }
                    self.close(finished);
                }
                self.stop.take().into_iter().for_each(&mut *finished);
                if agent.is_none() {
                    let missing_notice = std::mem::take(&mut self.notices).missing_notice(&end);
                    if let Some(notice) = missing_notice {
                        finished(entry(Item::Notice(notice)));
                    }
                }
                finished(Entry {
                    number: number + 1,
                    ..entry(Item::TurnEnd(end))
                });
            }
            Body::Session(session) => finished(entry(Item::Session(session))),
            Body::User(user) => {
                self.plan = None;
                finished(entry(Item::User(user)));
            }
            Body::Plan(plan) => {
                let whose = agent.as_ref().map(|agent| agent.id.clone());
                let plan = Some((whose, plan));
                if self.plan != plan {
                    self.plan.clone_from(&plan);
                    let plan = plan.map(|(_, plan)| entry(Item::Plan(plan)));
                    plan.into_iter().for_each(finished);
                }
            }
            Body::Edit(edits) => finished(entry(Item::Edit(edits))),
            Body::Prompt(prompt) => self.prompt(prompt, entry, finished),
            Body::Context(context) => finished(entry(Item::Context(context))),
            Body::Notice(notice) => {
                if agent.is_none() {
                    self.notices.record(&notice);
                }
                let stops = notice.level == Level::Canceled && agent.is_none();
                let entry = entry(Item::Notice(notice));
                if stops && !self.open.is_empty() {
                    self.stop = Some(entry);
                } else {
                    finished(entry);
                }
            }
            Body::Usage(usage) => finished(entry(Item::Usage(usage))),
            Body::State(state) => finished(entry(Item::State(state))),
            Body::Unknown(unknown) => finished(entry(Item::Unknown(unknown.text))),
        }
    }

    /// Records the folder of a run, also for entries that are open. A run without a
    /// folder does not take that of the run before.
    fn enter(&mut self, session: &event::Session) {
        let is_other = !session.id.is_empty() && session.id != self.id;
        if is_other {
            self.id.clone_from(&session.id);
        }
        if is_other || !session.cwd.is_empty() {
            self.folder = Folder::new(&session.cwd);
        }
        for open in self.open.iter_mut().filter(|open| open.folder.is_none()) {
            open.folder.clone_from(&self.folder);
        }
    }

    /// Holds a question until its answer arrives, which repeats the question,
    /// or until another event arrives.
    fn prompt(
        &mut self,
        prompt: Prompt,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        if prompt.answer.is_empty() {
            self.add(entry(Item::Prompt(prompt)));
            return;
        }
        let position = self.open.iter().position(
            |open| matches!(&open.item, Item::Prompt(open) if open.question == prompt.question),
        );
        let number = position.map(|at| self.open.remove(at).number);
        finished(numbered(entry(Item::Prompt(prompt)), number));
    }

    /// Holds a request until its answer arrives, which does not repeat the
    /// request.
    fn permission(
        &mut self,
        mut permission: Permission,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        let position = self.open.iter().position(
            |open| matches!(&open.item, Item::Permission(request) if request.id == permission.id),
        );
        let mut number = None;
        if let Some(position) = position
            && let Entry {
                number: first,
                item: Item::Permission(request),
                ..
            } = self.open.remove(position)
        {
            number = Some(first);
            if permission.title.is_empty() {
                permission.title = request.title;
            }
            if permission.options.is_empty() {
                permission.options = request.options;
            }
        }
        if permission.title.is_empty() {
            let call = self.tool(&permission.tool_id);
            permission.title = call.map(|tool| tool.call.arg.clone()).unwrap_or_default();
        }
        let is_answered = !permission.outcome.is_empty();
        let entry = numbered(entry(Item::Permission(permission)), number);
        if is_answered {
            finished(entry);
        } else {
            self.touched = Some(entry.number);
            let place = position.unwrap_or(self.open.len());
            self.open.insert(place, entry);
        }
    }

    /// Adds a text and, below it, the media that came with it. Text that follows
    /// them is another entry, so that the order is kept.
    fn message(
        &mut self,
        mut message: Message,
        reasoning: bool,
        entry: impl Fn(Item) -> Entry,
        finished: &mut dyn FnMut(Entry),
    ) {
        let media = std::mem::take(&mut message.media);
        if media.is_empty() {
            self.text(message, reasoning, entry, finished);
            return;
        }
        if !message.text.is_empty() {
            self.text(message, reasoning, &entry, finished);
        }
        let entry = entry(Item::Media(media));
        let agent = entry.agent.clone();
        let ends = |open: &mut Entry| is_message(&open.item) && is_of(open, agent.as_deref());
        self.open.extract_if(.., ends).for_each(&mut *finished);
        self.touched = None;
        finished(Entry {
            number: entry.number + 1,
            ..entry
        });
    }

    fn text(
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
            // The final form replaces the deltas.
            let open = position.map(|position| self.open.remove(position));
            let number = open.map(|open| open.number);
            finished(numbered(entry(item(message.into())), number));
            return;
        }
        if let Some(Entry {
            number,
            item: Item::Text(text) | Item::Reasoning(text),
            ..
        }) = position.and_then(|position| self.open.get_mut(position))
        {
            self.touched = Some(*number);
            text.text.push_str(&message.text.as_str());
        } else {
            self.add(entry(item(message.into())));
        }
    }

    /// Ends the messages of an agent that did something else.
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
                && is_of(open, agent)
                && !goes_on(&open.item)
        };
        self.open.extract_if(.., ends).for_each(finished);
    }

    /// Ends the messages of the sub-agent whose call has finished.
    fn end_messages_below(&mut self, call: &str, finished: &mut dyn FnMut(Entry)) {
        let ends = |open: &mut Entry| {
            let agent = open.agent.as_deref();
            is_message(&open.item) && agent.is_some_and(|agent| agent.parent == call)
        };
        self.open.extract_if(.., ends).for_each(finished);
    }

    /// Ends the requests about a call that continues.
    fn end_requests(&mut self, call: &str, finished: &mut dyn FnMut(Entry)) {
        let ends = |open: &mut Entry| matches!(&open.item, Item::Permission(request) if !call.is_empty() && request.tool_id == call);
        self.open.extract_if(.., ends).for_each(finished);
    }

    /// Marks the open calls of this agent as canceled, or all calls for the
    /// root agent.
    fn cancel_calls(&mut self, agent: Option<&Agent>) {
        for open in &mut self.open {
            if agent.is_some() && !is_of(open, agent) {
                continue;
            }
            if let Item::Tool(tool) = &mut open.item {
                tool.result = Some(ToolResult {
                    id: tool.call.id.clone(),
                    name: tool.call.name.clone(),
                    status: ToolStatus::Canceled,
                    ..ToolResult::default()
                });
            }
        }
    }

    fn call(&mut self, call: ToolUse, entry: impl Fn(Item) -> Entry) {
        self.task_names.record(&call);
        match self.tool(&call.id) {
            Some(tool) => tool.call = call,
            None => self.add(entry(Item::Tool(Tool {
                call,
                ..Tool::default()
            }))),
        }
    }

    fn add(&mut self, entry: Entry) {
        self.touched = Some(entry.number);
        self.open.push(entry);
    }

    /// Returns the open call with this id and marks it as changed.
    fn tool(&mut self, id: &str) -> Option<&mut Tool> {
        let touched = &mut self.touched;
        self.open
            .iter_mut()
            .find_map(|entry| match &mut entry.item {
                Item::Tool(tool) if tool.call.id == id => {
                    *touched = Some(entry.number);
                    Some(tool)
                }
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

/// Restores the number that an entry had before.
fn numbered(entry: Entry, number: Option<u64>) -> Entry {
    Entry {
        number: number.unwrap_or(entry.number),
        ..entry
    }
}

/// Identifies a message: true for reasoning, and its id.
type Key = (bool, String);

/// Returns `None` if the entry is not a message.
fn key(entry: &Entry) -> Option<Key> {
    match &entry.item {
        Item::Text(text) => Some((false, text.id.clone())),
        Item::Reasoning(text) => Some((true, text.id.clone())),
        _ => None,
    }
}

fn is_message(item: &Item) -> bool {
    matches!(item, Item::Text(_) | Item::Reasoning(_))
}

/// Returns true if the entry belongs to this agent, even if the agent was
/// renamed.
fn is_of(entry: &Entry, agent: Option<&Agent>) -> bool {
    match (entry.agent.as_deref(), agent) {
        (Some(owner), Some(agent)) => owner.id == agent.id && owner.parent == agent.parent,
        (owner, agent) => owner.is_none() && agent.is_none(),
    }
}

/// Returns true if other entries wait for this one.
fn delays_others(entry: &Entry) -> bool {
    is_message(&entry.item) && entry.agent.is_none()
}

/// Returns true if the event may come before the notice that the turn was
/// stopped.
fn may_precede_stop(body: &Body) -> bool {
    matches!(
        body,
        Body::ToolResult(_)
            | Body::ToolOutput(_)
            | Body::Usage(_)
            | Body::State(_)
            | Body::TurnEnd(_)
    )
}

/// Returns true if the event may come between a question and its answer.
fn may_precede_answer(body: &Body) -> bool {
    match body {
        Body::Prompt(_) | Body::Usage(_) | Body::State(_) | Body::ToolOutput(_) => true,
        // Nobody answered.
        Body::TurnEnd(end) => end.status == TurnStatus::Interrupted,
        _ => false,
    }
}

/// Returns true for the question before every tool call, whose answer is not
/// printed on a pipe. The work that follows shows that it was allowed.
fn is_allowed(item: &Item) -> bool {
    matches!(item, Item::Prompt(prompt) if prompt.is_routine())
}

/// Returns true if the event ends the agent's open message. Results, plans,
/// notices and the like do not end the root agent's message. The wire does not
/// mark the end of a sub-agent's message, so anything else it does ends it.
fn ends_messages(agent: Option<&Agent>, body: &Body) -> bool {
    match body {
        Body::Text(_)
        | Body::Reasoning(_)
        | Body::ToolUse(_)
        | Body::Edit(_)
        | Body::User(_)
        | Body::TurnEnd(_) => true,
        Body::ToolOutput(_) | Body::ToolResult(_) => false,
        _ => agent.is_some(),
    }
}
