//! The conversation as events: shown, numbered and recorded.
//!
//! Every line goes through the library's reader, tagged with its direction. The
//! client's own events (notices, commands of the user) are inserted between them.
//! Recording starts with the first prompt and includes what came before it.
//!
//! The events of a call can be redirected: when a call of the agent replaces a card
//! of the client (`terminal_cards.rs`), its events get the id of the card. If the
//! card has shown the whole command, the call is suppressed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use unspool::event::{Body, Permission};
use unspool::{Event, Reader, ReaderOptions};

use super::Update;
use super::permission_title::PermissionDetails;
use super::unfinished_calls::{LeftoverCalls, UnfinishedCalls};
use crate::record::Recorder;

/// Maximum number of events held before the first prompt. Then recording starts.
const MAX_HELD: usize = 100_000;
/// Maximum number of open permission requests whose titles are remembered.
const MAX_REQUESTED: usize = 1024;

pub(super) struct Journal {
    reader: Reader,
    is_finished: bool,
    /// Events are dropped, because an earlier recording has them.
    is_muted: bool,
    next_seq: u64,
    unfinished: UnfinishedCalls,
    /// By the agent's ids of the calls.
    redirects: BTreeMap<String, Redirect>,
    /// The titles of open permission requests, by their ids.
    requested: BTreeMap<String, String>,
    /// The subject of the permission request that is answered next.
    details: Option<PermissionDetails>,
    /// Events to be handed out.
    ready: Vec<Event>,
    recording: Recording,
}

struct Redirect {
    /// The id that events of the call get.
    id: String,
    /// Bytes of output that were already shown.
    skip: usize,
    /// The call's events are dropped.
    is_suppressed: bool,
}

enum Recording {
    Off,
    /// Starts with the first prompt.
    Held(PathBuf, Vec<Event>),
    On(Recorder),
}

impl Journal {
    pub(super) fn new(record: Option<PathBuf>, first_seq: u64, leftover: LeftoverCalls) -> Self {
        Self {
            reader: Reader::with_options(
                ReaderOptions::default().with_from(unspool::source::provider("acp")),
            ),
            is_finished: false,
            is_muted: false,
            next_seq: first_seq,
            unfinished: UnfinishedCalls::with_leftover(leftover),
            redirects: BTreeMap::new(),
            requested: BTreeMap::new(),
            details: None,
            ready: Vec::new(),
            recording: record.map_or(Recording::Off, |path| Recording::Held(path, Vec::new())),
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match &self.recording {
            Recording::On(recorder) => Some(recorder.path()),
            _ => None,
        }
    }

    /// Drops events from now on, or stops that: for the replayed history of a session
    /// that continues in the same recording.
    pub(super) fn set_muted(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
    }

    /// Reads a line from the agent.
    pub(super) fn received(&mut self, line: &str) {
        self.read("agent->client", line);
    }

    /// Reads a line to the agent.
    pub(super) fn sent(&mut self, line: &str) {
        self.read("client->agent", line);
    }

    /// Reads output of a terminal, in the form in which agents report output of
    /// their own terminals: the reader knows which call it belongs to.
    pub(super) fn terminal_output(&mut self, session: &str, terminal: &str, bytes: &[u8]) {
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let update = json!({
            "sessionUpdate": "terminal_output_chunk",
            "terminalId": terminal,
            "data": data,
        });
        self.read_update(session, &update);
    }

    /// Reads the end of a terminal's command.
    pub(super) fn terminal_exited(&mut self, session: &str, terminal: &str, code: Option<i32>) {
        let update = json!({
            "sessionUpdate": "terminal_update",
            "terminalId": terminal,
            "exitStatus": {"exitCode": code},
        });
        self.read_update(session, &update);
    }

    fn read_update(&mut self, session: &str, update: &Value) {
        let params = json!({"sessionId": session, "update": update});
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        self.received(&message.to_string());
    }

    /// Makes the reader emit what it holds back until the next message.
    pub(super) fn flush(&mut self) {
        let message = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {}});
        self.sent(&message.to_string());
    }

    fn read(&mut self, direction: &str, line: &str) {
        if self.is_finished {
            return;
        }
        for part in [r#"{"dir":""#, direction, r#"","msg":"#, line, "}\n"] {
            self.reader.push(part.as_bytes());
        }
        self.collect();
    }

    /// Ends the conversation.
    pub(super) fn finish(&mut self) {
        if !self.is_finished {
            self.is_finished = true;
            for event in self.unfinished.cancel_open() {
                self.push(event);
            }
            self.reader.finish();
            self.collect();
        }
    }

    fn collect(&mut self) {
        while let Some(mut event) = self.reader.pop() {
            if self.is_muted {
                continue;
            }
            if let Body::ToolUse(call) = &event.body {
                self.rename_reused_id(&call.id);
            }
            let is_empty =
                |body: &Body| matches!(body, Body::ToolOutput(output) if output.text.is_empty());
            if !self.redirect(&mut event) || is_empty(&event.body) {
                continue;
            }
            if let Body::Permission(permission) = &mut event.body {
                self.complete_title(permission);
            }
            let mut events = Vec::new();
            self.unfinished.process(event, &mut events);
            for event in events {
                self.push(event);
            }
        }
    }

    /// Sets the subject of the permission request that is answered next.
    pub(super) fn set_permission_details(&mut self, details: PermissionDetails) {
        self.details = Some(details);
    }

    /// Gives the answer to a permission request a title that names its subject.
    fn complete_title(&mut self, permission: &mut Permission) {
        if permission.outcome.is_empty() {
            while self.requested.len() >= MAX_REQUESTED && self.requested.pop_first().is_some() {}
            let title = permission.title.clone();
            self.requested.insert(permission.id.clone(), title);
            return;
        }
        let requested = self.requested.remove(&permission.id).unwrap_or_default();
        let details = self.details.take();
        let title = details.map(|details| details.title(&requested));
        if let Some(title) = title.filter(|title| *title != requested) {
            permission.title = title;
        }
    }

    /// Lets a call of the agent replace a card that has shown this many bytes of
    /// output. Returns false if the call is already shown.
    pub(super) fn replace_card(&mut self, call: &str, card: &str, shown: usize) -> bool {
        let can_redirect = self.can_redirect(call);
        if can_redirect {
            self.add_redirect(call, card, shown, false);
        }
        can_redirect
    }

    /// Suppresses a call of the agent whose command a card has shown to its end.
    pub(super) fn suppress_call(&mut self, call: &str, card: &str) {
        if self.can_redirect(call) {
            self.add_redirect(call, card, 0, true);
        }
    }

    /// Skips the first bytes of a call's output, which were already shown.
    pub(super) fn skip_output(&mut self, call: &str, shown: usize) {
        self.add_redirect(call, call, shown, false);
    }

    fn can_redirect(&self, call: &str) -> bool {
        !call.is_empty() && !self.is_open(call) && !self.is_muted
    }

    fn add_redirect(&mut self, call: &str, id: &str, skip: usize, is_suppressed: bool) {
        let id = id.to_owned();
        let redirect = Redirect {
            id,
            skip,
            is_suppressed,
        };
        self.redirects.insert(call.to_owned(), redirect);
    }

    /// Returns true if a call of the agent was shown and has no result.
    pub(super) fn is_open(&self, call: &str) -> bool {
        self.unfinished.contains(call)
    }

    /// Applies a redirect to an event; returns false if the event is to be dropped.
    fn redirect(&mut self, event: &mut Event) -> bool {
        let id = match &mut event.body {
            Body::ToolUse(call) => &mut call.id,
            Body::ToolOutput(output) => &mut output.id,
            Body::ToolResult(result) => &mut result.id,
            Body::Permission(asked) => &mut asked.tool_id,
            _ => return true,
        };
        let Some(redirect) = self.redirects.get_mut(id) else {
            return true;
        };
        id.clone_from(&redirect.id);
        let is_suppressed = redirect.is_suppressed;
        match &mut event.body {
            Body::ToolOutput(output) => {
                let text = output.text.as_str().into_owned();
                let mut skip = redirect.skip.min(text.len());
                redirect.skip -= skip;
                while !text.is_char_boundary(skip) {
                    skip += 1;
                }
                output.text = text.split_at(skip).1.to_owned().into();
                !is_suppressed
            }
            Body::ToolResult(result) => {
                self.redirects
                    .retain(|_, redirect| redirect.id != result.id);
                !is_suppressed
            }
            Body::Permission(_) => true,
            _ => !is_suppressed,
        }
    }

    /// Marks the open calls as leftovers of a turn that has ended.
    pub(super) fn end_turn(&mut self) {
        self.unfinished.end_turn();
    }

    pub(super) fn leftover_ids(&self) -> impl Iterator<Item = &str> {
        self.unfinished.leftover_ids()
    }

    pub(super) fn leftover_calls(&self) -> LeftoverCalls {
        self.unfinished.leftover_calls()
    }

    /// Gives a call a new id if an earlier turn left a call with the same id open.
    fn rename_reused_id(&mut self, call: &str) {
        if !self.redirects.contains_key(call) && self.unfinished.is_from_earlier_turn(call) {
            let new = format!("{call}~{}", self.next_seq);
            self.add_redirect(call, &new, 0, false);
        }
    }

    /// Adds an event of the client.
    pub(super) fn add(&mut self, body: impl Into<Body>) {
        self.push(Event::new(body));
    }

    fn push(&mut self, mut event: Event) {
        event.seq = self.next_seq;
        self.next_seq += 1;
        if event.time.is_none() {
            event.time = Some(Timestamp::now().to_string());
        }
        self.ready.push(event);
    }

    /// Records the new events and hands them out. A failure to record is appended to
    /// `updates`.
    pub(super) fn take_events(&mut self, updates: &mut Vec<Update>) -> Vec<Update> {
        let ready = std::mem::take(&mut self.ready);
        for event in &ready {
            self.record(event, updates);
        }
        ready.into_iter().map(Update::Event).collect()
    }

    fn record(&mut self, event: &Event, updates: &mut Vec<Update>) {
        match &mut self.recording {
            Recording::Off => {}
            Recording::Held(_, held) => {
                held.push(event.clone());
                if held.len() >= MAX_HELD {
                    self.start_recording(updates);
                }
            }
            Recording::On(recorder) => {
                if let Err(error) = recorder.write(event) {
                    let path = recorder.path().display().to_string();
                    self.stop_recording(&path, &error, updates);
                }
            }
        }
    }

    /// Starts the recording with the events that were held.
    pub(super) fn start_recording(&mut self, updates: &mut Vec<Update>) {
        let Recording::Held(path, held) = &mut self.recording else {
            return;
        };
        let (path, held) = (std::mem::take(path), std::mem::take(held));
        match Recorder::open(&path) {
            Ok(recorder) => {
                self.recording = Recording::On(recorder);
                for event in held {
                    self.record(&event, updates);
                }
            }
            Err(error) => self.stop_recording(&path.display().to_string(), &error, updates),
        }
    }

    fn stop_recording(&mut self, path: &str, error: &io::Error, updates: &mut Vec<Update>) {
        self.recording = Recording::Off;
        updates.push(Update::Failed {
            what: "record".to_owned(),
            message: format!("{path} is not complete, nothing more is kept: {error}"),
        });
    }
}
