//! Dialogs that ask the user something.
//!
//! | widget | asks |
//! |---|---|
//! | [`permission`] | whether an agent may do something |
//! | [`form`] | for values, described by a schema |
//! | [`address`] | whether to visit a URL |
//! | [`choice`] | for one item of a list |
//! | [`confirm`] | yes or no |
//!
//! A dialog fills its area and knows nothing about agents; its `key` returns the
//! answer. All texts may come from an agent, so they are escaped here. Text that
//! does not fit scrolls or is marked as cut, never dropped silently.
//!
//! **No accidental consent.** A dialog that could grant something has a
//! [`Guard`]: it ignores keys until it has been visible and the keyboard idle for
//! [`Guard::PAUSE`], so keys typed ahead answer nothing. No option is
//! preselected, so Enter alone does nothing.

pub mod address;
pub mod choice;
pub mod confirm;
pub mod form;
pub mod permission;
mod scroll;

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use unspool::doc::{Role, Span, Style};
use unspool::theme::Theme;

use crate::paint::{clear, keys, put, rule};
use scroll::Scroll;

/// Ignores keys that were typed before the dialog appeared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guard {
    /// Time of the first frame, or of the last ignored key.
    since: Option<Instant>,
    is_open: bool,
}

impl Guard {
    /// Time without a key before answers are accepted.
    pub const PAUSE: Duration = Duration::from_millis(300);

    /// Records that the dialog is visible.
    fn seen(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// Requires another pause before the next answer.
    fn restart(&mut self, now: Instant) {
        self.since = Some(now);
        self.is_open = false;
    }

    /// Returns true if the pause is over; otherwise starts it again.
    fn is_pause_over(&mut self, now: Instant) -> bool {
        let Some(since) = self.since else {
            return false;
        };
        self.is_open |= now.saturating_duration_since(since) >= Self::PAUSE;
        if !self.is_open {
            self.since = Some(now);
        }
        self.is_open
    }
}

impl Guard {
    /// Returns true if a key is an answer: pressed after the pause, not repeated,
    /// without Ctrl or Alt.
    fn accepts(&mut self, key: KeyEvent, now: Instant) -> bool {
        let others = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER;
        self.is_pause_over(now)
            && key.kind == KeyEventKind::Press
            && !key.modifiers.intersects(others)
    }
}

/// The meaning of a key in a dialog with a scrollable body.
enum KeyMeaning {
    /// Released, typed ahead, held down or combined with Ctrl or Alt.
    Ignored,
    /// It scrolled the body.
    Scrolled,
    /// It may be an answer.
    Answer,
}

/// Handles a scrolling key, and separates possible answers from keys to ignore.
fn classify(key: KeyEvent, body: &mut Scroll, guard: &mut Guard, now: Instant) -> KeyMeaning {
    if key.kind == KeyEventKind::Release {
        KeyMeaning::Ignored
    } else if body.key(key) {
        KeyMeaning::Scrolled
    } else if guard.accepts(key, now) {
        KeyMeaning::Answer
    } else {
        KeyMeaning::Ignored
    }
}

/// Paints a dialog: title, body, and the keys that answer it.
fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    heading: &str,
    body: &mut Scroll,
    answers: &[(&str, &str)],
    theme: &Theme,
) {
    let area = area.intersection(frame.area());
    let buffer = frame.buffer_mut();
    clear(buffer, area);
    let mut rows = area.rows();
    if area.height >= 3 {
        let words = Span::new(heading, Style::of(Role::Colorful).bold());
        rule(buffer, rows.next().unwrap_or_default(), &[words], theme);
    }
    if let Some(footer) = rows.next_back() {
        let answers = keys(answers, "", usize::from(footer.width));
        put(buffer, footer, &answers, theme);
    }
    if let Some(first) = rows.next() {
        let last = rows.next_back().unwrap_or(first);
        body.draw(buffer, first.union(last), theme);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_typing_keeps_the_guard_closed() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut guard = Guard::default();
        assert!(!guard.is_pause_over(after(5_000)), "nobody saw it yet");
        guard.seen(start);
        assert!(!guard.is_pause_over(after(299)));
        assert!(!guard.is_pause_over(after(500)), "the typing goes on");
        assert!(guard.is_pause_over(after(800)));
        assert!(guard.is_pause_over(after(801)), "then it is open");
    }
}
