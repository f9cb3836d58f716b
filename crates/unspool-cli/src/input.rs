//! Files and standard input → bytes, with everything that belongs to them:
//! compression taken off, a database read, sub-agents' files found.

use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unspool::event::Body;
use unspool::source::Provider;
use unspool::{Event, Reader, ReaderOptions};

use crate::{Status, cli, complain};

mod compression;
mod meter;
mod opencode_db;
mod parts;
mod related;

pub(crate) use meter::Meter;
pub(crate) use parts::{Container, Part, is_history};
pub(crate) use related::{Kin, is_sub_agents, parent_thread};

/// Bytes read at once.
pub(crate) const CHUNK: usize = 1 << 17;
/// What is looked at to tell what a file is.
const HEAD: usize = 1 << 16;
/// What is looked at of a JSON body.
const WHOLE: usize = 256 << 20;

/// After this long without more, what was not recognised yet is passed on as it is.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether an event stands for a frame that was too long to be read.
pub(crate) fn is_left_out(event: &Event) -> bool {
    matches!(&event.body, Body::Notice(notice) if notice.left_out.is_some())
}

/// One stream of one session.
pub(crate) struct Input {
    /// How to call it in messages.
    pub(crate) name: String,
    pub(crate) bytes: Box<dyn Read + Send>,
    /// Files that belong to it: name and content.
    pub(crate) attachments: Vec<(String, Vec<u8>)>,
    /// How much of it was read.
    pub(crate) meter: Meter,
    /// Where it comes from, if somebody may still be writing it.
    pipe: Option<OwnedFd>,
}

impl Input {
    pub(crate) fn new(name: String, bytes: impl Read + Send + 'static) -> Self {
        Self {
            name,
            bytes: Box::new(bytes),
            attachments: Vec::new(),
            meter: Meter::default(),
            pipe: None,
        }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&mut self) -> io::Result<bool> {
        let mut first = [0];
        let bytes = self.piece(&mut first)?.to_vec();
        let is_empty = bytes.is_empty();
        let rest = std::mem::replace(&mut self.bytes, Box::new(io::empty()));
        self.bytes = Box::new(Cursor::new(bytes).chain(rest));
        Ok(is_empty)
    }

    /// Hands out the bytes piece by piece, to the end. The outer error is the
    /// taker's, the inner one is about the input.
    pub(crate) fn pieces(
        &mut self,
        mut take: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<io::Result<()>> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.piece(&mut chunk) {
                Ok([]) => return Ok(Ok(())),
                Ok(bytes) => self.meter.tell(|| take(bytes))?,
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// The next piece; an empty one is the end.
    fn piece<'a>(&mut self, chunk: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let read = loop {
            match self.bytes.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        if !matches!(read, Ok(1..)) {
            self.meter.end();
        }
        Ok(chunk.get(..read?).unwrap_or_default())
    }

    /// The input itself; what stays behind is empty.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            name: self.name.clone(),
            bytes: std::mem::replace(&mut self.bytes, Box::new(io::empty())),
            attachments: std::mem::take(&mut self.attachments),
            meter: std::mem::take(&mut self.meter),
            pipe: self.pipe.take(),
        }
    }

    /// A reader that knows the files which belong to the input.
    pub(crate) fn reader(&self, options: ReaderOptions) -> Reader {
        let mut reader = Reader::with_options(options);
        for (name, bytes) in &self.attachments {
            reader.attach(name, bytes);
        }
        reader
    }

    /// Hands out the events as soon as they are known. A batch ends
    /// behind all that one piece of the input gave, and when no more comes for a
    /// while of what nobody has recognised.
    pub(crate) fn events(
        &mut self,
        options: ReaderOptions,
        mut take: impl FnMut(Batch) -> anyhow::Result<()>,
    ) -> anyhow::Result<io::Result<()>> {
        let mut reader = self.reader(options);
        let mut give = |reader: &mut Reader| {
            reader
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
            self.meter.tell(|| {
                reader.push(bytes);
                give(&mut reader)
            })?;
            if reader.provider().is_none() && self.pauses() {
                reader.release();
                give(&mut reader)?;
            }
        };
        reader.finish();
        give(&mut reader)?;
        Ok(read)
    }

    /// Whether nothing comes for a while from who writes this.
    fn pauses(&self) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let patience = Timespec::try_from(PAUSE).ok();
        let mut descriptors = [PollFd::new(pipe, PollFlags::IN)];
        poll(&mut descriptors, patience.as_ref()) == Ok(0)
    }
}

/// What an input holds.
#[expect(clippy::large_enum_variant, reason = "handed over once, never kept")]
pub(crate) enum Batch {
    Event(Event),
    /// All that is known so far was handed out.
    End,
}

/// Does something with every input of the files named, or of standard input.
/// What cannot be read is said, and the others are read all the same.
pub(crate) fn each(
    files: &[PathBuf],
    open: impl Fn(&Path) -> anyhow::Result<Vec<Input>>,
    mut take: impl FnMut(&mut Input) -> anyhow::Result<io::Result<Status>>,
) -> anyhow::Result<Status> {
    let mut status = Status::Success;
    for path in or_stdin(files)? {
        let inputs = open(&path).unwrap_or_else(|error| {
            complain(&with_hint(error, &path));
            status = Status::Unreadable;
            Vec::new()
        });
        for mut input in inputs {
            let ended = take(&mut input)?.unwrap_or_else(|error| {
                complain(&anyhow::Error::new(error).context(input.name));
                Status::Unreadable
            });
            status = status.worse(ended);
        }
    }
    Ok(status)
}

/// A file that does not exist may be a subcommand that was mistyped.
fn with_hint(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let is_missing = error.downcast_ref().is_some_and(is_missing);
    let word = path.to_str().filter(|_| is_missing);
    match word.and_then(|word| cli::meant(word, None)) {
        Some(name) => anyhow!("{error:#}; did you mean `unspool {name}`?"),
        None => error,
    }
}

/// The files named, or standard input. Fails when nothing is named and
/// standard input is a terminal: nobody types an agent's output.
fn or_stdin(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !files.is_empty() {
        return Ok(files.to_vec());
    }
    if io::stdin().is_terminal() {
        bail!("nothing to read: name a file, or pipe an agent's output in (see --help)");
    }
    Ok(vec![PathBuf::from("-")])
}

/// Opens what a path names for its bytes, whatever they are.
pub(crate) fn untouched(path: &Path) -> anyhow::Result<Vec<Input>> {
    let name = path.display().to_string();
    Ok(vec![if path == Path::new("-") {
        Input::new(name, io::stdin())
    } else {
        let file = File::open(path).with_context(|| cannot_read(&name))?;
        Input::new(name, file)
    }])
}

/// Opens what a path names: one session, or all sessions of a database.
pub(crate) fn open(path: &Path, from: Option<Provider>) -> anyhow::Result<Vec<Input>> {
    open_among(path, from, None)
}

/// The one session of a file that is meant: the part with this name, or the last
/// one, which is the newest, if that is empty.
pub(crate) fn open_part(
    path: &Path,
    part: &str,
    from: Option<Provider>,
) -> anyhow::Result<Option<Input>> {
    if part.is_empty() {
        return Ok(open(path, from)?.into_iter().next_back());
    }
    let container = Container::open(path)?;
    container.map(|container| container.input(part)).transpose()
}

/// The same as [`open`], as one of many sessions that are read.
pub(crate) fn open_among(
    path: &Path,
    from: Option<Provider>,
    kin: Option<&Kin>,
) -> anyhow::Result<Vec<Input>> {
    if path == Path::new("-") {
        return Ok(vec![
            standard_input().context("cannot read standard input")?,
        ]);
    }
    let name = path.display().to_string();
    if path.is_dir() {
        bail!("{name} is a directory: {}", related::advice(path));
    }
    let mut file = File::open(path).with_context(|| cannot_read(&name))?;
    let mut head = read_head(&mut file).with_context(|| cannot_read(&name))?;
    if opencode_db::is_database(&head) {
        return database(path, &name);
    }
    // One of many is read as far as it goes now: who writes into it may be
    // faster than who reads.
    let size = file.metadata().map(|file| file.len());
    let is_packed = compression::recognise(&head).is_some();
    let length = match (kin, &size) {
        (Some(_), Ok(size)) => *size,
        _ => u64::MAX,
    };
    let rest = length.saturating_sub(head.len() as u64);
    let file = Cursor::new(head).chain(file.take(rest));
    let (meter, file) = Meter::new(file, size.unwrap_or_default());
    let mut bytes = decompressed(Box::new(file)).with_context(|| cannot_read(&name))?;
    let (read, mut failure) = read_up_to(&mut bytes, HEAD);
    head = read;
    let whole = head.len() < HEAD;
    let mut provider = from.or_else(|| unspool::recognise(&head, whole));
    if provider.is_none() && begins_like_json(&head) && !whole {
        // A body tells what it is only when it is whole.
        let (rest, error) = read_up_to(&mut bytes, WHOLE);
        head.extend(rest);
        failure = error;
        provider = unspool::recognise(&head, true);
    }
    if provider.is_none() && from.is_none() && !is_packed && is_called_packed(path) {
        bail!("{name} is not compressed as its name says: it may be damaged");
    }
    if provider.is_none() && looks_binary(&head) {
        bail!(
            "{name} looks like a binary file: name a session file, or read it as text with --from raw"
        );
    }
    let attachments = match provider {
        Some(provider) => related::attachments(path, &head, provider, kin)?,
        None => Vec::new(),
    };
    let head = Cursor::new(head);
    let input = match failure {
        None => Input::new(name, head.chain(bytes)),
        // What could be read is shown before it is said what went wrong.
        Some(error) => Input::new(name, head.chain(Failed(Some(error)))),
    };
    Ok(vec![Input {
        attachments,
        meter,
        ..input
    }])
}

fn standard_input() -> io::Result<Input> {
    let pipe = io::stdin().as_fd().try_clone_to_owned()?;
    // Not through a buffer: whether more has come is asked of the pipe.
    let bytes = decompressed(Box::new(File::from(pipe.try_clone()?)))?;
    Ok(Input {
        pipe: Some(pipe),
        ..Input::new("standard input".to_owned(), bytes)
    })
}

/// Whether a file is written as a whole, not line by line: a document, a
/// database, an archive.
pub(crate) fn is_whole(path: &Path) -> bool {
    let mut head = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(16).read_to_end(&mut head);
    }
    opencode_db::is_database(&head)
        || compression::recognise(&head).is_some()
        || path
            .extension()
            .is_some_and(|extension| extension == "json")
}

/// The end of an input that could not be read further.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The stream with its compression taken off.
fn decompressed(mut bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    (&mut bytes)
        .take(compression::MAGIC_LENGTH as u64)
        .read_to_end(&mut magic)?;
    let compression = compression::recognise(&magic);
    let whole = Box::new(Cursor::new(magic).chain(bytes));
    Ok(match compression {
        Some(compression) => compression::decode(compression, whole),
        None => whole,
    })
}

/// The sessions of an OpenCode database.
fn database(path: &Path, name: &str) -> anyhow::Result<Vec<Input>> {
    let sessions =
        opencode_db::sessions(path).with_context(|| format!("cannot read the database {name}"))?;
    Ok(sessions
        .into_iter()
        .map(|session| Input {
            attachments: session.children,
            ..Input::new(name.to_owned(), Cursor::new(session.root))
        })
        .collect())
}

/// What there is, up to a limit, and what went wrong, if anything did.
fn read_up_to(bytes: &mut impl Read, limit: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut read = Vec::new();
    let failure = bytes.take(limit as u64).read_to_end(&mut read).err();
    (read, failure)
}

fn read_head(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    match read_up_to(bytes, HEAD) {
        (head, None) => Ok(head),
        (_, Some(error)) => Err(error),
    }
}

fn begins_like_json(head: &[u8]) -> bool {
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}

/// A NUL that is no padding before the first line does not occur in text.
fn looks_binary(head: &[u8]) -> bool {
    let padding = head.iter().take_while(|byte| **byte == 0).count();
    head.get(padding..).is_some_and(|rest| rest.contains(&0))
}

fn is_called_packed(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension == "zst" || extension == "gz"
}

fn cannot_read(name: &str) -> String {
    format!("cannot read {name}")
}
