//! `cargo xtask dependencies`: no dependency is unused, from another source than
//! crates.io, or under a licence that `deny.toml` does not name.
//!
//! Checks in a second what cargo-machete and cargo-deny check after minutes of
//! compilation. Known vulnerabilities need a list from the network: the workflow on
//! GitHub runs cargo-deny for them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::licenses::{self, Allowed};
use crate::manifest::{self, Package, read};
use crate::{Result, output, root};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Runs all three checks, and lists everything that is wrong.
pub(crate) fn check() -> Result {
    let mut wrong = unused()?;
    wrong.extend(foreign_sources()?);
    wrong.extend(wrong_licenses()?);
    if wrong.is_empty() {
        println!("xtask: no dependency is unused, from another source or under another licence");
        return Ok(());
    }
    Err(wrong.join("\n"))
}

/// Dependencies whose name no source file mentions.
fn unused() -> Result<Vec<String>> {
    let mut packages = Package::all()?;
    packages.push(Package::read(&root().join("fuzz"))?);
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for package in &packages {
        let sources = sources(&package.folder)?;
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, _) in package.section(section) {
                used.insert(name.to_owned());
                if !mentions(&sources, &name.replace('-', "_")) {
                    wrong.push(format!("{}: {name} is not used", package.name));
                }
            }
        }
    }
    let workspace = read(&root().join("Cargo.toml"))?;
    for (name, _) in manifest::section(&workspace, "workspace.dependencies") {
        if !used.contains(name) {
            wrong.push(format!("Cargo.toml: no package uses {name}"));
        }
    }
    Ok(wrong)
}

/// All Rust code below a folder.
fn sources(folder: &Path) -> Result<String> {
    let mut text = String::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            text.push_str(&sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = read(&path)?;
            // Modules of another package.
            for line in code.lines().filter(|line| line.starts_with("#[path = ")) {
                for module in manifest::strings(line).map(|name| folder.join(name)) {
                    text.push_str(&read(&module)?);
                }
            }
            text.push_str(&code);
        }
    }
    Ok(text)
}

/// Returns true if the text has this word.
fn mentions(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Packages that do not come from crates.io.
fn foreign_sources() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for name in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(&root().join(name))?;
        let sources = lock
            .lines()
            .filter_map(|line| line.strip_prefix("source = "));
        let foreign = sources.filter(|source| source.trim_matches('"') != REGISTRY);
        wrong.extend(foreign.map(|source| format!("{name}: {source} is not crates.io")));
    }
    Ok(wrong)
}

/// Packages under a licence that is not allowed, and permissions that nothing needs.
fn wrong_licenses() -> Result<Vec<String>> {
    let allowed = Allowed::parse(&read(&root().join("deny.toml"))?);
    let tree = output(crate::cargo().args([
        "tree",
        "--workspace",
        "--locked",
        "--all-features",
        "--target=all",
        "--edges=all",
        "--prefix=none",
        "--format={l}|{p}",
    ]))?;
    let mut wrong = BTreeSet::new();
    for (license, package) in tree.lines().filter_map(|line| line.split_once('|')) {
        let name = package.split(' ').next().unwrap_or_default();
        let is_allowed = |license: &str| allowed.allows(name, license);
        if !licenses::is_met(license, is_allowed) {
            wrong.insert(format!("{package}: the licence {license:?} is not allowed"));
        }
    }
    wrong.extend(
        allowed
            .unused()
            .map(|unused| format!("deny.toml: {unused}")),
    );
    Ok(wrong.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_not_part_of_another_one() {
        assert!(mentions("use memchr::memchr;", "memchr"));
        assert!(!mentions("use memchr2::x; let a_memchr = 1;", "memchr"));
    }
}
