//! A session file that grows: what is new in it goes into the channel.
//!
//! The file is looked at ten times a second. It may not exist yet, be cut,
//! replaced or rotated: then it is read from its beginning again, and whoever
//! watches leaves out what was shown before. Files that are written as a whole
//! (JSON documents, databases, archives) are read as a whole when they change.

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

/// Between two looks at the file.
const PAUSE: Duration = Duration::from_millis(100);
/// Looks at a document that is not whole, before it is shown as it is.
const PATIENCE: usize = 20;
/// Bytes that tell whether a file was written anew.
const REMEMBERED: usize = 64;

/// Follows a file for ever, or until nobody listens. `find` names it, as soon
/// as there is one; `part` is the session in it that is meant, if there may be
/// others; `waiting` says what is waited for until then.
pub(crate) fn follow(
    find: impl Fn() -> Option<PathBuf>,
    part: String,
    waiting: &str,
    sender: &SyncSender<Update>,
) {
    let mut is_said = false;
    let path = loop {
        if let Some(path) = find() {
            break path;
        }
        if !is_said && sender.send(Update::Aside(waiting.to_owned())).is_err() {
            return;
        }
        is_said = true;
        thread::sleep(PAUSE);
    };
    if is_said {
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

/// Says which file was chosen.
pub(crate) fn chosen(path: &Path) -> String {
    format!("Following {}\n", path.display())
}

struct Tail {
    path: PathBuf,
    /// The session in it; empty if that is all of it, or the newest one.
    part: String,
    open: Option<Open>,
    /// The file was away when it was last looked for, and that was said.
    missing: bool,
    /// What was last said to be wrong.
    complaint: String,
    /// How often a document was found half written.
    torn: usize,
}

/// The file as it was when it was last looked at.
enum Open {
    Lines(Lines),
    Whole(Stamp),
}

/// A file that lines are added to.
struct Lines {
    file: File,
    identity: (u64, u64),
    /// How far it was read.
    position: u64,
    /// The last bytes before that.
    last: Vec<u8>,
}

/// Two stamps differ when the file was written to.
type Stamp = Vec<(u64, u64, SystemTime)>;

/// Nobody takes what is sent.
struct NobodyListens;

impl Tail {
    /// Sends what is new.
    fn look(&mut self, sender: &SyncSender<Update>) -> Result<(), NobodyListens> {
        let metadata = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) => return self.say_missing(&error, sender),
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

    /// Whether the file is written as a whole, not line by line.
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
    ) -> io::Result<Result<(), NobodyListens>> {
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
                return Ok(Err(NobodyListens));
            }
        }
        match &mut self.open {
            Some(Open::Lines(lines)) => lines.send_rest(sender),
            _ => Ok(Ok(())),
        }
    }

    fn read_whole(&mut self, sender: &SyncSender<Update>) -> Result<(), NobodyListens> {
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
            Ok(bytes) if self.is_torn(&bytes) => Ok(()),
            Ok(bytes) => {
                self.torn = 0;
                self.open = Some(Open::Whole(stamp));
                let whole = Update::Piece(Piece::Document(bytes));
                sender.send(whole).map_err(|_| NobodyListens)
            }
            // Perhaps it is being written; it is tried again.
            Err(error) => self.complain(&format!("{error:#}"), sender),
        }
    }

    /// Whether a document is being written: it is looked at again, for a while.
    fn is_torn(&mut self, bytes: &[u8]) -> bool {
        let is_document = self.path.extension().is_some_and(|name| name == "json");
        let is_torn = is_document && serde_json::from_slice::<IgnoredAny>(bytes).is_err();
        self.torn += 1;
        is_torn && self.torn <= PATIENCE
    }

    fn say_missing(
        &mut self,
        error: &io::Error,
        sender: &SyncSender<Update>,
    ) -> Result<(), NobodyListens> {
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
        sender.send(aside).map_err(|_| NobodyListens)
    }

    /// Says what is wrong, once.
    fn complain(&mut self, error: &str, sender: &SyncSender<Update>) -> Result<(), NobodyListens> {
        if self.complaint == error {
            return Ok(());
        }
        error.clone_into(&mut self.complaint);
        let aside = Update::Aside(format!("{error}\n"));
        sender.send(aside).map_err(|_| NobodyListens)
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Lines {
    /// Whether the file is still this one, and was only added to.
    fn go_on_in(&self, metadata: &Metadata) -> bool {
        self.identity == identity(metadata)
            && metadata.len() >= self.position
            && self.ends_as_before()
    }

    /// Whether the bytes that were read last are still there. A file that was
    /// cut and written again may be longer than it was.
    fn ends_as_before(&self) -> bool {
        let mut bytes = vec![0; self.last.len()];
        let from = self.position.saturating_sub(bytes.len() as u64);
        let read = self.file.read_exact_at(&mut bytes, from);
        read.is_ok() && bytes == self.last
    }

    /// The file is another one now, or was written anew: says so. The rest of
    /// one that was moved away comes first, also a last line without an end.
    fn leave(
        &mut self,
        metadata: &Metadata,
        path: &Path,
        sender: &SyncSender<Update>,
    ) -> io::Result<Result<(), NobodyListens>> {
        let path = path.display();
        let mut text = format!("{path} was cut; it is read from its beginning\n");
        if self.identity != identity(metadata) {
            text = format!("{path} was replaced; the new one is read from its beginning\n");
            if let Err(error) = self.send_rest(sender)? {
                return Ok(Err(error));
            }
            if self.last.last().is_some_and(|byte| *byte != b'\n') {
                // Nobody listens any more: the next one finds out too.
                let _ = sender.send(Update::Piece(Piece::Bytes(vec![b'\n'])));
            }
        }
        Ok(sender.send(Update::Aside(text)).map_err(|_| NobodyListens))
    }

    /// Sends all that lies behind the position.
    fn send_rest(&mut self, sender: &SyncSender<Update>) -> io::Result<Result<(), NobodyListens>> {
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
                return Ok(Err(NobodyListens));
            }
        }
    }
}

/// What tells whether a file, or the log beside a database, was written to.
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
