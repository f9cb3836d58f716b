//! Processes as the system lists them: in `/proc` on Linux, with `ps` elsewhere.

use rustix::process::Pid;

/// A process.
struct Process {
    pid: Pid,
    parent: Option<Pid>,
    /// A letter of `ps`: `T` for stopped, `Z` for a zombie.
    state: char,
    /// Its command line.
    command: String,
}

/// The state of a process, as a letter of `ps`; `None` if there is none.
pub(crate) fn state(pid: Pid) -> Option<char> {
    Some(listing::one(pid)?.state)
}

/// Returns true if a process has ended. In a container it may stay a zombie.
pub(crate) fn is_gone(pid: Pid) -> bool {
    matches!(state(pid), None | Some('Z'))
}

/// The command line of a process.
pub(crate) fn command(pid: Pid) -> String {
    listing::one(pid).map_or_else(String::new, |process| process.command)
}

/// Returns true if some process has all these words in its command line.
pub(crate) fn is_running(words: &[&str]) -> bool {
    let has_all = |process: &Process| words.iter().all(|word| process.command.contains(word));
    listing::all().iter().any(has_all)
}

/// All processes below a process.
pub(crate) fn descendants(parent: Pid) -> Vec<Pid> {
    let all = listing::all();
    let mut found = vec![parent];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = all.iter().filter(|child| child.parent == Some(parent));
        found.extend(children.map(|child| child.pid));
        next += 1;
    }
    found.split_off(1)
}

#[cfg(target_os = "linux")]
mod listing {
    use std::fs;

    use super::{Pid, Process};

    pub(super) fn one(pid: Pid) -> Option<Process> {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        let stat = fs::read_to_string(format!("{folder}/stat")).ok()?;
        // The name may hold anything, also a bracket.
        let mut fields = stat.rsplit(") ").next()?.split(' ');
        let command = fs::read(format!("{folder}/cmdline")).unwrap_or_default();
        Some(Process {
            pid,
            state: fields.next()?.chars().next()?,
            parent: Pid::from_raw(fields.next()?.parse().ok()?),
            command: String::from_utf8_lossy(&command).replace('\0', " "),
        })
    }

    pub(super) fn all() -> Vec<Process> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .filter_map(one)
            .collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod listing {
    use std::process::Command;

    use super::{Pid, Process};

    pub(super) fn one(pid: Pid) -> Option<Process> {
        let pid = pid.as_raw_nonzero().to_string();
        listed(&["-p", &pid]).pop()
    }

    pub(super) fn all() -> Vec<Process> {
        listed(&["-ax"])
    }

    fn listed(selection: &[&str]) -> Vec<Process> {
        let columns = ["-o", "pid=,ppid=,state=,args="];
        let output = Command::new("ps").args(selection).args(columns).output();
        let text = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        text.lines().filter_map(process).collect()
    }

    fn process(line: &str) -> Option<Process> {
        let mut words = line.split_whitespace();
        Some(Process {
            pid: Pid::from_raw(words.next()?.parse().ok()?)?,
            parent: Pid::from_raw(words.next()?.parse().ok()?),
            state: words.next()?.chars().next()?,
            command: words.collect::<Vec<_>>().join(" "),
        })
    }
}
