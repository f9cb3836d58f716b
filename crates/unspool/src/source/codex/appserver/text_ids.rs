//! The ids of texts that come in pieces. They are the server's own, unless it
//! uses one again for another text.

use std::collections::HashMap;

use crate::recent::RecentMap;

/// Finished texts whose ids are remembered.
const REMEMBERED: usize = 256;

#[derive(Clone, Default)]
pub(super) struct TextIds {
    /// The ids of open texts in the events, where they differ.
    open: HashMap<String, String>,
    /// How many finished texts had an id.
    done: RecentMap<String, usize, REMEMBERED>,
}

impl TextIds {
    /// A text begins.
    pub(super) fn begin(&mut self, id: &str) {
        if let Some(before) = self.done.get(id) {
            let alias = format!("{id}#{}", before + 1);
            self.open.insert(id.to_owned(), alias);
        }
    }

    /// The id of a text that is open.
    pub(super) fn current<'a>(&'a self, id: &'a str) -> &'a str {
        self.open.get(id).map_or(id, String::as_str)
    }

    /// A text is complete.
    pub(super) fn end(&mut self, id: &str) -> String {
        *self.done.get_or_insert(id) += 1;
        self.open.remove(id).unwrap_or_else(|| id.to_owned())
    }
}
