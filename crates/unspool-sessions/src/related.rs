//! The files that an agent keeps beside a session: its provider knows their
//! names, this finds and reads them.
//!
//! Who reads many sessions of one folder shares a [`RelatedCache`], so that no file is
//! looked into once for each of the others.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use unspool::source::{Provider, SavedFile};

use crate::compression::{HEAD, decompressed, read_head};
use crate::error::{Context, Result, cannot_read};

/// Name and content of each file that belongs to the session at `path`, whose
/// text begins with `head`.
pub(crate) fn attachments(
    path: &Path,
    head: &[u8],
    provider: Provider,
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
            .map(|other| SavedFile::new(slashed(&other), head_of(&other)))
            .collect()
    };
    related
        .find(&session, look)
        .into_iter()
        .map(|file| PathBuf::from(file.path))
        .map(|path| {
            let mut bytes = Vec::with_capacity(HEAD);
            decoded(&path)
                .and_then(|mut stream| stream.read_to_end(&mut bytes))
                .with_context(|| cannot_read(&path.display().to_string()))?;
            let name = path.file_name().unwrap_or_default();
            Ok((name.to_string_lossy().into_owned(), bytes))
        })
        .collect()
}

/// What is known of the files of many sessions.
#[derive(Default)]
pub(crate) struct RelatedCache {
    /// Whether a record of Codex is that of a sub-agent.
    rollouts: Mutex<HashMap<PathBuf, bool>>,
}

impl RelatedCache {
    /// Whether the file may belong to another. Records of Codex lie all in one
    /// folder, and only those of sub-agents belong to others.
    fn may_belong(&self, path: &Path) -> bool {
        if !is_rollout(path) {
            return true;
        }
        let Ok(mut known) = self.rollouts.lock() else {
            return true;
        };
        let is_child = known.get(path).copied();
        is_child.unwrap_or_else(|| {
            let is_child = is_sub_agents(path);
            known.insert(path.to_owned(), is_child);
            is_child
        })
    }
}

/// Whether a file is the record of a sub-agent, which belongs to the session
/// that started it.
pub(crate) fn is_sub_agents(path: &Path) -> bool {
    let is_apart = path
        .components()
        .any(|part| part.as_os_str() == "subagents");
    if is_apart {
        return true;
    }
    let head = head_of(path);
    let first = head.lines().next().unwrap_or_default();
    if is_rollout(path) {
        return first.contains("\"parent_thread_id\":\"") || first.contains("\"subagent\":");
    }
    first.contains("\"kind\":\"subagent\"") || parent_session(&head).is_some()
}

/// The id of the session that a record among sessions belongs to, if it is that of
/// a sub-agent: one of Codex, or one in OpenCode's old storage.
pub(crate) fn parent_thread(path: &Path) -> Option<String> {
    let head = head_of(path);
    if !is_rollout(path) {
        return parent_session(&head);
    }
    let first = head.lines().next()?;
    let (_, rest) = first.split_once("\"parent_thread_id\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

fn is_rollout(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("rollout-")
}

/// The session that one of OpenCode belongs to, from what stands before its
/// messages.
fn parent_session(head: &str) -> Option<String> {
    let info = head.split("\"messages\"").next().unwrap_or(head);
    let rest = info.split_once("\"parentID\"")?.1.trim_start();
    let value = rest.strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (value, _) = value.split_once('"')?;
    value.starts_with("ses_").then(|| value.to_owned())
}

/// The beginning of a file; empty if it cannot be read.
fn head_of(path: &Path) -> String {
    decoded(path)
        .and_then(|mut bytes| read_head(&mut bytes))
        .map(|head| String::from_utf8_lossy(&head).into_owned())
        .unwrap_or_default()
}

/// What to do with a directory that was named as an input.
pub(crate) fn advice(folder: &Path) -> String {
    let sessions = [
        "opencode.db",
        "*.jsonl",
        "*/*.jsonl",
        "*/*/*.jsonl",
        "*.json",
        "*/*/*.json",
    ];
    let found = sessions
        .iter()
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
