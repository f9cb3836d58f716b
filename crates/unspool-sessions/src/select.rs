//! Selects sessions: filters, ids, prefixes of ids, files.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::copies;
use crate::digest::State;
use crate::error::{Result, bail};
use crate::library::Library;
use crate::places::Places;
use crate::row::Row;

/// The sessions that are asked for. The default selects all of them.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only sessions of these agents, if any are named.
    pub agents: Vec<String>,
    /// Only sessions that worked in this folder or below it, or whose folder's path
    /// contains this word.
    pub project: Option<String>,
    /// Only sessions that were worked on at or after this time.
    pub since: Option<Timestamp>,
    /// Only sessions that started before this time.
    pub until: Option<Timestamp>,
    /// Only sessions that failed or were cut off.
    pub failed: bool,
    /// Only sessions with these ids or prefixes of ids, or in these files, if any
    /// are named.
    pub names: Vec<String>,
}

impl Selection {
    /// Adds the files that are named to the places. If nothing but files is named,
    /// the agents' own places are not looked into.
    pub fn add_files(&self, places: &mut Places) {
        let files = self.names.iter().filter(|name| is_file(name));
        let files: Vec<PathBuf> = files
            .map(|name| {
                Path::new(name)
                    .canonicalize()
                    .unwrap_or_else(|_| name.into())
            })
            .collect();
        if !files.is_empty() && files.len() == self.names.len() {
            places.agents.clear();
        }
        places.folders.extend(files);
    }

    /// Returns the sessions that are selected, in the library's order. Fails if a
    /// name means none or several.
    pub fn rows<'a>(&self, library: &'a Library) -> Result<Vec<&'a Row>> {
        let mut rows = self.filtered(library);
        if !self.names.is_empty() {
            let mut named = Vec::new();
            for name in &self.names {
                named.extend(by_name(library, name)?);
            }
            rows.retain(|row| named.iter().any(|one| std::ptr::eq(*one, *row)));
        }
        Ok(rows)
    }

    /// Returns the sessions that pass the filters, whatever their names, in the
    /// library's order.
    pub fn filtered<'a>(&self, library: &'a Library) -> Vec<&'a Row> {
        let rows = library.rows().iter();
        rows.filter(|row| self.admits(row)).collect()
    }

    /// Returns the session that was last worked on, according to the sessions
    /// themselves, of those that pass the filters.
    pub fn latest<'a>(&self, library: &'a Library) -> Option<&'a Row> {
        // Of several with the same time, the first in the list is the newest.
        let rows = copies::once(self.filtered(library)).into_iter().rev();
        rows.max_by_key(|row| (row.latest(), row.started()))
    }

    fn admits(&self, row: &Row) -> bool {
        let digest = &row.digest;
        let since = self.since.map(Timestamp::as_millisecond);
        let until = self.until.map(Timestamp::as_millisecond);
        (self.agents.is_empty() || self.agents.contains(&digest.agent))
            && (!self.failed || matches!(row.state(), State::Failed | State::CutOff))
            && since.is_none_or(|since| row.ended() >= since)
            && until.is_none_or(|until| row.started() < until)
            && (self.project.as_deref()).is_none_or(|project| is_in(&digest.project, project))
    }
}

/// Returns the sessions of a file, or the one with this id or prefix of an id.
fn by_name<'a>(library: &'a Library, name: &str) -> Result<Vec<&'a Row>> {
    if is_file(name) {
        let path = Path::new(name).canonicalize()?;
        let is_its = |row: &&Row| row.path.canonicalize().is_ok_and(|other| other == path);
        let rows: Vec<&Row> = library.rows().iter().filter(is_its).collect();
        if rows.is_empty() {
            bail!("{name} holds no session");
        }
        return Ok(rows);
    }
    if Path::new(name).is_dir() {
        bail!("{name} is a folder: look into it with --in {name}");
    }
    Ok(vec![library.by_id(name)?])
}

fn is_file(name: &str) -> bool {
    Path::new(name).is_file()
}

/// Returns true if a project is this folder or below it, or its path contains the word.
fn is_in(project: &str, wanted: &str) -> bool {
    let is_path = wanted.starts_with(['/', '.']) || Path::new(wanted).is_dir();
    if !is_path {
        return project.to_lowercase().contains(&wanted.to_lowercase());
    }
    let absolute = std::path::absolute(wanted).unwrap_or_default();
    let real = Path::new(wanted).canonicalize();
    let project = Path::new(project);
    project.starts_with(absolute) || real.is_ok_and(|real| project.starts_with(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_a_folder_or_a_word() {
        assert!(is_in("/home/me/Tally/app", "tally"));
        assert!(!is_in("/home/me/app", "tally"));
        assert!(is_in("/home/me/Tally/app", "me/tally"));
        assert!(is_in("/home/me/app", "/home/me"));
        assert!(!is_in("/home/meadow", "/home/me"));
    }
}
