//! The parts of a text to be replaced. Earlier ones win over later ones that
//! overlap.

use std::collections::BTreeMap;
use std::ops::Range;

/// A secret or personal data.
pub(super) struct Span {
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// The value without terminal sequences and escapes.
    pub(super) value: String,
    /// Further parts after the first, for a value that is interrupted by
    /// terminal sequences.
    pub(super) rest: Vec<Range<usize>>,
}

#[derive(Default)]
pub(super) struct Spans {
    by_start: BTreeMap<usize, Span>,
}

impl Spans {
    /// Adds a value that consists of one or more ranges.
    pub(super) fn add(&mut self, mut ranges: Vec<Range<usize>>, kind: &'static str, value: &str) {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        let Some(first) = ranges.first().cloned() else {
            return;
        };
        let rest = ranges.split_off(1);
        let span = Span {
            end: first.end,
            kind,
            value: value.to_owned(),
            rest,
        };
        let mut overlapping = self.by_start.range(..span.last_end()).rev();
        if let Some((start, other)) = overlapping.next()
            && other.last_end() > first.start
        {
            // A form of the text may show more of the same value.
            let is_longer = *start == first.start && span.last_end() > other.last_end();
            let is_alone = overlapping
                .next()
                .is_none_or(|(_, before)| before.last_end() <= first.start);
            if !(is_longer && is_alone && is_secret(kind) && is_secret(other.kind)) {
                return;
            }
        }
        self.by_start.insert(first.start, span);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Returns the spans by position.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = (usize, Span)> {
        self.by_start.into_iter()
    }
}

impl Span {
    fn last_end(&self) -> usize {
        let ends = self.rest.iter().map(|range| range.end);
        ends.fold(self.end, usize::max)
    }
}

fn is_secret(kind: &str) -> bool {
    kind != super::people::HOME && kind != "email" && kind != super::OWN_HOME
}
