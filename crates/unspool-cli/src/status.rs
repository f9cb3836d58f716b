//! The outcome of a command, and errors on standard error.

use std::io::{self, IsTerminal, Write};

use unspool::event::TurnStatus;
use unspool::stats::Stats;

/// The outcome of a command that ran to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Success,
    /// The agent's run failed or was cut off, or a part of it was left out.
    AgentFailed,
    /// Some input could not be read. The reason was reported.
    Unreadable,
    /// The exit status of a command, or one that stands for a signal.
    Code(u8),
}

impl Status {
    /// Returns the outcome of the runs, by the last turn of each.
    pub(crate) fn of(stats: &Stats) -> Self {
        match stats.earlier.or(stats.status) {
            _ if stats.left_out > 0 => Self::AgentFailed,
            None | Some(TurnStatus::Completed) => Self::Success,
            Some(_) => Self::AgentFailed,
        }
    }

    /// Returns the outcome of passing events on, whatever happened in the run.
    pub(crate) fn of_reading(is_whole: bool) -> Self {
        if is_whole {
            Self::Success
        } else {
            Self::AgentFailed
        }
    }

    /// Returns the exit status that shells give to a process ended by a signal.
    pub(crate) fn of_signal(signal: i32) -> Self {
        Self::Code(u8::try_from(128 + signal).unwrap_or(u8::MAX))
    }

    /// Returns the more serious of two outcomes.
    pub(crate) fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Prints an error and its causes to standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    // An error about a file has the file's name as context.
    let is_output = is_kind(error, io::ErrorKind::StorageFull) && error.chain().count() == 1;
    let text = if is_output {
        format!("cannot write the output: {error}")
    } else {
        format!("{error:#}")
    };
    let mut err = io::stderr();
    // File names may contain escape sequences.
    let text = if err.is_terminal() {
        unspool::sanitize::text(&text)
    } else {
        text.into()
    };
    // An error here cannot be reported anywhere.
    let _ = writeln!(err, "unspool: {text}");
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    is_kind(error, io::ErrorKind::BrokenPipe)
}

fn is_kind(error: &anyhow::Error, kind: io::ErrorKind) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == kind)
}
