//! The agents that are known by name: how each is started so that it streams or
//! speaks the Agent Client Protocol, and where it keeps its sessions.
//!
//! The places hold files whose names tell that they may be sessions; what they
//! are is found out by `library`, which looks into them.

use std::path::{Path, PathBuf};

use crate::error::{Result, bail};

/// A folder, and patterns below it.
pub type Place = (PathBuf, &'static [&'static str]);

/// The history that aider and its kin keep in each project.
pub const AIDER_HISTORIES: &[&str] = &[".aider.chat.history.md", ".cecli/chat.history"];

/// One agent.
#[derive(Debug)]
pub struct Agent {
    pub name: &'static str,
    /// Arguments before the prompt.
    before: &'static [&'static str],
    /// Arguments behind the prompt.
    after: &'static [&'static str],
    /// How it is talked to.
    chat: Chat,
    /// Where its sessions are.
    places: fn(&Environment) -> Vec<Place>,
}

pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        before: &["-p"],
        after: &[
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
        ],
        chat: Chat {
            name: "claude",
            command: &["claude-agent-acp"],
            install: "npm install -g @agentclientprotocol/claude-agent-acp",
        },
        places: |env| {
            let own = env.folder("CLAUDE_CONFIG_DIR", ".claude");
            let shared = env.folder("XDG_CONFIG_HOME", ".config").join("claude");
            vec![
                (own, &["projects/*/*.jsonl"]),
                (shared, &["projects/*/*.jsonl"]),
            ]
        },
    },
    Agent {
        name: "codex",
        before: &["exec", "--json"],
        after: &[],
        chat: Chat {
            name: "codex",
            command: &["codex-acp"],
            install: "npm install -g @agentclientprotocol/codex-acp",
        },
        places: |env| {
            let patterns = &[
                "sessions/*/*/*/rollout-*.jsonl",
                "sessions/*/*/*/rollout-*.jsonl.zst",
                "archived_sessions/rollout-*.jsonl",
                "archived_sessions/rollout-*.jsonl.zst",
            ];
            vec![(env.folder("CODEX_HOME", ".codex"), patterns)]
        },
    },
    Agent {
        name: "gemini",
        before: &["-p"],
        after: &["--output-format", "stream-json"],
        chat: Chat {
            name: "gemini",
            command: &["gemini", "--acp"],
            install: "npm install -g @google/gemini-cli",
        },
        places: |env| {
            let home = env.folder("GEMINI_CLI_HOME", "");
            let patterns = &["tmp/*/chats/*.jsonl", "tmp/*/chats/*.json"];
            vec![(home.join(".gemini"), patterns)]
        },
    },
    Agent {
        name: "qwen",
        before: &["-p"],
        after: &[
            "--output-format",
            "stream-json",
            "--include-partial-messages",
        ],
        chat: Chat {
            name: "qwen",
            command: &["qwen", "--acp"],
            install: "npm install -g @qwen-code/qwen-code",
        },
        places: |env| {
            let patterns = &["projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"];
            let home = env.folder("QWEN_HOME", ".qwen");
            // What it writes may be kept apart from what it is told.
            let written = (env.variable)("QWEN_RUNTIME_DIR").unwrap_or_else(|| home.clone());
            vec![(written, patterns), (home, patterns)]
        },
    },
    Agent {
        name: "opencode",
        before: &["run", "--format", "json"],
        after: &[],
        chat: Chat {
            name: "opencode",
            command: &["opencode", "acp"],
            install: "npm install -g opencode-ai",
        },
        places: |env| {
            let data = env.folder("XDG_DATA_HOME", ".local/share").join("opencode");
            let named = (env.variable)("OPENCODE_DB").map(|path| data.join(path));
            let patterns: &[&str] = &[
                "opencode.db",
                "opencode-*.db",
                "storage/session/*/ses_*.json",
            ];
            let named = named.map(|path| (path, &[""] as &[&str]));
            std::iter::once((data, patterns)).chain(named).collect()
        },
    },
    Agent {
        name: "aider",
        before: &["--no-pretty", "--no-fancy-input", "--message"],
        after: &[],
        chat: Chat {
            name: "aider",
            command: &["cecli", "--acp"],
            install: "pip install aider-ce",
        },
        places: |env| {
            let named = (env.variable)("AIDER_CHAT_HISTORY_FILE");
            let named = named.map(|path| (env.current.join(path), &[""] as &[&str]));
            // It writes at the root of the project, wherever it is started, and
            // without a project where the person is at home.
            let above = env.current.ancestors().map(Path::to_owned);
            above
                .chain([env.home.clone()])
                .map(|folder| (folder, AIDER_HISTORIES))
                .chain(named)
                .collect()
        },
    },
];

/// How an agent is talked to over the Agent Client Protocol.
#[derive(Clone, Copy, Debug)]
pub struct Chat {
    pub name: &'static str,
    pub command: &'static [&'static str],
    /// How to come by it.
    pub install: &'static str,
}

/// Agents of which nothing is known but how they are talked to.
const TALKERS: &[Chat] = &[
    Chat {
        name: "auggie",
        command: &["auggie", "--acp"],
        install: "npm install -g @augmentcode/auggie",
    },
    Chat {
        name: "copilot",
        command: &["copilot", "--acp"],
        install: "npm install -g @github/copilot",
    },
    Chat {
        name: "goose",
        command: &["goose", "acp"],
        install: "see the documentation of goose",
    },
    Chat {
        name: "kimi",
        command: &["kimi", "acp"],
        install: "pip install kimi-cli",
    },
];

/// All agents that can be talked to.
pub fn chats() -> impl Iterator<Item = Chat> {
    let known = AGENTS.iter().map(|agent| agent.chat);
    known.chain(TALKERS.iter().copied())
}

/// The agent with this name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// The names of all agents, for messages.
pub fn names() -> String {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    names.join(", ")
}

impl Agent {
    /// The command line that works on a prompt and streams what it does. More
    /// arguments of the user's come last.
    pub fn command(&self, prompt: &str, more: &[String]) -> Vec<String> {
        let fixed = |words: &'static [&'static str]| words.iter().map(|word| (*word).to_owned());
        std::iter::once(self.name.to_owned())
            .chain(fixed(self.before))
            .chain([prompt.to_owned()])
            .chain(fixed(self.after))
            .chain(more.iter().cloned())
            .collect()
    }

    /// Where its sessions are.
    pub fn places(&self, environment: &Environment) -> Vec<Place> {
        (self.places)(environment)
    }
}

/// What places are told by.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The home directory.
    pub home: PathBuf,
    /// The current directory.
    pub current: PathBuf,
    /// Looks a variable of the environment up; one that is empty is not set.
    pub variable: fn(&str) -> Option<PathBuf>,
}

impl Environment {
    /// What the variable says, or else this folder below the home directory.
    fn folder(&self, variable: &str, default: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.home.join(default))
    }
}

/// The agents with these names; all of them if none is named. What other providers
/// read has no place of its own, and is found in folders that are named.
pub fn named(names_wanted: &[String]) -> Result<Vec<&'static Agent>> {
    if names_wanted.is_empty() {
        return Ok(AGENTS.iter().collect());
    }
    let mut agents = Vec::new();
    for name in names_wanted {
        match agent(name) {
            Some(agent) => agents.push(agent),
            None if unspool::source::provider(name).is_some() => {}
            None => bail!("{name} is not known here: name one of {}", names()),
        }
    }
    Ok(agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_becomes_the_command_that_streams() {
        let claude = agent("claude").unwrap();
        let command = claude.command("fix it", &["--model".to_owned(), "opus".to_owned()]);
        assert_eq!(
            command.join(" "),
            "claude -p fix it --output-format stream-json --verbose --include-partial-messages --model opus"
        );
        let codex = agent("codex").unwrap().command("fix it", &[]);
        assert_eq!(codex, ["codex", "exec", "--json", "fix it"]);
    }
}
