//! What is the same for every provider, done once: numbering, the ids of
//! messages and calls, deltas against their final form, one call and one
//! result each, plan tools as plans, clean labels, the open turn.
//!
//! Memory is bounded by what is open plus a fixed number of finished calls and
//! messages that are remembered to tell repetitions.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::ToolNames;
use super::tools::category_for;
use crate::event::{
    Agent, Body, Category, Edit, Edits, Event, Level, Message, Notice, Payload, Permission, Plan,
    Prompt, RawJson, Session, State, ToolOutput, ToolResult, ToolStatus, ToolUse, TurnEnd,
    TurnStatus, Unknown, Usage, User, is_time,
};
use crate::frame::Frame;
use crate::json::Json;
use crate::recent::RecentQueue;
use crate::tool;

use messages::{Messages, Stream};
use withheld::Withheld;

mod messages;
mod proposed;
#[cfg(test)]
mod tests;
mod withheld;

/// Finished calls and messages that are remembered.
const REMEMBERED: usize = 16_384;

/// Takes what a source found and makes events of it.
#[derive(Clone, Default)]
pub struct Emitter {
    events: VecDeque<Event>,
    seq: u64,
    time: Option<String>,
    agent: Option<Arc<Agent>>,
    /// Of several that go on at once, the one that events belong to now.
    conversation: String,
    keep_raw: bool,
    raw: Option<String>,
    /// The last frame that was not empty.
    raw_before: Option<String>,
    turn_open: bool,
    /// Whose run is finished, where there are several.
    finishing: &'static str,
    messages: Messages,
    calls: HashMap<String, Known>,
    /// Finished calls, which `calls` forgets with the oldest here.
    finished: RecentQueue<String, REMEMBERED>,
    unnamed_calls: u64,
    /// The agent's own tools.
    tools: ToolNames,
    /// Calls that nothing else has told of yet.
    withheld: Vec<Withheld>,
    /// Changes of which it is not known whether they were made, by number.
    undecided: VecDeque<u64>,
}

/// A tool call, as a source announces it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The provider's id for it; empty where there is none.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// `None`: found by the name.
    pub category: Option<Category>,
    /// `None`: found in the input.
    pub arg: Option<Cow<'a, str>>,
    /// The input, verbatim.
    pub input: Option<RawJson>,
    /// The provider's own headline.
    pub title: &'a str,
}

/// How a tool call ended.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: ToolStatus,
    /// What it said.
    pub output: Payload,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// The changes that it made.
    pub edits: Vec<Edit>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// The tool's name, for a result whose call was never seen.
    pub name: String,
}

constructors! {
    /// A call of this tool.
    Call<'a>(id: &'a str, name: &'a str) {
        with_category => category: Option<Category>,
        with_arg => arg: Option<Cow<'a, str>>,
        with_input => input: Option<RawJson>,
        with_title => title: &'a str,
    }
    /// An end without output.
    Outcome(status: ToolStatus) {
        with_output => output: Payload,
        with_exit_code => exit_code: Option<i64>,
        with_edits => edits: Vec<Edit>,
        with_duration_ms => duration_ms: Option<u64>,
        with_name => name: String,
    }
}

/// What is known of a call.
#[derive(Clone)]
struct Known {
    /// The id in the events: the provider's, made unique where it is reused.
    id: String,
    name: String,
    category: Category,
    /// Of the last `tool_use`, to tell whether another one says more.
    digest: u64,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// A plan tool: shown as a plan, its result is not shown.
    Plan,
    Finished,
}

impl Emitter {
    pub(crate) fn new(keep_raw: bool) -> Self {
        Self {
            keep_raw,
            ..Self::default()
        }
    }

    /// Sets the agent's own tools, whose categories win over those of others.
    pub(crate) fn set_tools(&mut self, tools: ToolNames) {
        self.tools = tools;
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let next = self.events.front()?;
        if self.undecided.front() == Some(&next.seq) {
            return None;
        }
        self.events.pop_front()
    }

    /// The next frame begins: time and agent are no longer known.
    pub(crate) fn begin(&mut self, frame: &Frame<'_>) {
        self.time = None;
        self.agent = None;
        self.conversation.clear();
        if self.raw.as_ref().is_some_and(|raw| !raw.is_empty()) {
            self.raw_before = self.raw.take();
        }
        self.raw = self.keep_raw.then(|| frame.text.to_owned());
    }

    /// What comes now was made of the lines before this empty one.
    pub(crate) fn of_line_before(&mut self) {
        self.raw.clone_from(&self.raw_before);
    }

    /// Reads the record of a sub-agent in the middle of the current frame. Each
    /// line is the raw frame of its events; afterwards agent, time and raw frame
    /// are those from before.
    pub(crate) fn replay(&mut self, record: &str, mut read: impl FnMut(&Frame<'_>, &mut Self)) {
        let (agent, time, raw) = (self.agent.clone(), self.time.clone(), self.raw.take());
        for line in record.lines().filter(|line| !line.trim().is_empty()) {
            self.raw = self.keep_raw.then(|| line.to_owned());
            read(&Frame::new(line), self);
        }
        (self.agent, self.time, self.raw) = (agent, time, raw);
    }

    pub(crate) fn end_of_input(&mut self) {
        self.time = None;
        self.agent = None;
        self.raw = None;
    }

    /// Sets the time (RFC 3339) of the events that follow in this frame. What is
    /// no time is none.
    pub fn time(&mut self, time: Option<Cow<'_, str>>) {
        self.time = time.filter(|time| is_time(time)).map(Cow::into_owned);
    }

    /// The same from milliseconds since 1970.
    pub fn time_ms(&mut self, milliseconds: Option<i64>) {
        self.time = milliseconds
            .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
            .map(|timestamp| format!("{timestamp:.3}"));
    }

    /// Sets the agent of the events that follow in this frame; `None` is the
    /// root agent.
    pub fn agent(&mut self, agent: Option<Arc<Agent>>) {
        self.agent = agent;
    }

    /// Sets which of several conversations the events that follow in this frame
    /// belong to: the open message without an id is another in each.
    pub fn conversation(&mut self, name: &str) {
        name.clone_into(&mut self.conversation);
    }

    /// The agent that events are attributed to now.
    pub fn current_agent(&self) -> Option<Arc<Agent>> {
        self.agent.clone()
    }

    /// The time that events are given now.
    pub fn current_time(&self) -> Option<String> {
        self.time.clone()
    }

    /// Emits the session's data, or what changed of it.
    pub fn session(&mut self, session: Session) {
        self.push(Body::Session(Session {
            version: tool::label(&session.version),
            id: tool::label(&session.id),
            model: tool::label(&session.model),
            cwd: tool::label(&session.cwd),
            title: tool::label(&session.title),
            forked_from: tool::label(&session.forked_from),
            ..session
        }));
    }

    /// What a person said. Opens a turn.
    pub fn user(&mut self, text: impl Into<Payload>, queued: bool) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        self.end_message();
        self.turn_open = true;
        self.push(Body::User(User { text, queued }));
    }

    /// A whole block of answer text. Where deltas with the same id came
    /// before, it is emitted only if it differs from them. Without an id it is
    /// the final form of the open message, or a message of its own.
    pub fn text(&mut self, id: Option<&str>, text: impl Into<Payload>) {
        self.message(Stream::Text, id, text.into(), false);
    }

    /// More answer text. Without an id it belongs to the open message, which
    /// ends at a call, reasoning, a user message or the end of the turn.
    pub fn text_delta(&mut self, id: Option<&str>, text: &str) {
        self.message(Stream::Text, id, text.into(), true);
    }

    /// More text of a program that writes no markdown: its lines stay as they
    /// are.
    pub fn preformatted_delta(&mut self, text: &str) {
        let message = Message {
            text: text.into(),
            delta: true,
            preformatted: true,
            ..Message::default()
        };
        self.push_message(Stream::Text, None, message);
    }

    /// A whole block of reasoning; see [`Emitter::text`].
    pub fn reasoning(&mut self, id: Option<&str>, text: impl Into<Payload>) {
        let text = text.into();
        // A title without words is no thought.
        let is_empty = text.as_str().chars().all(|c| c == '*' || c.is_whitespace());
        if !is_empty {
            self.message(Stream::Reasoning, id, text, false);
        }
    }

    /// More reasoning; see [`Emitter::text_delta`].
    pub fn reasoning_delta(&mut self, id: Option<&str>, text: &str) {
        self.message(Stream::Reasoning, id, text.into(), true);
    }

    /// Ends the open message that has no id, so that what follows is another.
    pub fn end_message(&mut self) {
        let speaker = speaker(&self.conversation, self.agent.as_deref());
        self.messages.end_unnamed(&speaker);
    }

    /// Whether this very text was shown as a whole block a short while ago.
    pub fn was_shown(&self, text: &str) -> bool {
        self.messages.was_shown(text)
    }

    fn message(&mut self, stream: Stream, id: Option<&str>, text: Payload, delta: bool) {
        let message = Message {
            text,
            delta,
            ..Message::default()
        };
        self.push_message(stream, id, message);
    }

    fn push_message(&mut self, stream: Stream, id: Option<&str>, message: Message) {
        let Message { text, delta, .. } = &message;
        if text.is_empty() {
            return;
        }
        self.turn_open = true;
        let speaker = speaker(&self.conversation, self.agent.as_deref());
        let id = id.filter(|id| !id.is_empty());
        let Some(id) = self.messages.accept(stream, &speaker, id, text, *delta) else {
            return;
        };
        let message = Message { id, ..message };
        self.push(match stream {
            Stream::Text => Body::Text(message),
            Stream::Reasoning => Body::Reasoning(message),
        });
    }

    /// A tool call begins, or more is known of it. A repetition that says
    /// nothing new is not emitted; an id that belonged to a finished call is
    /// made unique. A call of a plan tool becomes the plan.
    pub fn tool_use(&mut self, call: Call<'_>) {
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        let plan = tool::plan(call.name, json);
        let phase = if plan.is_some() {
            Phase::Plan
        } else {
            Phase::Open
        };
        let Some(call) = self.admit(call, phase) else {
            return;
        };
        match plan {
            // A plan stands beside the message, which goes on.
            Some(plan) => self.plan(plan),
            None => self.show_call(call),
        }
    }

    /// Remembers a call and gives back its event; `None` if it is known already.
    fn admit(&mut self, call: Call<'_>, phase: Phase) -> Option<ToolUse> {
        let category = call
            .category
            .unwrap_or_else(|| category_for(self.tools, call.name));
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        let digest = digest(&(call.name, call.title, json.raw(), category as u8));
        let known = self.calls.get(call.id).filter(|_| !call.id.is_empty());
        if known.is_some_and(|k| k.phase != Phase::Finished && k.digest == digest) {
            return None;
        }
        self.turn_open = true;
        let id = match known {
            Some(known) if known.phase == Phase::Finished => next_id(&known.id, call.id),
            Some(known) => known.id.clone(),
            None if call.id.is_empty() => self.unnamed(),
            None => call.id.to_owned(),
        };
        let name = tool::label(call.name);
        self.remember(
            call.id,
            Known {
                id: id.clone(),
                name: name.clone(),
                category,
                digest,
                phase,
            },
        );
        let arg = match call.arg {
            Some(arg) => tool::preview(&arg),
            None => tool::arg(category, json),
        };
        Some(ToolUse {
            id,
            name,
            category,
            arg,
            input: call.input,
            title: tool::label(call.title),
        })
    }

    fn show_call(&mut self, call: ToolUse) {
        self.end_message();
        self.push(Body::ToolUse(call));
    }

    /// Registers a call that is shown in another way (a plan, for example):
    /// neither it nor its result is emitted, unless it failed.
    pub fn hide_call(&mut self, id: &str, name: &str) {
        self.remember(
            id,
            Known {
                id: id.to_owned(),
                name: tool::label(name),
                category: category_for(self.tools, name),
                digest: 0,
                phase: Phase::Plan,
            },
        );
    }

    /// Output of a call that still runs.
    pub fn tool_output(&mut self, id: &str, text: impl Into<Payload>) {
        let text = text.into();
        let known = self.calls.get(id);
        if text.is_empty() || known.is_some_and(|known| known.phase != Phase::Open) {
            return;
        }
        let id = known.map_or(id, |known| &known.id).to_owned();
        self.turn_open = true;
        self.push(Body::ToolOutput(ToolOutput { id, text }));
    }

    /// A call ended. Only the first result of a call counts; one without a
    /// call is emitted all the same.
    pub fn tool_result(&mut self, id: &str, outcome: Outcome) {
        self.turn_open = true;
        let known = self.calls.get_mut(id).filter(|_| !id.is_empty());
        let (id, name) = match known {
            Some(known) if known.phase == Phase::Finished => return,
            Some(known) => {
                let was_plan = known.phase == Phase::Plan;
                known.phase = Phase::Finished;
                let (event_id, name) = (known.id.clone(), known.name.clone());
                self.retire(id);
                let withheld = self.take_withheld(id);
                if was_plan && outcome.status != ToolStatus::Ok {
                    self.notice(Level::Warning, outcome.output);
                    return;
                }
                match withheld {
                    Some(withheld) => self.show_call(withheld.event),
                    None if was_plan => return,
                    None => {}
                }
                (event_id, name)
            }
            None => {
                let name = tool::label(&outcome.name);
                let event_id = if id.is_empty() {
                    self.unnamed()
                } else {
                    id.to_owned()
                };
                self.remember(
                    id,
                    Known {
                        id: event_id.clone(),
                        name: name.clone(),
                        category: Category::Other,
                        digest: 0,
                        phase: Phase::Finished,
                    },
                );
                self.retire(id);
                (event_id, name)
            }
        };
        self.push(Body::ToolResult(ToolResult {
            id,
            name,
            status: outcome.status,
            output: outcome.output,
            exit_code: outcome.exit_code,
            edits: outcome.edits.into_iter().map(clean_paths).collect(),
            duration_ms: outcome.duration_ms,
        }));
    }

    /// Whether a call with this id was announced and has no result yet.
    pub fn is_open(&self, id: &str) -> bool {
        self.calls
            .get(id)
            .is_some_and(|known| known.phase != Phase::Finished)
    }

    /// Whether a call or result with this id was seen.
    pub fn is_known(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// The id under which the call with the provider's id is emitted: another
    /// one where the provider uses an id again.
    pub fn emitted_id(&self, id: &str) -> Option<&str> {
        self.calls.get(id).map(|known| known.id.as_str())
    }

    /// The category of the call with this id.
    pub fn category_of(&self, id: &str) -> Option<Category> {
        self.calls.get(id).map(|known| known.category)
    }

    /// The whole plan.
    pub fn plan(&mut self, plan: Plan) {
        self.turn_open = true;
        self.push(Body::Plan(plan));
    }

    /// Changes of files outside any call.
    pub fn edits(&mut self, edits: Vec<Edit>) {
        if edits.is_empty() {
            return;
        }
        self.turn_open = true;
        let edits: Vec<Edit> = edits.into_iter().map(clean_paths).collect();
        self.push(Body::Edit(Edits::new(edits)));
    }

    /// A request for permission, or its answer.
    pub fn permission(&mut self, permission: Permission) {
        let tool_id = self
            .calls
            .get(&permission.tool_id)
            .map(|known| known.id.clone());
        self.push(Body::Permission(Permission {
            title: tool::label(&permission.title),
            tool_id: tool_id.unwrap_or(permission.tool_id),
            ..permission
        }));
    }

    /// A question to the person.
    pub fn prompt(&mut self, prompt: Prompt) {
        self.push(Body::Prompt(prompt));
    }

    /// Context that the agent was given.
    pub fn context(&mut self, name: &str, title: &str, text: impl Into<Payload>) {
        self.push(Body::Context(crate::event::Context {
            name: tool::label(name),
            title: tool::label(title),
            text: text.into(),
        }));
    }

    /// What was said so far was replaced by this summary, where it is known: the
    /// same event for every agent.
    pub fn compacted(&mut self, summary: impl Into<Payload>) {
        self.context("compacted", "", summary);
    }

    /// A message of the agent itself.
    pub fn notice(&mut self, level: Level, text: impl Into<Payload>) {
        let text = text.into();
        if !text.is_empty() {
            self.push(Body::Notice(Notice::new(level, text)));
        }
    }

    /// So many bytes of the input were not read.
    pub(crate) fn left_out(&mut self, bytes: u64, text: String) {
        self.push(Body::Notice(Notice {
            left_out: Some(bytes),
            ..Notice::new(Level::Warning, text)
        }));
    }

    /// Tokens and cost; nothing is emitted when all fields are empty.
    pub fn usage(&mut self, usage: Usage) {
        let empty = Usage {
            cumulative: usage.cumulative,
            ..Usage::default()
        };
        if usage != empty {
            self.push(Body::Usage(usage));
        }
    }

    /// A turn begins without any event of its own.
    pub fn open_turn(&mut self) {
        self.turn_open = true;
    }

    /// Whether something happened since the last end of a turn.
    pub fn is_turn_open(&self) -> bool {
        self.turn_open
    }

    /// Another agent's frames follow, whose turn is open or not.
    pub(crate) fn set_turn_open(&mut self, is_open: bool) {
        self.turn_open = is_open;
    }

    /// The run of this agent is the next that is finished; empty where no other
    /// one could be meant.
    pub(crate) fn finishing(&mut self, name: &'static str) {
        self.finishing = name;
    }

    /// A turn ended.
    pub fn turn_end(&mut self, mut end: TurnEnd) {
        if end.status == TurnStatus::Interrupted && end.reason.is_empty() {
            end.reason.push_str(self.finishing);
        }
        self.release_withheld();
        self.end_message();
        self.turn_open = false;
        self.push(Body::TurnEnd(TurnEnd {
            reason: tool::label(&end.reason),
            ..end
        }));
    }

    /// The input ended: an open turn was cut off.
    pub fn interrupted(&mut self) {
        if self.turn_open {
            self.turn_end(TurnEnd {
                status: TurnStatus::Interrupted,
                ..TurnEnd::default()
            });
        }
    }

    /// A mode, a list of commands or the like, for interactive views.
    pub fn state(&mut self, name: &str, value: Json<'_>) {
        self.push(Body::State(State {
            name: tool::label(name),
            value: value.into(),
        }));
    }

    /// A frame that no rule knows; it is kept whole.
    pub fn unknown(&mut self, frame: &Frame<'_>) {
        self.push(Body::Unknown(Unknown {
            text: frame.text.into(),
        }));
        if let Some(event) = self.events.back_mut() {
            event.raw = Some(frame.text.to_owned());
        }
    }

    /// Whether the last event that waits says that nobody knows this frame.
    pub(crate) fn is_unknown(&self, frame: &Frame<'_>) -> bool {
        self.events.back().is_some_and(|event| {
            matches!(event.body, Body::Unknown(_)) && event.raw.as_deref() == Some(frame.text)
        })
    }

    /// Takes that event back: somebody does know the frame.
    pub(crate) fn take_back(&mut self) {
        if let Some(event) = self.events.pop_back() {
            self.seq = event.seq;
        }
    }

    /// Whether anything was told yet.
    pub(crate) fn has_told(&self) -> bool {
        self.seq > 0
    }

    /// An event that is finished already: it keeps everything, its number too.
    pub(crate) fn event(&mut self, event: Event) {
        self.seq = event.seq.saturating_add(1);
        let raw = event.raw.or_else(|| self.raw.clone());
        self.events.push_back(Event { raw, ..event });
    }

    /// The same behind other events, which it is counted with.
    pub(crate) fn next_event(&mut self, event: Event) {
        let seq = self.seq;
        self.event(Event { seq, ..event });
    }

    fn push(&mut self, body: Body) {
        self.events.push_back(Event {
            seq: self.seq,
            time: self.time.clone(),
            agent: self.agent.clone(),
            body,
            raw: self.raw.clone(),
        });
        self.seq += 1;
        self.release_late_edits();
    }

    fn unnamed(&mut self) -> String {
        self.unnamed_calls += 1;
        format!("call-{}", self.unnamed_calls)
    }

    fn remember(&mut self, id: &str, known: Known) {
        if !id.is_empty() {
            self.calls.insert(id.to_owned(), known);
        }
    }

    /// Counts a finished call, and forgets the oldest ones.
    fn retire(&mut self, id: &str) {
        if id.is_empty() {
            return;
        }
        if let Some(oldest) = self.finished.push(id.to_owned())
            && let Entry::Occupied(known) = self.calls.entry(oldest)
            && known.get().phase == Phase::Finished
        {
            known.remove();
        }
    }
}

/// Whose open message without an id is meant.
fn speaker<'a>(conversation: &str, agent: Option<&'a Agent>) -> Cow<'a, str> {
    let agent = agent.map_or("", |agent| &agent.id);
    if conversation.is_empty() {
        Cow::Borrowed(agent)
    } else {
        Cow::Owned(format!("{agent}\n{conversation}"))
    }
}

/// `call`, `call#2`, `call#3` …
fn next_id(last: &str, base: &str) -> String {
    let number = last
        .strip_prefix(base)
        .and_then(|rest| rest.strip_prefix('#'))
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or(1);
    format!("{base}#{}", number + 1)
}

fn clean_paths(edit: Edit) -> Edit {
    Edit {
        path: tool::label(&edit.path),
        new_path: tool::label(&edit.new_path),
        ..edit
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
