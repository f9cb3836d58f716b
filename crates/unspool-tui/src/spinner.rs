//! The spinner next to everything that is running.

use std::time::Duration;

/// Time between two frames of the spinner.
pub const INTERVAL: Duration = Duration::from_millis(100);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Returns the frame to show after this time.
pub fn frame(elapsed: Duration) -> &'static str {
    let number = elapsed.as_millis() / INTERVAL.as_millis();
    nth(usize::try_from(number).unwrap_or_default())
}

/// Returns the frame with this number, counted without end.
pub fn nth(number: usize) -> &'static str {
    FRAMES.get(number % FRAMES.len()).copied().unwrap_or("•")
}
