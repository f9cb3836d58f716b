//! `cargo xtask conformance`: runs the tests that `docs/conformance.md` names.
//!
//! Each row of its tables is a statement of a document, the place that fulfils it, and
//! the tests that show it, as `CRATE/TARGET::TEST`; the target is `lib` for tests inside
//! a crate. A row without a test, a test that does not exist and a test that fails are
//! errors.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::manifest::read;
use crate::{Result, cargo, output, root};

/// The names of tests by crate and target.
type Tests = BTreeMap<(String, String), BTreeSet<String>>;

/// Runs the tests of all rows.
pub(crate) fn check() -> Result {
    let path = root().join("docs/conformance.md");
    let (rows, tests) = parse(&read(&path)?)?;
    let mut count = 0;
    for ((package, target), names) in &tests {
        run(package, target, names)?;
        count += names.len();
    }
    println!("xtask: {rows} statements, {count} tests passed");
    Ok(())
}

/// Counts the rows of all tables and collects their tests.
fn parse(text: &str) -> Result<(usize, Tests)> {
    let mut rows = 0;
    let mut tests = Tests::new();
    for line in text.lines().filter(|line| is_row(line)) {
        let cell = line.trim_end_matches(['|', ' ']).rsplit('|').next();
        let names: Vec<&str> = cell
            .unwrap_or_default()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        if names.is_empty() {
            return Err(format!("docs/conformance.md: a row without a test: {line}"));
        }
        for path in names {
            let parts = path.split_once('/').and_then(|(package, rest)| {
                let (target, name) = rest.split_once("::")?;
                Some((package, target, name))
            });
            let Some((package, target, name)) = parts else {
                return Err(format!(
                    "docs/conformance.md: `{path}` is not CRATE/TARGET::TEST"
                ));
            };
            let group = tests.entry((package.to_owned(), target.to_owned()));
            group.or_default().insert(name.to_owned());
        }
        rows += 1;
    }
    if rows == 0 {
        return Err("docs/conformance.md: no statement".to_owned());
    }
    Ok((rows, tests))
}

/// Returns true for a row of a table that starts with its number.
fn is_row(line: &str) -> bool {
    let first = line
        .strip_prefix('|')
        .and_then(|rest| rest.split('|').next());
    first.is_some_and(|cell| {
        cell.trim()
            .starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Runs the tests of one target, and fails unless each of them exists and passes.
fn run(package: &str, target: &str, names: &BTreeSet<String>) -> Result {
    let listed = output(test(package, target).args(["--list", "--include-ignored"]))?;
    let exists = |name: &&String| {
        listed
            .lines()
            .any(|line| line.strip_suffix(": test") == Some(name))
    };
    let missing: Vec<&String> = names.iter().filter(|name| !exists(name)).collect();
    if let Some(name) = missing.first() {
        return Err(format!(
            "docs/conformance.md: {package}/{target} has no test `{name}`"
        ));
    }
    crate::run(
        test(package, target)
            .args(["--exact", "--include-ignored"])
            .args(names),
    )
}

/// `cargo test` for one target; arguments go to its test program.
fn test(package: &str, target: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--quiet", "--locked", "--package", package]);
    if target == "lib" {
        command.arg("--lib");
    } else {
        command.args(["--test", target]);
    }
    command.arg("--");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_their_tests() {
        let text = "| # | statement | tests |\n|---|---|---|\n\
                    | 1 | tabs | `unspool/formatter::a::b`, `unspool/lib::c` |\n";
        let (rows, tests) = parse(text).unwrap_or_default();
        assert_eq!(rows, 1);
        let names: Vec<_> = tests.into_values().flatten().collect();
        assert_eq!(names, ["a::b", "c"]);
    }

    #[test]
    fn a_row_without_a_test_is_an_error() {
        assert!(parse("| 1 | tabs | – |\n").is_err());
        assert!(parse("| 1 | tabs | `not a test` |\n").is_err());
        assert!(parse("nothing\n").is_err());
    }
}
