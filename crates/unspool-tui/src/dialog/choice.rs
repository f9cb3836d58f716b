//! A searchable list: modes, models, sessions, commands.
//!
//! Typing filters it, as in the picker. Without a query, items keep their order
//! below their group headings. The current item is marked with `●`.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position, Rect};
use unspool::doc::{Role, Span, Style};
use unspool::layout::width;
use unspool::theme::Theme;

use super::permission::short;
use crate::convert;
use crate::editor::Effect;
use crate::line_input::LineInput;
use crate::matching::{Fields, Finder, field};
use crate::paint::{clear, keys, put, rule};
use crate::picker::fitted;

/// An item of the list. Its texts are escaped here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Heading above it; items of a group are adjacent.
    pub group: String,
    /// The item's name.
    pub name: String,
    /// A short description.
    pub description: String,
    /// True for the value in use.
    pub is_current: bool,
}

/// The result of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Ignored.
    Nothing,
    /// Only the display changed.
    Changed,
    /// The item with this index was chosen.
    Chosen(usize),
    /// Closed without a choice.
    Left,
}

/// A row of the list.
#[derive(Clone, Copy)]
enum Row {
    /// The group heading of the item with this index.
    Group(usize),
    Item(usize),
}

/// The list with its query and selection.
pub struct Choice {
    title: String,
    items: Vec<Item>,
    finder: Finder,
    query: LineInput,
    /// Index of the selected item among the matches.
    marked: usize,
    top: usize,
    list: Rect,
    /// The item in each row of the last frame.
    places: Vec<Option<usize>>,
}

impl Choice {
    /// Creates a list with the current item selected.
    pub fn new(title: &str, items: Vec<Item>) -> Self {
        let items: Vec<Item> = items.into_iter().map(cleaned).collect();
        let fields = |item: &Item| Fields {
            seen: vec![field(&item.name), field(&item.group)],
            hidden: vec![field(&item.description)],
        };
        Self {
            title: short(title),
            finder: Finder::new(items.iter().map(fields).collect()),
            marked: items.iter().position(|item| item.is_current).unwrap_or(0),
            items,
            query: LineInput::query(),
            top: 0,
            list: Rect::default(),
            places: Vec::new(),
        }
    }

    /// Returns the number of rows of the whole list.
    pub fn height(&self) -> u16 {
        u16::try_from(self.rows().len() + 3).unwrap_or(u16::MAX)
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut group = "";
        let is_searched = !self.query.text().trim().is_empty();
        for at in self.finder.found() {
            let Some(item) = self.items.get(*at) else {
                continue;
            };
            if item.group != group && !is_searched {
                group = &item.group;
                rows.push(Row::Group(*at));
            }
            rows.push(Row::Item(*at));
        }
        rows
    }

    /// Paints the list.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let area = area.intersection(frame.area());
        clear(frame.buffer_mut(), area);
        let mut rows = area.rows();
        let buffer = frame.buffer_mut();
        if area.height >= 4 {
            let title = Span::new(self.title.as_str(), Style::of(Role::Colorful).bold());
            rule(buffer, rows.next().unwrap_or_default(), &[title], theme);
            let footer = rows.next_back().unwrap_or_default();
            let figures = format!("{}/{}", self.finder.found().len(), self.items.len());
            let known = [("Enter", "choose"), ("Esc", "leave"), ("↑↓", "move")];
            put(
                buffer,
                footer,
                &keys(&known, &figures, usize::from(footer.width)),
                theme,
            );
        }
        let Some(query) = rows.next() else {
            return;
        };
        let column = self.draw_query(buffer, query, theme);
        let rows: Vec<Rect> = rows.collect();
        self.draw_list(buffer, &rows, theme);
        frame.set_cursor_position((column, query.y));
    }

    fn draw_query(&self, buffer: &mut Buffer, row: Rect, theme: &Theme) -> u16 {
        let sign = Span::new("> ", Style::of(Role::Colorful).bold());
        let mut line = vec![sign];
        if self.query.text().is_empty() {
            line.push(Span::role("type to search", Role::Accent));
        }
        put(buffer, row, &line, theme);
        self.query.draw(buffer, inside(row), theme)
    }

    fn draw_list(&mut self, buffer: &mut Buffer, rows: &[Rect], theme: &Theme) {
        let all = self.rows();
        self.places.clear();
        self.list = match (rows.first(), rows.last()) {
            (Some(first), Some(last)) => first.union(*last),
            _ => return,
        };
        if all.is_empty() {
            let words = Span::role("nothing matches", Role::Accent);
            put(buffer, inside(self.list), &[words], theme);
            return;
        }
        let marked = self.finder.found().get(self.marked).copied();
        let is_marked = |row: &Row| matches!(row, Row::Item(at) if Some(*at) == marked);
        let place = all.iter().position(is_marked).unwrap_or(0);
        let lowest = (place + 1).saturating_sub(rows.len());
        let most = all.len().saturating_sub(rows.len());
        // The first item is shown with its group heading.
        let highest = place.saturating_sub(usize::from(self.marked == 0));
        self.top = self.top.clamp(lowest, highest.max(lowest)).min(most);
        let names = self.names(&all, rows.len());
        for (entry, row) in all.iter().skip(self.top).zip(rows) {
            match entry {
                Row::Group(at) => {
                    let group = self.items.get(*at).map_or("", |item| &item.group);
                    put(
                        buffer,
                        *row,
                        &[Span::new(group, Style::of(Role::Accent).bold())],
                        theme,
                    );
                    self.places.push(None);
                }
                Row::Item(at) => {
                    self.draw_item(buffer, *row, *at, names, theme);
                    if is_marked(entry) {
                        let bar = Span::new("▌", Style::of(Role::Colorful).bold());
                        put(buffer, Rect { width: 1, ..*row }, &[bar], theme);
                        buffer.set_style(*row, convert::selection(theme));
                    }
                    self.places.push(Some(*at));
                }
            }
        }
    }

    /// Returns the width of the widest visible name.
    fn names(&self, all: &[Row], height: usize) -> usize {
        let name = |row: &Row| match row {
            Row::Item(at) => self.items.get(*at).map(|item| width(&item.name)),
            Row::Group(_) => None,
        };
        let seen = all.iter().skip(self.top).take(height);
        seen.filter_map(name).max().unwrap_or(0)
    }

    fn draw_item(
        &mut self,
        buffer: &mut Buffer,
        row: Rect,
        at: usize,
        names: usize,
        theme: &Theme,
    ) {
        let marks = self.finder.marks(at).into_iter().next().unwrap_or_default();
        let Some(item) = self.items.get(at) else {
            return;
        };
        let room = usize::from(row.width).saturating_sub(4);
        let has_words = self.items.iter().any(|item| !item.description.is_empty());
        let names = if has_words {
            names.min(room * 3 / 5)
        } else {
            room
        };
        let sign = if item.is_current { "  ● " } else { "    " };
        let mut line = vec![Span::role(sign, Role::Green)];
        let name = Span::role(item.name.as_str(), Role::Normal);
        line.extend(fitted(&name, &marks, names, false));
        if !item.description.is_empty() {
            line.push(Span::role(format!("  {}", item.description), Role::Accent));
        }
        put(buffer, row, &line, theme);
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Nothing;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.list.height.max(2) - 1;
        match key.code {
            KeyCode::Esc => return Answer::Left,
            KeyCode::Char('c' | 'g') if control => return Answer::Left,
            KeyCode::Enter => return self.chosen(),
            KeyCode::Up => self.step(-1),
            KeyCode::Down => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::Char('n') if control => self.step(1),
            KeyCode::PageUp => self.step(-isize::from(page.cast_signed())),
            KeyCode::PageDown => self.step(isize::from(page.cast_signed())),
            _ => {
                if self.query.key(key) != Effect::Changed {
                    return Answer::Nothing;
                }
                self.search();
            }
        }
        Answer::Changed
    }

    /// Handles pasted text.
    pub fn paste(&mut self, text: &str) -> Answer {
        self.query.paste(text);
        self.search();
        Answer::Changed
    }

    fn search(&mut self) {
        if self.query.text() != self.finder.query() {
            self.finder.search(self.query.text());
            self.marked = 0;
            self.top = 0;
        }
    }

    fn chosen(&self) -> Answer {
        let found = self.finder.found().get(self.marked);
        found.map_or(Answer::Nothing, |at| Answer::Chosen(*at))
    }

    fn step(&mut self, by: isize) {
        let last = self.finder.found().len().saturating_sub(1);
        self.marked = self.marked.saturating_add_signed(by).min(last);
    }

    /// Handles the wheel and clicks. A click selects an item, a second one
    /// chooses it.
    pub fn mouse(&mut self, mouse: MouseEvent) -> Answer {
        let place = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::ScrollUp => self.step(-1),
            MouseEventKind::ScrollDown => self.step(1),
            MouseEventKind::Down(MouseButton::Left) if self.list.contains(place) => {
                let row = usize::from(mouse.row - self.list.y);
                let item = self.places.get(row).copied().flatten();
                let Some(item) = item else {
                    return Answer::Nothing;
                };
                let found = self.finder.found().iter().position(|at| *at == item);
                if found == Some(self.marked) {
                    return self.chosen();
                }
                self.marked = found.unwrap_or(self.marked);
            }
            _ => return Answer::Nothing,
        }
        Answer::Changed
    }
}

fn inside(row: Rect) -> Rect {
    let margin = row.width.min(2);
    Rect {
        x: row.x + margin,
        width: row.width - margin,
        ..row
    }
}

fn cleaned(item: Item) -> Item {
    Item {
        group: short(&item.group),
        name: short(&item.name),
        description: short(&item.description),
        ..item
    }
}

#[cfg(test)]
mod tests;
