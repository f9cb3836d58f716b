//! Searches places and folders for files that may hold sessions. Names, sizes and times
//! decide; no file is opened except Markdown, whose first line shows whether it holds
//! sessions.
//!
//! A folder may hold anything: links that lead back, pipes and sockets that would
//! block, folders that may not be read. Each is skipped with a reason, and the search
//! goes on.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use unspool::source::{Folder, Place, Provider};

use crate::agents::{Agents, Environment};
use crate::beside::{Surroundings, in_order};
use crate::containers::has_sections;
use crate::places::{Candidate, Skipped, plain};
use crate::related::is_sub_agents;

/// Levels of folders that are walked.
const DEEPEST: usize = 64;

/// The files that a search found: each once, however many paths lead to it.
#[derive(Debug)]
pub(crate) struct Found {
    agents: Agents,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) skipped: Vec<Skipped>,
    /// Devices and inodes of the files.
    seen: BTreeSet<(u64, u64)>,
}

impl Found {
    pub(crate) fn new(agents: Agents) -> Self {
        Self {
            agents,
            candidates: Vec::new(),
            skipped: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn skip(&mut self, path: &Path, reason: impl ToString) {
        self.skipped.push(Skipped {
            path: path.to_owned(),
            reason: reason.to_string(),
            is_known: false,
        });
    }

    /// Takes a file in, if it is one.
    fn file(&mut self, agent: &'static str, path: PathBuf, surroundings: Option<&Surroundings>) {
        match fs::metadata(&path) {
            Ok(file) => self.known(agent, path, &file, surroundings),
            Err(error) => self.skip(&path, plain(&error)),
        }
    }

    fn known(
        &mut self,
        agent: &'static str,
        path: PathBuf,
        file: &Metadata,
        surroundings: Option<&Surroundings>,
    ) {
        if file.is_dir() {
            self.skip(&path, "a folder in place of a file");
        } else if !file.is_file() {
            // Opening a pipe would block.
            self.skip(&path, "no ordinary file");
        } else if self.seen.insert((file.dev(), file.ino())) {
            let own;
            let surroundings = if let Some(surroundings) = surroundings {
                surroundings
            } else {
                own = Surroundings::of(self.agents, &path);
                &own
            };
            let candidate = Candidate::new(agent, path, file, surroundings);
            self.candidates.push(candidate);
        }
    }

    /// Searches the places of these agents.
    pub(crate) fn places(&mut self, agents: &[Provider], environment: &Environment) {
        for agent in agents {
            for place in agent.saved.map_or(&[][..], |saved| saved.places) {
                for folder in environment.folders(place) {
                    self.place(agent.name, &folder, place);
                }
            }
        }
    }

    fn place(&mut self, agent: &'static str, folder: &Path, place: &Place) {
        if place.patterns.is_empty() && folder.exists() {
            self.file(agent, folder.to_owned(), None);
        }
        for pattern in place.patterns {
            self.matching(agent, folder, pattern);
        }
    }

    /// Searches projects for the sessions of agents that keep them there.
    pub(crate) fn projects(&mut self, agents: &[Provider], projects: &BTreeSet<PathBuf>) {
        for agent in agents {
            let places = agent.saved.map_or(&[][..], |saved| saved.places);
            let places = places.iter().filter(|place| is_in_projects(place));
            for name in places.flat_map(|place| place.patterns) {
                let files = projects.iter().map(|project| project.join(name));
                for file in files.filter(|file| file.is_file()) {
                    self.file(agent.name, file, None);
                }
            }
        }
    }

    /// Searches a folder and all below it for files with names that sessions have. A
    /// file may be named in place of a folder.
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
        let parts: Vec<&str> = pattern.split('/').collect();
        self.descend(agent, folder, &parts);
    }

    /// Follows the parts of a pattern down. A missing folder is not an error; one that
    /// may not be read is skipped with the reason.
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
        let surroundings = rest
            .is_empty()
            .then(|| Surroundings::new(self.agents, &entries));
        for (name, kind) in &entries {
            if !pattern.matches(&name.to_string_lossy()) {
                continue;
            }
            let path = folder.join(name);
            match &surroundings {
                Some(surroundings) => self.file(agent, path, Some(surroundings)),
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

    /// Returns the entries of a folder, in order. One that may not be read is skipped.
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

    /// Returns the session that was last written to. Records of sub-agents do not
    /// count.
    pub(crate) fn newest(self) -> Option<PathBuf> {
        let mut candidates = self.candidates;
        candidates.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
        let mut newest_first = candidates.into_iter().map(|one| one.path);
        newest_first.find(|path| !is_sub_agents(path, self.agents))
    }
}

/// Returns the session in a folder that was last written to.
pub fn latest_in(folder: &Path, agents: Agents) -> Option<PathBuf> {
    let mut found = Found::new(agents);
    found.below(folder);
    found.newest()
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
        let surroundings = Surroundings::new(self.found.agents, &entries);
        self.above.push(identity);
        for (name, _) in &entries {
            self.entry(folder.join(name), &surroundings, depth);
        }
        self.above.pop();
    }

    fn entry(&mut self, path: PathBuf, surroundings: &Surroundings, depth: usize) {
        let wanted = is_session_name(&path, self.found.agents);
        match fs::metadata(&path) {
            Ok(entry) if entry.is_dir() && is_skipped(&path, self.found.agents) => {}
            Ok(entry) if entry.is_dir() => self.folder(&path, depth + 1),
            Ok(file) if wanted || (file.is_file() && is_sectioned(&path, self.found.agents)) => {
                self.found.known("", path, &file, Some(surroundings));
            }
            // A dangling link matters only if it has the name of a session.
            Err(error) if wanted || error.kind() != io::ErrorKind::NotFound => {
                self.found.skip(&path, plain(&error));
            }
            _ => {}
        }
    }
}

/// Returns true for a link to a folder that it is in.
fn leads_back(link: &Path) -> bool {
    let above = link.parent().and_then(|above| above.canonicalize().ok());
    let target = link.canonicalize();
    above
        .zip(target.ok())
        .is_some_and(|(above, target)| above.starts_with(target))
}

/// Returns true for a place in each project.
pub(crate) fn is_in_projects(place: &Place) -> bool {
    matches!(place.folder, Folder::Projects)
}

/// Returns true for a folder without sessions, but with very many files.
fn is_skipped(path: &Path, agents: Agents) -> bool {
    let mut folders = agents.saved().flat_map(|saved| saved.skipped_folders);
    path.ends_with(".git")
        || path.ends_with("node_modules")
        || folders.any(|folder| path.ends_with(folder))
}

/// Returns true for a path that sessions have: JSON, or a name that only one agent
/// gives.
fn is_session_name(path: &Path, agents: Agents) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name
        .strip_suffix(".zst")
        .or_else(|| name.strip_suffix(".gz"))
        .unwrap_or(&name);
    let is_meta = plain.ends_with(".meta.json");
    let extension = Path::new(plain).extension().unwrap_or_default();
    let mut patterns = agents.saved().flat_map(|saved| saved.file_names);
    (!is_meta && (extension == "jsonl" || extension == "json"))
        || patterns.any(|pattern| ends_like(path, pattern))
}

/// Returns true if the last parts of a path match the parts of a pattern.
fn ends_like(path: &Path, pattern: &str) -> bool {
    let mut names = path.iter().rev();
    pattern.rsplit('/').all(|part| {
        let name = names.next().unwrap_or_default().to_string_lossy();
        glob::Pattern::new(part).is_ok_and(|part| part.matches(&name))
    })
}

/// Returns true for a text file with several sessions that has a name of its own.
fn is_sectioned(path: &Path, agents: Agents) -> bool {
    let is_markdown = path.extension().is_some_and(|extension| extension == "md");
    is_markdown && has_sections(path, agents)
}

/// Returns the first of these sessions beside which lies the record of a sub-agent with
/// this prefix of an id.
pub(crate) fn with_sub_agent<'a>(
    sessions: impl Iterator<Item = &'a Path>,
    prefix: &str,
    agents: Agents,
) -> Option<&'a Path> {
    let mut surroundings: HashMap<PathBuf, Surroundings> = HashMap::new();
    let is_its = |record: &PathBuf| {
        let stem = record.file_stem().unwrap_or_default().to_string_lossy();
        let id = agents.record_id(record).unwrap_or(&stem);
        id.to_lowercase().starts_with(prefix)
    };
    let mut sessions = sessions;
    sessions.find(|session| {
        let folder = session.parent().unwrap_or(session).to_owned();
        let around = surroundings
            .entry(folder)
            .or_insert_with(|| Surroundings::of(agents, session));
        around.records(session).iter().any(is_its)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const AGENTS: Agents = Agents::new(unspool::source::BUILTIN);

    fn below(folder: &Path) -> Found {
        let mut found = Found::new(AGENTS);
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
        let mut found = Found::new(AGENTS);
        found.matching("claude", root, "*/*.jsonl");
        assert_eq!(names(&found), ["z.jsonl", "x.jsonl"]);
        let mut found = Found::new(AGENTS);
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
        let mut found = Found::new(AGENTS);
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
            let mut found = Found::new(AGENTS);
            found.places(&[AGENTS.get(name).unwrap()], &environment);
            let paths: Vec<_> = found.candidates.into_iter().map(|one| one.path).collect();
            assert_eq!(paths, [path], "{name}");
        }
    }
}
