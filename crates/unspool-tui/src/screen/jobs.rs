//! Whose turn the terminal is: groups of processes and their sessions.
//!
//! A terminal that runs this program and nothing else (`tmux new unspool chat`) has
//! no shell that continues what was stopped: to stop there is to hang for ever. The
//! system calls such a group of processes orphaned: no parent of one of them is in
//! another group of the same session.
//!
//! In a container, groups and sessions may be of processes outside, whose number is
//! then 0. `rustix` takes every number for a process, so they are read from
//! `/proc` where there are containers.

use std::os::fd::AsFd;

use rustix::termios::tcgetpgrp;

/// How far up is looked: scripts that started scripts.
const GENERATIONS: usize = 64;

/// Where a process stands among others. 0 is one that cannot be seen from here.
struct Place {
    parent: i32,
    group: i32,
    session: i32,
}

/// Whether somebody is there to continue this group of processes.
pub(super) fn has_shell() -> bool {
    let Some(own) = Place::own() else {
        return false;
    };
    let mut process = own.parent;
    for _ in 0..GENERATIONS {
        let Some(place) = Place::of(process) else {
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
    Place::own().is_none_or(|own| own.group == group.as_raw_nonzero().get())
}

#[cfg(target_os = "linux")]
impl Place {
    fn own() -> Option<Self> {
        Self::read("self")
    }

    fn of(process: i32) -> Option<Self> {
        Self::read(&process.to_string())
    }

    fn read(process: &str) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name before it may hold anything.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(1);
        let mut next = || fields.next()?.parse().ok();
        Some(Self {
            parent: next()?,
            group: next()?,
            session: next()?,
        })
    }
}

#[cfg(not(target_os = "linux"))]
impl Place {
    fn own() -> Option<Self> {
        use rustix::process::{getpgrp, getppid, getsid};
        Some(Self {
            parent: getppid()?.as_raw_nonzero().get(),
            group: getpgrp().as_raw_nonzero().get(),
            session: getsid(None).ok()?.as_raw_nonzero().get(),
        })
    }

    /// Of others the parent cannot be asked for.
    fn of(process: i32) -> Option<Self> {
        use rustix::process::{Pid, getpgid, getsid};
        let process = Pid::from_raw(process)?;
        Some(Self {
            parent: 0,
            group: getpgid(Some(process)).ok()?.as_raw_nonzero().get(),
            session: getsid(Some(process)).ok()?.as_raw_nonzero().get(),
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Place;

    #[test]
    fn a_process_is_placed_whatever_its_name() {
        let place = Place::parse("4211 (a) S 1 (b) R 7 0 0 34816 7 4194304 1 0\n").unwrap();
        assert_eq!((place.parent, place.group, place.session), (7, 0, 0));
        let own = Place::own().unwrap();
        assert!(own.parent >= 0 && own.group >= 0 && own.session >= 0);
        assert!(Place::of(0).is_none());
        for cut in ["", "1", "1 (a)", "1 (a) R", "1 (a) R 7 0", "1 (a) R 7 0 x"] {
            assert!(Place::parse(cut).is_none(), "{cut}");
        }
    }
}
