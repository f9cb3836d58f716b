//! Answers to requests. An agent's stdout lacks the requests; there the answer
//! itself shows what was requested.

use super::content::error_text;
use super::sessions::ThreadError;
use super::{Acp, Program, Request, has_settings, sessions, usage};
use crate::event::{
    Level, Permission, Prompt, RawJson, Session, ToolStatus, TurnEnd, TurnStatus, Usage,
};
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Errors of JSON-RPC: the request was invalid, so no turn started.
const PROTOCOL_ERRORS: &[i64] = &[-32700, -32600, -32601, -32602];
const REQUEST_CANCELLED: i64 = -32800;

impl Acp {
    /// Reads an answer of the agent; returns false if it is unknown.
    pub(super) fn agent_answers(
        &mut self,
        request: Option<Request>,
        result: Json<'_>,
        out: &mut Emitter,
    ) -> bool {
        let asked = request.is_some();
        let request = request.unwrap_or_default();
        let fields = result.object();
        if fields.get("stopReason").is_string() {
            self.prompt_ended(&request, &fields, out);
            return true;
        }
        match request.method.as_str() {
            "session/new" | "session/load" | "session/resume" | "session/fork" => {
                self.session_opened(&request, &fields, out);
            }
            "session/set_mode" => self.word("mode", &request.subject, out),
            "session/set_model" => self.word("model", &request.subject, out),
            "session/set_config_option" => self.settings(&fields, out),
            method if method.starts_with('_') => self.state(method, result, out),
            _ if fields.get("protocolVersion").u64().is_some() => self.initialized(result, out),
            _ if fields.get("sessions").is_array() => {
                self.state("sessions", fields.get("sessions"), out);
            }
            _ if asked => {}
            _ if fields.get("sessionId").is_string() || has_settings(&fields) => {
                self.session_opened(&request, &fields, out);
            }
            // Of the rest, only the draft's answer to a prompt has a field.
            _ => return fields.is_empty() || fields.get("messageId").is_string(),
        }
        true
    }

    fn initialized(&mut self, result: Json<'_>, out: &mut Emitter) {
        let info = result.get("agentInfo");
        let info = if info.is_object() {
            info
        } else {
            result.get("info")
        };
        self.version = info.get("version").string();
        self.program = Program::of(&info.get("name").string());
        self.state("agent", result, out);
    }

    fn session_opened(&mut self, request: &Request, result: &Object<'_>, out: &mut Emitter) {
        let named = [result.get("sessionId").string(), request.session.clone()];
        let session = named.into_iter().find(|id| !id.is_empty());
        let session = session.unwrap_or_else(|| self.current.clone());
        let root = self.sessions.root(&session);
        let model = sessions::model(result);
        let is_news = root.announced && !model.is_empty() && root.model != model;
        if !model.is_empty() {
            root.model.clone_from(&model);
        }
        if request.method.is_empty() {
            // Only the answer says where the history ends.
            root.replaying = false;
        } else {
            root.requested = true;
        }
        if root.cwd.is_empty() {
            root.cwd.clone_from(&request.subject);
        }
        let cwd = root.cwd.clone();
        out.agent(None);
        self.open_session(&session, out);
        if is_news {
            out.session(Session {
                provider: super::NAME.to_owned(),
                version: self.version.clone(),
                id: session,
                model,
                cwd,
                ..Session::default()
            });
        }
        self.settings(result, out);
    }

    /// Emits the modes, models, options and commands in a result.
    fn settings(&mut self, result: &Object<'_>, out: &mut Emitter) {
        for (key, name) in [
            ("modes", "modes"),
            ("models", "models"),
            ("configOptions", "config_options"),
            ("availableCommands", "available_commands"),
        ] {
            if !result.get(key).is_null() {
                self.state(name, result.get(key), out);
            }
        }
    }

    pub(super) fn word(&mut self, name: &str, word: &str, out: &mut Emitter) {
        if let Some(value) = RawJson::of(&word) {
            self.state(name, value.json(), out);
        }
    }

    /// Ends a turn of protocol 1.
    fn prompt_ended(&mut self, request: &Request, result: &Object<'_>, out: &mut Emitter) {
        let session = self.turn_session(request);
        let usage = usage::tokens(result.get("usage"));
        let usage = usage.or_else(|| usage::quota(result.get("_meta")));
        let end = turn_end(&result.get("stopReason").string());
        self.end_turn(&session, usage, end, out);
    }

    fn turn_session(&self, request: &Request) -> String {
        if request.session.is_empty() {
            self.current.clone()
        } else {
            request.session.clone()
        }
    }

    pub(super) fn end_turn(
        &mut self,
        session: &str,
        usage: Option<Usage>,
        end: TurnEnd,
        out: &mut Emitter,
    ) {
        self.announce_all(|call| call.root == session, out);
        self.settle_refused(|call| call.root == session, out);
        let root = self.sessions.root(session);
        let thread_error = std::mem::take(&mut root.thread_error);
        // Codex reports such a turn as completed.
        let end = match end.status {
            TurnStatus::Completed if thread_error != ThreadError::None => turn_end("error"),
            _ => end,
        };
        root.prompts = root.prompts.saturating_sub(1);
        root.running = false;
        root.replaying = false;
        root.inferred = false;
        // A canceled call may end after its turn.
        root.canceled &= end.status == TurnStatus::Canceled;
        root.echo.clear();
        self.last_words.clear();
        out.agent(None);
        self.message_ids.end(session);
        out.replayed(false);
        if let Some(usage) = usage {
            out.usage(usage);
        }
        out.turn_end(end);
    }

    /// Reads an error of the agent.
    pub(super) fn agent_refuses(&mut self, request: &Request, error: Json<'_>, out: &mut Emitter) {
        let code = error.get("code").i64().unwrap_or_default();
        let unasked = request.method.is_empty() && self.greeted;
        let is_prompt =
            request.method == "session/prompt" || (unasked && !PROTOCOL_ERRORS.contains(&code));
        let session = self.turn_session(request);
        out.agent(None);
        if !self.greeted {
            self.greet(&session, out);
        }
        if !is_prompt {
            out.notice(Level::Error, error_text(error));
            return;
        }
        if code == REQUEST_CANCELLED {
            self.end_turn(&session, None, turn_end("cancelled"), out);
            return;
        }
        self.fail_turn(&session, None, error, out);
    }

    pub(super) fn fail_turn(
        &mut self,
        session: &str,
        usage: Option<Usage>,
        error: Json<'_>,
        out: &mut Emitter,
    ) {
        self.announce_all(|call| call.root == session, out);
        self.settle_refused(|call| call.root == session, out);
        out.agent(None);
        let text = error_text(error);
        // Some adapters send it as an answer first.
        if !self.last_words.trim_end().ends_with(text.trim()) {
            out.notice(Level::Error, text);
        }
        self.end_turn(session, usage, turn_end("error"), out);
    }

    /// Reads an answer of the client.
    pub(super) fn client_answers(
        &mut self,
        request: &Request,
        result: Json<'_>,
        out: &mut Emitter,
    ) {
        match request.method.as_str() {
            "session/request_permission" => {
                self.permission_answered(request, result.get("outcome"), out);
            }
            "elicitation/create" => {
                let action = result.get("action").string();
                let answers = result.get("content").object();
                let is_one = answers.iter().nth(1).is_none();
                let texts = answers.iter().map(|(name, value)| {
                    let value = value.display();
                    if is_one {
                        value.into_owned()
                    } else {
                        format!("{name}: {value}")
                    }
                });
                let texts: Vec<String> = texts.collect();
                out.agent(None);
                out.prompt(Prompt {
                    answer: if texts.is_empty() {
                        action
                    } else {
                        texts.join(", ")
                    },
                    ..request.prompt.clone()
                });
            }
            // An error contains no output.
            "terminal/output" if result.get("output").is_string() => {
                let terminal = self.terminals.get_or_insert(&request.subject);
                terminal.replace(result.get("output").string().into_bytes());
                terminal.exit(result.get("exitStatus"));
                self.terminal_grew(&request.subject, out);
            }
            "terminal/wait_for_exit" => self.terminals.get_or_insert(&request.subject).exit(result),
            _ => {}
        }
    }

    fn permission_answered(&mut self, request: &Request, outcome: Json<'_>, out: &mut Emitter) {
        let word = outcome.get("outcome").string();
        let option = outcome.get("optionId").string();
        let kind = request
            .options
            .iter()
            .find(|(id, _)| *id == option)
            .map_or("", |(_, kind)| kind);
        let refused = if word == "cancelled" {
            Some(ToolStatus::Canceled)
        } else {
            kind.starts_with("reject").then_some(ToolStatus::Rejected)
        };
        if kind == "reject_always" {
            let root = self.sessions.root_of(&request.session);
            self.sessions.root(&root).reject_all = true;
        }
        out.agent(self.sessions.agent_of(&request.session));
        let mut calls = self.calls.iter_mut();
        if let Some(call) = calls.find(|call| call.id == request.subject) {
            call.refused = refused;
            out.agent(call.agent.clone());
        }
        out.permission(Permission {
            id: request.id.clone(),
            tool_id: request.subject.clone(),
            outcome: if option.is_empty() { word } else { option },
            ..Permission::default()
        });
    }
}

/// Returns the end of a turn with this stop reason.
pub(super) fn turn_end(reason: &str) -> TurnEnd {
    let status = match reason {
        "cancelled" => TurnStatus::Canceled,
        "refusal" | "max_turn_requests" | "error" => TurnStatus::Failed,
        _ => TurnStatus::Completed,
    };
    TurnEnd {
        status,
        reason: match reason {
            "max_tokens" => "length".to_owned(),
            reason => reason.to_owned(),
        },
        ..TurnEnd::default()
    }
}
