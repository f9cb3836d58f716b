//! From the start of the agent to an open session, with a login where the agent
//! requires one.

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
        self.send_request("initialize", &params, Pending::Initialize);
    }

    pub(super) fn finish_initialize(&mut self, result: Result<Value, Refusal>) {
        let Some(result) = self.ok_or_report("initialize", result) else {
            self.stage = Stage::Failed;
            return;
        };
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        if version.is_some_and(|version| version != 1) {
            let version = version.unwrap_or_default();
            self.stage = Stage::Failed;
            let message = format!("the agent uses protocol version {version}, not 1");
            self.report_failure("initialize", &message);
            return;
        }
        self.state.set_agent(&result);
        self.open_session(self.config.session.clone());
    }

    /// Opens a session. An open one is left, and its turn canceled.
    pub fn open_session(&mut self, request: SessionRequest) {
        if let Some(turn) = &self.turn {
            self.pending.remove(&turn.request);
            self.cancel();
            self.turn = None;
        }
        self.state.clear_session();
        self.stage = Stage::Starting;
        self.updates.push(Update::StateChanged);
        let root = self.config.root.clone();
        let servers = self.config.mcp_servers.clone();
        match &request {
            SessionRequest::Unchosen => self.stage = Stage::Unopened,
            SessionRequest::New => {
                let params = schema::NewSessionRequest::new(root).mcp_servers(servers);
                self.send_request("session/new", &params, Pending::OpenSession(request));
            }
            SessionRequest::Load(id) | SessionRequest::Resume(id) => {
                let id = id.clone();
                self.open_saved(id, request);
            }
        }
    }

    /// Opens a saved session the way the agent can: with its history or without.
    fn open_saved(&mut self, id: String, request: SessionRequest) {
        let can = self.state.capabilities;
        let root = self.config.root.clone();
        let servers = self.config.mcp_servers.clone();
        self.state.session.clone_from(&id);
        let wants_history = matches!(request, SessionRequest::Load(_));
        if can.load && (wants_history || !can.resume) {
            // A resumed conversation already has its history.
            self.journal.set_muted(!wants_history);
            let params = schema::LoadSessionRequest::new(id, root).mcp_servers(servers);
            self.send_request("session/load", &params, Pending::OpenSession(request));
        } else if can.resume {
            let params = schema::ResumeSessionRequest::new(id, root).mcp_servers(servers);
            self.send_request("session/resume", &params, Pending::OpenSession(request));
        } else {
            self.stage = Stage::Failed;
            self.report_failure("session/load", "the agent cannot open earlier sessions");
        }
    }

    pub(super) fn finish_open(&mut self, request: SessionRequest, result: Result<Value, Refusal>) {
        let result = match result {
            Ok(result) => result,
            Err(refusal) if self.needs_login(&refusal) => {
                self.stage = Stage::Login(request);
                return;
            }
            Err(refusal) => {
                self.stage = Stage::Failed;
                let method = match request {
                    SessionRequest::New | SessionRequest::Unchosen => "session/new",
                    SessionRequest::Load(_) => "session/load",
                    SessionRequest::Resume(_) => "session/resume",
                };
                self.report_failure(method, &refusal.message);
                return;
            }
        };
        let id = wire::text(&result, "sessionId");
        if !id.is_empty() {
            self.state.session = id;
        }
        self.state.set_options(&result);
        self.stage = Stage::Opened;
        // Calls that the history left open are not running.
        self.journal.end_turn();
        self.send_next();
    }

    /// Logs in with one of the agent's methods.
    pub fn authenticate(&mut self, method: &str) {
        let params = schema::AuthenticateRequest::new(method.to_owned());
        self.send_request("authenticate", &params, Pending::Authenticate);
    }

    /// Retries what failed for lack of a login, once the user has logged in.
    pub fn retry_after_login(&mut self) {
        let Stage::Login(request) = std::mem::replace(&mut self.stage, Stage::Opened) else {
            return;
        };
        if request == SessionRequest::Unchosen {
            self.send_next();
        } else {
            self.open_session(request);
        }
    }

    /// Logs out, if the agent supports it.
    pub fn log_out(&mut self) {
        let params = schema::LogoutRequest::new();
        self.send_request("logout", &params, Pending::Other("logout"));
    }

    /// Returns true if a request was refused for lack of a login. Some agents say so
    /// only in the message. Without a login method, it is an ordinary failure.
    pub(super) fn needs_login(&self, refusal: &Refusal) -> bool {
        let message = refusal.message.to_lowercase();
        let is_refused_login =
            refusal.code == wire::AUTH_REQUIRED || message.contains("authentication required");
        is_refused_login && !self.state.auth_methods.is_empty()
    }
}
