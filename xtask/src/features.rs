//! `cargo xtask features`: each feature of the library builds alone, and brings in its
//! own dependencies and none of another feature.
//!
//! Reads the features and their `dep:` entries from the manifest, so that a new one is
//! checked without a change here.

use std::collections::BTreeSet;

use crate::manifest::{Package, strings};
use crate::{Result, cargo, output, root, run};

const LIBRARY: &str = "unspool";

/// Checks the library without features, and with each one alone.
pub(crate) fn check() -> Result {
    let package = Package::read(&root().join("crates").join(LIBRARY))?;
    let features = package.section("features");
    let optional: BTreeSet<String> = features
        .iter()
        .flat_map(|(name, _)| dependencies(&features, name))
        .collect();
    let names = features.iter().map(|(name, _)| *name);
    for feature in std::iter::once("").chain(names.filter(|name| *name != "default")) {
        let expected = dependencies(&features, feature);
        let tree = output(
            cargo()
                .args(["tree", "--edges=normal", "--prefix=none", "--format={p}"])
                .args(selection(feature)),
        )?;
        let found: BTreeSet<String> = tree
            .lines()
            .filter_map(|line| line.split(' ').next())
            .filter(|name| optional.contains(*name))
            .map(str::to_owned)
            .collect();
        if found != expected {
            return Err(format!(
                "xtask: {LIBRARY} with the feature {feature:?} alone has the optional dependencies {found:?}, not {expected:?}"
            ));
        }
        run(cargo().args(["check", "--quiet"]).args(selection(feature)))?;
    }
    Ok(())
}

/// The arguments that select the library with one feature alone.
fn selection(feature: &str) -> [String; 5] {
    [
        "--locked".to_owned(),
        format!("--package={LIBRARY}"),
        "--no-default-features".to_owned(),
        format!("--features={feature}"),
        "--color=never".to_owned(),
    ]
}

/// The optional dependencies of a feature and of the features that it implies.
fn dependencies(features: &[(&str, &str)], feature: &str) -> BTreeSet<String> {
    let entries = features.iter().filter(|(name, _)| *name == feature);
    entries
        .flat_map(|(_, entries)| strings(entries))
        .flat_map(|entry| match entry.strip_prefix("dep:") {
            Some(dependency) => BTreeSet::from([dependency.to_owned()]),
            None => dependencies(features, entry),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_has_the_dependencies_of_those_it_implies() {
        let features = [
            ("html", r#"["markdown", "dep:sha2"]"#),
            ("markdown", r#"["dep:cmark"]"#),
        ];
        let html = dependencies(&features, "html");
        assert_eq!(
            html,
            BTreeSet::from(["cmark".to_owned(), "sha2".to_owned()])
        );
        assert!(dependencies(&features, "").is_empty());
    }
}
