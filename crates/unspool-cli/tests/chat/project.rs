//! A project with a home folder of its own, and a chat in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fake_agent::{executable, recording};
use tempfile::TempDir;

use crate::terminal::{Size, Start, Terminal};
use crate::world::{unspool, wait_until};

pub(crate) const ENTER: &[u8] = b"\r";
/// Esc as terminals with the kitty keyboard protocol send it: the plain byte and the key
/// that follows it are one key to a program that is slow to read.
pub(crate) const ESCAPE: &[u8] = b"\x1b[27u";
pub(crate) const LEAVE: &[u8] = b"\x11";
/// F1 and so on, as xterm sends them.
pub(crate) const HELP: &[u8] = b"\x1bOP";
pub(crate) const PALETTE: &[u8] = b"\x1bOQ";
pub(crate) const MODES: &[u8] = b"\x1bOR";
pub(crate) const OPTIONS: &[u8] = b"\x1bOS";
pub(crate) const LOGIN: &[u8] = b"\x1b[17~";
pub(crate) const PREVIOUS_TAB: &[u8] = b"\x1b[18~";
pub(crate) const NEXT_TAB: &[u8] = b"\x1b[19~";

pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self {
            // A name of fixed length, because paths are wrapped.
            folder: tempfile::Builder::new().tempdir_in("/tmp").unwrap(),
        };
        fs::create_dir_all(project.root()).unwrap();
        fs::write(project.root().join("README.md"), "# Greeter\n").unwrap();
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A path that does not exist.
    pub(crate) fn missing(&self) -> String {
        self.home().join("missing").to_str().unwrap().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.home().join("data")
    }

    /// Returns variables that isolate the test from the user's files.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let at = |name: &str| self.home().join(name).to_str().unwrap().to_owned();
        vec![
            ("HOME", at("")),
            ("CLAUDE_CONFIG_DIR", at(".claude")),
            ("CODEX_HOME", at(".codex")),
            ("XDG_CONFIG_HOME", at(".config")),
            ("XDG_DATA_HOME", at(".local/share")),
            ("UNSPOOL_DATA_DIR", at("data")),
            ("UNSPOOL_CACHE_DIR", at(".cache")),
            ("SHELL", "/bin/sh".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
    }

    /// Writes the configuration file.
    pub(crate) fn configure(&self, text: &str) -> PathBuf {
        let path = self.home().join("config.toml");
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn chat(&self, size: Size, arguments: &[&str]) -> Start {
        let root = self.root();
        let fixed = [
            "chat",
            "--theme",
            "dark",
            "--project",
            root.to_str().unwrap(),
        ];
        let arguments = [&fixed, arguments].concat();
        let start = Start::unspool(size, &arguments);
        let set = |start: Start, (name, value): &(&str, String)| start.variable(name, value);
        self.variables().iter().fold(start, set)
    }

    /// Returns the command of the scripted agent with flags and a recording.
    pub(crate) fn agent(&self, flags: &[&str], name: &str) -> Vec<String> {
        let root = self.root();
        let mut words = vec![executable().to_str().unwrap().to_owned()];
        words.extend(["--root", root.to_str().unwrap()].map(str::to_owned));
        words.extend(flags.iter().map(|flag| (*flag).to_owned()));
        if !name.is_empty() {
            words.push(recording(name).to_str().unwrap().to_owned());
        }
        words
    }

    /// Starts a chat with the scripted agent and waits until it is ready.
    pub(crate) fn talk(&self, size: Size, flags: &[&str], name: &str) -> Terminal {
        let terminal = self.start(size, flags, name).start();
        terminal.wait_for("❯");
        wait_until("the agent", || !terminal.text().contains("starting"));
        terminal
    }

    pub(crate) fn start(&self, size: Size, flags: &[&str], name: &str) -> Start {
        let agent = self.agent(flags, name);
        let words: Vec<&str> = agent.iter().map(String::as_str).collect();
        self.chat(size, &[&["--"], words.as_slice()].concat())
    }

    /// Returns an `unspool` command in the same home folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = unspool(arguments);
        command.envs(self.variables());
        command
    }

    /// Returns the recordings.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.data().join("sessions")) else {
            return Vec::new();
        };
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

/// Types a message and sends it.
pub(crate) fn send(terminal: &Terminal, text: &str) {
    terminal.press(text.as_bytes());
    // The whole text may be wider than the prompt.
    let seen: String = text.chars().take(12).collect();
    terminal.wait_for(&seen);
    terminal.press(ENTER);
}

/// Answers a question after the guard's pause.
pub(crate) fn answer(terminal: &Terminal, question: &str, key: &[u8]) {
    terminal.wait_for(question);
    pause();
    terminal.press(key);
}

/// Waits longer than the guard's pause.
pub(crate) fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(500));
}

/// Waits until the turn is over.
pub(crate) fn done(terminal: &Terminal, said: &str) {
    terminal.wait_for(said);
    wait_until("the end of the turn", || {
        !terminal.text().contains("working")
    });
}

/// Leaves the chat and checks that the terminal is restored.
pub(crate) fn leave(terminal: &mut Terminal) {
    terminal.press(LEAVE);
    let asks = || terminal.text().contains("still working");
    wait_until("the end, or a question", || {
        asks() || !terminal.is_alternate()
    });
    if asks() {
        pause();
        terminal.press(b"y");
    }
    assert!(terminal.end().success());
    assert!(!terminal.is_alternate() && !terminal.takes_mouse());
    assert!(terminal.shows_cursor() && terminal.echoes());
}
