//! Wakes the thread that waits for the terminal: a socket pair, one end of which
//! is polled together with the terminal. Other threads and signals write to the
//! other end.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use signal_hook::low_level::pipe;

/// A handle that wakes the [`Screen`](super::Screen) from any thread.
#[derive(Clone)]
pub struct Waker(Arc<UnixStream>);

impl Waker {
    /// Wakes the waiting thread, now or the next time it waits.
    pub fn wake(&self) {
        // A full socket wakes it as well.
        let _ = (&*self.0).write(&[0]);
    }

    /// Wakes the thread whenever this signal arrives.
    pub(super) fn wake_by(&self, signal: i32) -> io::Result<()> {
        pipe::register(signal, self.0.try_clone()?).map(|_| ())
    }
}

/// The receiving end.
pub(super) struct Woken {
    stream: UnixStream,
    waker: Waker,
}

impl Woken {
    pub(super) fn new() -> io::Result<Self> {
        let (stream, other) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        other.set_nonblocking(true)?;
        Ok(Self {
            stream,
            waker: Waker(Arc::new(other)),
        })
    }

    pub(super) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Returns true if there was a call since the last time.
    pub(super) fn take(&mut self) -> bool {
        let mut bytes = [0; 64];
        let mut called = false;
        while self.stream.read(&mut bytes).is_ok_and(|length| length > 0) {
            called = true;
        }
        called
    }
}

impl AsFd for Woken {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
