//! A session by what a person types: the prefix of an id.

use std::collections::BTreeSet;
use std::path::Path;

use crate::containers::Container;
use crate::copies;
use crate::error::{Error, Result, bail};
use crate::library::Library;
use crate::places::Skipped;
use crate::row::Row;
use crate::search;

/// Maximum number of sessions that an error lists.
const NAMED: usize = 8;

/// Returns the text of a path if it may be an id: it is one word, and no such file
/// exists.
pub fn id(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let may_be = !text.is_empty() && text.chars().all(is_word) && !text.starts_with('-');
    (may_be && !path.exists()).then_some(text)
}

impl Library {
    /// Returns the session with this id, or the only one with this prefix of an id. If
    /// it was skipped, the error gives the reason.
    pub fn by_id(&self, id: &str) -> Result<&Row> {
        let found = by_id(self.rows(), id);
        if !matches!(found, Err(Error::NoSuchSession(_))) {
            return found;
        }
        let wanted = id.to_lowercase();
        let is_meant = |skipped: &&Skipped| {
            let name = skipped.path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().to_lowercase();
            name.starts_with(&wanted) || name.contains(&format!("-{wanted}"))
        };
        if let Some(Skipped { path, reason, .. }) = self.skipped().iter().find(is_meant) {
            bail!("cannot read {}: {reason}", path.display());
        }
        if let Some(parent) = self.with_sub_agent(&wanted) {
            bail!("{id} is a sub-agent: it is shown in its session, unspool show {parent}");
        }
        found
    }

    /// Returns the id of the session of a sub-agent, by a prefix of the sub-agent's id.
    fn with_sub_agent(&self, beginning: &str) -> Option<String> {
        if beginning.is_empty() {
            return None;
        }
        let parent = |id: &str| {
            let mut records = self.sub_agents().iter();
            records.find(|(record, _)| record.to_lowercase().starts_with(id))
        };
        if let Some((_, found)) = parent(beginning) {
            let is_listed = |id: &str| self.rows().iter().any(|row| row.digest.id == id);
            let mut found = found;
            for _ in 0..self.sub_agents().len() {
                match parent(&found.to_lowercase()) {
                    Some((_, above)) if !is_listed(found) => found = above,
                    _ => break,
                }
            }
            return Some(found.clone());
        }
        let paths = self.rows().iter().map(|row| row.path.as_path());
        if let Some(path) = search::with_sub_agent(paths, beginning, self.agents()) {
            let row = self.rows().iter().find(|row| row.path == path);
            return row.map(|row| row.digest.id.clone());
        }
        let holds_several = self.rows().iter().filter(|row| !row.part.is_empty());
        let files: BTreeSet<&Path> = holds_several.map(|row| row.path.as_path()).collect();
        let mut files = files.into_iter();
        files.find_map(|path| {
            Container::open(path, self.agents())
                .ok()??
                .root_of(beginning)
        })
    }
}

/// Returns the session with this id, or the only one with this prefix of an id.
fn by_id<'a>(rows: &'a [Row], id: &str) -> Result<&'a Row> {
    let is_exact = |row: &&Row| row.digest.id == id;
    let best = |rows: Vec<&'a Row>| rows.into_iter().max_by_key(|row| copies::completeness(row));
    if let Some(row) = best(rows.iter().filter(is_exact).collect()) {
        return Ok(row);
    }
    let wanted = id.to_lowercase();
    let has_prefix =
        |row: &&Row| !id.is_empty() && row.digest.id.to_lowercase().starts_with(&wanted);
    let found: Vec<&Row> = rows.iter().filter(has_prefix).collect();
    let mut ids: Vec<&str> = found.iter().map(|row| row.digest.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    match (ids.as_slice(), best(found.clone())) {
        ([_], Some(row)) => Ok(row),
        ([], _) | (_, None) => Err(Error::NoSuchSession(id.to_owned())),
        (several, _) => {
            let mut lines: Vec<String> =
                found.iter().take(NAMED).map(|row| described(row)).collect();
            if several.len() > NAMED {
                lines.push(format!("  and {} more", several.len() - NAMED));
            }
            bail!("{id} may be any of these:\n{}", lines.join("\n"))
        }
    }
}

fn described(row: &Row) -> String {
    let digest = &row.digest;
    let text = format!("  {}  {}  {}", digest.id, digest.agent, digest.heading());
    let span = unspool::doc::Span::clean(&text, unspool::doc::Style::default());
    let cut = unspool::layout::truncated(&[span], 100);
    cut.into_iter().map(|span| span.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agents;
    use crate::digest::Digest;
    use std::path::PathBuf;

    fn row(id: &str, modified: i64) -> Row {
        Row {
            number: None,
            path: PathBuf::from("/x"),
            part: String::new(),
            modified,
            stamp: 0,
            digest: Digest {
                id: id.to_owned(),
                prompt: "Fix\u{1b}[31m it".to_owned(),
                ..Digest::default()
            },
            ledger: None,
            is_being_written: None,
            agents: Agents::new(&[]),
        }
    }

    #[test]
    fn a_unique_prefix_of_an_id_is_enough() {
        let rows = [
            row("abc-1", 1),
            row("abc-2", 2),
            row("Xyz", 3),
            row("abc-2", 4),
        ];
        assert_eq!(by_id(&rows, "xY").unwrap().modified, 3);
        assert_eq!(by_id(&rows, "abc-2").unwrap().modified, 4);
        assert_eq!(by_id(&rows, "abc-1").unwrap().modified, 1);
        let several = by_id(&rows, "ab").unwrap_err().to_string();
        assert!(several.contains("  abc-1") && several.contains("  abc-2"));
        assert!(several.contains("Fix\\x1B[31m it"), "{several}");
        let none = by_id(&rows, "q").unwrap_err().to_string();
        assert!(none.contains("unspool sessions"));
        assert!(by_id(&rows, "").is_err());
    }
}
