//! The files that an agent keeps beside a session: its provider knows their
//! names, this finds and reads them.
//!
//! Who reads many sessions of one folder shares a [`Kin`], so that no file is
//! looked into once for each of the others.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;
use unspool::source::{Provider, SavedFile};

use super::{HEAD, cannot_read, decompressed, read_head};

/// Name and content of each file that belongs to the session at `path`, whose
/// text begins with `head`.
pub(super) fn attachments(
    path: &Path,
    head: &[u8],
    provider: Provider,
    kin: Option<&Kin>,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let Some(related) = provider.related else {
        return Ok(Vec::new());
    };
    let session = SavedFile {
        path: slashed(path),
        head: String::from_utf8_lossy(head).into_owned(),
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let patterns = match kin.and_then(|_| stored(path)) {
        Some(patterns) => patterns,
        None => (related.patterns)(&session),
    };
    let mut found: Vec<PathBuf> = patterns
        .iter()
        .flat_map(|pattern| matching(folder, pattern))
        .filter(|other| kin.is_none_or(|kin| kin.may_belong(other)))
        .filter(|other| other.is_file() && !same_file(other, path))
        .collect();
    found.sort();
    found.dedup();
    // A file that cannot be read is told of when it is selected, not before.
    let heads: Vec<SavedFile> = found
        .iter()
        .map(|path| SavedFile {
            path: slashed(path),
            head: head_of(path),
        })
        .collect();
    (related.select)(&session, &heads)
        .into_iter()
        .filter_map(|index| found.get(index))
        .map(|path| {
            let mut bytes = Vec::with_capacity(HEAD);
            decoded(path)
                .and_then(|mut stream| stream.read_to_end(&mut bytes))
                .with_context(|| cannot_read(&path.display().to_string()))?;
            let name = path.file_name().unwrap_or_default();
            Ok((name.to_string_lossy().into_owned(), bytes))
        })
        .collect()
}

/// What is known of the files of many sessions.
#[derive(Default)]
pub(crate) struct Kin {
    /// Whether a record of Codex is that of a sub-agent.
    rollouts: Mutex<HashMap<PathBuf, bool>>,
}

impl Kin {
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

/// Patterns for what belongs to a session in OpenCode's old storage: its own
/// messages and those of its sub-agents, not those of all sessions there.
fn stored(path: &Path) -> Option<Vec<String>> {
    let folder = path.parent()?;
    let storage = folder.parent()?.parent()?;
    if !storage.ends_with("storage") || !folder.parent()?.ends_with("session") {
        return None;
    }
    let parents: Vec<(String, String)> = matching(folder, "ses_*.json")
        .iter()
        .filter_map(|path| {
            Some((
                stem(path)?,
                parent_session(&head_of(path)).unwrap_or_default(),
            ))
        })
        .collect();
    let mut sessions = vec![stem(path)?];
    let mut at = 0;
    while let Some(session) = sessions.get(at).cloned() {
        let children = parents.iter().filter(|(_, parent)| *parent == session);
        let children: Vec<String> = children.map(|(child, _)| child.clone()).collect();
        for child in children {
            if !sessions.contains(&child) {
                sessions.push(child);
            }
        }
        at += 1;
    }
    let mut patterns = Vec::new();
    for session in &sessions {
        let session = glob::Pattern::escape(session);
        patterns.push(format!("{session}.json"));
        patterns.push(format!("../../todo/{session}.json"));
        patterns.push(format!("../../message/{session}/*.json"));
        for message in matching(storage, &format!("message/{session}/*.json")) {
            let message = glob::Pattern::escape(&stem(&message).unwrap_or_default());
            patterns.push(format!("../../part/{message}/*.json"));
        }
    }
    Some(patterns)
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

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// The beginning of a file; empty if it cannot be read.
fn head_of(path: &Path) -> String {
    decoded(path)
        .and_then(|mut bytes| read_head(&mut bytes))
        .map(|head| String::from_utf8_lossy(&head).into_owned())
        .unwrap_or_default()
}

/// What to do with a directory that was named as an input.
pub(super) fn advice(folder: &Path) -> String {
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
