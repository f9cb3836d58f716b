//! A bar on standard error for the reading of a large file.
//!
//! The bar must not overwrite what a person reads. It is hidden if the output is a
//! terminal, and once the reader of a pipe blocks, as a pager does.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use unspool_sessions::input::Input;
use unspool_sessions::progress::Step;

use crate::progress::Bar;

/// A reader that works takes what it gets sooner.
const PATIENCE: Duration = Duration::from_millis(200);

/// Shows from now on how far the reading is, if a person waits for it. `to_file`
/// says that what is made of it does not go to standard output.
pub(crate) fn show(input: &mut Input, to_file: bool) {
    if input.progress().total == 0 || (!to_file && io::stdout().is_terminal()) {
        return;
    }
    let is_piped = !to_file && !is_file(io::stdout());
    let mut bar = Some(Bar::of_bytes("Reading"));
    let (mut began, mut worked) = (Instant::now(), processor_time());
    input.observe(move |step| match step {
        Step::Read => (began, worked) = (Instant::now(), processor_time()),
        Step::Handled(progress) => {
            let work = processor_time().saturating_sub(worked);
            if is_piped && began.elapsed().saturating_sub(work) > PATIENCE {
                bar = None;
            } else if let Some(bar) = &mut bar {
                bar.set(progress.done, progress.total);
            }
        }
        Step::End => bar = None,
    });
}

fn is_file(output: impl AsFd) -> bool {
    let output = output.as_fd().try_clone_to_owned().map(File::from);
    let metadata = output.and_then(|output| output.metadata());
    metadata.is_ok_and(|metadata| metadata.is_file())
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}
