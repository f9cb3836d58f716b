//! Requests that a person has to answer: permissions, forms, addresses.
//!
//! They stand in a queue until they are answered, taken back by the agent or
//! canceled with the turn. A rule may answer a permission before it gets there;
//! that is always told.

use std::collections::VecDeque;
use std::path::Path;

use agent_client_protocol_schema::v1 as schema;
use serde_json::{Map, Value};
use unspool::event::{Level, PermissionOption};

use super::answered::About;
use super::{Client, ToolCall, Update};
use crate::permission::{Action, Operation};
use crate::wire::{items, text};

/// Requests that may be open at once; more are canceled.
const OPEN: usize = 256;

/// Names a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

/// A request that waits for the person.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// Names it.
    pub id: QuestionId,
    /// The session that asks: the open one, or a sub-agent's.
    pub session: String,
    /// What is asked.
    pub kind: QuestionKind,
    /// The JSON-RPC id.
    request: Value,
    /// What happens once it is allowed, for a request of our own.
    held: Option<Held>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// May a tool do its work?
    Permission {
        /// What it would do.
        call: Box<ToolCall>,
        /// The possible answers.
        options: Vec<PermissionOption>,
    },
    /// A form to fill in.
    Form {
        /// The question.
        message: String,
        /// The fields, as a JSON schema of an object.
        schema: Value,
    },
    /// An address to open in a browser.
    Url {
        /// The question.
        message: String,
        /// The address.
        url: String,
        /// The agent's name for it, under which it tells that all is done.
        elicitation: String,
    },
}

/// A request of the agent that a rule wants to be asked first.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) method: String,
    pub(super) params: Value,
}

/// The person's answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The option with this id.
    Option(String),
    /// The form's fields; an address needs none.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// No answer.
    Cancel,
}

/// The id of the answer to what we ask ourselves.
const ALLOW: &str = "allow";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject";

#[derive(Default)]
pub(super) struct Questions {
    open: Vec<Question>,
    last: u64,
    /// Addresses that the person went to, by the agent's names.
    visited: VecDeque<(String, String)>,
}

impl Questions {
    pub(super) fn list(&self) -> &[Question] {
        &self.open
    }

    fn position(&self, request: &Value) -> Option<usize> {
        self.open.iter().position(|ask| ask.request == *request)
    }

    fn take(&mut self, id: QuestionId) -> Option<Question> {
        let at = self.open.iter().position(|ask| ask.id == id)?;
        Some(self.open.remove(at))
    }

    /// Forgets all, and names them.
    pub(super) fn clear(&mut self) -> Vec<QuestionId> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|ask| ask.id).collect()
    }
}

impl Client {
    pub(super) fn asks_permission(&mut self, request: &Value, params: &Value) {
        let session = text(params, "sessionId");
        let Some(tool_call) = params.get("toolCall").filter(|call| call.is_object()) else {
            self.refuse(request, &unreadable("toolCall is missing"));
            return;
        };
        let mut call = self.calls.asked(&session, tool_call);
        call.remarks = remarks(&call, self.services.files.root());
        let options: Vec<_> = items(params, "options").iter().map(option).collect();
        // An answer names an option, so it must mean one alone.
        let mut ids: Vec<&str> = options.iter().map(|option| &*option.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair.first() == pair.last()) {
            self.refuse(request, &unreadable("two options have the same optionId"));
            return;
        }
        let about = About::new(&call, &self.services.files);
        self.journal.answering(about);
        if self.is_canceling() || self.asks.open.len() >= OPEN {
            self.reply(request, &canceled());
            return;
        }
        let verdict = self.config.rules.judge(&self.subject(&call));
        let chosen = by_kind(&options, verdict.action);
        if let (Some(rule), Some(chosen)) = (verdict.rule, chosen) {
            if verdict.action == Action::Allow {
                self.services.grant_by_rule(&call);
            }
            self.reply(request, &selected(&chosen.id));
            self.automatic(call.title, verdict.action, rule);
            return;
        }
        let call = Box::new(call);
        self.ask(
            request,
            session,
            QuestionKind::Permission { call, options },
            None,
        );
    }

    pub(super) fn asks_form(&mut self, request: &Value, params: &Value) {
        let session = text(params, "sessionId");
        let message = text(params, "message");
        let schema = params.get("requestedSchema").cloned();
        let kind = match (&*text(params, "mode"), schema) {
            ("url", _) => QuestionKind::Url {
                message,
                url: text(params, "url"),
                elicitation: text(params, "elicitationId"),
            },
            ("form" | "", Some(schema)) => QuestionKind::Form { message, schema },
            ("form", None) => {
                self.refuse(request, &unreadable("requestedSchema is missing"));
                return;
            }
            (mode, _) => {
                self.refuse(request, &unreadable(&format!("unknown mode {mode:?}")));
                return;
            }
        };
        if self.is_canceling() || self.asks.open.len() >= OPEN {
            let action = schema::ElicitationAction::Cancel;
            self.reply(request, &schema::CreateElicitationResponse::new(action));
            return;
        }
        self.ask(request, session, kind, None);
    }

    /// Asks the person before a request of the agent is done.
    pub(super) fn ask_first(&mut self, request: &Value, held: Held, call: ToolCall) {
        let always = if call.kind == "execute" {
            "Allow this agent to run commands until you leave"
        } else {
            "Allow this agent to write files of the project until you leave"
        };
        let options = vec![
            PermissionOption::new(ALLOW, "Allow", "allow_once"),
            PermissionOption::new(ALLOW_ALWAYS, always, "allow_always"),
            PermissionOption::new(REJECT, "Reject", "reject_once"),
        ];
        let session = text(&held.params, "sessionId");
        let call = Box::new(call);
        let kind = QuestionKind::Permission { call, options };
        self.ask(request, session, kind, Some(held));
    }

    fn ask(&mut self, request: &Value, session: String, kind: QuestionKind, held: Option<Held>) {
        // The same request once more is the same question.
        if let Some(at) = self.asks.position(request) {
            if let Some(ask) = self.asks.open.get_mut(at) {
                ask.kind = kind;
                ask.held = held;
                self.updates.push(Update::QuestionAdded(ask.id));
            }
            return;
        }
        self.asks.last += 1;
        let id = QuestionId(self.asks.last);
        self.asks.open.push(Question {
            id,
            session,
            kind,
            request: request.clone(),
            held,
        });
        self.updates.push(Update::QuestionAdded(id));
    }

    /// Answers a request; `false` if it is gone. An answer that does not fit
    /// the question counts as none.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> bool {
        let Some(ask) = self.asks.take(id) else {
            return false;
        };
        self.updates.push(Update::QuestionClosed(id));
        match (ask.kind, ask.held) {
            (QuestionKind::Permission { call, options }, held) => {
                let chosen = match &answer {
                    Answer::Option(id) => options.iter().find(|option| option.id == *id),
                    _ => None,
                };
                if held.is_none() {
                    let about = About::new(&call, &self.services.files);
                    self.journal.answering(about);
                }
                let kind = chosen.map_or("", |option| &*option.kind);
                let is_allowed = matches!(kind, "allow_once" | "allow_always");
                // What the agent means by its own "always", it knows itself.
                if is_allowed && held.is_none() {
                    self.services.grant(&call);
                } else if kind == "allow_always" {
                    self.services.grant_always(&call.kind);
                }
                match (held, chosen) {
                    (Some(held), _) if is_allowed => self.perform(&ask.request, &held),
                    (Some(_), _) => self.refuse(&ask.request, &not_allowed()),
                    (None, Some(option)) => self.reply(&ask.request, &selected(&option.id)),
                    (None, None) => self.reply(&ask.request, &canceled()),
                }
            }
            (kind @ (QuestionKind::Form { .. } | QuestionKind::Url { .. }), _) => {
                self.remember_visit(kind, &answer);
                let response = schema::CreateElicitationResponse::new(action(answer));
                self.reply(&ask.request, &response);
            }
        }
        true
    }

    fn remember_visit(&mut self, kind: QuestionKind, answer: &Answer) {
        if let (
            QuestionKind::Url {
                url, elicitation, ..
            },
            Answer::Accept(_),
        ) = (kind, answer)
            && !elicitation.is_empty()
        {
            self.asks.visited.push_back((elicitation, url));
            if self.asks.visited.len() > OPEN {
                self.asks.visited.pop_front();
            }
        }
    }

    /// What the person did at an address is done. The question whether to go
    /// there is answered by that.
    pub(super) fn visited(&mut self, elicitation: &str) {
        let is_it = |ask: &&Question| matches!(&ask.kind, QuestionKind::Url { elicitation: id, .. } if id == elicitation);
        let open = self.asks.open.iter().find(is_it).map(|ask| ask.id);
        if let Some(id) = open.filter(|_| !elicitation.is_empty()) {
            self.answer(id, Answer::Accept(Map::new()));
        }
        let visited = &mut self.asks.visited;
        let Some(at) = visited.iter().position(|(id, _)| id == elicitation) else {
            return;
        };
        if let Some((_, url)) = visited.remove(at) {
            let url = unspool::sanitize::line(&url).into_owned();
            self.notice(Level::Info, format!("Done at {url}: the agent goes on."));
        }
    }

    pub(super) fn cancel_asks(&mut self) {
        let open: Vec<QuestionId> = self.asks.open.iter().map(|ask| ask.id).collect();
        for id in open {
            self.answer(id, Answer::Cancel);
        }
    }

    /// The agent does not want an answer any more.
    pub(super) fn taken_back(&mut self, request: &Value) {
        if let Some(at) = self.asks.position(request) {
            let ask = self.asks.open.remove(at);
            self.updates.push(Update::QuestionClosed(ask.id));
        } else if !self.services.stop_waiting(request) {
            return;
        }
        self.refuse(request, &schema::Error::request_cancelled());
    }

    /// What rules are asked about.
    fn subject(&self, call: &ToolCall) -> Operation {
        Operation {
            tool: call.name.clone(),
            kind: call.kind.clone(),
            paths: self.services.places(&call.paths),
            command: call.command.clone().filter(|_| call.is_command_given),
            title: call.title.clone(),
        }
    }
}

/// What else the input says of how a command is run.
fn remarks(call: &ToolCall, root: &Path) -> Vec<String> {
    const KEYS: [&str; 9] = [
        // Beside a `command`, which is what is shown.
        "cmd",
        "cwd",
        "workdir",
        "working_directory",
        "directory",
        "env",
        "stdin",
        "script",
        "shell",
    ];
    let input = call.input.as_ref().filter(|_| call.command.is_some());
    let value = |key: &str| {
        let input = input?;
        let value = input.get(key)?;
        if key == "cmd" && input.get("command").is_none() {
            return None;
        }
        let is_nothing = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty() || Path::new(text) == root,
            Value::Array(list) => list.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        let shown = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (!is_nothing).then(|| format!("{key}: {shown}"))
    };
    KEYS.into_iter().filter_map(value).collect()
}

fn option(option: &Value) -> PermissionOption {
    let name = unspool::tool::label(&text(option, "name"));
    PermissionOption::new(text(option, "optionId"), name, text(option, "kind"))
}

/// The option that a rule takes: never one that holds for more than this once,
/// if that would allow more.
fn by_kind(options: &[PermissionOption], action: Action) -> Option<&PermissionOption> {
    let of = |kind| options.iter().find(|option| option.kind == kind);
    match action {
        Action::Allow => of("allow_once"),
        Action::Deny => of("reject_once").or_else(|| of("reject_always")),
        Action::Ask => None,
    }
}

fn selected(option: &str) -> schema::RequestPermissionResponse {
    let outcome = schema::SelectedPermissionOutcome::new(option.to_owned());
    schema::RequestPermissionResponse::new(schema::RequestPermissionOutcome::Selected(outcome))
}

fn canceled() -> schema::RequestPermissionResponse {
    schema::RequestPermissionResponse::new(schema::RequestPermissionOutcome::Cancelled)
}

fn action(answer: Answer) -> schema::ElicitationAction {
    match answer {
        Answer::Accept(fields) => {
            let content = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, serde_json::from_value(value).ok()?)))
                .collect();
            let accept = schema::ElicitationAcceptAction::new().content(Some(content));
            schema::ElicitationAction::Accept(accept)
        }
        Answer::Decline => schema::ElicitationAction::Decline,
        Answer::Option(_) | Answer::Cancel => schema::ElicitationAction::Cancel,
    }
}

pub(super) fn unreadable(why: &str) -> schema::Error {
    schema::Error::new(-32602, format!("Invalid params: {why}"))
}

fn not_allowed() -> schema::Error {
    schema::Error::new(-32603, "the person did not allow it")
}
