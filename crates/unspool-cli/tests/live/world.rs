//! Shared by the tests: recordings, scripted agents, the plain output to
//! compare with, and waiting.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tempfile::TempDir;

use crate::environment;

/// The program that is tested.
pub(crate) const UNSPOOL: &str = env!("CARGO_BIN_EXE_unspool");

/// The program with arguments, in a clean environment.
pub(crate) fn unspool(arguments: &[&str]) -> Command {
    reset_signals();
    let mut command = Command::new(UNSPOOL);
    for name in environment::REMOVED {
        command.env_remove(name);
    }
    command.envs(environment::SET).args(arguments);
    command
}

/// Lets the programs that are started have the default reaction to signals. A shell
/// starts what runs in the background with some of them ignored.
pub(crate) fn reset_signals() {
    static RESET: Once = Once::new();
    RESET.call_once(|| {
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            // A handler is not inherited; this one does what the default does.
            let always = Arc::new(AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal, always).unwrap();
        }
    });
}

/// A recording of the corpus.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/corpus")
        .join(name)
}

/// Returns the output into a pipe for an input that is complete from the start.
pub(crate) fn one_shot(input: &Path, width: usize) -> Vec<String> {
    // Without colours there are marks that a terminal with colours needs not.
    let output = unspool(&["--color", "always", "--width", &width.to_string()])
        .stdin(File::open(input).unwrap())
        .output()
        .unwrap();
    lines(&without_colours(&String::from_utf8(output.stdout).unwrap()))
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| piece.split_once('m').unwrap().1);
    std::iter::once(first).chain(rest).collect()
}

/// The lines of a text, without blanks at their ends and without empty ones at
/// the end.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The time after which a test gives up. Only a broken program takes so long, even on
/// a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Waits for a state, and fails if it never comes.
#[track_caller]
pub(crate) fn wait_until(state: &str, mut is_reached: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_reached() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {state}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process whose id a script wrote into a file.
pub(crate) fn noted(agent: &Agent, name: &str) -> Pid {
    let mut found = None;
    wait_until("the number of a process", || {
        let text = fs::read_to_string(agent.path(name)).unwrap_or_default();
        found = text
            .strip_suffix('\n')
            .and_then(|number| number.parse().ok())
            .and_then(Pid::from_raw);
        found.is_some()
    });
    found.unwrap()
}

/// Does the same with each item, all at once: most of the time they wait.
pub(crate) fn at_once<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for item in items {
            scope.spawn(|| work(item));
        }
    });
}

/// A folder with a script in it that plays an agent.
pub(crate) struct Agent {
    pub(crate) folder: TempDir,
    pub(crate) script: String,
}

impl Agent {
    /// A script for `sh`. It runs in its folder.
    pub(crate) fn sh(script: &str) -> Self {
        Self::new(&format!("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n{script}\n"))
    }

    /// A script for Python. It runs in its folder.
    pub(crate) fn python(script: &str) -> Self {
        Self::new(&format!(
            "#!/usr/bin/env python3\nimport os, sys, time, signal, json\n\
             os.chdir(os.path.dirname(os.path.abspath(sys.argv[0])))\n{script}\n"
        ))
    }

    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            script: path.to_str().unwrap().to_owned(),
            folder,
        }
    }

    /// A file in its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `unspool run … -- agent` into a pipe.
    pub(crate) fn run(&self, arguments: &[&str]) -> Command {
        let mut words = vec!["run"];
        words.extend(arguments);
        words.extend(["--", &self.script]);
        let mut command = unspool(&words);
        command.stdin(Stdio::null());
        command
    }
}

/// One line of the program's own events. The first must say the session.
pub(crate) fn session() -> String {
    r#"{"kind":"session","seq":0,"provider":"claude"}"#.to_owned() + "\n"
}

/// A whole message.
pub(crate) fn text(id: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"kind\":\"text\",\"id\":\"{id}\",\"text\":{text}}}\n")
}

/// A piece of a message.
pub(crate) fn delta(id: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"kind\":\"text\",\"id\":\"{id}\",\"text\":{text},\"delta\":true}}\n")
}

/// A command that begins to run.
pub(crate) fn call(id: &str, command: &str) -> String {
    format!(
        "{{\"kind\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\"category\":\"execute\",\
         \"arg\":\"{command}\",\"input\":{{\"command\":\"{command}\"}}}}\n"
    )
}

/// The command's end.
pub(crate) fn result(id: &str, output: &str) -> String {
    let output = serde_json::to_string(output).unwrap();
    format!(
        "{{\"kind\":\"tool_result\",\"id\":\"{id}\",\"name\":\"Bash\",\"status\":\"ok\",\
         \"output\":{output},\"exit_code\":0}}\n"
    )
}

/// The turn is over.
pub(crate) fn turn_end() -> String {
    "{\"kind\":\"turn_end\",\"status\":\"completed\"}\n".to_owned()
}
