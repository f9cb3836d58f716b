//! Permissions and questions.
//!
//! A request may come before the arguments of its call; it then waits for the
//! call. A question is emitted when it is asked, and again with its answer.

use std::collections::BTreeMap;

use super::calls::Calls;
use crate::event::{Permission, Prompt, ToolStatus};
use crate::json::{Json, Object};
use crate::source::opencode::question;
use crate::source::{Emitter, Outcome};

#[derive(Clone, Default)]
pub(super) struct Requests {
    permissions: BTreeMap<String, Request>,
    questions: BTreeMap<String, Question>,
    /// Questions have events besides the calls that ask them.
    pub(super) has_questions: bool,
    /// Session and id of rejected calls without a result.
    refused: Vec<(String, String)>,
}

#[derive(Clone)]
struct Request {
    session: String,
    call_id: String,
    title: String,
    /// Not emitted yet.
    held: bool,
}

#[derive(Clone)]
struct Question {
    session: String,
    prompts: Vec<Prompt>,
}

impl Requests {
    pub(super) fn permission(&mut self, fields: &Object<'_>, calls: &Calls, out: &mut Emitter) {
        let id = fields.get("id").string();
        let session = fields.get("sessionID").string();
        let call_id = match fields.get("tool").get("callID").string() {
            call if call.is_empty() => fields.get("callID").string(),
            call => call,
        };
        let held = !call_id.is_empty() && calls.key(&session, &call_id).is_none();
        let request = Request {
            session,
            call_id,
            title: title(fields),
            held,
        };
        if !held {
            request.emit(&id, "", calls, out);
        }
        self.permissions.insert(id, request);
    }

    /// Emits the requests that waited for a call.
    pub(super) fn release(
        &mut self,
        session: &str,
        call_id: &str,
        calls: &Calls,
        out: &mut Emitter,
    ) {
        for (id, request) in &mut self.permissions {
            if request.held && request.session == session && request.call_id == call_id {
                request.held = false;
                request.emit(id, "", calls, out);
            }
        }
    }

    pub(super) fn replied(&mut self, fields: &Object<'_>, calls: &Calls, out: &mut Emitter) {
        let text = |keys: [&str; 2]| {
            let mut values = keys.iter().map(|key| fields.get(key).string());
            values.find(|value| !value.is_empty()).unwrap_or_default()
        };
        let id = text(["requestID", "permissionID"]);
        let reply = text(["reply", "response"]);
        let request = self.permissions.remove(&id).unwrap_or_else(|| Request {
            session: fields.get("sessionID").string(),
            call_id: String::new(),
            title: String::new(),
            held: false,
        });
        request.emit(&id, &reply, calls, out);
        if reply == "reject" && !request.call_id.is_empty() {
            self.refused.push((request.session, request.call_id));
        }
    }

    /// Removes a finished call from the rejected ones; returns true if it was one.
    pub(super) fn take_refused(&mut self, session: &str, call_id: &str) -> bool {
        let before = self.refused.len();
        self.refused
            .retain(|(of, call)| of != session || call != call_id);
        self.refused.len() < before
    }

    pub(super) fn question(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        self.has_questions = true;
        let prompts = question::prompts(fields.get("questions"));
        for prompt in &prompts {
            out.prompt(prompt.clone());
        }
        let question = Question {
            session: fields.get("sessionID").string(),
            prompts,
        };
        self.questions.insert(fields.get("id").string(), question);
    }

    pub(super) fn answered(&mut self, fields: &Object<'_>, out: &mut Emitter) {
        if let Some(question) = self.questions.remove(&fields.get("requestID").string()) {
            question::answer(question.prompts, fields.get("answers"), out);
        }
    }

    /// Ends the turn of a session, or of all sessions if the name is empty: rejected
    /// calls get a result.
    pub(super) fn end_turn(&mut self, session: &str, out: &mut Emitter) {
        let is_over = |of: &str| session.is_empty() || of == session;
        self.questions
            .retain(|_, question| !is_over(&question.session));
        self.permissions.retain(|id, request| {
            let over = is_over(&request.session);
            if over && request.held {
                request.emit(id, "", &Calls::default(), out);
            }
            !over
        });
        let refused = std::mem::take(&mut self.refused);
        for (of, call_id) in refused {
            if !is_over(&of) {
                self.refused.push((of, call_id));
            } else if out.is_open(&call_id) {
                let outcome = Outcome {
                    status: ToolStatus::Rejected,
                    ..Outcome::default()
                };
                out.tool_result(&call_id, outcome);
            }
        }
    }
}

impl Request {
    fn emit(&self, id: &str, outcome: &str, calls: &Calls, out: &mut Emitter) {
        let tool_id = calls.key(&self.session, &self.call_id);
        out.permission(Permission {
            id: id.to_owned(),
            tool_id: tool_id.unwrap_or(&self.call_id).to_owned(),
            title: self.title.clone(),
            outcome: outcome.to_owned(),
            ..Permission::default()
        });
    }
}

/// Returns the title of a permission: its kind and the files, commands or URLs.
fn title(fields: &Object<'_>) -> String {
    let title = fields.get("title").string();
    if !title.is_empty() {
        return title;
    }
    let patterns = fields.get("patterns").array();
    let parts = [fields.get("permission")].into_iter().chain(patterns);
    let parts: Vec<String> = parts.map(Json::string).collect();
    parts.join(" ")
}
