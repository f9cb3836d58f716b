//! A scrollable transcript of a run, used by all full-screen commands.
//!
//! [`Pane::event`] adds events, [`Pane::act`] performs actions, [`Pane::draw`]
//! paints. Only visible entries are laid out, and no cost grows with the length
//! of the run: a position is a slot of the [`Timeline`] and a row in it
//! (`place`), laid-out rows are cached (`cache`), slots of a kind are found block
//! by block (`index`), and a search runs in time slices (`search`). The pane
//! knows nothing about terminals, files and agents.

mod cache;
pub(crate) mod draw;
mod entry_text;
mod facts;
mod folds;
mod index;
mod place;
mod rows;
mod search;

pub use facts::Facts;
pub(crate) use index::Kinds;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use unspool::Event;
use unspool::doc::card::Kind;
use unspool::doc::entry::Detail;
use unspool::event::Plan;
use unspool::formatter::Formatter;
use unspool::session::{Entry, Item};
use unspool::timeline::Timeline;

use crate::keys::Action;
use crate::spinner;
use cache::Cache;
use folds::{All, Folds, Groups};
use index::{Index, Mark};
use place::Place;
use rows::Spot;
use search::{Search, Way};

/// Duration of one slice of a search.
const SLICE: Duration = Duration::from_millis(8);
/// Rows per step of the wheel.
const WHEEL: usize = 3;
/// Maximum number of running calls whose start is remembered.
const MOST_RUNNING: usize = 4096;

/// Layout and colours of a transcript.
#[derive(Clone, Debug)]
pub struct Look {
    /// Formatter of answers, with the theme.
    pub formatter: Formatter,
    /// Level of detail at the start.
    pub detail: Detail,
}

/// The part of an action that the caller must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Done,
    /// Copy this text to the clipboard.
    Copy(String),
    /// Open this text in another program.
    Open(String),
    /// The action does not concern the pane.
    NotMine,
}

/// A scrollable transcript.
#[expect(clippy::struct_excessive_bools, reason = "each is one state")]
pub struct Pane {
    look: Look,
    timeline: Timeline,
    index: Index,
    groups: Groups,
    folds: Folds,
    cache: Cache,
    facts: Facts,
    filter: Kinds,
    top: Place,
    cursor: Place,
    /// True while the view stays at the end.
    follows: bool,
    /// True if there is new content below the screen.
    has_unseen: bool,
    /// Slot and character offset at the top and at the cursor, to restore them
    /// after a resize.
    anchor: Option<[(usize, usize); 2]>,
    search: Option<Search>,
    /// Side-by-side changes; `None` decides by width.
    side_by_side: Option<bool>,
    /// The plan beside the transcript; `None` decides by width.
    shows_plan: Option<bool>,
    /// True while calls without a result may still get one.
    is_live: bool,
    /// Ids of calls without a result that no longer run.
    left: BTreeSet<String>,
    is_focused: bool,
    is_changed: bool,
    /// Start times of calls, where the start was observed.
    began: HashMap<usize, Instant>,
    /// True while a spinner is visible.
    has_spinner: bool,
    width: usize,
    area: Rect,
    /// The position of each row on the screen.
    seen: Vec<Place>,
}

impl Pane {
    /// Creates an empty transcript.
    pub fn new(mut look: Look) -> Self {
        // The filter decides whether it is visible.
        look.detail.usage = true;
        Self {
            look,
            timeline: Timeline::new(),
            index: Index::default(),
            groups: Groups::default(),
            folds: Folds::default(),
            cache: Cache::default(),
            facts: Facts::default(),
            filter: Kinds::DEFAULT,
            top: Place::default(),
            cursor: Place::default(),
            follows: false,
            has_unseen: false,
            anchor: None,
            search: None,
            side_by_side: None,
            shows_plan: None,
            is_live: true,
            left: BTreeSet::new(),
            is_focused: true,
            is_changed: true,
            began: HashMap::new(),
            has_spinner: false,
            width: 0,
            area: Rect::default(),
            seen: Vec::new(),
        }
    }

    /// Adds an event.
    pub fn event(&mut self, event: Event) {
        self.facts.event(&event);
        let mut changed = Vec::new();
        self.timeline.event(event, &mut |slot| changed.push(slot));
        for slot in changed {
            self.changed(slot);
        }
        self.is_changed = true;
    }

    /// Marks the end of the run: unfinished entries stay as they are.
    pub fn finish(&mut self) {
        let mut changed = Vec::new();
        self.timeline.finish(&mut |slot| changed.push(slot));
        for slot in changed {
            self.changed(slot);
        }
        self.set_live(false);
    }

    /// Removes all events, but keeps position and folds, because the same run is
    /// sent again.
    pub fn restart(&mut self) {
        self.timeline = Timeline::new();
        self.index = Index::default();
        self.groups = Groups::default();
        self.cache = Cache::default();
        self.facts = Facts::default();
        self.began.clear();
        let words = self.search.take().map(|search| search.words);
        self.search = words.and_then(|words| Search::new(&words, self.cursor.slot));
        self.is_changed = true;
    }

    /// Sets whether calls without a result may still get one.
    pub fn set_live(&mut self, is_live: bool) {
        self.is_changed |= self.is_live != is_live;
        self.is_live = is_live;
    }

    /// Sets the calls without a result that no longer run.
    pub fn set_left(&mut self, left: BTreeSet<String>) {
        self.is_changed |= self.left != left;
        self.left = left;
    }

    /// Marks everything so far as known, so that it does not count as new
    /// content.
    pub fn settled(&mut self) {
        self.has_unseen = false;
        self.is_changed = true;
    }

    /// Sets the focus.
    pub fn set_focus(&mut self, is_focused: bool) {
        self.is_changed |= self.is_focused != is_focused;
        self.is_focused = is_focused;
    }

    /// Starts or stops following the end.
    pub fn follow(&mut self, follows: bool) {
        self.follows = follows;
        self.is_changed = true;
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.timeline.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.timeline.is_empty()
    }

    /// Returns the facts about the run.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the current plan.
    pub fn plan(&self) -> Option<&Plan> {
        Some(&self.facts.plan).filter(|plan| !plan.entries.is_empty())
    }

    /// Returns true if the display changed since the last frame.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the time of the next due frame: for a spinner or a running search.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let searches = self.search.as_ref().is_some_and(|search| {
            search.count(&self.timeline).contains(['+', '…']) || search.wanted.is_some()
        });
        if searches {
            return Some(now);
        }
        self.has_spinner.then(|| now + spinner::INTERVAL)
    }

    /// Runs due work.
    pub fn tick(&mut self) {
        self.is_changed |= self.has_spinner;
        let Some(mut search) = self.search.take() else {
            return;
        };
        let (index, wanted) = (&self.index, self.wanted(self.filter));
        let is_shown = |slot: usize| index.next(slot, wanted) == Some(slot);
        search.look(&self.timeline, &is_shown, SLICE);
        let way = search.wanted;
        self.search = Some(search);
        self.is_changed = true;
        if let Some(way) = way {
            self.go_to_match(way);
        }
    }

    fn changed(&mut self, slot: usize) {
        let Some(entry) = self.timeline.entry(slot) else {
            return;
        };
        let is_new = self.index.get(slot) == Mark::default();
        if is_new && matches!(entry.item, Item::Tool(_)) && self.began.len() < MOST_RUNNING {
            self.began.insert(slot, Instant::now());
        }
        if !self.timeline.is_open(slot) {
            self.began.remove(&slot);
        }
        let group = self.groups.of(slot, entry, is_new);
        self.index.set(slot, Mark::of(entry, group));
        self.has_unseen |= !self.follows && self.is_live;
    }

    /// Performs an action.
    pub fn act(&mut self, action: Action) -> Answer {
        self.is_changed = true;
        let page = usize::from(self.area.height).max(2) - 1;
        match action {
            Action::Down => self.move_to(|pane| pane.down(pane.cursor, 1)),
            Action::Up => self.move_to(|pane| pane.up(pane.cursor, 1)),
            Action::HalfDown => self.scroll_down(page.div_ceil(2)),
            Action::HalfUp => self.scroll_up(page.div_ceil(2)),
            Action::PageDown => self.scroll_down(page),
            Action::PageUp => self.scroll_up(page),
            Action::Top => self.move_to(Self::first),
            Action::End => self.move_to(Self::last),
            Action::NextEntry => self.jump(Way::Down, Kinds::ALL),
            Action::PreviousEntry => self.jump(Way::Up, Kinds::ALL),
            Action::NextPrompt => self.jump(Way::Down, Kinds::of(Kind::Prompt)),
            Action::PreviousPrompt => self.jump(Way::Up, Kinds::of(Kind::Prompt)),
            Action::NextError => self.jump(Way::Down, Kinds::FAILED),
            Action::PreviousError => self.jump(Way::Up, Kinds::FAILED),
            Action::NextEdit => self.jump(Way::Down, Kinds::of(Kind::Edit)),
            Action::PreviousEdit => self.jump(Way::Up, Kinds::of(Kind::Edit)),
            Action::Toggle => self.toggle(),
            Action::More => self.set_level(1),
            Action::Less => self.set_level(-1),
            Action::ExpandAll => self.fold_all(All::Open),
            Action::FoldAll => self.fold_all(All::Folded),
            Action::ResetFolds => self.fold_all(All::Default),
            Action::NextMatch => self.go_to_match(Way::Down),
            Action::PreviousMatch => self.go_to_match(Way::Up),
            Action::SideBySide => self.side_by_side = Some(!self.side_by_side.unwrap_or(true)),
            Action::Plan => self.shows_plan = Some(!self.is_plan_shown(self.area.width)),
            Action::Cancel => self.search = None,
            Action::Copy => return self.text().map_or(Answer::Done, Answer::Copy),
            Action::Editor | Action::Pager => {
                return self.text().map_or(Answer::Done, Answer::Open);
            }
            _ => return Answer::NotMine,
        }
        Answer::Done
    }

    /// Returns the text of the selected entry, without wrapping and margins.
    pub fn text(&self) -> Option<String> {
        let entry = self.timeline.entry(self.cursor.slot)?;
        Some(entry_text::text(entry)).filter(|text| !text.is_empty())
    }

    /// Returns the selected entry.
    pub fn entry(&self) -> Option<&Entry> {
        self.timeline.entry(self.cursor.slot)
    }

    /// Handles a mouse event.
    pub fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollUp => self.scroll_up(WHEEL),
            MouseEventKind::ScrollDown => self.scroll_down(WHEEL),
            MouseEventKind::Down(MouseButton::Left) => {
                let place = Position::new(mouse.column, mouse.row);
                if self.area.contains(place) {
                    self.click(usize::from(mouse.row - self.area.y));
                }
            }
            _ => return,
        }
        self.is_changed = true;
    }

    /// Selects an entry; a click on its selected heading folds it.
    fn click(&mut self, row: usize) {
        let Some(place) = self.seen.get(row).copied() else {
            return;
        };
        let was_here = self.cursor.slot == place.slot;
        self.go(place);
        let spot = self.spot(place);
        if matches!(spot, Spot::Label(_)) || was_here && matches!(spot, Spot::Head(_)) {
            self.toggle();
        }
    }

    /// Shows only entries of these kinds.
    pub(crate) fn set_filter(&mut self, kinds: Kinds) {
        self.filter = kinds;
        self.is_changed = true;
        let words = self.search.take().map(|search| search.words);
        if let Some(words) = words {
            self.search = Search::new(&words, self.cursor.slot);
        }
    }

    /// Returns the visible kinds.
    pub(crate) fn filter(&self) -> Kinds {
        self.filter
    }

    /// Describes the position in the run.
    pub fn position(&self) -> String {
        let all = self.index.count(self.filter);
        if all == 0 {
            return String::new();
        }
        let here = self.index.rank(self.cursor.slot, self.filter).clamp(1, all);
        let end = if self.follows { " end" } else { "" };
        format!("{here}/{all}{end}")
    }

    fn move_to(&mut self, place: impl FnOnce(&mut Self) -> Place) {
        let place = place(self);
        self.go(place);
    }

    fn go(&mut self, place: Place) {
        self.anchor = None;
        self.cursor = place;
        self.follows = !self.timeline.is_empty() && self.last() == place;
        self.has_unseen &= !self.follows;
    }

    fn height(&self) -> usize {
        usize::from(self.area.height).max(1)
    }

    fn scroll_down(&mut self, rows: usize) {
        let height = self.height();
        let last = self.last();
        let highest = self.up(last, height - 1);
        let top = self.down(self.top, rows);
        if self.follows || top >= highest {
            self.go(last);
            return;
        }
        self.top = top;
        let cursor = self.cursor.max(top);
        self.go(cursor);
    }

    fn scroll_up(&mut self, rows: usize) {
        let height = self.height();
        self.top = self.up(self.top, rows);
        let bottom = self.down(self.top, height - 1);
        let mut cursor = self.cursor.min(bottom);
        let first = self.first();
        if self.top == first && rows > WHEEL {
            cursor = self.top;
        }
        self.go(cursor);
    }

    /// Moves to the next entry of these kinds.
    fn jump(&mut self, way: Way, kinds: Kinds) {
        let slot = self.cursor.slot;
        let kinds = if kinds == Kinds::ALL {
            self.filter
        } else {
            kinds
        };
        let found = match way {
            Way::Down => self.index.next(slot + 1, self.wanted(kinds)),
            Way::Up => {
                // Inside a long entry, move to its start first.
                let is_inside = self.cursor > self.begin_of(slot);
                let is_same = self.index.get(slot).kinds.meets(kinds);
                if is_inside && is_same {
                    Some(slot)
                } else {
                    self.index.previous(slot, self.wanted(kinds))
                }
            }
        };
        if let Some(slot) = found {
            let place = self.begin_of(slot);
            self.show(place);
        }
    }

    /// Moves to a place and scrolls it into the upper part of the screen if it is
    /// hidden.
    fn show(&mut self, place: Place) {
        self.reveal(place);
        self.go(place);
    }

    /// Scrolls until an entry is visible from this row on, as far as it fits.
    fn reveal(&mut self, place: Place) {
        let height = self.height();
        let bottom = self.down(self.top, height - 1);
        let end = Place {
            slot: place.slot,
            row: self.rows(place.slot).saturating_sub(1),
        };
        if place < self.top || end > bottom {
            self.top = self.up(place, height / 4);
        }
    }

    fn spot(&mut self, place: Place) -> Spot {
        self.rows(place.slot);
        let row = place.row.saturating_sub(self.lead(place.slot).rows());
        let row = self.cache.get(place.slot).get(row);
        row.map_or(Spot::Body, |row| row.part)
    }

    fn is_plan_shown(&self, width: u16) -> bool {
        let room = width >= draw::ROOM_FOR_PLAN;
        self.plan().is_some() && self.shows_plan.unwrap_or(room)
    }
}

#[cfg(test)]
mod tests;
