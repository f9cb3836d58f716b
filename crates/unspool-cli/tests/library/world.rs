//! Home directories with saved sessions in the places where agents keep them,
//! and the program that looks at them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Variables that change the places of sessions or the display.
const VARIABLES: [&str; 22] = [
    "AIDER_CHAT_HISTORY_FILE",
    "CLAUDE_CONFIG_DIR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CODEX_HOME",
    "COLUMNS",
    "FORCE_COLOR",
    "GEMINI_CLI_HOME",
    "GITHUB_ACTIONS",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "OPENCODE_DB",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "TERM",
    "UNSPOOL_CACHE_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// A session of each agent: its folder in the corpus, and where it lies below
/// the home directory.
pub(crate) const PLACES: [(&str, &str, &str); 7] = [
    (
        "claude",
        "claude/parity",
        ".claude/projects/-home-user-project",
    ),
    (
        "codex",
        "codex/parity/parity.session",
        ".codex/sessions/2026/11/15",
    ),
    (
        "gemini",
        "gemini/parity/parity.session/project",
        ".gemini/tmp/project",
    ),
    (
        "qwen",
        "qwen/parity/parity.session/projects",
        ".qwen/projects",
    ),
    (
        "opencode",
        "opencode/command/command.session",
        ".local/share/opencode",
    ),
    (
        "opencode",
        "opencode/parity-1.1/parity.session",
        ".local/share/opencode",
    ),
    ("aider", "aider/classic-mentions", "project"),
];

/// A home directory.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    /// One with a project, and nothing else.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    /// One in which every agent has worked.
    pub(crate) fn of_all() -> Self {
        let home = Self::new();
        for (_, from, to) in PLACES {
            copy(&corpus(from), &home.path(to));
        }
        home
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Writes a file below the home directory.
    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The program, at home in this directory.
    pub(crate) fn unspool(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unspool"));
        for name in VARIABLES {
            command.env_remove(name);
        }
        command
            .env("HOME", self.folder.path())
            .env("TZ", "UTC")
            .current_dir(self.path("project"))
            .stdin(Stdio::null())
            .args(arguments);
        command
    }

    /// Runs the program as a user for whom file permissions count, even if root runs the
    /// tests.
    pub(crate) fn run_without_privileges(&self, arguments: &[&str]) -> Ran {
        let mut command = self.unspool(arguments);
        if cfg!(target_os = "linux") {
            let mut unshare = Command::new("unshare");
            unshare.arg("--user").arg(command.get_program());
            unshare.args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => unshare.env(name, value),
                    None => unshare.env_remove(name),
                };
            }
            unshare.current_dir(self.path("project"));
            command = unshare;
        }
        Ran::of(command.stdin(Stdio::null()).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.unspool(arguments).output().unwrap())
    }

    /// The sessions that are listed, as objects.
    pub(crate) fn sessions(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(&[&["sessions", "--json"], arguments].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        objects(&ran.stdout)
    }

    /// The figures of one group, or of all.
    pub(crate) fn stats(&self, by: &str, name: &str, arguments: &[&str]) -> Value {
        let ran = self.run(&[&["stats", "--json"], arguments].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let mut groups = objects(&ran.stdout).into_iter();
        let group = groups.find(|group| group["by"] == by && group["name"] == name);
        group.unwrap_or_else(|| panic!("no {by} {name} in {}", ran.stdout))
    }
}

/// The output of a run of the program.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: Option<i32>,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code(),
        }
    }
}

pub(crate) fn objects(lines: &str) -> Vec<Value> {
    let object = |line| serde_json::from_str(line).unwrap();
    lines.lines().map(object).collect()
}

/// One field of each object, as text.
pub(crate) fn field(objects: &[Value], name: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    objects.iter().map(|object| text(&object[name])).collect()
}

/// A file or folder of the corpus.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/corpus")
        .join(name)
}

/// Copies what an agent saved: no live streams, no exports that lie beside the
/// database they come from, no snapshots. A history of aider gets its real name.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap().to_owned();
        let is_other = [".snap", ".live.jsonl", ".txt"]
            .iter()
            .any(|end| name.ends_with(end))
            || name.starts_with("export");
        if from.is_dir() {
            copy(&from, &to.join(name));
        } else if name.ends_with(".session.md") {
            fs::copy(from, to.join(".aider.chat.history.md")).unwrap();
        } else if !is_other {
            fs::copy(from, to.join(name)).unwrap();
        }
    }
}

/// All files below a folder with what can be seen of them from outside.
pub(crate) fn listing(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let modified = metadata.modified().unwrap();
        let (name, size) = (path.display(), metadata.len());
        lines.push(format!("{name} {size} {modified:?}"));
        if metadata.is_dir() {
            lines.extend(listing(&path));
        }
    }
    lines.sort();
    lines
}
