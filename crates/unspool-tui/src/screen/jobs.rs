//! Whose turn the terminal is: groups of processes and their sessions.
//!
//! A terminal that runs this program and nothing else (`tmux new unspool chat`) has
//! no shell that continues what was stopped: to stop there is to hang for ever. The
//! system calls such a group of processes orphaned: no parent of one of them is in
//! another group of the same session.

use std::os::fd::AsFd;

use rustix::termios::tcgetpgrp;
use unspool_acp::platform::Process;

/// How far up is looked: scripts that started scripts.
const GENERATIONS: usize = 64;

/// Whether somebody is there to continue this group of processes.
pub(super) fn has_shell() -> bool {
    let Some(own) = Process::current() else {
        return false;
    };
    let mut process = own.parent;
    for _ in 0..GENERATIONS {
        let Some(place) = Process::of(process) else {
            return false;
        };
        if place.session != own.session {
            return false;
        }
        if place.group != own.group {
            return true;
        }
        process = place.parent;
    }
    false
}

/// Whether the terminal is ours at the moment: one that is asked from the
/// background stops who asks.
pub fn is_in_foreground(terminal: impl AsFd) -> bool {
    // Of a terminal that does not control us nothing is to be feared.
    let Ok(group) = tcgetpgrp(terminal) else {
        return true;
    };
    Process::current().is_none_or(|own| own.group == group.as_raw_nonzero().get())
}
