//! An agent's process and the lines that go in and out of it.
//!
//! Nothing here ever waits for the agent: one thread reads its output, one its
//! errors, one writes what is queued, one waits for its end. What they have to
//! say goes to a callback as [`Incoming`]; a callback that blocks slows the
//! agent down, and nothing else. Made by `client.rs`.
//!
//! The agent has a process group of its own. When it ends, or when the
//! [`Connection`] is dropped, all that is left of the group is ended too.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::process::{Exit, read};
use crate::terminals::TerminalEvent;
use lines::Lines;

pub mod interpreter;
mod lines;

/// Longer lines are skipped.
const LINE_LIMIT: usize = 64 << 20;
/// How much of standard error is kept.
const ERRORS_KEPT: usize = 8 << 10;
/// How long an agent may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_millis(300);
/// How long it may take after it was asked to end.
const PATIENCE: Duration = Duration::from_millis(700);
/// How long output may still come after the process ended.
const LINGER: Duration = Duration::from_millis(500);
/// How long a process may go on after it closed its output.
const DEAF: Duration = Duration::from_secs(2);
/// How long what the agent left behind may take to end.
const ORPHANS: Duration = Duration::from_millis(20);
const CHUNK: usize = 64 << 10;

/// What is started.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables beside those of this process.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs: the root of the project.
    pub cwd: PathBuf,
}

impl Launch {
    /// Runs a command in a folder, with the environment of this process.
    pub fn new(argv: Vec<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            argv,
            env: Vec::new(),
            cwd: cwd.into(),
        }
    }
}

/// What came from the agent or from a command that runs for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A line of its output, without its end.
    Line(String),
    /// A line of so many bytes was skipped.
    Oversized(usize),
    /// Something on standard error.
    Stderr(String),
    /// It is over.
    Exited(Exit),
    /// TerminalEvent of a command in a terminal.
    Terminal(TerminalEvent),
}

/// An agent's process.
pub(crate) struct Connection {
    group: Pid,
    /// Gone once the input is to be closed.
    outbox: Option<Sender<String>>,
    waiting: Arc<AtomicUsize>,
    is_alive: Arc<Mutex<bool>>,
    ended: Receiver<()>,
}

impl Connection {
    /// Starts an agent. Fails when there is no such program.
    pub(crate) fn start(
        launch: &Launch,
        callback: impl Fn(Incoming) + Send + Clone + 'static,
    ) -> io::Result<Self> {
        let (program, arguments) = launch
            .argv
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| interpreter::explained(error, program))?;
        let group = Pid::from_child(&child);
        let is_alive = Arc::new(Mutex::new(true));
        let (outbox, queued) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let (tell_silent, silent) = mpsc::channel();
        if let Some(input) = child.stdin.take() {
            let waiting = Arc::clone(&waiting);
            thread::spawn(move || write_lines(input, &queued, &waiting));
        }
        if let Some(output) = child.stdout.take() {
            let (callback, is_alive) = (callback.clone(), Arc::clone(&is_alive));
            let tell_silent = tell_silent.clone();
            thread::spawn(move || {
                read_lines(output, &callback);
                let _ = tell_silent.send(());
                end_the_deaf(group, &is_alive);
            });
        }
        if let Some(errors) = child.stderr.take() {
            let callback = callback.clone();
            thread::spawn(move || {
                read_errors(errors, &callback);
                let _ = tell_silent.send(());
            });
        }
        let (tell_ended, ended) = mpsc::channel();
        let alive = Arc::clone(&is_alive);
        thread::spawn(move || {
            let exit = wait(child, group, &alive);
            let _ = tell_ended.send(());
            // What the agent said last comes before its end; what it started
            // may hold the pipe open, and is not waited for.
            for _pipe in 0..2 {
                let _ = silent.recv_timeout(LINGER);
            }
            callback(Incoming::Exited(exit));
        });
        Ok(Self {
            group,
            outbox: Some(outbox),
            waiting,
            is_alive,
            ended,
        })
    }

    /// The agent's process group, which has the number of its process.
    pub(crate) fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Queues a line. One that nobody reads any more is dropped.
    pub(crate) fn send(&self, line: String) {
        if let Some(outbox) = &self.outbox {
            self.waiting.fetch_add(line.len(), Ordering::Relaxed);
            let _ = outbox.send(line);
        }
    }

    /// Bytes that the agent did not read yet: one that hangs lets them grow.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Closes the agent's input, which asks it to end.
    pub(crate) fn close(&mut self) {
        self.outbox = None;
    }

    fn signal(&self, signal: Signal) {
        signal_group(self.group, &self.is_alive, signal);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
        if self.ended.recv_timeout(GRACE).is_ok() {
            return;
        }
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        if self.ended.recv_timeout(PATIENCE).is_ok() {
            return;
        }
        self.signal(Signal::KILL);
        let _ = self.ended.recv();
    }
}

/// Signals a group whose leader was not reaped yet, so that its number cannot
/// mean another group.
fn signal_group(group: Pid, is_alive: &Mutex<bool>, signal: Signal) {
    let is_alive = is_alive.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_alive {
        let _ = kill_process_group(group, signal);
    }
}

/// Waits for the end, and ends what is left of the group.
fn wait(mut child: Child, group: Pid, is_alive: &Mutex<bool>) -> Exit {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(group), options) {}
    let mut is_alive = is_alive.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = kill_process_group(group, Signal::TERM);
    thread::sleep(ORPHANS);
    let _ = kill_process_group(group, Signal::KILL);
    *is_alive = false;
    child.wait().map(Exit::from).unwrap_or_default()
}

/// An agent that closed its output can say nothing any more.
fn end_the_deaf(group: Pid, is_alive: &Mutex<bool>) {
    thread::sleep(DEAF);
    signal_group(group, is_alive, Signal::TERM);
    thread::sleep(PATIENCE);
    signal_group(group, is_alive, Signal::KILL);
}

fn write_lines(mut input: ChildStdin, queued: &Receiver<String>, waiting: &AtomicUsize) {
    for mut line in queued {
        let length = line.len();
        line.push('\n');
        let written = input.write_all(line.as_bytes());
        waiting.fetch_sub(length, Ordering::Relaxed);
        if written.is_err() {
            return;
        }
    }
}

fn read_lines(mut output: impl Read, callback: &impl Fn(Incoming)) {
    let mut lines = Lines::new(LINE_LIMIT);
    let mut chunk = vec![0; CHUNK];
    while let Some(bytes) = read(&mut output, &mut chunk) {
        lines.push(bytes, callback);
    }
    lines.finish(callback);
}

fn read_errors(mut errors: impl Read, callback: &impl Fn(Incoming)) {
    let mut chunk = vec![0; ERRORS_KEPT];
    while let Some(bytes) = read(&mut errors, &mut chunk) {
        callback(Incoming::Stderr(
            String::from_utf8_lossy(bytes).into_owned(),
        ));
    }
}

/// Appends to the end of a text of which only the end is kept.
pub(crate) fn keep_end(kept: &mut String, more: &str) {
    kept.push_str(more);
    if kept.len() > ERRORS_KEPT {
        let mut cut = kept.len() - ERRORS_KEPT;
        while !kept.is_char_boundary(cut) {
            cut += 1;
        }
        kept.drain(..cut);
    }
}
