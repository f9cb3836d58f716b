//! Questions to a person, and their answers.
//!
//! | widget | asks |
//! |---|---|
//! | [`permission`] | whether an agent may do something |
//! | [`form`] | for values, as a schema describes them |
//! | [`address`] | whether to visit an address |
//! | [`choice`] | for one of many |
//! | [`confirm`] | for yes or no |
//!
//! Each fills the area it is given and knows nothing of agents; its `key` says
//! what to do. All texts may be an agent's: they are made clean here, and what
//! does not fit is scrolled or told, never left out in silence.
//!
//! **Nothing dangerous is answered by chance.** What could grant something has a
//! [`Guard`]: it takes no key before it was seen, nor until a person paused for
//! [`Guard::PAUSE`] after that, so that what is typed ahead answers nothing. And
//! nothing is marked until it is moved to, so that Enter alone does nothing.

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

/// Holds back keys that were meant for something else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guard {
    /// When it was seen first, or a key was held back last.
    since: Option<Instant>,
    is_open: bool,
}

impl Guard {
    /// How long nothing must be typed.
    pub const PAUSE: Duration = Duration::from_millis(300);

    /// It is seen now.
    fn seen(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// A question behind the question is asked: the same pause before it is answered.
    fn again(&mut self, now: Instant) {
        self.since = Some(now);
        self.is_open = false;
    }

    /// Whether a key that comes now is meant.
    fn lets(&mut self, now: Instant) -> bool {
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
    /// Whether a key is an answer: pressed now, not held down, and nothing with
    /// Ctrl or Alt.
    fn is_meant(&mut self, key: KeyEvent, now: Instant) -> bool {
        let others = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER;
        self.lets(now) && key.kind == KeyEventKind::Press && !key.modifiers.intersects(others)
    }
}

/// Paints a question: what it is above it, the keys that answer it below.
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
    fn typing_on_holds_the_guard() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut guard = Guard::default();
        assert!(!guard.lets(after(5_000)), "nobody saw it yet");
        guard.seen(start);
        assert!(!guard.lets(after(299)));
        assert!(!guard.lets(after(500)), "the typing goes on");
        assert!(guard.lets(after(800)));
        assert!(guard.lets(after(801)), "then it is open");
    }
}
