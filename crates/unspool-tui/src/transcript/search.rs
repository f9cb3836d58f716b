//! Incremental search from the cursor outwards in time slices, so that a run of
//! any length stays responsive, and moving to its matches.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use unspool::timeline::Timeline;

use super::folds::folded;
use super::place::Place;
use super::rows::{self, Level};
use super::{Pane, entry_text};

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

impl Pane {
    /// Searches a text, starting at the cursor.
    pub fn search(&mut self, words: &str) {
        self.search = Search::new(words, self.cursor.slot);
        self.is_changed = true;
        if self.search.is_some() {
            let here = self.match_in(self.cursor.slot, Way::Down, self.cursor.row);
            match here {
                Some(place) => self.go(place),
                None => self.go_to_match(Way::Down),
            }
        }
    }

    /// Returns the searched text and the position among the matches so far.
    pub fn search_words(&self) -> Option<(&str, String)> {
        let search = self.search.as_ref()?;
        let count = match search.wanted {
            Some(_) => "searching…".to_owned(),
            None => search.place(self.cursor.slot, &self.timeline),
        };
        Some((&search.words, count))
    }

    /// Moves to the next match, once the search has found it.
    pub(super) fn go_to_match(&mut self, way: Way) {
        let Some(search) = &mut self.search else {
            return;
        };
        search.wanted = None;
        if let Some(place) = self.match_beside(way) {
            self.show(place);
            return;
        }
        let Some(search) = &mut self.search else {
            return;
        };
        match search.next(self.cursor.slot, way, &self.timeline) {
            (Some(slot), true) => {
                let place = self.match_in(slot, way, edge(way));
                let place = place.unwrap_or_else(|| self.begin_of(slot));
                self.show(place);
            }
            (None, true) if search.is_done(&self.timeline) => {
                // Wrap around.
                let Some(slot) = search.outermost(way) else {
                    return;
                };
                let place = self.match_in(slot, way, edge(way));
                let place = place.unwrap_or_else(|| self.begin_of(slot));
                self.show(place);
            }
            _ => search.wanted = Some(way),
        }
    }

    /// Returns the next match within the selected slot.
    fn match_beside(&mut self, way: Way) -> Option<Place> {
        let Place { slot, row } = self.cursor;
        if !self.search.as_ref()?.has(slot) {
            return None;
        }
        match way {
            Way::Down => self.match_in(slot, way, row + 1),
            Way::Up => self.match_in(slot, way, row.checked_sub(1)?),
        }
    }

    /// Returns the first matching row of a slot, from this row on. Unfolds the
    /// slot if the match is in a folded part.
    fn match_in(&mut self, slot: usize, way: Way, from: usize) -> Option<Place> {
        let found = self.matching_row(slot, way, from);
        if found.is_some() || self.matching_row(slot, way, edge(way)).is_some() {
            return found;
        }
        let has = self.timeline.entry(slot).is_some_and(|entry| {
            let is_in = |text: &str| {
                self.search
                    .as_ref()
                    .is_some_and(|search| search.is_in(text))
            };
            entry_text::any(entry, &is_in)
        });
        if !has || slot == self.cursor.slot && from != 0 && way == Way::Up {
            return None;
        }
        self.folds.set(slot, Level::Full);
        self.rows(slot);
        if self.matching_row(slot, way, edge(way)).is_none() {
            let folded: Vec<u16> = self.cache.get(slot).iter().filter_map(folded).collect();
            self.folds.open(slot, folded);
        }
        self.hide();
        self.matching_row(slot, way, edge(way))
    }

    fn matching_row(&mut self, slot: usize, way: Way, from: usize) -> Option<Place> {
        self.rows(slot);
        let lead = self.lead(slot).rows();
        let search = self.search.as_ref()?;
        let is_match = |row: &rows::Row| search.is_in(&entry_text::plain(&row.line));
        let rows = self.cache.get(slot);
        if way == Way::Up && from < lead {
            return None;
        }
        let from = from.saturating_sub(lead);
        let row = match way {
            Way::Down => rows
                .iter()
                .skip(from)
                .position(is_match)
                .map(|at| at + from),
            Way::Up => {
                let rows = rows.get(..rows.len().min(from.saturating_add(1)));
                rows.unwrap_or_default().iter().rposition(is_match)
            }
        };
        row.map(|row| Place {
            slot,
            row: row + lead,
        })
    }
}

/// Returns the row at which a search in a slot starts.
fn edge(way: Way) -> usize {
    match way {
        Way::Down => 0,
        Way::Up => usize::MAX,
    }
}
