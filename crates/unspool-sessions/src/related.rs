//! Finds and reads the files that belong to a session, by the patterns of its agent.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use unspool::source::{Provider, SavedFile};

use crate::agents::Agents;
use crate::compression::{HEAD, decompressed, read_head};
use crate::error::{Context, Result, cannot_read};

/// Returns name and content of each file that belongs to the session at `path`.
/// `head` is the start of its text.
pub(crate) fn attachments(
    path: &Path,
    head: &[u8],
    provider: &Provider,
    cache: Option<&RelatedCache>,
) -> Result<Vec<(String, Vec<u8>)>> {
    let Some(related) = provider.saved.and_then(|saved| saved.related) else {
        return Ok(Vec::new());
    };
    let session = SavedFile::new(slashed(path), String::from_utf8_lossy(head));
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // An unreadable file has an empty head, and is an error only if it is selected.
    let look = |pattern: &str| {
        matching(folder, pattern)
            .into_iter()
            .filter(|other| cache.is_none_or(|cache| cache.may_belong(other)))
            .filter(|other| other.is_file() && !same_file(other, path))
            .map(|other| saved_file(&other))
            .collect()
    };
    related
        .find(&session, look)
        .into_iter()
        .map(|file| {
            let path = PathBuf::from(file.path);
            let mut bytes = Vec::with_capacity(HEAD);
            decoded(&path)
                .and_then(|mut stream| stream.read_to_end(&mut bytes))
                .with_context(|| cannot_read(&path.display().to_string()))?;
            let name = path.file_name().unwrap_or_default();
            Ok((name.to_string_lossy().into_owned(), bytes))
        })
        .collect()
}

/// Remembers which files are records of sub-agents, so that reading many sessions of
/// one folder opens each file once.
pub(crate) struct RelatedCache {
    pub(crate) agents: Agents,
    is_sub_agents: Mutex<HashMap<PathBuf, bool>>,
}

impl RelatedCache {
    pub(crate) fn new(agents: Agents) -> Self {
        Self {
            agents,
            is_sub_agents: Mutex::default(),
        }
    }

    /// Returns true if the file may belong to another. Where records of sub-agents
    /// lie among the sessions, only these do.
    fn may_belong(&self, path: &Path) -> bool {
        if self.agents.record_id(path).is_none() {
            return true;
        }
        let Ok(mut known) = self.is_sub_agents.lock() else {
            return true;
        };
        let is_child = known.get(path).copied();
        is_child.unwrap_or_else(|| {
            let is_child = is_sub_agents(path, self.agents);
            known.insert(path.to_owned(), is_child);
            is_child
        })
    }
}

/// Returns true for the record of a sub-agent, which belongs to another session.
pub(crate) fn is_sub_agents(path: &Path, agents: Agents) -> bool {
    agents.parent(&saved_file(path)).is_some()
}

/// Returns the id of the session that a sub-agent's record belongs to; empty if it is
/// not named, or the file is a session of its own.
pub(crate) fn parent_id(path: &Path, agents: Agents) -> String {
    agents.parent(&saved_file(path)).unwrap_or_default()
}

fn saved_file(path: &Path) -> SavedFile {
    SavedFile::new(slashed(path), head_of(path))
}

/// Returns the start of a file; empty if it cannot be read.
fn head_of(path: &Path) -> String {
    decoded(path)
        .and_then(|mut bytes| read_head(&mut bytes))
        .map(|head| String::from_utf8_lossy(&head).into_owned())
        .unwrap_or_default()
}

/// Returns what to do with a directory that was named as an input.
pub(crate) fn advice(folder: &Path, agents: Agents) -> String {
    let own = agents.saved().flat_map(|saved| saved.file_names);
    let any = [
        "*.jsonl",
        "*/*.jsonl",
        "*/*/*.jsonl",
        "*.json",
        "*/*/*.json",
    ];
    let found = own
        .chain(&any)
        .find_map(|pattern| matching(folder, pattern).into_iter().next());
    match found {
        Some(file) => format!(
            "name a file in it, such as {}; `unspool sessions --in {folder}` lists what it holds, \
             `unspool follow {folder}` shows the newest",
            file.display(),
            folder = folder.display()
        ),
        None => "name a session file".to_owned(),
    }
}

fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    glob::glob(&format!("{folder}/{pattern}"))
        .map(|paths| paths.filter_map(Result::ok).collect())
        .unwrap_or_default()
}

fn decoded(path: &Path) -> std::io::Result<Box<dyn Read + Send>> {
    decompressed(Box::new(File::open(path)?))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
