//! Licence expressions (SPDX) and the licences that `deny.toml` allows.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::manifest::strings;

/// The licences that `deny.toml` allows, and those that were needed.
pub(crate) struct Allowed {
    licenses: Vec<String>,
    /// Crates that may have one more.
    exceptions: Vec<(String, String)>,
    needed: RefCell<BTreeSet<String>>,
}

impl Allowed {
    /// Reads `allow = […]` and the lines `{ crate = "…", allow = ["…"] }`.
    pub(crate) fn parse(text: &str) -> Self {
        let is_list = |line: &&str| line.starts_with("allow = [");
        let list = text.lines().find(is_list).unwrap_or_default();
        let exceptions = text.lines().filter(|line| line.contains("{ crate = "));
        let pair = |line: &str| {
            let mut words = strings(line).map(str::to_owned);
            Some((words.next()?, words.next()?))
        };
        Self {
            licenses: strings(list).map(str::to_owned).collect(),
            exceptions: exceptions.filter_map(pair).collect(),
            needed: RefCell::default(),
        }
    }

    /// Returns true if a crate may have this licence.
    pub(crate) fn allows(&self, package: &str, license: &str) -> bool {
        let exception = (package.to_owned(), license.to_owned());
        let key = if self.exceptions.contains(&exception) {
            format!("{package} {license}")
        } else if self.licenses.iter().any(|allowed| allowed == license) {
            license.to_owned()
        } else {
            return false;
        };
        self.needed.borrow_mut().insert(key);
        true
    }

    /// Everything that is allowed and that no crate has.
    pub(crate) fn unused(&self) -> impl Iterator<Item = String> {
        let exceptions = self.exceptions.iter();
        let exceptions = exceptions.map(|(package, license)| format!("{package} {license}"));
        let needed = self.needed.borrow().clone();
        let all = self.licenses.iter().cloned().chain(exceptions);
        all.filter(move |name| !needed.contains(name))
            .map(|name| format!("no crate needs {name}"))
    }
}

/// Evaluates an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`. Both sides of
/// an operator are always asked for.
pub(crate) fn is_met(expression: &str, mut is_allowed: impl FnMut(&str) -> bool) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    alternatives(&mut words, &mut is_allowed) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn alternatives(words: &mut Words<'_>, is_allowed: &mut impl FnMut(&str) -> bool) -> bool {
    let mut is_met = conjunction(words, is_allowed);
    while words.next_if_eq(&"OR").is_some() {
        is_met |= conjunction(words, is_allowed);
    }
    is_met
}

fn conjunction(words: &mut Words<'_>, is_allowed: &mut impl FnMut(&str) -> bool) -> bool {
    let mut is_met = license(words, is_allowed);
    while words.next_if_eq(&"AND").is_some() {
        is_met &= license(words, is_allowed);
    }
    is_met
}

fn license(words: &mut Words<'_>, is_allowed: &mut impl FnMut(&str) -> bool) -> bool {
    match words.next() {
        Some("(") => {
            let is_met = alternatives(words, is_allowed);
            words.next() == Some(")") && is_met
        }
        Some(name) if words.next_if_eq(&"WITH").is_some() => {
            let exception = words.next().unwrap_or_default();
            is_allowed(&format!("{name} WITH {exception}"))
        }
        Some(name) => is_allowed(name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_evaluated() {
        let is_allowed = |license: &str| matches!(license, "MIT" | "Zlib");
        for met in [
            "MIT",
            "Apache-2.0 OR MIT",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Zlib",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert!(is_met(met, is_allowed), "{met}");
        }
        for unmet in ["", "GPL-3.0", "MIT AND GPL-3.0", "MIT WITH x", "(MIT OR"] {
            assert!(!is_met(unmet, is_allowed), "{unmet}");
        }
    }

    #[test]
    fn permissions_that_nothing_needs_are_listed() {
        let text = "allow = [\"MIT\", \"Zlib\"]\n  { crate = \"a\", allow = [\"X\"] },\n";
        let allowed = Allowed::parse(text);
        assert!(allowed.allows("a", "X") && allowed.allows("b", "MIT"));
        assert!(!allowed.allows("b", "X"));
        let unused: Vec<String> = allowed.unused().collect();
        assert_eq!(unused, ["no crate needs Zlib"]);
    }
}
