//! The client's side of a conversation, as a state machine that never blocks.
//!
//! [`Client::receive`] processes what comes from the agent; the other methods do what
//! the user wants. The results are [`Update`]s: `receive` returns them, and after any
//! other method [`Client::take_updates`] does.
//!
//! | stage | left by |
//! |---|---|
//! | `Starting` | the answers to `initialize` and then to `session/new` or its like |
//! | `Login` | `authenticate`, after which the failed request is retried |
//! | `Unopened`, `Failed` | `open_session` |
//! | `Opened` | the end of the agent |
//!
//! A turn lasts from the prompt to the answer of its request, whatever arrives before
//! or after that. Further prompts wait in a queue.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use agent_client_protocol_schema::v1 as schema;
use serde::Serialize;
use serde_json::{Value, json};
use unspool::event::{Body, Level, Notice};

use crate::agent_state::{self, AgentState, Phase};
use crate::connection::{Connection, Incoming, Launch, keep_end};
use crate::files::{Files, WrittenFile};
use crate::permission::Action;
use crate::process::Exit;
use crate::terminals::Terminals;
use crate::wire::{self, Message, Refusal};
pub use config::{ClientConfig, SessionRequest};
use grants::Grants;
use journal::Journal;
pub use proposed_change::ProposedChange;
use questions::Questions;
pub use questions::{Answer, Question, QuestionId, QuestionKind};
use shell::Shell;
use terminal_cards::AgentTerminals;
pub use tool_calls::ToolCall;
use tool_calls::ToolCalls;
pub use unfinished_calls::{LeftoverCalls, close_interrupted};
pub use update::{QueuedPrompt, Update};

mod config;
mod file_requests;
mod grants;
mod journal;
mod permission_title;
mod prompt_content;
mod proposed_change;
mod questions;
mod session_control;
mod session_setup;
mod shell;
mod terminal_cards;
mod terminal_requests;
#[cfg(test)]
mod tests;
mod tool_calls;
mod turns;
mod unfinished_calls;
mod update;

/// Maximum number of characters of a line that is not a protocol message.
const INVALID_LINE_LIMIT: usize = 4 << 10;

enum Stage {
    Starting,
    Unopened,
    /// Holds the request to retry; `Unchosen` for a prompt.
    Login(SessionRequest),
    Opened,
    Failed,
    Ended,
}

/// A request that waits for the agent's answer.
enum Pending {
    Initialize,
    Authenticate,
    OpenSession(SessionRequest),
    Prompt,
    Mode(String),
    Option,
    Model(String),
    List,
    /// A method whose answer changes nothing.
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

/// The client of one agent.
pub struct Client {
    config: ClientConfig,
    link: Link,
    journal: Journal,
    updates: Vec<Update>,
    reported_phase: Phase,
    stage: Stage,
    state: AgentState,
    pending: BTreeMap<i64, Pending>,
    last_request: i64,
    turn: Option<Turn>,
    queue: VecDeque<QueuedPrompt>,
    last_queued: u64,
    questions: Questions,
    calls: ToolCalls,
    files: Files,
    grants: Grants,
    terminals: Terminals,
    agent_terminals: AgentTerminals,
    /// The user's running commands.
    shells: BTreeMap<String, Shell>,
    last_terminal: u64,
    stderr: String,
    /// The part of `stderr` since the last completed turn or
    /// [`Client::take_stderr`].
    fresh_stderr: String,
}

impl Client {
    /// Starts an agent. Everything that arrives goes to the callback, from any thread,
    /// and from there has to go to [`Client::receive`]. Fails when the agent cannot be
    /// started or the root is not a folder.
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

    /// Creates a client that sends its lines to a function instead of a process.
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
        let terminals = Terminals::new(config.shell.clone(), move |event| {
            callback(Incoming::Terminal(event));
        });
        let (record, leftover) = (config.record.clone(), config.leftover_calls.clone());
        let mut client = Self {
            journal: Journal::new(record, config.first_seq, leftover),
            config,
            link,
            updates: Vec::new(),
            reported_phase: Phase::Starting,
            stage: Stage::Starting,
            state: AgentState::default(),
            pending: BTreeMap::new(),
            last_request: -1,
            turn: None,
            queue: VecDeque::new(),
            last_queued: 0,
            questions: Questions::default(),
            calls: ToolCalls::default(),
            files,
            grants: Grants::default(),
            terminals,
            agent_terminals: AgentTerminals::default(),
            shells: BTreeMap::new(),
            last_terminal: 0,
            stderr: String::new(),
            fresh_stderr: String::new(),
        };
        if let Some(agent) = client.config.recorded_agent.take() {
            client.journal.add(agent.to_state());
        }
        client.initialize();
        client
    }

    /// Returns true if a tool call in progress shows this change of a file.
    pub fn shows_change(&self, written: &WrittenFile) -> bool {
        self.calls.any_shows_change(written)
    }

    /// Returns the ids of calls that turns left open and that were silent since.
    pub fn leftover_ids(&self) -> impl Iterator<Item = &str> {
        self.journal.leftover_ids()
    }

    /// Returns the same calls for the next client of the conversation.
    pub fn leftover_calls(&self) -> LeftoverCalls {
        self.journal.leftover_calls()
    }

    /// Adds an event of the app to the conversation.
    pub fn add_event(&mut self, body: Body) {
        self.journal.add(body);
    }

    /// Returns the phase of the agent and its session.
    pub fn phase(&self) -> Phase {
        match self.stage {
            Stage::Ended => Phase::Ended,
            Stage::Failed => Phase::Failed,
            _ if !self.questions.list().is_empty() => Phase::Asking,
            Stage::Starting => Phase::Starting,
            Stage::Unopened => Phase::Unopened,
            Stage::Login(_) => Phase::NeedsLogin,
            Stage::Opened if self.turn.is_some() => Phase::Working,
            Stage::Opened => Phase::Ready,
        }
    }

    /// Returns what the agent reported about itself and its session.
    pub fn state(&self) -> &AgentState {
        &self.state
    }

    /// Returns the queued prompts, the next one first.
    pub fn queue(&self) -> &VecDeque<QueuedPrompt> {
        &self.queue
    }

    /// Returns the open questions, oldest first.
    pub fn questions(&self) -> &[Question] {
        self.questions.list()
    }

    /// Returns true if the current turn was canceled and has not ended yet.
    pub fn is_canceling(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_canceled)
    }

    /// Returns the end of the agent's standard error.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Returns the end of the agent's standard error since the last completed turn,
    /// once.
    pub fn take_stderr(&mut self) -> String {
        std::mem::take(&mut self.fresh_stderr)
    }

    /// Returns the agent's process group.
    pub fn group(&self) -> Option<i32> {
        match &self.link {
            Link::Process(connection) => Some(connection.group()),
            Link::Function(_) => None,
        }
    }

    /// Returns the number of bytes that the agent has not read yet.
    pub fn unread_bytes(&self) -> usize {
        match &self.link {
            Link::Process(connection) => connection.unread_bytes(),
            Link::Function(_) => 0,
        }
    }

    /// Returns the file of the recording, once it exists.
    pub fn record_path(&self) -> Option<&Path> {
        self.journal.path()
    }

    /// Processes what arrived and returns the changes.
    pub fn receive(&mut self, incoming: Incoming) -> Vec<Update> {
        match incoming {
            Incoming::Line(line) => self.handle_line(line.trim_end_matches('\r')),
            Incoming::Oversized(bytes) => {
                let text = format!("The agent sent a line of {bytes} bytes, which was skipped.");
                self.notice(Level::Warning, text);
            }
            Incoming::Stderr(text) => {
                keep_end(&mut self.stderr, &text);
                keep_end(&mut self.fresh_stderr, &text);
            }
            Incoming::Exited(exit) => self.handle_exit(exit),
            Incoming::Terminal(event) => self.handle_terminal_event(event),
        }
        self.take_updates()
    }

    /// Returns the changes since the last time, events first.
    pub fn take_updates(&mut self) -> Vec<Update> {
        let mut updates = self.journal.take_events(&mut self.updates);
        updates.append(&mut self.updates);
        let phase = self.phase();
        if phase != self.reported_phase {
            self.reported_phase = phase;
            updates.push(Update::Phase(phase));
        }
        updates
    }

    /// Shows what is held back until the next message, and terminals that no call
    /// shows. To be called when nothing has arrived for a while.
    pub fn flush_held(&mut self) -> Vec<Update> {
        self.show_due_cards();
        self.journal.flush();
        self.take_updates()
    }

    /// Ends all commands and closes the conversation, for a client that is about to
    /// be dropped.
    pub fn finish(&mut self) {
        self.end_shells();
        self.release_all_terminals();
        // The answer of a canceled turn is not waited for.
        if let Some(turn) = self.turn.take().filter(|turn| turn.is_canceled) {
            let result = schema::PromptResponse::new(schema::StopReason::Cancelled);
            let answer = wire::answer(&json!(turn.request), &result);
            self.journal.received(&answer);
        }
        self.journal.finish();
    }

    fn handle_line(&mut self, line: &str) {
        if line.trim().is_empty() || matches!(self.stage, Stage::Ended) {
            return;
        }
        let Some(message) = wire::parse(line) else {
            let text = line.chars().take(INVALID_LINE_LIMIT).collect();
            self.updates.push(Update::InvalidLine(text));
            return;
        };
        // The reader must not take an unexpected answer for the end of a turn.
        if let Message::Response { id, .. } = &message
            && !id.as_i64().is_some_and(|id| self.pending.contains_key(&id))
        {
            return;
        }
        self.replace_cards(&message);
        self.journal.received(line);
        match message {
            Message::Request { id, method, params } => self.handle_request(&id, &method, &params),
            Message::Notification { method, params } => self.handle_notification(&method, &params),
            Message::Response { id, result } => self.handle_response(&id, result),
            Message::Other => {}
        }
    }

    fn handle_request(&mut self, id: &Value, method: &str, params: &Value) {
        match method {
            "session/request_permission" => self.handle_permission_request(id, params),
            "elicitation/create" => self.handle_elicitation(id, params),
            "fs/read_text_file" | "fs/write_text_file" => {
                self.handle_file_request(id, method, params);
            }
            _ if method.starts_with("terminal/") => {
                self.handle_terminal_request(id, method, params);
            }
            _ => {
                let error = schema::Error::method_not_found().data(json!(method));
                self.refuse(id, &error);
            }
        }
    }

    fn handle_notification(&mut self, method: &str, params: &Value) {
        match method {
            "session/update" => self.handle_update(params),
            "elicitation/complete" => self.complete_visit(&wire::text(params, "elicitationId")),
            "$/cancel_request" => {
                let request = params.get("requestId").unwrap_or(&Value::Null);
                self.withdraw(request);
            }
            _ => {}
        }
    }

    fn handle_update(&mut self, params: &Value) {
        let session = wire::text(params, "sessionId");
        let update = params.get("update").unwrap_or(&Value::Null);
        self.calls.update(&session, update);
        let is_ours = session == self.state.session || self.state.session.is_empty();
        if is_ours && self.state.update(update) {
            self.updates.push(Update::StateChanged);
        }
    }

    fn handle_response(&mut self, id: &Value, result: Result<Value, Refusal>) {
        let Some(pending) = id.as_i64().and_then(|id| self.pending.remove(&id)) else {
            return;
        };
        match pending {
            Pending::Initialize => self.finish_initialize(result),
            Pending::Authenticate => match result {
                Ok(_) => self.retry_after_login(),
                Err(refusal) => self.report_failure("authenticate", &refusal.message),
            },
            Pending::OpenSession(request) => self.finish_open(request, result),
            Pending::Prompt => self.finish_turn(result),
            Pending::Mode(mode) => {
                if self.ok_or_report("session/set_mode", result).is_some() {
                    self.state.mode = mode;
                }
            }
            Pending::Option => {
                if let Some(result) = self.ok_or_report("session/set_config_option", result) {
                    self.state.set_options(&result);
                }
            }
            Pending::Model(model) => {
                if self.ok_or_report("session/set_model", result).is_some() {
                    self.model_was_set(model);
                }
            }
            Pending::List => {
                if let Some(result) = self.ok_or_report("session/list", result) {
                    let next = result.get("nextCursor").and_then(Value::as_str);
                    let next = next.map(str::to_owned);
                    let sessions = agent_state::saved_sessions(&result);
                    self.updates.push(Update::Sessions(sessions, next));
                }
            }
            Pending::Other(method) => {
                self.ok_or_report(method, result);
            }
        }
        self.updates.push(Update::StateChanged);
    }

    fn handle_exit(&mut self, exit: Exit) {
        if matches!(self.stage, Stage::Ended) {
            return;
        }
        self.stage = Stage::Ended;
        self.turn = None;
        self.pending.clear();
        for id in self.questions.clear() {
            self.updates.push(Update::QuestionClosed(id));
        }
        self.release_all_terminals();
        self.journal.finish();
        self.updates.push(Update::Ended {
            exit,
            stderr: self.stderr.clone(),
        });
    }

    /// Returns the result of a request, or reports its failure.
    fn ok_or_report(&mut self, method: &str, result: Result<Value, Refusal>) -> Option<Value> {
        match result {
            Ok(value) => Some(value),
            Err(refusal) => {
                self.report_failure(method, &refusal.message);
                None
            }
        }
    }

    fn report_failure(&mut self, method: &str, message: &str) {
        self.updates.push(Update::Failed {
            what: method.to_owned(),
            message: message.to_owned(),
        });
    }

    /// Reports the answer of a rule, as an event and as an update.
    fn report_rule(&mut self, title: String, action: Action, rule: usize) {
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
        self.journal.add(Notice::new(level, text));
    }

    fn send_request(&mut self, method: &str, params: &impl Serialize, pending: Pending) -> i64 {
        self.last_request += 1;
        self.pending.insert(self.last_request, pending);
        self.send(wire::request(self.last_request, method, params));
        self.last_request
    }

    fn send_notification(&mut self, method: &str, params: &impl Serialize) {
        self.send(wire::notification(method, params));
    }

    fn reply(&mut self, id: &Value, result: &impl Serialize) {
        self.send(wire::answer(id, result));
    }

    fn refuse(&mut self, id: &Value, error: &schema::Error) {
        self.send(wire::error(id, error));
    }

    fn send(&mut self, line: String) {
        if matches!(self.stage, Stage::Ended) {
            return;
        }
        self.journal.sent(&line);
        match &self.link {
            Link::Process(connection) => connection.send(line),
            Link::Function(send) => send(line),
        }
    }
}
