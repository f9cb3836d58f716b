//! Prompt history of earlier chats: a file with one JSON line per text and its
//! project. Only the end of the file is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::prompt::Mode;
use unspool_acp::private_file;

/// Number of bytes read from the end of the file.
const READ: u64 = 1 << 20;
/// Maximum length of a text. Longer ones are not stored.
const LONGEST: usize = 64 << 10;

/// Prompt history and its file.
#[derive(Clone, Debug, Default)]
pub struct History {
    path: Option<PathBuf>,
    project: String,
    entries: Vec<(Mode, String)>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    project: String,
    #[serde(default)]
    shell: bool,
    text: String,
}

impl History {
    /// Loads the history of a project. An unreadable file counts as empty, and
    /// invalid lines are skipped.
    pub fn open(path: &Path, project: &Path) -> Self {
        let project = project.to_string_lossy().into_owned();
        let text = end_of(path).unwrap_or_default();
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Kept>(line).ok())
            .filter(|kept| kept.project == project)
            .map(|kept| (mode(kept.shell), kept.text))
            .collect();
        Self {
            path: Some(path.to_owned()),
            project,
            entries,
        }
    }

    /// Returns the prompts or the shell commands, oldest first.
    pub fn entries(&self, mode: Mode) -> Vec<String> {
        let of_mode = self.entries.iter().filter(|(kept, _)| *kept == mode);
        of_mode.map(|(_, text)| text.clone()).collect()
    }

    /// Adds a text. Fails if the file cannot be written.
    pub fn add(&mut self, mode: Mode, text: &str) -> io::Result<()> {
        if text.len() > LONGEST {
            return Ok(());
        }
        self.entries.push((mode, text.to_owned()));
        let Some(path) = &self.path else {
            return Ok(());
        };
        let kept = Kept {
            project: self.project.clone(),
            shell: mode == Mode::Shell,
            text: text.to_owned(),
        };
        let line = serde_json::to_string(&kept)? + "\n";
        private_file::open(path)?.write_all(line.as_bytes())
    }
}

fn mode(shell: bool) -> Mode {
    if shell { Mode::Shell } else { Mode::Message }
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(READ)))?;
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_restored_per_project() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("unspool/history.jsonl");
        let mut history = History::open(&path, Path::new("/a"));
        history.add(Mode::Message, "mend\nit").unwrap();
        history.add(Mode::Shell, "ls").unwrap();
        let again = History::open(&path, Path::new("/a"));
        assert_eq!(again.entries(Mode::Message), ["mend\nit"]);
        assert_eq!(again.entries(Mode::Shell), ["ls"]);
        let other = History::open(&path, Path::new("/b"));
        assert!(other.entries(Mode::Message).is_empty());
    }

    #[test]
    fn invalid_lines_in_the_file_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        std::fs::write(&path, b"\xff{}\n{\"project\":\"/a\",\"text\":\"x\"}\nno").unwrap();
        let history = History::open(&path, Path::new("/a"));
        assert_eq!(history.entries(Mode::Message), ["x"]);
    }
}
