//! `unspool view`: browses a run, even while it grows.
//!
//! A second thread reads the input. It sends what it read through a bounded
//! channel, so it pauses when the app falls behind, and wakes the painting
//! thread. Editor, pager and export are left to the [`Host`].

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
use crate::keys::{Action, Context, action};
use crate::paint::put;
use crate::screen::{self, Screen, ScreenEvent, Waker};
use crate::transcript::Look;
pub use crate::viewer::Host;
use crate::viewer::Viewer;

/// Maximum number of batches in the channel.
const QUEUE: usize = 16;
/// Time spent on taking in events before the next frame.
const BATCH: Duration = Duration::from_millis(12);
/// Time to wait for the first events before the screen is taken over.
const FIRST: Duration = Duration::from_millis(150);
/// Contexts whose keys the help lists.
const CONTEXTS: [Context; 2] = [Context::Transcript, Context::Everywhere];

/// A message from the thread that reads the input.
#[derive(Debug)]
pub enum FeedMessage {
    /// The next events.
    Events(Vec<Event>),
    /// A different run starts here.
    Restart,
    /// All events so far, replacing those sent before.
    Replace(Vec<Event>),
    /// A message for the status line.
    Status(String),
    /// Sent when it becomes known that the run is still being written, or no
    /// longer is.
    Live(bool),
    /// The end of the input.
    Ended,
}

/// The sending end of the channel to a [`Browse`].
#[derive(Clone)]
pub struct Feed {
    sender: SyncSender<FeedMessage>,
    waker: Waker,
}

impl Feed {
    /// Sends a message; blocks while the app is behind. Returns false once the
    /// app is closed.
    pub fn send(&self, message: FeedMessage) -> bool {
        let is_taken = self.sender.send(message).is_ok();
        self.waker.wake();
        is_taken
    }
}

/// The reason why browsing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The user left.
    Left,
    /// A signal asked the process to terminate.
    Signal(i32),
    /// The input was empty.
    Nothing,
}

/// Result of reading so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    NotYet,
    Something,
    /// The input ended without any event.
    Nothing,
}

/// A run being browsed.
pub struct Browse {
    viewer: Viewer,
    theme: Theme,
    feed: Receiver<FeedMessage>,
    /// Events of a batch that are not processed yet.
    rest: VecDeque<Event>,
    name: String,
    is_reading: bool,
    /// The text to search once the initial content is there.
    search: Option<String>,
    found: Found,
    /// The last status message of the reading thread.
    last_status: String,
    is_changed: bool,
}

impl Browse {
    /// Creates a view of a run with this name, and the channel to send its events
    /// through.
    pub fn new(look: Look, name: &str, screen: &Screen) -> (Self, Feed) {
        let (sender, feed) = sync_channel(QUEUE);
        let feeder = Feed {
            sender,
            waker: screen.waker(),
        };
        let browse = Self {
            theme: look.formatter.theme(),
            viewer: Viewer::new(look, &CONTEXTS),
            feed,
            rest: VecDeque::new(),
            name: unspool::sanitize::line(name).into_owned(),
            is_reading: true,
            search: None,
            found: Found::NotYet,
            last_status: String::new(),
            is_changed: true,
        };
        (browse, feeder)
    }

    /// Starts at the end and follows new output.
    pub fn follow(&mut self) {
        self.viewer.pane.follow(true);
    }

    /// Starts at the first match of a text, unfolded.
    pub fn search(&mut self, text: &str) {
        self.search = Some(text.to_owned()).filter(|text| !text.is_empty());
    }

    /// Runs the app until the user leaves.
    pub fn run(&mut self, screen: &mut Screen, host: &mut dyn Host) -> io::Result<End> {
        self.await_first();
        if self.found == Found::Nothing {
            return Ok(End::Nothing);
        }
        screen.open()?;
        screen.title(&format!("{} – unspool", self.name))?;
        let end = self.watch(screen, host);
        screen.close();
        end
    }

    /// Returns the last status message, such as the reason why there is nothing
    /// to show.
    pub fn last_status(&self) -> &str {
        &self.last_status
    }

    /// Waits a moment for the first events, so that the screen isn't taken over
    /// for empty input.
    fn await_first(&mut self) {
        let until = Instant::now() + FIRST;
        while self.found == Found::NotYet && self.is_reading {
            let rest = until.saturating_duration_since(Instant::now());
            let Ok(message) = self.feed.recv_timeout(rest) else {
                return;
            };
            self.receive(message);
        }
    }

    fn watch(&mut self, screen: &mut Screen, host: &mut dyn Host) -> io::Result<End> {
        loop {
            let has_more = self.take();
            if self.found == Found::Nothing {
                return Ok(End::Nothing);
            }
            if self.is_changed | self.viewer.take_changed() {
                screen.draw(|frame| self.draw(frame))?;
                self.is_changed = false;
            }
            // The first frame decides on the width of rows.
            if !self.is_reading
                && self.rest.is_empty()
                && let Some(text) = self.search.take()
            {
                self.viewer.pane.search(&text);
                continue;
            }
            let now = Instant::now();
            let due = if has_more {
                Some(now)
            } else {
                self.viewer.due(now)
            };
            let mut next = match screen.next(due)? {
                ScreenEvent::Signal(signal) => return Ok(End::Signal(signal)),
                ScreenEvent::Timeout => {
                    self.viewer.tick();
                    None
                }
                ScreenEvent::Woken => None,
                ScreenEvent::Repaint => {
                    self.is_changed = true;
                    None
                }
                ScreenEvent::Input(event) => Some(event),
            };
            // Handles all pending keys before the next frame.
            while let Some(event) = next {
                if let Some(action) = self.event(&event)
                    && self.perform(action, screen, host)?
                {
                    return Ok(End::Left);
                }
                next = screen::pending_input()?;
            }
        }
    }

    /// Processes received events for a limited time. Returns true if more are
    /// left.
    fn take(&mut self) -> bool {
        let began = Instant::now();
        loop {
            while let Some(event) = self.rest.pop_front() {
                self.viewer.pane.event(event);
                if began.elapsed() > BATCH {
                    return true;
                }
            }
            match self.feed.try_recv() {
                Ok(message) => self.receive(message),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn receive(&mut self, message: FeedMessage) {
        match message {
            FeedMessage::Events(events) => {
                self.found = Found::Something;
                self.rest.extend(events);
            }
            FeedMessage::Restart => self.viewer.pane.restart(),
            FeedMessage::Replace(events) => {
                self.found = Found::Something;
                self.viewer.pane.restart();
                for event in events {
                    self.viewer.pane.event(event);
                }
            }
            FeedMessage::Status(words) => {
                self.viewer.set_message(&words);
                self.last_status = words;
            }
            FeedMessage::Live(is_live) => {
                self.initial_read_done();
                self.viewer.pane.set_live(is_live);
            }
            FeedMessage::Ended => {
                self.initial_read_done();
                if self.found == Found::NotYet {
                    self.found = Found::Nothing;
                }
                self.viewer.pane.finish();
            }
        }
    }

    /// Marks the initial read as complete.
    fn initial_read_done(&mut self) {
        if std::mem::take(&mut self.is_reading) {
            self.viewer.pane.settled();
            self.is_changed = true;
        }
    }

    /// Handles a terminal event and returns the action to perform.
    fn event(&mut self, event: &Pressed) -> Option<Action> {
        self.is_changed = true;
        match event {
            Pressed::Key(key) if key.kind != KeyEventKind::Release => {
                // A new key dismisses the message of the last one.
                self.viewer.clear_message();
                return if self.viewer.overlay.is_some() {
                    self.viewer.overlay_key(*key)
                } else {
                    action(*key, Context::Transcript)
                };
            }
            Pressed::Paste(text) => {
                if let Some(overlay) = &mut self.viewer.overlay {
                    overlay.paste(text);
                }
            }
            Pressed::Mouse(mouse) if self.viewer.overlay.is_none() => {
                self.viewer.pane.mouse(*mouse);
            }
            _ => {}
        }
        None
    }

    /// Performs an action. Returns true if the user leaves.
    fn perform(
        &mut self,
        action: Action,
        screen: &mut Screen,
        host: &mut dyn Host,
    ) -> io::Result<bool> {
        if action == Action::Leave {
            return Ok(true);
        }
        self.viewer.act(action, screen, host)?;
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
        self.viewer.pane.draw(frame, above);
        let line = self.status(usize::from(status.width));
        put(frame.buffer_mut(), status, &line, &self.theme);
        frame
            .buffer_mut()
            .set_style(status, convert::selection(&self.theme));
        let theme = self.theme.clone();
        if let Some(overlay) = &mut self.viewer.overlay {
            overlay.draw(frame, area, &theme);
        }
    }

    /// Lays out the status line: facts on the left, position on the right.
    fn status(&self, room: usize) -> Line {
        let mut right = Vec::new();
        if self.viewer.pane.filter().is_filter() {
            right.push("filtered".to_owned());
        }
        if self.is_reading {
            right.push("reading…".to_owned());
        }
        right.push(self.viewer.pane.position());
        right.push("? keys".to_owned());
        right.retain(|word| !word.is_empty());
        let mut right = right.join("  ");
        if width(&right) + 12 > room {
            right = self.viewer.pane.position();
        }
        let left = self.left_words();
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

    fn left_words(&self) -> Vec<Span> {
        if let Some(words) = self.viewer.message() {
            return vec![Span::new(words, Style::of(Role::Colorful).bold())];
        }
        if let Some((words, count)) = self.viewer.pane.search_words() {
            let words = Span::new(format!("/{words}"), Style::of(Role::Colorful).bold());
            return vec![words, Span::role(count, Role::Normal)];
        }
        let mut words = self.viewer.pane.facts().words();
        if words.is_empty() {
            words.push(self.name.clone());
        }
        let title = &self.viewer.pane.facts().title;
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
