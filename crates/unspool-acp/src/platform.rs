//! System facilities that only Linux has, each with its fallback: the only place
//! that asks which system this is.
//!
//! Linux has `/proc`, process handles (pidfd), `O_PATH` and a signal at the death
//! of the parent. Elsewhere, as on macOS:
//!
//! - Processes cannot be found by their environment or terminal, so one that left the
//!   process group of its command survives. Closing the terminal still sends SIGHUP to the
//!   foreground group of its session.
//! - No signal is sent at the death of the parent. If unspool is killed, only its
//!   watchdog process ends the command, after its pipe closed.
//! - [`Process::of`] does not know the parent of another process.
//! - A folder that is only passed through has to be readable.

use std::path::Path;

pub use system::{ENDS_WITH_PARENT, own_executable};
pub(crate) use system::{PASS_THROUGH, request_parent_death_signal, signal_wanted};

/// The processes to be signalled: those that match either condition.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux can look for processes")
)]
pub(crate) struct Wanted<'a> {
    /// `NAME=value` in the environment.
    pub(crate) variable: String,
    /// Any value with this prefix matches.
    pub(crate) is_prefix: bool,
    /// A file that the process holds open.
    pub(crate) device: Option<&'a Path>,
}

/// A process's parent, process group and session. The number 0 means that it is
/// outside this container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The parent process.
    pub parent: i32,
    /// The process group.
    pub group: i32,
    /// The session.
    pub session: i32,
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{self, File};
    use std::io::{self, Read};
    use std::path::{Path, PathBuf};

    use rustix::fs::OFlags;
    use rustix::process::{
        Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal,
        set_parent_process_death_signal,
    };

    use super::{Process, Wanted};

    /// Bytes of an environment that are searched.
    const ENVIRONMENT_LIMIT: u64 = 4 << 20;

    /// True if a process can be signalled when its parent dies.
    pub const ENDS_WITH_PARENT: bool = true;

    /// Flags to open a folder that is passed and not read.
    pub(crate) const PASS_THROUGH: OFlags = OFlags::PATH;

    /// Returns a path to this program that also works after its file was
    /// replaced.
    pub fn own_executable() -> io::Result<PathBuf> {
        let link = Path::new("/proc/self/exe");
        if link.exists() {
            return Ok(link.to_owned());
        }
        std::env::current_exe()
    }

    pub(crate) fn request_parent_death_signal(signal: Signal) -> io::Result<()> {
        Ok(set_parent_process_death_signal(Some(signal))?)
    }

    /// Signals all wanted processes but this one; returns true if there were any.
    pub(crate) fn signal_wanted(wanted: &Wanted, signal: Signal) -> bool {
        let Ok(entries) = fs::read_dir("/proc") else {
            return false;
        };
        let mut found = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            let Some(process) = number.and_then(Pid::from_raw) else {
                continue;
            };
            if process == getpid() {
                continue;
            }
            // The handle comes first: a process that gets the same number after
            // the check is not signalled.
            let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
                continue;
            };
            if matches(wanted, &entry.path()) {
                found |= pidfd_send_signal(&handle, signal).is_ok();
            }
        }
        found
    }

    fn matches(wanted: &Wanted, process: &Path) -> bool {
        has_variable(wanted, process)
            || (has_device(wanted, process) && !is_starting_child(process))
    }

    /// Returns true for a child of this process that has not started its program yet: it
    /// holds the files of this process until then, also those of other terminals.
    fn is_starting_child(process: &Path) -> bool {
        let program = |process: &Path| fs::read_link(process.join("exe")).ok();
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let parent = Process::parse(&stat).map(|process| process.parent);
        parent == Some(getpid().as_raw_nonzero().get())
            && program(process) == program(Path::new("/proc/self"))
    }

    fn has_variable(wanted: &Wanted, process: &Path) -> bool {
        let mut environment = Vec::new();
        let read = File::open(process.join("environ"))
            .and_then(|file| file.take(ENVIRONMENT_LIMIT).read_to_end(&mut environment));
        let is_wanted = |variable: &[u8]| match variable.strip_prefix(wanted.variable.as_bytes()) {
            Some(rest) => wanted.is_prefix || rest.is_empty(),
            None => false,
        };
        let mut variables = environment.split(|byte| *byte == 0);
        read.is_ok() && variables.any(is_wanted)
    }

    fn has_device(wanted: &Wanted, process: &Path) -> bool {
        let (Some(device), Ok(files)) = (wanted.device, fs::read_dir(process.join("fd"))) else {
            return false;
        };
        let mut files = files.flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|target| target == device))
    }

    /// Reads `/proc`, because rustix rejects the number 0 of a process outside the
    /// container.
    impl Process {
        /// Returns this process, or `None` if it cannot be read.
        pub fn current() -> Option<Self> {
            Self::read("self")
        }

        /// Returns the running process with this number, or `None` if there is none.
        pub fn of(number: i32) -> Option<Self> {
            Self::read(&number.to_string())
        }

        fn read(process: &str) -> Option<Self> {
            Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
        }

        pub(super) fn parse(stat: &str) -> Option<Self> {
            // The program's name comes before it and may hold any character.
            let (_, fields) = stat.rsplit_once(')')?;
            let mut fields = fields.split_whitespace();
            if fields.next()? == "Z" {
                return None;
            }
            let mut next = || fields.next()?.parse().ok();
            Some(Self {
                parent: next()?,
                group: next()?,
                session: next()?,
            })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::path::PathBuf;

    use rustix::fs::OFlags;
    use rustix::process::{Pid, Signal, getpgid, getpgrp, getppid, getsid};

    use super::{Process, Wanted};

    /// True if a process can be signalled when its parent dies.
    pub const ENDS_WITH_PARENT: bool = false;

    /// Flags to open a folder that is passed and not read.
    pub(crate) const PASS_THROUGH: OFlags = OFlags::RDONLY;

    /// Returns the path of this program.
    pub fn own_executable() -> io::Result<PathBuf> {
        std::env::current_exe()
    }

    #[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
    pub(crate) fn request_parent_death_signal(_: Signal) -> io::Result<()> {
        Ok(())
    }

    /// Finds no process.
    pub(crate) fn signal_wanted(_: &Wanted, _: Signal) -> bool {
        false
    }

    impl Process {
        /// Returns this process, or `None` if it cannot be read.
        pub fn current() -> Option<Self> {
            Some(Self {
                parent: getppid()?.as_raw_nonzero().get(),
                group: getpgrp().as_raw_nonzero().get(),
                session: getsid(None).ok()?.as_raw_nonzero().get(),
            })
        }

        /// Returns the running process with this number, with parent 0, or `None` if
        /// there is none.
        pub fn of(number: i32) -> Option<Self> {
            let process = Pid::from_raw(number)?;
            Some(Self {
                parent: 0,
                group: getpgid(Some(process)).ok()?.as_raw_nonzero().get(),
                session: getsid(Some(process)).ok()?.as_raw_nonzero().get(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Process;

    #[test]
    fn the_current_process_has_a_group_and_a_session() {
        let current = Process::current().unwrap();
        assert!(current.parent >= 0 && current.group >= 0 && current.session >= 0);
        assert_eq!(Process::of(0), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stat_line_is_parsed_whatever_the_program_is_called() {
        let process = Process::parse("4211 (a) S 1 (b) R 7 0 0 34816 7 4194304 1 0\n").unwrap();
        assert_eq!((process.parent, process.group, process.session), (7, 0, 0));
        assert_eq!(Process::parse("4211 (a) Z 1 7 7 0"), None);
        for cut in ["", "1", "1 (a)", "1 (a) R", "1 (a) R 7 0", "1 (a) R 7 0 x"] {
            assert!(Process::parse(cut).is_none(), "{cut}");
        }
    }
}
