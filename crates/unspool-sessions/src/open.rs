//! Opens session files: JSON lines, JSON, databases and histories, plain or
//! compressed, with the files that belong to them.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use unspool::source::Provider;

use crate::agents::Agents;
pub use crate::compression::decompressed;
use crate::compression::{self, HEAD, read_head, read_up_to};
use crate::containers::{self, Container};
use crate::error::{Context, Result, bail, cannot_read};
use crate::input::Input;
use crate::progress::ByteCount;
use crate::related::{self, RelatedCache};

/// Bytes of a JSON body that are read to recognise it.
const WHOLE: usize = 256 << 20;

/// Opens a file for its bytes, without decompression or recognition.
pub fn raw(path: &Path) -> Result<Input> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| cannot_read(&name))?;
    Ok(Input::new(name, file))
}

/// Opens a file: one session, or all sessions of a database.
pub fn open(path: &Path, from: Option<Provider>, agents: Agents) -> Result<Vec<Input>> {
    open_among(path, from.as_ref(), agents, None)
}

/// Opens one session of a file: the part with this name, or the newest, which is the
/// last, if the name is empty.
pub fn open_part(
    path: &Path,
    part: &str,
    from: Option<Provider>,
    agents: Agents,
) -> Result<Option<Input>> {
    if part.is_empty() {
        return Ok(open(path, from, agents)?.into_iter().next_back());
    }
    let container = Container::open(path, agents)?;
    container.map(|container| container.input(part)).transpose()
}

/// Opens a file as [`open`] does. With a cache it is one of many, and is read only up to
/// its current end.
pub(crate) fn open_among(
    path: &Path,
    from: Option<&Provider>,
    agents: Agents,
    cache: Option<&RelatedCache>,
) -> Result<Vec<Input>> {
    let name = path.display().to_string();
    if path.is_dir() {
        bail!("{name} is a directory: {}", related::advice(path, agents));
    }
    let mut file = File::open(path).with_context(|| cannot_read(&name))?;
    let mut head = read_head(&mut file).with_context(|| cannot_read(&name))?;
    if containers::is_database(&head) {
        return sessions(path, agents);
    }
    // A writer may be faster than the reader of many files.
    let size = file.metadata().map(|file| file.len());
    let is_packed = compression::recognise(&head).is_some();
    let length = match (cache, &size) {
        (Some(_), Ok(size)) => *size,
        _ => u64::MAX,
    };
    let rest = length.saturating_sub(head.len() as u64);
    let file = Cursor::new(head).chain(file.take(rest));
    let (count, file) = ByteCount::new(file, size.unwrap_or_default());
    let mut bytes = decompressed(Box::new(file)).with_context(|| cannot_read(&name))?;
    let (read, mut failure) = read_up_to(&mut bytes, HEAD);
    head = read;
    let whole = head.len() < HEAD;
    let mut provider = from
        .copied()
        .or_else(|| unspool::recognise(&head, whole, agents.providers()));
    if provider.is_none() && begins_like_json(&head) && !whole {
        // A JSON body is recognised only as a whole.
        let (rest, error) = read_up_to(&mut bytes, WHOLE);
        head.extend(rest);
        failure = error;
        provider = unspool::recognise(&head, true, agents.providers());
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
        Some(provider) => related::attachments(path, &head, &provider, cache)?,
        None => Vec::new(),
    };
    let head = Cursor::new(head);
    let input = match failure {
        None => Input::new(name, head.chain(bytes)),
        // The part before the error is shown before the error.
        Some(error) => Input::new(name, head.chain(Failed(Some(error)))),
    };
    Ok(vec![input.with_attachments(attachments).with_count(count)])
}

/// Returns true for a file that is not written line by line: a JSON document, a
/// database, a compressed file.
pub fn is_whole(path: &Path) -> bool {
    let mut head = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(16).read_to_end(&mut head);
    }
    containers::is_database(&head)
        || compression::recognise(&head).is_some()
        || path
            .extension()
            .is_some_and(|extension| extension == "json")
}

/// A stream that fails: the end of an input that could not be read to its end.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Opens all sessions of a database, the oldest first.
fn sessions(path: &Path, agents: Agents) -> Result<Vec<Input>> {
    let Some(container) = Container::open(path, agents)? else {
        return Ok(Vec::new());
    };
    let parts = container.parts().into_iter();
    parts.map(|part| container.input(&part.id)).collect()
}

fn begins_like_json(head: &[u8]) -> bool {
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}

/// Returns true if there is a NUL after the padding before the first line.
fn looks_binary(head: &[u8]) -> bool {
    let padding = head.iter().take_while(|byte| **byte == 0).count();
    head.get(padding..).is_some_and(|rest| rest.contains(&0))
}

fn is_called_packed(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension == "zst" || extension == "gz"
}
