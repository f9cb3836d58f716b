//! Requests and notifications of both sides.

use super::Acp;
use super::content::UserText;
use crate::event::{Permission, PermissionOption, Prompt};
use crate::json::{Json, Object};
use crate::source::Emitter;
use crate::source::rpc::Message;
use crate::tool;

impl Acp {
    /// Reads a request or notification of the client.
    pub(super) fn client_calls(
        &mut self,
        method: &str,
        params: Json<'_>,
        out: &mut Emitter,
    ) -> bool {
        let session = params.get("sessionId").string();
        match method {
            "session/prompt" => self.prompt(&session, params.get("prompt"), out),
            "session/load" | "session/resume" => {
                let root = self.sessions.root(&session);
                root.requested = true;
                root.replaying = true;
                root.cwd = params.get("cwd").string();
                session.clone_into(&mut self.current);
                out.agent(None);
                out.end_message();
                self.greet(&session, out);
            }
            "session/cancel" => self.sessions.root(&session).canceled = true,
            "session/set_mode" | "session/set_model" | "session/set_config_option" => {
                self.sessions.root(&session).requested = true;
            }
            "$/cancel_request" => {}
            _ if super::CLIENT_METHODS.contains(&method) => {}
            _ if method.starts_with('_') => self.state(method, params, out),
            _ => return false,
        }
        true
    }

    fn prompt(&mut self, session: &str, prompt: Json<'_>, out: &mut Emitter) {
        let text = UserText::of(prompt, out);
        let root = self.sessions.root(session);
        let queued = root.prompts > 0;
        root.prompts = root.prompts.saturating_add(1);
        root.requested = true;
        root.replaying = false;
        root.canceled = false;
        root.echo.clone_from(&text.text);
        root.echoed_media = text.media.len();
        if self.greeted {
            session.clone_into(&mut self.current);
        } else {
            self.open_session(session, out);
        }
        out.agent(None);
        out.replayed(false);
        self.message_ids.end(session);
        out.user_with_media(text.text, text.media, queued);
        super::emit_files(&text.files, out);
        out.open_turn();
    }

    /// Reads a request or notification of the agent other than `session/update`.
    pub(super) fn agent_calls(
        &mut self,
        message: &Message<'_>,
        method: &str,
        out: &mut Emitter,
    ) -> bool {
        let params = message.params();
        match method {
            "session/request_permission" => {
                self.ask_permission(&message.id().unwrap_or_default(), &params.object(), out);
            }
            "elicitation/create" => self.elicit(&params.object(), out),
            "fs/read_text_file" | "fs/write_text_file" | "terminal/create" => {
                self.state(method, params, out);
            }
            "_auth/status_update" | "auth/status_update" => {
                self.state("auth_status", params.get("authStatus"), out);
            }
            "qwen/notify/session/mode-update" => {
                // It may repeat a standard update.
                if !params.get("legacyFrameSent").is_true() {
                    self.state("mode", params.get("currentModeId"), out);
                }
            }
            "qwen/notify/session/prompt-suggestion" => {
                self.state("prompt_suggestion", params.get("suggestion"), out);
            }
            // Only their answers are of interest.
            "terminal/output"
            | "terminal/wait_for_exit"
            | "terminal/kill"
            | "terminal/release"
            | "elicitation/complete"
            | "craft/drainMidTurnQueue"
            | "$/cancel_request" => {}
            _ if method.starts_with('_') => self.state(method, params, out),
            _ => return false,
        }
        true
    }

    fn ask_permission(&mut self, id: &str, params: &Object<'_>, out: &mut Emitter) {
        let session = params.get("sessionId").string();
        self.enter(&session, out);
        self.sign_of_life(&session);
        let direct = params.get("toolCall");
        let subject = if direct.is_object() {
            direct
        } else {
            params.get("subject").get("toolCall")
        };
        let (tool_id, title) = self.call_asks(&session, &subject.object(), out);
        let asked = params.get("title").string();
        let options: Vec<PermissionOption> = params
            .get("options")
            .array()
            .into_iter()
            .map(permission_option)
            .collect();
        if let Some(request) = self.requests.values_mut().next_back() {
            request.subject.clone_from(&tool_id);
            let kinds = options.iter().map(|o| (o.id.clone(), o.kind.clone()));
            request.options = kinds.collect();
        }
        out.permission(Permission {
            id: id.to_owned(),
            tool_id,
            title: if asked.is_empty() { title } else { asked },
            options,
            outcome: String::new(),
        });
    }

    fn elicit(&mut self, params: &Object<'_>, out: &mut Emitter) {
        let session = params.get("sessionId").string();
        if !session.is_empty() {
            self.enter(&session, out);
        }
        let prompt = elicitation(params);
        if let Some(request) = self.requests.values_mut().next_back() {
            request.prompt = prompt.clone();
        }
        out.prompt(prompt);
    }
}

fn permission_option(json: Json<'_>) -> PermissionOption {
    let fields = json.object();
    PermissionOption {
        id: fields.get("optionId").string(),
        name: tool::label(&fields.get("name").string()),
        kind: fields.get("kind").string(),
    }
}

/// Reads a form or a URL. A form with several fields has no list of options.
fn elicitation(params: &Object<'_>) -> Prompt {
    let message = params.get("message").string();
    let url = params.get("url").string();
    let properties = params.get("requestedSchema").get("properties").object();
    let count = properties.iter().count();
    if count > 1 {
        return Prompt {
            question: format!("{message} ({count} fields)").trim().to_owned(),
            ..Prompt::default()
        };
    }
    let first = properties.iter().next().map(|(_, json)| json);
    let field = first.unwrap_or(Json::NULL);
    let listed = field.get("enum").array().into_iter().map(Json::string);
    let titled = field.get("oneOf").array().into_iter().map(|option| {
        let title = option.get("title").string();
        if title.is_empty() {
            option.get("const").string()
        } else {
            title
        }
    });
    Prompt {
        question: if message.is_empty() { url } else { message },
        options: listed.chain(titled).collect(),
        default: field.get("default").display().into_owned(),
        answer: String::new(),
    }
}
