//! The title of an answered permission request, for the transcript.
//!
//! The user sees the command or the files of a request, but its event has only the
//! agent's title, and later updates of the call can change what it does. So the answer
//! names the command or files that the user saw. `questions.rs` collects them,
//! `journal.rs` puts the title into the event.

use std::path::{Path, PathBuf};

use unspool::{sanitize, tool};

use super::ToolCall;
use crate::files::Files;

/// Maximum number of characters of a command.
const MAX_COMMAND: usize = 300;
/// Maximum number of files.
const MAX_FILES: usize = 5;

/// The command and the files of a permission request.
pub(super) struct PermissionDetails {
    command: Option<String>,
    files: Vec<String>,
}

impl PermissionDetails {
    pub(super) fn new(call: &ToolCall, files: &Files) -> Self {
        let changed = call.edits.iter().map(|edit| Path::new(&edit.path));
        let named = call.paths.iter().map(PathBuf::as_path);
        let named = named.filter(|_| call.edits.is_empty());
        let name = |path: &Path| {
            let path = files.relative(path).unwrap_or(path);
            let path = path.to_string_lossy();
            sanitize::line(&sanitize::exact(&path)).into_owned()
        };
        Self {
            command: call.command.clone(),
            files: changed.chain(named).map(name).collect(),
        }
    }

    /// Appends the command or the files to the title of the request, unless it
    /// contains them.
    pub(super) fn title(&self, requested: &str) -> String {
        let missing = match &self.command {
            Some(command) => {
                let line = one_line(command);
                if tool::label(command) == requested {
                    // The agent replaced the newlines by spaces.
                    return line;
                }
                Some(line).filter(|line| !requested.contains(line.as_str()))
            }
            None => self.missing_files(requested),
        };
        match missing {
            Some(missing) if requested.is_empty() => missing,
            Some(missing) => format!("{requested}: {missing}"),
            None => requested.to_owned(),
        }
    }

    fn missing_files(&self, requested: &str) -> Option<String> {
        let is_separator = |c: char| c.is_whitespace() || "`\"'(),:".contains(c);
        let is_named = |name: &str| {
            let mut words = requested.split(is_separator);
            words.any(|word| Path::new(word).ends_with(name))
        };
        let names = self.files.iter().filter(|name| !is_named(name));
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        let more = names.len().saturating_sub(MAX_FILES);
        names.truncate(MAX_FILES);
        let names = names.join(", ");
        let names = match more {
            0 => names,
            more => format!("{names} and {more} more"),
        };
        Some(names).filter(|names| !names.is_empty())
    }
}

/// Joins the lines of a command with a visible mark.
fn one_line(command: &str) -> String {
    let command = sanitize::exact(command);
    let lines = command.trim().lines().map(tool::label);
    let line = lines.collect::<Vec<_>>().join(" ⏎ ");
    let cut = line.char_indices().nth(MAX_COMMAND);
    match cut.and_then(|(at, _)| line.split_at_checked(at)) {
        Some((head, rest)) => format!("{head}… ({} more characters)", rest.chars().count()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(command: &str, requested: &str) -> String {
        let details = PermissionDetails {
            command: Some(command.to_owned()),
            files: Vec::new(),
        };
        details.title(requested)
    }

    #[test]
    fn the_command_is_appended_unless_the_title_contains_it() {
        assert_eq!(command("rm -rf x", "Say hi"), "Say hi: rm -rf x");
        assert_eq!(command("rm -rf x", "`rm -rf x`"), "`rm -rf x`");
        assert_eq!(command("rm -rf x", "rm -rf x"), "rm -rf x");
        assert_eq!(command("rm -rf x", ""), "rm -rf x");
        let lines = "echo hi # tidy\ntouch evil";
        let joined = "echo hi # tidy ⏎ touch evil";
        assert_eq!(command(lines, &tool::label(lines)), joined);
        assert_eq!(command("ls\u{A0};rm", "ls ;rm"), r"ls\u{00A0};rm");
        let long = format!("echo {}; rm -rf y", "a".repeat(400));
        assert!(command(&long, "Say hi").ends_with("… (115 more characters)"));
    }

    #[test]
    fn files_are_appended_unless_the_title_names_them() {
        let of = |files: &[&str], requested: &str| {
            let files = files.iter().map(|&name| name.to_owned()).collect();
            let command = None;
            PermissionDetails { command, files }.title(requested)
        };
        assert_eq!(of(&["src/a.rs"], "Edit src/a.rs"), "Edit src/a.rs");
        assert_eq!(
            of(&["src/a.rs"], "Edit `/p/src/a.rs`"),
            "Edit `/p/src/a.rs`"
        );
        assert_eq!(of(&["/x/a.rs"], "Edit a.rs"), "Edit a.rs: /x/a.rs");
        assert_eq!(of(&["a.rs"], "Edit ba.rs"), "Edit ba.rs: a.rs");
        let many = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(of(&many, "Mend"), "Mend: a, b, c, d, e and 2 more");
        assert_eq!(of(&[], "Look it up"), "Look it up");
    }
}
