//! How much of a file was read, for who waits for the rest: a bar on standard
//! error, from the moment on at which it is worth it.
//!
//! Bytes are counted as they lie in the file, before compression is taken off.
//! Nothing is shown over what a person reads: not where the output is a terminal,
//! and not any more once a reader behind a pipe lets us wait, as a pager does.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::progress::Bar;

/// A reader that works takes what it gets sooner.
const PATIENCE: Duration = Duration::from_millis(200);

/// The count, and the bar.
#[derive(Default)]
pub(crate) struct Meter {
    read: Arc<AtomicU64>,
    total: u64,
    bar: Option<Bar>,
    /// Whether somebody reads what is made of it.
    is_read: bool,
}

/// A stream whose bytes are counted.
pub(super) struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl Meter {
    /// Counts what is read of a stream that is this long.
    pub(super) fn new<R: Read>(inner: R, total: u64) -> (Self, Counted<R>) {
        let read = Arc::default();
        let meter = Self {
            read: Arc::clone(&read),
            total,
            bar: None,
            is_read: false,
        };
        (meter, Counted { inner, read })
    }

    /// Shows from now on how far the reading is, if a person waits for it.
    /// `to_file` says that what is made of it does not go to standard output.
    pub(crate) fn show(&mut self, to_file: bool) {
        if self.total > 0 && (to_file || !io::stdout().is_terminal()) {
            self.bar = Some(Bar::of_bytes("Reading"));
            self.is_read = !to_file && !is_file(io::stdout());
        }
    }

    /// Does something with a piece that was read.
    pub(super) fn tell<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let Some(bar) = &mut self.bar else {
            return work();
        };
        let (began, worked) = (Instant::now(), processor_time());
        let done = work();
        let waited = began
            .elapsed()
            .saturating_sub(processor_time().saturating_sub(worked));
        if self.is_read && waited > PATIENCE {
            self.bar = None;
        } else {
            bar.set(self.read.load(Ordering::Relaxed), self.total);
        }
        done
    }

    /// Takes the bar away.
    pub(super) fn end(&mut self) {
        self.bar = None;
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

fn is_file(output: impl AsFd) -> bool {
    let output = output.as_fd().try_clone_to_owned().map(File::from);
    let metadata = output.and_then(|output| output.metadata());
    metadata.is_ok_and(|metadata| metadata.is_file())
}

/// What this thread has worked.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}
