//! File mentions in a message: `@src/main.rs`, `@"a file.txt"`.
//!
//! A mention starts after a space, an opening bracket or at the start of the
//! text, so an email address is not one. Nothing here checks that the file
//! exists.

use std::ops::Range;
use std::path::PathBuf;

use super::pasted::is_sign;

/// Maximum number of mentions per message.
const MOST: usize = 100;

/// A mentioned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path as written, relative to the project root.
    pub path: PathBuf,
    /// Its range in the text, including `@`.
    pub(super) range: Range<usize>,
}

/// Returns all mentions in a text.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let is_inside = found.last().is_some_and(|last| at < last.range.end);
        if is_inside || !can_begin(text, at) || found.len() >= MOST {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some((path, length)) = written(rest) else {
            continue;
        };
        // A placeholder of a long paste is not a path.
        if path.contains(is_sign) {
            continue;
        }
        found.push(Mention {
            path: PathBuf::from(path),
            range: at..at + 1 + length,
        });
    }
    found
}

/// Returns the mention being typed at the end of a text: the position of `@` and
/// the partial path.
pub(super) fn open(before: &str) -> Option<(usize, &str)> {
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let mut candidates = before.match_indices('@').rev();
    let at = candidates.find(|(at, _)| *at >= line && can_begin(before, *at));
    let (at, _) = at?;
    let rest = before.get(at + 1..)?;
    match rest.strip_prefix('"') {
        Some(quoted) => (!quoted.contains('"')).then_some((at, quoted)),
        None => (!rest.contains(char::is_whitespace)).then_some((at, rest)),
    }
}

/// Spells a path as a mention.
pub(super) fn spelled(path: &str) -> String {
    let is_plain = |letter: char| !letter.is_whitespace() && letter != '"';
    let ends_plain = !path.ends_with(TRAILING);
    if path.chars().all(is_plain) && ends_plain {
        format!("@{path}")
    } else {
        format!("@\"{path}\"")
    }
}

/// Punctuation after a path that belongs to the sentence.
const TRAILING: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '}'];

/// Returns the path at the start of a text and its length in bytes.
fn written(rest: &str) -> Option<(&str, usize)> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find(['"', '\n'])?;
        let is_closed = quoted.get(end..)?.starts_with('"');
        let path = quoted.get(..end).filter(|path| !path.is_empty())?;
        return is_closed.then_some((path, end + 2));
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let path = rest.get(..end)?.trim_end_matches(TRAILING);
    (!path.is_empty()).then_some((path, path.len()))
}

fn can_begin(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let last = before.chars().next_back();
    last.is_none_or(|last| last.is_whitespace() || matches!(last, '(' | '[' | '{' | '`' | '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let path = |mention: Mention| mention.path.to_string_lossy().into_owned();
        mentions(text).into_iter().map(path).collect()
    }

    #[test]
    fn mentions_are_found_in_sentences() {
        assert_eq!(paths("see @src/main.rs."), ["src/main.rs"]);
        assert_eq!(paths("(@a.rs, @b.rs)"), ["a.rs", "b.rs"]);
        assert_eq!(paths("@\"a file.txt\" and @dir/"), ["a file.txt", "dir/"]);
        assert_eq!(paths("me@example.org @ @. @\"open"), [""; 0]);
        assert_eq!(paths("@\"mail @x.rs\""), ["mail @x.rs"]);
        assert_eq!(paths(&"@a ".repeat(1000)).len(), MOST);
    }

    #[test]
    fn the_mention_being_typed_is_found() {
        assert_eq!(open("see @src/ma"), Some((4, "src/ma")));
        assert_eq!(open("@"), Some((0, "")));
        assert_eq!(open("@\"a b"), Some((0, "a b")));
        assert_eq!(open("@\"a b\""), None);
        assert_eq!(open("@a "), None);
        assert_eq!(open("me@ex"), None);
        assert_eq!(open("@a\nb"), None);
    }

    #[test]
    fn spelled_mentions_are_parsed_back() {
        for path in ["a.rs", "a file.txt", "odd.", "dir/", "漢字/x"] {
            assert_eq!(paths(&spelled(path)), [path]);
        }
    }
}
