//! The same inside tmux, which keeps a screen of its own and wraps lines anew
//! in its own way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::terminal::Size;
use crate::world::{self, wait_until};

/// A server of tmux with one window, in which a script runs.
pub(crate) struct Tmux {
    folder: TempDir,
}

/// Whether there is a tmux to test with.
pub(crate) fn is_there() -> bool {
    let is_there = Command::new("tmux").arg("-V").output().is_ok();
    if !is_there {
        // Not on every machine there is one; where changes are checked, there is.
        assert!(
            std::env::var_os("CI").is_none(),
            "tmux is not installed: see .ci/run"
        );
    }
    is_there
}

impl Tmux {
    /// Runs a script for `sh` in a window of this size.
    pub(crate) fn start((columns, rows): Size, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = "set -g history-limit 10000\nset -g status off\n\
                        set -g default-terminal screen-256color\n";
        fs::write(folder.path().join("settings"), settings).unwrap();
        let script = format!("{script}\necho $? > status\nexec sleep 600\n");
        fs::write(folder.path().join("script"), script).unwrap();
        let tmux = Self { folder };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        tmux.tell(&[
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "exec sh script",
        ]);
        tmux
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    #[track_caller]
    fn tell(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        world::variables().for_each(|name| {
            command.env_remove(name);
        });
        command.envs(crate::environment::OURS);
        let output = command
            .current_dir(self.folder.path())
            .arg("-S")
            .arg(self.path("socket"))
            .args(["-f", "settings"])
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "tmux {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn resize(&self, (columns, rows): Size) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tell(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// All lines of scrollback and screen, those that were wrapped as one.
    pub(crate) fn lines(&self) -> Vec<String> {
        world::lines(&self.tell(&["capture-pane", "-p", "-J", "-S", "-"]))
    }

    /// The screen as it is.
    pub(crate) fn screen(&self) -> String {
        self.tell(&["capture-pane", "-p"])
    }

    /// Presses keys, by the names that tmux has for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    /// Whether the cursor is to be seen.
    pub(crate) fn shows_cursor(&self) -> bool {
        self.tell(&["display-message", "-p", "#{cursor_flag}"])
            .trim()
            == "1"
    }

    /// Waits until the script is over; its status.
    #[track_caller]
    pub(crate) fn end(&self) -> i32 {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let path = self.path("status");
        wait_until("the end of the script", || read(&path).ends_with('\n'));
        read(&path).trim().parse().unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(self.path("socket"))
            .arg("kill-server")
            .output();
    }
}
