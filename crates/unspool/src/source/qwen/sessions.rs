//! Where Qwen Code keeps sessions and the records of their sub-agents.

use std::path::Path;

use crate::source::{Folder, Place, Related, Saved, SavedFile};

const PATTERNS: &[&str] = &["projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"];

pub(super) const SAVED: Saved = Saved {
    related: Some(Related::new(patterns, Related::ALL)),
    beside: &["../subagents/{stem}/*"],
    parent: |file| {
        let is_sub_agents = file.path.split('/').any(|part| part == "subagents");
        is_sub_agents.then(String::new)
    },
    record_id,
    ..Saved::new(&[
        Place::named("QWEN_RUNTIME_DIR", &Folder::Current, PATTERNS),
        Place::variable("QWEN_HOME", ".qwen", "", PATTERNS),
    ])
};

/// `chats/ID.jsonl` → `subagents/ID/agent-….jsonl` and `.meta.json`.
pub(super) fn patterns(session: &SavedFile, _found: &[SavedFile]) -> Vec<String> {
    let mut names = session.path.rsplit('/');
    let stem = names.next().and_then(|name| name.strip_suffix(".jsonl"));
    match (stem, names.next()) {
        (Some(id), Some("chats")) => ["jsonl", "meta.json"]
            .iter()
            .map(|ending| format!("../subagents/{id}/agent-*.{ending}"))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the id of a sub-agent: `subagents/SESSION/agent-ID.jsonl`.
fn record_id(path: &Path) -> Option<&str> {
    let is_sub_agents = path.parent()?.parent()?.ends_with("subagents");
    let id = path.file_stem()?.to_str()?.strip_prefix("agent-")?;
    is_sub_agents.then_some(id)
}
