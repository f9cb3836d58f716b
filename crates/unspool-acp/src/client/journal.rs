//! All that both sides say, as events: shown, numbered, and kept on disk.
//!
//! Lines go through the library's reader with the direction in which they went.
//! Events of our own (notices, commands of the person) are put between them.
//! From the first prompt on everything is recorded, what came before included.
//!
//! A call of the agent that shows a terminal which a call of ours showed already
//! takes that one's place: its events go under the id of ours. If that has ended,
//! everything was told, and the agent's call is not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use jiff::Timestamp;
use serde_json::json;
use unspool::event::{Body, Permission};
use unspool::{Event, Reader, ReaderOptions};

use super::Update;
use super::answered::About;
use super::unfinished::{LeftoverCalls, Unfinished};
use crate::record::Recorder;

/// Events that wait for the first prompt. More of them start the recording.
const HELD: usize = 100_000;
/// Requests whose headlines are remembered.
const ASKED: usize = 1024;

pub(super) struct Journal {
    reader: Reader,
    /// The reader was told that nothing follows.
    is_finished: bool,
    /// What comes was told before.
    is_muted: bool,
    next: u64,
    unfinished: Unfinished,
    /// Calls of the agent that took the place of ours, by their ids.
    taken: BTreeMap<String, Taken>,
    /// The headlines of requests that are not answered, by their ids.
    asked: BTreeMap<String, String>,
    /// What the next answer to a request is about.
    about: Option<About>,
    /// Events that were not handed out yet.
    ready: Vec<Event>,
    record: Record,
}

/// Where the events of a call go.
struct Taken {
    /// The call of ours whose place it takes, or its own.
    id: String,
    /// Bytes of its output that are seen already.
    seen: usize,
    /// The call of ours has ended.
    is_told: bool,
}

enum Record {
    Not,
    /// Will be kept in this file.
    Later(PathBuf, Vec<Event>),
    Now(Recorder),
}

impl Journal {
    pub(super) fn new(record: Option<PathBuf>, first: u64, left: LeftoverCalls) -> Self {
        Self {
            reader: Reader::with_options(
                ReaderOptions::default().with_from(unspool::source::provider("acp")),
            ),
            is_finished: false,
            is_muted: false,
            next: first,
            unfinished: Unfinished::after(left),
            taken: BTreeMap::new(),
            asked: BTreeMap::new(),
            about: None,
            ready: Vec::new(),
            record: record.map_or(Record::Not, |path| Record::Later(path, Vec::new())),
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match &self.record {
            Record::Now(recorder) => Some(recorder.path()),
            _ => None,
        }
    }

    /// Says whether what comes was told before: the history of a session that
    /// goes on in the same recording.
    pub(super) fn mute(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
    }

    /// The agent said this.
    pub(super) fn came(&mut self, line: &str) {
        self.read("agent->client", line);
    }

    /// The agent was told this.
    pub(super) fn went(&mut self, line: &str) {
        self.read("client->agent", line);
    }

    /// Output of a terminal of ours, in the form in which agents tell of
    /// theirs: the reader knows which call it belongs to.
    pub(super) fn terminal_grew(&mut self, session: &str, terminal: &str, bytes: &[u8]) {
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let update = json!({
            "sessionUpdate": "terminal_output_chunk",
            "terminalId": terminal,
            "data": data,
        });
        self.tell(session, &update);
    }

    /// A command in a terminal of ours ended.
    pub(super) fn terminal_exited(&mut self, session: &str, terminal: &str, code: Option<i32>) {
        let update = json!({
            "sessionUpdate": "terminal_update",
            "terminalId": terminal,
            "exitStatus": {"exitCode": code},
        });
        self.tell(session, &update);
    }

    fn tell(&mut self, session: &str, update: &serde_json::Value) {
        let params = json!({"sessionId": session, "update": update});
        let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        self.read("agent->client", &message.to_string());
    }

    /// Lets go what the reader holds back until the next message.
    pub(super) fn release(&mut self) {
        let message = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {}});
        self.read("client->agent", &message.to_string());
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

    /// Nothing more will be said.
    pub(super) fn finish(&mut self) {
        if !self.is_finished {
            self.is_finished = true;
            let ends = self.unfinished.give_up_open();
            for event in ends {
                self.add(event);
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
                self.tell_apart(&call.id);
            }
            let is_empty =
                |body: &Body| matches!(body, Body::ToolOutput(output) if output.text.is_empty());
            if !self.rename(&mut event) || is_empty(&event.body) {
                continue;
            }
            if let Body::Permission(permission) = &mut event.body {
                self.complete(permission);
            }
            let mut events = Vec::new();
            self.unfinished.take(event, &mut events);
            for event in events {
                self.add(event);
            }
        }
    }

    /// A request is about to be answered.
    pub(super) fn answering(&mut self, about: About) {
        self.about = Some(about);
    }

    /// An answer says what it was given to.
    fn complete(&mut self, permission: &mut Permission) {
        if permission.outcome.is_empty() {
            while self.asked.len() >= ASKED && self.asked.pop_first().is_some() {}
            let title = permission.title.clone();
            self.asked.insert(permission.id.clone(), title);
            return;
        }
        let asked = self.asked.remove(&permission.id).unwrap_or_default();
        let title = self.about.take().map(|about| about.title(&asked));
        if let Some(title) = title.filter(|title| *title != asked) {
            permission.title = title;
        }
    }

    /// A call of the agent is about to take the place of one of ours, of whose
    /// output so much is seen; `false` if it has a place of its own.
    pub(super) fn take_place(&mut self, call: &str, ours: &str, seen: usize) -> bool {
        let is_free = !call.is_empty() && !self.is_open(call) && !self.is_muted;
        if is_free {
            self.take(call, ours, seen, false);
        }
        is_free
    }

    /// The same where all of it was told, and nothing is left to say.
    pub(super) fn leave_out(&mut self, call: &str, ours: &str) {
        if !call.is_empty() && !self.is_open(call) && !self.is_muted {
            self.take(call, ours, 0, true);
        }
    }

    /// So much of the output of an open call was told before the agent tells it.
    pub(super) fn was_told(&mut self, call: &str, seen: usize) {
        self.take(call, call, seen, false);
    }

    fn take(&mut self, call: &str, ours: &str, seen: usize, is_told: bool) {
        let id = ours.to_owned();
        let taken = Taken { id, seen, is_told };
        self.taken.insert(call.to_owned(), taken);
    }

    /// Whether a call of the agent was told of, and not its end.
    pub(super) fn is_open(&self, call: &str) -> bool {
        self.unfinished.contains(call)
    }

    /// Tells an event of a call as one of the call whose place it took; `false` if
    /// it was told before.
    fn rename(&mut self, event: &mut Event) -> bool {
        let id = match &mut event.body {
            Body::ToolUse(call) => &mut call.id,
            Body::ToolOutput(output) => &mut output.id,
            Body::ToolResult(result) => &mut result.id,
            Body::Permission(asked) => &mut asked.tool_id,
            _ => return true,
        };
        let Some(taken) = self.taken.get_mut(id) else {
            return true;
        };
        id.clone_from(&taken.id);
        let is_told = taken.is_told;
        match &mut event.body {
            Body::ToolOutput(output) => {
                let text = output.text.as_str().into_owned();
                let mut seen = taken.seen.min(text.len());
                taken.seen -= seen;
                while !text.is_char_boundary(seen) {
                    seen += 1;
                }
                output.text = text.split_at(seen).1.to_owned().into();
                !is_told
            }
            Body::ToolResult(result) => {
                self.taken.retain(|_, taken| taken.id != result.id);
                !is_told
            }
            Body::Permission(_) => true,
            _ => !is_told,
        }
    }

    /// What is open belongs to a turn that is over.
    pub(super) fn turn_over(&mut self) {
        self.unfinished.turn_over();
    }

    /// The calls that turns left open, of which nothing was heard since.
    pub(super) fn left(&self) -> impl Iterator<Item = &str> {
        self.unfinished.left()
    }

    /// The same, for a journal that goes on where this one ends.
    pub(super) fn all_left(&self) -> LeftoverCalls {
        self.unfinished.all_left()
    }

    /// A call with the id of one that an earlier turn left open is another.
    fn tell_apart(&mut self, call: &str) {
        if !self.taken.contains_key(call) && self.unfinished.is_old(call) {
            let other = format!("{call}~{}", self.next);
            self.take(call, &other, 0, false);
        }
    }

    /// An event of our own.
    pub(super) fn say(&mut self, body: impl Into<Body>) {
        self.add(Event::new(body));
    }

    fn add(&mut self, mut event: Event) {
        event.seq = self.next;
        self.next += 1;
        if event.time.is_none() {
            event.time = Some(Timestamp::now().to_string());
        }
        self.ready.push(event);
    }

    /// Hands out what is ready, once it is recorded.
    pub(super) fn settle(&mut self, failures: &mut Vec<Update>) -> Vec<Update> {
        let ready = std::mem::take(&mut self.ready);
        for event in &ready {
            self.keep(event, failures);
        }
        ready.into_iter().map(Update::Event).collect()
    }

    fn keep(&mut self, event: &Event, updates: &mut Vec<Update>) {
        match &mut self.record {
            Record::Not => {}
            Record::Later(_, held) => {
                held.push(event.clone());
                if held.len() >= HELD {
                    self.start_recording(updates);
                }
            }
            Record::Now(recorder) => {
                if let Err(error) = recorder.write(event) {
                    let path = recorder.path().display().to_string();
                    self.give_up(&path, &error, updates);
                }
            }
        }
    }

    /// From here on everything goes to the file, what was said so far first.
    pub(super) fn start_recording(&mut self, updates: &mut Vec<Update>) {
        let Record::Later(path, held) = &mut self.record else {
            return;
        };
        let (path, held) = (std::mem::take(path), std::mem::take(held));
        match Recorder::open(&path) {
            Ok(recorder) => {
                self.record = Record::Now(recorder);
                for event in held {
                    self.keep(&event, updates);
                }
            }
            Err(error) => self.give_up(&path.display().to_string(), &error, updates),
        }
    }

    fn give_up(&mut self, path: &str, error: &std::io::Error, updates: &mut Vec<Update>) {
        self.record = Record::Not;
        updates.push(Update::Failed {
            what: "record".to_owned(),
            message: format!("{path} is not complete, nothing more is kept: {error}"),
        });
    }
}
