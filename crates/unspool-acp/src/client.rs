//! The client's side of a conversation, as a state machine.
//!
//! It is fed with [`Incoming`] by [`Client::receive`], told what the person wants
//! by its other methods, and never waits for anything. What is new is handed
//! out as [`Update`]s: by `take`, and after any other method by
//! [`Client::take_updates`].
//!
//! | stage | leaves it by |
//! |---|---|
//! | `Starting` | the answer to `initialize`, then to `session/new` or its like |
//! | `Login` | `authenticate`, after which what failed is tried again |
//! | `Unopened`, `Failed` | `open` |
//! | `Opened` | nothing but the agent's end |
//!
//! A turn lasts from the prompt to its answer, whatever is said in between or
//! after it. Prompts that come meanwhile wait in a queue.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use agent_client_protocol_schema::v1 as schema;
use serde_json::{Value, json};
use unspool::event::{Body, Level, Notice};

use crate::agent_state::{self, AgentState, ConfigValue, Phase};
use crate::connection::{Connection, Incoming, Launch, keep_end};
use crate::files::{Files, WrittenFile};
use crate::permission::Action;
use crate::process::Exit;
use crate::terminals::Terminals;
use crate::wire::{self, Message, Refusal};
pub use asks::{Answer, Question, QuestionId, QuestionKind};
use calls::Calls;
pub use calls::ToolCall;
pub use changes::ProposedChange;
pub use config::{ClientConfig, SessionRequest};
use journal::Journal;
use services::Services;
pub use unfinished::{LeftoverCalls, close_interrupted};
pub use update::{QueuedPrompt, Update};

mod answered;
mod asks;
mod blocks;
mod calls;
mod changes;
mod config;
mod journal;
mod opening;
mod services;
mod shell;
#[cfg(test)]
mod tests;
mod turns;
mod unfinished;
mod update;

/// How many characters of a line that is no message are told.
const STRAY: usize = 4 << 10;

enum Stage {
    Starting,
    Unopened,
    Login(SessionRequest),
    Opened,
    Failed,
    Ended,
}

/// What one of our requests was for.
enum Pending {
    Initialize,
    Authenticate,
    OpenSession(SessionRequest),
    Prompt,
    Mode(String),
    Option,
    Model(String),
    List,
    /// Its answer changes nothing.
    Other(&'static str),
}

struct Turn {
    request: i64,
    blocks: Vec<schema::ContentBlock>,
    is_canceled: bool,
}

enum Link {
    Process(Connection),
    Function(Box<dyn Fn(String) + Send>),
}

/// The client's side of one agent.
pub struct Client {
    config: ClientConfig,
    link: Link,
    journal: Journal,
    updates: Vec<Update>,
    told: Phase,
    stage: Stage,
    state: AgentState,
    pending: BTreeMap<i64, Pending>,
    last_id: i64,
    turn: Option<Turn>,
    queue: VecDeque<QueuedPrompt>,
    last_queued: u64,
    asks: asks::Questions,
    calls: Calls,
    services: Services,
    stderr: String,
    /// What of it was not shown, nor followed by an answer.
    fresh_stderr: String,
}

impl Client {
    /// Starts an agent. Everything that comes goes to the callback, from any
    /// thread, and from there to [`Client::receive`]. Fails when the agent cannot
    /// be started or the root is no folder.
    pub fn start(
        launch: &Launch,
        config: ClientConfig,
        callback: impl Fn(Incoming) + Send + Sync + Clone + 'static,
    ) -> io::Result<Self> {
        let files = Files::open(&config.root)?;
        let connection = Connection::start(launch, callback.clone())?;
        Ok(Self::new(
            Link::Process(connection),
            files,
            config,
            callback,
        ))
    }

    /// A client whose lines go to a function instead of a process.
    pub fn detached(
        config: ClientConfig,
        send: impl Fn(String) + Send + 'static,
        callback: impl Fn(Incoming) + Send + Sync + Clone + 'static,
    ) -> io::Result<Self> {
        let files = Files::open(&config.root)?;
        let link = Link::Function(Box::new(send));
        Ok(Self::new(link, files, config, callback))
    }

    fn new(
        link: Link,
        files: Files,
        config: ClientConfig,
        callback: impl Fn(Incoming) + Send + Sync + Clone + 'static,
    ) -> Self {
        let terminals = Terminals::new(config.shell.clone(), move |news| {
            callback(Incoming::Terminal(news));
        });
        let (record, left) = (config.record.clone(), config.leftover_calls.clone());
        let mut client = Self {
            journal: Journal::new(record, config.first_seq, left),
            config,
            link,
            updates: Vec::new(),
            told: Phase::Starting,
            stage: Stage::Starting,
            state: AgentState::default(),
            pending: BTreeMap::new(),
            last_id: -1,
            turn: None,
            queue: VecDeque::new(),
            last_queued: 0,
            asks: asks::Questions::default(),
            calls: Calls::default(),
            services: Services::new(files, terminals),
            stderr: String::new(),
            fresh_stderr: String::new(),
        };
        client.introduce();
        client.initialize();
        client
    }

    /// Tells in the recording what it is a recording of.
    fn introduce(&mut self) {
        if let Some(agent) = self.config.recorded_agent.take() {
            self.journal.say(agent.to_state());
        }
    }

    /// Whether a call that is shown tells of this change of a file.
    pub fn shows_change(&self, wrote: &WrittenFile) -> bool {
        self.calls.show(wrote)
    }

    /// The calls that turns left open, of which nothing was heard since.
    pub fn leftover_ids(&self) -> impl Iterator<Item = &str> {
        self.journal.left()
    }

    /// The same, for a client that goes on where this one ends.
    pub fn leftover_calls(&self) -> LeftoverCalls {
        self.journal.all_left()
    }

    /// Puts an event of the app's own into the conversation.
    pub fn add_event(&mut self, body: Body) {
        self.journal.say(body);
    }

    /// What the agent and its session are doing.
    pub fn phase(&self) -> Phase {
        match self.stage {
            Stage::Ended => Phase::Ended,
            Stage::Failed => Phase::Failed,
            _ if !self.asks.list().is_empty() => Phase::Asking,
            Stage::Starting => Phase::Starting,
            Stage::Unopened => Phase::Unopened,
            Stage::Login(_) => Phase::NeedsLogin,
            Stage::Opened if self.turn.is_some() => Phase::Working,
            Stage::Opened => Phase::Ready,
        }
    }

    /// What is known of the agent and its session.
    pub fn state(&self) -> &AgentState {
        &self.state
    }

    /// The messages that wait for their turn, the next one first.
    pub fn queue(&self) -> &VecDeque<QueuedPrompt> {
        &self.queue
    }

    /// The requests that wait for the person, oldest first.
    pub fn questions(&self) -> &[Question] {
        self.asks.list()
    }

    /// Whether a turn runs that was asked to stop.
    pub fn is_canceling(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_canceled)
    }

    /// The end of what the agent wrote to standard error.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// The end of what it wrote there since it was asked for this last.
    pub fn take_stderr(&mut self) -> String {
        std::mem::take(&mut self.fresh_stderr)
    }

    /// The agent's process group.
    pub fn group(&self) -> Option<i32> {
        match &self.link {
            Link::Process(connection) => Some(connection.group()),
            Link::Function(_) => None,
        }
    }

    /// Bytes that the agent did not read yet.
    pub fn unread_bytes(&self) -> usize {
        match &self.link {
            Link::Process(connection) => connection.waiting(),
            Link::Function(_) => 0,
        }
    }

    /// The file that the conversation is kept in, once it is there.
    pub fn record_path(&self) -> Option<&std::path::Path> {
        self.journal.path()
    }

    /// Takes what came, and says what is new.
    pub fn receive(&mut self, incoming: Incoming) -> Vec<Update> {
        match incoming {
            Incoming::Line(line) => self.line(line.trim_end_matches('\r')),
            Incoming::Oversized(bytes) => {
                let text = format!("The agent sent a line of {bytes} bytes, which was skipped.");
                self.notice(Level::Warning, text);
            }
            Incoming::Stderr(text) => {
                keep_end(&mut self.stderr, &text);
                keep_end(&mut self.fresh_stderr, &text);
            }
            Incoming::Exited(exit) => self.ended(exit),
            Incoming::Terminal(news) => self.terminal_news(news),
        }
        self.take_updates()
    }

    /// What is new since the last time: events first.
    pub fn take_updates(&mut self) -> Vec<Update> {
        let mut news = self.journal.settle(&mut self.updates);
        news.append(&mut self.updates);
        let phase = self.phase();
        if phase != self.told {
            self.told = phase;
            news.push(Update::Phase(phase));
        }
        news
    }

    /// Nothing came for a while: what was held back until the next message is
    /// shown now, and so are terminals that no call took up.
    pub fn flush_held(&mut self) -> Vec<Update> {
        self.show_cards();
        self.journal.release();
        self.take_updates()
    }

    fn line(&mut self, line: &str) {
        if line.trim().is_empty() || matches!(self.stage, Stage::Ended) {
            return;
        }
        let Some(message) = wire::parse(line) else {
            let text = line.chars().take(STRAY).collect();
            self.updates.push(Update::InvalidLine(text));
            return;
        };
        // An answer to nothing, or a second one, says nothing of a turn.
        if let Message::Response { id, .. } = &message
            && !id.as_i64().is_some_and(|id| self.pending.contains_key(&id))
        {
            return;
        }
        self.take_up(&message);
        self.journal.came(line);
        match message {
            Message::Request { id, method, params } => self.request(&id, &method, &params),
            Message::Notification { method, params } => self.notification(&method, &params),
            Message::Response { id, result } => self.response(&id, result),
            Message::Other => {}
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) {
        match method {
            "session/request_permission" => self.asks_permission(id, params),
            "elicitation/create" => self.asks_form(id, params),
            "fs/read_text_file" | "fs/write_text_file" => self.file_request(id, method, params),
            _ if method.starts_with("terminal/") => self.terminal_request(id, method, params),
            _ => {
                let error = schema::Error::method_not_found().data(json!(method));
                self.refuse(id, &error);
            }
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "session/update" => self.update(params),
            "elicitation/complete" => self.visited(&wire::text(params, "elicitationId")),
            "$/cancel_request" => {
                let request = params.get("requestId").unwrap_or(&Value::Null);
                self.taken_back(request);
            }
            _ => {}
        }
    }

    fn update(&mut self, params: &Value) {
        let session = wire::text(params, "sessionId");
        let update = params.get("update").unwrap_or(&Value::Null);
        self.calls.update(&session, update);
        let is_ours = session == self.state.session || self.state.session.is_empty();
        if is_ours && self.state.update(update) {
            self.updates.push(Update::StateChanged);
        }
    }

    fn response(&mut self, id: &Value, result: Result<Value, Refusal>) {
        let Some(pending) = id.as_i64().and_then(|id| self.pending.remove(&id)) else {
            return;
        };
        match pending {
            Pending::Initialize => self.initialized(result),
            Pending::Authenticate => match result {
                Ok(_) => self.retry_after_login(),
                Err(refusal) => self.failed("authenticate", &refusal.message),
            },
            Pending::OpenSession(open) => self.opened(open, result),
            Pending::Prompt => self.prompt_ended(result),
            Pending::Mode(mode) => {
                if self.succeeded("session/set_mode", result).is_some() {
                    self.state.mode = mode;
                }
            }
            Pending::Option => {
                if let Some(result) = self.succeeded("session/set_config_option", result) {
                    self.state.settings(&result);
                }
            }
            Pending::Model(model) => {
                if self.succeeded("session/set_model", result).is_some() {
                    self.set_model(model);
                }
            }
            Pending::List => {
                if let Some(result) = self.succeeded("session/list", result) {
                    let next = result.get("nextCursor").and_then(Value::as_str);
                    let next = next.map(str::to_owned);
                    let sessions = agent_state::saved(&result);
                    self.updates.push(Update::Sessions(sessions, next));
                }
            }
            Pending::Other(what) => {
                self.succeeded(what, result);
            }
        }
        self.updates.push(Update::StateChanged);
    }

    fn succeeded(&mut self, what: &str, result: Result<Value, Refusal>) -> Option<Value> {
        match result {
            Ok(value) => Some(value),
            Err(refusal) => {
                self.failed(what, &refusal.message);
                None
            }
        }
    }

    fn failed(&mut self, what: &str, message: &str) {
        self.updates.push(Update::Failed {
            what: what.to_owned(),
            message: message.to_owned(),
        });
    }

    /// Sets the mode.
    pub fn set_mode(&mut self, mode: &str) {
        let session = self.state.session.clone();
        let params = schema::SetSessionModeRequest::new(session, mode.to_owned());
        let pending = Pending::Mode(mode.to_owned());
        self.ask_agent("session/set_mode", &params, pending);
    }

    /// Sets a setting: to one of its values, or on or off.
    pub fn set_option(&mut self, option: &str, value: &Value) {
        let session = self.state.session.clone();
        let is_model_list =
            |known: &&agent_state::ConfigOption| known.id == option && known.is_model_list;
        if self.state.options.iter().any(|known| is_model_list(&known)) {
            let model = value.as_str().unwrap_or_default().to_owned();
            // From before settings, and no part of the schema any more.
            let params = json!({"sessionId": session, "modelId": model});
            self.ask_agent("session/set_model", &params, Pending::Model(model));
            return;
        }
        let value = match value {
            Value::Bool(value) => schema::SessionConfigOptionValue::Boolean { value: *value },
            value => schema::SessionConfigOptionValue::ValueId {
                value: value.as_str().unwrap_or_default().to_owned().into(),
            },
        };
        let params = schema::SetSessionConfigOptionRequest::new(session, option.to_owned(), value);
        self.ask_agent("session/set_config_option", &params, Pending::Option);
    }

    fn set_model(&mut self, model: String) {
        let mut lists = self.state.options.iter_mut();
        let list = lists.find(|option| option.is_model_list);
        if let Some(ConfigValue::Select { current, .. }) = list.map(|list| &mut list.value) {
            *current = model;
        }
    }

    /// Questions for the sessions that the agent keeps; they come as
    /// [`Update::Sessions`].
    pub fn list_sessions(&mut self, cursor: Option<String>) {
        let mut params = schema::ListSessionsRequest::new().cwd(self.config.root.clone());
        params.cursor = cursor;
        self.ask_agent("session/list", &params, Pending::List);
    }

    /// Deletes a session that the agent keeps.
    pub fn delete_session(&mut self, session: &str) {
        let params = schema::DeleteSessionRequest::new(session.to_owned());
        self.ask_agent("session/delete", &params, Pending::Other("session/delete"));
    }

    /// Closes the session, where the agent can, and then the agent's input,
    /// which asks it to end.
    pub fn close(&mut self) {
        if self.state.capabilities.close && matches!(self.stage, Stage::Opened) {
            let params = schema::CloseSessionRequest::new(self.state.session.clone());
            self.ask_agent("session/close", &params, Pending::Other("session/close"));
        }
        if let Link::Process(connection) = &mut self.link {
            connection.close();
        }
    }

    fn ended(&mut self, exit: Exit) {
        if matches!(self.stage, Stage::Ended) {
            return;
        }
        self.stage = Stage::Ended;
        self.turn = None;
        self.pending.clear();
        for id in self.asks.clear() {
            self.updates.push(Update::QuestionClosed(id));
        }
        self.release_all();
        self.journal.finish();
        self.updates.push(Update::Ended {
            exit,
            stderr: self.stderr.clone(),
        });
    }

    /// Says of all that has not ended that it was stopped: the agent and all
    /// commands are ended now.
    pub fn finish(&mut self) {
        self.end_shells();
        self.release_all();
        // Nobody waits for the answer of an agent that was told to stop.
        if let Some(turn) = self.turn.take().filter(|turn| turn.is_canceled) {
            let result = schema::PromptResponse::new(schema::StopReason::Cancelled);
            let answer = wire::answer(&json!(turn.request), &result);
            self.journal.came(&answer);
        }
        self.journal.finish();
    }

    fn ask_agent(&mut self, method: &str, params: &impl serde::Serialize, pending: Pending) -> i64 {
        self.last_id += 1;
        self.pending.insert(self.last_id, pending);
        self.send(wire::request(self.last_id, method, params));
        self.last_id
    }

    fn tell_agent(&mut self, method: &str, params: &impl serde::Serialize) {
        self.send(wire::notification(method, params));
    }

    fn reply(&mut self, id: &Value, result: &impl serde::Serialize) {
        self.send(wire::answer(id, result));
    }

    fn refuse(&mut self, id: &Value, error: &schema::Error) {
        self.send(wire::error(id, error));
    }

    fn send(&mut self, line: String) {
        if matches!(self.stage, Stage::Ended) {
            return;
        }
        self.journal.went(&line);
        match &self.link {
            Link::Process(connection) => connection.send(line),
            Link::Function(send) => send(line),
        }
    }

    /// A rule answered: that is told, shown and kept.
    fn automatic(&mut self, title: String, action: Action, rule: usize) {
        let verb = match action {
            Action::Allow => "allowed",
            Action::Ask => "asks",
            Action::Deny => "denied",
        };
        let text = format!("Rule {rule} {verb}: {}", unspool::tool::label(&title));
        self.notice(Level::Info, text);
        self.updates.push(Update::AnsweredByRule {
            title,
            action,
            rule,
        });
    }

    fn notice(&mut self, level: Level, text: String) {
        let notice = Notice::new(level, text);
        self.journal.say(Body::Notice(notice));
    }
}
