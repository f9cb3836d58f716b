//! The files that an agent keeps beside a session: its provider knows their
//! names, this finds and reads them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use unspool::source::{Provider, SavedFile};

use super::{HEAD, cannot_read, decompressed, read_head};

/// Name and content of each file that belongs to the session at `path`, whose
/// text begins with `head`.
pub(super) fn attachments(
    path: &Path,
    head: &[u8],
    provider: Provider,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let Some(related) = provider.related else {
        return Ok(Vec::new());
    };
    let session = SavedFile {
        path: slashed(path),
        head: String::from_utf8_lossy(head).into_owned(),
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut found: Vec<PathBuf> = (related.patterns)(&session.path)
        .iter()
        .flat_map(|pattern| matching(folder, pattern))
        .filter(|other| other.is_file() && !same_file(other, path))
        .collect();
    found.sort();
    found.dedup();
    // A file that cannot be read is told of when it is selected, not before.
    let heads: Vec<SavedFile> = found
        .iter()
        .map(|path| SavedFile {
            path: slashed(path),
            head: decoded(path)
                .and_then(|mut bytes| read_head(&mut bytes))
                .map(|head| String::from_utf8_lossy(&head).into_owned())
                .unwrap_or_default(),
        })
        .collect();
    (related.select)(&session, &heads)
        .into_iter()
        .filter_map(|index| found.get(index))
        .map(|path| {
            let mut bytes = Vec::with_capacity(HEAD);
            decoded(path)
                .and_then(|mut stream| stream.read_to_end(&mut bytes))
                .with_context(|| cannot_read(&path.display().to_string()))?;
            let name = path.file_name().unwrap_or_default();
            Ok((name.to_string_lossy().into_owned(), bytes))
        })
        .collect()
}

/// What to do with a directory that was named as an input.
pub(super) fn advice(folder: &Path) -> String {
    let sessions = [
        "opencode.db",
        "*.jsonl",
        "*/*.jsonl",
        "*/*/*.jsonl",
        "*.json",
        "*/*/*.json",
    ];
    let found = sessions
        .iter()
        .find_map(|pattern| matching(folder, pattern).into_iter().next());
    match found {
        Some(file) => format!("name a file in it, for example {}", file.display()),
        None => "name a session file".to_owned(),
    }
}

fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    glob::glob(&format!("{folder}/{pattern}"))
        .map(|paths| paths.filter_map(Result::ok).collect())
        .unwrap_or_default()
}

fn decoded(path: &Path) -> std::io::Result<Box<dyn Read + Send>> {
    decompressed(Box::new(File::open(path)?))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
