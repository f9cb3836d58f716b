//! The permissions that the user or a rule has granted.
//!
//! An agent asks for permission first and then reads, writes or runs through the
//! client. A grant lets that second request pass without another question. Grants
//! end with the turn, except those that the user gave for the whole conversation.

use std::path::{Path, PathBuf};

use super::ToolCall;
use super::proposed_change::{self, ProposedChange};
use crate::files::Files;
use crate::terminals::TerminalCommand;

#[derive(Default)]
pub(super) struct Grants {
    paths: Vec<String>,
    /// By their resolved paths.
    changes: Vec<(String, ProposedChange)>,
    commands: Vec<String>,
    /// The user allowed all writes inside the project.
    pub(super) all_writes: bool,
    /// The user allowed all commands.
    pub(super) all_commands: bool,
}

impl Grants {
    /// Grants a call that a rule allowed: only the part that its kind covers.
    pub(super) fn add_by_rule(&mut self, call: &ToolCall, files: &Files) {
        let mut call = call.clone();
        if call.kind != "edit" {
            call.changes.clear();
        }
        if call.kind != "execute" {
            call.command = None;
        }
        self.add(&call, files);
    }

    /// Grants a call that the user allowed, as it was shown.
    pub(super) fn add(&mut self, call: &ToolCall, files: &Files) {
        let paths = resolve_all(&call.paths, files);
        self.paths.extend(paths.into_iter().flatten());
        for change in &call.changes {
            let path = resolve(&change.path, files);
            let granted = path.map(|path| (path, change.clone()));
            self.changes.extend(granted);
        }
        self.commands.extend(call.command.clone());
    }

    /// Grants all further calls of a kind.
    pub(super) fn add_always(&mut self, kind: &str) {
        self.all_writes |= kind == "edit";
        self.all_commands |= kind == "execute";
    }

    /// Returns true if a path below the root may be read.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.paths.iter().any(|granted| granted == path)
    }

    /// Returns true if writing this content makes a granted change. `resolved` is
    /// where the path leads.
    pub(super) fn has_change(
        &self,
        path: &Path,
        resolved: &str,
        content: &str,
        files: &Files,
    ) -> bool {
        let granted = self.changes.iter();
        let granted = granted.filter(|(granted, _)| granted == resolved);
        let granted: Vec<&ProposedChange> = granted.map(|(_, change)| change).collect();
        let before = files.read(path, None, None).ok();
        let before = before.map(|before| before.text);
        proposed_change::are_made(&granted, before.as_deref(), content)
    }

    /// Uses up the grant of a command in the root; returns false if there is none.
    pub(super) fn take_command(
        &mut self,
        command: &TerminalCommand,
        line: &str,
        files: &Files,
    ) -> bool {
        let granted = self.commands.iter().position(|granted| granted == line);
        let granted = granted.filter(|_| command.cwd == files.root());
        granted.map(|at| self.commands.remove(at)).is_some()
    }

    /// Forgets the grants of a turn.
    pub(super) fn end_turn(&mut self) {
        self.paths.clear();
        self.changes.clear();
        self.commands.clear();
    }
}

/// Resolves paths to where they lead below the root; `None` for those outside.
pub(super) fn resolve_all(paths: &[PathBuf], files: &Files) -> Vec<Option<String>> {
    paths.iter().map(|path| resolve(path, files)).collect()
}

fn resolve(path: &Path, files: &Files) -> Option<String> {
    let path = files.resolve(path).ok()?;
    Some(path.to_string_lossy().into_owned())
}
