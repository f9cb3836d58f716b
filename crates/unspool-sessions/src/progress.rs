//! Progress of reading, as values that a caller may show.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The amount that is done, of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files or bytes that are done.
    pub done: u64,
    /// Files or bytes in all.
    pub total: u64,
}

/// A step in the reading of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A piece was read and is about to be handled.
    Read,
    /// The piece was handled; the progress counts the bytes of the file, before
    /// decompression.
    Handled(Progress),
    /// There is nothing more to read.
    End,
}

/// Counts the bytes that are read from a file of known length.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteCount {
    read: Arc<AtomicU64>,
    total: u64,
}

/// A stream whose bytes are counted.
pub(crate) struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl ByteCount {
    /// Wraps a stream of `total` bytes.
    pub(crate) fn new<R: Read>(inner: R, total: u64) -> (Self, Counted<R>) {
        let read = Arc::default();
        let count = Self {
            read: Arc::clone(&read),
            total,
        };
        (count, Counted { inner, read })
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            done: self.read.load(Ordering::Relaxed),
            total: self.total,
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}
