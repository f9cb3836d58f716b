//! The inputs of a command: the files that are named, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unspool::source::Provider;
use unspool_sessions::driver::IDLE;
use unspool_sessions::error::Error as SessionsError;
use unspool_sessions::input::Input;
use unspool_sessions::open;

use crate::status::{Status, complain};
use crate::{agents, cli};

/// Calls `take` with every input of the files, or of standard input. An input that
/// cannot be read is reported, and the others are still read.
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

/// Adds a hint to the error for a missing file: it may be a mistyped subcommand.
fn with_hint(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let is_missing = error
        .downcast_ref()
        .is_some_and(SessionsError::is_not_found);
    let word = path.to_str().filter(|_| is_missing);
    match word.and_then(|word| cli::similar_subcommand(word, None)) {
        Some(name) => anyhow!("{error:#}; did you mean `unspool {name}`?"),
        None => error,
    }
}

/// Returns the files, or standard input if there are none. Fails if that is a terminal:
/// nobody types an agent's output.
fn or_stdin(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !files.is_empty() {
        return Ok(files.to_vec());
    }
    if io::stdin().is_terminal() {
        bail!("nothing to read: give a file, or pipe in an agent's output (see --help)");
    }
    Ok(vec![PathBuf::from("-")])
}

/// Opens a file or standard input for its bytes, without decompression or recognition.
pub(crate) fn open_raw(path: &Path) -> anyhow::Result<Vec<Input>> {
    Ok(vec![if path == Path::new("-") {
        Input::new(path.display().to_string(), io::stdin())
    } else {
        open::raw(path)?
    }])
}

/// Opens what a path names: standard input, one session, or all sessions of a
/// database.
pub(crate) fn open(path: &Path, from: Option<&Provider>) -> anyhow::Result<Vec<Input>> {
    if path == Path::new("-") {
        return Ok(vec![
            standard_input().context("cannot read standard input")?,
        ]);
    }
    Ok(open::open(path, from.copied(), agents::known())?)
}

fn standard_input() -> io::Result<Input> {
    let pipe = io::stdin().as_fd().try_clone_to_owned()?;
    // Not through a buffer: the pipe itself is polled for more.
    let bytes = open::decompressed(Box::new(File::from(pipe.try_clone()?)))?;
    let input = Input::new("standard input".to_owned(), bytes);
    Ok(input.with_idle_check(move || is_idle(&pipe)))
}

/// Returns true if nothing comes out of a pipe for a while.
fn is_idle(pipe: impl AsFd) -> bool {
    let patience = Timespec::try_from(IDLE).ok();
    let mut descriptors = [PollFd::new(&pipe, PollFlags::IN)];
    poll(&mut descriptors, patience.as_ref()) == Ok(0)
}
