//! Lays out tables: aligned columns, two blanks between them and a rule under
//! the header, so that they read and paste well as plain text.
//!
//! Columns shrink to fit, widest first, and their cells wrap; rows are then
//! separated by empty lines. If the columns would become too narrow, each row
//! becomes a list of `Header: cell`. The cost is proportional to the non-empty
//! cells and the output.

use crate::doc::{Alignment, Line, Role, Span, Style, Table, append};
use crate::layout::wrap::{Room, longest_line, longest_word, wrap};
use crate::layout::{Page, blanks, bold, marks, trim, width};

/// Blanks between two columns.
const GAP: usize = 2;

/// Minimum width of a column.
const NARROWEST: usize = 6;

/// Without a page width, cells wider than this are not aligned, so that one
/// long cell does not pad a thousand rows.
const WIDEST: usize = 60;

pub(super) fn lines(table: &Table, room: Option<usize>, page: Page) -> Vec<Line> {
    let grid = Grid::new(table, page);
    match grid.widths(room) {
        Some(widths) => grid.aligned(&widths, room.is_some()),
        None => grid.records(room),
    }
}

struct Grid<'a> {
    alignments: &'a [Alignment],
    header: Vec<Line>,
    rows: Vec<Vec<Line>>,
    columns: usize,
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, page: Page) -> Self {
        // Ignore columns of blanks, which would only add width.
        let is_blank = |cell: &[Span]| cell.iter().all(|span| span.text.trim().is_empty());
        let written = |cell: &Line| {
            let cell = marks::written_out(cell, page);
            if is_blank(&cell) {
                Line::new()
            } else {
                cell.into_owned()
            }
        };
        let cells = |row: &[Line]| -> Vec<Line> { row.iter().map(written).collect() };
        let rows: Vec<Vec<Line>> = table.rows.iter().map(|row| cells(row)).collect();
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        Self {
            alignments: &table.alignments,
            header: cells(&table.header).iter().map(|cell| bold(cell)).collect(),
            columns: longest.max(table.header.len()),
            rows,
        }
    }

    fn all_rows(&self) -> impl Iterator<Item = &Vec<Line>> {
        std::iter::once(&self.header).chain(&self.rows)
    }

    /// Returns the maximum of `measure` over the cells of each column.
    fn measured(&self, measure: impl Fn(&[Span]) -> usize) -> Vec<usize> {
        let mut widths = vec![0; self.columns];
        for row in self.all_rows() {
            for (cell, width) in row.iter().zip(&mut widths) {
                *width = measure(cell).max(*width);
            }
        }
        widths
    }

    /// Returns the column widths, or `None` if they cannot fit.
    fn widths(&self, room: Option<usize>) -> Option<Vec<usize>> {
        let natural = self.measured(longest_line);
        let Some(room) = room else {
            return Some(natural.iter().map(|cells| *cells.min(&WIDEST)).collect());
        };
        let gaps = GAP * self.columns.saturating_sub(1);
        let budget = room.checked_sub(gaps)?;
        if natural.iter().sum::<usize>() <= budget {
            return Some(natural);
        }
        shrink(&natural, &self.measured(longest_word), budget)
    }

    fn aligned(&self, widths: &[usize], wraps: bool) -> Vec<Line> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| self.row(row, widths, wraps))
            .collect();
        let spaced = rows.iter().any(|row| row.len() > 1);
        let mut lines = Vec::new();
        if self.header.iter().any(|cell| longest_line(cell) > 0) {
            lines = self.row(&self.header, widths, wraps);
            lines.push(rule(widths));
        }
        for (index, row) in rows.into_iter().enumerate() {
            if spaced && index > 0 {
                lines.push(Line::new());
            }
            lines.extend(row);
        }
        lines
    }

    /// Returns the lines of one row.
    fn row(&self, row: &[Line], widths: &[usize], wraps: bool) -> Vec<Line> {
        let filled = row.iter().rposition(|cell| !cell.is_empty());
        let cells: Vec<Vec<Line>> = row
            .iter()
            .take(filled.map_or(0, |last| last + 1))
            .zip(widths)
            .map(|(cell, width)| wrap(cell, Room::even(wraps.then_some((*width).max(1)))))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        (0..height)
            .map(|index| self.row_line(&cells, index, widths))
            .collect()
    }

    fn row_line(&self, cells: &[Vec<Line>], index: usize, widths: &[usize]) -> Line {
        let mut line = Line::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if column > 0 {
                append(&mut line, blanks(GAP));
            }
            let piece = cell.get(index).map_or(&[][..], Vec::as_slice);
            let free = width.saturating_sub(width::of_line(piece));
            let before = match self.alignments.get(column) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            append(&mut line, blanks(before));
            for span in piece {
                append(&mut line, span.clone());
            }
            append(&mut line, blanks(free - before));
        }
        trim(&mut line);
        line
    }

    /// Renders each row as lines of `Header: cell`, with an empty line between
    /// rows.
    fn records(&self, room: Option<usize>) -> Vec<Line> {
        if self.rows.is_empty() {
            return self
                .header
                .iter()
                .flat_map(|cell| wrap(cell, Room::even(room)))
                .collect();
        }
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                lines.push(Line::new());
            }
            for (column, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                lines.extend(self.record(column, cell, room));
            }
        }
        lines
    }

    fn record(&self, column: usize, cell: &[Span], room: Option<usize>) -> Vec<Line> {
        let mut line = match self.header.get(column) {
            Some(head) if !head.is_empty() => {
                let mut line = head.clone();
                append(&mut line, Span::new(": ", Style::default().bold()));
                line
            }
            _ => Line::new(),
        };
        line.extend_from_slice(cell);
        let hanging = Room {
            first: room,
            rest: room.map(|room| room.saturating_sub(GAP).max(1)),
        };
        let mut lines = wrap(&line, hanging);
        if room.is_some_and(|room| room > GAP) {
            for line in lines.iter_mut().skip(1) {
                line.insert(0, blanks(GAP));
            }
        }
        lines
    }
}

fn rule(widths: &[usize]) -> Line {
    let parts: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    vec![Span::role(parts.join(&" ".repeat(GAP)), Role::Accent)]
}

/// Fits columns into a budget: the widest shrink first, down to their longest
/// word; then words are cut too. Returns `None` if columns would be narrower
/// than [`NARROWEST`].
fn shrink(natural: &[usize], words: &[usize], budget: usize) -> Option<Vec<usize>> {
    let least = |widths: &[usize]| -> Vec<usize> {
        widths.iter().map(|width| *width.min(&NARROWEST)).collect()
    };
    if least(natural).iter().sum::<usize>() > budget {
        return None;
    }
    if words.iter().sum::<usize>() <= budget {
        return Some(level(words, natural, budget));
    }
    Some(level(&least(words), words, budget))
}

/// Returns the most even widths between two bounds whose sum is within the
/// budget.
fn level(lower: &[usize], upper: &[usize], budget: usize) -> Vec<usize> {
    let at = |cap: usize| -> Vec<usize> {
        let bounds = lower.iter().zip(upper);
        bounds
            .map(|(low, high)| cap.clamp(*low.min(high), *high))
            .collect()
    };
    let (mut fits, mut too_wide) = (0, budget + 1);
    while fits + 1 < too_wide {
        let middle = usize::midpoint(fits, too_wide);
        if at(middle).iter().sum::<usize>() <= budget {
            fits = middle;
        } else {
            too_wide = middle;
        }
    }
    let mut widths = at(fits);
    let mut left = budget.saturating_sub(widths.iter().sum());
    for (width, high) in widths.iter_mut().zip(upper) {
        if left > 0 && *width < *high && *width == fits {
            *width += 1;
            left -= 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &[&str]) -> Vec<Line> {
        row.iter()
            .map(|cell| vec![Span::new(*cell, Style::default())])
            .collect()
    }

    fn table(rows: &[&[&str]], alignments: &[Alignment]) -> Table {
        Table {
            alignments: alignments.to_vec(),
            header: cells(rows[0]),
            rows: rows[1..].iter().map(|row| cells(row)).collect(),
        }
    }

    fn shown(table: &Table, room: Option<usize>) -> Vec<String> {
        lines(table, room, Page::default())
            .iter()
            .map(|line| line.iter().map(|span| span.text.as_str()).collect())
            .collect()
    }

    #[test]
    fn columns_are_aligned() {
        let table = table(
            &[
                &["Name", "Size", "Kind"],
                &["漢字", "7", "a"],
                &["x", "1234", "abc"],
            ],
            &[Alignment::Left, Alignment::Right, Alignment::Center],
        );
        let expected = [
            "Name  Size  Kind",
            "────  ────  ────",
            "漢字     7   a",
            "x     1234  abc",
        ];
        assert_eq!(shown(&table, Some(40)), expected);
        assert_eq!(shown(&table, None), expected);
    }

    #[test]
    fn wide_columns_shrink_and_wrap() {
        let table = table(
            &[
                &["Flag", "Meaning"],
                &["--all", "everything that there is to see"],
                &["--none", "nothing"],
            ],
            &[],
        );
        assert_eq!(
            shown(&table, Some(24)),
            [
                "Flag    Meaning",
                "──────  ────────────────",
                "--all   everything that",
                "        there is to see",
                "",
                "--none  nothing",
            ]
        );
    }

    #[test]
    fn too_many_columns_become_records() {
        let table = table(
            &[
                &["First", "Second", "Third"],
                &["one thing", "two things", "three things"],
            ],
            &[],
        );
        assert_eq!(
            shown(&table, Some(18)),
            [
                "First: one thing",
                "Second: two things",
                "Third: three",
                "  things"
            ]
        );
    }

    #[test]
    fn a_column_of_blanks_has_no_width() {
        let (b, c) = ("b".repeat(60), "c".repeat(60));
        let table = table(&[&[" ", &b, &c], &["\t", "x", "y"]], &[]);
        let lines = shown(&table, Some(21));
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert_eq!(widest, Some(21), "{lines:?}");
    }

    #[test]
    fn columns_share_the_width_evenly() {
        assert_eq!(level(&[1, 1, 1], &[3, 50, 50], 24), [3, 11, 10]);
        assert_eq!(shrink(&[40, 40], &[10, 30], 40), Some(vec![10, 30]));
        assert_eq!(shrink(&[40, 40], &[40, 40], 21), Some(vec![11, 10]));
        assert_eq!(shrink(&[40, 40], &[40, 40], 11), None);
    }
}
