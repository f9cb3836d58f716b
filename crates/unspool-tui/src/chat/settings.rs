//! Settings of a chat, provided by the command line.

use std::any::Any;
use std::ffi::OsString;
use std::path::PathBuf;

use super::History;
use crate::notify::When;
use crate::transcript::Look;
use crate::viewer::Host;
use unspool_acp::permission::Rules;
use unspool_acp::{SessionRequest, schema};
/// Settings of a chat.
pub struct Settings {
    /// Layout and colours of the transcript.
    pub look: Look,
    /// Editor, pager and export.
    pub host: Box<dyn Host>,
    /// The project folder. Agents may touch nothing outside of it.
    pub root: PathBuf,
    /// Agents that can be started in a new tab.
    pub agents: Vec<AgentCommand>,
    /// Tabs to open at start.
    pub tabs: Vec<TabSpec>,
    /// Rules that answer permission requests.
    pub rules: Rules,
    /// MCP servers to offer to agents.
    pub mcp_servers: Vec<schema::McpServer>,
    /// Folder for recordings of conversations.
    pub records: Option<PathBuf>,
    /// Prompt history.
    pub history: History,
    /// When to notify the user.
    pub notify: When,
    /// Shell that runs command lines.
    pub shell: OsString,
    /// Ties a process group to the lifetime of this process, even if it is
    /// killed. The tie also covers everything started in the chat's terminals,
    /// and lasts as long as the returned value.
    pub guard: fn(i32) -> Option<Box<dyn Any>>,
}

/// An agent and the command that starts it.
#[derive(Clone, Debug, Default)]
pub struct AgentCommand {
    /// The agent's name.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Additional environment variables.
    pub env: Vec<(OsString, OsString)>,
    /// A sentence that explains the installation.
    pub install: String,
    /// True if the program was not found.
    pub is_missing: bool,
}

/// Everything needed to open a tab.
#[derive(Clone, Debug, Default)]
pub struct TabSpec {
    /// The agent to start.
    pub agent: AgentCommand,
    /// The session to create, load or resume.
    pub open: SessionRequest,
    /// Earlier events of the session, where known.
    pub past: Vec<unspool::Event>,
    /// Recording to append to. A new file is created otherwise.
    pub record: Option<PathBuf>,
    /// First prompt to send.
    pub prompt: String,
}
