//! The agents that are known by name: how each is started so that it streams,
//! and where it keeps its sessions.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

/// A folder, and patterns below it.
type Place = (PathBuf, &'static [&'static str]);

/// One agent.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// Arguments before the prompt.
    before: &'static [&'static str],
    /// Arguments behind the prompt.
    after: &'static [&'static str],
    /// Where its sessions are.
    places: fn(&Environment) -> Vec<Place>,
}

pub(crate) const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        before: &["-p"],
        after: &[
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
        ],
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
        places: |env| {
            let patterns = &[
                "sessions/*/*/*/rollout-*.jsonl",
                "sessions/*/*/*/rollout-*.jsonl.zst",
                "archived_sessions/rollout-*.jsonl",
            ];
            vec![(env.folder("CODEX_HOME", ".codex"), patterns)]
        },
    },
    Agent {
        name: "gemini",
        before: &["-p"],
        after: &["--output-format", "stream-json"],
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
        places: |env| {
            let patterns = &["projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"];
            vec![(env.folder("QWEN_HOME", ".qwen"), patterns)]
        },
    },
    Agent {
        name: "opencode",
        before: &["run", "--format", "json"],
        after: &[],
        places: |env| {
            let data = env.folder("XDG_DATA_HOME", ".local/share").join("opencode");
            vec![(data, &["opencode.db", "storage/session/*/ses_*.json"])]
        },
    },
    Agent {
        name: "aider",
        before: &["--no-pretty", "--no-fancy-input", "--message"],
        after: &[],
        places: |env| vec![(env.current.clone(), &[".aider.chat.history.md"])],
    },
];

/// The agent with this name.
pub(crate) fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// The names of all agents, for messages.
pub(crate) fn names() -> String {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    names.join(", ")
}

impl Agent {
    /// The command line that works on a prompt and streams what it does. More
    /// arguments of the user's come last.
    pub(crate) fn command(&self, prompt: &str, more: &[String]) -> Vec<String> {
        let fixed = |words: &'static [&'static str]| words.iter().map(|word| (*word).to_owned());
        std::iter::once(self.name.to_owned())
            .chain(fixed(self.before))
            .chain([prompt.to_owned()])
            .chain(fixed(self.after))
            .chain(more.iter().cloned())
            .collect()
    }

    /// The files of its sessions on this machine.
    fn sessions(&self, environment: &Environment) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for (place, patterns) in (self.places)(environment) {
            let place = glob::Pattern::escape(&place.to_string_lossy());
            for pattern in patterns {
                let paths = glob::glob(&format!("{place}/{pattern}"))
                    .into_iter()
                    .flatten();
                found.extend(paths.filter_map(Result::ok));
            }
        }
        found
    }
}

/// What places are told by.
pub(crate) struct Environment {
    home: PathBuf,
    current: PathBuf,
    variable: fn(&str) -> Option<PathBuf>,
}

impl Environment {
    /// This user's.
    pub(crate) fn new() -> Self {
        Self {
            home: env::home_dir().unwrap_or_default(),
            current: env::current_dir().unwrap_or_default(),
            variable: |name| {
                env::var_os(name)
                    .filter(|value| !value.is_empty())
                    .map(PathBuf::from)
            },
        }
    }

    /// What the variable says, or else this folder below the home directory.
    fn folder(&self, variable: &str, default: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.home.join(default))
    }
}

/// The session that was last written to: of this agent, or of any.
pub(crate) fn latest(name: Option<&str>) -> anyhow::Result<PathBuf> {
    let environment = Environment::new();
    let agents: Vec<&Agent> = match name {
        None => AGENTS.iter().collect(),
        Some(name) => match agent(name) {
            Some(agent) => vec![agent],
            None => bail!("{name} is not known here: name one of {}", names()),
        },
    };
    let sessions = agents.iter().flat_map(|agent| agent.sessions(&environment));
    match newest(sessions) {
        Some(path) => Ok(path),
        None => bail!(
            "found no session of {} on this machine: name a file",
            name.unwrap_or("any agent")
        ),
    }
}

/// The session in a folder that was last written to.
pub(crate) fn latest_in(folder: &Path) -> Option<PathBuf> {
    let escaped = glob::Pattern::escape(&folder.to_string_lossy());
    let patterns = [
        "**/*.jsonl",
        "**/*.jsonl.zst",
        "**/*.json",
        "**/opencode.db",
        "**/.aider.chat.history.md",
    ];
    let found = patterns
        .iter()
        .flat_map(|pattern| {
            glob::glob(&format!("{escaped}/{pattern}"))
                .into_iter()
                .flatten()
        })
        .filter_map(Result::ok)
        .filter(|path| !path.to_string_lossy().ends_with(".meta.json"));
    newest(found)
}

fn newest(paths: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    paths
        .filter(|path| !belongs_to_another(path))
        .filter_map(|path| {
            let written = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((written.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
        })
        .max()
        .map(|(_, path)| path)
}

/// Whether a record of Codex is that of a sub-agent: its first line names the
/// thread that it belongs to.
fn belongs_to_another(path: &Path) -> bool {
    const HEAD: u64 = 1 << 16;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with("rollout-") {
        return false;
    }
    let mut head = Vec::new();
    let file = File::open(path).map(|file| file.take(HEAD));
    let _ = file.and_then(|mut file| file.read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let first = head.lines().next().unwrap_or_default();
    first.contains("\"parent_thread_id\":\"") || first.contains("\"subagent\":")
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

    #[test]
    fn sessions_are_found_where_the_agents_keep_them() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment {
            home: home.path().to_owned(),
            current: home.path().join("project"),
            variable: |_| None,
        };
        for (name, path) in [
            ("claude", ".claude/projects/-p/a.jsonl"),
            ("codex", ".codex/sessions/2026/11/15/rollout-a.jsonl"),
            ("gemini", ".gemini/tmp/p/chats/session-a.jsonl"),
            ("qwen", ".qwen/projects/p/chats/a.jsonl"),
            ("opencode", ".local/share/opencode/opencode.db"),
            ("aider", "project/.aider.chat.history.md"),
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            assert_eq!(
                agent(name).unwrap().sessions(&environment),
                [path],
                "{name}"
            );
        }
    }
}
