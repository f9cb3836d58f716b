//! What an answer to a request for permission was about, for the transcript.
//!
//! A request is shown with the command or the files that it is about; its event has
//! the agent's headline alone, and the agent may tell something else of the call
//! later. So the answer names what was seen when it was given. Used by `asks.rs`,
//! which knows that, and `journal.rs`, which tells it.

use std::path::{Path, PathBuf};

use unspool::{sanitize, tool};

use super::ToolCall;
use crate::files::Files;

/// Characters of a command that are told.
const LONGEST: usize = 300;
/// Files that are told.
const MOST: usize = 5;

/// What a request was about.
pub(super) struct About {
    command: Option<String>,
    files: Vec<String>,
}

impl About {
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

    /// The headline of the request, with what it does not say.
    pub(super) fn title(&self, asked: &str) -> String {
        let unsaid = match &self.command {
            Some(command) => {
                let line = one_line(command);
                if tool::label(command) == asked {
                    // The headline lost its line ends.
                    return line;
                }
                Some(line).filter(|line| !asked.contains(line.as_str()))
            }
            None => self.unsaid_files(asked),
        };
        match unsaid {
            Some(unsaid) if asked.is_empty() => unsaid,
            Some(unsaid) => format!("{asked}: {unsaid}"),
            None => asked.to_owned(),
        }
    }

    fn unsaid_files(&self, asked: &str) -> Option<String> {
        let is_edge = |c: char| c.is_whitespace() || "`\"'(),:".contains(c);
        let is_said = |name: &str| {
            let mut words = asked.split(is_edge);
            words.any(|word| Path::new(word).ends_with(name))
        };
        let names = self.files.iter().filter(|name| !is_said(name));
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        let more = names.len().saturating_sub(MOST);
        names.truncate(MOST);
        let names = names.join(", ");
        let names = match more {
            0 => names,
            more => format!("{names} and {more} more"),
        };
        Some(names).filter(|names| !names.is_empty())
    }
}

/// A command as one line in which its lines do not run into each other.
fn one_line(command: &str) -> String {
    let command = sanitize::exact(command);
    let lines = command.trim().lines().map(tool::label);
    let line = lines.collect::<Vec<_>>().join(" ⏎ ");
    let cut = line.char_indices().nth(LONGEST);
    match cut.and_then(|(at, _)| line.split_at_checked(at)) {
        Some((head, rest)) => format!("{head}… ({} more characters)", rest.chars().count()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(command: &str, asked: &str) -> String {
        let about = About {
            command: Some(command.to_owned()),
            files: Vec::new(),
        };
        about.title(asked)
    }

    #[test]
    fn a_command_is_told_unless_the_headline_says_it() {
        assert_eq!(command("rm -rf x", "Say hi"), "Say hi: rm -rf x");
        assert_eq!(command("rm -rf x", "`rm -rf x`"), "`rm -rf x`");
        assert_eq!(command("rm -rf x", "rm -rf x"), "rm -rf x");
        assert_eq!(command("rm -rf x", ""), "rm -rf x");
        let lines = "echo hi # tidy\ntouch evil";
        let told = "echo hi # tidy ⏎ touch evil";
        assert_eq!(command(lines, &tool::label(lines)), told);
        assert_eq!(command("ls\u{A0};rm", "ls ;rm"), r"ls\u{00A0};rm");
        let long = format!("echo {}; rm -rf y", "a".repeat(400));
        assert!(command(&long, "Say hi").ends_with("… (115 more characters)"));
    }

    #[test]
    fn a_file_is_told_unless_the_headline_names_it() {
        let of = |files: &[&str], asked: &str| {
            let files = files.iter().map(|&name| name.to_owned()).collect();
            let command = None;
            About { command, files }.title(asked)
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
