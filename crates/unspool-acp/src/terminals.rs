//! Commands in terminals of their own: those that an agent starts, and those
//! that a person types after `!`.
//!
//! Each runs in a real pty as the leader of a session, so that all that it
//! starts is one group. Its process is not reaped before it is released: until
//! then its number is its own, and signals cannot reach a stranger. Releasing
//! ends what is left of the group and what left it (`orphans.rs`), and dropping
//! [`Terminals`] releases all.
//!
//! Output is kept up to a limit, the newest bytes of it. What is new is fetched
//! with [`Terminals::take_new`] after a [`TerminalEvent::Output`], of which there is at
//! most one unanswered per terminal: a command that floods costs no memory.
//! Called by `client.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::blocking::{Command, Pty};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::orphans::{self, Tag};
use crate::process::{Exit, read};

/// What is kept of an output for which nobody set a limit.
const KEPT: usize = 4 << 20;
/// What is kept of an output that was not shown yet.
const UNSEEN: usize = 256 << 10;
/// How long output may still come after the command ended.
const LINGER: Duration = Duration::from_millis(200);
/// How long a command may take to end once it was asked to.
const PATIENCE: Duration = Duration::from_secs(1);
const CHUNK: usize = 16 << 10;

/// What is to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminalCommand {
    /// The program, or, without arguments, a line for the shell.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Variables beside those of this process.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub(crate) cwd: PathBuf,
    /// How many bytes of output are kept.
    pub(crate) limit: Option<u64>,
}

/// Something happened in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminalEvent {
    /// There is output that was not taken yet.
    Output(String),
    /// The command ended.
    Exited(String),
}

/// What a terminal holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// The newest output.
    pub(crate) text: String,
    /// Older output was dropped.
    pub(crate) is_truncated: bool,
    /// How the command ended, if it did.
    pub(crate) exit: Option<Exit>,
}

/// All terminals of one client, by their ids.
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
    unseen: Vec<u8>,
    /// TerminalEvent of output is on its way.
    is_told: bool,
    exit: Option<(Exit, Instant)>,
}

impl Terminals {
    /// No terminal yet. `shell` runs lines; the callback hears the news, from
    /// any thread.
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

    /// Starts a command under an id that is not in use. Fails when there is no
    /// such program or no terminal for it.
    pub(crate) fn start(&mut self, id: &str, run: &TerminalCommand) -> io::Result<()> {
        let (pty, pts) = pty_process::blocking::open().map_err(into_io)?;
        let (rows, columns) = self.size;
        pty.resize(pty_process::Size::new(rows, columns))
            .map_err(into_io)?;
        let started = Instant::now();
        let tag = Tag::new(device(&pty));
        let child = self.command(run).env(orphans::VARIABLE, tag.value());
        let child = child.spawn(pts).map_err(into_io)?;
        let group = Pid::from_child(&child);
        let limit = run.limit.map_or(KEPT, |limit| {
            usize::try_from(limit).unwrap_or(KEPT).min(KEPT)
        });
        let shared = Arc::new(Mutex::new(Shared {
            limit,
            ..Shared::default()
        }));
        let pty = Arc::new(pty);
        let (tell_silent, silent) = mpsc::channel();
        let reader = (Arc::clone(&pty), Arc::clone(&shared));
        let (callback, name) = (Arc::clone(&self.callback), id.to_owned());
        thread::spawn(move || {
            collect(&reader.0, &reader.1, &|| {
                callback(TerminalEvent::Output(name.clone()));
            });
            let _ = tell_silent.send(());
        });
        let (callback, name) = (Arc::clone(&self.callback), id.to_owned());
        let exit = Arc::clone(&shared);
        thread::spawn(move || {
            wait(group, &exit, &silent);
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

    fn command(&self, run: &TerminalCommand) -> Command {
        let command = if run.args.is_empty() {
            Command::new(&self.shell).arg("-c").arg(&run.command)
        } else {
            Command::new(&run.command).args(&run.args)
        };
        // A pager would wait for keys that nobody presses.
        command
            .env("TERM", "xterm-256color")
            .env("PAGER", "cat")
            .env("GIT_PAGER", "cat")
            .envs(run.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&run.cwd)
    }

    /// The output that is kept, and the exit status.
    pub(crate) fn output(&self, id: &str) -> Option<Output> {
        let shared = self.running.get(id)?.lock();
        let excess = shared.kept.len().saturating_sub(shared.limit);
        let newest = shared.kept.get(excess..).unwrap_or_default();
        let is_truncated = shared.is_truncated || excess > 0;
        Some(Output {
            text: String::from_utf8_lossy(from_border(newest, is_truncated)).into_owned(),
            is_truncated,
            exit: shared.exit.as_ref().map(|(exit, _)| exit.clone()),
        })
    }

    /// How the command ended, if it did, and how long it ran.
    pub(crate) fn exit(&self, id: &str) -> Option<(Exit, Duration)> {
        let terminal = self.running.get(id)?;
        let (exit, at) = terminal.lock().exit.clone()?;
        Some((exit, at.duration_since(terminal.started)))
    }

    /// The bytes that came since the last time: the newest of them, if there
    /// were very many.
    pub(crate) fn take_new(&self, id: &str) -> Vec<u8> {
        let Some(terminal) = self.running.get(id) else {
            return Vec::new();
        };
        let mut shared = terminal.lock();
        shared.is_told = false;
        std::mem::take(&mut shared.unseen)
    }

    /// Types into a terminal.
    pub(crate) fn write(&self, id: &str, bytes: &[u8]) -> io::Result<()> {
        match self.running.get(id) {
            Some(terminal) => (&*terminal.pty).write_all(bytes),
            None => Ok(()),
        }
    }

    /// The size of all terminals, rows first.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.size = (rows.max(1), columns.max(1));
        for terminal in self.running.values() {
            let size = pty_process::Size::new(self.size.0, self.size.1);
            let _ = terminal.pty.resize(size);
        }
    }

    /// Questions a command to end, and makes it end if it does not.
    pub(crate) fn kill(&self, id: &str) {
        let Some(terminal) = self.running.get(id) else {
            return;
        };
        let (group, shared) = (terminal.group, Arc::clone(&terminal.shared));
        for signal in [Signal::TERM, Signal::CONT] {
            // Until it is released its number is its own.
            let _ = kill_process_group(group, signal);
            terminal.tag.signal(signal);
        }
        let tag = terminal.tag.without_device();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            // Once it ended it may have been reaped.
            if lock(&shared).exit.is_none() {
                let _ = kill_process_group(group, Signal::KILL);
            }
            tag.signal(Signal::KILL);
        });
    }

    /// Ends a command at once, and waits until it is over.
    pub(crate) fn kill_now(&self, id: &str) {
        let Some(terminal) = self.running.get(id) else {
            return;
        };
        terminal.end();
        let deadline = Instant::now() + 2 * LINGER;
        while terminal.lock().exit.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends a command and forgets its terminal.
    pub(crate) fn release(&mut self, id: &str) {
        self.running.remove(id);
    }
}

impl Terminal {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }

    /// Ends all that came of the command.
    fn end(&self) {
        let _ = kill_process_group(self.group, Signal::HUP);
        let _ = kill_process_group(self.group, Signal::KILL);
        self.tag.signal(Signal::KILL);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end();
        // A thread that waits to kill it must not do so once it is reaped.
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

/// The file of a terminal's other side.
fn device(pty: &Pty) -> Option<PathBuf> {
    let name = rustix::pty::ptsname(pty, Vec::new()).ok()?;
    Some(OsString::from_vec(name.into_bytes()).into())
}

/// Keeps what comes out of a terminal until nobody can write to it any more.
fn collect(mut pty: &Pty, shared: &Mutex<Shared>, tell: &dyn Fn()) {
    let mut chunk = vec![0; CHUNK];
    while let Some(bytes) = read(&mut pty, &mut chunk) {
        let mut shared = lock(shared);
        let limit = shared.limit;
        shared.is_truncated |= keep_newest(&mut shared.kept, bytes, limit);
        keep_newest(&mut shared.unseen, bytes, UNSEEN);
        let is_news = !std::mem::replace(&mut shared.is_told, true);
        drop(shared);
        if is_news {
            tell();
        }
    }
}

/// Appends; whether old bytes had to go.
fn keep_newest(kept: &mut Vec<u8>, bytes: &[u8], limit: usize) -> bool {
    kept.extend_from_slice(bytes);
    let excess = kept.len().saturating_sub(limit);
    // Moving the rest costs as much as the rest is long, so it is done rarely.
    if excess > 0 && (excess > limit / 4 || limit < CHUNK) {
        kept.drain(..excess);
        return true;
    }
    false
}

/// Without the rest of a character whose beginning was dropped.
fn from_border(bytes: &[u8], is_truncated: bool) -> &[u8] {
    if !is_truncated {
        return bytes;
    }
    let is_rest = |byte: &&u8| (**byte & 0xC0) == 0x80;
    let rest = bytes.iter().take(3).take_while(is_rest).count();
    bytes.get(rest..).unwrap_or_default()
}

/// Waits for a command's end without reaping it.
fn wait(group: Pid, shared: &Mutex<Shared>, silent: &Receiver<()>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(group), options) {
            Err(rustix::io::Errno::INTR) => {}
            result => break result.ok().flatten(),
        }
    };
    let at = Instant::now();
    let _ = silent.recv_timeout(LINGER);
    let exit = status.map_or_else(Exit::default, |status| Exit {
        code: status.exit_status(),
        signal: status.terminating_signal(),
    });
    let mut shared = lock(shared);
    if shared.exit.is_none() {
        shared.exit = Some((exit, at));
    }
}

/// The name of a signal, as the protocol wants it.
pub(crate) fn signal_name(signal: i32) -> String {
    let known = signal_hook::low_level::signal_name(signal);
    known.map_or_else(|| signal.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
