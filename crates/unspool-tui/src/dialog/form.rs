//! A form with values that an agent asks for, described by a JSON schema.
//!
//! Every field and every option is a tab stop; the answers `send`, `decline` and
//! `cancel` follow. An invalid field shows its error once it has lost the focus,
//! and an invalid form is not sent.
//!
//! | key | does |
//! |---|---|
//! | Tab, Down, Enter in a text | the next stop |
//! | Shift-Tab, Up | the previous stop |
//! | Ctrl-N, Ctrl-P | the next or previous field |
//! | PgDn, PgUp | scroll, for example to the agent's message at the top |
//! | Space, Enter on an option | select or clear it |
//! | Enter on an answer | give it |
//! | Ctrl-S | send from anywhere |
//! | Esc | cancel |

mod check;
mod draw;
mod schema;
#[cfg(test)]
mod tests;

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use serde_json::{Map, Value};
use unspool::doc::{Line, Style, clean_lines};
use unspool::theme::Theme;

use super::Guard;
use crate::editor::Effect;
use crate::line_input::LineInput;
use check::Checked;
use schema::{Asked, Kind};

/// Maximum length of the agent's message, in characters.
const LONGEST_MESSAGE: usize = 20_000;

/// The result of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Ignored.
    Nothing,
    /// Only the display changed.
    Changed,
    /// The values to send.
    Accept(Map<String, Value>),
    /// The user declines to answer.
    Decline,
    /// The request is cancelled.
    Cancel,
}

/// The value of a field.
enum Filled {
    Text(LineInput),
    Flag(bool),
    /// For each option, true if it is selected.
    Chosen(Vec<bool>),
    Nothing,
}

/// A field and its value.
struct Entry {
    asked: Asked,
    filled: Filled,
    /// True once the field has lost the focus, so that its error is shown.
    is_left: bool,
}

/// A tab stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// A field, and the option within it.
    Field(usize, usize),
    Send,
    Decline,
    Cancel,
}

/// The form and its focus.
pub struct Form {
    message: Vec<Line>,
    entries: Vec<Entry>,
    /// Number of required fields that cannot be shown; the form cannot be sent
    /// then.
    left_out: usize,
    stops: Vec<Stop>,
    marked: usize,
    top: usize,
    /// True while scrolled away from the focus, as at the start.
    is_scrolled: bool,
    /// Number of visible rows.
    page: usize,
    guard: Guard,
}

impl Form {
    /// Creates a form from the agent's message and a schema.
    pub fn new(message: &str, schema: &Value) -> Self {
        let message: String = message.chars().take(LONGEST_MESSAGE).collect();
        let (asked, left_out) = schema::fields(schema);
        let entries: Vec<Entry> = asked.into_iter().map(entry).collect();
        let mut stops: Vec<Stop> = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let choices = match &entry.filled {
                Filled::Chosen(chosen) => chosen.len(),
                Filled::Nothing => 0,
                Filled::Text(_) | Filled::Flag(_) => 1,
            };
            stops.extend((0..choices).map(|choice| Stop::Field(number, choice)));
        }
        stops.extend([Stop::Send, Stop::Decline, Stop::Cancel]);
        Self {
            message: clean_lines(&message, Style::default()),
            entries,
            left_out,
            stops,
            marked: 0,
            top: 0,
            is_scrolled: true,
            page: 0,
            guard: Guard::default(),
        }
    }

    /// Returns the number of rows of the whole form.
    pub fn height(&self, wide: u16) -> u16 {
        u16::try_from(draw::rows(self, wide).len() + 2).unwrap_or(u16::MAX)
    }

    /// Paints the form.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        self.guard.seen(now);
        draw::draw(frame, area, self, theme);
    }

    fn stop(&self) -> Stop {
        self.stops.get(self.marked).copied().unwrap_or(Stop::Cancel)
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Answer {
        if key.kind == KeyEventKind::Release || !self.guard.is_pause_over(now) {
            return Answer::Nothing;
        }
        let plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.is_scrolled = matches!(key.code, KeyCode::PageDown | KeyCode::PageUp);
        match (key.code, self.stop()) {
            (KeyCode::PageDown, _) => self.scroll(true),
            (KeyCode::PageUp, _) => self.scroll(false),
            (KeyCode::Esc, _) | (KeyCode::Enter, Stop::Cancel) => Answer::Cancel,
            (KeyCode::Tab | KeyCode::Down, _) => self.step(true),
            (KeyCode::BackTab | KeyCode::Up, _) => self.step(false),
            (KeyCode::Char('s'), _) if control => self.send(),
            (KeyCode::Char('n'), _) if control => self.jump(true),
            (KeyCode::Char('p'), _) if control => self.jump(false),
            (KeyCode::Enter, Stop::Send) => self.send(),
            (KeyCode::Enter, Stop::Decline) => Answer::Decline,
            (KeyCode::Enter, Stop::Field(..)) if plain => self.choose(true),
            (KeyCode::Char(' '), Stop::Field(number, _)) if plain && !self.is_text(number) => {
                self.choose(false)
            }
            (_, Stop::Field(number, _)) => self.edit(number, key),
            _ => Answer::Nothing,
        }
    }

    /// Handles pasted text.
    pub fn paste(&mut self, text: &str) -> Answer {
        let Stop::Field(number, _) = self.stop() else {
            return Answer::Nothing;
        };
        match self.entries.get_mut(number).map(|entry| &mut entry.filled) {
            Some(Filled::Text(field)) => {
                field.paste(text);
                Answer::Changed
            }
            _ => Answer::Nothing,
        }
    }

    fn is_text(&self, number: usize) -> bool {
        let entry = self.entries.get(number);
        matches!(entry, Some(entry) if matches!(entry.filled, Filled::Text(_)))
    }

    fn edit(&mut self, number: usize, key: KeyEvent) -> Answer {
        let filled = self.entries.get_mut(number).map(|entry| &mut entry.filled);
        let Some(Filled::Text(field)) = filled else {
            return Answer::Nothing;
        };
        match field.key(key) {
            Effect::Changed => Answer::Changed,
            Effect::Unchanged | Effect::Ignored => Answer::Nothing,
        }
    }

    /// Selects the focused option; Enter in a text moves on.
    fn choose(&mut self, goes_on: bool) -> Answer {
        let Stop::Field(number, choice) = self.stop() else {
            return Answer::Nothing;
        };
        let Some(entry) = self.entries.get_mut(number) else {
            return Answer::Nothing;
        };
        let is_one = matches!(entry.asked.kind, Kind::One(_));
        match &mut entry.filled {
            Filled::Text(_) if goes_on => return self.step(true),
            Filled::Text(_) | Filled::Nothing => return Answer::Nothing,
            Filled::Flag(flag) => *flag = !*flag,
            // Enter on a selected option moves on.
            Filled::Chosen(chosen)
                if is_one && goes_on && chosen.get(choice).copied().unwrap_or(false) =>
            {
                return self.jump(true);
            }
            Filled::Chosen(chosen) => {
                let was = chosen.get(choice).copied().unwrap_or(false);
                if is_one {
                    chosen.fill(false);
                }
                if let Some(place) = chosen.get_mut(choice) {
                    *place = !was;
                }
            }
        }
        Answer::Changed
    }

    /// Describes the progress: filled fields and missing ones.
    fn summary(&self) -> String {
        let all = self.entries.len();
        let filled = |entry: &&Entry| matches!(entry.checked(), Ok(Some(_)));
        let filled = self.entries.iter().filter(filled).count();
        let wrong = self.entries.iter().filter(|entry| entry.checked().is_err());
        match (all, wrong.count()) {
            (0, _) => String::new(),
            (_, 0) => format!("{filled} of {all} filled in"),
            (_, wrong) => format!("{filled} of {all}, {wrong} to do"),
        }
    }

    fn scroll(&mut self, forward: bool) -> Answer {
        let page = self.page.saturating_sub(1).max(1);
        self.top = if forward {
            self.top.saturating_add(page)
        } else {
            self.top.saturating_sub(page)
        };
        Answer::Changed
    }

    fn step(&mut self, forward: bool) -> Answer {
        let last = self.stops.len().saturating_sub(1);
        let next = if forward {
            self.marked + 1
        } else {
            self.marked.saturating_sub(1)
        };
        self.go(next.min(last))
    }

    /// Moves to the next field, skipping the options of this one.
    fn jump(&mut self, forward: bool) -> Answer {
        let field = |at: usize| match self.stops.get(at) {
            Some(Stop::Field(number, _)) => Some(*number),
            _ => None,
        };
        let here = field(self.marked);
        let mut next = self.marked;
        while here.is_some() && field(next) == here {
            match (forward, next) {
                (true, _) => next += 1,
                (false, 0) => break,
                (false, _) => next -= 1,
            }
        }
        if here.is_none() {
            return self.step(forward);
        }
        self.go(next)
    }

    fn go(&mut self, next: usize) -> Answer {
        let before = self.stop();
        self.marked = next;
        if let Stop::Field(number, _) = before
            && !matches!(self.stop(), Stop::Field(now, _) if now == number)
            && let Some(entry) = self.entries.get_mut(number)
        {
            entry.is_left = true;
        }
        Answer::Changed
    }

    /// Returns the values, or focuses the first invalid field.
    fn send(&mut self) -> Answer {
        let mut values = Map::new();
        let mut wrong = None;
        for (number, entry) in self.entries.iter_mut().enumerate() {
            entry.is_left = true;
            match entry.checked() {
                Ok(Some(value)) => drop(values.insert(entry.asked.name.clone(), value)),
                Ok(None) => {}
                Err(_) => wrong = wrong.or(Some(number)),
            }
        }
        if self.left_out > 0 {
            return Answer::Changed;
        }
        let Some(wrong) = wrong else {
            return Answer::Accept(values);
        };
        let is_it = |stop: &Stop| matches!(stop, Stop::Field(number, _) if *number == wrong);
        self.marked = self.stops.iter().position(is_it).unwrap_or(self.marked);
        Answer::Changed
    }
}

impl Entry {
    /// Returns the value or the reason why it is invalid.
    fn checked(&self) -> Checked {
        let is_required = self.asked.is_required;
        match (&self.filled, &self.asked.kind) {
            (Filled::Text(field), kind) => check::text(kind, field.text(), is_required),
            (Filled::Flag(flag), _) => Ok(Some(Value::Bool(*flag))),
            (Filled::Chosen(chosen), Kind::One(choices)) => {
                let place = chosen.iter().position(|is_chosen| *is_chosen);
                let value = place.and_then(|at| choices.get(at));
                match value {
                    None if is_required => Err("is required".to_owned()),
                    value => Ok(value.map(|choice| choice.value.clone())),
                }
            }
            (
                Filled::Chosen(chosen),
                Kind::Many {
                    choices,
                    least,
                    most,
                },
            ) => {
                let pairs = choices.iter().zip(chosen);
                let values = pairs.filter(|(_, is_chosen)| **is_chosen);
                let values = values.map(|(choice, _)| choice.value.clone()).collect();
                check::many(values, *least, *most, is_required)
            }
            _ if is_required => Err("cannot be filled in here".to_owned()),
            _ => Ok(None),
        }
    }
}

/// Creates a field with its default value.
fn entry(asked: Asked) -> Entry {
    let default = asked.default.as_ref();
    let filled = match &asked.kind {
        Kind::Text { .. } | Kind::Number { .. } => Filled::Text(LineInput::field(&match default {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        })),
        Kind::Flag => Filled::Flag(default == Some(&Value::Bool(true))),
        Kind::One(choices) => {
            let is_default = |choice: &schema::Choice| Some(&choice.value) == default;
            Filled::Chosen(choices.iter().map(is_default).collect())
        }
        Kind::Many { choices, .. } => {
            let defaults = default.and_then(Value::as_array);
            let is_default = |choice: &schema::Choice| {
                defaults.is_some_and(|values| values.contains(&choice.value))
            };
            Filled::Chosen(choices.iter().map(is_default).collect())
        }
        Kind::Foreign => Filled::Nothing,
    };
    Entry {
        asked,
        filled,
        is_left: false,
    }
}
