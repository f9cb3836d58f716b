//! Job control: process groups and sessions.
//!
//! A terminal that runs only this program (`tmux new unspool chat`) has no shell
//! that could continue it after Ctrl-Z: it would hang. POSIX calls such a process
//! group orphaned: no parent of a member is in another group of the same session.

use std::os::fd::AsFd;

use rustix::termios::tcgetpgrp;
use unspool_acp::platform::Process;

/// Maximum number of ancestors to check.
const GENERATIONS: usize = 64;

/// Returns true if a shell could continue this process group.
pub(super) fn has_shell() -> bool {
    let Some(own) = Process::current() else {
        return false;
    };
    let mut id = own.parent;
    for _ in 0..GENERATIONS {
        let Some(process) = Process::of(id) else {
            return false;
        };
        if process.session != own.session {
            return false;
        }
        if process.group != own.group {
            return true;
        }
        id = process.parent;
    }
    false
}

/// Returns true if this process group owns the terminal. Querying a terminal from
/// the background would stop the process.
pub fn is_in_foreground(terminal: impl AsFd) -> bool {
    // Not our controlling terminal, so it cannot stop us.
    let Ok(group) = tcgetpgrp(terminal) else {
        return true;
    };
    Process::current().is_none_or(|own| own.group == group.as_raw_nonzero().get())
}
