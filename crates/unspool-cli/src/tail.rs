//! A session file that grows: what is new in it goes into the channel.
//!
//! The file is looked at ten times a second. It may not exist yet, be cut,
//! replaced or rotated: then it is read from its beginning again, and whoever
//! watches leaves out what was shown before. Files that are written as a whole
//! (JSON documents, databases, archives) are read as a whole when they change.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::input::{self, CHUNK};
use crate::watch::Happening;

/// Between two looks at the file.
const PAUSE: Duration = Duration::from_millis(100);

/// Follows a file for ever, or until nobody listens. `find` names it, as soon
/// as there is one.
pub(crate) fn follow(find: impl Fn() -> Option<PathBuf>, sender: &SyncSender<Happening>) {
    let path = loop {
        if let Some(path) = find() {
            break path;
        }
        thread::sleep(PAUSE);
    };
    let mut tail = Tail {
        path,
        open: None,
        missing: false,
        complaint: String::new(),
    };
    while tail.look(sender).is_ok() {
        thread::sleep(PAUSE);
    }
}

struct Tail {
    path: PathBuf,
    open: Option<Open>,
    /// The file was away when it was last looked for, and that was said.
    missing: bool,
    /// What was last said to be wrong.
    complaint: String,
}

/// The file as it was when it was last looked at.
enum Open {
    Lines {
        file: File,
        identity: (u64, u64),
        position: u64,
    },
    Whole(Stamp),
}

/// Two stamps differ when the file was written to.
type Stamp = Vec<(u64, u64, SystemTime)>;

/// Nobody takes what is sent.
struct NobodyListens;

impl Tail {
    /// Sends what is new.
    fn look(&mut self, sender: &SyncSender<Happening>) -> Result<(), NobodyListens> {
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
            Some(Open::Lines { .. }) => false,
            Some(Open::Whole(_)) => true,
            None => input::is_whole(&self.path),
        }
    }

    fn read_lines(
        &mut self,
        metadata: &Metadata,
        sender: &SyncSender<Happening>,
    ) -> io::Result<Result<(), NobodyListens>> {
        let identity = (metadata.dev(), metadata.ino());
        let goes_on = matches!(
            &self.open,
            Some(Open::Lines { identity: known, position, .. })
                if *known == identity && metadata.len() >= *position
        );
        if !goes_on {
            // The rest of a file that was moved away comes first.
            if let Some(Open::Lines { file, position, .. }) = &mut self.open
                && let Err(error) = send_rest(file, position, sender)?
            {
                return Ok(Err(error));
            }
            let is_first = self.open.is_none();
            self.open = Some(Open::Lines {
                file: File::open(&self.path)?,
                identity,
                position: 0,
            });
            if !is_first && sender.send(Happening::Restart).is_err() {
                return Ok(Err(NobodyListens));
            }
        }
        let Some(Open::Lines { file, position, .. }) = &mut self.open else {
            return Ok(Ok(()));
        };
        send_rest(file, position, sender)
    }

    fn read_whole(&mut self, sender: &SyncSender<Happening>) -> Result<(), NobodyListens> {
        let stamp = stamp(&self.path);
        if matches!(&self.open, Some(Open::Whole(known)) if *known == stamp) {
            return Ok(());
        }
        let read = input::open(&self.path, None).and_then(|inputs| {
            let mut bytes = Vec::new();
            // The last session of a database is the newest.
            if let Some(mut input) = inputs.into_iter().next_back() {
                input.bytes.read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        });
        match read {
            Ok(bytes) => {
                self.open = Some(Open::Whole(stamp));
                let whole = Happening::Whole(bytes);
                sender.send(whole).map_err(|_| NobodyListens)
            }
            // Perhaps it is being written; it is tried again.
            Err(error) => self.complain(&format!("{error:#}"), sender),
        }
    }

    fn say_missing(
        &mut self,
        error: &io::Error,
        sender: &SyncSender<Happening>,
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
        let aside = Happening::Aside(text);
        sender.send(aside).map_err(|_| NobodyListens)
    }

    /// Says what is wrong, once.
    fn complain(
        &mut self,
        error: &str,
        sender: &SyncSender<Happening>,
    ) -> Result<(), NobodyListens> {
        if self.complaint == error {
            return Ok(());
        }
        error.clone_into(&mut self.complaint);
        let aside = Happening::Aside(format!("{error}\n"));
        sender.send(aside).map_err(|_| NobodyListens)
    }
}

/// Sends all that lies behind the position.
fn send_rest(
    file: &mut File,
    position: &mut u64,
    sender: &SyncSender<Happening>,
) -> io::Result<Result<(), NobodyListens>> {
    let mut chunk = vec![0; CHUNK];
    file.seek(SeekFrom::Start(*position))?;
    loop {
        let length = match file.read(&mut chunk) {
            Ok(0) => return Ok(Ok(())),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        *position += length as u64;
        let bytes = chunk.iter().take(length).copied().collect();
        if sender.send(Happening::Output(bytes)).is_err() {
            return Ok(Err(NobodyListens));
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
