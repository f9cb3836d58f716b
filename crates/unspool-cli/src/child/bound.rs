//! A command that ends when this process does, whatever ends it.
//!
//! On Linux a process can ask for a signal at its parent's end. It has to ask
//! itself, so this program is started again in between: it asks, and becomes the
//! command. Elsewhere the command is started directly, and goes on when this
//! process is killed by force.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, io};

use rustix::io::Errno;
use rustix::process::{Pid, getpid, getppid};

use crate::cli::Bound;
use crate::{Status, complain};

/// The shells' statuses for a command that cannot be started.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// This program, also when its file was replaced since.
const OURSELVES: &str = "/proc/self/exe";

/// What to start for a command. Fails if there is nothing to start.
pub(super) fn command(program: &str, arguments: &[String]) -> io::Result<Command> {
    find(program, &env::var_os("PATH").unwrap_or_default())?;
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
    if end_with_parent().is_err() || getppid() != Pid::from_raw(arguments.parent) {
        // Nobody is there to see what it would do.
        return Status::Code(NOT_EXECUTABLE);
    }
    let Some((program, words)) = arguments.command.split_first() else {
        return Status::Unreadable;
    };
    let error = Command::new(program).args(words).exec();
    not_started(program, &error)
}

#[cfg(target_os = "linux")]
fn end_with_parent() -> rustix::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
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
