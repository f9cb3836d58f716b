//! Restores the indentation of diffs. OpenCode removes what all lines of a diff
//! have in common; the lines in the call's input still have it.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Edit;

/// Lines as they are in the files, by their text without indentation.
#[derive(Default)]
pub(super) struct Written<'a> {
    indents: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Written<'a> {
    /// Returns the lines of a replacement. The first one may start after its
    /// indentation.
    pub(super) fn replacing(text: &'a str) -> Self {
        let mut lines = text.lines();
        let first = lines.next().filter(|first| first.starts_with([' ', '\t']));
        first.into_iter().chain(lines).collect()
    }

    /// Returns the lines that an `apply_patch` patch adds.
    pub(super) fn patching(text: &'a str) -> Self {
        text.lines()
            .filter_map(|line| line.strip_prefix('+'))
            .collect()
    }

    /// Restores the missing indentation of an edit.
    pub(super) fn restore(&self, edit: &mut Edit) {
        let Some(lost) = self.missing(edit) else {
            return;
        };
        let lines = edit.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines);
        for line in lines {
            let text = line.get(1..).unwrap_or_default();
            if !text.trim().is_empty() {
                line.insert_str(1, lost);
            }
        }
    }

    /// Returns the indentation that all added lines lack.
    fn missing(&self, edit: &Edit) -> Option<&'a str> {
        let mut common: Option<BTreeSet<&str>> = None;
        let lines = edit.hunks.iter().flat_map(|hunk| &hunk.lines);
        for line in lines.filter_map(|line| line.strip_prefix('+')) {
            let (indent, rest) = split_indent(line);
            let Some(indents) = self.indents.get(rest) else {
                continue;
            };
            let lacking = indents.iter().filter_map(|full| full.strip_suffix(indent));
            common = Some(match common {
                Some(common) => lacking.filter(|lost| common.contains(lost)).collect(),
                None => lacking.collect(),
            });
        }
        let shortest = common?.into_iter().min_by_key(|lost| lost.len());
        shortest.filter(|lost| !lost.is_empty())
    }
}

impl<'a> FromIterator<&'a str> for Written<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(lines: I) -> Self {
        let mut written = Self::default();
        for (indent, rest) in lines.into_iter().map(split_indent) {
            if !rest.is_empty() {
                written.indents.entry(rest).or_default().insert(indent);
            }
        }
        written
    }
}

/// Splits a line after its indentation.
fn split_indent(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    line.split_at(line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch;

    fn restored(written: &Written<'_>, lines: &str) -> String {
        let mut edit = patch::unified("a.py", &format!("@@ -5,9 +5,9 @@\n{lines}"))
            .pop()
            .unwrap();
        written.restore(&mut edit);
        edit.hunks[0].lines.join("\n")
    }

    #[test]
    fn the_common_indentation_is_restored() {
        let written = Written::replacing("        a\n        if b:\n            c\n");
        let shown = restored(
            &written,
            " def f():\n-    x\n+    a\n+    if b:\n+        c\n \n",
        );
        assert_eq!(
            shown,
            "     def f():\n-        x\n+        a\n+        if b:\n+            c\n "
        );
        let written = Written::patching("*** Begin Patch\n@@\n     def f():\n+\t\ta\n");
        assert_eq!(restored(&written, " f\n+\ta\n"), " \tf\n+\t\ta");
    }

    #[test]
    fn a_complete_or_ambiguous_diff_is_unchanged() {
        let whole = " def f():\n+    a\n+    b\n";
        for text in ["    a\n    b\n", "a\n    b", "a", "other", "  a\n      b"] {
            let written = Written::replacing(text);
            assert_eq!(restored(&written, whole), whole.trim_end(), "{text:?}");
        }
    }

    #[test]
    fn lines_that_occur_twice_are_ignored() {
        let written = Written::replacing("        }\n            x\n    }\n");
        assert_eq!(
            restored(&written, "+    }\n+        x\n+}\n"),
            "+        }\n+            x\n+    }"
        );
    }
}
