//! A command that ends when this process does, whatever ends it.
//!
//! On Linux a process can ask for a signal at its parent's end. It has to ask
//! itself, so this program is started again in between: it asks, and becomes the
//! command. What the command starts in turn knows nothing of that: a second
//! process of this program, the [`Watcher`], waits at a pipe that ends with us,
//! and then ends the whole group, and what the terminals of a chat left behind.
//! Who ends the command as usual tells it so, and the group is left alone.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group};
use unspool_acp::terminals::strays;

use crate::cli::Bound;
use crate::{Status, complain};

/// The shells' statuses for a command that cannot be started.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// What a group that is left behind gets to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// This program, also when its file was replaced since.
const OURSELVES: &str = "/proc/self/exe";

/// Whether there is something to start.
pub(crate) fn check(program: &str) -> io::Result<()> {
    find(program, &env::var_os("PATH").unwrap_or_default())
}

/// What to start for a command. Fails if there is nothing to start.
pub(super) fn command(program: &str, arguments: &[String]) -> io::Result<Command> {
    check(program)?;
    if !cfg!(target_os = "linux") || !Path::new(OURSELVES).exists() {
        let mut command = Command::new(program);
        command.args(arguments);
        return Ok(command);
    }
    let mut command = Command::new(OURSELVES);
    let parent = getpid().as_raw_nonzero().to_string();
    command
        .args([Bound::NAME, &parent, program])
        .args(arguments);
    Ok(command)
}

/// Asks to end with the parent, and becomes the command.
pub(crate) fn run(arguments: &Bound) -> Status {
    if arguments.command.is_empty() {
        watch_over(arguments);
        return Status::Success;
    }
    if end_with_parent().is_err() || getppid() != Pid::from_raw(arguments.process) {
        // Nobody is there to see what it would do.
        return Status::Code(NOT_EXECUTABLE);
    }
    let Some((program, words)) = arguments.command.split_first() else {
        return Status::Unreadable;
    };
    let error = Command::new(program).args(words).exec();
    not_started(program, &error)
}

/// Ends a group of processes if this one ends before it says that all is well.
pub(crate) struct Watcher(Child);

impl Watcher {
    /// Watches over a group, and over the terminals whose words begin so.
    pub(crate) fn new(group: Pid, strays: Option<&str>) -> io::Result<Self> {
        let ourselves = Path::new(OURSELVES);
        let program = if ourselves.exists() {
            ourselves.to_owned()
        } else {
            env::current_exe()?
        };
        let group = group.as_raw_nonzero().to_string();
        let mut command = Command::new(program);
        command.arg(Bound::NAME);
        if let Some(strays) = strays {
            command.args([Bound::STRAYS, strays]);
        }
        let watcher = command
            .arg(group)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of what ends this process.
            .process_group(0)
            .spawn();
        watcher.map(Self)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            // One that is gone watches over nothing.
            let _ = pipe.write_all(b".");
        }
        let _ = self.0.wait();
    }
}

/// Waits for the end of who started this. If nothing was said before, ends what
/// its terminals left behind, and the group: kindly, then for sure.
fn watch_over(arguments: &Bound) {
    if matches!(io::stdin().read(&mut [0]), Ok(1..)) {
        return;
    }
    let end_strays = || arguments.strays.as_deref().map(strays::end_all);
    end_strays();
    if let Some(group) = Pid::from_raw(arguments.process) {
        end_group(group);
    }
    // One that was about to become a command had no word yet.
    end_strays();
}

fn end_group(group: Pid) {
    for (signal, pause) in [(Signal::TERM, GRACE), (Signal::KILL, Duration::ZERO)] {
        if kill_process_group(group, signal).is_err() {
            return;
        }
        // One that is stopped would not notice.
        let _ = kill_process_group(group, Signal::CONT);
        thread::sleep(pause);
    }
}

#[cfg(target_os = "linux")]
fn end_with_parent() -> rustix::io::Result<()> {
    use rustix::process::set_parent_process_death_signal;
    set_parent_process_death_signal(Some(Signal::TERM))
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> rustix::io::Result<()> {
    Ok(())
}

/// Says why a command could not be started, as a status too.
pub(crate) fn not_started(program: &OsStr, error: &io::Error) -> Status {
    let program = program.display();
    let (text, code) = match error.kind() {
        io::ErrorKind::NotFound => (
            format!("{program} is not installed, or not in your PATH"),
            NOT_FOUND,
        ),
        _ => (format!("cannot start {program}: {error}"), NOT_EXECUTABLE),
    };
    complain(&anyhow::anyhow!(text));
    Status::Code(code)
}

/// Looks a program up as `exec` does.
fn find(program: &str, folders: &OsStr) -> io::Result<()> {
    let denied = || io::Error::from(Errno::ACCESS);
    if program.contains('/') {
        let metadata = Path::new(program).metadata()?;
        return is_executable(&metadata).then_some(()).ok_or_else(denied);
    }
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for folder in env::split_paths(folders) {
        match folder.join(program).metadata() {
            Ok(metadata) if is_executable(&metadata) => return Ok(()),
            Ok(_) => error = denied(),
            Err(_) => {}
        }
    }
    Err(error)
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}
