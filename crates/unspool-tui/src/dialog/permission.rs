//! Asks whether an agent may do something.
//!
//! Shows the title, the full command or change, and the agent's options in order.
//! Each option is prefixed with its effect in our words, because its name may say
//! anything.
//!
//! | key | does |
//! |---|---|
//! | `a` `A` `r` `R` | takes the first option that allows once, allows always, rejects once, rejects always |
//! | `1`–`9` | takes that option |
//! | Up, Down, Enter | select an option and take it; none is selected at first |
//! | `PgUp`, `PgDn`, Home, End, Ctrl-U, Ctrl-D | scroll |
//! | Esc | asks the caller to cancel the turn |
//!
//! Nothing is allowed unseen: until at least a short line of the command, change
//! or path was visible, only rejecting and cancelling work. Nothing is allowed
//! half read by accident: while some rows were never visible, the first key that
//! would allow it only warns, and the same key allows it after a pause.

use std::time::Instant;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span, Style, clean_lines};
use unspool::layout::{folded, layout};
use unspool::sanitize;
use unspool::theme::Theme;

use super::scroll::Scroll;
use super::{Guard, KeyMeaning};
use crate::convert;
use crate::paint::{clear, count, keys, put, rule};

/// Maximum length of an option's name, in characters.
const LONGEST: usize = 1_000;
/// Maximum length of a title, which may be a whole command.
const LONGEST_TITLE: usize = 100_000;
/// Maximum number of options to show.
const MOST_OPTIONS: usize = 100;
/// Maximum number of rows per option.
const OPTION_ROWS: usize = 3;
/// Minimum number of rows that options leave for the body.
const LEAST_BODY: usize = 3;

/// The effect of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Allows it once.
    AllowOnce,
    /// Allows it always.
    AllowAlways,
    /// Rejects it once.
    RejectOnce,
    /// Rejects it always.
    RejectAlways,
    /// Not stated by the agent.
    Unknown,
}

impl Kind {
    fn key(self) -> Option<char> {
        match self {
            Self::AllowOnce => Some('a'),
            Self::AllowAlways => Some('A'),
            Self::RejectOnce => Some('r'),
            Self::RejectAlways => Some('R'),
            Self::Unknown => None,
        }
    }

    fn words(self) -> (&'static str, Role) {
        match self {
            Self::AllowOnce => ("allow once", Role::Green),
            Self::AllowAlways => ("allow always", Role::Green),
            Self::RejectOnce => ("reject once", Role::Red),
            Self::RejectAlways => ("reject always", Role::Red),
            Self::Unknown => ("unknown effect", Role::Accent),
        }
    }
}

/// An option offered by the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The option's name.
    pub name: String,
    /// The option's effect.
    pub kind: Kind,
}

/// The result of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Ignored.
    Nothing,
    /// Only the display changed.
    Changed,
    /// The option with this index was chosen.
    Chosen(usize),
    /// The turn should be cancelled.
    Cancel,
    /// Not allowed yet, because nothing of the request was visible.
    Unseen,
    /// Not allowed yet, because this many rows were never visible. The same key
    /// again allows it.
    Unread(usize),
}

/// A permission request.
pub struct Permission {
    body: Scroll,
    options: Vec<Choice>,
    marked: Option<usize>,
    /// The option whose key only warned about unread rows.
    unread: Option<usize>,
    /// Area of the last frame.
    area: Rect,
    guard: Guard,
    waiting: usize,
}

/// Returns the block that shows a command in a request.
pub fn command(text: &str) -> Block {
    let text = sanitize::exact(text);
    Block::Verbatim(clean_lines(&text, Style::of(Role::Colorful)))
}

impl Permission {
    /// Creates a request. The title may be empty; the blocks must be escaped, as
    /// those of `doc` are.
    pub fn new(title: &str, mut blocks: Vec<Block>, mut options: Vec<Choice>) -> Self {
        let mut headings = 0;
        if !title.trim().is_empty() {
            // A title may say anything, but without a body it is all there is.
            headings = usize::from(!blocks.is_empty());
            let title = Span::new(shortened(title, LONGEST_TITLE), Style::default().bold());
            blocks.insert(0, Block::Paragraph(vec![title]));
        }
        let left_out = options.len().saturating_sub(MOST_OPTIONS);
        if left_out > 0 {
            options.truncate(MOST_OPTIONS);
            let words = count(left_out, "more option is", "more options are");
            let words = Span::role(format!("{words} not shown."), Role::Red);
            blocks.push(Block::Paragraph(vec![words]));
        }
        Self {
            body: Scroll::new(blocks).with_headings(headings),
            options,
            marked: None,
            unread: None,
            area: Rect::default(),
            guard: Guard::default(),
            waiting: 0,
        }
    }

    /// Sets the number of requests waiting after this one.
    pub fn set_waiting(&mut self, waiting: usize) {
        self.waiting = waiting;
    }

    /// Returns the number of rows of the whole dialog.
    pub fn height(&mut self, wide: u16) -> u16 {
        let options: usize = (0..self.options.len())
            .map(|number| self.option(number, wide, OPTION_ROWS).len())
            .sum();
        let rows = self.body.height(wide) + options + 3;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Paints the dialog. Keys are accepted [`Guard::PAUSE`] after the first
    /// frame.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        self.guard.seen(now);
        let area = area.intersection(frame.area());
        // A warning about unread rows is obsolete after a resize.
        if self.area != area {
            self.area = area;
            self.unread = None;
        }
        let buffer = frame.buffer_mut();
        clear(buffer, area);
        if area.is_empty() {
            return;
        }
        let mut rows = area.rows();
        // In a small window the request itself has priority.
        if area.height >= 4 {
            let row = rows.next().unwrap_or_default();
            rule(buffer, row, &self.heading(), theme);
        }
        let footer = if area.height >= 6 {
            rows.next_back()
        } else {
            None
        };
        let rows: Vec<Rect> = rows.collect();
        let (taken, each) = self.options_height(&rows, area.width);
        let (body, options) = rows.split_at(rows.len() - taken);
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            self.body.draw(buffer, first.union(*last), theme);
        }
        self.draw_options(buffer, options, each, theme);
        if let Some(footer) = footer {
            let mut known = vec![("Esc", "cancel turn"), ("↑↓ Enter", "choose")];
            if self.body.scrolls() {
                known.push(("PgDn", "scroll"));
            }
            let words = keys(&known, "", usize::from(footer.width));
            put(buffer, footer, &words, theme);
        }
    }

    fn heading(&self) -> Line {
        let mut words = vec![Span::new("permission", Style::of(Role::Colorful).bold())];
        if self.waiting > 0 {
            let waiting = count(
                self.waiting,
                "more request waiting",
                "more requests waiting",
            );
            words.push(Span::role(format!(" · {waiting}"), Role::Accent));
        }
        words
    }

    /// Returns the rows for all options and the maximum per option: as many as
    /// they need, one each if space is short, and then as many as leave something
    /// of the body.
    fn options_height(&mut self, rows: &[Rect], wide: u16) -> (usize, usize) {
        let wanted: usize = (0..self.options.len())
            .map(|number| self.option(number, wide, OPTION_ROWS).len())
            .sum();
        let body = self.body.height(wide);
        let left = rows.len().saturating_sub(body);
        if wanted <= left.max(rows.len().div_ceil(2)) {
            return (wanted, OPTION_ROWS);
        }
        let most = rows.len().saturating_sub(body.min(LEAST_BODY)).max(2);
        let most = most.min(rows.len().saturating_sub(1));
        (self.options.len().min(most), 1)
    }

    /// Lays out an option.
    fn option(&self, number: usize, wide: u16, most: usize) -> Vec<Line> {
        let Some(option) = self.options.get(number) else {
            return Vec::new();
        };
        let (words, role) = option.kind.words();
        let digit = if number < 9 {
            (number + 1).to_string()
        } else {
            " ".to_owned()
        };
        let key = option
            .kind
            .key()
            .filter(|_| self.first(option.kind) == Some(number));
        let name = short(&option.name);
        let is_same = name.trim().eq_ignore_ascii_case(words);
        let mut line = vec![Span::new(words, Style::of(role).bold())];
        if !is_same {
            line.push(Span::role(format!(" · {name}"), Role::Normal));
        }
        let first = Span::role(format!("{digit} {} ", key.unwrap_or(' ')), Role::Normal);
        let rest = Span::role("    ", Role::Normal);
        let room = usize::from(wide).saturating_sub(2).max(6);
        let block = [Block::Paragraph(line)];
        let mut rows = layout(&block, Some(room), &[first], &[rest]);
        if rows.len() > most {
            rows.truncate(most);
            let last = rows.pop().unwrap_or_default();
            let mut cut = folded(&last, room - 1).swap_remove(0);
            cut.push(Span::role("…", Role::Red));
            rows.push(cut);
        }
        rows
    }

    fn draw_options(&self, buffer: &mut Buffer, rows: &[Rect], each: usize, theme: &Theme) {
        let wide = rows.first().map_or(0, |row| row.width);
        let mut lines: Vec<(usize, bool, Line)> = Vec::new();
        for number in 0..self.options.len() {
            for (place, line) in self.option(number, wide, each).into_iter().enumerate() {
                lines.push((number, place == 0, line));
            }
        }
        let is_marked = |number: usize| self.marked == Some(number);
        // The last row mentions hidden options.
        let mut rows = rows;
        if lines.len() > rows.len()
            && let Some((last, others)) = rows.split_last().filter(|(_, others)| !others.is_empty())
        {
            rows = others;
            let hidden = lines.len() - others.len();
            let words = count(hidden, "more option", "more options");
            let words = Span::role(format!("⋮ {words}, ↑↓"), Role::Red);
            put(buffer, *last, &[words], theme);
        }
        let marked = lines.iter().rposition(|(number, ..)| is_marked(*number));
        let top = marked.map_or(0, |last| (last + 1).saturating_sub(rows.len()));
        for ((number, is_first, line), row) in lines.into_iter().skip(top).zip(rows) {
            let sign = if is_marked(number) && is_first {
                "❯ "
            } else {
                "  "
            };
            let mut all = vec![Span::new(sign, Style::of(Role::Colorful).bold())];
            all.extend(line);
            put(buffer, *row, &all, theme);
            if is_marked(number) {
                buffer.set_style(*row, convert::selection(theme));
            }
        }
    }

    fn first(&self, kind: Kind) -> Option<usize> {
        self.options.iter().position(|option| option.kind == kind)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        match super::classify(key, &mut self.body, &mut self.guard, now) {
            KeyMeaning::Ignored => return Answer::Nothing,
            KeyMeaning::Scrolled => return Answer::Changed,
            KeyMeaning::Answer => {}
        }
        let warned = self.unread.take();
        match self.answer(key) {
            Answer::Chosen(number) if !self.rejects(number) => self.allow(number, warned, now),
            answer => answer,
        }
    }

    fn allow(&mut self, number: usize, warned: Option<usize>, now: Instant) -> Answer {
        if !self.body.is_seen() {
            return Answer::Unseen;
        }
        let unread = self.body.unread();
        if unread > 0 && warned != Some(number) {
            self.unread = Some(number);
            self.guard.restart(now);
            return Answer::Unread(unread);
        }
        Answer::Chosen(number)
    }

    fn answer(&mut self, key: KeyEvent) -> Answer {
        match key.code {
            KeyCode::Esc => Answer::Cancel,
            KeyCode::Enter => self.marked.map_or(Answer::Nothing, Answer::Chosen),
            KeyCode::Up | KeyCode::Char('k') => self.step(false),
            KeyCode::Down | KeyCode::Char('j') => self.step(true),
            // Some terminals report Shift with a lower-case letter.
            KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::SHIFT) => {
                self.letter(letter.to_ascii_uppercase())
            }
            KeyCode::Char(letter) => self.letter(letter),
            _ => Answer::Nothing,
        }
    }

    fn rejects(&self, number: usize) -> bool {
        let kind = self.options.get(number).map(|option| option.kind);
        matches!(kind, Some(Kind::RejectOnce | Kind::RejectAlways))
    }

    fn step(&mut self, forward: bool) -> Answer {
        let last = self.options.len().checked_sub(1);
        let next = match (self.marked, forward) {
            (None, true) => Some(0),
            (None, false) => last,
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => Some(at.saturating_sub(1)),
        };
        self.marked = next.zip(last).map(|(next, last)| next.min(last));
        Answer::Changed
    }

    fn letter(&self, letter: char) -> Answer {
        let number = letter.to_digit(10).and_then(|digit| digit.checked_sub(1));
        let number = number.and_then(|digit| usize::try_from(digit).ok());
        let by_key = || {
            self.options
                .iter()
                .position(|it| it.kind.key() == Some(letter))
        };
        let found = number.or_else(by_key);
        let found = found.filter(|number| *number < self.options.len());
        found.map_or(Answer::Nothing, Answer::Chosen)
    }

    /// Handles the wheel.
    pub fn mouse(&mut self, mouse: MouseEvent) -> Answer {
        if self.body.wheel(mouse.kind) {
            return Answer::Changed;
        }
        Answer::Nothing
    }
}

/// Escapes a text to one line of limited length; mentions the number of
/// characters cut.
pub(super) fn short(text: &str) -> String {
    shortened(text, LONGEST)
}

fn shortened(text: &str, most: usize) -> String {
    let cut = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(at, _)| at);
    let (head, rest) = text.split_at(cut);
    let head = Span::clean(head, Style::default()).text;
    if rest.is_empty() {
        return head;
    }
    let left = count(rest.chars().count(), "more character", "more characters");
    format!("{head}… ({left})")
}

#[cfg(test)]
mod tests;
