//! Overlays on the transcript: help, command palette, filter and search line.
//!
//! Help and palette are generated from the table of keys.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span, Style};
use unspool::layout::{layout, truncated, width};
use unspool::theme::Theme;

use crate::convert;
use crate::keys::{self, Action, Binding, Context, TABLE};
use crate::line_input::LineInput;
use crate::paint::{clear, put, wide};
use crate::transcript::Kinds;

/// Width of a box, and of a narrow one.
const WIDE: u16 = 84;
const SLIM: u16 = 44;
/// Width of the key column.
const KEYS: usize = 22;

/// The contexts whose keys are listed.
pub(crate) type Contexts = &'static [Context];

/// An overlay on the transcript.
pub(crate) enum Overlay {
    /// Help for these contexts, scrolled to this row.
    Help(Contexts, usize),
    /// The command palette: query and selected row.
    Palette(Contexts, LineInput, usize),
    /// The filter: visible kinds and selected row.
    Filter(Kinds, usize),
    /// The search line.
    Search(LineInput),
}

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Stays open.
    Stay,
    /// Closes.
    Close,
    /// Closes, and the action is performed.
    Act(Action),
    /// Stays open, and only these kinds are shown.
    Filter(Kinds),
    /// Closes, and this text is searched.
    Search(String),
}

impl Overlay {
    pub(crate) fn help(contexts: Contexts) -> Self {
        Self::Help(contexts, 0)
    }

    pub(crate) fn palette(contexts: Contexts) -> Self {
        Self::Palette(contexts, LineInput::query(), 0)
    }

    pub(crate) fn search() -> Self {
        Self::Search(LineInput::query())
    }

    /// Handles a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Outcome {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if key.code == KeyCode::Esc || control && matches!(key.code, KeyCode::Char('c' | 'g')) {
            return Outcome::Close;
        }
        match self {
            Self::Help(_, top) => help_key(key, top),
            Self::Palette(contexts, input, at) => palette_key(key, contexts, input, at),
            Self::Filter(kinds, at) => filter_key(key, kinds, at),
            Self::Search(input) => {
                if key.code == KeyCode::Enter {
                    return Outcome::Search(input.text().to_owned());
                }
                let is_left = key.code == KeyCode::Backspace && input.text().is_empty();
                if is_left {
                    return Outcome::Close;
                }
                input.key(key);
                Outcome::Stay
            }
        }
    }

    /// Handles pasted text.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Self::Palette(_, input, _) | Self::Search(input) = self {
            input.paste(text);
        }
    }

    /// Paints the overlay. The last row of the area is for the search line.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        match self {
            Self::Help(contexts, top) => help(frame, area, contexts, top, theme),
            Self::Palette(contexts, input, at) => {
                palette(
                    frame,
                    area,
                    &commands(contexts, input.text()),
                    input,
                    at,
                    theme,
                );
            }
            Self::Filter(kinds, at) => filter(frame.buffer_mut(), area, *kinds, *at, theme),
            Self::Search(input) => {
                let row = Rect {
                    y: area.bottom().saturating_sub(1),
                    height: area.height.min(1),
                    ..area
                };
                line(frame, row, "/", input, theme);
            }
        }
    }
}

fn help_key(key: KeyEvent, top: &mut usize) -> Outcome {
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => *top = top.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') => *top = top.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => *top = top.saturating_add(10),
        KeyCode::PageUp => *top = top.saturating_sub(10),
        KeyCode::Home => *top = 0,
        // Drawing clamps it.
        KeyCode::End => *top = usize::MAX,
        _ => return Outcome::Close,
    }
    Outcome::Stay
}

fn palette_key(
    key: KeyEvent,
    contexts: Contexts,
    input: &mut LineInput,
    at: &mut usize,
) -> Outcome {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => {
            let found = commands(contexts, input.text());
            return found
                .get(*at)
                .map_or(Outcome::Close, |row| Outcome::Act(row.action));
        }
        KeyCode::Down | KeyCode::Tab => *at += 1,
        KeyCode::Char('n') if control => *at += 1,
        KeyCode::Up | KeyCode::BackTab => *at = at.saturating_sub(1),
        KeyCode::Char('p') if control => *at = at.saturating_sub(1),
        _ => {
            input.key(key);
            *at = 0;
        }
    }
    *at = (*at).min(commands(contexts, input.text()).len().saturating_sub(1));
    Outcome::Stay
}

fn filter_key(key: KeyEvent, kinds: &mut Kinds, at: &mut usize) -> Outcome {
    let marked = Kinds::NAMES.get(*at).map(|(kind, _)| Kinds::of(*kind));
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => *at = (*at + 1).min(Kinds::NAMES.len() - 1),
        KeyCode::Up | KeyCode::Char('k') => *at = at.saturating_sub(1),
        KeyCode::Char(' ' | 'x') => {
            // Leaving the errors-only filter shows all entries of a kind again.
            let before = if *kinds == Kinds::FAILED {
                Kinds::default()
            } else {
                *kinds
            };
            *kinds = before.toggled(marked.unwrap_or_default());
        }
        KeyCode::Char('o') => *kinds = marked.unwrap_or_default(),
        KeyCode::Char('a') => *kinds = Kinds::ALL,
        KeyCode::Char('e') => *kinds = Kinds::FAILED,
        _ => return Outcome::Close,
    }
    Outcome::Filter(*kinds)
}

/// Returns the bindings of these contexts, grouped by context.
fn rows(contexts: Contexts) -> impl Iterator<Item = &'static Binding> {
    let of = |context: &Context| {
        let context = *context;
        TABLE.iter().filter(move |row| row.context == context)
    };
    contexts.iter().flat_map(of)
}

/// Lays out the help for a width.
fn help_lines(contexts: Contexts, room: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for context in contexts {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        let heading = Span::new(context.heading(), Style::of(Role::Colorful).bold());
        lines.push(vec![heading]);
        let here = TABLE.iter().filter(|row| row.context == *context);
        lines.extend(here.flat_map(|row| help_row(row, room)));
    }
    lines
}

/// Returns the commands that match a query, best first.
fn commands(contexts: Contexts, query: &str) -> Vec<&'static Binding> {
    let pattern = Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut found: Vec<(u32, &Binding)> = rows(contexts)
        .filter(|row| row.action != Action::Palette && row.context != Context::Dialog)
        .filter_map(|row| {
            let mut score = |words| {
                let words = Utf32Str::new(words, &mut letters);
                pattern.score(words, &mut matcher)
            };
            let scores = [score(row.words), score(keys::synonyms(row.action))];
            Some((scores.into_iter().flatten().max()?, row))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, row)| row).collect()
}

/// Paints an empty box in the centre of an area and returns its inside.
fn boxed(
    buffer: &mut Buffer,
    area: Rect,
    (wide, rows): (u16, usize),
    title: &str,
    theme: &Theme,
) -> Rect {
    let width = wide.min(area.width);
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    let height = rows.saturating_add(2).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    clear(buffer, place);
    let across = "─".repeat(usize::from(width.saturating_sub(2)));
    let edge = |left: &str, right: &str| Span::role(format!("{left}{across}{right}"), Role::Accent);
    let side = Span::role("│", Role::Accent);
    for (at, row) in place.rows().enumerate() {
        let is_first = at == 0;
        if is_first || at + 1 == usize::from(height) {
            let line = if is_first {
                edge("╭", "╮")
            } else {
                edge("╰", "╯")
            };
            put(buffer, row, &[line], theme);
        } else {
            put(buffer, row, std::slice::from_ref(&side), theme);
            let right = Rect {
                x: row.right().saturating_sub(1),
                width: row.width.min(1),
                ..row
            };
            put(buffer, right, std::slice::from_ref(&side), theme);
        }
    }
    let name = Rect {
        x: place.x + 2.min(width),
        y: place.y,
        width: width.saturating_sub(4),
        height: height.min(1),
    };
    let title = Span::new(format!(" {title} "), Style::of(Role::Colorful).bold());
    put(buffer, name, &[title], theme);
    Rect {
        x: place.x + 2.min(width),
        y: place.y + 1.min(height),
        width: width.saturating_sub(4),
        height: height.saturating_sub(2),
    }
}

/// Lays out the keys and the wrapped description of a binding.
fn help_row(row: &Binding, room: usize) -> Vec<Line> {
    let keys = row.keys.join(" ");
    let column = KEYS.min(room / 2);
    let first = Span::new(format!("{keys:column$} "), Style::of(Role::Normal).bold());
    let rest = Span::role(" ".repeat(column + 1), Role::Normal);
    let words = Block::Paragraph(vec![Span::role(row.words, Role::Normal)]);
    layout(&[words], Some(room.max(column + 2)), &[first], &[rest])
}

fn help(frame: &mut Frame<'_>, area: Rect, contexts: Contexts, top: &mut usize, theme: &Theme) {
    let buffer = frame.buffer_mut();
    let room = usize::from(WIDE.min(area.width)).saturating_sub(4);
    let all = help_lines(contexts, room);
    let inside = boxed(buffer, area, (WIDE, all.len()), "Keys", theme);
    let most = all.len().saturating_sub(usize::from(inside.height));
    *top = (*top).min(most);
    for (row, line) in inside.rows().zip(all.iter().skip(*top)) {
        put(buffer, row, line, theme);
    }
    more(buffer, area, inside, *top, most, theme);
}

/// Indicates in the lower border of a box that it can be scrolled.
fn more(buffer: &mut Buffer, area: Rect, inside: Rect, top: usize, most: usize, theme: &Theme) {
    let words = match (top > 0, top < most) {
        (_, true) => " ▼ more ",
        (true, false) => " ▲ more ",
        (false, false) => return,
    };
    let row = Rect {
        x: inside.right().saturating_sub(9),
        y: inside.bottom(),
        width: 8.min(inside.width),
        height: 1,
    };
    let row = row.intersection(area);
    put(buffer, row, &[Span::role(words, Role::Accent)], theme);
}

fn palette(
    frame: &mut Frame<'_>,
    area: Rect,
    found: &[&Binding],
    input: &LineInput,
    at: &mut usize,
    theme: &Theme,
) {
    let inside = boxed(
        frame.buffer_mut(),
        area,
        (WIDE, TABLE.len().min(16)),
        "Commands",
        theme,
    );
    let mut rows = inside.rows();
    if let Some(row) = rows.next() {
        line(frame, row, ":", input, theme);
    }
    let height = usize::from(inside.height).saturating_sub(1).max(1);
    let top = (*at + 1).saturating_sub(height);
    for ((number, binding), row) in found.iter().enumerate().skip(top).zip(rows) {
        let keys = binding.keys.first().copied().unwrap_or_default();
        let room = usize::from(row.width).saturating_sub(width(keys) + 1);
        // The keys stay visible next to a long description.
        let mut line = truncated(&[Span::role(binding.words, Role::Normal)], room);
        let used = wide(&line);
        let gap = " ".repeat(room.saturating_sub(used) + 1);
        line.push(Span::role(gap, Role::Normal));
        line.push(Span::role(keys, Role::Accent));
        put(frame.buffer_mut(), row, &line, theme);
        if number == *at {
            frame.buffer_mut().set_style(row, convert::selection(theme));
        }
    }
    if found.is_empty() && inside.height > 1 {
        let row = Rect {
            y: inside.y + 1,
            height: 1,
            ..inside
        };
        put(
            frame.buffer_mut(),
            row,
            &[Span::role("nothing matches", Role::Accent)],
            theme,
        );
    }
}

fn filter(buffer: &mut Buffer, area: Rect, kinds: Kinds, at: usize, theme: &Theme) {
    let inside = boxed(
        buffer,
        area,
        (SLIM, Kinds::NAMES.len() + 2),
        "Filter",
        theme,
    );
    let height = usize::from(inside.height).saturating_sub(2).max(1);
    let top = (at + 1).saturating_sub(height);
    let most = Kinds::NAMES.len().saturating_sub(height);
    more(buffer, area, inside, top, most, theme);
    let names = Kinds::NAMES.iter().enumerate().skip(top).take(height);
    for ((number, (kind, name)), row) in names.zip(inside.rows()) {
        let is_on = kinds.meets(Kinds::of(*kind));
        let sign = if is_on { "[x] " } else { "[ ] " };
        put(
            buffer,
            row,
            &[Span::role(format!("{sign}{name}"), Role::Normal)],
            theme,
        );
        if number == at {
            buffer.set_style(row, convert::selection(theme));
        }
    }
    let last = Rect {
        y: inside.bottom().saturating_sub(1),
        height: inside.height.min(1),
        ..inside
    };
    let words = "x on/off  o only  a all  e errors";
    put(buffer, last, &[Span::role(words, Role::Accent)], theme);
    if kinds == Kinds::FAILED {
        let row = Rect {
            y: last.y.saturating_sub(1),
            ..last
        };
        put(
            buffer,
            row,
            &[Span::role("errors only", Role::Colorful)],
            theme,
        );
    }
}

/// Paints an input line with the cursor.
fn line(frame: &mut Frame<'_>, row: Rect, sign: &str, input: &LineInput, theme: &Theme) {
    if row.is_empty() {
        return;
    }
    let buffer = frame.buffer_mut();
    clear(buffer, row);
    let sign = Span::new(sign, Style::of(Role::Colorful).bold());
    put(buffer, row, &[sign], theme);
    let rest = Rect {
        x: row.x + 1,
        width: row.width - 1,
        ..row
    };
    let x = input.draw(buffer, rest, theme);
    frame.set_cursor_position((x, row.y));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::picture;

    #[test]
    fn commands_are_found_by_a_few_letters() {
        let all = &[Context::Transcript, Context::Everywhere];
        let first = |query: &str| commands(all, query).first().map(|row| row.action);
        assert_eq!(first("exp all"), Some(Action::ExpandAll));
        assert_eq!(first("clip"), None);
        assert_eq!(first("copy"), Some(Action::Copy));
        for word in ["export", "html"] {
            assert_eq!(first(word), Some(Action::Export), "{word}");
        }
        for word in ["quit", "exit"] {
            assert_eq!(first(word), Some(Action::Leave), "{word}");
        }
        assert_eq!(commands(all, "").len(), rows(all).count() - 1);
    }

    const CONTEXTS: Contexts = &[Context::Prompt, Context::Chat, Context::Transcript];

    #[test]
    fn the_help_groups_keys_by_context() {
        let theme = Theme::mono();
        let mut overlay = Overlay::help(CONTEXTS);
        let text = picture((80, 80), |frame| overlay.draw(frame, frame.area(), &theme));
        let at = |words: &str| {
            text.find(words)
                .unwrap_or_else(|| panic!("{words}: {text}"))
        };
        assert!(at("In the prompt") < at("go to the transcript"));
        assert!(at("go to the transcript") < at("In a chat"));
        assert!(at("In a chat") < at("choose the agent's mode"));
        assert!(at("choose the agent's mode") < at("In the transcript"));
        assert!(at("In the transcript") < at("next prompt"));
        assert!(!text.contains("▼"), "all of it is seen: {text}");
        let text = picture((40, 12), |frame| overlay.draw(frame, frame.area(), &theme));
        assert!(text.contains("▼ more"), "{text}");
        overlay.key(KeyEvent::new(KeyCode::End, KeyModifiers::NONE));
        let text = picture((40, 12), |frame| overlay.draw(frame, frame.area(), &theme));
        assert!(
            text.contains("▲ more") && text.contains("q ctrl-c"),
            "{text}"
        );
    }

    #[test]
    fn help_wraps_in_a_small_window() {
        let theme = Theme::mono();
        let mut overlay = Overlay::help(&[Context::Prompt]);
        let text = picture((40, 40), |frame| overlay.draw(frame, frame.area(), &theme));
        assert!(!text.contains('…'), "{text}");
        let words: String = text.replace(['│', '|', '\n'], " ");
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(words.join(" ").contains("else stop the agent;"), "{text}");
        let mut overlay = Overlay::palette(&[Context::Prompt]);
        let text = picture((40, 20), |frame| overlay.draw(frame, frame.area(), &theme));
        assert!(text.contains("… ctrl-c"), "{text}");
    }

    #[test]
    fn the_kinds_fit_a_small_window() {
        let theme = Theme::mono();
        let mut overlay = Overlay::Filter(Kinds::ALL, 0);
        let text = picture((40, 12), |frame| overlay.draw(frame, frame.area(), &theme));
        for words in ["[x] prompts", "x on/off  o only  a all  e errors", "▼ more"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let mut overlay = Overlay::Filter(Kinds::ALL, Kinds::NAMES.len() - 1);
        let text = picture((40, 12), |frame| overlay.draw(frame, frame.area(), &theme));
        assert!(
            text.contains("[x] unknown") && text.contains("▲ more"),
            "{text}"
        );
    }

    #[test]
    fn kinds_are_switched_one_by_one() {
        let mut overlay = Overlay::Filter(Kinds::ALL, 0);
        let mut press = |code| overlay.key(KeyEvent::new(code, KeyModifiers::NONE));
        press(KeyCode::Down);
        let Outcome::Filter(kinds) = press(KeyCode::Char(' ')) else {
            panic!("a filter");
        };
        let answers = Kinds::of(unspool::doc::card::Kind::Answer);
        assert!(!kinds.meets(answers));
        assert_eq!(press(KeyCode::Char('o')), Outcome::Filter(answers));
        assert_eq!(press(KeyCode::Char('e')), Outcome::Filter(Kinds::FAILED));
        assert_eq!(press(KeyCode::Char('a')), Outcome::Filter(Kinds::ALL));
        assert_eq!(press(KeyCode::Esc), Outcome::Close);
    }
}
