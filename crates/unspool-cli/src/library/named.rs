//! A session by what a person types: a file, or the beginning of an id, or the
//! newest one. Commands that show one session ask here.

use std::path::{Path, PathBuf};

use anyhow::bail;
use unspool::source::Provider;

use super::{Library, Row, records};
use crate::cli::select::{Places, Which};
use crate::input::{self, Input};

/// Opens what a person named: a file if there is one, or else the session whose
/// id begins like this, also in these folders.
pub(crate) fn open(
    path: &Path,
    from: Option<Provider>,
    folders: &[PathBuf],
) -> anyhow::Result<Vec<Input>> {
    match id(path) {
        Some(id) => Library::input(&session(id, folders)?),
        None => input::open(path, from),
    }
}

/// The file that a person named, or that holds the session whose id begins like
/// this.
pub(crate) fn file(path: &Path, folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
    match id(path) {
        Some(id) => Ok(session(id, folders)?.path),
        None => Ok(path.to_owned()),
    }
}

/// What may be an id: there is no such file, and no file has such a name.
pub(crate) fn id(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let may_be = !text.is_empty() && text.chars().all(is_word) && !text.starts_with('-');
    (may_be && !path.exists()).then_some(text)
}

/// The session on this machine, or in these folders, whose id begins like this.
pub(crate) fn session(id: &str, folders: &[PathBuf]) -> anyhow::Result<Row> {
    let mut library = Library::of(&[], folders)?;
    library.refresh_shown();
    library.by_id(id).cloned()
}

/// The session that was last worked on, as it tells itself: of this agent, or of
/// any.
pub(crate) fn latest(agent: Option<&str>, folders: &[PathBuf]) -> anyhow::Result<Row> {
    let which = Which {
        agent: agent.into_iter().map(str::to_owned).collect(),
        places: Places {
            folders: folders.to_vec(),
        },
        ..Which::default()
    };
    let mut library = which.library()?;
    library.refresh_shown();
    // Of the same moment: as they are listed, where the first is the newest.
    let rows = records::once(which.rows(&library)).into_iter().rev();
    let newest = rows.max_by_key(|row| (row.latest(), row.started()));
    match newest {
        Some(row) => Ok(row.clone()),
        None => bail!(
            "found no session of {} on this machine: name a file",
            agent.unwrap_or("any agent")
        ),
    }
}
