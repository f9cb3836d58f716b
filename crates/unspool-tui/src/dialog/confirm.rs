//! A yes-or-no question.
//!
//! `y` is yes, `n` and Esc are no, Enter does nothing. Keys typed ahead are
//! ignored, as in a permission request.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use unspool::doc::{Block, Span, Style};
use unspool::theme::Theme;

use super::permission::short;
use super::scroll::Scroll;
use super::{Guard, KeyMeaning};

/// The result of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Ignored.
    Nothing,
    /// Only the display changed.
    Changed,
    /// Yes.
    Yes,
    /// No.
    No,
}

/// A yes-or-no question.
pub struct Confirm {
    body: Scroll,
    yes: String,
    no: String,
    guard: Guard,
}

impl Confirm {
    /// Creates a question with a label for each answer.
    pub fn new(question: &str, yes: &str, no: &str) -> Self {
        let question = Span::new(short(question), Style::default().bold());
        Self {
            body: Scroll::new(vec![Block::Paragraph(vec![question])]),
            yes: short(yes),
            no: short(no),
            guard: Guard::default(),
        }
    }

    /// Returns the number of rows of the whole dialog.
    pub fn height(&mut self, wide: u16) -> u16 {
        u16::try_from(self.body.height(wide) + 2).unwrap_or(u16::MAX)
    }

    /// Paints the dialog.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        self.guard.seen(now);
        let answers = [("y", self.yes.as_str()), ("n", self.no.as_str())];
        super::draw(
            frame,
            area,
            "are you sure?",
            &mut self.body,
            &answers,
            theme,
        );
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        match super::classify(key, &mut self.body, &mut self.guard, now) {
            KeyMeaning::Ignored => return Answer::Nothing,
            KeyMeaning::Scrolled => return Answer::Changed,
            KeyMeaning::Answer => {}
        }
        match key.code {
            KeyCode::Char('y' | 'Y') => Answer::Yes,
            KeyCode::Char('n' | 'N') | KeyCode::Esc => Answer::No,
            _ => Answer::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{light, picture};
    use ratatui::crossterm::event::KeyModifiers;

    #[test]
    fn only_y_is_yes() {
        let question = "Leave while two agents are still working? They are stopped.";
        let mut confirm = Confirm::new(question, "leave", "stay");
        let start = Instant::now();
        let seen = picture((40, 6), |frame| {
            confirm.draw(frame, frame.area(), &light(), start);
        });
        insta::assert_snapshot!(seen);
        let mut press = |code, now| confirm.key(KeyEvent::new(code, KeyModifiers::NONE), now);
        assert_eq!(
            press(KeyCode::Char('y'), start),
            Answer::Nothing,
            "typed ahead"
        );
        let now = start + 2 * Guard::PAUSE;
        assert_eq!(press(KeyCode::Enter, now), Answer::Nothing);
        assert_eq!(press(KeyCode::Char('y'), now), Answer::Yes);
        assert_eq!(press(KeyCode::Char('n'), now), Answer::No);
        assert_eq!(press(KeyCode::Esc, now), Answer::No);
    }
}
