//! Where Gemini CLI keeps sessions and the records of their sub-agents.

use std::path::Path;

use serde_json::Value;

use crate::json::Json;
use crate::source::{Place, ReadFile, Related, Saved, SavedFile};

pub(super) const SAVED: Saved = Saved {
    related: Some(Related::new(patterns, select)),
    beside: &["{id}*/*"],
    parent: |file| {
        let first = file.head.lines().next().unwrap_or_default();
        let is_sub_agents = first.contains("\"kind\":\"subagent\"");
        is_sub_agents.then(String::new)
    },
    project,
    ..Saved::new(&[Place::variable(
        "GEMINI_CLI_HOME",
        "",
        ".gemini",
        &["tmp/*/chats/*.jsonl", "tmp/*/chats/*.json"],
    )])
};

/// Returns where the records of sub-agents are: in a folder named after the
/// session's id. The name of the session's file ends with the id's first eight
/// digits.
pub(super) fn patterns(session: &SavedFile, _found: &[SavedFile]) -> Vec<String> {
    let path = session.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    stem.strip_prefix("session-")
        .and_then(|stem| stem.rsplit('-').next())
        .filter(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_alphanumeric()))
        .map(|id| format!("{id}*/*.jsonl"))
        .into_iter()
        .collect()
}

pub(super) fn select(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let header = session.head.lines().next().and_then(Json::parse);
    let id = header.map_or_else(String::new, |json| json.get("sessionId").string());
    let folder = |path: &str| path.rsplit('/').nth(1).map(str::to_owned);
    let belongs = |path: &str| id.is_empty() || folder(path).as_ref() == Some(&id);
    (0..found.len())
        .filter(|index| found.get(*index).is_some_and(|file| belongs(&file.path)))
        .collect()
}

/// Returns the project of a chat. Its folder has a short name; the path is in a
/// file beside the chats, or in a list of all projects.
fn project(chat: &Path, read: ReadFile<'_>) -> Option<String> {
    let chats = chat.parent().filter(|folder| folder.ends_with("chats"))?;
    let folder = chats.parent()?;
    if let Some(root) = read(&folder.join(".project_root")) {
        return Some(root.trim().to_owned());
    }
    let list = read(&folder.parent()?.parent()?.join("projects.json"))?;
    let list: Value = serde_json::from_str(&list).ok()?;
    let name = folder.file_name()?.to_str()?;
    let mut projects = list.get("projects")?.as_object()?.iter();
    let project = projects.find(|(_, short)| short.as_str() == Some(name));
    project.map(|(path, _)| path.clone())
}
