//! File access for an agent, limited to the project's root.
//!
//! Paths come from the agent and are untrusted. None is passed to the system as a
//! whole: `files/walk.rs` walks down from the root's handle, one name at a time, and
//! resolves every symbolic link itself, so that nothing can be replaced between check
//! and use. A link that leads to a place inside the root is followed, for writing
//! too; any other link is an error. Only regular files are read or written. A hard
//! link to a file outside the root cannot be recognized.
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

/// Maximum size of a file to read or write.
const SIZE_LIMIT: u64 = 64 << 20;

/// An error of reading or writing a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The path is outside the project's root.
    Outside,
    /// There is no such file.
    NotFound,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// The file has this many bytes, more than the limit.
    TooLarge(u64),
    /// The system reported an error.
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

/// Text read from a file.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileText {
    /// The requested lines.
    pub text: String,
    /// Some bytes were not UTF-8 and were replaced.
    pub is_lossy: bool,
}

/// A file that the agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The path, as the agent sent it.
    pub path: PathBuf,
    /// The text before; `None` for a new file.
    pub old: Option<String>,
    /// The text after.
    pub new: String,
}

/// The files below a project's root.
pub struct Files {
    handle: OwnedFd,
    /// The paths of the root: with its links resolved, and as it was given.
    names: Vec<PathBuf>,
}

impl Files {
    /// Opens the root. Fails if it is not a readable folder.
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

    /// Returns the root's path, with its links resolved.
    pub fn root(&self) -> &Path {
        self.names.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Returns a path relative to the root, or `None` if it is outside. It compares
    /// names only: good for rules and titles, not for access.
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        if path.is_relative() {
            return Some(path);
        }
        self.names
            .iter()
            .find_map(|name| path.strip_prefix(name).ok())
    }

    /// Resolves all links of a path; returns it relative to the root. The file itself
    /// need not exist.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        Ok(walk::find(self, path, Missing::IsAccepted)?.path)
    }

    /// Returns the absolute path of a folder inside the root.
    pub fn folder(&self, path: &Path) -> Result<PathBuf, FileError> {
        let place = walk::find(self, path, Missing::Fails)?;
        if !place.name.is_empty() {
            walk::enter(&place.folder, &place.name)?;
        }
        Ok(self.root().join(place.path))
    }

    /// Reads at most `limit` lines of a text file, starting at `line` (counted from 1).
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

    /// Reads at most `limit` bytes from the start of a file.
    pub fn bytes(&self, path: &Path, limit: usize) -> Result<Vec<u8>, FileError> {
        let place = walk::find(self, path, Missing::Fails)?;
        let file = File::from(open_file(&place)?);
        let mut bytes = Vec::new();
        file.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Fails if reading or writing a file is sure to fail.
    pub fn check(&self, path: &Path, is_write: bool) -> Result<(), FileError> {
        let place = walk::find(self, path, Missing::IsAccepted)?;
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
            Err(Errno::NOENT) if is_write => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Replaces a file atomically. Keeps its mode and creates missing folders.
    pub fn write(&self, path: &Path, content: &str) -> Result<WrittenFile, FileError> {
        if content.len() as u64 > SIZE_LIMIT {
            return Err(FileError::TooLarge(content.len() as u64));
        }
        let place = walk::find(self, path, Missing::IsCreated)?;
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

/// Opens a regular file for reading. Any other file is not opened, and one that was
/// replaced meanwhile cannot block this.
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
    // The file may grow while it is read.
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

/// Writes a temporary file next to the target and renames it.
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
