//! The places that are searched for sessions, and the files found there.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use unspool::source::{Folder, Place, Provider};

use crate::agents::{Agents, Environment};
use crate::beside::{Surroundings, is_database_name};
use crate::error::{Result, bail};

/// The places that a library searches for sessions, and the folder of its cache.
/// Nothing of it comes from the process: the caller passes it in.
#[derive(Clone, Debug)]
pub struct Places {
    /// All agents that are known.
    pub known: Agents,
    /// The agents whose own places are searched.
    pub agents: Vec<Provider>,
    /// The environment that decides where those places are.
    pub environment: Environment,
    /// Further folders and files, made canonical: see [`Places::add_folder`].
    pub folders: Vec<PathBuf>,
    /// The conversations that unspool itself recorded.
    pub records: Option<Records>,
    /// The folder for the cache; without one everything is read each time.
    pub cache: Option<PathBuf>,
}

/// The conversations that unspool itself recorded.
#[derive(Clone, Debug)]
pub struct Records {
    /// Their folder.
    pub folder: PathBuf,
    /// Returns true while the record at a path is being written.
    pub is_being_written: fn(&Path) -> bool,
}

impl Places {
    /// Adds a folder. Its canonical path is kept: the same folder gives the same
    /// sessions, whichever way it is named. Fails if it cannot be read.
    pub fn add_folder(&mut self, folder: &Path) -> Result<()> {
        match folder.canonicalize() {
            Ok(folder) => self.folders.push(folder),
            Err(error) => bail!("{}: {}", folder.display(), plain(&error)),
        }
        Ok(())
    }

    /// Returns the folders that are searched, by the name of the agent that keeps its
    /// sessions there. The name is empty for those that the caller added.
    pub fn searched(&self) -> Vec<(&'static str, Vec<PathBuf>)> {
        let mut searched: Vec<(&str, Vec<PathBuf>)> = Vec::new();
        for agent in &self.agents {
            let places = agent.saved.map_or(&[][..], |saved| saved.places);
            let mut folders: Vec<PathBuf> = Vec::new();
            for folder in places.iter().flat_map(|place| self.named(place)) {
                // A variable without a value leaves a separator at the end.
                let folder: PathBuf = folder.components().collect();
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            if !folders.is_empty() {
                searched.push((agent.name, folders));
            }
        }
        let records = self.records.iter().map(|records| records.folder.clone());
        searched.extend(records.map(|folder| ("unspool", vec![folder])));
        if !self.folders.is_empty() {
            searched.push(("", self.folders.clone()));
        }
        searched
    }

    /// Returns the folders that name a place, down to the first that a pattern leaves
    /// open. Of a person's projects that is the current one and the home directory,
    /// though those between them are searched too.
    fn named(&self, place: &Place) -> Vec<PathBuf> {
        let folders = match place.folder {
            Folder::Projects => vec![
                self.environment.current.clone(),
                self.environment.home.clone(),
            ],
            _ => self.environment.folders(place),
        };
        let below = |folder: &PathBuf, pattern: &&str| {
            let parts: Vec<&str> = pattern.split('/').collect();
            let (_, parts) = parts.split_last().unwrap_or((&"", &[]));
            let fixed = parts.iter().take_while(|part| !part.contains('*'));
            fixed.fold(folder.clone(), |folder, part| folder.join(part))
        };
        match place.patterns {
            [] => folders,
            patterns => (folders.iter())
                .flat_map(|folder| patterns.iter().map(move |pattern| below(folder, pattern)))
                .collect(),
        }
    }
}

/// A file that may hold sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The agent in whose place it is; empty if it is in another folder.
    pub(crate) agent: &'static str,
    pub(crate) path: PathBuf,
    /// When it was last written, in nanoseconds.
    pub(crate) modified: i64,
    /// Bytes, with those of the files that belong to it.
    pub(crate) size: u64,
    /// Its inode; another one after the file was replaced.
    pub(crate) number: u64,
    /// The inode's change time of a database, in nanoseconds. Its content may be
    /// replaced without a trace in the other times.
    pub(crate) changed: i64,
    /// The id of the session that a sub-agent's record belongs to; empty for a
    /// session.
    pub(crate) parent: String,
}

impl Candidate {
    /// A file in an agent's place, with the times and sizes of the files that grow
    /// with it.
    pub(crate) fn new(
        agent: &'static str,
        path: PathBuf,
        file: &Metadata,
        surroundings: &Surroundings,
    ) -> Self {
        let (mut modified, mut size) = (written(file), file.len());
        let is_database = is_database_name(&path);
        let mut changed = if is_database { touched(file) } else { 0 };
        for other in surroundings.growing(agent, &path) {
            if let Ok(file) = std::fs::metadata(other) {
                modified = modified.max(written(&file));
                size = size.saturating_add(file.len());
                if is_database {
                    changed = changed.max(touched(&file));
                }
            }
        }
        Self {
            agent,
            path,
            modified,
            size,
            number: file.ino(),
            changed,
            parent: String::new(),
        }
    }

    /// Returns a number that differs after a part of the file changed or the file was
    /// replaced.
    pub(crate) fn stamp_of_part(&self, stamp: i64) -> i64 {
        stamp.wrapping_add(self.number.rotate_left(20).cast_signed())
    }
}

/// A file or folder that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The file or folder.
    pub path: PathBuf,
    /// The reason, in words.
    pub reason: String,
    /// It was reported by an earlier refresh.
    pub is_known: bool,
}

fn touched(file: &Metadata) -> i64 {
    file.ctime()
        .saturating_mul(1_000_000_000)
        .saturating_add(file.ctime_nsec())
}

fn written(file: &Metadata) -> i64 {
    let modified = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let since = modified.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// Returns the text of an error without the system's number for it.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}
