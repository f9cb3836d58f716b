//! What a terminal's command started and led out of its group: a daemon, or
//! whatever `setsid` runs.
//!
//! Each terminal has a word of its own in the environment of its command, which
//! all that comes of it inherits; the words of all terminals of this process begin
//! alike, so that another process can end what is left of them once this one is
//! gone. On Linux, `/proc` tells who has it, and who
//! still has the terminal open though the environment was emptied. A process is
//! held by a handle before it is looked at, so that no signal can reach a
//! stranger who got its number since. Elsewhere the group is all that is known.

#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, pidfd_send_signal};

/// The variable that the word is in.
pub(super) const VARIABLE: &str = "UNSPOOL_TERMINAL";
/// How often it is looked again for what was started meanwhile.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 8;
/// What is read of an environment.
#[cfg(target_os = "linux")]
const LARGEST: u64 = 4 << 20;

/// What the words of all terminals of this process begin with.
pub fn mark() -> &'static str {
    static MARK: LazyLock<String> = LazyLock::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map(|now| now.as_nanos()).unwrap_or_default();
        format!("{}-{now}-", std::process::id())
    });
    &MARK
}

/// Ends all that is left of the terminals of a process that is gone, by its
/// [`mark`].
pub fn end_all(mark: &str) {
    let all = Strays {
        word: mark.to_owned(),
        is_beginning: true,
        device: None,
    };
    all.signal(Signal::KILL);
}

/// How processes of one terminal are told.
#[derive(Clone, Debug)]
pub(super) struct Strays {
    word: String,
    /// All words that begin so are meant.
    is_beginning: bool,
    /// The terminal's file, while it is this terminal's.
    device: Option<PathBuf>,
}

impl Strays {
    pub(super) fn new(device: Option<PathBuf>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            word: format!("{}{number}", mark()),
            is_beginning: false,
            device,
        }
    }

    /// The word in the environment.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// The same for a time when the terminal may be another one's.
    pub(super) fn without_device(&self) -> Self {
        Self {
            device: None,
            ..self.clone()
        }
    }

    /// Sends a signal to all of them.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn signal(&self, _: Signal) {}

    /// Sends a signal to all of them.
    #[cfg(target_os = "linux")]
    pub(super) fn signal(&self, signal: Signal) {
        // One that is killed cannot start another; one that is asked may.
        let rounds = if signal == Signal::KILL { ROUNDS } else { 1 };
        for _ in 0..rounds {
            if !self.signal_once(signal) {
                return;
            }
        }
    }

    /// Whether there was one.
    #[cfg(target_os = "linux")]
    fn signal_once(&self, signal: Signal) -> bool {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return false;
        };
        let mut was_one = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            let Some(process) = number.and_then(Pid::from_raw) else {
                continue;
            };
            if process == getpid() {
                continue;
            }
            let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
                continue;
            };
            if self.is_ours(&entry.path()) {
                was_one |= pidfd_send_signal(&handle, signal).is_ok();
            }
        }
        was_one
    }

    #[cfg(target_os = "linux")]
    fn is_ours(&self, process: &Path) -> bool {
        self.has_word(process) || self.has_device(process)
    }

    #[cfg(target_os = "linux")]
    fn has_word(&self, process: &Path) -> bool {
        use std::io::Read;
        let mut environment = Vec::new();
        let read = std::fs::File::open(process.join("environ"))
            .and_then(|file| file.take(LARGEST).read_to_end(&mut environment));
        let wanted = format!("{VARIABLE}={}", self.word);
        let is_wanted = |variable: &[u8]| match variable.strip_prefix(wanted.as_bytes()) {
            Some(rest) => self.is_beginning || rest.is_empty(),
            None => false,
        };
        let mut variables = environment.split(|byte| *byte == 0);
        read.is_ok() && variables.any(is_wanted)
    }

    #[cfg(target_os = "linux")]
    fn has_device(&self, process: &Path) -> bool {
        let (Some(device), Ok(files)) = (&self.device, std::fs::read_dir(process.join("fd")))
        else {
            return false;
        };
        let mut files = files.flatten();
        files.any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == *device))
    }
}
