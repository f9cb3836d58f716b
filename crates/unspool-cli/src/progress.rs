//! A progress bar on standard error, if that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Delay before the bar appears.
const SOON: Duration = Duration::from_millis(700);

/// A progress bar that appears only for slow work and erases itself.
pub(crate) struct Bar {
    shown: Option<ProgressBar>,
    what: &'static str,
    template: &'static str,
    began: Instant,
}

impl Bar {
    /// Creates a bar that counts these things.
    pub(crate) fn new(what: &'static str) -> Self {
        Self::with(
            what,
            "{msg} {bar:30} {human_pos} of {human_len}, {eta} left",
        )
    }

    pub(crate) fn of_bytes(what: &'static str) -> Self {
        Self::with(
            what,
            "{msg} {bar:30} {decimal_bytes} of {decimal_total_bytes}, {eta} left",
        )
    }

    fn with(what: &'static str, template: &'static str) -> Self {
        Self {
            shown: None,
            what,
            template,
            began: Instant::now(),
        }
    }

    /// Updates the bar.
    pub(crate) fn set(&mut self, done: u64, total: u64) {
        if self.shown.is_none() && self.began.elapsed() > SOON {
            self.shown = Some(bar(self.what, self.template));
        }
        if let Some(bar) = &self.shown {
            bar.set_length(total);
            bar.set_position(done);
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

fn bar(what: &'static str, template: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    let bar = ProgressBar::no_length().with_message(what);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
