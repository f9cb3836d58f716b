//! The Agent Client Protocol: JSON-RPC 2.0, one message a line, protocol 1 and
//! the draft of protocol 2.
//!
//! Reads logs of both directions, wrapped (`{"dir":…,"msg":…}`) or not, and an
//! agent's stdout, which lacks the client's requests and answers: there a turn
//! starts with the agent's first activity and ends with the response that has a
//! `stopReason`.
//!
//! Invariants: a call is one `tool_use`, emitted when it starts, asks for
//! permission or ends, or when text follows; updates add to it, and none reopens
//! it. JSON-RPC ids are separate for each direction. A second root session of a
//! connection is not a sub-agent. A loaded session has no turns.

use super::rpc::{Message, Sender};
use super::{Emitter, Probe, Provider, Source};
use crate::event::{Prompt, RawJson, Session};
use crate::frame::Frame;
use crate::json::{Json, Object};
use crate::recent::RecentMap;
use call::Call;
use content::{AttachedFile, UserText};
use message_ids::MessageIds;
use sessions::Sessions;
use terminal::Terminals;

pub use speakers::CHAT_ONLY;

mod aider;
mod answers;
mod call;
mod calls;
mod calls_in_ids;
mod content;
mod edits;
mod gemini;
mod message_ids;
mod names;
mod outcome;
mod requests;
mod sessions;
mod speakers;
mod terminal;
#[cfg(test)]
mod tests;
mod updates;
mod usage;

const NAME: &str = "acp";

/// Maximum number of requests without an answer.
const PENDING_REQUESTS: usize = 1024;
/// Maximum number of states that wait for the first `session` event.
const WAITING_STATES: usize = 64;

pub(crate) const PROVIDER: Provider = Provider::new(NAME, recognise, || Box::<Acp>::default())
    .with_title("Agent Client Protocol")
    .with_about("an agent over ACP: anything that speaks the Agent Client Protocol")
    .with_example("gemini --acp < requests.jsonl | unspool events");

/// Methods that a client calls.
const CLIENT_METHODS: &[&str] = &[
    "initialize",
    "authenticate",
    "logout",
    "auth/login",
    "auth/logout",
    "auth/status",
    "providers/list",
    "providers/set",
    "providers/disable",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/delete",
    "session/close",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_mode",
    "session/set_model",
    "session/set_title",
    "session/set_config_option",
    "session/prompt",
    "session/cancel",
    "tool_call/cancel",
    "terminal/cancel",
    "mcp/message",
];

/// Methods that only agents of this protocol call.
const AGENT_METHODS: &[&str] = &[
    "session/update",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/complete",
];

fn recognise(probe: &Probe<'_>) -> bool {
    let wrapped = matches!(&*probe.str("dir"), "agent->client" | "client->agent");
    let inner = probe.fields.get("msg");
    if wrapped && inner.is_object() {
        is_ours(&inner.object(), true)
    } else {
        is_ours(&probe.fields, false)
    }
}

fn is_ours(message: &Object<'_>, wrapped: bool) -> bool {
    let rpc = message.get("jsonrpc").str().as_deref() == Some("2.0");
    let method = message.get("method").string();
    if method == "session/update" && message.get("params").get("update").is_object() {
        return true;
    }
    if !rpc {
        return false;
    }
    if wrapped || AGENT_METHODS.contains(&&*method) {
        return true;
    }
    if method == "initialize" {
        return message.get("params").get("protocolVersion").u64().is_some();
    }
    if !method.is_empty() {
        return method.starts_with("session/") && CLIENT_METHODS.contains(&&*method);
    }
    let result = message.get("result").object();
    result.get("protocolVersion").u64().is_some()
        || result.get("stopReason").is_string()
        || (result.get("sessionId").is_string() && has_settings(&result))
}

/// Returns true if a result describes an opened session.
fn has_settings(result: &Object<'_>) -> bool {
    ["modes", "models", "configOptions"]
        .iter()
        .any(|key| result.has(key))
}

#[derive(Clone, Default)]
struct Acp {
    version: String,
    /// A `session` event was emitted.
    greeted: bool,
    /// States that wait for the first `session` event.
    waiting: Vec<(String, Option<RawJson>)>,
    /// Requests without an answer, by sender (true for the client) and id.
    requests: RecentMap<(bool, String), Request, PENDING_REQUESTS>,
    /// The log contains messages of the client and does not name the senders.
    mixed: bool,
    sessions: Sessions,
    /// The root session of the last message.
    current: String,
    calls: Vec<Call>,
    terminals: Terminals,
    message_ids: MessageIds,
    ended: Option<Ended>,
    user_message: Option<UserMessage>,
    summary: String,
    /// The end of the last answer, to recognise an error that repeats it.
    last_words: String,
    program: Program,
    speech: aider::Speech,
}

/// An agent that speaks the protocol in its own way.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Program {
    #[default]
    Other,
    Aider,
    Claude,
    Gemini,
}

impl Program {
    /// Returns the agent that calls itself so.
    fn of(name: &str) -> Self {
        match name {
            aider::NAME => Self::Aider,
            gemini::NAME => Self::Gemini,
            // Its adapters are packages of several publishers.
            name if name.contains("claude") => Self::Claude,
            _ => Self::Other,
        }
    }
}

/// A request without an answer.
#[derive(Clone, Default)]
struct Request {
    id: String,
    method: String,
    session: String,
    /// The call, terminal, mode or folder that it is about.
    subject: String,
    /// Ids and kinds of the possible answers.
    options: Vec<(String, String)>,
    prompt: Prompt,
}

/// A call with its final status, whose output or exit code may still follow in the
/// next message.
#[derive(Clone)]
struct Ended {
    call: Call,
    last: Option<RawJson>,
    word: String,
}

/// A user message to which chunks may be added.
#[derive(Clone)]
struct UserMessage {
    session: String,
    message: String,
    text: UserText,
}

impl Source for Acp {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let known = match frame.json() {
            Some(json) if json.is_object() => self.message(&Message::new(json), out),
            _ => false,
        };
        if !known {
            self.settle(out);
            out.agent(None);
            out.unknown(frame);
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        self.settle(out);
        self.end_speech(out);
        self.announce_all(|_| true, out);
        self.settle_refused(|_| true, out);
        if !self.waiting.is_empty() {
            self.greet("", out);
        }
        if self.sessions.roots().any(sessions::Root::is_open) {
            out.agent(None);
            out.open_turn();
            out.interrupted();
        }
    }
}

impl Acp {
    /// Translates a message; returns false if it is unknown.
    fn message(&mut self, message: &Message<'_>, out: &mut Emitter) -> bool {
        let method = message.method();
        if !method.is_empty() {
            let sender = message.sender.unwrap_or_else(|| self.guess_sender(&method));
            if sender == Sender::Agent && method == "session/update" {
                return self.update(message.params(), out);
            }
            self.settle(out);
            self.end_speech(out);
            self.turn_to(&message.params().get("sessionId").string(), out);
            if message.is_request() {
                self.expect_answer(message, sender, &method);
            }
            return match sender {
                Sender::Client => self.client_calls(&method, message.params(), out),
                Sender::Agent => self.agent_calls(message, &method, out),
            };
        }
        if !message.is_response() {
            return false;
        }
        self.settle(out);
        self.end_speech(out);
        self.response(message, out)
    }

    /// Guesses the sender of a message in a log that does not name it.
    fn guess_sender(&mut self, method: &str) -> Sender {
        if CLIENT_METHODS.contains(&method) {
            self.mixed = true;
            Sender::Client
        } else {
            Sender::Agent
        }
    }

    fn response(&mut self, message: &Message<'_>, out: &mut Emitter) -> bool {
        let id = message.id().unwrap_or_default();
        let is_pending = |by_client| self.requests.contains(&(by_client, id.clone()));
        let answers_client = match message.sender {
            Some(sender) => sender == Sender::Agent,
            None => !self.mixed || is_pending(true) || !is_pending(false),
        };
        let request = self.requests.remove(&(answers_client, id));
        let session = request.as_ref().map(|request| &*request.session);
        self.turn_to(session.unwrap_or_default(), out);
        let (result, error) = (message.fields.get("result"), message.fields.get("error"));
        if !answers_client {
            self.client_answers(&request.unwrap_or_default(), result, out);
            return true;
        }
        if error.is_null() {
            self.agent_answers(request, result, out)
        } else {
            self.agent_refuses(&request.unwrap_or_default(), error, out);
            true
        }
    }

    fn expect_answer(&mut self, message: &Message<'_>, sender: Sender, method: &str) {
        let params = message.params().object();
        let subject = ["modeId", "modelId", "terminalId", "cwd"]
            .iter()
            .map(|key| params.get(key).string())
            .find(|subject| !subject.is_empty());
        let id = message.id().unwrap_or_default();
        let request = Request {
            id: id.clone(),
            method: method.to_owned(),
            session: params.get("sessionId").string(),
            subject: subject.unwrap_or_default(),
            ..Request::default()
        };
        self.requests
            .insert((sender == Sender::Client, id), request);
    }

    /// Emits the call and the user message that waited for the next message.
    fn settle(&mut self, out: &mut Emitter) {
        if let Some(ended) = self.ended.take() {
            let last = ended.last.as_ref().map_or(Json::NULL, RawJson::json);
            self.emit_result(&ended.call, &last.object(), &ended.word, out);
        }
        if let Some(message) = self.user_message.take() {
            self.emit_user(&message.session, &message.text, out);
        }
    }

    /// Attributes later events to this session, or to the current one.
    fn turn_to(&self, session: &str, out: &mut Emitter) {
        let session = if session.is_empty() {
            &self.current
        } else {
            session
        };
        let root = self.sessions.root_of(session);
        out.conversation(&root);
        out.replayed(self.sessions.is_replaying(&root));
    }

    /// Emits the first `session` event and the states that waited for it.
    fn greet(&mut self, session: &str, out: &mut Emitter) {
        let agent = out.current_agent();
        out.agent(None);
        let root = self.sessions.root(session);
        root.announced = true;
        out.session(Session {
            provider: NAME.to_owned(),
            version: self.version.clone(),
            id: root.id.clone(),
            model: root.model.clone(),
            cwd: root.cwd.clone(),
            title: root.title.clone(),
            ..Session::default()
        });
        self.greeted = true;
        for (name, value) in std::mem::take(&mut self.waiting) {
            out.state(&name, value.as_ref().map_or(Json::NULL, RawJson::json));
        }
        out.agent(agent);
    }

    /// Emits the `session` event of a root session, once.
    fn open_session(&mut self, session: &str, out: &mut Emitter) {
        session.clone_into(&mut self.current);
        let is_announced = |root: &mut sessions::Root| root.announced;
        if !self.sessions.known_root(session).is_some_and(is_announced) {
            self.greet(session, out);
        }
    }

    /// Emits a state of the session, after the `session` event.
    fn state(&mut self, name: &str, value: Json<'_>, out: &mut Emitter) {
        if self.greeted {
            out.state(name, value);
            return;
        }
        self.waiting.push((name.to_owned(), value.into()));
        if self.waiting.len() >= WAITING_STATES {
            let current = self.current.clone();
            self.greet(&current, out);
        }
    }

    /// Returns the key of an agent's open text.
    fn owner(&self, session: &str, out: &Emitter) -> String {
        match out.current_agent() {
            Some(agent) => agent.id.clone(),
            None => self.sessions.root_of(session).into_owned(),
        }
    }

    /// Emits a message of the user, or of the agent that calls a sub-agent.
    fn emit_user(&mut self, session: &str, text: &UserText, out: &mut Emitter) {
        self.turn_to(session, out);
        out.agent(self.sessions.agent_of(session));
        let owner = self.owner(session, out);
        self.message_ids.end(&owner);
        // Date, system and folder, which Gemini puts before a prompt.
        if text.text.starts_with("<session_context>") {
            out.context("session_context", "", text.text.as_str());
        } else {
            out.user_with_media(text.text.as_str(), text.media.clone(), false);
        }
        emit_files(&text.files, out);
    }
}

/// Emits the files of a user message as context.
fn emit_files(files: &[AttachedFile], out: &mut Emitter) {
    for file in files {
        out.context(&file.uri, &file.kind, file.text.as_str());
    }
}
