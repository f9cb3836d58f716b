//! Changes of files that a person was shown, and whether a write makes them.
//!
//! A request for permission shows a change as two texts: whole files, or the place
//! that changes. What is written later is the whole file. Only a write that makes
//! what was shown counts as that: allowed in `services.rs`, told by its own call in
//! `client.rs`.

use std::path::PathBuf;

use serde_json::Value;

use crate::wire::{items, text};

/// A change as a call shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    /// The file, as the agent names it.
    pub path: PathBuf,
    /// What is there before; `None` for a new file.
    pub old: Option<String>,
    /// What is there after.
    pub new: String,
}

impl ProposedChange {
    /// The changes in the content of a call.
    pub(super) fn all(content: &[Value]) -> impl Iterator<Item = Self> {
        let diffs = content.iter().filter(|item| text(item, "type") == "diff");
        diffs.map(|item| Self {
            path: text(item, "path").into(),
            old: item
                .get("oldText")
                .and_then(Value::as_str)
                .map(str::to_owned),
            new: text(item, "newText"),
        })
    }

    /// The changes that a call's fields hold.
    pub(super) fn of_call(fields: &Value) -> impl Iterator<Item = Self> {
        Self::all(items(fields, "content"))
    }

    /// The text after the change: of the whole, or of the one place that it names.
    fn made(&self, now: &str) -> Option<String> {
        let old = self.old.as_deref().unwrap_or_default();
        if is_same(old, now) {
            return Some(self.new.clone());
        }
        // Somewhere else, or everywhere, is not what was shown.
        let is_clear = !old.is_empty() && now.matches(old).count() == 1;
        is_clear.then(|| now.replacen(old, &self.new, 1))
    }
}

/// Whether writing `after` where `now` stands is one of these changes of the file, or
/// all of them in their order.
pub(super) fn make(changes: &[&ProposedChange], now: Option<&str>, after: &str) -> bool {
    let now = now.unwrap_or_default();
    let is_made = |made: Option<String>| made.is_some_and(|made| is_same(&made, after));
    if changes.is_empty() {
        return false;
    }
    let mut each = changes.iter();
    let all = each.try_fold(now.to_owned(), |text, change| change.made(&text));
    is_made(all) || changes.iter().any(|change| is_made(change.made(now)))
}

/// Line ends are the agent's to choose.
fn is_same(one: &str, other: &str) -> bool {
    one.lines().eq(other.lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: Option<&str>, new: &str) -> ProposedChange {
        ProposedChange {
            path: PathBuf::from("a"),
            old: old.map(str::to_owned),
            new: new.to_owned(),
        }
    }

    #[test]
    fn only_what_was_shown_is_made() {
        let now = Some("one\ntwo\nthree\ntwo\n");
        let whole = change(now, "1\r\n2\r\n");
        assert!(make(&[&whole], now, "1\n2"));
        assert!(!make(&[&whole], now, "1\n2\nevil\n"));
        let twice = change(Some("two"), "2");
        assert!(!make(&[&twice], now, "one\n2\nthree\ntwo\n"), "which one?");
        assert!(!make(&[&twice], now, "one\n2\nthree\n2\n"));
        let place = change(Some("one"), "1");
        assert!(make(&[&place], now, "1\ntwo\nthree\ntwo\n"));
        assert!(!make(&[&place], now, "1\ntwo\nthree\nevil\n"));
        assert!(!make(&[&place], now, "1"), "a place is not the whole");
        let other = change(Some("three"), "3");
        assert!(make(&[&place, &other], now, "1\ntwo\n3\ntwo\n"));
        assert!(make(&[&place, &other], now, "one\ntwo\n3\ntwo\n"));
        assert!(!make(&[&place, &other], now, "one\ntwo\nthree\ntwo\n"));
        let nowhere = change(Some("zz"), "evil");
        assert!(!make(&[&nowhere], now, "evil"));
        assert!(
            !make(&[&change(None, "evil")], now, "evil"),
            "it is not new"
        );
        assert!(make(&[&change(None, "new\n")], None, "new\n"));
        assert!(!make(&[&change(None, "new\n")], None, "newer\n"));
        // An insertion at no place could be anywhere.
        assert!(!make(
            &[&change(Some(""), "x")],
            now,
            "xone\ntwo\nthree\ntwo\n"
        ));
        assert!(!make(&[], now, "anything"));
    }
}
