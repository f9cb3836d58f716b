//! Where Claude Code keeps sessions and the records of their sub-agents.

use std::path::Path;

use super::wire::Line;
use crate::source::{Place, Related, Saved, SavedFile};

const PATTERNS: &[&str] = &["projects/*/*.jsonl"];

pub(super) const SAVED: Saved = Saved {
    skipped_folders: &["tool-results"],
    related: Some(Related::new(patterns, select)),
    beside: &["{stem}/subagents/*"],
    parent: |file| {
        let is_sub_agents = file.path.split('/').any(|part| part == "subagents");
        is_sub_agents.then(String::new)
    },
    record_id,
    machine_prompts: &[
        "<command-",
        "<local-command",
        "<system-reminder",
        "Caveat: The messages below",
    ],
    ..Saved::new(&[
        Place::variable("CLAUDE_CONFIG_DIR", ".claude", "", PATTERNS),
        Place::variable("XDG_CONFIG_HOME", ".config", "claude", PATTERNS),
    ])
};

/// Returns the id of a sub-agent: `subagents/agent-ID.jsonl`.
fn record_id(path: &Path) -> Option<&str> {
    let is_sub_agents = path.parent()?.ends_with("subagents");
    let id = path.file_stem()?.to_str()?.strip_prefix("agent-")?;
    is_sub_agents.then_some(id)
}

/// Returns where the records of a session's sub-agents are: in its folder, and,
/// in older versions, beside it. A fork copies the calls of its origin, but not the
/// records.
pub(super) fn patterns(session: &SavedFile, _found: &[SavedFile]) -> Vec<String> {
    let path = session.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.starts_with("agent-") {
        return Vec::new();
    }
    let mut patterns = vec![format!("{stem}/subagents/*"), "agent-*.jsonl".to_owned()];
    let mut copied = session
        .head
        .lines()
        .filter(|line| line.contains("forkedFrom"));
    let origin = copied.find_map(|line| Some(Line::parse(line)?.origin_session()));
    let origin = origin.filter(|id| is_id(id));
    // The fork may have been made in another project.
    let of_origin = |id| {
        [
            format!("{id}/subagents/*"),
            format!("../*/{id}/subagents/*"),
        ]
    };
    patterns.extend(origin.into_iter().flat_map(of_origin));
    patterns
}

/// Returns true for a text that is the name of a folder and no pattern.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Selects all files in the session's folder, and those beside it that name the
/// session.
pub(super) fn select(session: &SavedFile, found: &[SavedFile]) -> Vec<usize> {
    let id = session.head.lines().find_map(session_of);
    let belongs = |file: &SavedFile| {
        let mut lines = file.head.lines().filter_map(Line::parse);
        file.path.contains("/subagents/")
            || lines.any(|line| id.is_some() && line.saved_in.str().as_deref() == id.as_deref())
    };
    (0..found.len())
        .filter(|index| found.get(*index).is_some_and(belongs))
        .collect()
}

/// Returns the session that a line was saved in.
pub(super) fn session_of(line: &str) -> Option<String> {
    Line::parse(line)?.saved_in.str().map(String::from)
}
