//! Whether a shell is there that continues what was stopped.
//!
//! A terminal that runs this program and nothing else (`tmux new unspool chat`) has
//! none: to stop there is to hang for ever. The system calls such a group of
//! processes orphaned: no parent of one of them is in another group of the same
//! session. Asked by `screen.rs` before it stops at a key.

use rustix::process::{Pid, getpgid, getpgrp, getppid, getsid};

/// How far up is looked: scripts that started scripts.
const GENERATIONS: usize = 64;

/// Whether somebody is there to continue this group of processes.
pub(super) fn has_shell() -> bool {
    let (group, session) = (getpgrp(), getsid(None));
    let mut process = getppid();
    for _ in 0..GENERATIONS {
        let Some(parent) = process else {
            return false;
        };
        if getsid(Some(parent)) != session {
            return false;
        }
        if getpgid(Some(parent)) != Ok(group) {
            return true;
        }
        process = parent_of(parent);
    }
    false
}

#[cfg(target_os = "linux")]
fn parent_of(process: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/stat", process.as_raw_nonzero());
    let stat = std::fs::read_to_string(path).ok()?;
    // The name before it may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let parent = fields.split_whitespace().nth(1)?;
    Pid::from_raw(parent.parse().ok()?)
}

/// Elsewhere only the parent itself is known.
#[cfg(not(target_os = "linux"))]
fn parent_of(_: Pid) -> Option<Pid> {
    None
}
