//! `unspool view`: a run that is browsed, also while it grows.
//!
//! Another thread reads; what it has read comes through a bounded channel, so
//! that it waits when nobody looks, and wakes the one who paints. What needs
//! files and programs is asked of [`Errands`].

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{Event as Pressed, KeyEventKind};
use ratatui::layout::Rect;
use unspool::Event;
use unspool::doc::{Line, Role, Span, Style};
use unspool::layout::width;
use unspool::theme::Theme;

use crate::convert;
use crate::keys::{Action, Place, action};
use crate::paint::put;
use crate::screen::{self, Happening, Screen, Waker};
pub use crate::sight::Errands;
use crate::sight::Sight;
use crate::transcript::Look;

/// Batches that may wait; whoever reads faster has to wait.
const QUEUE: usize = 16;
/// How long events are taken before something is painted.
const BATCH: Duration = Duration::from_millis(12);
/// How long something to read is waited for before the screen is taken.
const FIRST: Duration = Duration::from_millis(150);
/// The keys that are told of.
const PLACES: [Place; 2] = [Place::Transcript, Place::Everywhere];

/// What a reader tells.
#[derive(Debug)]
pub enum Fed {
    /// What happened next.
    Events(Vec<Event>),
    /// The run is another one now: what follows is its beginning.
    Restart,
    /// All that happened, again and anew.
    Whole(Vec<Event>),
    /// Words about the reading itself.
    Said(String),
    /// Whether somebody still writes.
    Live(bool),
    /// Nothing more comes.
    Ended,
}

/// The reader's end of the channel.
#[derive(Clone)]
pub struct Feeder {
    sender: SyncSender<Fed>,
    waker: Waker,
}

impl Feeder {
    /// Gives something to the one who looks, who may be slow. False if nobody
    /// looks any more.
    pub fn feed(&self, fed: Fed) -> bool {
        let is_taken = self.sender.send(fed).is_ok();
        self.waker.wake();
        is_taken
    }
}

/// How browsing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The reader has seen enough.
    Left,
    /// A signal asks to end.
    Signal(i32),
    /// There was nothing to read.
    Nothing,
}

/// What was read so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    NotYet,
    Something,
    /// And nothing comes.
    Nothing,
}

/// What is browsed.
pub struct Browse {
    sight: Sight,
    theme: Theme,
    feed: Receiver<Fed>,
    /// Events of a batch that were not taken yet.
    rest: VecDeque<Event>,
    name: String,
    is_reading: bool,
    found: Found,
    /// What was said last about the reading.
    said: String,
    is_changed: bool,
}

impl Browse {
    /// A run with a name, and the end of the channel that it is fed through.
    pub fn new(look: Look, name: &str, screen: &Screen) -> (Self, Feeder) {
        let (sender, feed) = sync_channel(QUEUE);
        let feeder = Feeder {
            sender,
            waker: screen.waker(),
        };
        let browse = Self {
            theme: look.formatter.theme(),
            sight: Sight::new(look, &PLACES),
            feed,
            rest: VecDeque::new(),
            name: unspool::sanitize::line(name).into_owned(),
            is_reading: true,
            found: Found::NotYet,
            said: String::new(),
            is_changed: true,
        };
        (browse, feeder)
    }

    /// Goes to the end and stays there, from the beginning on.
    pub fn follow(&mut self) {
        self.sight.pane.follow(true);
    }

    /// Lets a person browse.
    pub fn run(&mut self, screen: &mut Screen, errands: &mut dyn Errands) -> io::Result<End> {
        self.await_first();
        if self.found == Found::Nothing {
            return Ok(End::Nothing);
        }
        screen.open()?;
        screen.title(&format!("{} – unspool", self.name))?;
        let end = self.watch(screen, errands);
        screen.close();
        end
    }

    /// What was said last about the reading: why there was nothing, perhaps.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Waits a moment for what is read first, so that the screen is not taken for
    /// nothing.
    fn await_first(&mut self) {
        let until = Instant::now() + FIRST;
        while self.found == Found::NotYet && self.is_reading {
            let rest = until.saturating_duration_since(Instant::now());
            let Ok(fed) = self.feed.recv_timeout(rest) else {
                return;
            };
            self.fed(fed);
        }
    }

    fn watch(&mut self, screen: &mut Screen, errands: &mut dyn Errands) -> io::Result<End> {
        loop {
            let has_more = self.take();
            if self.found == Found::Nothing {
                return Ok(End::Nothing);
            }
            if self.is_changed | self.sight.take_changed() {
                screen.draw(|frame| self.draw(frame))?;
                self.is_changed = false;
            }
            let now = Instant::now();
            let due = if has_more {
                Some(now)
            } else {
                self.sight.due(now)
            };
            let mut next = match screen.next(due)? {
                Happening::Signal(signal) => return Ok(End::Signal(signal)),
                Happening::Due => {
                    self.sight.tick();
                    None
                }
                Happening::Woken => None,
                Happening::Back => {
                    self.is_changed = true;
                    None
                }
                Happening::Event(event) => Some(event),
            };
            // What was typed meanwhile is not painted key by key.
            while let Some(event) = next {
                if let Some(action) = self.event(&event)
                    && self.do_it(action, screen, errands)?
                {
                    return Ok(End::Left);
                }
                next = screen::waiting()?;
            }
        }
    }

    /// Takes what was read, for a while; gives back whether more is there.
    fn take(&mut self) -> bool {
        let began = Instant::now();
        loop {
            while let Some(event) = self.rest.pop_front() {
                self.sight.pane.event(event);
                if began.elapsed() > BATCH {
                    return true;
                }
            }
            match self.feed.try_recv() {
                Ok(fed) => self.fed(fed),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn fed(&mut self, fed: Fed) {
        match fed {
            Fed::Events(events) => {
                self.found = Found::Something;
                self.rest.extend(events);
            }
            Fed::Restart => self.sight.pane.restart(),
            Fed::Whole(events) => {
                self.found = Found::Something;
                self.sight.pane.restart();
                for event in events {
                    self.sight.pane.event(event);
                }
            }
            Fed::Said(words) => {
                self.sight.say(&words);
                self.said = words;
            }
            Fed::Live(is_live) => {
                self.was_read();
                self.sight.pane.set_live(is_live);
            }
            Fed::Ended => {
                self.was_read();
                if self.found == Found::NotYet {
                    self.found = Found::Nothing;
                }
                self.sight.pane.finish();
            }
        }
    }

    /// All that was there at first was taken.
    fn was_read(&mut self) {
        if std::mem::take(&mut self.is_reading) {
            self.sight.pane.settled();
            self.is_changed = true;
        }
    }

    /// Takes what happened on the terminal; gives back what has to be done.
    fn event(&mut self, event: &Pressed) -> Option<Action> {
        self.is_changed = true;
        match event {
            Pressed::Key(key) if key.kind != KeyEventKind::Release => {
                // What was said is read, and may not hide what this key does.
                self.sight.hush();
                return if self.sight.menu.is_some() {
                    self.sight.menu_key(*key)
                } else {
                    action(*key, Place::Transcript)
                };
            }
            Pressed::Paste(text) => {
                if let Some(menu) = &mut self.sight.menu {
                    menu.paste(text);
                }
            }
            Pressed::Mouse(mouse) if self.sight.menu.is_none() => self.sight.pane.mouse(*mouse),
            _ => {}
        }
        None
    }

    /// Does what a key asks for; true ends the browsing.
    fn do_it(
        &mut self,
        action: Action,
        screen: &mut Screen,
        errands: &mut dyn Errands,
    ) -> io::Result<bool> {
        if action == Action::Leave {
            return Ok(true);
        }
        self.sight.act(action, screen, errands)?;
        Ok(false)
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let status = Rect {
            y: area.bottom().saturating_sub(1),
            height: area.height.min(1),
            ..area
        };
        let above = Rect {
            height: area.height.saturating_sub(1),
            ..area
        };
        self.sight.pane.draw(frame, above);
        let line = self.status(usize::from(status.width));
        put(frame.buffer_mut(), status, &line, &self.theme);
        frame
            .buffer_mut()
            .set_style(status, convert::selection(&self.theme));
        let theme = self.theme.clone();
        if let Some(menu) = &mut self.sight.menu {
            menu.draw(frame, area, &theme);
        }
    }

    /// What is known at the left, where the reader is at the right.
    fn status(&self, room: usize) -> Line {
        let mut right = Vec::new();
        if self.sight.pane.filter().is_filter() {
            right.push("filtered".to_owned());
        }
        if self.is_reading {
            right.push("reading…".to_owned());
        }
        right.push(self.sight.pane.position());
        right.push("? keys".to_owned());
        right.retain(|word| !word.is_empty());
        let mut right = right.join("  ");
        if width(&right) + 12 > room {
            right = self.sight.pane.position();
        }
        let left = self.told();
        let mut line = vec![Span::role(" ", Role::Normal)];
        let mut left_room = room.saturating_sub(width(&right) + 3);
        for (at, word) in left.into_iter().enumerate() {
            let gap = if at > 0 { "  " } else { "" };
            let needed = width(gap) + width(&word.text);
            if needed > left_room && at > 0 {
                break;
            }
            line.push(Span::role(gap, Role::Normal));
            let cut = unspool::layout::truncated(&[word], left_room);
            left_room = left_room.saturating_sub(needed);
            line.extend(cut);
        }
        line.push(Span::role(" ".repeat(left_room + 1), Role::Normal));
        line.push(Span::role(right, Role::Normal));
        line
    }

    fn told(&self) -> Vec<Span> {
        if let Some(words) = self.sight.said() {
            return vec![Span::new(words, Style::of(Role::Colorful).bold())];
        }
        if let Some((words, count)) = self.sight.pane.search_words() {
            let words = Span::new(format!("/{words}"), Style::of(Role::Colorful).bold());
            return vec![words, Span::role(count, Role::Normal)];
        }
        let mut words = self.sight.pane.facts().words();
        if words.is_empty() {
            words.push(self.name.clone());
        }
        let title = &self.sight.pane.facts().title;
        words.push(if title.is_empty() { &self.name } else { title }.clone());
        words.dedup();
        let mut spans: Vec<Span> = words
            .into_iter()
            .map(|word| Span::role(word, Role::Normal))
            .collect();
        if let Some(first) = spans.first_mut() {
            first.style = Style::of(Role::Normal).bold();
        }
        spans
    }
}
