//! Yes or no.
//!
//! `y` is yes, `n` and Esc are no; Enter answers nothing. Keys that were typed
//! before it was seen are held back, as for a permission.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use unspool::doc::{Block, Role, Span, Style};
use unspool::theme::Theme;

use super::Guard;
use super::permission::short;
use super::scroll::Scroll;
use crate::paint::{clear, keys, put, rule};

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// What is seen changed.
    Changed,
    /// Yes.
    Yes,
    /// No.
    No,
}

/// A question.
pub struct Confirm {
    body: Scroll,
    yes: String,
    no: String,
    guard: Guard,
}

impl Confirm {
    /// A question, and what either answer does.
    pub fn new(question: &str, yes: &str, no: &str) -> Self {
        let question = Span::new(short(question), Style::default().bold());
        Self {
            body: Scroll::new(vec![Block::Paragraph(vec![question])]),
            yes: short(yes),
            no: short(no),
            guard: Guard::default(),
        }
    }

    /// The rows that all of it takes.
    pub fn height(&mut self, wide: u16) -> u16 {
        u16::try_from(self.body.height(wide) + 2).unwrap_or(u16::MAX)
    }

    /// Paints it.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        self.guard.seen(now);
        let area = area.intersection(frame.area());
        let buffer = frame.buffer_mut();
        clear(buffer, area);
        let mut rows = area.rows();
        if area.height >= 3 {
            let words = Span::new("are you sure?", Style::of(Role::Colorful).bold());
            rule(buffer, rows.next().unwrap_or_default(), &[words], theme);
        }
        if let Some(footer) = rows.next_back() {
            let known = [("y", self.yes.as_str()), ("n", self.no.as_str())];
            put(
                buffer,
                footer,
                &keys(&known, "", usize::from(footer.width)),
                theme,
            );
        }
        if let Some(first) = rows.next() {
            let body = rows.next_back().unwrap_or(first);
            self.body.draw(buffer, first.union(body), theme);
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Nothing;
        }
        if self.body.key(key) {
            return Answer::Changed;
        }
        let is_meant = self.guard.lets(now) && key.kind == KeyEventKind::Press;
        if !is_meant
            || key
                .modifiers
                .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
        {
            return Answer::Nothing;
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
