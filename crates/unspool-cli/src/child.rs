//! Runs a command: sends its output into the channel and a file, forwards signals
//! to its process group, and never leaves it orphaned (`child/supervise.rs`).

pub(crate) mod program;
pub(crate) mod supervise;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use signal_hook::consts::{SIGINT, SIGTTIN, SIGTTOU};
use unspool_sessions::driver::Piece;
use unspool_sessions::input::CHUNK;

use crate::watch::{Subject, Update, stop_here};
use unspool_acp::orphans::{self, Watchdog};

/// Time to wait for output after the command exits: its children may hold the pipe
/// open forever.
const LINGER: Duration = Duration::from_secs(1);

/// A running command.
pub(crate) struct Running {
    /// Its process group, which contains only processes it started.
    group: Pid,
    done: Receiver<Outcome>,
    _watchdog: Option<Watchdog>,
}

/// The exit status of a command, and the state of the saved output.
pub(crate) struct Outcome {
    pub(crate) status: io::Result<ExitStatus>,
    pub(crate) saved: Saved,
}

/// The file that output is saved to.
pub(crate) struct Save {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

/// The state of the saved output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Complete, or not requested.
    Whole,
    /// Incomplete; the write error was reported.
    Cut,
}

/// A message from a worker thread that has finished.
enum Part {
    Output(Saved),
    Errors,
    Exit(io::Result<ExitStatus>),
}

/// Starts a command. Its output is written to `save` before it is sent. Must be
/// called from the main thread: the command ends with the thread that starts it.
pub(crate) fn start(
    words: &[String],
    save: Option<Save>,
    sender: &SyncSender<Update>,
) -> io::Result<Running> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| io::Error::other("no command"))?;
    let mut command = supervise::command(program, arguments)?;
    // A separate process group gets no signals from the terminal, and must not read
    // from it.
    if io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let group = Pid::from_child(&child);
    // Without a watchdog, `kill -9` orphans the processes that the command started.
    let watchdog = supervise::watchdog(group.as_raw_nonzero().get(), None).ok();
    let (parts, finished_parts) = channel();
    if let Some(output) = child.stdout.take() {
        let (sender, parts) = (sender.clone(), parts.clone());
        thread::spawn(move || {
            let saved = pass_on(output, save, &sender);
            let _ = parts.send(Part::Output(saved));
        });
    }
    if let Some(errors) = child.stderr.take() {
        let (sender, parts) = (sender.clone(), parts.clone());
        thread::spawn(move || {
            pass_errors_on(errors, &sender);
            let _ = parts.send(Part::Errors);
        });
    }
    let (finished, done) = channel();
    let to_waiter = sender.clone();
    thread::spawn(move || {
        let _ = parts.send(Part::Exit(wait(group, &to_waiter)));
    });
    let sender = sender.clone();
    thread::spawn(move || {
        let outcome = collect(&finished_parts, &sender);
        let _ = finished.send(outcome);
        let _ = sender.send(Update::Ended(Ok(())));
    });
    Ok(Running {
        group,
        done,
        _watchdog: watchdog,
    })
}

/// Waits for the command to exit, and warns if it is stopped because it needs the
/// terminal.
fn wait(command: Pid, sender: &SyncSender<Update>) -> io::Result<ExitStatus> {
    loop {
        let status = match waitpid(Some(command), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        match status.stopping_signal() {
            None => return Ok(ExitStatus::from_raw(status.as_raw())),
            Some(SIGTTIN | SIGTTOU) => {
                let text = "The command is waiting for the terminal, which it cannot use; \
                            press Ctrl-C to stop it.\n";
                let _ = sender.send(Update::Aside(text.to_owned()));
            }
            Some(_) => {}
        }
    }
}

/// Waits until the command has exited and its output has ended.
fn collect(parts: &Receiver<Part>, sender: &SyncSender<Update>) -> Outcome {
    let mut status = None;
    let mut output = None;
    let mut errors = false;
    let mut warned = false;
    loop {
        let is_over = status.is_some();
        if is_over && output.is_some() && errors {
            break;
        }
        let part = if is_over || (output.is_some() && !warned) {
            parts.recv_timeout(LINGER)
        } else {
            parts.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match part {
            Ok(Part::Output(saved)) => output = Some(saved),
            Ok(Part::Errors) => errors = true,
            Ok(Part::Exit(exit)) => status = Some(exit),
            Err(RecvTimeoutError::Timeout) if !is_over => {
                warned = true;
                let text = "The command closed its output but is still running; press Ctrl-C to stop it.\n";
                let _ = sender.send(Update::Aside(text.to_owned()));
            }
            Err(_) => break,
        }
    }
    Outcome {
        status: status.unwrap_or_else(|| Err(io::Error::other("the exit status was lost"))),
        // Output from other processes that hold the pipe is not waited for.
        saved: output.unwrap_or(Saved::Whole),
    }
}

/// Forwards the output, and writes it to the file first. Keeps writing to the file
/// after the receiver is gone.
fn pass_on(mut output: impl Read, mut save: Option<Save>, sender: &SyncSender<Update>) -> Saved {
    let mut chunk = vec![0; CHUNK];
    let mut saved = Saved::Whole;
    let mut has_receiver = true;
    loop {
        let bytes = match output.read(&mut chunk) {
            Ok(0) => return saved,
            Ok(length) => chunk.get(..length).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return saved,
        };
        if let Some(Save { path, file }) = &mut save
            && let Err(error) = file.write_all(bytes)
        {
            let path = path.display();
            let text = format!("{path} is incomplete, saving stopped: {error}\n");
            let _ = sender.send(Update::Aside(text));
            saved = Saved::Cut;
            save = None;
        }
        has_receiver = has_receiver
            && sender
                .send(Update::Piece(Piece::Bytes(bytes.to_vec())))
                .is_ok();
    }
}

/// Forwards standard error, in whole lines.
fn pass_errors_on(mut errors: impl Read, sender: &SyncSender<Update>) {
    let mut chunk = vec![0; CHUNK];
    let mut open = Vec::new();
    loop {
        match errors.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => open.extend(chunk.iter().take(length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let whole = open.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |at| at + 1);
        let whole = if open.len() > CHUNK {
            open.len()
        } else {
            whole
        };
        if whole > 0 {
            let lines: Vec<u8> = open.drain(..whole).collect();
            let text = String::from_utf8_lossy(&lines).into_owned();
            // Reading continues even if sending fails, so that the command is not blocked.
            let _ = sender.send(Update::Aside(text));
        }
    }
    if !open.is_empty() {
        let text = String::from_utf8_lossy(&open).into_owned();
        let _ = sender.send(Update::Aside(text));
    }
}

impl Running {
    /// Waits for the command to exit.
    pub(crate) fn outcome(&self) -> Outcome {
        self.done.recv().unwrap_or_else(|_| Outcome {
            status: Err(io::Error::other("the exit status was lost")),
            saved: Saved::Cut,
        })
    }

    /// Sends a signal to the process group of the command.
    pub(crate) fn signal(&self, signal: Signal) {
        // It fails if the command has exited already.
        let _ = kill_process_group(self.group, signal);
    }

    /// Terminates the command and the processes it started: first with SIGTERM, then
    /// with SIGKILL.
    pub(crate) fn end(&self) -> Outcome {
        let outcome = self.end_command();
        self.end_rest();
        outcome
    }

    fn end_command(&self) -> Outcome {
        if let Ok(outcome) = self.done.try_recv() {
            return outcome;
        }
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        if let Ok(outcome) = self.done.recv_timeout(2 * LINGER) {
            return outcome;
        }
        self.signal(Signal::KILL);
        self.outcome()
    }

    /// Terminates the processes that the command left running. Background processes
    /// of a shell ignore Ctrl-C.
    fn end_rest(&self) {
        orphans::end_group(self.group.as_raw_nonzero().get(), LINGER);
    }
}

impl Subject for Running {
    /// Forwards the first Ctrl-C, sends SIGTERM for the second and SIGKILL for the
    /// third.
    fn end(&mut self, signal: i32, count: usize) -> bool {
        let passed = match (signal, count) {
            (SIGINT, 2) => Signal::TERM,
            (_, 3..) => Signal::KILL,
            _ => Signal::from_named_raw(signal).unwrap_or(Signal::TERM),
        };
        self.signal(passed);
        // A stopped process would not receive it.
        self.signal(Signal::CONT);
        false
    }

    /// After Ctrl-C the agent decides when to exit, and the user can press it again.
    /// Senders of other signals do not repeat them.
    fn waits_for_end(&self, signal: i32) -> bool {
        signal == SIGINT
    }

    fn suspend(&mut self) {
        self.signal(Signal::TSTP);
        stop_here();
        self.signal(Signal::CONT);
    }
}
