//! Whether an agent may do what it asks for.
//!
//! Shown are the title, then the command or the change in full, and the agent's
//! options in their order. Before each name stands in our words what the option
//! does, since a name may say anything.
//!
//! | key | does |
//! |---|---|
//! | `a` `A` `r` `R` | the first option that allows once, always, rejects once, always |
//! | `1`–`9` | that option |
//! | Up, Down, Enter | mark an option and take it; none is marked at first |
//! | `PgUp`, `PgDn`, Home, End, Ctrl-U, Ctrl-D | scroll |
//! | Esc | asks the caller to cancel the turn |
//!
//! Nothing is allowed unseen: as long as less than a short line of the command, the
//! change or the path was on the screen, only keys that reject and cancel do
//! something. And nothing is allowed half read by chance: while a row of it was not on
//! the screen, the first key that would allow it only says so, and the same key again,
//! after a pause, allows it.

use std::time::Instant;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span, Style, clean_lines};
use unspool::layout::{folded, layout};
use unspool::sanitize;
use unspool::theme::Theme;

use super::Guard;
use super::scroll::Scroll;
use crate::convert;
use crate::paint::{clear, count, keys, put, rule};

/// Characters of a name that are shown.
const LONGEST: usize = 1_000;
/// Characters of a title, which may be a whole command.
const LONGEST_TITLE: usize = 100_000;
/// Options that are shown.
const MOST_OPTIONS: usize = 100;
/// Rows that one option may take.
const OPTION_ROWS: usize = 3;
/// Rows of the request that options leave to it.
const LEAST_BODY: usize = 3;

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Allows it this time.
    AllowOnce,
    /// Allows it from now on.
    AllowAlways,
    /// Rejects it this time.
    RejectOnce,
    /// Rejects it from now on.
    RejectAlways,
    /// The agent did not say.
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

/// An option of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: Kind,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// What is seen changed.
    Changed,
    /// The option with this number was taken.
    Chosen(usize),
    /// The turn should be cancelled.
    Cancel,
    /// It would have allowed what was not seen yet.
    Unseen,
    /// It would have allowed what so many rows were not seen of; the same again does.
    Unread(usize),
}

/// A request, and where a person is in it.
pub struct Permission {
    body: Scroll,
    options: Vec<Choice>,
    marked: Option<usize>,
    /// The option that was taken before all was read.
    unread: Option<usize>,
    /// Where it was painted last.
    area: Rect,
    guard: Guard,
    waiting: usize,
}

/// A command as it is shown in a request.
pub fn command(text: &str) -> Block {
    let text = sanitize::exact(text);
    Block::Verbatim(clean_lines(&text, Style::of(Role::Colorful)))
}

impl Permission {
    /// A request with this title, if it has one; the blocks hold clean text, as those of `doc`
    /// do.
    pub fn new(title: &str, mut blocks: Vec<Block>, mut options: Vec<Choice>) -> Self {
        let mut headings = 0;
        if !title.trim().is_empty() {
            // A title may say anything; alone, it is all that is known.
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

    /// How many requests wait behind this one.
    pub fn set_waiting(&mut self, waiting: usize) {
        self.waiting = waiting;
    }

    /// The rows that all of it takes.
    pub fn height(&mut self, wide: u16) -> u16 {
        let options: usize = (0..self.options.len())
            .map(|number| self.option(number, wide, OPTION_ROWS).len())
            .sum();
        let rows = self.body.height(wide) + options + 3;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Paints it. Keys are taken only from [`Guard::PAUSE`] after the first time.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        self.guard.seen(now);
        let area = area.intersection(frame.area());
        // What was said holds for the window as it was.
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
        // In a small window the request itself comes first.
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
            let waiting = count(self.waiting, "more request waits", "more requests wait");
            words.push(Span::role(format!(" · {waiting}"), Role::Accent));
        }
        words
    }

    /// The rows that options get, and how many each of them may take: all they
    /// want, one each where there is no room for that, and then as many as leave
    /// something of the body.
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

    /// An option, as rows.
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
        // The last row tells of those that are not seen.
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

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Nothing;
        }
        if self.body.key(key) {
            return Answer::Changed;
        }
        // A key that is held down was pressed for something else.
        if !self.guard.is_meant(key, now) {
            return Answer::Nothing;
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
            self.guard.again(now);
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
            // Some terminals tell of Shift and not of what it makes.
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

    /// Takes the wheel.
    pub fn mouse(&mut self, mouse: MouseEvent) -> Answer {
        if self.body.wheel(mouse.kind) {
            return Answer::Changed;
        }
        Answer::Nothing
    }
}

/// A text as one clean line of a bearable length; what is cut is told.
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
