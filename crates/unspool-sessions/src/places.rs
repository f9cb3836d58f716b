//! Where saved sessions may be: the agents' own places, and folders that a
//! person names. Names, sizes and times are looked at; nothing is opened but
//! Markdown, whose first line tells whether it is a history of aider.
//!
//! A folder that is walked may hold anything: links that lead back, pipes and
//! sockets that would block, folders that may not be read. Each of them is
//! skipped with a reason, and the walk goes on.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::agents::{AIDER_HISTORIES, Agent, Environment};
use crate::containers::is_history;
use crate::error::{Result, bail};
use crate::related::is_sub_agents;

/// Levels of folders that are walked.
const DEEPEST: usize = 64;
/// Folders that hold no sessions, but very many files.
const PASSED_BY: [&str; 3] = [".git", "node_modules", "tool-results"];
/// What OpenCode keeps beside its sessions, in folders of these names.
const STORED_BESIDE: [&str; 5] = ["message", "part", "todo", "session_diff", "project"];

/// Messages in OpenCode's old storage whose parts may still be written to.
const NEWEST_MESSAGES: usize = 3;

/// Where a library looks for sessions, and where it keeps what it read. Nothing of
/// it is taken from the process: the caller passes it in.
#[derive(Clone, Debug)]
pub struct Places {
    /// The agents whose own places are looked into.
    pub agents: Vec<&'static Agent>,
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
}

/// A file that may hold sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The agent in whose place it lies; empty where that is not known.
    pub(crate) agent: &'static str,
    pub(crate) path: PathBuf,
    /// When it was last written, in nanoseconds.
    pub(crate) modified: i64,
    /// Bytes, with those of the files that belong to it.
    pub(crate) size: u64,
    /// Its number in the file system: another one if it was replaced.
    pub(crate) number: u64,
    /// For a database, when anything about it changed, in nanoseconds: what it
    /// holds may be exchanged without a trace in its times.
    pub(crate) changed: i64,
    /// The id of the session that it belongs to, if it is the record of a
    /// sub-agent among sessions; `library` finds that out.
    pub(crate) parent: String,
}

impl Candidate {
    /// What changes when a part of the file does, or the file is another one.
    pub(crate) fn stamp_of_part(&self, stamp: i64) -> i64 {
        stamp.wrapping_add(self.number.rotate_left(20).cast_signed())
    }
}

/// What could not be looked at, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The file or folder.
    pub path: PathBuf,
    /// The reason, in words.
    pub reason: String,
    /// It was reported by an earlier refresh.
    pub is_known: bool,
}

/// What a search found: each file once, however many ways lead to it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) skipped: Vec<Skipped>,
    /// Devices and numbers of the files.
    seen: BTreeSet<(u64, u64)>,
}

impl Found {
    fn skip(&mut self, path: &Path, reason: impl ToString) {
        self.skipped.push(Skipped {
            path: path.to_owned(),
            reason: reason.to_string(),
            is_known: false,
        });
    }

    /// Takes a file in, if it is one.
    fn file(&mut self, agent: &'static str, path: PathBuf, folders: Option<&Folders>) {
        match fs::metadata(&path) {
            Ok(file) => self.known(agent, path, &file, folders),
            Err(error) => self.skip(&path, plain(&error)),
        }
    }

    fn known(
        &mut self,
        agent: &'static str,
        path: PathBuf,
        file: &Metadata,
        folders: Option<&Folders>,
    ) {
        if file.is_dir() {
            self.skip(&path, "a folder in place of a file");
        } else if !file.is_file() {
            // To open a pipe would wait for who writes into it.
            self.skip(&path, "no ordinary file");
        } else if self.seen.insert((file.dev(), file.ino())) {
            self.candidates.push(candidate(agent, path, file, folders));
        }
    }

    /// What lies in the places of these agents.
    pub(crate) fn agents(&mut self, agents: &[&'static Agent], environment: &Environment) {
        for agent in agents {
            for (folder, patterns) in agent.places(environment) {
                for pattern in patterns {
                    self.matching(agent.name, &folder, pattern);
                }
            }
        }
    }

    /// The histories of aider in these projects.
    pub(crate) fn aider<'a>(&mut self, projects: impl Iterator<Item = &'a Path>) {
        for project in projects {
            for name in AIDER_HISTORIES {
                let path = project.join(name);
                if path.is_file() {
                    self.file("aider", path, None);
                }
            }
        }
    }

    /// Whatever lies below a folder and has a name that a session could have.
    /// A file may be named in place of a folder.
    pub(crate) fn below(&mut self, folder: &Path) {
        if fs::metadata(folder).is_ok_and(|file| !file.is_dir()) {
            return self.file("", folder.to_owned(), None);
        }
        let mut walk = Walk {
            found: self,
            above: Vec::new(),
            seen: BTreeSet::new(),
        };
        walk.folder(folder, 0);
    }

    fn matching(&mut self, agent: &'static str, folder: &Path, pattern: &str) {
        if pattern.is_empty() {
            if folder.exists() {
                self.file(agent, folder.to_owned(), None);
            }
            return;
        }
        let parts: Vec<&str> = pattern.split('/').collect();
        self.descend(agent, folder, &parts);
    }

    /// Follows the parts of a pattern down. What is not there is nothing to talk
    /// about; what may not be looked into is.
    fn descend(&mut self, agent: &'static str, folder: &Path, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            return;
        };
        if !part.contains('*') {
            let path = folder.join(part);
            match fs::metadata(&path) {
                Ok(file) if rest.is_empty() => self.known(agent, path, &file, None),
                Ok(_) => self.descend(agent, &path, rest),
                Err(error) => self.skip_if_there(&path, &error),
            }
            return;
        }
        let (Ok(pattern), Some(entries)) = (glob::Pattern::new(part), self.entries(folder)) else {
            return;
        };
        let folders = rest.is_empty().then(|| Folders::new(folder, &entries));
        for (name, kind) in &entries {
            if !pattern.matches(&name.to_string_lossy()) {
                continue;
            }
            let path = folder.join(name);
            match &folders {
                Some(folders) => self.file(agent, path, Some(folders)),
                None if kind.is_symlink() => self.link(agent, &path, rest),
                None if kind.is_dir() => self.descend(agent, &path, rest),
                None => {}
            }
        }
    }

    /// Follows a link to a folder, unless it leads in a circle.
    fn link(&mut self, agent: &'static str, path: &Path, rest: &[&str]) {
        match fs::metadata(path) {
            Ok(folder) if folder.is_dir() && leads_back(path) => {
                self.skip(path, "a link back to a folder above it");
            }
            Ok(folder) if folder.is_dir() => self.descend(agent, path, rest),
            Ok(_) => {}
            Err(error) => self.skip_if_there(path, &error),
        }
    }

    /// What a folder holds, in order. One that may not be read is skipped.
    fn entries(&mut self, folder: &Path) -> Option<Vec<(OsString, FileType)>> {
        match fs::read_dir(folder) {
            Ok(entries) => Some(in_order(entries)),
            Err(error) => {
                self.skip_if_there(folder, &error);
                None
            }
        }
    }

    fn skip_if_there(&mut self, path: &Path, error: &io::Error) {
        let is_nothing = matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        );
        if !is_nothing {
            self.skip(path, plain(error));
        }
    }

    /// The session that was last written to; those of sub-agents do not count.
    pub(crate) fn newest(self) -> Option<PathBuf> {
        let mut candidates = self.candidates;
        candidates.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
        let mut newest_first = candidates.into_iter().map(|one| one.path);
        newest_first.find(|path| !is_sub_agents(path))
    }
}

/// The session in a folder that was last written to.
pub fn latest_in(folder: &Path) -> Option<PathBuf> {
    let mut found = Found::default();
    found.below(folder);
    found.newest()
}

/// The entries of a folder. One that is gone meanwhile is no reason to skip the
/// others.
fn in_order(entries: fs::ReadDir) -> Vec<(OsString, FileType)> {
    let entries = entries.flatten();
    let mut entries: Vec<_> = entries
        .filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
        .collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

struct Walk<'a> {
    found: &'a mut Found,
    /// The folders that are being walked, from the first one down.
    above: Vec<(u64, u64)>,
    /// All folders that were walked.
    seen: BTreeSet<(u64, u64)>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let identity = match fs::metadata(folder) {
            Ok(metadata) => (metadata.dev(), metadata.ino()),
            Err(error) => return self.found.skip(folder, plain(&error)),
        };
        if self.above.contains(&identity) {
            return self.found.skip(folder, "a link back to a folder above it");
        }
        if !self.seen.insert(identity) {
            return;
        }
        if depth > DEEPEST {
            return self.found.skip(folder, "too many folders deep");
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.found.skip(folder, plain(&error)),
        };
        let entries = in_order(entries);
        let folders = Folders::new(folder, &entries);
        self.above.push(identity);
        for (name, _) in &entries {
            self.entry(folder.join(name), &folders, depth);
        }
        self.above.pop();
    }

    fn entry(&mut self, path: PathBuf, folders: &Folders, depth: usize) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let wanted = is_session_name(&name, &path);
        match fs::metadata(&path) {
            Ok(entry) if entry.is_dir() && passes_by(&name, &path) => {}
            Ok(entry) if entry.is_dir() => self.folder(&path, depth + 1),
            Ok(file) if wanted || (file.is_file() && is_aider_history(&path)) => {
                self.found.known("", path, &file, Some(folders));
            }
            // A link to nowhere is of interest only if it is called as a
            // session is, or leads in a circle.
            Err(error) if wanted || error.kind() != io::ErrorKind::NotFound => {
                self.found.skip(&path, plain(&error));
            }
            _ => {}
        }
    }
}

fn passes_by(name: &str, path: &Path) -> bool {
    let in_storage = path
        .parent()
        .is_some_and(|above| above.ends_with("storage"));
    PASSED_BY.contains(&name) || (in_storage && STORED_BESIDE.contains(&name))
}

fn is_session_name(name: &str, path: &Path) -> bool {
    let plain = name
        .strip_suffix(".zst")
        .or_else(|| name.strip_suffix(".gz"))
        .unwrap_or(name);
    let is_meta = plain.ends_with(".meta.json");
    let extension = Path::new(plain).extension().unwrap_or_default();
    AIDER_HISTORIES
        .iter()
        .any(|history| path.ends_with(history))
        || (!is_meta && (extension == "jsonl" || extension == "json"))
        || (name.starts_with("opencode") && extension == "db")
}

/// Whether a file is a history of aider under another name.
fn is_aider_history(path: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|extension| extension == "md");
    is_markdown && is_history(path)
}

/// The folders in which records of sub-agents may lie, for all files of one
/// folder: most have none, and need not be asked for.
struct Folders {
    here: BTreeSet<OsString>,
    /// Whether the folder above has some.
    above: bool,
}

impl Folders {
    fn new(folder: &Path, entries: &[(OsString, FileType)]) -> Self {
        let here = entries.iter().filter(|(_, kind)| !kind.is_file());
        Self {
            here: here.map(|(name, _)| name.clone()).collect(),
            above: folder.with_file_name("subagents").exists(),
        }
    }

    /// Those of the folder in which this file lies.
    fn around(path: &Path) -> Option<Self> {
        let folder = path.parent()?;
        let entries = fs::read_dir(folder).map(in_order).unwrap_or_default();
        Some(Self::new(folder, &entries))
    }

    /// Where the records of a session's sub-agents may lie.
    fn of(&self, path: &Path) -> Vec<PathBuf> {
        let stem = path.file_stem().unwrap_or_default();
        let mut found = Vec::new();
        if self.here.contains(stem) {
            found.push(path.with_file_name(stem).join("subagents"));
        }
        let chats = path.parent().filter(|folder| folder.ends_with("chats"));
        if let Some(chats) = chats.filter(|_| self.above) {
            found.push(chats.with_file_name("subagents").join(stem));
        }
        // Gemini calls the file after the beginning of the id, the folder after
        // all of it.
        let id = stem.to_str().and_then(|stem| stem.strip_prefix("session-"));
        let id = id.and_then(|stem| Some(stem.rsplit_once('-')?.1));
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            let begins = self.here.range(OsString::from(id)..);
            let begins = begins.take_while(|name| name.as_bytes().starts_with(id.as_bytes()));
            found.extend(begins.map(|name| path.with_file_name(name)));
        }
        found
    }
}

/// Whether a link leads to a folder that it lies in.
fn leads_back(link: &Path) -> bool {
    let above = link.parent().and_then(|above| above.canonicalize().ok());
    let target = link.canonicalize();
    above
        .zip(target.ok())
        .is_some_and(|(above, target)| above.starts_with(target))
}

fn candidate(
    agent: &'static str,
    path: PathBuf,
    file: &Metadata,
    folders: Option<&Folders>,
) -> Candidate {
    let (mut modified, mut size) = (written(file), file.len());
    let is_database = path.extension() == Some("db".as_ref());
    let mut changed = if is_database { touched(file) } else { 0 };
    for other in beside(&path, folders) {
        if let Ok(file) = fs::metadata(other) {
            modified = modified.max(written(&file));
            size = size.saturating_add(file.len());
            if is_database {
                changed = changed.max(touched(&file));
            }
        }
    }
    Candidate {
        agent,
        path,
        modified,
        size,
        number: file.ino(),
        changed,
        parent: String::new(),
    }
}

/// The files that change with a session while it does not: the log of a
/// database, the records of sub-agents that lie in a folder of its name, and the
/// messages in OpenCode's old storage.
fn beside(path: &Path, folders: Option<&Folders>) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(name) = name.strip_suffix(".db") {
        return vec![path.with_file_name(format!("{name}.db-wal"))];
    }
    if is_stored(path) {
        return stored(path).unwrap_or_default();
    }
    let folders = match folders {
        Some(folders) => folders.of(path),
        None => Folders::around(path).map_or(Vec::new(), |folders| folders.of(path)),
    };
    folders.iter().flat_map(|folder| files(folder)).collect()
}

/// Whether a file is a session in OpenCode's old storage:
/// `storage/session/PROJECT/ses_ID.json`.
pub(crate) fn is_stored(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let above = path.parent().and_then(Path::parent);
    name.starts_with("ses_") && above.is_some_and(|above| above.ends_with("storage/session"))
}

/// The messages of a session in OpenCode's old storage, the folders of their
/// parts, and the parts of the newest, which may still be written to.
fn stored(path: &Path) -> Option<Vec<PathBuf>> {
    let storage = path.ancestors().nth(3)?;
    let messages = files(&storage.join("message").join(path.file_stem()?));
    let parts = messages.iter().filter_map(|message| message.file_stem());
    let parts: Vec<PathBuf> = parts.map(|id| storage.join("part").join(id)).collect();
    let newest = parts.iter().rev().take(NEWEST_MESSAGES);
    let written: Vec<PathBuf> = newest.flat_map(|folder| files(folder)).collect();
    let all = messages.iter().chain(&parts).chain(&written);
    Some(all.cloned().collect())
}

/// What lies in a folder, in order; nothing if there is none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(in_order).unwrap_or_default();
    entries.iter().map(|(name, _)| folder.join(name)).collect()
}

/// Those of these sessions beside which lies the record of a sub-agent whose id
/// begins like this.
pub(crate) fn with_sub_agent<'a>(
    sessions: impl Iterator<Item = &'a Path>,
    beginning: &str,
) -> Option<&'a Path> {
    let mut around: HashMap<PathBuf, Folders> = HashMap::new();
    let is_its = |record: &PathBuf| {
        let stem = record.file_stem().unwrap_or_default().to_string_lossy();
        let id = stem.strip_prefix("agent-").unwrap_or(&stem).to_lowercase();
        id.starts_with(beginning)
    };
    for session in sessions {
        let folder = session.parent()?;
        if !around.contains_key(folder) {
            around.insert(folder.to_owned(), Folders::around(session)?);
        }
        let folders = around.get(folder)?.of(session);
        if folders
            .iter()
            .flat_map(|folder| files(folder))
            .any(|record| is_its(&record))
        {
            return Some(session);
        }
    }
    None
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

/// An error without the number that the system gives it.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn below(folder: &Path) -> Found {
        let mut found = Found::default();
        found.below(folder);
        found
    }

    fn names(found: &Found) -> Vec<String> {
        let name = |one: &Candidate| one.path.file_name().unwrap().to_string_lossy().into_owned();
        found.candidates.iter().map(name).collect()
    }

    #[test]
    fn a_walk_survives_whatever_lies_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/run.jsonl"), "{}").unwrap();
        fs::write(root.join("a/notes.txt"), "no").unwrap();
        symlink(root, root.join("a/b/back")).unwrap();
        symlink("x.jsonl", root.join("y.jsonl")).unwrap();
        symlink("y.jsonl", root.join("x.jsonl")).unwrap();
        fs::create_dir(root.join("folder.jsonl")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("s.jsonl")).unwrap();
        let found = below(root);
        assert_eq!(names(&found), ["run.jsonl"]);
        let reasons: Vec<&str> = found
            .skipped
            .iter()
            .map(|one| one.reason.as_str())
            .collect();
        assert_eq!(
            reasons,
            [
                "a link back to a folder above it",
                "no ordinary file",
                "too many levels of symbolic links",
                "too many levels of symbolic links",
            ]
        );
    }

    #[test]
    fn a_pattern_is_followed_down_and_says_where_it_cannot_go() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/x.jsonl", "a/y.txt", ".b/z.jsonl", "a/deep/w.jsonl"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "{}").unwrap();
        }
        symlink("a", root.join("c")).unwrap();
        // A circle can be entered by nobody, whoever runs this.
        symlink("round", root.join("round")).unwrap();
        let mut found = Found::default();
        found.matching("claude", root, "*/*.jsonl");
        assert_eq!(names(&found), ["z.jsonl", "x.jsonl"]);
        let mut found = Found::default();
        found.matching("claude", root, "round/*/*.jsonl");
        found.matching("claude", root, "none/*.jsonl");
        let skipped = found.skipped.iter().map(|one| (&one.path, &one.reason));
        let reason = "too many levels of symbolic links".to_owned();
        let skipped: Vec<_> = skipped.collect();
        assert_eq!(skipped, [(&root.join("round"), &reason)]);
    }

    #[test]
    fn a_pattern_names_links_that_lead_in_a_circle() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("2026/11")).unwrap();
        fs::create_dir_all(root.join("other/12")).unwrap();
        fs::write(root.join("2026/11/a.jsonl"), "x").unwrap();
        fs::write(root.join("other/12/b.jsonl"), "x").unwrap();
        symlink("..", root.join("2026/back")).unwrap();
        symlink("round", root.join("2026/round")).unwrap();
        symlink("../other/12", root.join("2026/12")).unwrap();
        symlink("nowhere", root.join("2026/gone")).unwrap();
        let mut found = Found::default();
        found.matching("codex", root, "2026/*/*.jsonl");
        assert_eq!(names(&found), ["a.jsonl", "b.jsonl"]);
        let skipped = found.skipped.iter();
        let skipped: Vec<_> = skipped
            .map(|one| (&one.path, one.reason.as_str()))
            .collect();
        assert_eq!(
            skipped,
            [
                (&root.join("2026/back"), "a link back to a folder above it"),
                (
                    &root.join("2026/round"),
                    "too many levels of symbolic links"
                ),
            ]
        );
    }

    #[test]
    fn a_folder_that_two_links_lead_to_is_walked_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        fs::write(folder.path().join("real/run.jsonl"), "{}").unwrap();
        symlink("real", folder.path().join("one")).unwrap();
        symlink("real", folder.path().join("two")).unwrap();
        let found = below(folder.path());
        assert_eq!(names(&found), ["run.jsonl"]);
        assert_eq!(found.skipped, []);
    }

    #[test]
    fn sessions_are_found_where_the_agents_keep_them() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment {
            home: home.path().to_owned(),
            current: PathBuf::from("/elsewhere"),
            variable: |_| None,
        };
        for (name, path) in [
            ("claude", ".claude/projects/-p/a.jsonl"),
            ("codex", ".codex/sessions/2026/11/15/rollout-a.jsonl"),
            ("gemini", ".gemini/tmp/p/chats/session-a.jsonl"),
            ("qwen", ".qwen/projects/p/chats/a.jsonl"),
            ("opencode", ".local/share/opencode/opencode.db"),
            ("aider", ".aider.chat.history.md"),
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            let mut found = Found::default();
            found.agents(&[crate::agents::agent(name).unwrap()], &environment);
            let paths: Vec<_> = found.candidates.into_iter().map(|one| one.path).collect();
            assert_eq!(paths, [path], "{name}");
        }
    }
}
