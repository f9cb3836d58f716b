//! Asks whether to visit a URL.
//!
//! The URL is shown in full and never opened here. Its host has a line of its
//! own, because `https://bank.example@evil.example/` is misleading. Suspicious
//! parts are pointed out.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use unspool::doc::{Block, Role, Span, Style, clean_lines};
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
    /// The user agrees; the caller may open the URL.
    Accept,
    /// Copy the URL; the dialog stays open.
    Copy,
    /// The user declines.
    Decline,
    /// The request is cancelled.
    Cancel,
    /// Not accepted yet, because the URL was not fully visible.
    Unseen,
}

/// A dialog about a URL.
pub struct Address {
    body: Scroll,
    guard: Guard,
}

impl Address {
    /// Creates the dialog from the agent's message and the URL.
    pub fn new(message: &str, address: &str) -> Self {
        let bold = Style::of(Role::Colorful).bold();
        let host = host(address);
        let mut blocks = vec![
            Block::Paragraph(vec![Span::role(short(message), Role::Normal)]),
            Block::Paragraph(vec![
                Span::role("host: ", Role::Accent),
                Span::new(short(host.unwrap_or("none")), bold),
            ]),
        ];
        for remark in remarks(address, host) {
            blocks.push(Block::Paragraph(vec![Span::role(remark, Role::Red)]));
        }
        blocks.push(Block::Verbatim(clean_lines(address, Style::default())));
        Self {
            body: Scroll::new(blocks).with_headings(1),
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
        let answers = [
            ("y", "visit"),
            ("n", "no"),
            ("c", "copy"),
            ("Esc", "cancel"),
        ];
        super::draw(frame, area, "visit a URL?", &mut self.body, &answers, theme);
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        match super::classify(key, &mut self.body, &mut self.guard, now) {
            KeyMeaning::Ignored => return Answer::Nothing,
            KeyMeaning::Scrolled => return Answer::Changed,
            KeyMeaning::Answer => {}
        }
        match key.code {
            KeyCode::Char('y') if self.body.is_seen() => Answer::Accept,
            KeyCode::Char('y') => Answer::Unseen,
            KeyCode::Char('n') => Answer::Decline,
            KeyCode::Char('c') => Answer::Copy,
            KeyCode::Esc => Answer::Cancel,
            _ => Answer::Nothing,
        }
    }
}

/// Returns the host of a URL, as a browser would parse it.
fn host(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!name.is_empty()).then_some(name)
}

/// Returns warnings about a URL.
fn remarks(address: &str, host: Option<&str>) -> Vec<&'static str> {
    let scheme = address.split(':').next().unwrap_or_default();
    let is_https = scheme.eq_ignore_ascii_case("https");
    let is_http = scheme.eq_ignore_ascii_case("http");
    let authority = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority
        .split(['/', '?', '#', '\\'])
        .next()
        .unwrap_or_default();
    let is_odd = |host: &str| !host.is_ascii() || host.to_ascii_lowercase().contains("xn--");
    let is_invisible = address.contains(|it: char| it.is_control() || it.is_whitespace());
    [
        (!is_https && !is_http, "This is not a web address."),
        (is_http, "It is not encrypted."),
        (
            authority.contains('@'),
            "The part before the @ is not the host.",
        ),
        (
            host.is_some_and(is_odd),
            "The host has letters that may look like others.",
        ),
        (is_invisible, "It contains spaces or control characters."),
    ]
    .into_iter()
    .filter_map(|(is_so, remark)| is_so.then_some(remark))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{light, picture};
    use ratatui::crossterm::event::KeyModifiers;

    #[test]
    fn the_host_is_what_a_browser_would_visit() {
        for (address, expected) in [
            ("https://example.org/a?b@c", Some("example.org")),
            ("https://bank.example@evil.example/", Some("evil.example")),
            (
                "https://bank.example:x@evil.example:8080",
                Some("evil.example"),
            ),
            ("https://evil.example\\@bank.example/", Some("evil.example")),
            ("https://[::1]:80/", Some("::1")),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            assert_eq!(host(address), expected, "{address}");
        }
    }

    #[test]
    fn a_suspicious_url_is_shown_in_full_with_warnings() {
        let long = format!(
            "http://bank.example@xn--evl-epa.example/{}",
            "a1b2c3/".repeat(12)
        );
        let mut address = Address::new("Sign in\u{1b}[2J here", &long);
        let start = Instant::now();
        let seen = picture((40, 18), |frame| {
            address.draw(frame, frame.area(), &light(), start);
        });
        insta::assert_snapshot!(seen);
        let mut press = |code, now| address.key(KeyEvent::new(code, KeyModifiers::NONE), now);
        assert_eq!(press(KeyCode::Char('y'), start), Answer::Nothing);
        let now = start + 2 * Guard::PAUSE;
        assert_eq!(press(KeyCode::Enter, now), Answer::Nothing);
        assert_eq!(press(KeyCode::Char('c'), now), Answer::Copy);
        assert_eq!(press(KeyCode::Char('y'), now), Answer::Accept);
        assert_eq!(press(KeyCode::Esc, now), Answer::Cancel);
    }

    #[test]
    fn a_url_cannot_be_accepted_before_it_was_visible() {
        let mut address = Address::new("Sign in here", "https://evil.example/");
        let start = Instant::now();
        let now = start + Guard::PAUSE;
        for (rows, answer) in [(2, Answer::Unseen), (8, Answer::Accept)] {
            picture((40, rows), |frame| {
                address.draw(frame, frame.area(), &light(), start);
            });
            let key = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
            assert_eq!(address.key(key, now), answer, "{rows}");
        }
    }
}
