//! Renders frames as text, for tests.

use std::fmt::Write as _;

use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};
use unspool::theme::{Rgb, Theme};

/// Returns the theme of a light terminal.
pub(crate) fn light() -> Theme {
    Theme::new(Rgb::BLACK, Rgb::WHITE)
}

/// Paints a frame and returns its cells.
pub(crate) fn cells(size: (u16, u16), paint: impl FnOnce(&mut Frame<'_>)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(paint).unwrap().buffer.clone()
}

/// Paints a frame and returns its text between vertical bars, followed by the
/// cursor position.
pub(crate) fn picture(size: (u16, u16), paint: impl FnOnce(&mut Frame<'_>)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let buffer = terminal.draw(paint).unwrap().buffer.clone();
    let mut out = String::new();
    for row in buffer.area.rows() {
        out.push('|');
        out.push_str(&text(&buffer, row));
        out.push_str("|\n");
    }
    let cursor = terminal.backend().cursor_position();
    let is_shown = terminal.backend().cursor_visible();
    if is_shown {
        writeln!(out, "cursor {} {}", cursor.x, cursor.y).unwrap();
    }
    out
}

/// Returns the text of a row.
pub(crate) fn text(buffer: &Buffer, row: Rect) -> String {
    let mut line = String::new();
    let mut x = row.x;
    while x < row.right() {
        let symbol = buffer[(x, row.y)].symbol();
        line.push_str(symbol);
        x += u16::try_from(unspool::layout::width(symbol))
            .unwrap()
            .max(1);
    }
    line
}

/// Asserts that no cell holds a control or invisible character.
pub(crate) fn assert_clean(buffer: &Buffer) {
    for cell in &buffer.content {
        assert!(
            !cell.symbol().contains(char::is_control),
            "{:?}",
            cell.symbol()
        );
        assert!(!cell.symbol().contains(['\u{202e}', '\u{2066}', '\u{200b}']));
    }
}
