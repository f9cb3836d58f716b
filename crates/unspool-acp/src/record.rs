//! The recording of a conversation: its events as JSON lines.
//!
//! Each line is appended with one write, so if this process is killed, at most the
//! last line is cut off. `unspool` reads the file like any other recording. Only the
//! user can read it. Written by `journal.rs`.
//!
//! The file is locked while a process writes it. The system releases the lock with
//! the process, so a lock means that the conversation is still in progress.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use unspool::Event;
use unspool::event::{RawJson, State};

use crate::private_file;

/// Bytes at the end that are searched for the last newline.
const TAIL: u64 = 64 << 20;

/// Attempts to lock, because [`is_written`] holds the lock for a moment.
const TRIES: usize = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// The agent that a conversation was held with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RecordedAgent {
    /// Its name in the configuration.
    #[serde(rename = "agent")]
    pub name: String,
    /// The command that started it.
    pub command: Vec<String>,
}

impl RecordedAgent {
    /// Names an agent and the command that starts it.
    pub fn new(name: impl Into<String>, command: Vec<String>) -> Self {
        Self {
            name: name.into(),
            command,
        }
    }

    /// Reads the agent from a state event. Returns `None` for any other state.
    pub fn from_state(state: &State) -> Option<Self> {
        let value = state.value.as_ref().map_or("", RawJson::get);
        (state.name == State::CONVERSATION).then(|| serde_json::from_str(value).unwrap_or_default())
    }

    pub(crate) fn to_state(&self) -> State {
        let value = serde_json::to_string(self).unwrap_or_default();
        State::new(State::CONVERSATION, RawJson::new(&value))
    }
}

/// Returns true if a process is writing this recording.
pub fn is_written(path: &Path) -> bool {
    let locked = File::open(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// Appends events to a recording.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
    path: PathBuf,
    line: Vec<u8>,
}

impl Recorder {
    /// Opens a recording to append, and creates it and its folder if they are missing.
    /// A last line that was cut off is removed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = private_file::open(path)?;
        lock(&file);
        drop_cut_line(&mut file)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            line: Vec::new(),
        })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event.
    pub(crate) fn write(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, event)?;
        self.line.push(b'\n');
        self.file.write_all(&self.line)
    }
}

/// Locks the file if possible. The same conversation may be open twice, and not every
/// file system has locks.
fn lock(file: &File) {
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}

fn drop_cut_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let whole = memchr::memrchr(b'\n', &tail).map_or(0, |at| at as u64 + 1);
    if from + whole < length && (whole > 0 || from == 0) {
        file.set_len(from + whole)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use unspool::event::{Body, Message};

    fn event(text: &str) -> Event {
        Event::new(Body::Text(Message::new("", text)))
    }

    #[test]
    fn only_the_user_can_read_a_recording() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/run.jsonl");
        Recorder::open(&path).unwrap().write(&event("a")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_recording_in_progress_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        assert!(!is_written(&path));
        let recorder = Recorder::open(&path).unwrap();
        assert!(is_written(&path));
        drop(recorder);
        assert!(!is_written(&path));
    }

    #[test]
    fn a_cut_off_last_line_is_removed_before_appending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        Recorder::open(&path).unwrap().write(&event("a")).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"kind\":\"te")).unwrap();
        Recorder::open(&path).unwrap().write(&event("b")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, whole.clone() + &whole.replace("\"a\"", "\"b\""));
    }
}
