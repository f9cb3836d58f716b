//! Parses file changes in every form that agents send: unified diffs, `***
//! Begin Patch` texts, and texts before and after.
//!
//! Line numbers are kept if the input has them; none are guessed.
//!
//! ```
//! use unspool::patch;
//!
//! let edits = patch::unified("", "--- a/x.txt\n+++ b/x.txt\n@@ -3 +3 @@\n-old\n+new\n");
//! assert_eq!(edits.len(), 1);
//! assert_eq!(edits[0].path, "x.txt");
//! assert_eq!(edits[0].hunks[0].old_start, Some(3));
//! ```

use similar::{ChangeTag, TextDiff};

use crate::event::{Edit, EditOp, Hunk};

/// Context lines around a computed change.
const CONTEXT: usize = 3;

/// Maximum lines of both texts that are compared individually.
const MOST_COMPARED: usize = 100_000;

/// Computes the change from one text to another. `old` is `None` for a new
/// file. With `whole`, the texts are whole files and hunks have line numbers;
/// snippets have none.
pub fn from_texts(path: &str, old: Option<&str>, new: &str, whole: bool) -> Edit {
    let Some(old) = old else {
        return added(path, new);
    };
    let context = if whole { CONTEXT } else { usize::MAX / 4 };
    let mut hunks = match replace_all(old, new, context) {
        Some(hunk) => vec![hunk],
        None => compare(old, new, context),
    };
    for hunk in hunks.iter_mut().filter(|_| !whole) {
        (hunk.old_start, hunk.new_start) = (None, None);
    }
    Edit {
        op: EditOp::Update,
        path: path.to_owned(),
        new_path: String::new(),
        hunks,
    }
}

fn compare(old: &str, new: &str, context: usize) -> Vec<Hunk> {
    let diff = TextDiff::from_lines(old, new);
    let groups = diff.grouped_ops(context);
    let hunk = |group: &Vec<similar::DiffOp>| {
        let first = group.first()?;
        Some(Hunk {
            old_start: Some(first.old_range().start as u64 + 1),
            new_start: Some(first.new_range().start as u64 + 1),
            lines: hunk_lines(&diff, group),
        })
    };
    groups.iter().filter_map(hunk).collect()
}

/// Replaces everything between the first and the last changed line, for texts
/// too long to compare; returns `None` for shorter texts.
fn replace_all(old: &str, new: &str, context: usize) -> Option<Hunk> {
    if old.len() + new.len() <= MOST_COMPARED {
        return None;
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = |(old, new): &(&&str, &&str)| old == new;
    let before = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    let backwards = old_rest.iter().rev().zip(new_rest.iter().rev());
    let after = backwards.take_while(same).count();
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let (gone, come) = (old.get(before..old_end)?, new.get(before..new_end)?);
    if gone.len() + come.len() <= MOST_COMPARED {
        return None;
    }
    let start = before.saturating_sub(context);
    let end = old_end.saturating_add(context).min(old.len());
    let parts = [
        (' ', old.get(start..before)?),
        ('-', gone),
        ('+', come),
        (' ', old.get(old_end..end)?),
    ];
    let signed = |(sign, lines): (char, &[&str])| -> Vec<String> {
        let signed = lines
            .iter()
            .map(|line| format!("{sign}{}", strip_line_end(line)));
        signed.collect()
    };
    Some(Hunk {
        old_start: Some(start as u64 + 1),
        new_start: Some(start as u64 + 1),
        lines: parts.into_iter().flat_map(signed).collect(),
    })
}

fn hunk_lines(diff: &TextDiff<'_, '_, str>, group: &[similar::DiffOp]) -> Vec<String> {
    group
        .iter()
        .flat_map(|op| diff.iter_changes(op))
        .map(|change| {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            format!("{sign}{}", strip_line_end(change.value()))
        })
        .collect()
}

/// Creates the edit for a new file.
pub fn added(path: &str, content: &str) -> Edit {
    whole_file(EditOp::Add, path, content, '+')
}

/// Creates the edit for a deleted file, with its former content if known.
pub fn deleted(path: &str, content: &str) -> Edit {
    whole_file(EditOp::Delete, path, content, '-')
}

fn whole_file(op: EditOp, path: &str, content: &str, sign: char) -> Edit {
    let lines: Vec<String> = content
        .split_inclusive('\n')
        .map(|line| format!("{sign}{}", strip_line_end(line)))
        .collect();
    let start = (!lines.is_empty()).then_some(1);
    let hunk = Hunk {
        old_start: start.filter(|_| sign == '-'),
        new_start: start.filter(|_| sign == '+'),
        lines,
    };
    Edit {
        op,
        path: path.to_owned(),
        new_path: String::new(),
        hunks: if hunk.lines.is_empty() {
            Vec::new()
        } else {
            vec![hunk]
        },
    }
}

fn strip_line_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Parses a unified diff: git's form, `Index:` form, or bare hunks (for which
/// `path` names the file).
pub fn unified(path: &str, text: &str) -> Vec<Edit> {
    let mut reader = Unified::new(path);
    for line in text.split_inclusive('\n') {
        reader.line(strip_line_end(line));
    }
    reader.finish()
}

/// Parses the hunks of a diff of one file.
pub fn hunks(text: &str) -> Vec<Hunk> {
    unified("", text)
        .into_iter()
        .flat_map(|edit| edit.hunks)
        .collect()
}

struct Unified {
    default_path: String,
    edits: Vec<Edit>,
    open: Option<Edit>,
    /// Old and new lines that the open hunk still lacks; `None` if its header
    /// has no counts.
    missing: Option<(u64, u64)>,
    in_hunk: bool,
}

impl Unified {
    fn new(path: &str) -> Self {
        Self {
            default_path: path.to_owned(),
            edits: Vec::new(),
            open: None,
            missing: None,
            in_hunk: false,
        }
    }

    fn line(&mut self, line: &str) {
        if self.in_hunk && self.hunk_line(line) {
            return;
        }
        if let Some(header) = line.strip_prefix("@@") {
            self.hunk_header(header);
        } else if let Some(paths) = line.strip_prefix("diff --git ") {
            self.start(git_path(paths));
        } else if let Some(path) = line.strip_prefix("--- ") {
            self.old_path(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.new_path(path);
        } else if let Some(path) = line.strip_prefix("rename from ") {
            let edit = self.edit();
            edit.op = EditOp::Move;
            path.clone_into(&mut edit.path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            path.clone_into(&mut self.edit().new_path);
        } else if line.starts_with("new file mode") {
            self.edit().op = EditOp::Add;
        } else if line.starts_with("deleted file mode") {
            self.edit().op = EditOp::Delete;
        }
    }

    fn start(&mut self, path: &str) {
        self.close();
        self.open = Some(Edit {
            path: path.to_owned(),
            ..Edit::default()
        });
    }

    fn edit(&mut self) -> &mut Edit {
        let path = &self.default_path;
        self.open.get_or_insert_with(|| Edit {
            path: path.clone(),
            ..Edit::default()
        })
    }

    fn old_path(&mut self, header: &str) {
        if self
            .open
            .as_ref()
            .is_some_and(|edit| !edit.hunks.is_empty())
        {
            self.close();
        }
        match header_path(header) {
            None => self.edit().op = EditOp::Add,
            Some(path) => {
                let edit = self.edit();
                if edit.op != EditOp::Move {
                    path.clone_into(&mut edit.path);
                }
            }
        }
    }

    fn new_path(&mut self, header: &str) {
        match header_path(header) {
            None => self.edit().op = EditOp::Delete,
            Some(path) => {
                let edit = self.edit();
                if edit.op == EditOp::Add || edit.path.is_empty() {
                    path.clone_into(&mut edit.path);
                }
            }
        }
    }

    fn hunk_header(&mut self, header: &str) {
        let mut ranges = header.split_whitespace();
        let old = ranges.next().and_then(|range| numbers(range, '-'));
        let new = ranges.next().and_then(|range| numbers(range, '+'));
        self.missing = old.zip(new).map(|(old, new)| (old.1, new.1));
        self.in_hunk = true;
        self.edit().hunks.push(Hunk {
            old_start: old.map(|range| range.0),
            new_start: new.map(|range| range.0),
            lines: Vec::new(),
        });
    }

    /// Adds a line to the open hunk; returns false if it does not belong to it.
    fn hunk_line(&mut self, line: &str) -> bool {
        let (old, new) = match line.as_bytes().first() {
            Some(b' ') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            // "\ No newline at end of file"
            Some(b'\\') => return true,
            None if self.missing.is_some_and(|(old, new)| old > 0 && new > 0) => (1, 1),
            _ => {
                self.in_hunk = false;
                return false;
            }
        };
        match &mut self.missing {
            Some((0, 0)) => {
                self.in_hunk = false;
                return false;
            }
            Some(missing) => {
                missing.0 = missing.0.saturating_sub(old);
                missing.1 = missing.1.saturating_sub(new);
            }
            None => {}
        }
        let line = if line.is_empty() { " " } else { line };
        if let Some(hunk) = self.open.as_mut().and_then(|edit| edit.hunks.last_mut()) {
            hunk.lines.push(line.to_owned());
        }
        true
    }

    fn close(&mut self) {
        self.in_hunk = false;
        if let Some(edit) = self.open.take() {
            let moved = !edit.new_path.is_empty();
            if !edit.hunks.is_empty() || edit.op != EditOp::Update || moved {
                self.edits.push(edit);
            }
        }
    }

    fn finish(mut self) -> Vec<Edit> {
        self.close();
        self.edits
    }
}

/// Parses start and length of a range such as `-3,7` or `+3`. An empty range
/// names the line before it, so its start is the next line.
fn numbers(range: &str, sign: char) -> Option<(u64, u64)> {
    let range = range.strip_prefix(sign)?;
    let (start, length) = range.split_once(',').unwrap_or((range, "1"));
    let (start, length) = (start.parse::<u64>().ok()?, length.parse::<u64>().ok()?);
    Some((
        if length == 0 {
            start.saturating_add(1)
        } else {
            start
        },
        length,
    ))
}

/// Returns the path of a `---` or `+++` line without timestamp and `a/` or
/// `b/`; `None` for no file.
fn header_path(header: &str) -> Option<&str> {
    let path = header.split('\t').next().unwrap_or(header).trim_end();
    if path == "/dev/null" {
        return None;
    }
    let stripped = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    Some(stripped.unwrap_or(path))
}

/// Returns the path of a `diff --git a/x b/x` line.
fn git_path(paths: &str) -> &str {
    let path = paths.split_once(" b/").map_or(paths, |(_, path)| path);
    path.strip_prefix("a/").unwrap_or(path)
}

/// Parses a `*** Begin Patch` text, which has no line numbers.
pub fn begin_patch(text: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for line in text.split_inclusive('\n').map(strip_line_end) {
        if let Some((op, path)) = patch_header(line) {
            edits.push(Edit {
                op,
                path: path.to_owned(),
                ..Edit::default()
            });
            continue;
        }
        let Some(edit) = edits.last_mut() else {
            continue;
        };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            edit.op = EditOp::Move;
            path.trim_end().clone_into(&mut edit.new_path);
        } else if line.starts_with("*** ") {
            // End of File, End Patch
        } else if line.starts_with("@@") {
            edit.hunks.push(Hunk::default());
        } else {
            patch_line(edit, line);
        }
    }
    for edit in &mut edits {
        edit.hunks.retain(|hunk| !hunk.lines.is_empty());
    }
    edits
}

fn patch_header(line: &str) -> Option<(EditOp, &str)> {
    [
        ("*** Add File: ", EditOp::Add),
        ("*** Update File: ", EditOp::Update),
        ("*** Delete File: ", EditOp::Delete),
    ]
    .into_iter()
    .find_map(|(header, op)| Some((op, line.strip_prefix(header)?.trim_end())))
}

fn patch_line(edit: &mut Edit, line: &str) {
    let line = match line.as_bytes().first() {
        Some(b' ' | b'+' | b'-') => line.to_owned(),
        _ => format!(" {line}"),
    };
    if edit.hunks.is_empty() {
        edit.hunks.push(Hunk {
            new_start: (edit.op == EditOp::Add).then_some(1),
            ..Hunk::default()
        });
    }
    if let Some(hunk) = edit.hunks.last_mut() {
        hunk.lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_texts_give_numbered_hunks() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let edit = from_texts("f", Some(old), &old.replace('8', "eight"), true);
        assert_eq!(edit.hunks.len(), 1);
        assert_eq!(
            (edit.hunks[0].old_start, edit.hunks[0].new_start),
            (Some(5), Some(5))
        );
        assert_eq!(
            edit.hunks[0].lines,
            [" 5", " 6", " 7", "-8", "+eight", " 9"]
        );
    }

    #[test]
    fn a_change_of_very_many_lines_is_one_replacement() {
        let lines = |of: usize| -> String {
            let middle = (0..60_000).map(|line| format!("{}\n", line * of % 7));
            format!("a\nb\nc\nd\n{}e\n", middle.collect::<String>())
        };
        let edit = from_texts("f", Some(&lines(1)), &lines(3), true);
        let [hunk] = &*edit.hunks else {
            panic!("{} hunks", edit.hunks.len())
        };
        // The first and the last changed line are equal.
        assert_eq!((hunk.old_start, hunk.new_start), (Some(3), Some(3)));
        assert_eq!(hunk.lines[..4], [" c", " d", " 0", "-1"]);
        let count = |sign: char| hunk.lines.iter().filter(|l| l.starts_with(sign)).count();
        assert_eq!(count('-'), count('+'));
        assert!(count('-') >= 59_990);
        let grown = lines(1) + "f\n";
        let edit = from_texts("f", Some(&lines(1)), &grown, true);
        assert_eq!(edit.hunks[0].lines.last().map(String::as_str), Some("+f"));
        assert_eq!(edit.hunks[0].lines.len(), 4);
    }

    #[test]
    fn snippets_have_no_numbers() {
        let edit = from_texts("f", Some("a\r\nb"), "a\r\nc", false);
        assert_eq!(
            edit.hunks,
            [Hunk {
                lines: vec![" a".into(), "-b".into(), "+c".into()],
                ..Hunk::default()
            }]
        );
    }

    #[test]
    fn git_diffs_name_operations_and_numbers() {
        let text = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\ndiff --git a/p b/q\nrename from p\nrename to q\ndiff --git a/d b/d\n--- a/d\n+++ b/d\n@@ -3,2 +3,2 @@ fn main() {\n--- no header\n+++ no header\n context\n";
        let edits = unified("", text);
        assert_eq!(edits.len(), 3);
        assert_eq!((edits[0].op, edits[0].path.as_str()), (EditOp::Add, "x"));
        assert_eq!(edits[0].hunks[0].new_start, Some(1));
        assert_eq!(
            (edits[1].op, edits[1].new_path.as_str()),
            (EditOp::Move, "q")
        );
        assert_eq!(
            edits[2].hunks[0].lines,
            ["--- no header", "+++ no header", " context"]
        );
        assert_eq!(edits[2].hunks[0].old_start, Some(3));
    }

    #[test]
    fn index_diffs_and_bare_hunks_are_read() {
        let text = "Index: /p/f.rs\n=====\n--- /p/f.rs\tOriginal\n+++ /p/f.rs\tModified\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(unified("", text)[0].path, "/p/f.rs");
        let bare = unified("g.rs", "@@ -2,3 +2,2 @@\n a\n-b\n\n");
        assert_eq!(bare[0].path, "g.rs");
        assert_eq!(bare[0].hunks[0].lines, [" a", "-b", " "]);
        assert!(unified("g", "just text\n- a list\n").is_empty());
    }

    #[test]
    fn begin_patch_texts_are_read() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** Update File: b.txt\n*** Move to: c.txt\n@@ fn x\n old\n-gone\n\n+new\n*** End of File\n*** Delete File: d.txt\n*** End Patch\n";
        let edits = begin_patch(text);
        let ops: Vec<_> = edits
            .iter()
            .map(|e| (e.op, e.path.as_str(), e.new_path.as_str()))
            .collect();
        assert_eq!(
            ops,
            [
                (EditOp::Add, "a.txt", ""),
                (EditOp::Move, "b.txt", "c.txt"),
                (EditOp::Delete, "d.txt", "")
            ]
        );
        assert_eq!(edits[1].hunks[0].lines, [" old", "-gone", " ", "+new"]);
        assert_eq!(edits[0].hunks[0].new_start, Some(1));
    }
}
