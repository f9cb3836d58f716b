//! Questions to the user: permission requests, forms, URLs to visit.
//!
//! A question is open until it is answered, withdrawn by the agent or canceled with
//! the turn. A rule can answer a permission request before it becomes a question;
//! that is always reported.

use std::collections::VecDeque;
use std::path::Path;

use agent_client_protocol_schema::v1 as schema;
use serde_json::{Map, Value};
use unspool::event::{Level, PermissionOption};

use super::grants;
use super::permission_title::PermissionDetails;
use super::{Client, ToolCall, Update};
use crate::permission::{Action, Operation};
use crate::wire::{items, text};

/// Maximum number of open questions. Further ones are canceled.
const MAX_OPEN: usize = 256;

/// Identifies a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

/// A question that waits for the user's answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// Identifies it.
    pub id: QuestionId,
    /// The session that asks: the open one or a sub-agent's.
    pub session: String,
    /// The question itself.
    pub kind: QuestionKind,
    /// The JSON-RPC id.
    request: Value,
    /// The request to perform once the user allows it.
    deferred: Option<DeferredRequest>,
}

/// A kind of question.
#[derive(Clone, Debug)]
pub enum QuestionKind {
    /// A request to run a tool.
    Permission {
        /// The tool call.
        call: Box<ToolCall>,
        /// The possible answers.
        options: Vec<PermissionOption>,
    },
    /// A form to fill in.
    Form {
        /// The question.
        message: String,
        /// The fields, as the JSON schema of an object.
        schema: Value,
    },
    /// A URL to visit in a browser.
    Url {
        /// The question.
        message: String,
        /// The URL.
        url: String,
        /// The id under which the agent reports completion.
        elicitation: String,
    },
}

/// A request of the agent that is performed once the user allows it.
#[derive(Clone, Debug)]
pub(super) struct DeferredRequest {
    pub(super) method: String,
    pub(super) params: Value,
}

/// The user's answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The permission option with this id.
    Option(String),
    /// The fields of a form; empty for a URL.
    Accept(Map<String, Value>),
    /// The user declined.
    Decline,
    /// The user gave no answer.
    Cancel,
}

/// The option ids of the client's own permission requests.
const ALLOW: &str = "allow";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject";

#[derive(Default)]
pub(super) struct Questions {
    open: Vec<Question>,
    last: u64,
    /// Elicitation ids and URLs that the user visited.
    visited: VecDeque<(String, String)>,
}

impl Questions {
    pub(super) fn list(&self) -> &[Question] {
        &self.open
    }

    fn position(&self, request: &Value) -> Option<usize> {
        self.open
            .iter()
            .position(|question| question.request == *request)
    }

    fn take(&mut self, id: QuestionId) -> Option<Question> {
        let at = self.open.iter().position(|question| question.id == id)?;
        Some(self.open.remove(at))
    }

    /// Removes all questions and returns their ids.
    pub(super) fn clear(&mut self) -> Vec<QuestionId> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|question| question.id).collect()
    }
}

impl Client {
    pub(super) fn handle_permission_request(&mut self, request: &Value, params: &Value) {
        let session = text(params, "sessionId");
        let Some(tool_call) = params.get("toolCall").filter(|call| call.is_object()) else {
            self.refuse(request, &invalid_params("toolCall is missing"));
            return;
        };
        let mut call = self.calls.merge_request(&session, tool_call);
        call.remarks = remarks(&call, self.files.root());
        let options: Vec<_> = items(params, "options").iter().map(option).collect();
        // An answer names an option by its id, which must be unique.
        let mut ids: Vec<&str> = options.iter().map(|option| &*option.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair.first() == pair.last()) {
            self.refuse(
                request,
                &invalid_params("two options have the same optionId"),
            );
            return;
        }
        let details = PermissionDetails::new(&call, &self.files);
        self.journal.set_permission_details(details);
        if self.is_canceling() || self.questions.open.len() >= MAX_OPEN {
            self.reply(request, &canceled());
            return;
        }
        let verdict = self.config.rules.judge(&self.operation(&call));
        let chosen = by_kind(&options, verdict.action);
        if let (Some(rule), Some(chosen)) = (verdict.rule, chosen) {
            if verdict.action == Action::Allow {
                self.grants.add_by_rule(&call, &self.files);
            }
            self.reply(request, &selected(&chosen.id));
            self.report_rule(call.title, verdict.action, rule);
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

    pub(super) fn handle_elicitation(&mut self, request: &Value, params: &Value) {
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
                self.refuse(request, &invalid_params("requestedSchema is missing"));
                return;
            }
            (mode, _) => {
                self.refuse(request, &invalid_params(&format!("unknown mode {mode:?}")));
                return;
            }
        };
        if self.is_canceling() || self.questions.open.len() >= MAX_OPEN {
            let action = schema::ElicitationAction::Cancel;
            self.reply(request, &schema::CreateElicitationResponse::new(action));
            return;
        }
        self.ask(request, session, kind, None);
    }

    /// Asks the user before a request of the agent is performed.
    pub(super) fn ask_before(
        &mut self,
        request: &Value,
        deferred: DeferredRequest,
        call: ToolCall,
    ) {
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
        let session = text(&deferred.params, "sessionId");
        let call = Box::new(call);
        let kind = QuestionKind::Permission { call, options };
        self.ask(request, session, kind, Some(deferred));
    }

    fn ask(
        &mut self,
        request: &Value,
        session: String,
        kind: QuestionKind,
        deferred: Option<DeferredRequest>,
    ) {
        // A repeated request replaces its question.
        if let Some(at) = self.questions.position(request) {
            if let Some(question) = self.questions.open.get_mut(at) {
                question.kind = kind;
                question.deferred = deferred;
                self.updates.push(Update::QuestionAdded(question.id));
            }
            return;
        }
        self.questions.last += 1;
        let id = QuestionId(self.questions.last);
        self.questions.open.push(Question {
            id,
            session,
            kind,
            request: request.clone(),
            deferred,
        });
        self.updates.push(Update::QuestionAdded(id));
    }

    /// Answers a question; returns false if it is no longer open. An answer that does
    /// not fit the question counts as [`Answer::Cancel`].
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> bool {
        let Some(question) = self.questions.take(id) else {
            return false;
        };
        self.updates.push(Update::QuestionClosed(id));
        match (question.kind, question.deferred) {
            (QuestionKind::Permission { call, options }, deferred) => {
                let chosen = match &answer {
                    Answer::Option(id) => options.iter().find(|option| option.id == *id),
                    _ => None,
                };
                if deferred.is_none() {
                    let details = PermissionDetails::new(&call, &self.files);
                    self.journal.set_permission_details(details);
                }
                let kind = chosen.map_or("", |option| &*option.kind);
                let is_allowed = matches!(kind, "allow_once" | "allow_always");
                // The agent itself applies the "always" of its own requests.
                if is_allowed && deferred.is_none() {
                    self.grants.add(&call, &self.files);
                } else if kind == "allow_always" {
                    self.grants.add_always(&call.kind);
                }
                match (deferred, chosen) {
                    (Some(deferred), _) if is_allowed => self.perform(&question.request, &deferred),
                    (Some(_), _) => self.refuse(&question.request, &not_allowed()),
                    (None, Some(option)) => self.reply(&question.request, &selected(&option.id)),
                    (None, None) => self.reply(&question.request, &canceled()),
                }
            }
            (kind @ (QuestionKind::Form { .. } | QuestionKind::Url { .. }), _) => {
                self.remember_visit(kind, &answer);
                let response = schema::CreateElicitationResponse::new(action(answer));
                self.reply(&question.request, &response);
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
            self.questions.visited.push_back((elicitation, url));
            if self.questions.visited.len() > MAX_OPEN {
                self.questions.visited.pop_front();
            }
        }
    }

    /// Handles the agent's report that a URL was completed: accepts the question if it
    /// is still open.
    pub(super) fn complete_visit(&mut self, elicitation: &str) {
        let is_visit = |question: &&Question| matches!(&question.kind, QuestionKind::Url { elicitation: id, .. } if id == elicitation);
        let open = self
            .questions
            .open
            .iter()
            .find(is_visit)
            .map(|question| question.id);
        if let Some(id) = open.filter(|_| !elicitation.is_empty()) {
            self.answer(id, Answer::Accept(Map::new()));
        }
        let visited = &mut self.questions.visited;
        let Some(at) = visited.iter().position(|(id, _)| id == elicitation) else {
            return;
        };
        if let Some((_, url)) = visited.remove(at) {
            let url = unspool::sanitize::line(&url).into_owned();
            self.notice(Level::Info, format!("Done at {url}. The agent continues."));
        }
    }

    pub(super) fn cancel_questions(&mut self) {
        let open: Vec<QuestionId> = self
            .questions
            .open
            .iter()
            .map(|question| question.id)
            .collect();
        for id in open {
            self.answer(id, Answer::Cancel);
        }
    }

    /// Withdraws a request that the agent canceled.
    pub(super) fn withdraw(&mut self, request: &Value) {
        if let Some(at) = self.questions.position(request) {
            let question = self.questions.open.remove(at);
            self.updates.push(Update::QuestionClosed(question.id));
        } else if !self.agent_terminals.stop_waiting(request) {
            return;
        }
        self.refuse(request, &schema::Error::request_cancelled());
    }

    /// Returns the operation that rules judge.
    fn operation(&self, call: &ToolCall) -> Operation {
        Operation {
            tool: call.name.clone(),
            kind: call.kind.clone(),
            paths: grants::resolve_all(&call.paths, &self.files),
            command: call.command.clone().filter(|_| call.is_command_given),
            title: call.title.clone(),
        }
    }
}

/// Returns the fields of the input that change how a command runs.
fn remarks(call: &ToolCall, root: &Path) -> Vec<String> {
    const KEYS: [&str; 9] = [
        // Only beside `command`, which is shown.
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
        let is_default = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty() || Path::new(text) == root,
            Value::Array(list) => list.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        let shown = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (!is_default).then(|| format!("{key}: {shown}"))
    };
    KEYS.into_iter().filter_map(value).collect()
}

fn option(option: &Value) -> PermissionOption {
    let name = unspool::tool::label(&text(option, "name"));
    PermissionOption::new(text(option, "optionId"), name, text(option, "kind"))
}

/// Returns the option that a rule chooses. A rule never allows more than this once.
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

pub(super) fn invalid_params(why: &str) -> schema::Error {
    schema::Error::new(-32602, format!("Invalid params: {why}"))
}

fn not_allowed() -> schema::Error {
    schema::Error::new(-32603, "the user did not allow it")
}
