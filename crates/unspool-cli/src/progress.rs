//! How far something is that takes a while, on standard error, where that is a
//! terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// What is over sooner shows nothing.
const SOON: Duration = Duration::from_millis(700);

/// A bar that appears when it is worth it, and leaves nothing behind.
pub(crate) struct Bar {
    shown: Option<ProgressBar>,
    what: &'static str,
    began: Instant,
}

impl Bar {
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            shown: None,
            what,
            began: Instant::now(),
        }
    }

    /// So much is done, of so much.
    pub(crate) fn set(&mut self, done: usize, total: usize) {
        if self.shown.is_none() && self.began.elapsed() > SOON {
            self.shown = Some(bar(self.what));
        }
        if let Some(bar) = &self.shown {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} {bar:30} {human_pos} of {human_len}, {eta} left");
    let bar = ProgressBar::no_length().with_message(what);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
