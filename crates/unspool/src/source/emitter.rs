//! The queue of events, and everything that works alike for every provider:
//! sequence numbers, ids of messages and calls, deltas compared with the final
//! form, one call and one result each, plan tools as plans, clean labels, the
//! open turn.
//!
//! Memory is bounded by open calls and messages, plus a fixed number of finished
//! ones that are kept to recognise repetitions.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{ToolNames, media};
use crate::event::{
    Agent, Body, Edit, Edits, Event, Level, Media, Message, Notice, Payload, Permission, Plan,
    Prompt, Session, State, TurnEnd, TurnStatus, Unknown, Usage, User, is_time,
};
use crate::frame::Frame;
use crate::json::Json;
use crate::recent::RecentQueue;
use crate::tool;

use calls::Known;
use messages::{Messages, Stream};
use plans::ProposedPlan;
use withheld::Withheld;

pub use calls::{Call, Outcome};

mod calls;
mod messages;
mod plans;
mod proposed;
#[cfg(test)]
mod tests;
mod withheld;

/// Finished calls and messages that are remembered.
const REMEMBERED: usize = 16_384;

/// Turns what a source reads into events.
#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about the stream"
)]
pub struct Emitter {
    events: VecDeque<Event>,
    seq: u64,
    time: Option<String>,
    agent: Option<Arc<Agent>>,
    /// Events repeat the history of a loaded session.
    replayed: bool,
    /// The conversation that events belong to, where several are interleaved.
    conversation: String,
    keep_raw: bool,
    keep_media: bool,
    raw: Option<String>,
    /// The last frame that was not empty.
    raw_before: Option<String>,
    turn_open: bool,
    /// The provider whose run ends, where several are interleaved.
    finishing: &'static str,
    messages: Messages,
    calls: HashMap<String, Known>,
    /// Finished calls, which `calls` forgets with the oldest here.
    finished: RecentQueue<String, REMEMBERED>,
    unnamed_calls: u64,
    /// The agent's own tools.
    tools: ToolNames,
    /// Calls that are held back until their result is known.
    withheld: Vec<Withheld>,
    /// Plans whose calls have no result yet.
    proposed: Vec<ProposedPlan>,
    /// Sequence numbers of proposed edits whose outcome is open.
    undecided: VecDeque<u64>,
}

impl Emitter {
    pub(crate) fn new(keep_raw: bool) -> Self {
        Self {
            keep_raw,
            ..Self::default()
        }
    }

    /// Keeps the content of pictures, sounds and files.
    pub(crate) fn with_media(self, keep_media: bool) -> Self {
        Self { keep_media, ..self }
    }

    /// Sets the agent's own tools, whose categories win over those of others.
    pub(crate) fn set_tools(&mut self, tools: ToolNames) {
        self.tools = tools;
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let next = self.events.front()?;
        if self.undecided.front() == Some(&next.seq) || self.first_queued_plan() == Some(next.seq) {
            return None;
        }
        self.events.pop_front()
    }

    /// Starts the next frame: time and agent are unknown again.
    pub(crate) fn begin(&mut self, frame: &Frame<'_>) {
        self.time = None;
        self.agent = None;
        self.replayed = false;
        self.conversation.clear();
        if self.raw.as_ref().is_some_and(|raw| !raw.is_empty()) {
            self.raw_before = self.raw.take();
        }
        self.raw = self.keep_raw.then(|| frame.text.to_owned());
    }

    /// Attributes the events that follow to the frame before this empty one.
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
        self.replayed = false;
        self.raw = None;
    }

    /// Sets the time (RFC 3339) of the events that follow in this frame. Invalid
    /// timestamps are dropped.
    pub fn time(&mut self, time: Option<Cow<'_, str>>) {
        self.time = time.filter(|time| is_time(time)).map(Cow::into_owned);
    }

    /// Sets the time in milliseconds since 1970; see [`Emitter::time`].
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

    /// Marks the events that follow in this frame as history of a loaded session,
    /// which was counted when it ran. Sessions and states are never history.
    pub fn replayed(&mut self, is_replayed: bool) {
        self.replayed = is_replayed;
    }

    /// Sets the conversation of the events that follow in this frame. Each
    /// conversation has an open message without an id of its own.
    pub fn conversation(&mut self, name: &str) {
        name.clone_into(&mut self.conversation);
    }

    /// Returns the agent that events are attributed to.
    pub fn current_agent(&self) -> Option<Arc<Agent>> {
        self.agent.clone()
    }

    /// Returns the time that events get.
    pub fn current_time(&self) -> Option<String> {
        self.time.clone()
    }

    /// Emits the session's data.
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

    /// Emits a prompt of the user and opens a turn.
    pub fn user(&mut self, text: impl Into<Payload>, queued: bool) {
        self.user_with_media(text, Vec::new(), queued);
    }

    /// Emits a prompt with the pictures, sounds and files that came with it.
    pub fn user_with_media(&mut self, text: impl Into<Payload>, media: Vec<Media>, queued: bool) {
        let text = text.into();
        if text.is_empty() && media.is_empty() {
            return;
        }
        self.end_message();
        self.turn_open = true;
        self.push(Body::User(User {
            text,
            queued,
            media,
        }));
    }

    /// Reads a picture, a sound or a file from the block that holds it, in any
    /// of the forms that agents use. Returns `None` for any other block. The
    /// content is kept only if the reader was asked for it.
    pub fn media(&self, block: Json<'_>) -> Option<Media> {
        Some(media::Found::in_block(block)?.into_media(self.keep_media))
    }

    /// Reads all of them from a list of blocks.
    pub fn media_in(&self, blocks: Json<'_>) -> Vec<Media> {
        let blocks = blocks.array().into_iter();
        blocks.filter_map(|block| self.media(block)).collect()
    }

    /// Reads the fields of a block whose kind is known.
    pub(crate) fn media_fields(&self, fields: Json<'_>, mime: &str, name: Json<'_>) -> Media {
        let media = media::Found::in_fields(&fields.object(), mime).into_media(self.keep_media);
        match name.str() {
            Some(name) => media.with_name(crate::tool::label(&name)),
            None => media,
        }
    }

    /// Reads a string that is base64 or a `data:` URL.
    pub(crate) fn media_string(&self, content: Json<'_>, mime: &str) -> Media {
        media::Found::in_string(content, mime, true).into_media(self.keep_media)
    }

    /// Reads a string that is an address, a path or a `data:` URL.
    pub(crate) fn media_address(&self, place: Json<'_>, mime: &str) -> Media {
        media::Found::in_string(place, mime, false).into_media(self.keep_media)
    }

    /// Emits a whole block of answer text. After deltas with the same id it is
    /// emitted only if it differs from them. Without an id it is the final form
    /// of the open message, or a new message.
    pub fn text(&mut self, id: Option<&str>, text: impl Into<Payload>) {
        self.message(Stream::Text, id, text.into(), false);
    }

    /// Appends answer text. Without an id it belongs to the open message, which
    /// ends at a call, a plan, reasoning, a user message or the end of the turn.
    pub fn text_delta(&mut self, id: Option<&str>, text: &str) {
        self.message(Stream::Text, id, text.into(), true);
    }

    /// Appends a picture, a sound or a file to the answer; see
    /// [`Emitter::text_delta`].
    pub fn text_media(&mut self, id: Option<&str>, media: Media) {
        self.message_media(Stream::Text, id, media);
    }

    /// Appends text that is not Markdown: its line breaks are kept.
    pub fn preformatted_delta(&mut self, text: &str) {
        let message = Message {
            text: text.into(),
            delta: true,
            preformatted: true,
            ..Message::default()
        };
        self.push_message(Stream::Text, None, message);
    }

    /// Emits a whole block of reasoning; see [`Emitter::text`].
    pub fn reasoning(&mut self, id: Option<&str>, text: impl Into<Payload>) {
        let text = text.into();
        // A bare title is not a thought.
        let is_empty = text.as_str().chars().all(|c| c == '*' || c.is_whitespace());
        if !is_empty {
            self.message(Stream::Reasoning, id, text, false);
        }
    }

    /// Appends reasoning; see [`Emitter::text_delta`].
    pub fn reasoning_delta(&mut self, id: Option<&str>, text: &str) {
        self.message(Stream::Reasoning, id, text.into(), true);
    }

    /// Appends a picture, a sound or a file to the reasoning.
    pub fn reasoning_media(&mut self, id: Option<&str>, media: Media) {
        self.message_media(Stream::Reasoning, id, media);
    }

    /// Ends the open message without an id: text that follows starts a new one.
    pub fn end_message(&mut self) {
        let speaker = speaker(&self.conversation, self.agent.as_deref());
        self.messages.end_unnamed(&speaker);
    }

    /// Returns true if a recent block had exactly this text.
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

    fn message_media(&mut self, stream: Stream, id: Option<&str>, media: Media) {
        let message = Message {
            delta: true,
            media: vec![media],
            ..Message::default()
        };
        self.push_message(stream, id, message);
    }

    fn push_message(&mut self, stream: Stream, id: Option<&str>, message: Message) {
        if message.text.is_empty() && message.media.is_empty() {
            return;
        }
        self.turn_open = true;
        let speaker = speaker(&self.conversation, self.agent.as_deref());
        let id = id.filter(|id| !id.is_empty());
        let Some(id) = self.messages.accept(stream, &speaker, id, &message) else {
            return;
        };
        let message = Message { id, ..message };
        self.push(match stream {
            Stream::Text => Body::Text(message),
            Stream::Reasoning => Body::Reasoning(message),
        });
    }

    /// Emits the whole plan, which ends the open message without an id.
    pub fn plan(&mut self, plan: Plan) {
        self.turn_open = true;
        self.end_message();
        self.push(Body::Plan(plan));
    }

    /// Emits edits outside any call.
    pub fn edits(&mut self, edits: Vec<Edit>) {
        if edits.is_empty() {
            return;
        }
        self.turn_open = true;
        let edits: Vec<Edit> = edits.into_iter().map(clean_paths).collect();
        self.push(Body::Edit(Edits::new(edits)));
    }

    /// Emits a request for permission, or its answer.
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

    /// Emits a question to the user.
    pub fn prompt(&mut self, prompt: Prompt) {
        self.push(Body::Prompt(prompt));
    }

    /// Emits context that the agent was given.
    pub fn context(&mut self, name: &str, title: &str, text: impl Into<Payload>) {
        self.push(Body::Context(crate::event::Context {
            name: tool::label(name),
            title: tool::label(title),
            text: text.into(),
        }));
    }

    /// Emits the event of a compacted conversation, with the summary if it is
    /// known.
    pub fn compacted(&mut self, summary: impl Into<Payload>) {
        self.context("compacted", "", summary);
    }

    /// Emits a message of the agent program itself.
    pub fn notice(&mut self, level: Level, text: impl Into<Payload>) {
        let text = text.into();
        if !text.is_empty() {
            self.push(Body::Notice(Notice::new(level, text)));
        }
    }

    /// Emits a warning that bytes of the input were skipped.
    pub(crate) fn left_out(&mut self, bytes: u64, text: String) {
        self.push(Body::Notice(Notice {
            left_out: Some(bytes),
            ..Notice::new(Level::Warning, text)
        }));
    }

    /// Emits tokens and cost, unless all fields are empty.
    pub fn usage(&mut self, usage: Usage) {
        let empty = Usage {
            cumulative: usage.cumulative,
            ..Usage::default()
        };
        if usage != empty {
            self.push(Body::Usage(usage));
        }
    }

    /// Opens a turn without an event.
    pub fn open_turn(&mut self) {
        self.turn_open = true;
    }

    /// Returns true if a turn is open.
    pub fn is_turn_open(&self) -> bool {
        self.turn_open
    }

    /// Sets the state of the turn when another agent's frames follow.
    pub(crate) fn set_turn_open(&mut self, is_open: bool) {
        self.turn_open = is_open;
    }

    /// Names the provider whose run is finished next; empty if there is only one.
    pub(crate) fn finishing(&mut self, name: &'static str) {
        self.finishing = name;
    }

    /// Ends the turn.
    pub fn turn_end(&mut self, mut end: TurnEnd) {
        if end.status == TurnStatus::Interrupted && end.reason.is_empty() {
            end.reason.push_str(self.finishing);
        }
        self.release_withheld();
        self.accept_plans();
        self.end_message();
        self.turn_open = false;
        self.push(Body::TurnEnd(TurnEnd {
            reason: tool::label(&end.reason),
            ..end
        }));
    }

    /// Ends an open turn as interrupted: the input ended.
    pub fn interrupted(&mut self) {
        if self.turn_open {
            self.turn_end(TurnEnd {
                status: TurnStatus::Interrupted,
                ..TurnEnd::default()
            });
        }
    }

    /// Emits a mode, a list of commands or the like, for interactive views.
    pub fn state(&mut self, name: &str, value: Json<'_>) {
        self.push(Body::State(State {
            name: tool::label(name),
            value: value.into(),
        }));
    }

    /// Emits an unknown frame, which keeps its raw text.
    pub fn unknown(&mut self, frame: &Frame<'_>) {
        self.unread(frame, Unknown::new(frame.text));
    }

    /// Emits a frame of an input that no provider claims.
    pub(crate) fn unclaimed(&mut self, frame: &Frame<'_>) {
        let end = frame.ending.strip_suffix('\n').unwrap_or_default();
        let text = [frame.text, end].concat();
        self.unread(frame, Unknown::new(text).with_unclaimed(true));
    }

    fn unread(&mut self, frame: &Frame<'_>, unknown: Unknown) {
        self.push(Body::Unknown(unknown));
        if let Some(event) = self.events.back_mut() {
            event.raw = Some(frame.text.to_owned());
        }
    }

    /// Returns true if the last queued event reports this frame as unknown.
    pub(crate) fn is_unknown(&self, frame: &Frame<'_>) -> bool {
        self.events.back().is_some_and(|event| {
            matches!(event.body, Body::Unknown(_)) && event.raw.as_deref() == Some(frame.text)
        })
    }

    /// Removes the last queued event.
    pub(crate) fn take_back(&mut self) {
        if let Some(event) = self.events.pop_back() {
            self.seq = event.seq;
        }
    }

    /// Returns true if an event was emitted before.
    pub(crate) fn has_emitted(&self) -> bool {
        self.seq > 0
    }

    /// Queues a complete event, which keeps its sequence number.
    pub(crate) fn event(&mut self, mut event: Event) {
        if !self.keep_media {
            event.drop_media_content();
        }
        self.seq = event.seq.saturating_add(1);
        let raw = event.raw.or_else(|| self.raw.clone());
        self.events.push_back(Event { raw, ..event });
    }

    /// Queues a complete event under the next sequence number.
    pub(crate) fn next_event(&mut self, event: Event) {
        let seq = self.seq;
        self.event(Event { seq, ..event });
    }

    fn push(&mut self, body: Body) {
        let is_current = matches!(body, Body::Session(_) | Body::State(_) | Body::TurnEnd(_));
        self.events.push_back(Event {
            seq: self.seq,
            time: self.time.clone(),
            agent: self.agent.clone(),
            replayed: self.replayed && !is_current,
            body,
            raw: self.raw.clone(),
        });
        self.seq += 1;
        self.release_late_edits();
        self.pass_plans();
    }
}

/// Returns the key of an agent's open message without an id.
fn speaker<'a>(conversation: &str, agent: Option<&'a Agent>) -> Cow<'a, str> {
    let agent = agent.map_or("", |agent| &agent.id);
    if conversation.is_empty() {
        Cow::Borrowed(agent)
    } else {
        Cow::Owned(format!("{agent}\n{conversation}"))
    }
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
