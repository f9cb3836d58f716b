//! Reads the input of `unspool view` in background threads: a pipe to its end, a
//! session from a database, or a growing file. Events are sent in batches, no
//! faster than the app takes them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use unspool::{Event, Reader, ReaderOptions};
use unspool_acp::record;
use unspool_sessions::driver::{Driver, Read};
use unspool_sessions::input::{Batch, Input};
use unspool_tui::browse::{Feed, FeedMessage};

use crate::input;
use crate::watch::{self, Update};
use crate::{config, tail};

/// Maximum number of events per batch.
const BATCH: usize = 512;
/// Idle time after which the initial read counts as complete.
const PAUSE: Duration = Duration::from_millis(200);
/// Age of the last write after which a file counts as finished.
const QUIET: Duration = Duration::from_mins(2);

/// A copy of the events from a pipe, which cannot be read again, for the lifetime
/// of the view.
pub(crate) struct Copy(std::fs::File);

impl Copy {
    /// Creates an empty copy and its temporary file, which is deleted when
    /// dropped.
    pub(crate) fn new() -> std::io::Result<(Self, tempfile::NamedTempFile)> {
        let file = tempfile::Builder::new()
            .prefix("unspool-")
            .suffix(".jsonl")
            .tempfile()?;
        Ok((Self(file.reopen()?), file))
    }

    /// Adds events. Returns false if they cannot be written.
    fn add(&mut self, events: &[Event]) -> bool {
        let mut lines = Vec::new();
        for event in events {
            if serde_json::to_writer(&mut lines, event).is_ok() {
                lines.push(b'\n');
            }
        }
        self.0.write_all(&lines).is_ok()
    }
}

/// Reads inputs to their ends.
pub(crate) fn inputs(
    open: impl FnOnce() -> anyhow::Result<Vec<Input>> + Send + 'static,
    options: ReaderOptions,
    mut copy: Option<Copy>,
    feed: Feed,
) {
    thread::spawn(move || {
        match open() {
            Ok(inputs) => {
                for mut input in inputs {
                    read(&mut input, options.clone(), &mut copy, &feed);
                }
            }
            Err(error) => {
                feed.send(FeedMessage::Status(format!("{error:#}")));
            }
        }
        feed.send(FeedMessage::Ended);
    });
}

fn read(input: &mut Input, options: ReaderOptions, copy: &mut Option<Copy>, feed: &Feed) {
    let mut batch = Vec::new();
    let gone = || anyhow::anyhow!("the view was closed");
    let read = input.events(options, |next| {
        let is_full = match next {
            Batch::Event(event) => {
                batch.push(event);
                batch.len() >= BATCH
            }
            Batch::End => !batch.is_empty(),
        };
        if !is_full {
            return Ok(());
        }
        copy.take_if(|copy| !copy.add(&batch));
        if feed.send(FeedMessage::Events(std::mem::take(&mut batch))) {
            Ok(())
        } else {
            Err(gone())
        }
    });
    if let Ok(Err(error)) = read {
        feed.send(FeedMessage::Status(format!("{}: {error}", input.name)));
    }
}

/// Reads a file and follows its growth.
pub(crate) fn file(path: &Path, options: ReaderOptions, feed: Feed) {
    let (sender, updates) = watch::channel();
    let tailed = path.to_owned();
    thread::spawn(move || tail::follow(|| Some(tailed.clone()), String::new(), "", &sender));
    let growing = Growing {
        path: path.to_owned(),
        options,
        feed,
    };
    thread::spawn(move || growing.run(&updates));
}

struct Growing {
    path: PathBuf,
    options: ReaderOptions,
    feed: Feed,
}

impl Growing {
    /// Runs until the app is closed.
    fn run(&self, updates: &Receiver<Update>) {
        let mut driver = Driver::new(self.reader());
        // Set once the initial content is sent, and while the file is still being
        // written.
        let (mut is_sent, mut is_live) = (false, true);
        loop {
            let is_taken = match updates.recv_timeout(PAUSE) {
                Ok(update) => self.take(update, &mut driver) && self.mark_live(is_sent),
                Err(RecvTimeoutError::Timeout) if !is_sent => {
                    is_sent = true;
                    driver.release();
                    is_live = self.is_live();
                    self.send(driver.events())
                        && (is_live || self.add_interruption(&driver))
                        && self.feed.send(FeedMessage::Live(is_live))
                }
                Err(RecvTimeoutError::Timeout) => {
                    driver.release_if_idle();
                    let is_left = is_live && config::is_record(&self.path) && !self.is_live();
                    is_live &= !is_left;
                    self.send(driver.events())
                        && (!is_left
                            || self.add_interruption(&driver)
                                && self.feed.send(FeedMessage::Live(false)))
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.feed.send(FeedMessage::Ended);
                    false
                }
            };
            if !is_taken {
                return;
            }
        }
    }

    /// Marks the run as live if content arrives after the initial read.
    fn mark_live(&self, is_sent: bool) -> bool {
        !is_sent || self.feed.send(FeedMessage::Live(true))
    }

    fn reader(&self) -> Reader {
        let opened = input::open(&self.path, self.options.from.as_ref()).ok();
        match opened.and_then(|inputs| inputs.into_iter().next_back()) {
            Some(input) => input.reader(self.options.clone()),
            None => Reader::with_options(self.options.clone()),
        }
    }

    fn take(&self, update: Update, driver: &mut Driver) -> bool {
        let piece = match update {
            Update::Piece(piece) => piece,
            Update::Aside(words) => return self.feed.send(FeedMessage::Status(words)),
            Update::Ended(_) | Update::Signal(_) => return true,
        };
        match driver.take(piece, || self.reader()) {
            Read::Next(events) => self.send(events),
            Read::Restarted(_) => self.feed.send(FeedMessage::Restart),
            Read::Document(events) => self.feed.send(FeedMessage::Replace(events)),
        }
    }

    fn send(&self, events: impl IntoIterator<Item = Event>) -> bool {
        let mut events = events.into_iter();
        loop {
            let batch: Vec<Event> = events.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return true;
            }
            if !self.feed.send(FeedMessage::Events(batch)) {
                return false;
            }
        }
    }

    /// Adds the end of a recording that was cut off and that nobody writes any
    /// more. Other agents' files may just wait for the user.
    fn add_interruption(&self, driver: &Driver) -> bool {
        if !config::is_record(&self.path) {
            return true;
        }
        self.send(driver.events_at_end())
    }

    /// Returns true if the file may still be written.
    fn is_live(&self) -> bool {
        if config::is_record(&self.path) {
            return record::is_written(&self.path);
        }
        let written = std::fs::metadata(&self.path).and_then(|file| file.modified());
        let age = written.map(|time| SystemTime::now().duration_since(time));
        matches!(age, Ok(Ok(age)) if age < QUIET)
    }
}
