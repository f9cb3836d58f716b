//! What the configuration file says about `unspool chat`.

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
    /// Whom `unspool chat` talks to when nobody is named.
    pub(crate) agent: Option<String>,
    notify: Notify,
    /// Agents of the person's own, or others in place of ours.
    pub(crate) agents: BTreeMap<String, Agent>,
    mcp: Vec<Server>,
    rules: Vec<Rule>,
}

/// How an agent is started.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

/// When the person is called.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Notify {
    Never,
    #[default]
    Unfocused,
    Always,
}

/// A server that the agent is told of.
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
    /// `http`, or `sse` for servers of the older kind.
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
    /// When the person is called.
    pub(crate) fn notify(&self) -> When {
        match self.notify {
            Notify::Never => When::Never,
            Notify::Unfocused => When::Unfocused,
            Notify::Always => When::Always,
        }
    }

    /// The same in the word of the file.
    pub(crate) fn notify_name(&self) -> &'static str {
        match self.notify {
            Notify::Never => "never",
            Notify::Unfocused => "unfocused",
            Notify::Always => "always",
        }
    }

    /// The names of the servers.
    pub(crate) fn mcp_names(&self) -> anyhow::Result<Vec<String>> {
        self.mcp_servers()?;
        Ok(self.mcp.iter().map(|server| server.name.clone()).collect())
    }

    /// What may be answered without asking.
    pub(crate) fn rules(&self) -> anyhow::Result<Rules> {
        Rules::new(&self.rules).map_err(|error| anyhow!("in chat.rules: {error}"))
    }

    /// The servers that agents are told of.
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
