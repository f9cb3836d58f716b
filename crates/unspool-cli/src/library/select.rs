//! Which sessions are meant: filters, ids, beginnings of ids, files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::digest::State;
use super::{Library, Row, find, records};
use crate::agents;
use crate::cli::select::{Select, Which};
use crate::config::Config;

/// Ids that an error names.
const NAMED: usize = 8;

impl Select {
    /// The library that has to be looked at, not refreshed yet. If all that is
    /// asked for are files, nothing else is.
    pub(crate) fn library(&self) -> anyhow::Result<Library> {
        let files = self.names.iter().filter(|name| is_file(name));
        let files: Vec<PathBuf> = files
            .map(|name| {
                Path::new(name)
                    .canonicalize()
                    .unwrap_or_else(|_| name.into())
            })
            .collect();
        let only_files = !files.is_empty() && files.len() == self.names.len();
        let mut library = self.which.library()?;
        if only_files {
            library.agents.clear();
        }
        library.folders.extend(files);
        Ok(library)
    }

    /// The sessions that are asked for, in the library's order. Fails if a name
    /// means none or several.
    pub(crate) fn rows<'a>(&self, library: &'a Library) -> anyhow::Result<Vec<&'a Row>> {
        let mut rows = self.which.rows(library);
        if !self.names.is_empty() {
            let mut named = Vec::new();
            for name in &self.names {
                named.extend(by_name(library, name)?);
            }
            rows.retain(|row| named.iter().any(|one| std::ptr::eq(*one, *row)));
        }
        Ok(rows)
    }
}

impl Library {
    /// The library of these agents, or of all if none is named: their places, the
    /// folders of the configuration file, and those that were typed, which must be
    /// there. Every command that looks for sessions begins here.
    pub(crate) fn of(agents: &[String], typed: &[PathBuf]) -> anyhow::Result<Self> {
        let agents = agents::named(agents)?;
        let mut folders = Vec::new();
        for folder in Config::load()?.sessions.folders {
            match folder.canonicalize() {
                Ok(folder) => folders.push(folder),
                Err(error) => {
                    let (folder, reason) = (folder.display().to_string(), find::plain(&error));
                    let folder = unspool::sanitize::line(&folder);
                    let _ = writeln!(
                        io::stderr(),
                        "unspool: sessions.folders: {folder}: {reason}"
                    );
                }
            }
        }
        for folder in typed {
            // The same folder gives the same sessions, however it is called.
            match folder.canonicalize() {
                Ok(folder) => folders.push(folder),
                Err(error) => bail!("{}: {}", folder.display(), find::plain(&error)),
            }
        }
        Ok(Self::new(agents, folders))
    }
}

impl Which {
    /// The library that has to be looked at, not refreshed yet: the agents'
    /// places, the folders of the configuration file, and those that were typed.
    pub(crate) fn library(&self) -> anyhow::Result<Library> {
        Library::of(&self.agent, &self.places.folders)
    }

    /// The sessions that are asked for, in the library's order.
    pub(crate) fn rows<'a>(&self, library: &'a Library) -> Vec<&'a Row> {
        let rows = library.rows().iter();
        rows.filter(|row| self.admits(row)).collect()
    }

    fn admits(&self, row: &Row) -> bool {
        let digest = &row.digest;
        let since = self.since.map(jiff::Timestamp::as_millisecond);
        let until = self.until.map(jiff::Timestamp::as_millisecond);
        (self.agent.is_empty() || self.agent.contains(&digest.agent))
            && (!self.failed || matches!(row.state(), State::Failed | State::CutOff))
            && since.is_none_or(|since| row.ended() >= since)
            && until.is_none_or(|until| row.started() < until)
            && (self.project.as_deref()).is_none_or(|project| is_in(&digest.project, project))
    }
}

/// The sessions that a name means: those of a file, or the one with this id or
/// this beginning of an id.
fn by_name<'a>(library: &'a Library, name: &str) -> anyhow::Result<Vec<&'a Row>> {
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

/// The session with this id, or the only one whose id begins like this.
pub(crate) fn by_id<'a>(rows: &'a [Row], id: &str) -> anyhow::Result<&'a Row> {
    let is_exact = |row: &&Row| row.digest.id == id;
    let best = |rows: Vec<&'a Row>| rows.into_iter().max_by_key(|row| records::worth(row));
    if let Some(row) = best(rows.iter().filter(is_exact).collect()) {
        return Ok(row);
    }
    let wanted = id.to_lowercase();
    let begins = |row: &&Row| !id.is_empty() && row.digest.id.to_lowercase().starts_with(&wanted);
    let found: Vec<&Row> = rows.iter().filter(begins).collect();
    let mut ids: Vec<&str> = found.iter().map(|row| row.digest.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    match (ids.as_slice(), best(found.clone())) {
        ([_], Some(row)) => Ok(row),
        ([], _) | (_, None) => {
            let words = format!(
                "no session has the id {id}, and there is no such file: see unspool sessions"
            );
            Err(io::Error::new(io::ErrorKind::NotFound, words).into())
        }
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

fn is_file(name: &str) -> bool {
    Path::new(name).is_file()
}

/// Whether a project is this folder or lies below it, or has the word in its
/// path.
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
    use crate::library::digest::Digest;

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
        }
    }

    #[test]
    fn a_beginning_of_an_id_is_enough_if_only_one_has_it() {
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

    #[test]
    fn a_project_is_a_folder_or_a_word() {
        assert!(is_in("/home/me/Tally/app", "tally"));
        assert!(!is_in("/home/me/app", "tally"));
        assert!(is_in("/home/me/Tally/app", "me/tally"));
        assert!(is_in("/home/me/app", "/home/me"));
        assert!(!is_in("/home/meadow", "/home/me"));
    }
}
