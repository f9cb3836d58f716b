//! An agent's process, and the lines that it reads and writes.
//!
//! Nothing here blocks on the agent: one thread reads its output, one its errors, one
//! writes the queued lines, one waits for its end. They report to a callback as
//! [`Incoming`]. A callback that blocks slows down the agent and nothing else.
//! Created by `client.rs`.
//!
//! The agent leads a process group. When it ends, or when the connection is
//! dropped, the rest of the group is ended too.

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

/// Maximum length of a line. Longer ones are skipped.
const LINE_LIMIT: usize = 64 << 20;
/// Bytes of standard error that are kept.
const STDERR_LIMIT: usize = 8 << 10;
/// Time for the agent to end once its input is closed.
const CLOSE_GRACE: Duration = Duration::from_millis(300);
/// Time for the agent to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_millis(700);
/// Time for the last output to arrive after the process ended.
const LINGER: Duration = Duration::from_millis(500);
/// Time for the process to end after it closed its output.
const OUTPUT_CLOSED_GRACE: Duration = Duration::from_secs(2);
/// Time for the agent's orphans to end after SIGTERM.
const ORPHAN_GRACE: Duration = Duration::from_millis(20);
const CHUNK: usize = 64 << 10;

/// The command that starts an agent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Environment variables to add.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder: the project's root.
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

/// Input from the agent or from a command in a terminal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A line of output, without its newline.
    Line(String),
    /// A line of this many bytes was skipped.
    Oversized(usize),
    /// Text on standard error.
    Stderr(String),
    /// The process ended.
    Exited(Exit),
    /// An event of a terminal.
    Terminal(TerminalEvent),
}

/// An agent's process.
pub(crate) struct Connection {
    group: Pid,
    /// `None` once the input is closed.
    outbox: Option<Sender<String>>,
    unread: Arc<AtomicUsize>,
    is_alive: Arc<Mutex<bool>>,
    ended: Receiver<()>,
}

impl Connection {
    /// Starts an agent. Fails if there is no such program.
    pub(crate) fn start(
        launch: &Launch,
        callback: impl Fn(Incoming) + Send + Clone + 'static,
    ) -> io::Result<Self> {
        let mut child = spawn(launch)?;
        let group = Pid::from_child(&child);
        let is_alive = Arc::new(Mutex::new(true));
        let (outbox, queued) = mpsc::channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let (output_ended, outputs) = mpsc::channel();
        if let Some(input) = child.stdin.take() {
            let unread = Arc::clone(&unread);
            thread::spawn(move || write_lines(input, &queued, &unread));
        }
        if let Some(output) = child.stdout.take() {
            let (callback, is_alive) = (callback.clone(), Arc::clone(&is_alive));
            let output_ended = output_ended.clone();
            thread::spawn(move || {
                read_lines(output, &callback);
                let _ = output_ended.send(());
                end_after_output_closed(group, &is_alive);
            });
        }
        if let Some(errors) = child.stderr.take() {
            let callback = callback.clone();
            thread::spawn(move || {
                read_errors(errors, &callback);
                let _ = output_ended.send(());
            });
        }
        let (has_ended, ended) = mpsc::channel();
        let alive = Arc::clone(&is_alive);
        thread::spawn(move || {
            let exit = wait(child, group, &alive);
            let _ = has_ended.send(());
            // The last output is reported before the end. An orphan of the agent may
            // keep the pipes open, so the wait is limited.
            for _pipe in 0..2 {
                let _ = outputs.recv_timeout(LINGER);
            }
            callback(Incoming::Exited(exit));
        });
        Ok(Self {
            group,
            outbox: Some(outbox),
            unread,
            is_alive,
            ended,
        })
    }

    /// Returns the process group, whose number is that of the process.
    pub(crate) fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Queues a line. It is dropped if the agent has ended.
    pub(crate) fn send(&self, line: String) {
        if let Some(outbox) = &self.outbox {
            self.unread.fetch_add(line.len(), Ordering::Relaxed);
            let _ = outbox.send(line);
        }
    }

    /// Returns the number of bytes that the agent has not read yet.
    pub(crate) fn unread_bytes(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
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
        if self.ended.recv_timeout(CLOSE_GRACE).is_ok() {
            return;
        }
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        if self.ended.recv_timeout(TERM_GRACE).is_ok() {
            return;
        }
        self.signal(Signal::KILL);
        let _ = self.ended.recv();
    }
}

fn spawn(launch: &Launch) -> io::Result<Child> {
    let (program, arguments) = launch
        .argv
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
    Command::new(program)
        .args(arguments)
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| interpreter::explain(error, program))
}

/// Signals a group, unless its leader was reaped: then the number could belong to
/// another group.
fn signal_group(group: Pid, is_alive: &Mutex<bool>, signal: Signal) {
    let is_alive = is_alive.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_alive {
        let _ = kill_process_group(group, signal);
    }
}

/// Waits for the end of the process, and then ends the rest of its group.
fn wait(mut child: Child, group: Pid, is_alive: &Mutex<bool>) -> Exit {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(group), options) {}
    let mut is_alive = is_alive.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = kill_process_group(group, Signal::TERM);
    thread::sleep(ORPHAN_GRACE);
    let _ = kill_process_group(group, Signal::KILL);
    *is_alive = false;
    child.wait().map(Exit::from).unwrap_or_default()
}

/// Ends an agent that has closed its output.
fn end_after_output_closed(group: Pid, is_alive: &Mutex<bool>) {
    thread::sleep(OUTPUT_CLOSED_GRACE);
    signal_group(group, is_alive, Signal::TERM);
    thread::sleep(TERM_GRACE);
    signal_group(group, is_alive, Signal::KILL);
}

fn write_lines(mut input: ChildStdin, queued: &Receiver<String>, unread: &AtomicUsize) {
    for mut line in queued {
        let length = line.len();
        line.push('\n');
        let written = input.write_all(line.as_bytes());
        unread.fetch_sub(length, Ordering::Relaxed);
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
    let mut chunk = vec![0; STDERR_LIMIT];
    while let Some(bytes) = read(&mut errors, &mut chunk) {
        callback(Incoming::Stderr(
            String::from_utf8_lossy(bytes).into_owned(),
        ));
    }
}

/// Appends to a text and keeps only its last [`STDERR_LIMIT`] bytes.
pub(crate) fn keep_end(kept: &mut String, more: &str) {
    kept.push_str(more);
    if kept.len() > STDERR_LIMIT {
        let mut cut = kept.len() - STDERR_LIMIT;
        while !kept.is_char_boundary(cut) {
            cut += 1;
        }
        kept.drain(..cut);
    }
}
