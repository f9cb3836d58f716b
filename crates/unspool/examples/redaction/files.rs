//! Reads ordinary text, and compares it with its redacted form.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Larger files are data.
const LARGEST: u64 = 8_000_000;

pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Reads all text files of the paths.
pub(crate) fn read(paths: impl Iterator<Item = PathBuf>) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        collect(&path, &mut files);
    }
    files
}

fn collect(path: &Path, files: &mut Vec<File>) {
    let Ok(about) = fs::symlink_metadata(path) else {
        return;
    };
    if about.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| !path.ends_with(".git") && !path.ends_with("target"))
            .collect();
        inside.sort();
        for path in &inside {
            collect(path, files);
        }
    } else if about.is_file()
        && about.len() <= LARGEST
        && let Ok(text) = fs::read_to_string(path)
    {
        files.push(File {
            path: path.to_owned(),
            text,
        });
    }
}

/// A line in which something was replaced.
pub(crate) struct Replaced {
    pub(crate) line: usize,
    pub(crate) kinds: Vec<String>,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Returns the lines with more labels of secrets than before. Personal data is
/// not counted.
pub(crate) fn replaced(before: &str, after: &str) -> Vec<Replaced> {
    let label = Regex::new(r"\[([A-Za-z][A-Za-z0-9. ]{2,30}?) \d+\]").expect("a pattern");
    let kinds = |line: &str| -> Vec<String> {
        let found = label.captures_iter(line).map(|found| found[1].to_owned());
        found.filter(|kind| kind != "email").collect()
    };
    let is_aligned = before.lines().count() == after.lines().count();
    let mut befores = before.lines();
    let mut replaced = Vec::new();
    for (number, line) in after.lines().enumerate() {
        let original = if is_aligned {
            befores.next().unwrap_or_default()
        } else {
            ""
        };
        if line == original || !line.contains('[') {
            continue;
        }
        let mut new = kinds(line);
        for kind in kinds(original) {
            if let Some(at) = new.iter().position(|other| *other == kind) {
                new.swap_remove(at);
            }
        }
        if is_aligned && !new.is_empty() || new.iter().any(|_| !before.contains(line)) {
            replaced.push(Replaced {
                line: number + 1,
                kinds: new,
                before: shortened(original, line),
                after: shortened(line, original),
            });
        }
    }
    replaced
}

/// Returns the part of a line that differs from the other one.
fn shortened(line: &str, other: &str) -> String {
    let same = line.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    let from = same.count().saturating_sub(60);
    line.chars().skip(from).take(200).collect()
}
