//! Shows paths inside a project's folder relative to it.
//!
//! Paths are text from agents, which may run on another system: nothing is looked
//! up in the file system, and Windows paths are handled on every system. A path is
//! shortened only if it is inside the folder without doubt, so never with `..` in
//! either of them.

use std::sync::Arc;

/// The folder of a session, to which paths are shown relative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(Arc<String>);

impl Folder {
    /// Creates the folder of a session; `None` if paths cannot be relative to it:
    /// it must be absolute, and not the root of a file system.
    pub fn new(path: &str) -> Option<Self> {
        let mut names = Names::of(path)?;
        // A drive or a share is a root too.
        let least = match names.style {
            Style::Unix | Style::Home => 1,
            Style::Drive => 2,
            Style::Share => 3,
        };
        let is_plain = names.clone().all(|name| name != "..");
        (is_plain && names.nth(least - 1).is_some()).then(|| Self(Arc::new(path.to_owned())))
    }

    /// Returns the path relative to the folder, `.` for the folder itself, or `None`
    /// if it is not inside the folder.
    pub fn relative<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut path = Names::of(path)?;
        let mut folder = Names::of(&self.0)?;
        if path.style != folder.style || path.clone().any(|name| name == "..") {
            return None;
        }
        folder
            .all(|name| {
                path.next()
                    .is_some_and(|other| path.style.equal(name, other))
            })
            .then(|| path.rest())
    }
}

/// The kinds of absolute paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `/home/me`
    Unix,
    /// `~/me`, from which the home directory was removed
    Home,
    /// `C:\Users\me`, whose first name is the drive
    Drive,
    /// `\\server\share\me`, whose first names are server and share
    Share,
}

impl Style {
    fn is_windows(self) -> bool {
        matches!(self, Self::Drive | Self::Share)
    }

    fn is_separator(self, character: char) -> bool {
        character == '/' || (character == '\\' && self.is_windows())
    }

    /// Compares two names. Windows ignores case.
    fn equal(self, one: &str, other: &str) -> bool {
        one == other || (self.is_windows() && one.eq_ignore_ascii_case(other))
    }
}

/// The names in an absolute path, without empty ones and `.`.
#[derive(Clone)]
struct Names<'a> {
    style: Style,
    left: &'a str,
}

impl<'a> Names<'a> {
    /// Returns `None` for a relative path.
    fn of(path: &'a str) -> Option<Self> {
        let style = if path.starts_with('/') {
            Style::Unix
        } else if path == "~" || path.starts_with("~/") {
            Style::Home
        } else if path.starts_with(r"\\") {
            Style::Share
        } else {
            let is_drive = match path.as_bytes() {
                [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
                _ => false,
            };
            is_drive.then_some(Style::Drive)?
        };
        Some(Self { style, left: path })
    }

    /// Skips separators and `.`.
    fn skip_blanks(&mut self) {
        loop {
            self.left = self.left.trim_start_matches(|c| self.style.is_separator(c));
            match self.left.strip_prefix('.') {
                Some(rest)
                    if rest.is_empty() || rest.starts_with(|c| self.style.is_separator(c)) =>
                {
                    self.left = rest;
                }
                _ => return,
            }
        }
    }

    /// Returns the names that are left as they are written, or `.` if there are
    /// none.
    fn rest(mut self) -> &'a str {
        self.skip_blanks();
        if self.left.is_empty() { "." } else { self.left }
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let style = self.style;
        let end = self.left.find(|c| style.is_separator(c));
        let (name, rest) = self.left.split_at(end.unwrap_or(self.left.len()));
        self.left = rest;
        (!name.is_empty()).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn relative<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
        Folder::new(folder)?.relative(path)
    }

    #[test]
    fn paths_inside_the_folder_are_relative() {
        for (folder, path, shown) in [
            ("/a/b", "/a/b/c.rs", "c.rs"),
            ("/a/b/", "/a/b/c/d.rs", "c/d.rs"),
            ("/a/b", "/a//b/./c.rs:12", "c.rs:12"),
            ("/a/./b", "/a/b/src/", "src/"),
            ("/a/b", "/a/b/**/*.rs", "**/*.rs"),
            ("/a/b", "/a/b/c\\d", "c\\d"),
            ("/a/b", "/a/b/.git", ".git"),
            ("/a/b", "/a/b/..c", "..c"),
            ("~/a", "~/a/b", "b"),
            ("~", "~/b", "b"),
            ("/a", "/a", "."),
            ("/a/b", "/a/b/", "."),
            ("/a/b", "/a/b/.", "."),
            (r"C:\a\b", r"C:\a\b\c.rs", "c.rs"),
            (r"C:\a\b", r"c:/A/b/c\d.rs", r"c\d.rs"),
            (r"c:\a\b\", r"C:\a\b", "."),
            (r"\\host\share\a", r"\\host\share\a\c.rs", "c.rs"),
        ] {
            assert_eq!(relative(folder, path), Some(shown), "{path} in {folder}");
        }
    }

    #[test]
    fn other_paths_stay_as_they_are() {
        for (folder, path) in [
            ("/a/b", "/a/bc"),
            ("/a/b", "/a/b..c"),
            ("/a/bc", "/a/b"),
            ("/a/b", "/a"),
            ("/a/b", "/A/b/c"),
            ("/a/b", "/a/b/../c"),
            ("/a/b", "/a/b/c/.."),
            ("/a/../b", "/a/../b/c"),
            ("/a/b", "c.rs"),
            ("/a/b", "./c.rs"),
            ("/a/b", ""),
            ("/", "/a"),
            ("//", "/a"),
            ("/.", "/a"),
            ("", "/a"),
            ("a", "a/b"),
            ("~/a", "/~/a/b"),
            ("~/a", "~/ab"),
            ("~a/b", "~a/b/c"),
            (r"C:\", r"C:\a"),
            ("C:", r"C:\a"),
            (r"C:\a", r"D:\a\b"),
            (r"C:\a", r"C:\ab"),
            (r"C:\a", r"C:\a\..\b"),
            (r"C:\a", "C:a"),
            (r"C:\a", "/a/b"),
            (r"\\host\share", r"\\host\share\a"),
            (r"\\host\share\a", r"\\host\other\a\c"),
        ] {
            assert_eq!(relative(folder, path), None, "{path} in {folder}");
        }
    }

    proptest! {
        #[test]
        fn the_rest_of_a_path_is_at_its_end(
            folder in "[/a-bC:\\\\.]{0,12}",
            path in "[/a-bC:\\\\.]{0,16}",
        ) {
            if let Some(shown) = relative(&folder, &path) {
                prop_assert!(shown == "." || path.ends_with(shown));
                prop_assert!(!shown.starts_with('/'));
            }
        }
    }
}
