//! The tab bar: one tab per agent with its status.
//!
//! Each status has its own mark, readable without colours. The active tab is
//! always visible; `‹` and `›` indicate hidden tabs.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use unspool::doc::{Line, Role, Span, Style};
use unspool::layout::truncated;
use unspool::theme::Theme;

use crate::convert;
use crate::paint::{clear, put, wide};
use crate::spinner;

/// Maximum width of a name if there are several tabs.
const LONGEST: usize = 24;

/// Status of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Starting: `○`.
    Starting,
    /// Working: a spinner.
    Working,
    /// Waiting for an answer: `?`.
    Asking,
    /// Waiting for a message: `●`.
    Idle,
    /// Ended with a failure: `✗`.
    Failed,
    /// Ended: `■`.
    Ended,
}

impl Status {
    /// Returns the mark of the status; `tick` is the spinner's frame.
    pub fn mark(self, tick: usize) -> Span {
        let (sign, role) = match self {
            Self::Starting => ("○", Role::Accent),
            Self::Working => (spinner::nth(tick), Role::Colorful),
            Self::Asking => ("?", Role::Red),
            Self::Idle => ("●", Role::Green),
            Self::Failed => ("✗", Role::Red),
            Self::Ended => ("■", Role::Accent),
        };
        Span::new(sign, Style::of(role).bold())
    }
}

/// A tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Name, escaped when painted.
    pub name: String,
    /// Status of its agent.
    pub status: Status,
}

/// The tab bar and its last layout.
#[derive(Clone, Debug, Default)]
pub struct Tabs {
    area: Rect,
    first: usize,
    /// Index and columns of each visible tab.
    places: Vec<(usize, Range<u16>)>,
}

impl Tabs {
    /// Paints the tabs in one row.
    pub fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        tabs: &[Tab],
        active: usize,
        tick: usize,
        theme: &Theme,
    ) {
        let area = Rect {
            height: area.height.min(1),
            ..area.intersection(frame.area())
        };
        self.area = area;
        self.places.clear();
        if area.is_empty() || tabs.is_empty() {
            return;
        }
        clear(frame.buffer_mut(), area);
        let active = active.min(tabs.len() - 1);
        let room = usize::from(area.width);
        let cells: Vec<Line> = cells(tabs, tick, room);
        self.scroll(&cells, active, room);
        let buffer = frame.buffer_mut();
        let mut x = area.x;
        if self.first > 0 {
            put(buffer, Rect { width: 1, ..area }, &[more("‹")], theme);
            x += 1;
        }
        for (number, line) in cells.iter().enumerate().skip(self.first) {
            let is_last = number + 1 == cells.len();
            let free = area.right().saturating_sub(x + u16::from(!is_last));
            let taken = u16::try_from(wide(line)).unwrap_or(u16::MAX);
            // Only the active tab may be cut.
            if taken > free && number != active {
                let at = Rect::new(area.right() - 1, area.y, 1, 1);
                put(buffer, at, &[more("›")], theme);
                break;
            }
            let cell = Rect::new(x, area.y, taken.min(free), 1);
            put(buffer, cell, line, theme);
            if number == active {
                buffer.set_style(cell, convert::selection(theme));
            }
            self.places.push((number, cell.x..cell.right()));
            x = cell.right();
        }
    }

    /// Returns the tab at a screen position.
    pub fn at(&self, column: u16, row: u16) -> Option<usize> {
        if !self.area.contains(Position::new(column, row)) {
            return None;
        }
        let is_it = |(_, place): &&(usize, Range<u16>)| place.contains(&column);
        self.places.iter().find(is_it).map(|(number, _)| *number)
    }

    /// Scrolls by the minimum that makes the active tab visible.
    fn scroll(&mut self, cells: &[Line], active: usize, room: usize) {
        let widths: Vec<usize> = cells.iter().map(|line| wide(line)).collect();
        self.first = self.first.min(active);
        // Don't leave empty space that could show a tab.
        let fits = |first: usize, end: usize| {
            let marks = usize::from(first > 0) + usize::from(end < widths.len());
            widths.iter().take(end).skip(first).sum::<usize>() + marks <= room
        };
        while self.first < active && !fits(self.first, active + 1) {
            self.first += 1;
        }
        while self.first > 0 && fits(self.first - 1, widths.len()) {
            self.first -= 1;
        }
    }
}

fn more(sign: &str) -> Span {
    Span::role(sign, Role::Accent)
}

/// Lays out each tab as ` 1 ● name `.
fn cells(tabs: &[Tab], tick: usize, room: usize) -> Vec<Line> {
    let most = if tabs.len() == 1 {
        room
    } else {
        LONGEST.min(room / 2).max(4)
    };
    let cell = |(number, tab): (usize, &Tab)| {
        let short: String = tab.name.chars().take(room).collect();
        let name = [Span::clean(&short, Style::default())];
        let mut line = vec![Span::role(format!(" {} ", number + 1), Role::Accent)];
        line.push(tab.status.mark(tick));
        line.push(Span::role(" ", Role::Normal));
        line.extend(truncated(&name, most));
        line.push(Span::role(" ", Role::Normal));
        line
    };
    tabs.iter().enumerate().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::picture::{assert_clean, cells as painted, light, picture, text};

    fn tabs() -> Vec<Tab> {
        [
            ("claude", Status::Idle),
            ("codex \u{1b}[2J\u{202e}", Status::Asking),
            ("漢字の長い名前がここにあります and more", Status::Working),
            ("qwen", Status::Failed),
            ("gemini", Status::Ended),
            ("opencode", Status::Starting),
        ]
        .map(|(name, status)| Tab {
            name: name.to_owned(),
            status,
        })
        .to_vec()
    }

    fn seen(wide: u16, active: usize, theme: &Theme) -> String {
        let mut bar = Tabs::default();
        picture((wide, 1), |frame| {
            bar.draw(frame, frame.area(), &tabs(), active, 3, theme);
        })
    }

    #[test]
    fn the_active_tab_is_always_visible() {
        let mut all = String::new();
        for wide in [40, 80, 120] {
            for active in 0..6 {
                all.push_str(&seen(wide, active, &light()));
            }
        }
        insta::assert_snapshot!(all);
    }

    #[test]
    fn the_active_tab_is_marked_without_colours() {
        let mut bar = Tabs::default();
        let cells = painted((80, 1), |frame| {
            bar.draw(frame, frame.area(), &tabs(), 1, 0, &Theme::mono());
        });
        let reversed = ratatui::style::Modifier::REVERSED;
        let marked = cells
            .content
            .iter()
            .filter(|it| it.modifier.contains(reversed));
        let marked: String = marked.map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(marked, " 2 ? codex \\x1B[2J\\u{202E} ");
    }

    #[test]
    fn a_click_finds_its_tab() {
        let mut bar = Tabs::default();
        let area = Rect::new(2, 1, 70, 1);
        let cells = painted((80, 3), |frame| {
            bar.draw(frame, area, &tabs(), 0, 0, &light());
        });
        let row = text(&cells, Rect::new(0, 1, 80, 1));
        assert!(row.starts_with("   1 ● claude  2 ?"), "{row}");
        assert_eq!(bar.at(2, 1), Some(0));
        assert_eq!(bar.at(14, 1), Some(1));
        assert_eq!(bar.at(1, 1), None);
        assert_eq!(bar.at(5, 0), None);
    }

    proptest! {
        #[test]
        fn any_tabs_fit_any_width(
            names in prop::collection::vec("(\\PC|\u{1b}){0,30}", 0..12),
            moves in prop::collection::vec((0..12_usize, 0..60_u16), 1..8),
        ) {
            let tabs: Vec<Tab> = names
                .into_iter()
                .map(|name| Tab { name, status: Status::Working })
                .collect();
            let mut bar = Tabs::default();
            for (active, wide) in moves {
                let cells = painted((wide, 1), |frame| {
                    bar.draw(frame, frame.area(), &tabs, active, active, &light());
                });
                assert_clean(&cells);
                let active = active.min(tabs.len().saturating_sub(1));
                let is_seen = bar.places.iter().any(|(number, _)| *number == active);
                prop_assert!(is_seen || tabs.is_empty() || wide == 0);
            }
        }
    }
}
