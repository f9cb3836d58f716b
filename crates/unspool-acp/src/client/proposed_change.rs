//! Changes that a tool call proposes, compared with what is written later.
//!
//! A permission request shows a change as two texts: of the whole file, or of the
//! part that changes. A write has the whole file. It counts as the proposed change
//! only if it makes exactly that. Used by `grants.rs`, to allow a write, and by
//! `tool_calls.rs`, to know that a call shows it.

use std::path::PathBuf;

use serde_json::Value;

use crate::wire::{items, text};

/// A change of a file that a tool call proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProposedChange {
    /// The path, as the agent sent it.
    pub path: PathBuf,
    /// The text before; `None` for a new file.
    pub old: Option<String>,
    /// The text after.
    pub new: String,
}

impl ProposedChange {
    /// Reads the changes in a call's content.
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

    /// Reads the changes in a call's fields.
    pub(super) fn of_call(fields: &Value) -> impl Iterator<Item = Self> {
        Self::all(items(fields, "content"))
    }

    /// Applies the change to a file. Returns `None` if the old text is not the whole
    /// file and does not occur exactly once.
    fn apply(&self, now: &str) -> Option<String> {
        let old = self.old.as_deref().unwrap_or_default();
        if is_same(old, now) {
            return Some(self.new.clone());
        }
        let is_unique = !old.is_empty() && now.matches(old).count() == 1;
        is_unique.then(|| now.replacen(old, &self.new, 1))
    }
}

/// Returns true if the file `now` becomes `after` by one of the changes, or by all of
/// them in order.
pub(super) fn are_made(changes: &[&ProposedChange], now: Option<&str>, after: &str) -> bool {
    let now = now.unwrap_or_default();
    let is_made = |made: Option<String>| made.is_some_and(|made| is_same(&made, after));
    if changes.is_empty() {
        return false;
    }
    let mut each = changes.iter();
    let all = each.try_fold(now.to_owned(), |text, change| change.apply(&text));
    is_made(all) || changes.iter().any(|change| is_made(change.apply(now)))
}

/// Compares texts without regard to line endings.
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
    fn only_the_proposed_change_is_accepted() {
        let now = Some("one\ntwo\nthree\ntwo\n");
        let whole = change(now, "1\r\n2\r\n");
        assert!(are_made(&[&whole], now, "1\n2"));
        assert!(!are_made(&[&whole], now, "1\n2\nevil\n"));
        let twice = change(Some("two"), "2");
        assert!(
            !are_made(&[&twice], now, "one\n2\nthree\ntwo\n"),
            "the place is ambiguous"
        );
        assert!(!are_made(&[&twice], now, "one\n2\nthree\n2\n"));
        let place = change(Some("one"), "1");
        assert!(are_made(&[&place], now, "1\ntwo\nthree\ntwo\n"));
        assert!(!are_made(&[&place], now, "1\ntwo\nthree\nevil\n"));
        assert!(
            !are_made(&[&place], now, "1"),
            "a part is not the whole file"
        );
        let other = change(Some("three"), "3");
        assert!(are_made(&[&place, &other], now, "1\ntwo\n3\ntwo\n"));
        assert!(are_made(&[&place, &other], now, "one\ntwo\n3\ntwo\n"));
        assert!(!are_made(&[&place, &other], now, "one\ntwo\nthree\ntwo\n"));
        let nowhere = change(Some("zz"), "evil");
        assert!(!are_made(&[&nowhere], now, "evil"));
        assert!(
            !are_made(&[&change(None, "evil")], now, "evil"),
            "the file exists"
        );
        assert!(are_made(&[&change(None, "new\n")], None, "new\n"));
        assert!(!are_made(&[&change(None, "new\n")], None, "newer\n"));
        // An insertion without context could be anywhere.
        assert!(!are_made(
            &[&change(Some(""), "x")],
            now,
            "xone\ntwo\nthree\ntwo\n"
        ));
        assert!(!are_made(&[], now, "anything"));
    }
}
