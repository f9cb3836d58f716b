//! Input history of the prompt.
//!
//! Going back keeps the current draft, and going forward again restores it.

/// Maximum number of entries, and of their bytes in total.
const MOST: usize = 1_000;
const LARGEST: usize = 8_000_000;

/// Earlier inputs, oldest first.
#[derive(Default)]
pub(super) struct History {
    entries: Vec<String>,
    /// The entry shown, and the draft before.
    looking: Option<(usize, String)>,
}

/// A text to put into the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recalled {
    /// A history entry.
    Entry(String),
    /// The draft.
    Draft(String),
}

impl History {
    pub(super) fn new(entries: Vec<String>) -> Self {
        let mut history = Self {
            entries,
            looking: None,
        };
        history.bound();
        history
    }

    /// Drops the oldest entries beyond the limits.
    fn bound(&mut self) {
        let mut bytes = 0;
        let is_kept = |entry: &&String| {
            bytes += entry.len();
            bytes <= LARGEST
        };
        let newest = self.entries.iter().rev().take(MOST);
        let kept = newest.take_while(is_kept).count();
        self.entries.drain(..self.entries.len() - kept);
    }

    /// Adds an entry, unless it repeats the last one.
    pub(super) fn add(&mut self, entry: &str) {
        self.looking = None;
        if self.entries.last().is_none_or(|last| last != entry) {
            self.entries.push(entry.to_owned());
        }
        self.bound();
    }

    /// Returns the previous entry; `now` is the current text of the prompt.
    pub(super) fn older(&mut self, now: &str) -> Option<Recalled> {
        let (at, draft) = match self.looking.take() {
            Some((at, draft)) => (at, draft),
            None => (self.entries.len(), now.to_owned()),
        };
        let older = at.checked_sub(1);
        self.looking = Some((older.unwrap_or(at), draft)).filter(|_| !self.entries.is_empty());
        let entry = self.entries.get(older?)?;
        Some(Recalled::Entry(entry.clone()))
    }

    /// Returns the next entry or the draft.
    pub(super) fn newer(&mut self) -> Option<Recalled> {
        let (at, draft) = self.looking.take()?;
        let Some(entry) = self.entries.get(at + 1) else {
            return Some(Recalled::Draft(draft));
        };
        self.looking = Some((at + 1, draft));
        Some(Recalled::Entry(entry.clone()))
    }

    /// Stops browsing, because the text was edited.
    pub(super) fn leave(&mut self) {
        self.looking = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Recalled {
        Recalled::Entry(text.to_owned())
    }

    #[test]
    fn going_back_and_forward_finds_the_draft() {
        let mut history = History::new(vec!["one".to_owned(), "two".to_owned()]);
        assert_eq!(history.newer(), None);
        assert_eq!(history.older("draft"), Some(entry("two")));
        assert_eq!(history.older("two"), Some(entry("one")));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer(), Some(entry("two")));
        assert_eq!(history.newer(), Some(Recalled::Draft("draft".to_owned())));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn repetitions_are_merged_and_the_oldest_dropped() {
        let mut history = History::default();
        assert_eq!(history.older(""), None);
        for number in 0..2 * MOST {
            history.add(&format!("{}", number / 2));
        }
        assert_eq!(history.entries.len(), MOST);
        history.add("more");
        assert_eq!(history.entries.len(), MOST);
        assert_eq!(history.older(""), Some(entry("more")));
        let large = "x".repeat(LARGEST / 3);
        (0..5).for_each(|number| history.add(&format!("{number}{large}")));
        assert_eq!(history.entries.len(), 2);
    }
}
