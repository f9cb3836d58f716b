//! The settings that a client is started with.

use std::ffi::OsString;
use std::path::PathBuf;

use agent_client_protocol_schema::v1 as schema;

use super::LeftoverCalls;
use crate::permission::Rules;
use crate::record::RecordedAgent;

/// The settings of a client. [`ClientConfig::new`] has the defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The project's root. The agent gets no file outside it from the client.
    pub root: PathBuf,
    /// The session to open once the agent has started.
    pub session: SessionRequest,
    /// MCP servers that the agent connects to.
    pub mcp_servers: Vec<schema::McpServer>,
    /// Rules that answer permission requests for the user.
    pub rules: Rules,
    /// The file to record the conversation in, from the first prompt on.
    pub record: Option<PathBuf>,
    /// The agent, as the recording names it.
    pub recorded_agent: Option<RecordedAgent>,
    /// The number of the first event.
    pub first_seq: u64,
    /// The shell that runs command lines.
    pub shell: OsString,
    /// The app can run the agent in a terminal for a login.
    pub terminal_login: bool,
    /// The client's version, sent to the agent.
    pub version: String,
    /// Calls without a result from an earlier client of the same conversation.
    pub leftover_calls: LeftoverCalls,
}

impl ClientConfig {
    /// Returns the defaults, with a new session in this project.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            session: SessionRequest::New,
            mcp_servers: Vec::new(),
            rules: Rules::default(),
            record: None,
            recorded_agent: None,
            first_seq: 0,
            shell: "/bin/sh".into(),
            terminal_login: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            leftover_calls: LeftoverCalls::default(),
        }
    }
}

/// The session that a client opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// None yet: the user will choose one.
    Unchosen,
    /// A new session.
    #[default]
    New,
    /// A saved session, with its history replayed.
    Load(String),
    /// A saved session, without its history.
    Resume(String),
}
