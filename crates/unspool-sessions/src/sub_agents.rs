//! Records of sub-agents that lie among the sessions: Codex's, and those in
//! OpenCode's old storage.
//!
//! A session is what it says and what its sub-agents do: when one of their records
//! changes, the session does. Which session a record belongs to stands at its
//! beginning, which is read only when the record is new or has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::places::{self, Candidate};
use crate::related::parent_thread;
use crate::store::Known;

/// Sub-agents of sub-agents that are followed.
const GENERATIONS: usize = 100;
/// Characters of an id.
const ID: usize = 36;

/// Says of each record which session it belongs to, and lets that session be as
/// new and as large as all its records.
pub(crate) fn adopt(candidates: &mut [Candidate], known: &HashMap<PathBuf, Known>) {
    let mut by_id = HashMap::new();
    for (at, file) in candidates.iter_mut().enumerate() {
        if let Some(id) = id(&file.path) {
            by_id.insert(id, at);
            file.parent = match known.get(&file.path) {
                Some(known) if known.size == file.size && known.modified == file.modified => {
                    known.parent.clone()
                }
                _ => parent_thread(&file.path).unwrap_or_default(),
            };
        }
    }
    let records: Vec<(usize, i64, u64)> = candidates
        .iter()
        .filter_map(|file| Some((origin(candidates, &by_id, file)?, file.modified, file.size)))
        .collect();
    for (origin, modified, size) in records {
        if let Some(session) = candidates.get_mut(origin) {
            session.modified = session.modified.max(modified);
            session.size = session.size.saturating_add(size);
        }
    }
}

/// The records of sub-agents: id, and that of the session that each belongs to.
pub(crate) fn sub_agents(candidates: &[Candidate]) -> impl Iterator<Item = (String, String)> {
    let records = candidates.iter().filter(|file| !file.parent.is_empty());
    records.filter_map(|file| Some((id(&file.path)?, file.parent.clone())))
}

/// The session that a record of a sub-agent goes back to.
fn origin(
    candidates: &[Candidate],
    by_id: &HashMap<String, usize>,
    file: &Candidate,
) -> Option<usize> {
    let mut origin = None;
    let mut parent = &file.parent;
    for _ in 0..GENERATIONS {
        let Some(at) = by_id.get(parent) else { break };
        origin = Some(*at);
        parent = &candidates.get(*at)?.parent;
    }
    origin
}

/// The id in the name of a record: `rollout-TIME-ID.jsonl`, also compressed, or
/// `ses_ID.json`.
fn id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if places::is_stored(path) {
        return name.strip_suffix(".json").map(str::to_owned);
    }
    let stem = name.strip_prefix("rollout-")?.split(".jsonl").next()?;
    let from = stem.len().checked_sub(ID)?;
    stem.get(from..).map(str::to_owned)
}
