//! The files that grow with a session while its own file does not: records of
//! sub-agents in a folder of their own, messages of a session that is a tree of files,
//! the log of a database.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::agents::Agents;

/// The folders around the session files of one folder. Most sessions have nothing
/// beside them, and are known to without a look at the disk.
pub(crate) struct Surroundings {
    agents: Agents,
    /// The folders in this one.
    folders: BTreeSet<OsString>,
    /// Other folders: whether they exist.
    others: RefCell<HashMap<PathBuf, bool>>,
}

impl Surroundings {
    /// The surroundings of the files in a folder with these entries.
    pub(crate) fn new(agents: Agents, entries: &[(OsString, FileType)]) -> Self {
        let folders = entries.iter().filter(|(_, kind)| !kind.is_file());
        Self {
            agents,
            folders: folders.map(|(name, _)| name.clone()).collect(),
            others: RefCell::default(),
        }
    }

    /// The surroundings of one file.
    pub(crate) fn of(agents: Agents, path: &Path) -> Self {
        let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
        Self::new(agents, &entries.map(in_order).unwrap_or_default())
    }

    /// Returns the files that grow with a session. All agents are asked if the one
    /// that wrote it is not known.
    pub(crate) fn growing(&self, agent: &str, session: &Path) -> Vec<PathBuf> {
        if is_database_name(session) {
            let mut log = session.as_os_str().to_owned();
            log.push("-wal");
            return vec![log.into()];
        }
        let agents = self.agents.with_sessions();
        let asked = agents.filter(|one| agent.is_empty() || one.name == agent);
        let saved = asked.filter_map(|agent| agent.saved);
        saved
            .flat_map(|saved| {
                let patterns = saved.beside.iter();
                let beside = patterns.flat_map(|pattern| self.matching(session, pattern));
                let mut files: Vec<PathBuf> = beside.collect();
                files.extend((saved.grows_with)(session, &list));
                files
            })
            .collect()
    }

    /// Returns the records of a session's sub-agents that lie in folders beside it.
    pub(crate) fn records(&self, session: &Path) -> Vec<PathBuf> {
        let patterns = self.agents.saved().flat_map(|saved| saved.beside);
        patterns
            .flat_map(|pattern| self.matching(session, pattern))
            .collect()
    }

    /// Returns the files that match a pattern with `{stem}` and `{id}`, whose last
    /// part is `*`.
    fn matching(&self, session: &Path, pattern: &str) -> Vec<PathBuf> {
        let Some(pattern) = filled(session, pattern) else {
            return Vec::new();
        };
        let mut parts = pattern.split('/');
        let (Some(folder), Some(first)) = (session.parent(), parts.next()) else {
            return Vec::new();
        };
        let mut folders: Vec<PathBuf> = match first.strip_suffix('*') {
            Some(prefix) => self
                .starting_with(prefix)
                .map(|name| folder.join(name))
                .collect(),
            None if first == ".." => folder.parent().map(Path::to_owned).into_iter().collect(),
            None if self.folders.contains(OsStr::new(first)) => vec![folder.join(first)],
            None => Vec::new(),
        };
        for part in parts.filter(|part| *part != "*") {
            folders = folders.iter().map(|folder| folder.join(part)).collect();
            if first == ".." {
                folders.retain(|folder| self.exists(folder));
            }
        }
        folders.iter().flat_map(|folder| list(folder)).collect()
    }

    fn starting_with(&self, prefix: &str) -> impl Iterator<Item = &OsString> {
        let prefix = OsString::from(prefix);
        let names = self.folders.range(prefix.clone()..);
        names.take_while(move |name| name.as_bytes().starts_with(prefix.as_bytes()))
    }

    fn exists(&self, folder: &Path) -> bool {
        let known = self.others.borrow().get(folder).copied();
        known.unwrap_or_else(|| {
            let exists = folder.exists();
            // Folders named after sessions are asked for once.
            self.others.borrow_mut().insert(folder.to_owned(), exists);
            exists
        })
    }
}

/// Puts the names of a session into a pattern; `None` if it has no such name.
fn filled(session: &Path, pattern: &str) -> Option<String> {
    let stem = session.file_stem()?.to_str()?;
    let pattern = pattern.replace("{stem}", stem);
    if !pattern.contains("{id}") {
        return Some(pattern);
    }
    let (_, id) = stem.rsplit_once('-').filter(|(_, id)| !id.is_empty())?;
    Some(pattern.replace("{id}", id))
}

/// Returns true for a name that databases have.
pub(crate) fn is_database_name(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    matches!(extension, "db" | "sqlite" | "sqlite3")
}

/// Returns the paths in a folder, in order; none if there is no such folder.
fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(in_order).unwrap_or_default();
    entries.iter().map(|(name, _)| folder.join(name)).collect()
}

/// Returns the entries of a folder, in order. One that vanishes meanwhile is left out.
pub(crate) fn in_order(entries: fs::ReadDir) -> Vec<(OsString, FileType)> {
    let entries = entries.flatten();
    let mut entries: Vec<_> = entries
        .filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
        .collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growing(root: &Path, session: &str) -> Vec<String> {
        let agents = Agents::new(unspool::source::BUILTIN);
        let session = root.join(session);
        let files = Surroundings::of(agents, &session).growing("", &session);
        let relative = files.iter().filter_map(|path| path.strip_prefix(root).ok());
        relative.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn records_of_sub_agents_are_found_where_each_agent_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in [
            "claude/one.jsonl",
            "claude/one/subagents/agent-1.jsonl",
            "gemini/chats/session-2026-33fb7648.jsonl",
            "gemini/chats/33fb7648-aa/x.jsonl",
            "qwen/chats/two.jsonl",
            "qwen/subagents/two/agent-2.jsonl",
            "qwen/chats/three.jsonl",
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "x").unwrap();
        }
        assert_eq!(
            growing(root, "claude/one.jsonl"),
            ["claude/one/subagents/agent-1.jsonl"]
        );
        assert_eq!(
            growing(root, "gemini/chats/session-2026-33fb7648.jsonl"),
            ["gemini/chats/33fb7648-aa/x.jsonl"]
        );
        assert_eq!(
            growing(root, "qwen/chats/two.jsonl"),
            ["qwen/subagents/two/agent-2.jsonl"]
        );
        assert!(growing(root, "qwen/chats/three.jsonl").is_empty());
        assert_eq!(growing(root, "opencode.db"), ["opencode.db-wal"]);
    }
}
