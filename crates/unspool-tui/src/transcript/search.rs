//! Finding words: from where the reader is outwards, a slice of time after the
//! other, so that a run of any length can be searched while it is read.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use unspool::timeline::Timeline;

use super::words;

/// Slots that are looked at before the clock is.
const STEP: usize = 64;
/// Slots whose matches are counted together.
const BLOCK: usize = 1024;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Down,
    Up,
}

/// What is looked for, and what was found.
pub(super) struct Search {
    pub(super) words: String,
    pattern: Regex,
    /// The next slot that is looked at downwards.
    down: usize,
    /// The slots above this one were not looked at.
    up: usize,
    found: BTreeSet<usize>,
    /// How many were found in each block of slots.
    blocks: Vec<usize>,
    /// Where the reader wants to go as soon as it is known.
    pub(super) wanted: Option<Way>,
}

impl Search {
    /// Looks for words, beginning at a slot. Capital letters count only if
    /// there are some.
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

    /// Looks at more slots for this long; gives back whether any are left.
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
        if entry.is_some_and(|entry| words::any(entry, &is_wanted)) && self.found.insert(slot) {
            let block = slot / BLOCK;
            if block >= self.blocks.len() {
                self.blocks.resize(block + 1, 0);
            }
            if let Some(count) = self.blocks.get_mut(block) {
                *count += 1;
            }
        }
    }

    /// Whether all slots were looked at.
    pub(super) fn is_done(&self, timeline: &Timeline) -> bool {
        self.up == 0 && self.down >= timeline.len()
    }

    /// The next slot that was found, and whether that is certain.
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

    /// The first slot that was found, or the last.
    pub(super) fn outermost(&self, way: Way) -> Option<usize> {
        match way {
            Way::Down => self.found.first().copied(),
            Way::Up => self.found.last().copied(),
        }
    }

    /// Whether a slot was found.
    pub(super) fn has(&self, slot: usize) -> bool {
        self.found.contains(&slot)
    }

    /// Where the words are in a text.
    pub(super) fn places<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        self.pattern.find_iter(text).map(|found| found.range())
    }

    /// Whether the words are in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// The same with the place of a slot among them, once all before it were
    /// looked at.
    pub(super) fn place(&self, slot: usize, timeline: &Timeline) -> String {
        let count = self.count(timeline);
        if self.up > 0 || !self.found.contains(&slot) {
            return count;
        }
        let before: usize = self.blocks.iter().take(slot / BLOCK).sum();
        let here = before + self.found.range(slot / BLOCK * BLOCK..=slot).count();
        format!("{here} of {count}")
    }

    /// How many entries have them, as far as is known.
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
