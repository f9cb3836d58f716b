//! Feeds a view with what is read: a pipe to its end, a session out of a
//! database, or a file as it grows. All of it in threads, in batches, and no
//! faster than somebody looks.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use unspool::event::{Body, TurnStatus};
use unspool::{Event, Reader, ReaderOptions};
use unspool_acp::record;
use unspool_sessions::input::{Batch, Input};
use unspool_tui::browse::{Feed, FeedMessage};

use crate::input;
use crate::watch::{self, Happening};
use crate::{config, tail};

/// Events that are handed over at once.
const MOST: usize = 512;
/// After so long without more, all that is there was read.
const PAUSE: Duration = Duration::from_millis(200);
/// Nobody writes any more into a file that was not written to for so long.
const QUIET: Duration = Duration::from_secs(120);

/// What was read from a pipe, which cannot be read again: its events in a file,
/// for as long as somebody looks.
pub(crate) struct Copy(std::fs::File);

impl Copy {
    /// An empty one, and its file, which is gone when that is dropped.
    pub(crate) fn new() -> std::io::Result<(Self, tempfile::NamedTempFile)> {
        let file = tempfile::Builder::new()
            .prefix("unspool-")
            .suffix(".jsonl")
            .tempfile()?;
        Ok((Self(file.reopen()?), file))
    }

    /// Adds events; false if there is no room for them.
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
    let gone = || anyhow::anyhow!("nobody looks");
    let read = input.events(options, |next| {
        let is_full = match next {
            Batch::Event(event) => {
                batch.push(event);
                batch.len() >= MOST
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

/// Reads a file, and goes on as it grows.
pub(crate) fn file(path: &Path, options: ReaderOptions, feed: Feed) {
    let (sender, happenings) = watch::channel();
    let tailed = path.to_owned();
    thread::spawn(move || tail::follow(|| Some(tailed.clone()), String::new(), "", &sender));
    let growing = Growing {
        path: path.to_owned(),
        options,
        feed,
    };
    thread::spawn(move || growing.run(&happenings));
}

struct Growing {
    path: PathBuf,
    options: ReaderOptions,
    feed: Feed,
}

impl Growing {
    /// Runs until nobody looks any more.
    fn run(&self, happenings: &Receiver<Happening>) {
        let mut reader = self.reader();
        // Whether all that was there at first was told, and somebody wrote then.
        let (mut is_told, mut is_live) = (false, true);
        loop {
            let is_taken = match happenings.recv_timeout(PAUSE) {
                Ok(happening) => self.take(happening, &mut reader) && self.goes_on(is_told),
                Err(RecvTimeoutError::Timeout) if !is_told => {
                    is_told = true;
                    reader.release();
                    is_live = self.is_live();
                    self.events(&mut reader)
                        && (is_live || self.cut_off(&reader))
                        && self.feed.send(FeedMessage::Live(is_live))
                }
                Err(RecvTimeoutError::Timeout) => {
                    reader.release();
                    let is_left = is_live && config::is_record(&self.path) && !self.is_live();
                    is_live &= !is_left;
                    self.events(&mut reader)
                        && (!is_left
                            || self.cut_off(&reader) && self.feed.send(FeedMessage::Live(false)))
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

    /// What comes later comes from somebody who writes.
    fn goes_on(&self, is_told: bool) -> bool {
        !is_told || self.feed.send(FeedMessage::Live(true))
    }

    fn reader(&self) -> Reader {
        let opened = input::open(&self.path, self.options.from).ok();
        match opened.and_then(|inputs| inputs.into_iter().next_back()) {
            Some(input) => input.reader(self.options.clone()),
            None => Reader::with_options(self.options.clone()),
        }
    }

    fn take(&self, happening: Happening, reader: &mut Reader) -> bool {
        match happening {
            Happening::Output(bytes) => {
                reader.push(&bytes);
                self.events(reader)
            }
            Happening::Restart => {
                *reader = self.reader();
                self.feed.send(FeedMessage::Restart)
            }
            Happening::Whole(bytes) => {
                *reader = self.reader();
                reader.push(&bytes);
                reader.finish();
                let mut events: Vec<Event> = reader.events().collect();
                // That its last turn is not over does not mean that it was cut off.
                events.pop_if(|event| is_interruption(event));
                self.feed.send(FeedMessage::Replace(events))
            }
            Happening::Aside(words) => self.feed.send(FeedMessage::Status(words)),
            Happening::Events(_) | Happening::Ended(_) | Happening::Signal(_) => true,
        }
    }

    fn events(&self, reader: &mut Reader) -> bool {
        loop {
            let events: Vec<Event> = reader.events().take(MOST).collect();
            if events.is_empty() {
                return true;
            }
            if !self.feed.send(FeedMessage::Events(events)) {
                return false;
            }
        }
    }

    /// Tells that a conversation of ours was cut off, which nobody writes any more.
    /// Of others that is not known: they may wait for a person.
    fn cut_off(&self, reader: &Reader) -> bool {
        if !config::is_record(&self.path) {
            return true;
        }
        let mut ended = reader.clone();
        ended.finish();
        self.events(&mut ended)
    }

    /// Whether somebody may still write into the file.
    fn is_live(&self) -> bool {
        if config::is_record(&self.path) {
            return record::is_written(&self.path);
        }
        let written = std::fs::metadata(&self.path).and_then(|file| file.modified());
        let age = written.map(|time| SystemTime::now().duration_since(time));
        matches!(age, Ok(Ok(age)) if age < QUIET)
    }
}

fn is_interruption(event: &Event) -> bool {
    matches!(&event.body, Body::TurnEnd(end) if end.status == TurnStatus::Interrupted)
}
