//! Changes that an agent proposes in its words: whether they were made is told
//! behind them, and belongs to them. What follows a change therefore waits until
//! it is decided on, but never for long.

use super::Emitter;
use crate::event::{Body, Edit, Payload, ToolStatus};

/// Events that wait until it is known whether a change was made.
const MOST_HELD: u64 = 1024;

impl Emitter {
    /// Changes of files outside any call, of which it is told a little later
    /// whether they were made: what follows waits for that.
    pub(crate) fn proposed_edits(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            self.undecided.push_back(self.seq);
            self.edits(vec![edit]);
        }
    }

    /// Tells of the changes that wait for it whether they were made; `None`
    /// where that is still not known.
    pub(crate) fn decide_edits(
        &mut self,
        mut outcome: impl FnMut(&Edit) -> Option<(ToolStatus, Payload)>,
    ) {
        let Some(first) = self.events.front().map(|event| event.seq) else {
            return;
        };
        let events = &mut self.events;
        self.undecided.retain(|seq| {
            let at = usize::try_from(seq.saturating_sub(first)).unwrap_or(usize::MAX);
            let Some(Body::Edit(made)) = events.get_mut(at).map(|event| &mut event.body) else {
                return false;
            };
            let Some((status, reason)) = made.edits.first().and_then(&mut outcome) else {
                return true;
            };
            (made.status, made.reason) = (status, reason);
            false
        });
    }

    /// No more is told of the changes: those that wait were made.
    pub(crate) fn release_edits(&mut self) {
        self.undecided.clear();
    }

    /// Nothing waits for ever.
    pub(super) fn release_late_edits(&mut self) {
        let first = self.undecided.front();
        if first.is_some_and(|first| self.seq - first > MOST_HELD) {
            self.release_edits();
        }
    }
}
