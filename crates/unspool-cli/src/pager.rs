//! What is longer than the terminal goes to the user's pager.
//!
//! Output is held until it is known to be long: what fits is printed as it
//! would be without a pager.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

use crate::terminal;

/// What `less` is asked for: colours, and to leave what was seen on the screen.
const IN_PLACE: &str = "FRX";
/// The same where the screen is to be as it was before.
const FULL_SCREEN: &str = "R";

/// Standard output, or the pager in front of it.
pub(crate) struct Output {
    state: State,
}

enum State {
    /// Nothing is held any more, or nothing ever was.
    Direct,
    /// It may still fit.
    Held {
        command: String,
        bytes: Vec<u8>,
        /// Rows that are left on the screen.
        left: usize,
    },
    Pager(Child),
}

impl Output {
    /// Through this pager, where the output is a terminal.
    pub(crate) fn paged(command: Option<&str>) -> Self {
        let state = match command {
            Some(command) if terminal::can_repaint() => State::Held {
                command: command.to_owned(),
                bytes: Vec::new(),
                // The prompt of the shell takes one.
                left: terminal::size().rows.saturating_sub(1),
            },
            _ => State::Direct,
        };
        Self { state }
    }

    /// In this pager, however short it is, where the output is a terminal.
    pub(crate) fn in_pager(command: Option<&str>) -> Self {
        let command = command.filter(|_| terminal::can_repaint());
        let pager = command.and_then(|command| start(command, FULL_SCREEN).ok());
        Self {
            state: pager.map_or(State::Direct, State::Pager),
        }
    }

    /// Whether a pager shows it.
    pub(crate) fn is_paged(&self) -> bool {
        matches!(self.state, State::Pager(_))
    }

    /// Shows what is held, or waits until the reader has left the pager.
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
                // Better without a pager than not at all.
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
        // An error was told before, or nobody is left to be told.
        let _ = self.end();
    }
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn start(command: &str, less: &str) -> io::Result<Child> {
    // Ctrl-C is for the pager, which must not be left alone with the terminal.
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
