//! Follows a growing session file and sends new content into the channel.
//!
//! The file is polled ten times a second. It may not exist yet. If it is truncated,
//! replaced or rotated, it is read from the start again, and the receiver skips what
//! was shown before. Files written as a whole (JSON documents, databases, archives)
//! are read as a whole when they change.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, SystemTime};

use serde::de::IgnoredAny;
use unspool_sessions::driver::Piece;
use unspool_sessions::input::CHUNK;
use unspool_sessions::open;

use crate::agents;
use crate::watch::Update;

/// Poll interval.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of polls of an incomplete document before it is shown as it is.
const PATIENCE: usize = 20;
/// Number of bytes compared to detect a rewritten file.
const REMEMBERED: usize = 64;

/// Follows a file until the receiver is gone. `find` returns the path once the file
/// exists; `waiting` is the message until then. `part` selects a session in a file
/// that holds several.
pub(crate) fn follow(
    find: impl Fn() -> Option<PathBuf>,
    part: String,
    waiting: &str,
    sender: &SyncSender<Update>,
) {
    let mut is_waiting = false;
    let path = loop {
        if let Some(path) = find() {
            break path;
        }
        if !is_waiting && sender.send(Update::Aside(waiting.to_owned())).is_err() {
            return;
        }
        is_waiting = true;
        thread::sleep(PAUSE);
    };
    if is_waiting {
        let _ = sender.send(Update::Aside(chosen(&path)));
    }
    let mut tail = Tail {
        path,
        part,
        open: None,
        missing: false,
        complaint: String::new(),
        torn: 0,
    };
    while tail.look(sender).is_ok() {
        thread::sleep(PAUSE);
    }
}

/// Returns the message that names the followed file.
pub(crate) fn chosen(path: &Path) -> String {
    format!("Following {}\n", path.display())
}

struct Tail {
    path: PathBuf,
    /// The session in the file; empty for the whole file or the newest session.
    part: String,
    open: Option<Open>,
    /// True if the file was missing at the last poll, which was reported.
    missing: bool,
    /// The last error reported.
    complaint: String,
    /// Number of polls that found an incomplete document.
    torn: usize,
}

/// The state of the file at the last poll.
enum Open {
    Lines(Lines),
    Whole(Stamp),
}

/// A file that lines are appended to.
struct Lines {
    file: File,
    identity: (u64, u64),
    /// Number of bytes read.
    position: u64,
    /// The last bytes before the position.
    last: Vec<u8>,
}

/// Inode, size and modification time of a file and its log. Changes with each write.
type Stamp = Vec<(u64, u64, SystemTime)>;

/// The receiver is gone.
struct ReceiverGone;

impl Tail {
    /// Polls the file once and sends new content.
    fn look(&mut self, sender: &SyncSender<Update>) -> Result<(), ReceiverGone> {
        let metadata = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) => return self.report_missing(&error, sender),
        };
        self.missing = false;
        if self.is_whole() {
            return self.read_whole(sender);
        }
        let read = self.read_lines(&metadata, sender);
        match read {
            Ok(sent) => sent,
            Err(error) => self.complain(&error.to_string(), sender),
        }
    }

    /// Returns true if the file is written as a whole, not line by line.
    fn is_whole(&self) -> bool {
        match &self.open {
            Some(Open::Lines(_)) => false,
            Some(Open::Whole(_)) => true,
            None => !self.part.is_empty() || open::is_whole(&self.path),
        }
    }

    fn read_lines(
        &mut self,
        metadata: &Metadata,
        sender: &SyncSender<Update>,
    ) -> io::Result<Result<(), ReceiverGone>> {
        let goes_on = matches!(&self.open, Some(Open::Lines(lines)) if lines.go_on_in(metadata));
        if !goes_on {
            if let Some(Open::Lines(lines)) = &mut self.open
                && let Err(error) = lines.leave(metadata, &self.path, sender)?
            {
                return Ok(Err(error));
            }
            let is_first = self.open.is_none();
            self.open = Some(Open::Lines(Lines {
                file: File::open(&self.path)?,
                identity: identity(metadata),
                position: 0,
                last: Vec::new(),
            }));
            if !is_first && sender.send(Update::Piece(Piece::Restart)).is_err() {
                return Ok(Err(ReceiverGone));
            }
        }
        match &mut self.open {
            Some(Open::Lines(lines)) => lines.send_rest(sender),
            _ => Ok(Ok(())),
        }
    }

    fn read_whole(&mut self, sender: &SyncSender<Update>) -> Result<(), ReceiverGone> {
        let stamp = stamp(&self.path);
        if matches!(&self.open, Some(Open::Whole(known)) if *known == stamp) {
            return Ok(());
        }
        let read =
            open::open_part(&self.path, &self.part, None, agents::known()).and_then(|input| {
                let mut bytes = Vec::new();
                if let Some(mut input) = input {
                    input.bytes.read_to_end(&mut bytes)?;
                }
                Ok(bytes)
            });
        match read {
            Ok(bytes) if self.poll_again(&bytes) => Ok(()),
            Ok(bytes) => {
                self.torn = 0;
                self.open = Some(Open::Whole(stamp));
                let whole = Update::Piece(Piece::Document(bytes));
                sender.send(whole).map_err(|_| ReceiverGone)
            }
            // The file may be in the middle of a write; the next poll tries again.
            Err(error) => self.complain(&format!("{error:#}"), sender),
        }
    }

    /// Counts a poll; returns true if the document is incomplete and worth another
    /// poll.
    fn poll_again(&mut self, bytes: &[u8]) -> bool {
        let is_document = self.path.extension().is_some_and(|name| name == "json");
        let is_torn = is_document && serde_json::from_slice::<IgnoredAny>(bytes).is_err();
        self.torn += 1;
        is_torn && self.torn <= PATIENCE
    }

    fn report_missing(
        &mut self,
        error: &io::Error,
        sender: &SyncSender<Update>,
    ) -> Result<(), ReceiverGone> {
        if self.missing {
            return Ok(());
        }
        self.missing = true;
        let text = if error.kind() == io::ErrorKind::NotFound {
            format!("Waiting for {}\n", self.path.display())
        } else {
            format!("Cannot read {}: {error}\n", self.path.display())
        };
        let aside = Update::Aside(text);
        sender.send(aside).map_err(|_| ReceiverGone)
    }

    /// Reports an error, unless it is the same as the last one.
    fn complain(&mut self, error: &str, sender: &SyncSender<Update>) -> Result<(), ReceiverGone> {
        if self.complaint == error {
            return Ok(());
        }
        error.clone_into(&mut self.complaint);
        let aside = Update::Aside(format!("{error}\n"));
        sender.send(aside).map_err(|_| ReceiverGone)
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Lines {
    /// Returns true if this is still the same file and it was only appended to.
    fn go_on_in(&self, metadata: &Metadata) -> bool {
        self.identity == identity(metadata)
            && metadata.len() >= self.position
            && self.ends_as_before()
    }

    /// Returns true if the last bytes read are still there. A file that was truncated
    /// and rewritten may be longer than before.
    fn ends_as_before(&self) -> bool {
        let mut bytes = vec![0; self.last.len()];
        let from = self.position.saturating_sub(bytes.len() as u64);
        let read = self.file.read_exact_at(&mut bytes, from);
        read.is_ok() && bytes == self.last
    }

    /// Reports that the file was replaced or truncated. The rest of a replaced file is
    /// sent first, including a last line without a newline.
    fn leave(
        &mut self,
        metadata: &Metadata,
        path: &Path,
        sender: &SyncSender<Update>,
    ) -> io::Result<Result<(), ReceiverGone>> {
        let path = path.display();
        let mut text = format!("{path} was truncated; reading it from the start\n");
        if self.identity != identity(metadata) {
            text = format!("{path} was replaced; reading the new file from the start\n");
            if let Err(error) = self.send_rest(sender)? {
                return Ok(Err(error));
            }
            if self.last.last().is_some_and(|byte| *byte != b'\n') {
                // If the receiver is gone, the next send fails too.
                let _ = sender.send(Update::Piece(Piece::Bytes(vec![b'\n'])));
            }
        }
        Ok(sender.send(Update::Aside(text)).map_err(|_| ReceiverGone))
    }

    /// Sends the rest of the file after the position.
    fn send_rest(&mut self, sender: &SyncSender<Update>) -> io::Result<Result<(), ReceiverGone>> {
        let mut chunk = vec![0; CHUNK];
        self.file.seek(SeekFrom::Start(self.position))?;
        loop {
            let length = match self.file.read(&mut chunk) {
                Ok(0) => return Ok(Ok(())),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.position += length as u64;
            let bytes = chunk.get(..length).unwrap_or_default().to_vec();
            self.last.extend(&bytes);
            let surplus = self.last.len().saturating_sub(REMEMBERED);
            self.last.drain(..surplus);
            if sender.send(Update::Piece(Piece::Bytes(bytes))).is_err() {
                return Ok(Err(ReceiverGone));
            }
        }
    }
}

/// Returns the stamp of a file and of the write-ahead log next to a database.
fn stamp(path: &Path) -> Stamp {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)]
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok())
        .map(|metadata| {
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            (metadata.ino(), metadata.len(), written)
        })
        .collect()
}
