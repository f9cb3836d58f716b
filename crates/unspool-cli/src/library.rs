//! The library of saved sessions as this program uses it: with this user's
//! environment and settings, and a bar while it is read.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use unspool::sanitize;
use unspool::source::Provider;
use unspool_acp::record;
use unspool_sessions::agents::Environment;
use unspool_sessions::input::Input;
use unspool_sessions::library::Library;
use unspool_sessions::places::{Places, Records};
use unspool_sessions::resolve;
use unspool_sessions::row::Row;
use unspool_sessions::select::Selection;

use crate::agents;
use crate::cli::select::{Select, Which};
use crate::config::{self, Config};
use crate::input;
use crate::progress::Bar;

/// Returns the places of these agents, or of all if none is named, with the folders
/// of the configuration file and those that were typed, which must exist. Every
/// command that looks for sessions starts here.
pub(crate) fn places(agents: &[String], typed: &[PathBuf]) -> anyhow::Result<Places> {
    let mut places = Places {
        known: agents::known(),
        agents: agents::known().named(agents)?,
        environment: environment(),
        folders: Vec::new(),
        records: config::records().ok().map(|folder| Records {
            folder,
            is_being_written: record::is_written,
        }),
        cache: config::cache_folder(),
    };
    for folder in Config::load()?.sessions.folders {
        if let Err(error) = places.add_folder(&folder) {
            let error = error.to_string();
            let error = sanitize::line(&error);
            let _ = writeln!(io::stderr(), "unspool: sessions.folders: {error}");
        }
    }
    for folder in typed {
        places.add_folder(folder)?;
    }
    Ok(places)
}

/// Returns this user's environment.
fn environment() -> Environment {
    Environment {
        home: env::home_dir().unwrap_or_default(),
        current: env::current_dir().unwrap_or_default(),
        variable: |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        },
    }
}

/// Returns the sessions of these places, read with a bar if that takes a while.
pub(crate) fn read(places: Places) -> Library {
    let mut library = Library::new(places);
    let mut bar = Bar::new("Reading sessions");
    library.refresh(&mut |progress| bar.set(progress.done, progress.total));
    library
}

/// Returns the sessions of the places that the arguments name.
pub(crate) fn of(which: &Which) -> anyhow::Result<Library> {
    Ok(read(places(&which.agent, &which.places.folders)?))
}

/// Returns the sessions of the places that the arguments name, and of the files
/// among the names.
pub(crate) fn with_files(select: &Select) -> anyhow::Result<Library> {
    let which = &select.which;
    let mut places = places(&which.agent, &which.places.folders)?;
    select.selection().add_files(&mut places);
    Ok(read(places))
}

/// Opens what a person named: a file if there is one, or else the session with this
/// id or prefix of an id, also in these folders.
pub(crate) fn open(
    path: &Path,
    from: Option<&Provider>,
    folders: &[PathBuf],
) -> anyhow::Result<Vec<Input>> {
    match resolve::id(path) {
        Some(id) => Ok(session(id, folders)?.open()?),
        None => input::open(path, from),
    }
}

/// Returns the file that a person named, or that holds the session with this id or
/// prefix of an id.
pub(crate) fn file(path: &Path, folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
    match resolve::id(path) {
        Some(id) => Ok(session(id, folders)?.path),
        None => Ok(path.to_owned()),
    }
}

/// Returns the session on this machine, or in these folders, with this id or prefix
/// of an id.
pub(crate) fn session(id: &str, folders: &[PathBuf]) -> anyhow::Result<Row> {
    let library = read(places(&[], folders)?);
    Ok(library.by_id(id).cloned()?)
}

/// Returns the most recently active session of this agent, or of any, by the times
/// in the sessions.
pub(crate) fn latest(agent: Option<&str>, folders: &[PathBuf]) -> anyhow::Result<Row> {
    let selection = Selection {
        agents: agent.into_iter().map(str::to_owned).collect(),
        ..Selection::default()
    };
    let library = read(places(&selection.agents, folders)?);
    match selection.latest(&library) {
        Some(row) => Ok(row.clone()),
        None => bail!(
            "found no session of {} on this machine: give a file instead. It looked in:\n{}",
            agent.unwrap_or("any agent"),
            looked_in(&library)
        ),
    }
}

/// Returns the folders that were searched, each in a line, with the agents' names.
pub(crate) fn looked_in(library: &Library) -> String {
    let mut searched = library.searched();
    searched.sort_by_key(|(agent, _)| (agent.is_empty(), *agent));
    let name = |agent: &'static str| if agent.is_empty() { "--in" } else { agent };
    let width = searched.iter().map(|(agent, _)| name(agent).len()).max();
    let width = width.unwrap_or_default();
    let folder = |folder: &PathBuf| {
        let missing = if folder.exists() { "" } else { " (not there)" };
        let folder = folder.to_string_lossy();
        format!("{}{missing}", sanitize::line(&at_home(&folder)))
    };
    let mut lines = Vec::new();
    for (agent, folders) in searched {
        let mut name = name(agent);
        for path in &folders {
            lines.push(format!("  {name:width$}  {}", folder(path)));
            name = "";
        }
    }
    lines.join("\n")
}

/// Abbreviates the home directory in a path to `~`.
pub(crate) fn at_home(path: &str) -> String {
    let home = env::home_dir().unwrap_or_default();
    let home = home.to_string_lossy();
    match path.strip_prefix(&*home) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("~{rest}")
        }
        _ => path.to_owned(),
    }
}
