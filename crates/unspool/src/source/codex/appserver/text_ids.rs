//! Ids of streamed texts. They are the server's, made unique where it reuses
//! them.

use std::collections::HashMap;

use crate::recent::RecentMap;

/// Finished texts whose ids are remembered.
const REMEMBERED: usize = 256;

#[derive(Clone, Default)]
pub(super) struct TextIds {
    /// Ids of open texts in the events, if they differ.
    open: HashMap<String, String>,
    /// Number of finished texts with an id.
    done: RecentMap<String, usize, REMEMBERED>,
}

impl TextIds {
    /// Starts a text.
    pub(super) fn start(&mut self, id: &str) {
        if let Some(before) = self.done.get(id) {
            let alias = format!("{id}#{}", before + 1);
            self.open.insert(id.to_owned(), alias);
        }
    }

    /// Returns the id of an open text in the events.
    pub(super) fn current<'a>(&'a self, id: &'a str) -> &'a str {
        self.open.get(id).map_or(id, String::as_str)
    }

    /// Ends a text and returns its id in the events.
    pub(super) fn end(&mut self, id: &str) -> String {
        *self.done.get_or_insert(id) += 1;
        self.open.remove(id).unwrap_or_else(|| id.to_owned())
    }
}
