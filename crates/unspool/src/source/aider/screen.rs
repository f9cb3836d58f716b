//! What a terminal would show: the lines of a recording that was made on one.
//!
//! On a terminal the agents draw spinners, redraw their prompts and, with
//! colours on, repaint the last lines of an answer again and again. Only what
//! stays is text. [`Screen`] follows carriage returns, backspaces, cursor
//! moves and erasing, and hands a row out once nothing can reach it any more;
//! colours are dropped. Rows are as wide as they are written: it never wraps.

use std::collections::VecDeque;

use vte::{Params, Parser, Perform};

use super::wrap::char_cells;

/// Rows with text that a redraw may still reach: the agents repaint at most
/// six, and their prompts redraw over empty rows only.
const REACH: usize = 12;
/// Rows held at most, the empty ones included.
const HELD: usize = 128;
/// A row is never wider, whatever column is asked for.
const WIDTH: usize = 1 << 16;

/// The visible rows that may still change.
#[derive(Clone, Default)]
pub(super) struct Screen {
    rows: VecDeque<Row>,
    row: usize,
    column: usize,
    /// Something was redrawn: before that, a finished line stays as it is.
    redraws: bool,
    ready: VecDeque<String>,
}

/// One cell holds a character with what combines with it; a cell that a wide
/// character covers is empty.
type Row = Vec<String>;

impl Screen {
    /// Takes a line as it came, with its end or without.
    pub(super) fn line(&mut self, text: &str, ended: bool) {
        self.touch();
        // Escape sequences never span lines, so each line has its own parser.
        Parser::<1024>::default().advance(self, text.as_bytes());
        if ended {
            self.column = 0;
            self.down(1);
            self.settle();
        }
    }

    /// The next row that is final.
    pub(super) fn pop(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    /// Nothing follows: every row is final.
    pub(super) fn finish(&mut self) {
        let blank = |row: &Row| text_of(row).is_empty();
        while self.rows.back().is_some_and(blank) {
            self.rows.pop_back();
        }
        self.release(0);
    }

    fn settle(&mut self) {
        if !self.redraws {
            let open = self.rows.len().saturating_sub(self.row);
            self.release(open);
            return;
        }
        loop {
            let text = self.rows.iter().skip(1);
            let below = text.filter(|row| !text_of(row).is_empty()).count();
            if below < REACH && self.rows.len() <= HELD {
                return;
            }
            let keep = self.rows.len().saturating_sub(1);
            self.release(keep);
        }
    }

    fn release(&mut self, keep: usize) {
        while self.rows.len() > keep {
            if let Some(row) = self.rows.pop_front() {
                self.ready.push_back(text_of(&row));
                self.row = self.row.saturating_sub(1);
            }
        }
    }

    fn touch(&mut self) {
        while self.rows.len() <= self.row {
            self.rows.push_back(Row::new());
        }
    }

    fn down(&mut self, count: usize) {
        self.row = self.row.saturating_add(count.min(HELD));
        self.touch();
    }

    fn write(&mut self, c: char) {
        self.touch();
        let Some(row) = self.rows.get_mut(self.row) else {
            return;
        };
        let cells = char_cells(c);
        if cells == 0 {
            let before = row.iter_mut().take(self.column).rev();
            if let Some(cell) = before.into_iter().find(|cell| !cell.is_empty()) {
                cell.push(c);
            }
            return;
        }
        if self.column >= WIDTH {
            return;
        }
        let end = self.column + cells;
        if row.len() < end {
            row.resize(end, " ".to_owned());
        }
        if row.get(self.column).is_some_and(String::is_empty)
            && let Some(covered) = self.column.checked_sub(1).and_then(|c| row.get_mut(c))
        {
            // Half of a wide character is no character.
            " ".clone_into(covered);
        }
        for (index, cell) in row.iter_mut().skip(self.column).take(cells).enumerate() {
            cell.clear();
            if index == 0 {
                cell.push(c);
            }
        }
        self.column = end;
    }

    fn erase_line(&mut self, mode: u16) {
        let column = self.column;
        if let Some(row) = self.rows.get_mut(self.row) {
            match mode {
                0 => row.truncate(column),
                1 => row
                    .iter_mut()
                    .take(column + 1)
                    .for_each(|cell| " ".clone_into(cell)),
                _ => row.clear(),
            }
        }
    }

    fn erase_display(&mut self, mode: u16) {
        if mode == 0 {
            self.erase_line(0);
            self.rows.truncate(self.row + 1);
        } else {
            // What is cleared away was said all the same.
            self.release(0);
            self.row = 0;
            self.touch();
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        self.write(c);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            b'\t' => {
                for _ in 0..8 - self.column % 8 {
                    self.write(' ');
                }
            }
            0x08 => {
                self.redraws = true;
                self.column = self.column.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first());
        let number = first.copied().unwrap_or(0);
        let count = usize::from(number.max(1));
        if action == 'm' {
            return;
        }
        self.redraws = true;
        if !intermediates.is_empty() {
            return;
        }
        match action {
            'A' | 'F' => self.row = self.row.saturating_sub(count),
            'B' | 'E' => self.down(count),
            'C' => self.column = (self.column + count).min(WIDTH),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = (count - 1).min(WIDTH),
            'K' => self.erase_line(number),
            'J' => self.erase_display(number),
            _ => {}
        }
    }
}

fn text_of(row: &Row) -> String {
    let mut text = row.concat();
    text.truncate(text.trim_end().len());
    text
}

/// A line without its escape sequences; a borrowed one has none.
pub(super) fn plain(line: &str) -> std::borrow::Cow<'_, str> {
    struct Printed(String);
    impl Perform for Printed {
        fn print(&mut self, c: char) {
            self.0.push(c);
        }
        fn execute(&mut self, byte: u8) {
            if byte == b'\t' {
                self.0.push('\t');
            }
        }
    }
    if memchr::memchr(0x1b, line.as_bytes()).is_none() {
        return line.into();
    }
    let mut printed = Printed(String::with_capacity(line.len()));
    Parser::<1024>::default().advance(&mut printed, line.as_bytes());
    printed.0.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: &str) -> Vec<String> {
        let mut screen = Screen::default();
        for line in input.split_inclusive("\r\n") {
            let text = line.strip_suffix("\r\n");
            screen.line(text.unwrap_or(line), text.is_some());
        }
        screen.finish();
        std::iter::from_fn(|| screen.pop()).collect()
    }

    #[test]
    fn a_spinner_leaves_nothing_behind() {
        let input = "\x1b[?25l\x1b[32m⣾\x1b[0m Wait\r\x1b[2K\x1b[32m⣽\x1b[0m Wait\r\n\x1b[?25h\r\x1b[1A\x1b[2KDone.\r\n";
        assert_eq!(shown(input), ["Done."]);
        assert_eq!(shown("░█\x08\x08  \x08\x08Hi\r\n"), ["Hi"]);
    }

    #[test]
    fn a_redrawn_prompt_is_one_line() {
        let input = "\x1b[?25lask> \r\r\n\r\r\n\r\r\n\x1b[3A\x1b[5C\x1b[5D\x1b[Jask> hello      \r\x1b[15C \r\r\r\n\x1b[JHi\r\n";
        assert_eq!(shown(input), ["ask> hello", "Hi"]);
    }

    #[test]
    fn lines_before_the_first_redraw_come_at_once() {
        let mut screen = Screen::default();
        screen.line("\x1b[1mone\x1b[0m", true);
        assert_eq!(screen.pop().as_deref(), Some("one"));
        screen.line("\x1b[2Ktwo", true);
        assert_eq!(screen.pop(), None);
    }

    #[test]
    fn wide_and_combining_characters_keep_their_places() {
        let shown = shown("漢字e\u{301}x\x08\x08\x08Y\r\n");
        assert_eq!(shown, ["漢 Ye\u{301}x"]);
    }

    #[test]
    fn escape_sequences_are_no_text() {
        assert_eq!(plain("\x1b[34mTool Call:\x1b[0m x"), "Tool Call: x");
    }
}
