//! Edits that an agent proposes in its answer. Their outcome follows later but
//! belongs to them, so later events wait for it, up to a limit.

use super::Emitter;
use crate::event::{Body, Edit, Payload, ToolStatus};

/// Events that wait for the outcome of an edit at most.
const MOST_HELD: u64 = 1024;

impl Emitter {
    /// Queues edits outside any call whose outcome follows; later events wait for
    /// it.
    pub(crate) fn proposed_edits(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            self.undecided.push_back(self.seq);
            self.edits(vec![edit]);
        }
    }

    /// Sets the outcome of waiting edits; `None` leaves one waiting.
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

    /// Takes all waiting edits as made.
    pub(crate) fn release_edits(&mut self) {
        self.undecided.clear();
    }

    /// Releases edits that waited too long.
    pub(super) fn release_late_edits(&mut self) {
        let first = self.undecided.front();
        if first.is_some_and(|first| self.seq - first > MOST_HELD) {
            self.release_edits();
        }
    }
}
