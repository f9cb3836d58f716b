//! The few lines of a `Cargo.toml` that the checks read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, root};

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its folder.
    pub(crate) folder: PathBuf,
    pub(crate) is_published: bool,
    text: String,
}

impl Package {
    /// All packages of the workspace, sorted by folder.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let folders = fs::read_dir(root().join("crates")).map_err(|error| error.to_string())?;
        let mut folders: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
        folders.push(root().join("xtask"));
        folders.sort();
        folders.iter().map(|folder| Self::read(folder)).collect()
    }

    /// Reads the manifest in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("Cargo.toml");
        let text = read(&path)?;
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("name = \""))
            .and_then(|rest| rest.split('"').next());
        let name = name.ok_or_else(|| format!("{}: no name", path.display()))?;
        Ok(Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            is_published: !text.lines().any(|line| line == "publish = false"),
            text,
        })
    }

    /// The lines of a section, such as `dev-dependencies`, as names and values.
    pub(crate) fn section(&self, name: &str) -> Vec<(&str, &str)> {
        section(&self.text, name)
    }
}

/// The lines of a section as names and values. A name ends at the first dot, so that
/// `serde.workspace = true` is `serde`.
pub(crate) fn section<'a>(text: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let header = format!("[{name}]");
    let lines = text.lines().skip_while(|line| *line != header).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with(['#', ' ', '}', ']']))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| {
            let name = name.split('.').next().unwrap_or_default();
            (name.trim(), value.trim())
        })
        .collect()
}

/// The strings in double quotes.
pub(crate) fn strings(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// Reads a file; an error names it.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
