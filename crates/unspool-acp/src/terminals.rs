//! Commands in pseudo-terminals: those that an agent starts, and those that the user
//! types after `!`.
//!
//! Each command leads a session, so that everything it starts is in its process
//! group. Its process is only reaped when the terminal is released: until then its
//! number cannot be reused, and signals cannot reach another process. Releasing ends
//! the rest of the group and what left it (`orphans.rs`). Dropping [`Terminals`]
//! releases all of them.
//!
//! The newest output is kept, up to a limit. New output is announced by a
//! [`TerminalEvent::Output`] and fetched with [`Terminals::take_new`]. It is announced
//! again only after that, so a flood of output needs no memory. Called by `client.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::blocking::{Command, Pty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::orphans::{self, Tag};
use crate::process::{Exit, read};

/// Maximum bytes of output that are kept, and the default.
const OUTPUT_LIMIT: usize = 4 << 20;
/// Maximum bytes of new output that are kept.
const NEW_LIMIT: usize = 256 << 10;
/// Time for the last output to arrive after the command ended.
const LINGER: Duration = Duration::from_millis(200);
/// Time for a command to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(1);
const CHUNK: usize = 16 << 10;

/// A command to run in a terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminalCommand {
    /// The program; without arguments, a shell command line.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Environment variables to add.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The working folder.
    pub(crate) cwd: PathBuf,
    /// Maximum bytes of output to keep.
    pub(crate) limit: Option<u64>,
}

/// An event of a terminal, with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminalEvent {
    /// There is new output.
    Output(String),
    /// The command ended.
    Exited(String),
}

/// The output of a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// The newest output.
    pub(crate) text: String,
    /// Older output was dropped.
    pub(crate) is_truncated: bool,
    /// The exit status, if the command has ended.
    pub(crate) exit: Option<Exit>,
}

/// The terminals of one client, by their ids.
pub(crate) struct Terminals {
    running: BTreeMap<String, Terminal>,
    size: (u16, u16),
    shell: OsString,
    callback: Arc<dyn Fn(TerminalEvent) + Send + Sync>,
}

struct Terminal {
    pty: Arc<Pty>,
    group: Pid,
    tag: Tag,
    child: Child,
    started: Instant,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    kept: Vec<u8>,
    limit: usize,
    is_truncated: bool,
    new: Vec<u8>,
    /// New output was announced and not fetched yet.
    is_announced: bool,
    exit: Option<(Exit, Instant)>,
}

impl Terminals {
    /// Creates an empty set. `shell` runs command lines; the callback gets the events,
    /// from any thread.
    pub(crate) fn new(
        shell: OsString,
        callback: impl Fn(TerminalEvent) + Send + Sync + 'static,
    ) -> Self {
        Self {
            running: BTreeMap::new(),
            size: (24, 80),
            shell,
            callback: Arc::new(callback),
        }
    }

    /// Starts a command under an unused id. Fails if there is no such program or no
    /// terminal.
    pub(crate) fn start(&mut self, id: &str, command: &TerminalCommand) -> io::Result<()> {
        let (pty, pts) = pty_process::blocking::open().map_err(into_io)?;
        let (rows, columns) = self.size;
        pty.resize(pty_process::Size::new(rows, columns))
            .map_err(into_io)?;
        let started = Instant::now();
        let tag = Tag::new(device(&pty));
        let child = self
            .pty_command(command)
            .env(orphans::VARIABLE, tag.value());
        let child = child.spawn(pts).map_err(into_io)?;
        let group = Pid::from_child(&child);
        let limit = command.limit.map_or(OUTPUT_LIMIT, |limit| {
            usize::try_from(limit)
                .unwrap_or(OUTPUT_LIMIT)
                .min(OUTPUT_LIMIT)
        });
        let shared = Arc::new(Mutex::new(Shared {
            limit,
            ..Shared::default()
        }));
        let pty = Arc::new(pty);
        let (output_ended, output) = mpsc::channel();
        let reader = (Arc::clone(&pty), Arc::clone(&shared));
        let (callback, name) = (Arc::clone(&self.callback), id.to_owned());
        thread::spawn(move || {
            collect(&reader.0, &reader.1, &|| {
                callback(TerminalEvent::Output(name.clone()));
            });
            let _ = output_ended.send(());
        });
        let (callback, name) = (Arc::clone(&self.callback), id.to_owned());
        let (exit, device) = (Arc::clone(&shared), Arc::clone(&pty));
        thread::spawn(move || {
            wait(group, &exit, &output, &device);
            callback(TerminalEvent::Exited(name));
        });
        let terminal = Terminal {
            pty,
            group,
            tag,
            child,
            started,
            shared,
        };
        self.running.insert(id.to_owned(), terminal);
        Ok(())
    }

    fn pty_command(&self, command: &TerminalCommand) -> Command {
        let program = if command.args.is_empty() {
            Command::new(&self.shell).arg("-c").arg(&command.command)
        } else {
            Command::new(&command.command).args(&command.args)
        };
        // A pager would wait for input.
        program
            .env("TERM", "xterm-256color")
            .env("PAGER", "cat")
            .env("GIT_PAGER", "cat")
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&command.cwd)
    }

    /// Returns the kept output and the exit status.
    pub(crate) fn output(&self, id: &str) -> Option<Output> {
        let shared = self.running.get(id)?.lock();
        let excess = shared.kept.len().saturating_sub(shared.limit);
        let newest = shared.kept.get(excess..).unwrap_or_default();
        let is_truncated = shared.is_truncated || excess > 0;
        Some(Output {
            text: String::from_utf8_lossy(from_char_boundary(newest, is_truncated)).into_owned(),
            is_truncated,
            exit: shared.exit.as_ref().map(|(exit, _)| exit.clone()),
        })
    }

    /// Returns the exit status and the run time of a command that has ended.
    pub(crate) fn exit(&self, id: &str) -> Option<(Exit, Duration)> {
        let terminal = self.running.get(id)?;
        let (exit, at) = terminal.lock().exit.clone()?;
        Some((exit, at.duration_since(terminal.started)))
    }

    /// Returns the output since the last time, or its newest [`NEW_LIMIT`] bytes.
    pub(crate) fn take_new(&self, id: &str) -> Vec<u8> {
        let Some(terminal) = self.running.get(id) else {
            return Vec::new();
        };
        let mut shared = terminal.lock();
        shared.is_announced = false;
        std::mem::take(&mut shared.new)
    }

    /// Writes to the input of a terminal.
    pub(crate) fn write(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        match self.running.get(id) {
            Some(terminal) => (&*terminal.pty).write_all(bytes),
            None => Ok(()),
        }
    }

    /// Sets the size of all terminals.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.size = (rows.max(1), columns.max(1));
        for terminal in self.running.values() {
            let size = pty_process::Size::new(self.size.0, self.size.1);
            let _ = terminal.pty.resize(size);
        }
    }

    /// Ends a command: with SIGTERM, and later with SIGKILL.
    pub(crate) fn kill(&self, id: &str) {
        let Some(terminal) = self.running.get(id) else {
            return;
        };
        let (group, shared) = (terminal.group, Arc::clone(&terminal.shared));
        for signal in [Signal::TERM, Signal::CONT] {
            // The process is not reaped yet, so the number is still its own.
            let _ = kill_process_group(group, signal);
            terminal.tag.signal(signal);
        }
        let tag = terminal.tag.without_device();
        thread::spawn(move || {
            thread::sleep(TERM_GRACE);
            // A process that ended may have been reaped.
            if lock(&shared).exit.is_none() {
                let _ = kill_process_group(group, Signal::KILL);
            }
            tag.signal(Signal::KILL);
        });
    }

    /// Kills a command and waits for its end.
    pub(crate) fn kill_now(&self, id: &str) {
        let Some(terminal) = self.running.get(id) else {
            return;
        };
        terminal.kill_all();
        let deadline = Instant::now() + 2 * LINGER;
        while terminal.lock().exit.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills a command and removes its terminal.
    pub(crate) fn release(&mut self, id: &str) {
        self.running.remove(id);
    }
}

impl Terminal {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }

    /// Kills everything that the command started.
    fn kill_all(&self) {
        let _ = kill_process_group(self.group, Signal::HUP);
        let _ = kill_process_group(self.group, Signal::KILL);
        self.tag.signal(Signal::KILL);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.kill_all();
        // The lock keeps `kill` from signalling the group after it was reaped.
        let mut shared = lock(&self.shared);
        let status = self.child.wait();
        if shared.exit.is_none() {
            let exit = status.map(Exit::from).unwrap_or_default();
            shared.exit = Some((exit, Instant::now()));
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_io(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(errno) => errno.into(),
    }
}

/// Returns the device file of a terminal.
fn device(pty: &Pty) -> Option<PathBuf> {
    let name = rustix::pty::ptsname(pty, Vec::new()).ok()?;
    Some(OsString::from_vec(name.into_bytes()).into())
}

/// Collects the output of a terminal until no process can write to it any more.
fn collect(mut pty: &Pty, shared: &Mutex<Shared>, announce: &dyn Fn()) {
    let mut chunk = vec![0; CHUNK];
    while let Some(bytes) = read(&mut pty, &mut chunk) {
        let mut shared = lock(shared);
        let limit = shared.limit;
        shared.is_truncated |= keep_newest(&mut shared.kept, bytes, limit);
        keep_newest(&mut shared.new, bytes, NEW_LIMIT);
        let is_first = !std::mem::replace(&mut shared.is_announced, true);
        drop(shared);
        if is_first {
            announce();
        }
    }
}

/// Appends and keeps at least the newest `limit` bytes; returns true if older ones were
/// dropped.
fn keep_newest(kept: &mut Vec<u8>, bytes: &[u8], limit: usize) -> bool {
    kept.extend_from_slice(bytes);
    let excess = kept.len().saturating_sub(limit);
    // Dropping moves all the rest, so it is done rarely.
    if excess > 0 && (excess > limit / 4 || limit < CHUNK) {
        kept.drain(..excess);
        return true;
    }
    false
}

/// Skips the rest of a character whose start was dropped.
fn from_char_boundary(bytes: &[u8], is_truncated: bool) -> &[u8] {
    if !is_truncated {
        return bytes;
    }
    let is_rest = |byte: &&u8| (**byte & 0xC0) == 0x80;
    let rest = bytes.iter().take(3).take_while(is_rest).count();
    bytes.get(rest..).unwrap_or_default()
}

/// Returns true while a terminal holds output that was not read.
fn has_output(pty: &Pty) -> bool {
    let mut descriptors = [PollFd::new(pty, PollFlags::IN)];
    let polled = poll(&mut descriptors, Some(&Timespec::default()));
    polled.is_ok_and(|ready| ready > 0)
        && descriptors
            .iter()
            .any(|one| one.revents().contains(PollFlags::IN))
}

/// Waits for a command to end, without reaping it.
fn wait(group: Pid, shared: &Mutex<Shared>, output: &Receiver<()>, pty: &Pty) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(group), options) {
            Err(rustix::io::Errno::INTR) => {}
            result => break result.ok().flatten(),
        }
    };
    let at = Instant::now();
    // A process in the background may keep the terminal open; the output of the command
    // itself is there, and is read however long that takes.
    while output.recv_timeout(LINGER) == Err(RecvTimeoutError::Timeout) && has_output(pty) {}
    let exit = status.map_or_else(Exit::default, |status| Exit {
        code: status.exit_status(),
        signal: status.terminating_signal(),
    });
    let mut shared = lock(shared);
    if shared.exit.is_none() {
        shared.exit = Some((exit, at));
    }
}

/// Returns the name of a signal for the protocol.
pub(crate) fn signal_name(signal: i32) -> String {
    let known = signal_hook::low_level::signal_name(signal);
    known.map_or_else(|| signal.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
