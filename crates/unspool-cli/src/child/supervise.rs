//! The hidden subcommand that keeps commands from outliving this process.
//!
//! It has two uses, both through `unspool_acp::orphans`: to become a command that
//! the kernel ends with its parent (which a process can only request for itself),
//! and to run the watchdog of a process group. Used by `run` and `chat`.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use unspool_acp::orphans::{self, Watchdog};

use super::program;
use crate::cli::Supervise;
use crate::status::Status;

/// Returns the command that starts a program so that it ends with this process.
/// Fails if there is no such program.
pub(super) fn command(program: &str, arguments: &[String]) -> io::Result<Command> {
    program::check(program)?;
    let mut command = match orphans::own_executable() {
        Ok(executable) if orphans::ENDS_WITH_PARENT => {
            let mut command = Command::new(executable);
            let parent = std::process::id().to_string();
            command.args([Supervise::NAME, &parent, program]);
            command
        }
        _ => Command::new(program),
    };
    command.args(arguments);
    Ok(command)
}

/// Starts the watchdog of a process group, and of the terminals whose tag has
/// this prefix.
pub(crate) fn watchdog(group: i32, tag_prefix: Option<&str>) -> io::Result<Watchdog> {
    let mut command = Command::new(orphans::own_executable()?);
    command.arg(Supervise::NAME);
    if let Some(prefix) = tag_prefix {
        command.args([Supervise::TAG_PREFIX, prefix]);
    }
    Watchdog::start(command.arg(group.to_string()))
}

/// Runs the hidden subcommand.
pub(crate) fn run(arguments: &Supervise) -> Status {
    let Some((program, words)) = arguments.command.split_first() else {
        orphans::watch(arguments.process, arguments.tag_prefix.as_deref());
        return Status::Success;
    };
    if orphans::end_with_parent(arguments.process).is_err() {
        return Status::Code(program::NOT_EXECUTABLE);
    }
    let error = Command::new(program).args(words).exec();
    program::not_started(program, &error)
}
