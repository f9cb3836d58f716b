//! Paints a form, scrolled so that the focus is visible.

use ratatui::Frame;
use ratatui::layout::Rect;
use unspool::doc::{Block, Line, Role, Span, Style};
use unspool::layout::layout;
use unspool::theme::Theme;

use super::{Entry, Filled, Form, Kind, Stop};
use crate::convert;
use crate::paint::{clear, count, keys, put, rule};

/// Rows above and below the scrolled part.
const EDGES: u16 = 2;

/// A row and the tab stop in it.
pub(super) struct Row {
    line: Line,
    stop: Option<Stop>,
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, form: &mut Form, theme: &Theme) {
    let area = area.intersection(frame.area());
    let buffer = frame.buffer_mut();
    clear(buffer, area);
    let mut places = area.rows();
    let rows = rows(form, area.width);
    scroll(form, &rows, usize::from(area.height.saturating_sub(EDGES)));
    if area.height > EDGES {
        let mut words = vec![Span::new(
            "the agent asks",
            Style::of(Role::Colorful).bold(),
        )];
        let summary = form.summary();
        if !summary.is_empty() {
            words.push(Span::role(format!(" · {summary}"), Role::Accent));
        }
        rule(buffer, places.next().unwrap_or_default(), &words, theme);
        let footer = places.next_back().unwrap_or_default();
        let known = [
            ("Ctrl-S", "send"),
            ("Tab", "next"),
            ("Esc", "cancel"),
            ("Space", "choose"),
        ];
        let hidden = hidden(form, rows.len());
        let line = keys(&known, &hidden, usize::from(footer.width));
        put(buffer, footer, &line, theme);
    }
    let places: Vec<Rect> = places.collect();
    let marked = form.stop();
    let mut cursor = None;
    for (row, place) in rows.iter().skip(form.top).zip(&places) {
        put(buffer, *place, &row.line, theme);
        if row.stop != Some(marked) {
            continue;
        }
        buffer.set_style(*place, convert::selection(theme));
        if let Stop::Field(number, _) = marked
            && let Some(Filled::Text(field)) = form.entries.get(number).map(|it| &it.filled)
        {
            let margin = place.width.min(4);
            let room = Rect {
                x: place.x + margin,
                width: place.width - margin,
                ..*place
            };
            clear(buffer, room);
            cursor = Some((field.draw(buffer, room, theme), place.y));
            buffer.set_style(*place, convert::selection(theme));
        }
    }
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

fn scroll(form: &mut Form, rows: &[Row], height: usize) {
    let most = rows.len().saturating_sub(height);
    form.page = height;
    if form.is_scrolled {
        form.top = form.top.min(most);
        return;
    }
    let marked = form.stop();
    let place = rows.iter().position(|row| row.stop == Some(marked));
    let place = place.unwrap_or(0);
    // The field's name and its error are visible together with the focus.
    let lowest = (place + 2).min(rows.len()).saturating_sub(height);
    let highest = place.saturating_sub(2).max(lowest);
    form.top = form.top.clamp(lowest, highest);
    form.top = form.top.min(most);
}

/// Describes the number of hidden rows.
fn hidden(form: &Form, rows: usize) -> String {
    let below = rows.saturating_sub(form.top + form.page);
    match (form.top, below) {
        (0, 0) => String::new(),
        (above, 0) => format!("⋮ {above} above"),
        (0, below) => format!("⋮ {below} below"),
        (above, below) => format!("⋮ {above} above, {below} below"),
    }
}

/// Lays out all rows.
pub(super) fn rows(form: &Form, wide: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in &form.message {
        text(&mut rows, line.clone(), wide, 0);
    }
    for (number, entry) in form.entries.iter().enumerate() {
        text(&mut rows, Line::new(), wide, 0);
        field(&mut rows, entry, number, form.stop(), wide);
    }
    if form.left_out > 0 {
        let more = count(form.left_out, "more field", "more fields");
        let words = format!("{more} cannot be shown: this form cannot be sent");
        text(&mut rows, vec![Span::role(words, Role::Red)], wide, 0);
    }
    text(&mut rows, Line::new(), wide, 0);
    for (stop, words) in [
        (Stop::Send, "send"),
        (Stop::Decline, "decline"),
        (Stop::Cancel, "cancel"),
    ] {
        let is_marked = form.stop() == stop;
        let line = vec![
            sign(is_marked),
            Span::role(format!("[ {words} ]"), Role::Normal),
        ];
        rows.push(Row {
            line,
            stop: Some(stop),
        });
    }
    rows
}

fn field(rows: &mut Vec<Row>, entry: &Entry, number: usize, marked: Stop, wide: u16) {
    let asked = &entry.asked;
    let mut title = vec![Span::new(asked.title.as_str(), Style::default().bold())];
    if asked.is_required {
        title.push(Span::role(" (needed)", Role::Accent));
    }
    text(rows, title, wide, 0);
    if !asked.description.is_empty() {
        let words = Span::role(asked.description.as_str(), Role::Accent);
        text(rows, vec![words], wide, 0);
    }
    let mut stop = |choice: usize, mut line: Line| {
        let stop = Stop::Field(number, choice);
        line.insert(0, sign(stop == marked));
        rows.push(Row {
            line,
            stop: Some(stop),
        });
    };
    match (&entry.filled, &asked.kind) {
        (Filled::Text(field), _) => {
            let shown = Span::clean(field.text(), Style::default());
            stop(0, vec![Span::role("▏ ", Role::Accent), shown]);
        }
        (Filled::Flag(flag), _) => {
            let words = if *flag { "[x] yes" } else { "[ ] no" };
            stop(0, vec![Span::role(words, Role::Normal)]);
        }
        (Filled::Chosen(chosen), Kind::One(choices) | Kind::Many { choices, .. }) => {
            let signs = match asked.kind {
                Kind::One(_) => ["( ) ", "(•) "],
                _ => ["[ ] ", "[x] "],
            };
            for (at, (choice, is_chosen)) in choices.iter().zip(chosen).enumerate() {
                let mut line = vec![Span::role(signs[usize::from(*is_chosen)], Role::Normal)];
                line.push(Span::role(choice.title.as_str(), Role::Normal));
                if !choice.description.is_empty() {
                    let words = format!(" · {}", choice.description);
                    line.push(Span::role(words, Role::Accent));
                }
                stop(at, line);
            }
        }
        _ => text(
            rows,
            vec![Span::role("cannot be filled in here", Role::Accent)],
            wide,
            2,
        ),
    }
    if let Some(wrong) = entry.checked().err().filter(|_| entry.is_left) {
        let wrong = Span::clean(&format!("✗ {wrong}"), Style::of(Role::Red));
        text(rows, vec![wrong], wide, 2);
    }
}

fn sign(is_marked: bool) -> Span {
    let sign = if is_marked { "❯ " } else { "  " };
    Span::new(sign, Style::of(Role::Colorful).bold())
}

/// Adds wrapped text.
fn text(rows: &mut Vec<Row>, line: Line, wide: u16, indent: usize) {
    let blank = [Span::role(" ".repeat(indent), Role::Normal)];
    let page = Some(usize::from(wide).max(indent + 2));
    let mut lines = layout(&[Block::Paragraph(line)], page, &blank, &blank);
    if lines.is_empty() {
        lines.push(Line::new());
    }
    rows.extend(lines.into_iter().map(|line| Row { line, stop: None }));
}
