//! Ends the processes that would outlive the command or the agent that started
//! them.
//!
//! Each step catches what the one before misses:
//!
//! 1. Every command leads a process group, which is signalled as a whole
//!    ([`end_group`]).
//! 2. A process that left the group, such as a daemon or a child of `setsid`, is
//!    found by the tag in its environment, or by the terminal that it holds
//!    open.
//! 3. When this process is killed, a [`Watchdog`] process does both in its place.
//!    On Linux the kernel also signals the command itself ([`end_with_parent`]).
//!
//! Steps 2 and 3 are weaker outside Linux; `platform.rs` says how. Used by
//! `terminals.rs` and by `unspool run`.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, getppid, kill_process_group, test_kill_process_group};

use crate::platform::{self, Wanted};
pub use crate::platform::{ENDS_WITH_PARENT, own_executable};

/// The environment variable that holds the tag.
pub(crate) const VARIABLE: &str = "UNSPOOL_TERMINAL";
/// Passes over the process table, for processes that were started meanwhile.
const PASSES: usize = 8;
/// Time for a group to end after SIGTERM, once this process is gone.
const GRACE: Duration = Duration::from_secs(2);
/// Poll interval while a group ends.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Returns the prefix of the tags of all terminals of this process.
pub fn tag_prefix() -> &'static str {
    static PREFIX: LazyLock<String> = LazyLock::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map(|now| now.as_nanos()).unwrap_or_default();
        format!("{}-{now}-", std::process::id())
    });
    &PREFIX
}

/// Marks the processes of one terminal, by an environment variable that they
/// inherit.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    value: String,
    /// The terminal's device file, while no other terminal can have it.
    device: Option<PathBuf>,
}

impl Tag {
    pub(crate) fn new(device: Option<PathBuf>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            value: format!("{}{number}", tag_prefix()),
            device,
        }
    }

    /// Returns the value for [`VARIABLE`].
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// Returns the tag for use after the terminal was closed, when its device may
    /// belong to another one.
    pub(crate) fn without_device(&self) -> Self {
        Self {
            device: None,
            ..self.clone()
        }
    }

    /// Sends a signal to all processes that carry the tag or hold the device.
    pub(crate) fn signal(&self, signal: Signal) {
        let wanted = Wanted {
            variable: format!("{VARIABLE}={}", self.value),
            is_prefix: false,
            device: self.device.as_deref(),
        };
        signal_all(&wanted, signal);
    }
}

/// Kills the processes of all terminals whose tag has this prefix.
fn kill_tagged(prefix: &str) {
    let wanted = Wanted {
        variable: format!("{VARIABLE}={prefix}"),
        is_prefix: true,
        device: None,
    };
    signal_all(&wanted, Signal::KILL);
}

fn signal_all(wanted: &Wanted, signal: Signal) {
    // A killed process cannot start another one, so that there is an end to it.
    let passes = if signal == Signal::KILL { PASSES } else { 1 };
    for _ in 0..passes {
        if !platform::signal_wanted(wanted, signal) {
            return;
        }
    }
}

/// Ends a process group: with SIGTERM, and after `grace` with SIGKILL.
pub fn end_group(group: i32, grace: Duration) {
    let Some(group) = Pid::from_raw(group) else {
        return;
    };
    let _ = kill_process_group(group, Signal::TERM);
    // A stopped process handles SIGTERM only once it continues.
    let _ = kill_process_group(group, Signal::CONT);
    let start = Instant::now();
    while test_kill_process_group(group).is_ok() {
        if start.elapsed() > grace {
            let _ = kill_process_group(group, Signal::KILL);
            return;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Questions the kernel to send SIGTERM to this process when its parent dies. Fails if
/// `parent` is no longer the parent. Has no effect unless [`ENDS_WITH_PARENT`].
pub fn end_with_parent(parent: i32) -> io::Result<()> {
    platform::request_parent_death_signal(Signal::TERM)?;
    if getppid() != Pid::from_raw(parent) {
        return Err(io::Error::other("the parent is gone"));
    }
    Ok(())
}

/// A process that ends a process group if this process dies before it drops the
/// watchdog.
pub struct Watchdog(Child);

impl Watchdog {
    /// Starts the watchdog. The command has to call [`watch`].
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let watchdog = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal to this process's group must not reach it.
            .process_group(0)
            .spawn();
        watchdog.map(Self)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            // Fails if the watchdog is gone: then there is nothing to dismiss.
            let _ = pipe.write_all(b".");
        }
        let _ = self.0.wait();
    }
}

/// Runs a watchdog: waits until standard input ends, then ends the group and, if
/// given, all terminals whose tag has this prefix. Returns without doing so when
/// the [`Watchdog`] was dropped.
pub fn watch(group: i32, tag_prefix: Option<&str>) {
    if matches!(io::stdin().read(&mut [0]), Ok(1..)) {
        return;
    }
    tag_prefix.map(kill_tagged);
    end_group(group, GRACE);
    // A process between fork and exec had no tag in the first pass.
    tag_prefix.map(kill_tagged);
}
