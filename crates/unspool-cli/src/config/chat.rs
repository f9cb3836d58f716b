//! The `[chat]` section of the configuration file.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use serde::Deserialize;
use unspool_acp::permission::{Rule, Rules};
use unspool_acp::schema::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use unspool_tui::notify::When;

/// The section `[chat]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Chat {
    /// The default agent of `unspool chat`.
    pub(crate) agent: Option<String>,
    notify: Notify,
    /// Additional agents, or replacements for built-in ones.
    pub(crate) agents: BTreeMap<String, Agent>,
    mcp: Vec<Server>,
    rules: Vec<Rule>,
}

/// The command of an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

/// When to notify the user.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Notify {
    Never,
    #[default]
    Unfocused,
    Always,
}

/// An MCP server to offer to agents.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    name: String,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    /// `http`, or `sse` for older servers.
    #[serde(default, rename = "type")]
    transport: Transport,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Transport {
    #[default]
    Http,
    Sse,
}

impl Chat {
    /// Returns when to notify the user.
    pub(crate) fn notify(&self) -> When {
        match self.notify {
            Notify::Never => When::Never,
            Notify::Unfocused => When::Unfocused,
            Notify::Always => When::Always,
        }
    }

    /// Returns the same as written in the file.
    pub(crate) fn notify_name(&self) -> &'static str {
        match self.notify {
            Notify::Never => "never",
            Notify::Unfocused => "unfocused",
            Notify::Always => "always",
        }
    }

    /// Returns the names of the MCP servers.
    pub(crate) fn mcp_names(&self) -> anyhow::Result<Vec<String>> {
        self.mcp_servers()?;
        Ok(self.mcp.iter().map(|server| server.name.clone()).collect())
    }

    /// Returns the rules that answer permission requests.
    pub(crate) fn rules(&self) -> anyhow::Result<Rules> {
        Rules::new(&self.rules).map_err(|error| anyhow!("in chat.rules: {error}"))
    }

    /// Returns the MCP servers to offer to agents.
    pub(crate) fn mcp_servers(&self) -> anyhow::Result<Vec<McpServer>> {
        self.mcp.iter().map(Server::ready).collect()
    }
}

impl Server {
    fn ready(&self) -> anyhow::Result<McpServer> {
        let name = self.name.as_str();
        let headers = || {
            let header = |(name, value): (&String, &String)| HttpHeader::new(name, value);
            self.headers.iter().map(header).collect()
        };
        match (&self.command, &self.url) {
            (Some(command), None) => {
                let variable = |(name, value): (&String, &String)| EnvVariable::new(name, value);
                let server = McpServerStdio::new(name, command)
                    .args(self.args.clone())
                    .env(self.env.iter().map(variable).collect());
                Ok(McpServer::Stdio(server))
            }
            (None, Some(url)) => Ok(match self.transport {
                Transport::Http => {
                    McpServer::Http(McpServerHttp::new(name, url).headers(headers()))
                }
                Transport::Sse => McpServer::Sse(McpServerSse::new(name, url).headers(headers())),
            }),
            _ => bail!("in chat.mcp: `{name}` needs either a command or a url"),
        }
    }
}
