//! Sends output longer than the terminal to the user's pager.
//!
//! Output is buffered until it is known to be long; short output is printed as
//! without a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

use crate::terminal;

/// Options for `less`: keep colours, quit if it fits, leave the text on the
/// screen.
const IN_PLACE: &str = "FRX";
/// Options for `less` that restore the screen afterwards.
const FULL_SCREEN: &str = "R";

/// Standard output, or a pager in front of it.
pub(crate) struct Output {
    state: State,
}

enum State {
    /// Unbuffered.
    Direct,
    /// Buffered, because it may still fit.
    Held {
        command: String,
        bytes: Vec<u8>,
        /// Rows left on the screen.
        left: usize,
    },
    Pager(Child),
}

impl Output {
    /// Creates an output that uses this pager for long text on a terminal.
    pub(crate) fn paged(command: Option<&str>) -> Self {
        let state = match command {
            Some(command) if terminal::can_repaint() => State::Held {
                command: command.to_owned(),
                bytes: Vec::new(),
                // The shell's prompt takes one.
                left: terminal::size().rows.saturating_sub(1),
            },
            _ => State::Direct,
        };
        Self { state }
    }

    /// Creates an output that always uses this pager on a terminal.
    pub(crate) fn in_pager(command: Option<&str>) -> Self {
        let command = command.filter(|_| terminal::can_repaint());
        let pager = command.and_then(|command| start(command, FULL_SCREEN).ok());
        Self {
            state: pager.map_or(State::Direct, State::Pager),
        }
    }

    /// Returns true if a pager shows the output.
    pub(crate) fn is_paged(&self) -> bool {
        matches!(self.state, State::Pager(_))
    }

    /// Writes buffered output, or waits until the user leaves the pager.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Direct) {
            State::Direct => io::stdout().flush(),
            State::Held { bytes, .. } => write_out(&bytes),
            State::Pager(mut pager) => {
                drop(pager.stdin.take());
                pager.wait().map(|_| ())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, new: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Direct => return io::stdout().write(new),
            State::Pager(pager) => {
                return match &mut pager.stdin {
                    Some(stdin) => stdin.write(new),
                    None => Err(io::ErrorKind::BrokenPipe.into()),
                };
            }
            State::Held { bytes, left, .. } => {
                bytes.extend_from_slice(new);
                let rows = new.split(|byte| *byte == b'\n').count() - 1;
                if let Some(rest) = left.checked_sub(rows) {
                    *left = rest;
                    return Ok(new.len());
                }
            }
        }
        if let State::Held { command, bytes, .. } =
            std::mem::replace(&mut self.state, State::Direct)
        {
            match start(&command, IN_PLACE) {
                Ok(pager) => {
                    self.state = State::Pager(pager);
                    self.write_all(&bytes)?;
                }
                // Without a pager is better than no output.
                Err(_) => write_out(&bytes)?,
            }
        }
        Ok(new.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Direct => io::stdout().flush(),
            State::Held { .. } => Ok(()),
            State::Pager(pager) => pager.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The error was reported before, or cannot be reported.
        let _ = self.end();
    }
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn start(command: &str, less: &str) -> io::Result<Child> {
    // Ctrl-C is for the pager, which must not lose its parent.
    signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
    let words = shlex::split(command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut pager = Command::new(program);
    for (name, value) in [("LESS", less), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    pager.args(arguments).stdin(Stdio::piped()).spawn()
}
