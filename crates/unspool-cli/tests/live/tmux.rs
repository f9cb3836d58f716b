//! A window of tmux, which keeps a screen of its own and rewraps lines in its own
//! way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::environment;
use crate::terminal::Size;
use crate::world::{self, wait_until};

/// A tmux server with one window that runs a script.
pub(crate) struct Tmux {
    folder: TempDir,
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
        tmux.command(&[
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
    fn command(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        for name in environment::REMOVED {
            command.env_remove(name);
        }
        command.envs(environment::SET);
        let output = command
            .current_dir(self.folder.path())
            .arg("-S")
            .arg(self.path("socket"))
            .args(["-f", "settings"])
            .args(words)
            .output()
            .expect("tmux can be started");
        assert!(output.status.success(), "tmux {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn resize(&self, (columns, rows): Size) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.command(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// All lines of scrollback and screen, with wrapped rows joined.
    pub(crate) fn lines(&self) -> Vec<String> {
        world::lines(&self.command(&["capture-pane", "-p", "-J", "-S", "-"]))
    }

    /// The visible screen.
    pub(crate) fn screen(&self) -> String {
        self.command(&["capture-pane", "-p"])
    }

    /// Presses keys, named as in `tmux send-keys`.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.command(&[&["send-keys"], keys].concat());
    }

    /// Returns true if the cursor is visible.
    pub(crate) fn shows_cursor(&self) -> bool {
        self.command(&["display-message", "-p", "#{cursor_flag}"])
            .trim()
            == "1"
    }

    /// Waits until the script is over; returns its exit status.
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
