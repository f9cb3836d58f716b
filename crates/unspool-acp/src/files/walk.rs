//! Walks from the root's handle to a place below it, one name at a time.
//!
//! Each folder is opened relative to its parent, without following links. A link is
//! read and its components are walked instead; `..` drops the last handle. A path may
//! leave the root and come back: outside, folders are passed and never read, and only
//! the root folder itself (same device and inode) leads back in. So whatever other
//! processes do to the tree meanwhile, every handle in use was reached from the root's,
//! downwards.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;

use super::{FileError, Files};
use crate::platform::PASS_THROUGH;

/// Maximum number of links in one path.
const MAX_LINKS: usize = 40;
/// Maximum number of names in one path, those of its links included.
const MAX_NAMES: usize = 4096;

/// A name in an open folder.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    /// Empty for the root itself and for a path that ends in `..`.
    pub(super) name: OsString,
    /// The path below the root, without links.
    pub(super) path: PathBuf,
}

/// The treatment of a missing folder in a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// It is an error.
    Fails,
    /// It is created.
    IsCreated,
    /// It is accepted: only the path is needed.
    IsAccepted,
}

/// Walks to a place, whose last name need not exist.
pub(super) fn find(files: &Files, path: &Path, missing: Missing) -> Result<Place, FileError> {
    let mut walk = Walk {
        root: files,
        open: Vec::new(),
        outside: None,
        ahead: VecDeque::new(),
        links: 0,
        names: 0,
    };
    walk.prepend(path)?;
    while let Some(name) = walk.ahead.pop_front() {
        walk.names += 1;
        if walk.names > MAX_NAMES {
            return Err(FileError::Io(Errno::NAMETOOLONG.into()));
        }
        if name == ".." {
            walk.ascend()?;
            continue;
        }
        if walk.follow(&name)? {
            continue;
        }
        if walk.outside.is_some() {
            walk.pass(&name)?;
            continue;
        }
        if walk.ahead.is_empty() {
            return walk.arrive(name);
        }
        match walk.descend(&name, missing) {
            Err(FileError::NotFound) if missing == Missing::IsAccepted => {
                return walk.arrive_below_missing(&name);
            }
            result => result?,
        }
    }
    walk.arrive(OsString::new())
}

/// Opens a folder that is not a link.
pub(super) fn enter(folder: &impl AsFd, name: &OsStr) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::empty()) {
        // The folder was replaced by a link since it was checked.
        Err(Errno::LOOP | Errno::MLINK) => Err(FileError::Outside),
        result => Ok(result?),
    }
}

/// Returns the names of a path, `..` included.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

struct Walk<'a> {
    root: &'a Files,
    /// The open folders from the root down to the current one.
    open: Vec<(OsString, OwnedFd)>,
    /// The current folder while it is outside the root.
    outside: Option<OwnedFd>,
    ahead: VecDeque<OsString>,
    links: usize,
    names: usize,
}

impl Walk<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        match (&self.outside, self.open.last()) {
            (Some(handle), _) | (None, Some((_, handle))) => handle.as_fd(),
            (None, None) => self.root.handle.as_fd(),
        }
    }

    /// Puts the names of a path in front of the remaining ones.
    fn prepend(&mut self, path: &Path) -> Result<(), FileError> {
        let mut path = path;
        if path.is_absolute() {
            self.open.clear();
            self.outside = None;
            match self.root.relative(path) {
                Some(below) => path = below,
                None => self.leave(CWD, OsStr::new("/"))?,
            }
        }
        for name in names(path).rev() {
            self.ahead.push_front(name);
        }
        Ok(())
    }

    fn ascend(&mut self) -> Result<(), FileError> {
        if self.outside.is_none() && self.open.pop().is_some() {
            return Ok(());
        }
        let here = self.here().try_clone_to_owned().map_err(FileError::Io)?;
        self.leave(here.as_fd(), OsStr::new(".."))
    }

    /// Enters a folder while outside the root.
    fn pass(&mut self, name: &OsStr) -> Result<(), FileError> {
        let here = self.here().try_clone_to_owned().map_err(FileError::Io)?;
        self.leave(here.as_fd(), name)
    }

    /// Goes to a folder outside the root, unless it is the root itself. Every failure
    /// is [`FileError::Outside`], so that it does not reveal what exists there.
    fn leave(&mut self, from: BorrowedFd<'_>, name: &OsStr) -> Result<(), FileError> {
        let flags = PASS_THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let next = openat(from, name, flags, Mode::empty()).map_err(|_| FileError::Outside)?;
        let (root, next_is) = (fstat(&self.root.handle)?, fstat(&next)?);
        let is_root = (root.st_dev, root.st_ino) == (next_is.st_dev, next_is.st_ino);
        self.open.clear();
        self.outside = (!is_root).then_some(next);
        Ok(())
    }

    /// Puts the target of a link in front of the remaining names; returns false if the
    /// name is not a link.
    fn follow(&mut self, name: &OsStr) -> Result<bool, FileError> {
        let target = match readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => OsString::from_vec(target.into_bytes()),
            // Not a link, or nothing.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(false),
            Err(_) if self.outside.is_some() => return Err(FileError::Outside),
            Err(errno) => return Err(errno.into()),
        };
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(FileError::Io(Errno::LOOP.into()));
        }
        self.prepend(Path::new(&target))?;
        Ok(true)
    }

    fn descend(&mut self, name: &OsStr, missing: Missing) -> Result<(), FileError> {
        let handle = match enter(&self.here(), name) {
            Err(FileError::NotFound) if missing == Missing::IsCreated => {
                match mkdirat(self.here(), name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => enter(&self.here(), name)?,
                    Err(errno) => return Err(errno.into()),
                }
            }
            result => result?,
        };
        self.open.push((name.to_owned(), handle));
        Ok(())
    }

    /// Returns the place below a missing folder.
    fn arrive_below_missing(mut self, first: &OsStr) -> Result<Place, FileError> {
        let mut rest = PathBuf::from(first);
        for name in std::mem::take(&mut self.ahead) {
            if name == ".." {
                return Err(FileError::NotFound);
            }
            rest.push(name);
        }
        self.arrive(rest.into_os_string())
    }

    fn arrive(self, name: OsString) -> Result<Place, FileError> {
        if self.outside.is_some() {
            return Err(FileError::Outside);
        }
        let mut path: PathBuf = self.open.iter().map(|(name, _)| name).collect();
        if !name.is_empty() {
            path.push(&name);
        }
        Ok(Place {
            folder: self.here().try_clone_to_owned().map_err(FileError::Io)?,
            name,
            path,
        })
    }
}
