//! Where an agent keeps its sessions, and in which form.
//!
//! The library opens nothing. A descriptor names variables, folders and
//! patterns, the kind of container and its queries; functions in it are pure
//! and get what they need from the caller, which is `unspool-sessions`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use database::{Cell, Database, Row};

mod database;

/// The saved sessions of one agent. Outside this crate, set further fields in a block:
/// `const SAVED: Saved = { let mut saved = Saved::new(PLACES); saved.beside = …; saved };`
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Saved {
    /// Where they are.
    pub places: &'static [Place],
    /// Patterns of file names that only this agent gives to sessions. Files that
    /// end in `.jsonl` and `.json`, also compressed, need none.
    pub file_names: &'static [&'static str],
    /// Ends of the paths of folders without sessions, which a search passes by.
    pub skipped_folders: &'static [&'static str],
    /// Starts of the line that opens a session in a text file with several. The
    /// rest of the line is the local time.
    pub sections: &'static [&'static str],
    /// The database that holds sessions.
    pub database: Option<Database>,
    /// The other files of a session.
    pub related: Option<Related>,
    /// Patterns, relative to a session's folder, of files that grow with the
    /// session. `{stem}` is the session file's name without its extension, `{id}`
    /// the part of it after the last `-`.
    pub beside: &'static [&'static str],
    /// Returns further files that grow with a session that is a tree of files.
    pub grows_with: fn(session: &Path, list: ListFolder<'_>) -> Vec<PathBuf>,
    /// Returns the id of the session that a sub-agent's file belongs to, empty if
    /// the file does not name it; `None` for the file of a session.
    pub parent: fn(file: &SavedFile) -> Option<String>,
    /// Returns the id in the path of a file that may be a sub-agent's.
    pub record_id: fn(path: &Path) -> Option<&str>,
    /// Returns the project of a session that does not name it, from its path and
    /// from files near it.
    pub project: fn(session: &Path, read: ReadFile<'_>) -> Option<String>,
    /// The parts of its origin that a forked session repeats.
    pub forks: Forks,
    /// Starts of user messages that no person wrote.
    pub machine_prompts: &'static [&'static str],
}

/// Returns the entries of a folder in order; none if there is no such folder.
pub type ListFolder<'a> = &'a dyn Fn(&Path) -> Vec<PathBuf>;
/// Returns the content of a file, if it can be read.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Option<String>;

impl Saved {
    /// Sessions in these places, each in one file.
    pub const fn new(places: &'static [Place]) -> Self {
        Self {
            places,
            file_names: &[],
            skipped_folders: &[],
            sections: &[],
            database: None,
            related: None,
            beside: &[],
            grows_with: |_, _| Vec::new(),
            parent: |_| None,
            record_id: |_| None,
            project: |_, _| None,
            forks: Forks::KeepTimes,
            machine_prompts: &[],
        }
    }

    /// Reads sessions from a database.
    pub const fn with_database(mut self, database: Database) -> Self {
        self.database = Some(database);
        self
    }
}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saved")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

/// The parts of a forked session's record that identify a copied entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forks {
    /// A fork copies entries with their times.
    #[default]
    KeepTimes,
    /// A fork copies counts so far and gives them new times.
    KeepCounts,
}

/// A folder, and patterns of session files below it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The folder.
    pub folder: Folder,
    /// Patterns below the folder, separated by `/`; `*` matches any part of one
    /// name. None if it is a file.
    pub patterns: &'static [&'static str],
}

/// A folder, by the variable or the place that names it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Folder {
    /// The folder that the variable names, or else the one below the home
    /// directory; then `below` it.
    Home {
        /// The variable; empty for none.
        variable: &'static str,
        /// The folder below the home directory.
        default: &'static str,
        /// The folder below either; empty for none.
        below: &'static str,
    },
    /// The folder or file that a variable names; nothing without the variable.
    Named {
        /// The variable.
        variable: &'static str,
        /// The folder that a relative path starts from.
        relative_to: &'static Folder,
    },
    /// The folder that a person works in.
    Current,
    /// Projects: the current folder and all above it, the home directory, and
    /// each folder in which another agent worked.
    Projects,
}

impl Place {
    /// Patterns below a folder of the home directory.
    pub const fn home(folder: &'static str, patterns: &'static [&'static str]) -> Self {
        Self::variable("", folder, "", patterns)
    }

    /// Patterns below the folder that a variable names or, without it, below the folder
    /// `default` of the home directory. `below` is a folder in either, empty for none.
    pub const fn variable(
        variable: &'static str,
        default: &'static str,
        below: &'static str,
        patterns: &'static [&'static str],
    ) -> Self {
        let folder = Folder::Home {
            variable,
            default,
            below,
        };
        Self { folder, patterns }
    }

    /// Patterns below the folder that a variable names, relative to another one.
    /// Without patterns the variable names a file.
    pub const fn named(
        variable: &'static str,
        relative_to: &'static Folder,
        patterns: &'static [&'static str],
    ) -> Self {
        let folder = Folder::Named {
            variable,
            relative_to,
        };
        Self { folder, patterns }
    }

    /// Patterns in each project.
    pub const fn projects(patterns: &'static [&'static str]) -> Self {
        Self {
            folder: Folder::Projects,
            patterns,
        }
    }

    /// Returns the variable that moves the place; empty for none.
    pub fn moved_by(&self) -> &'static str {
        match self.folder {
            Folder::Home { variable, .. } | Folder::Named { variable, .. } => variable,
            Folder::Current | Folder::Projects => "",
        }
    }
}

/// Patterns for the files that belong to a saved session. The caller looks for the
/// patterns, reads the head of each file found, and attaches the selected files to
/// the reader.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Related {
    /// Returns patterns relative to the folder of the session file, separated by
    /// `/`; `*` matches any part of one name. It is asked again with the files
    /// found so far until it returns no new pattern.
    pub patterns: fn(session: &SavedFile, found: &[SavedFile]) -> Vec<String>,
    /// Returns the indexes of the files found that belong to the session.
    pub select: fn(session: &SavedFile, found: &[SavedFile]) -> Vec<usize>,
}

impl Related {
    /// Patterns, and the choice among the files found.
    pub const fn new(
        patterns: fn(&SavedFile, &[SavedFile]) -> Vec<String>,
        select: fn(&SavedFile, &[SavedFile]) -> Vec<usize>,
    ) -> Self {
        Self { patterns, select }
    }

    /// Returns the files that belong to a session, in the order in which they are
    /// to be attached. `look` returns the files that match a pattern, with their
    /// heads.
    pub fn find(
        &self,
        session: &SavedFile,
        mut look: impl FnMut(&str) -> Vec<SavedFile>,
    ) -> Vec<SavedFile> {
        let mut asked = BTreeSet::new();
        let mut found: Vec<SavedFile> = Vec::new();
        loop {
            let patterns = (self.patterns)(session, &found).into_iter();
            let new: Vec<String> = patterns
                .filter(|pattern| asked.insert(pattern.clone()))
                .collect();
            if new.is_empty() {
                break;
            }
            found.extend(new.iter().flat_map(|pattern| look(pattern)));
            found.sort_by(|a, b| a.path.cmp(&b.path));
            found.dedup_by(|a, b| a.path == b.path);
        }
        let selected = (self.select)(session, &found).into_iter();
        selected
            .filter_map(|index| found.get(index).cloned())
            .collect()
    }

    /// Selects all files that match the patterns.
    pub const ALL: fn(&SavedFile, &[SavedFile]) -> Vec<usize> =
        |_, found| (0..found.len()).collect();
}

/// The path and the first lines of a saved file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SavedFile {
    /// Its path, separated by `/`.
    pub path: String,
    /// Its first 64 KB as text.
    pub head: String,
}

impl SavedFile {
    /// A file at a path that starts with this text.
    pub fn new(path: impl Into<String>, head: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            head: head.into(),
        }
    }
}
