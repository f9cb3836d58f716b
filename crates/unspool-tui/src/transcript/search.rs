//! Incremental search from the cursor outwards in time slices, so that a run of
//! any length stays responsive.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use unspool::timeline::Timeline;

use super::entry_text;

/// Number of slots between two looks at the clock.
const STEP: usize = 64;
/// Number of slots whose matches are counted together.
const BLOCK: usize = 1024;

/// Search direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Down,
    Up,
}

/// A search and its results.
pub(super) struct Search {
    pub(super) words: String,
    pattern: Regex,
    /// The next slot to search downwards.
    down: usize,
    /// Slots before this one are not searched yet.
    up: usize,
    found: BTreeSet<usize>,
    /// Number of matches per block of slots.
    blocks: Vec<usize>,
    /// A jump to perform as soon as its target is found.
    pub(super) wanted: Option<Way>,
}

impl Search {
    /// Starts a search at a slot. It is case-sensitive if the text has capitals.
    pub(super) fn new(words: &str, from: usize) -> Option<Self> {
        let is_exact = words.chars().any(char::is_uppercase);
        let pattern = RegexBuilder::new(&regex::escape(words))
            .case_insensitive(!is_exact)
            .build();
        Some(Self {
            words: words.to_owned(),
            pattern: pattern.ok().filter(|_| !words.is_empty())?,
            down: from,
            up: from,
            found: BTreeSet::new(),
            blocks: Vec::new(),
            wanted: None,
        })
    }

    /// Searches more slots for this long. Returns true if any are left.
    pub(super) fn look(
        &mut self,
        timeline: &Timeline,
        is_shown: &dyn Fn(usize) -> bool,
        time: Duration,
    ) -> bool {
        let began = Instant::now();
        while !self.is_done(timeline) {
            for _ in 0..STEP {
                if self.down < timeline.len() && self.wanted != Some(Way::Up) || self.up == 0 {
                    self.take(self.down, timeline, is_shown);
                    self.down = (self.down + 1).min(timeline.len());
                }
                if self.up > 0 && (self.wanted != Some(Way::Down) || self.down == timeline.len()) {
                    self.up -= 1;
                    self.take(self.up, timeline, is_shown);
                }
            }
            if began.elapsed() >= time {
                break;
            }
        }
        !self.is_done(timeline)
    }

    fn take(&mut self, slot: usize, timeline: &Timeline, is_shown: &dyn Fn(usize) -> bool) {
        let is_wanted = |text: &str| self.pattern.is_match(text);
        let entry = timeline.entry(slot).filter(|_| is_shown(slot));
        if entry.is_some_and(|entry| entry_text::any(entry, &is_wanted)) && self.found.insert(slot)
        {
            let block = slot / BLOCK;
            if block >= self.blocks.len() {
                self.blocks.resize(block + 1, 0);
            }
            if let Some(count) = self.blocks.get_mut(block) {
                *count += 1;
            }
        }
    }

    /// Returns true if all slots are searched.
    pub(super) fn is_done(&self, timeline: &Timeline) -> bool {
        self.up == 0 && self.down >= timeline.len()
    }

    /// Returns the next matching slot, and true if no closer one can follow.
    pub(super) fn next(&self, slot: usize, way: Way, timeline: &Timeline) -> (Option<usize>, bool) {
        match way {
            Way::Down => {
                let found = self.found.range(slot + 1..).next().copied();
                let known = found.unwrap_or(usize::MAX) < self.down || self.down >= timeline.len();
                (found, known && (slot + 1 >= self.up || self.up == 0))
            }
            Way::Up => {
                let found = self.found.range(..slot).next_back().copied();
                let known = found.is_some_and(|found| found >= self.up) || self.up == 0;
                (found, known)
            }
        }
    }

    /// Returns the first matching slot, or the last.
    pub(super) fn outermost(&self, way: Way) -> Option<usize> {
        match way {
            Way::Down => self.found.first().copied(),
            Way::Up => self.found.last().copied(),
        }
    }

    /// Returns true if a slot matches.
    pub(super) fn has(&self, slot: usize) -> bool {
        self.found.contains(&slot)
    }

    /// Returns the ranges of all matches in a text.
    pub(super) fn places<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        self.pattern.find_iter(text).map(|found| found.range())
    }

    /// Returns true if a text matches.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// Returns the count, with the position of a slot once all slots before it
    /// are searched.
    pub(super) fn place(&self, slot: usize, timeline: &Timeline) -> String {
        let count = self.count(timeline);
        if self.up > 0 || !self.found.contains(&slot) {
            return count;
        }
        let before: usize = self.blocks.iter().take(slot / BLOCK).sum();
        let here = before + self.found.range(slot / BLOCK * BLOCK..=slot).count();
        format!("{here} of {count}")
    }

    /// Describes the number of matching entries so far.
    pub(super) fn count(&self, timeline: &Timeline) -> String {
        let more = if self.is_done(timeline) { "" } else { "+" };
        match self.found.len() {
            0 if !more.is_empty() => "searching…".to_owned(),
            0 => "not found".to_owned(),
            1 => format!("1{more} entry"),
            count => format!("{count}{more} entries"),
        }
    }
}
