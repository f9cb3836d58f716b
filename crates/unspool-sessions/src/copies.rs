//! Several records of one session, such as a database and an export of it, or the
//! agent's own file and a saved live stream.
//!
//! The most complete record represents the session in lists, by its id and in
//! statistics. A project or title that it lacks is taken from the others.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::digest::Digest;
use crate::row::Row;

/// Shortest id treated as globally unique. One of 19 characters may be a time to
/// the second, which two agents can share.
const UNIQUE: usize = 20;

/// The key that all records of a session share: agent and id. The agent is left out for
/// unique ids, because a log of the protocol has the same id as the agent's own record.
/// The file is part of it for conversations that unspool recorded: simple agents reuse
/// their ids.
pub(crate) type SessionKey = (String, String, Option<PathBuf>);

/// Returns the key of the session that a record belongs to.
pub(crate) fn key(row: &Row) -> SessionKey {
    let file = row.is_record().then(|| row.path.clone());
    let Digest { agent, id, .. } = &row.digest;
    let agent = if is_unique(id) { "" } else { agent.as_str() };
    (agent.to_owned(), id.clone(), file)
}

fn is_unique(id: &str) -> bool {
    id.len() >= UNIQUE
}

/// Drops the conversations that unspool recorded and the agent keeps itself. The
/// agents' names are not compared: a person may have given the agent another one.
pub(crate) fn drop_records(rows: &mut Vec<Row>) {
    let others = rows.iter().filter(|row| !row.is_record());
    let ids = others.map(|row| &row.digest.id).filter(|id| is_unique(id));
    let kept: BTreeSet<String> = ids.cloned().collect();
    rows.retain(|row| !row.is_record() || !kept.contains(&row.digest.id));
}

/// Returns how complete a record is: the greatest of a session represents it. Usage with
/// times counts more than a bare total.
pub(crate) fn completeness(row: &Row) -> impl Ord + use<> {
    let digest = &row.digest;
    let span = digest.ended.zip(digest.started);
    let span = span.map(|(ended, started)| ended.saturating_sub(started));
    (
        digest.timed_usage > 0,
        (digest.turns, digest.tools, digest.figures.tokens()),
        (digest.errors, digest.timed_usage, span),
        !digest.project.is_empty(),
        (row.modified, row.path.clone(), row.part.clone()),
    )
}

/// Returns each session once, by its most complete record.
pub fn once(mut rows: Vec<&Row>) -> Vec<&Row> {
    let mut best: HashMap<SessionKey, &Row> = HashMap::new();
    for row in &rows {
        let known = best.entry(key(row)).or_insert(row);
        if completeness(row) > completeness(known) {
            *known = row;
        }
    }
    rows.retain(|row| {
        let best = best.get(&key(row));
        best.is_some_and(|best| std::ptr::eq(*best, *row))
    });
    rows
}

/// Fills what a record lacks from the other records of its session.
pub(crate) fn complete(rows: &mut [Row]) {
    let mut records: HashMap<SessionKey, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        records.entry(key(row)).or_default().push(at);
    }
    for records in records.into_values().filter(|records| records.len() > 1) {
        let digests = records.iter().filter_map(|at| rows.get(*at));
        let digests: Vec<Digest> = digests.map(|row| row.digest.clone()).collect();
        for at in records {
            if let Some(row) = rows.get_mut(at) {
                for other in &digests {
                    fill(&mut row.digest, other);
                }
            }
        }
    }
}

fn fill(digest: &mut Digest, other: &Digest) {
    for (own, other) in [
        (&mut digest.version, &other.version),
        (&mut digest.project, &other.project),
        (&mut digest.title, &other.title),
        (&mut digest.prompt, &other.prompt),
        (&mut digest.forked_from, &other.forked_from),
    ] {
        if own.is_empty() {
            own.clone_from(other);
        }
    }
    if digest.models.is_empty() {
        digest.models.clone_from(&other.models);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, tools: u64, modified: i64) -> Row {
        Row {
            number: None,
            path: PathBuf::from("/x"),
            part: String::new(),
            modified,
            stamp: 0,
            digest: Digest {
                id: id.to_owned(),
                tools,
                ..Digest::default()
            },
            ledger: None,
            is_being_written: None,
            agents: crate::agents::Agents::new(&[]),
        }
    }

    #[test]
    fn the_most_complete_record_represents_a_session() {
        let rows = [row("a", 2, 1), row("b", 0, 2), row("a", 1, 3)];
        let listed = once(rows.iter().collect());
        let listed: Vec<i64> = listed.into_iter().map(|row| row.modified).collect();
        assert_eq!(listed, [1, 2]);
        let rows = [row("a", 2, 1), row("a", 2, 3)];
        let listed = once(rows.iter().collect());
        assert_eq!(listed[0].modified, 3);
    }

    #[test]
    fn a_log_of_the_protocol_is_a_record_of_the_same_session() {
        let id = "01a1e076-f72b-7fa0-8712-61a75c8ccfe5";
        let mut rows = [row(id, 1, 1), row(id, 2, 2), row("7", 1, 3), row("7", 1, 4)];
        rows[1].digest.agent = "acp".to_owned();
        rows[3].digest.agent = "acp".to_owned();
        let listed = once(rows.iter().collect());
        let listed: Vec<i64> = listed.into_iter().map(|row| row.modified).collect();
        assert_eq!(listed, [2, 3, 4]);
    }

    #[test]
    fn a_record_is_completed_from_the_others() {
        let mut rows = [row("a", 2, 1), row("b", 0, 2), row("a", 1, 3)];
        rows[2].digest.project = "/p".to_owned();
        complete(&mut rows);
        let projects = rows.iter().map(|row| row.digest.project.as_str());
        assert_eq!(projects.collect::<Vec<_>>(), ["/p", "", "/p"]);
    }
}
