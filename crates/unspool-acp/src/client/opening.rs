//! From the start of an agent to an open session, with a login in between
//! where the agent wants one.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;

use super::{Client, Pending, SessionRequest, Stage, Update};
use crate::wire::{self, Refusal};

impl Client {
    pub(super) fn initialize(&mut self) {
        let fs = schema::FileSystemCapabilities::new()
            .read_text_file(true)
            .write_text_file(true);
        let options = schema::SessionConfigOptionsCapabilities::new()
            .boolean(schema::BooleanConfigOptionCapabilities::new());
        let session = schema::ClientSessionCapabilities::new()
            .compaction(schema::CompactionCapabilities::new())
            .config_options(options)
            .notices(schema::NoticeCapabilities::new());
        let elicitation = schema::ElicitationCapabilities::new()
            .form(schema::ElicitationFormCapabilities::new())
            .url(schema::ElicitationUrlCapabilities::new());
        let auth = schema::AuthCapabilities::new().terminal(self.config.terminal_login);
        let capabilities = schema::ClientCapabilities::new()
            .fs(fs)
            .terminal(true)
            .session(session)
            .auth(auth)
            .elicitation(elicitation);
        let info = schema::Implementation::new("unspool", &self.config.version)
            .title("Unspool".to_owned());
        let params = schema::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(info);
        self.ask_agent("initialize", &params, Pending::Initialize);
    }

    pub(super) fn initialized(&mut self, result: Result<Value, Refusal>) {
        let Some(result) = self.succeeded("initialize", result) else {
            self.stage = Stage::Failed;
            return;
        };
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        if version.is_some_and(|version| version != 1) {
            let version = version.unwrap_or_default();
            self.stage = Stage::Failed;
            self.failed(
                "initialize",
                &format!("the agent speaks protocol {version}, not 1"),
            );
            return;
        }
        self.state.initialized(&result);
        self.open_session(self.config.session.clone());
    }

    /// Opens a session in place of the one that is open.
    pub fn open_session(&mut self, open: SessionRequest) {
        if let Some(turn) = &self.turn {
            self.pending.remove(&turn.request);
            self.cancel();
            self.turn = None;
        }
        let can = self.state.capabilities;
        let root = self.config.root.clone();
        let servers = self.config.mcp_servers.clone();
        self.state.session.clear();
        self.state.title.clear();
        self.state.mode.clear();
        self.state.modes.clear();
        self.state.options.clear();
        self.state.commands.clear();
        self.stage = Stage::Starting;
        self.updates.push(Update::StateChanged);
        match &open {
            SessionRequest::Unchosen => self.stage = Stage::Unopened,
            SessionRequest::New => {
                let params = schema::NewSessionRequest::new(root).mcp_servers(servers);
                self.ask_agent("session/new", &params, Pending::OpenSession(open));
            }
            SessionRequest::Load(id) | SessionRequest::Resume(id) => {
                let id = id.clone();
                self.state.session.clone_from(&id);
                let wants_history = matches!(open, SessionRequest::Load(_));
                if can.load && (wants_history || !can.resume) {
                    // Who wants to go on without the history has it.
                    self.journal.mute(!wants_history);
                    let params = schema::LoadSessionRequest::new(id, root).mcp_servers(servers);
                    self.ask_agent("session/load", &params, Pending::OpenSession(open));
                } else if can.resume {
                    let params = schema::ResumeSessionRequest::new(id, root).mcp_servers(servers);
                    self.ask_agent("session/resume", &params, Pending::OpenSession(open));
                } else {
                    self.stage = Stage::Failed;
                    self.failed("session/load", "the agent cannot open earlier sessions");
                }
            }
        }
    }

    pub(super) fn opened(&mut self, open: SessionRequest, result: Result<Value, Refusal>) {
        let result = match result {
            Ok(result) => result,
            Err(refusal) if self.wants_login(&refusal) => {
                self.stage = Stage::Login(open);
                return;
            }
            Err(refusal) => {
                self.stage = Stage::Failed;
                let what = match open {
                    SessionRequest::New | SessionRequest::Unchosen => "session/new",
                    SessionRequest::Load(_) => "session/load",
                    SessionRequest::Resume(_) => "session/resume",
                };
                self.failed(what, &refusal.message);
                return;
            }
        };
        let id = wire::text(&result, "sessionId");
        if !id.is_empty() {
            self.state.session = id;
        }
        self.state.settings(&result);
        self.stage = Stage::Opened;
        // What the history left open does not run.
        self.journal.turn_over();
        self.send_next();
    }

    /// Logs in by one of the agent's methods.
    pub fn authenticate(&mut self, method: &str) {
        let params = schema::AuthenticateRequest::new(method.to_owned());
        self.ask_agent("authenticate", &params, Pending::Authenticate);
    }

    /// The person has logged in: what failed for it is tried again.
    pub fn retry_after_login(&mut self) {
        let Stage::Login(open) = std::mem::replace(&mut self.stage, Stage::Opened) else {
            return;
        };
        if open == SessionRequest::Unchosen {
            self.send_next();
        } else {
            self.open_session(open);
        }
    }

    /// Logs out, where the agent can.
    pub fn log_out(&mut self) {
        let params = schema::LogoutRequest::new();
        self.ask_agent("logout", &params, Pending::Other("logout"));
    }

    /// Whether a login would help: some agents say so in words only, and one that offers
    /// no way to log in is just refused.
    pub(super) fn wants_login(&self, refusal: &Refusal) -> bool {
        let message = refusal.message.to_lowercase();
        let is_meant = message.contains("authentication required");
        let is_wanted = is_meant || refusal.code == wire::AUTH_REQUIRED;
        is_wanted && !self.state.auth_methods.is_empty()
    }
}
