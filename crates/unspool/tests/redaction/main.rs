//! Holds the two figures of redaction: the share of generated secrets that is
//! found, and what is replaced in ordinary code. `bench/redaction` prints both in
//! full; `docs/redaction.md` publishes them.

mod kinds;
mod secrets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use unspool::redact::Redactor;

/// Secrets that may stay, of each thousand.
const MISSED: usize = 3;

#[test]
fn generated_secrets_are_found() {
    let cases = secrets::cases();
    let kinds: BTreeSet<&str> = cases.iter().map(|case| case.kind).collect();
    let contexts: BTreeSet<&str> = cases.iter().map(|case| case.context).collect();
    assert!(cases.len() >= 300 && kinds.len() >= 60 && contexts.len() >= 8);
    let missed: Vec<String> = cases
        .iter()
        .filter(|case| {
            let redacted = Redactor::new().text(&case.text);
            !case.is_hidden_in(redacted.as_deref().unwrap_or(&case.text))
        })
        .map(|case| format!("{} in {}: {:?}", case.kind, case.context, case.text))
        .collect();
    assert!(
        missed.len() * 1000 <= cases.len() * MISSED,
        "{} of {} secrets are missed:\n{}",
        missed.len(),
        cases.len(),
        missed.join("\n")
    );
}

#[test]
fn the_generated_cases_contain_their_secrets() {
    for case in secrets::cases() {
        assert!(
            !case.is_hidden_in(&case.text) || case.context == "URL" || case.text.contains('%'),
            "{} in {}: {:?}",
            case.kind,
            case.context,
            case.text
        );
    }
}

/// Files that contain secrets on purpose, because they are about them.
const ABOUT_SECRETS: &[&str] = &[
    "crates/unspool/src/redact/",
    "crates/unspool/tests/redaction/",
    "crates/unspool/README.md",
    "crates/unspool-cli/tests/export.rs",
    "docs/redaction.md",
];

#[test]
fn ordinary_code_is_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "docs", "tests/corpus", "xtask", "fuzz/src"] {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 1000);
    let mut replaced = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap_or(&path);
        let name = name.to_string_lossy().into_owned();
        if ABOUT_SECRETS.iter().any(|about| name.starts_with(about)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let mut redactor = Redactor::new();
        redactor.text(&text);
        let report = redactor.report().to_string();
        let is_secret = |part: &&str| !part.contains("email") && !part.contains("home director");
        replaced.extend(
            report
                .split(", ")
                .filter(|part| !part.is_empty())
                .filter(is_secret)
                .map(|part| format!("{name}: {part}")),
        );
    }
    assert!(replaced.is_empty(), "replaced:\n{}", replaced.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if ["rs", "md", "jsonl", "json", "txt", "toml"]
            .iter()
            .any(|ending| path.extension().is_some_and(|found| found == *ending))
        {
            files.push(path);
        }
    }
}
