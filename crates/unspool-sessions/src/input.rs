//! One stream of one session: bytes, attached files, and the events in them.

use std::fmt;
use std::io::{self, Cursor, Read};

use unspool::event::Body;
use unspool::source::Provider;
use unspool::{Event, Reader, ReaderOptions};

use crate::driver::Driver;
use crate::progress::{ByteCount, Progress, Step};

/// Bytes read at once.
pub const CHUNK: usize = 1 << 17;

/// Returns true if the event is the notice of a frame that was too long to be read.
pub fn is_left_out(event: &Event) -> bool {
    matches!(&event.body, Body::Notice(notice) if notice.left_out.is_some())
}

/// One stream of one session.
pub struct Input {
    /// Its name in messages.
    pub name: String,
    /// The bytes, decompressed.
    pub bytes: Box<dyn Read + Send>,
    /// Files that belong to it: name and content.
    pub attachments: Vec<(String, Vec<u8>)>,
    /// The agent that wrote it, if its container names it.
    provider: Option<Provider>,
    count: ByteCount,
    observer: Option<Box<dyn FnMut(Step) + Send>>,
    is_idle: Option<Box<dyn Fn() -> bool + Send>>,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Input {
    /// Makes an input without attached files.
    pub fn new(name: String, bytes: impl Read + Send + 'static) -> Self {
        Self {
            name,
            bytes: Box::new(bytes),
            attachments: Vec::new(),
            provider: None,
            count: ByteCount::default(),
            observer: None,
            is_idle: None,
        }
    }

    /// Attaches files that belong to it: name and content.
    pub fn with_attachments(self, attachments: Vec<(String, Vec<u8>)>) -> Self {
        Self {
            attachments,
            ..self
        }
    }

    /// Sets the agent that wrote it, which then need not be recognised.
    pub(crate) fn with_provider(self, provider: &Provider) -> Self {
        Self {
            provider: Some(*provider),
            ..self
        }
    }

    /// Counts the bytes of the file that it is read from.
    pub(crate) fn with_count(self, count: ByteCount) -> Self {
        Self { count, ..self }
    }

    /// Calls `is_idle` before waiting for more of a stream that nobody has
    /// recognised yet or whose last line is incomplete: if it returns true, what
    /// was read is passed on.
    pub fn with_idle_check(self, is_idle: impl Fn() -> bool + Send + 'static) -> Self {
        Self {
            is_idle: Some(Box::new(is_idle)),
            ..self
        }
    }

    /// Reports each step of the reading to `observer`.
    pub fn observe(&mut self, observer: impl FnMut(Step) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Returns the bytes that were read, of those of the file; the total is 0 where
    /// it is unknown.
    pub fn progress(&self) -> Progress {
        self.count.progress()
    }

    /// Returns true if there is nothing in it.
    pub fn is_empty(&mut self) -> io::Result<bool> {
        let mut first = [0];
        let bytes = self.piece(&mut first)?.to_vec();
        let is_empty = bytes.is_empty();
        let rest = std::mem::replace(&mut self.bytes, Box::new(io::empty()));
        self.bytes = Box::new(Cursor::new(bytes).chain(rest));
        Ok(is_empty)
    }

    /// Hands out the bytes piece by piece, to the end. The outer error is the
    /// taker's, the inner one is about the input.
    pub fn pieces<E>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<io::Result<()>, E> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.piece(&mut chunk) {
                Ok([]) => return Ok(Ok(())),
                Ok(bytes) => self.observed(|| take(bytes))?,
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Reads the next piece; an empty one is the end.
    fn piece<'a>(&mut self, chunk: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let read = loop {
            match self.bytes.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        if !matches!(read, Ok(1..))
            && let Some(observer) = &mut self.observer
        {
            observer(Step::End);
        }
        Ok(chunk.get(..read?).unwrap_or_default())
    }

    /// Handles a piece between two reports to the observer.
    fn observed<T>(&mut self, handle: impl FnOnce() -> T) -> T {
        let Some(observer) = &mut self.observer else {
            return handle();
        };
        observer(Step::Read);
        let done = handle();
        observer(Step::Handled(self.count.progress()));
        done
    }

    /// Moves the input out and leaves an empty one.
    pub fn take(&mut self) -> Self {
        let empty = Self::new(self.name.clone(), io::empty());
        std::mem::replace(self, empty)
    }

    /// Makes a reader that knows the attached files.
    pub fn reader(&self, mut options: ReaderOptions) -> Reader {
        options.from = options.from.or(self.provider);
        let mut reader = Reader::with_options(options);
        for (name, bytes) in &self.attachments {
            reader.attach(name, bytes);
        }
        reader
    }

    /// Hands out the events as soon as they are known. A batch ends after the
    /// events of one piece of the input, and when no more comes for a while of a
    /// stream that holds something back. The outer error is the taker's, the inner
    /// one is about the input.
    pub fn events<E>(
        &mut self,
        options: ReaderOptions,
        mut take: impl FnMut(Batch) -> Result<(), E>,
    ) -> Result<io::Result<()>, E> {
        let mut driver = Driver::new(self.reader(options));
        let mut give = |driver: &mut Driver| {
            driver
                .events()
                .try_for_each(|event| take(Batch::Event(event)))?;
            take(Batch::End)
        };
        let mut chunk = vec![0; CHUNK];
        let read = loop {
            let bytes = match self.piece(&mut chunk) {
                Ok([]) => break Ok(()),
                Ok(bytes) => bytes,
                Err(error) => break Err(error),
            };
            self.observed(|| {
                driver.push(bytes);
                give(&mut driver)
            })?;
            let is_paused = || driver.is_due() || self.is_idle.as_ref().is_some_and(|idle| idle());
            if self.is_idle.is_some() && driver.is_holding() && is_paused() {
                driver.release();
                give(&mut driver)?;
            }
        };
        driver.finish();
        give(&mut driver)?;
        Ok(read)
    }
}

/// An event of an input, or the end of those that are known so far.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "handed over once, never kept")]
pub enum Batch {
    /// An event.
    Event(Event),
    /// Every event that is known so far was handed out.
    End,
}
