//! Records of sub-agents that lie among the sessions.
//!
//! A session changes when the record of one of its sub-agents does. The session that a
//! record belongs to is named at its start, which is read only when the record is new
//! or has changed.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::agents::Agents;
use crate::places::Candidate;
use crate::related::parent_id;
use crate::store::Known;

/// Sub-agents of sub-agents that are followed.
const GENERATIONS: usize = 100;

/// Sets the parent of each record, and makes each session as new and as large as all
/// its records.
pub(crate) fn adopt(candidates: &mut [Candidate], known: &HashMap<PathBuf, Known>, agents: Agents) {
    let mut by_id = HashMap::new();
    for (at, file) in candidates.iter_mut().enumerate() {
        if let Some(id) = agents.record_id(&file.path) {
            by_id.insert(id.to_owned(), at);
            file.parent = match known.get(&file.path) {
                Some(known) if known.size == file.size && known.modified == file.modified => {
                    known.parent.clone()
                }
                _ => parent_id(&file.path, agents),
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

/// Returns the records of sub-agents: their ids, and those of their parents.
pub(crate) fn sub_agents(
    candidates: &[Candidate],
    agents: Agents,
) -> impl Iterator<Item = (String, String)> {
    let records = candidates.iter().filter(|file| !file.parent.is_empty());
    records.filter_map(move |file| {
        let id = agents.record_id(&file.path)?;
        Some((id.to_owned(), file.parent.clone()))
    })
}

/// Returns the position of the session that the record of a sub-agent goes back to.
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
