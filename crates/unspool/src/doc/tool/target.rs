//! The objects of calls in headings: paths, patterns, addresses.

use crate::sanitize;
use crate::session::Folder;

/// The object of a call in its heading.
pub(super) struct Target {
    pub(super) shown: String,
    /// The whole path, if it is shown relative to the folder of the run.
    pub(super) whole: String,
}

impl Target {
    /// Returns the object for a path.
    pub(super) fn path(path: &str, folder: Option<&Folder>) -> Self {
        match folder.and_then(|folder| folder.relative(path.trim())) {
            Some(relative) => Self {
                shown: sanitize::exact(relative).into_owned(),
                whole: sanitize::line(path.trim()).into_owned(),
            },
            None => sanitize::exact(path).into_owned().into(),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.shown.trim().is_empty()
    }
}

impl From<String> for Target {
    fn from(shown: String) -> Self {
        Self {
            shown,
            whole: String::new(),
        }
    }
}
