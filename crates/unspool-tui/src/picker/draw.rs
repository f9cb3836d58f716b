//! Paints a picker: query at the top, rows below, details beside or below them,
//! key hints in the last line.
//!
//! Parts that do not fit are left out. The cost does not depend on the number of
//! rows.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span, Style};
use unspool::layout::layout;
use unspool::theme::Theme;

use super::{Detail, Picker};
use crate::convert;
use crate::paint::{keys, put};

/// Minimum width for details beside the list.
const WIDE: u16 = 100;
/// Minimum height for details below the list.
const TALL: u16 = 16;
/// Maximum height of details below the list; at most half of the screen.
const BELOW: u16 = 12;
/// Margin before each row and before the query.
const MARGIN: u16 = 2;
/// Width of the names of facts.
const NAMES: usize = 10;

/// Key hints, most important first.
const KEYS: [(&str, &str); 5] = [
    ("Enter", "show"),
    ("Esc", "leave"),
    ("Ctrl-O", "browse"),
    ("↑↓ PgUp PgDn", "move"),
    ("'word ^start end$ !not", "search"),
];

/// Areas of a frame.
#[derive(Default)]
struct Areas {
    query: Rect,
    heading: Rect,
    list: Rect,
    /// The line between list and details.
    rule: Rect,
    detail: Rect,
    footer: Rect,
}

impl Areas {
    fn of(area: Rect) -> Self {
        let row = |y: u16, height: u16| Rect::new(area.x, area.y + y, area.width, height);
        let heading = u16::from(area.height >= 6);
        let footer = u16::from(area.height >= 3);
        let above = heading + 1;
        let body = row(
            above.min(area.height),
            area.height.saturating_sub(above + footer),
        );
        let areas = Self {
            query: row(0, area.height.min(1)),
            heading: row(heading, heading),
            footer: row(area.height.saturating_sub(footer), footer),
            list: body,
            ..Self::default()
        };
        if area.width >= WIDE {
            areas.beside(area.width * 3 / 5)
        } else if area.height >= TALL {
            areas.below()
        } else {
            areas
        }
    }

    /// Puts the details to the right of a list of this width.
    fn beside(mut self, wide: u16) -> Self {
        let body = self.list;
        let rest = body.width - wide;
        self.list.width = wide;
        self.heading.width = wide;
        // Details also use the row of the heading.
        let (y, height) = (self.heading.y, body.height + self.heading.height);
        self.rule = Rect::new(body.x + wide + 1, y, 1, height);
        self.detail = Rect::new(body.x + wide + 3, y, rest.saturating_sub(3), height);
        self
    }

    /// Puts the details below the list.
    fn below(mut self) -> Self {
        let body = self.list;
        let height = (body.height / 2).min(BELOW);
        self.list.height = body.height.saturating_sub(height + 1);
        let end = body.y + self.list.height;
        self.rule = Rect::new(body.x, end, body.width, 1);
        self.detail = Rect::new(body.x, end + 1, body.width, height);
        self
    }
}

/// Paints a frame.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    picker: &mut Picker,
    theme: &Theme,
    detail: &dyn Fn(usize) -> Detail,
) {
    let areas = Areas::of(frame.area());
    let column = query(frame.buffer_mut(), areas.query, picker, theme);
    if !areas.query.is_empty() {
        frame.set_cursor_position((column, areas.query.y));
    }
    let buffer = frame.buffer_mut();
    picker.list = areas.list;
    list(buffer, &areas, picker, theme);
    footer(buffer, areas.footer, picker, theme);
    if areas.detail.is_empty() {
        return;
    }
    rule(buffer, areas.rule, theme);
    if let Some(row) = picker.marked() {
        let room = usize::from(areas.detail.width);
        for (line, row) in lines(&detail(row), room).iter().zip(areas.detail.rows()) {
            put(buffer, row, line, theme);
        }
    }
}

/// Paints the query and returns the cursor's column.
fn query(buffer: &mut Buffer, area: Rect, picker: &Picker, theme: &Theme) -> u16 {
    let prompt = Span::new("> ", Style::of(Role::Colorful).bold());
    put(buffer, area, &[prompt], theme);
    let rest = inside(area);
    if picker.query().is_empty() {
        let words = Span::role("type to search", Role::Accent);
        put(buffer, rest, &[words], theme);
    }
    picker.query.draw(buffer, rest, theme)
}

/// Returns the area without its margin.
fn inside(area: Rect) -> Rect {
    let margin = MARGIN.min(area.width);
    Rect::new(area.x + margin, area.y, area.width - margin, area.height)
}

fn list(buffer: &mut Buffer, areas: &Areas, picker: &mut Picker, theme: &Theme) {
    let room = usize::from(inside(areas.list).width);
    let heading = picker.columns.heading(room);
    put(buffer, inside(areas.heading), &heading, theme);
    let height = usize::from(areas.list.height);
    picker.scroll_into(height);
    if picker.found().is_empty() {
        let words = Span::role("nothing matches", Role::Accent);
        put(buffer, inside(areas.list), &[words], theme);
        return;
    }
    let found = picker.found().iter().skip(picker.top).take(height);
    let seen: Vec<usize> = found.copied().collect();
    for (place, (number, row)) in seen.into_iter().zip(areas.list.rows()).enumerate() {
        let marks = picker.finder.marks(number);
        let Some(cells) = picker.rows.get(number).map(|row| &row.cells) else {
            continue;
        };
        let line = picker.columns.line(cells, &marks, room);
        put(buffer, inside(row), &line, theme);
        if picker.top + place == picker.marked {
            let bar = Span::new("▌", Style::of(Role::Colorful).bold());
            put(buffer, row, &[bar], theme);
            buffer.set_style(row, convert::selection(theme));
        }
    }
}

fn rule(buffer: &mut Buffer, area: Rect, theme: &Theme) {
    let sign = if area.width == 1 { "│" } else { "─" };
    let line = Span::role(sign.repeat(usize::from(area.width)), Role::Accent);
    for row in area.rows() {
        put(buffer, row, std::slice::from_ref(&line), theme);
    }
}

/// Paints the key hints and the number of matches.
fn footer(buffer: &mut Buffer, area: Rect, picker: &Picker, theme: &Theme) {
    let figures = format!("{}/{}", picker.found().len(), picker.finder.total());
    let line = keys(&KEYS, &figures, usize::from(area.width));
    put(buffer, area, &line, theme);
}

/// Lays out details.
fn lines(detail: &Detail, room: usize) -> Vec<Line> {
    let mut heading = detail.heading.clone();
    heading.style = heading.style.bold();
    let mut blocks = vec![Block::Paragraph(vec![heading])];
    if !detail.text.is_empty() {
        blocks.push(Block::Paragraph(detail.text.clone()));
    }
    let page = Some(room.max(1));
    let mut lines = layout(&blocks, page, &[], &[]);
    lines.push(Line::new());
    for (name, value) in &detail.facts {
        let blank = " ".repeat(NAMES.min(room / 3));
        let name = format!("{name:NAMES$}");
        let name: String = name.chars().take(blank.len()).collect();
        let first = [Span::role(name, Role::Accent)];
        let rest = [Span::role(blank, Role::Normal)];
        let value = [Block::Paragraph(value.clone())];
        lines.extend(layout(&value, page, &first, &rest));
    }
    lines
}
