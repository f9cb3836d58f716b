//! Wakes the thread that waits for the terminal: a pair of sockets, of which one
//! is waited for beside the terminal. Other threads and signals write into the
//! other.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use signal_hook::low_level::pipe;

/// Wakes the one who waits for the screen, from any thread.
#[derive(Clone)]
pub struct Waker(Arc<UnixStream>);

impl Waker {
    /// Wakes it now, or as soon as it waits again.
    pub fn wake(&self) {
        // Where no byte has room, it will wake up all the same.
        let _ = (&*self.0).write(&[0]);
    }

    /// Wakes it from now on when this signal comes.
    pub(super) fn wake_by(&self, signal: i32) -> io::Result<()> {
        pipe::register(signal, self.0.try_clone()?).map(|_| ())
    }
}

/// The end that is waited for.
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

    /// Whether somebody called since this was last asked.
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
