//! From the root's handle to a place below it, one name at a time.
//!
//! Each folder is opened relative to the one above it, without following a
//! link. A link is read and its words are walked in its stead; `..` takes the
//! last handle off. What leads out of the root may lead back into it: outside,
//! folders are passed and never read, and only the very folder that the root is
//! leads in again. So whatever others do to the tree meanwhile, every handle
//! that something is done with was reached from the root's, downwards.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;

use super::{FileError, Files};
use crate::platform::PASS_THROUGH;

/// Links that are followed for one path.
const LINKS: usize = 40;
/// Names that one path may have, those of its links included.
const NAMES: usize = 4096;

/// A name in an open folder.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    /// Empty for the root itself and for a path that ends in `..`.
    pub(super) name: OsString,
    /// The path below the root, without links.
    pub(super) path: PathBuf,
}

/// What a missing folder means on the way to a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is no such place.
    Fails,
    /// It is made.
    IsMade,
    /// Only the place's path is asked for.
    IsNamed,
}

/// Walks to a place; its last name need not exist.
pub(super) fn find(files: &Files, path: &Path, missing: Missing) -> Result<Place, FileError> {
    let mut walk = Walk {
        root: files,
        open: Vec::new(),
        outside: None,
        ahead: VecDeque::new(),
        links: 0,
        names: 0,
    };
    walk.go(path)?;
    while let Some(name) = walk.ahead.pop_front() {
        walk.names += 1;
        if walk.names > NAMES {
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
            Err(FileError::NotFound) if missing == Missing::IsNamed => return walk.name(&name),
            result => result?,
        }
    }
    walk.arrive(OsString::new())
}

/// Opens a folder that is no link.
pub(super) fn enter(folder: &impl AsFd, name: &OsStr) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(folder, name, flags, Mode::empty()) {
        // A link that came between the look at it and this.
        Err(Errno::LOOP | Errno::MLINK) => Err(FileError::Outside),
        result => Ok(result?),
    }
}

/// The names of a path.
fn words(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

struct Walk<'a> {
    root: &'a Files,
    /// The folders below the root that lead here.
    open: Vec<(OsString, OwnedFd)>,
    /// The folder that it is in while it is not inside the root.
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

    /// Puts the names of a path before what is ahead.
    fn go(&mut self, path: &Path) -> Result<(), FileError> {
        let mut path = path;
        if path.is_absolute() {
            self.open.clear();
            self.outside = None;
            match self.root.relative(path) {
                Some(below) => path = below,
                None => self.leave(CWD, OsStr::new("/"))?,
            }
        }
        for word in words(path).rev() {
            self.ahead.push_front(word);
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

    /// One folder further, outside.
    fn pass(&mut self, name: &OsStr) -> Result<(), FileError> {
        let here = self.here().try_clone_to_owned().map_err(FileError::Io)?;
        self.leave(here.as_fd(), name)
    }

    /// Goes to a folder that is outside, unless it is the root. What is there
    /// and what is not is nobody's business.
    fn leave(&mut self, from: BorrowedFd<'_>, name: &OsStr) -> Result<(), FileError> {
        let flags = PASS_THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let next = openat(from, name, flags, Mode::empty()).map_err(|_| FileError::Outside)?;
        let (root, next_is) = (fstat(&self.root.handle)?, fstat(&next)?);
        let is_root = (root.st_dev, root.st_ino) == (next_is.st_dev, next_is.st_ino);
        self.open.clear();
        self.outside = (!is_root).then_some(next);
        Ok(())
    }

    /// If the name is a link, its words are walked in its stead.
    fn follow(&mut self, name: &OsStr) -> Result<bool, FileError> {
        let target = match readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => OsString::from_vec(target.into_bytes()),
            // No link, or nothing at all.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(false),
            Err(_) if self.outside.is_some() => return Err(FileError::Outside),
            Err(errno) => return Err(errno.into()),
        };
        self.links += 1;
        if self.links > LINKS {
            return Err(FileError::Io(Errno::LOOP.into()));
        }
        self.go(Path::new(&target))?;
        Ok(true)
    }

    fn descend(&mut self, name: &OsStr, missing: Missing) -> Result<(), FileError> {
        let handle = match enter(&self.here(), name) {
            Err(FileError::NotFound) if missing == Missing::IsMade => {
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

    /// The place behind a folder that is not there.
    fn name(mut self, first: &OsStr) -> Result<Place, FileError> {
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
