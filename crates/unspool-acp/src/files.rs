//! Files for an agent: read and written inside the project's root, and nowhere
//! else.
//!
//! Paths come from the agent and may be anything. None is ever given to the
//! system as a whole: `files/walk.rs` goes from the root's handle down, one
//! name at a time, and follows no link that it has not looked at itself, so
//! that nothing can be exchanged between a check and its use. A link inside the
//! root that leads to a place inside the root is followed, also for writing,
//! where its target is written; every other link is an error. Only regular
//! files are touched. A file that has a second name outside the root (a hard
//! link) cannot be told from others.
//!
//! Called by `client.rs` for `fs/read_text_file` and `fs/write_text_file`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fchmod, fstat, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use walk::{Missing, Place};

mod walk;

/// Larger files are neither read nor written.
const SIZE_LIMIT: u64 = 64 << 20;

/// Why a file was not read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// It is not inside the project's root.
    Outside,
    /// There is no such file.
    NotFound,
    /// It is a folder, a pipe, a device.
    NotAFile,
    /// It is over the limit.
    TooLarge(u64),
    /// The system refused.
    Io(io::Error),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside => f.write_str("the path is outside the project"),
            Self::NotFound => f.write_str("there is no such file"),
            Self::NotAFile => f.write_str("it is not a regular file"),
            Self::TooLarge(bytes) => write!(f, "{bytes} bytes are over the limit of {SIZE_LIMIT}"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR | Errno::ISDIR => Self::NotAFile,
            errno => Self::Io(errno.into()),
        }
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileText {
    /// The lines that were asked for.
    pub text: String,
    /// Some bytes were no UTF-8 and were replaced.
    pub is_lossy: bool,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The file, as it was named.
    pub path: PathBuf,
    /// What stood there; `None` where there was no file.
    pub old: Option<String>,
    /// What stands there now.
    pub new: String,
}

/// The project's root.
pub struct Files {
    handle: OwnedFd,
    /// The names under which the root is known: as it was given, and without
    /// links.
    names: Vec<PathBuf>,
}

impl Files {
    /// Opens the root. Fails when it is no folder that can be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let real = root.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&real, flags, Mode::empty())?;
        let mut names = vec![real];
        if root.is_absolute() && !names.iter().any(|name| name == root) {
            names.push(root.to_owned());
        }
        Ok(Self { handle, names })
    }

    /// The root's path, without links.
    pub fn root(&self) -> &Path {
        self.names.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// The path below the root that a path means by its letters alone: for
    /// rules and headings, not for access. `None` for one outside.
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        if path.is_relative() {
            return Some(path);
        }
        self.names
            .iter()
            .find_map(|name| path.strip_prefix(name).ok())
    }

    /// Where a path leads once all links are followed, below the root. The
    /// file itself need not be there.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        Ok(walk::find(self, path, Missing::IsNamed)?.path)
    }

    /// A folder inside the root, for a command to run in.
    pub fn folder(&self, path: &Path) -> Result<PathBuf, FileError> {
        let place = walk::find(self, path, Missing::Fails)?;
        if !place.name.is_empty() {
            walk::enter(&place.folder, &place.name)?;
        }
        Ok(self.root().join(place.path))
    }

    /// Reads lines of a text file: from `line` (the first one is 1), at most
    /// `limit` of them.
    pub fn read(
        &self,
        path: &Path,
        line: Option<u64>,
        limit: Option<u64>,
    ) -> Result<FileText, FileError> {
        let place = walk::find(self, path, Missing::Fails)?;
        let bytes = contents(&open_file(&place)?)?;
        let (text, is_lossy) = into_text(bytes);
        let text = match (line, limit) {
            (None, None) => text,
            (line, limit) => lines(&text, line.unwrap_or(1), limit),
        };
        Ok(FileText { text, is_lossy })
    }

    /// The first bytes of a file, at most so many.
    pub fn bytes(&self, path: &Path, most: usize) -> Result<Vec<u8>, FileError> {
        let place = walk::find(self, path, Missing::Fails)?;
        let file = File::from(open_file(&place)?);
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether a file can be written, or read, as far as that is known before
    /// it is done.
    pub fn check(&self, path: &Path, is_written: bool) -> Result<(), FileError> {
        let place = walk::find(self, path, Missing::IsNamed)?;
        if place.name.is_empty() {
            return Err(FileError::NotAFile);
        }
        match rustix::fs::statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                check_regular(&stat)?;
                let size = u64::try_from(stat.st_size).unwrap_or_default();
                if size > SIZE_LIMIT {
                    return Err(FileError::TooLarge(size));
                }
                Ok(())
            }
            Err(Errno::NOENT) if is_written => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a whole file at once: nobody ever sees half of it. Its mode
    /// stays; missing folders are made.
    pub fn write(&self, path: &Path, content: &str) -> Result<WrittenFile, FileError> {
        if content.len() as u64 > SIZE_LIMIT {
            return Err(FileError::TooLarge(content.len() as u64));
        }
        let place = walk::find(self, path, Missing::IsMade)?;
        let before = match open_file(&place) {
            Ok(file) => Some(file),
            Err(FileError::NotFound) => None,
            Err(error) => return Err(error),
        };
        let mode = match &before {
            Some(file) => Some(Mode::from_raw_mode(fstat(file)?.st_mode & 0o7777)),
            None => None,
        };
        let old = match &before {
            Some(file) => Some(into_text(contents(file)?).0),
            None => None,
        };
        replace(&place, content, mode)?;
        Ok(WrittenFile {
            path: path.to_owned(),
            old,
            new: content.to_owned(),
        })
    }
}

/// Opens a regular file for reading. One that is none is not even opened, and
/// one that was exchanged meanwhile cannot make this wait.
fn open_file(place: &Place) -> Result<OwnedFd, FileError> {
    if place.name.is_empty() {
        return Err(FileError::NotAFile);
    }
    let stat = rustix::fs::statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW)?;
    check_regular(&stat)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(
        &place.folder,
        &place.name,
        flags | OFlags::NOCTTY,
        Mode::empty(),
    )?;
    check_regular(&fstat(&file)?)?;
    Ok(file)
}

fn check_regular(stat: &Stat) -> Result<(), FileError> {
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok(())
    } else {
        Err(FileError::NotAFile)
    }
}

fn contents(file: &impl AsFd) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let file = File::from(file.as_fd().try_clone_to_owned()?);
    // One that grows while it is read is cut off as well.
    file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(FileError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

fn into_text(bytes: Vec<u8>) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    }
}

fn lines(text: &str, line: u64, limit: Option<u64>) -> String {
    let first = usize::try_from(line.max(1) - 1).unwrap_or(usize::MAX);
    let count = limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    });
    text.split_inclusive('\n').skip(first).take(count).collect()
}

/// A new file beside the place takes its name.
fn replace(place: &Place, content: &str, mode: Option<Mode>) -> Result<(), FileError> {
    let folder = &place.folder;
    let name = temporary_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(folder, &name, flags, Mode::from_raw_mode(0o666))?;
    let mut file = File::from(handle);
    let written = file.write_all(content.as_bytes()).and_then(|()| {
        if let Some(mode) = mode {
            fchmod(&file, mode)?;
        }
        renameat(folder, &name, folder, &place.name).map_err(io::Error::from)
    });
    if written.is_err() {
        let _ = unlinkat(folder, &name, AtFlags::empty());
    }
    Ok(written?)
}

fn temporary_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    OsStr::new(&format!(".unspool-{}-{number}.tmp", std::process::id())).to_owned()
}
