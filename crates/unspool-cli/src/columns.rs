//! Aligned columns that fit a width, for lists and tables.
//!
//! The least important columns are dropped first, then a name or the last column
//! is cut. In a narrow terminal a note lists the missing columns. All text is
//! escaped.

use std::borrow::Cow;

use unspool::doc::{Line, Role, Span, Style};
use unspool::layout::{truncated, width};

/// Space between two columns.
const GAP: usize = 2;
/// Width below which missing columns are mentioned.
const NARROW: usize = 60;

/// A column.
pub(crate) struct Column {
    pub(crate) heading: Cow<'static, str>,
    pub(crate) is_right: bool,
    /// Order in which columns are dropped, highest first; 0 is never dropped.
    pub(crate) dispensable: u8,
    /// Minimum useful width of the last column, or of a name that yields to
    /// figures; 0 for the full width.
    pub(crate) least: usize,
}

impl Column {
    pub(crate) fn left(heading: impl Into<Cow<'static, str>>, dispensable: u8) -> Self {
        Self {
            heading: heading.into(),
            is_right: false,
            dispensable,
            least: 0,
        }
    }

    pub(crate) fn right(heading: &'static str, dispensable: u8) -> Self {
        Self {
            is_right: true,
            ..Self::left(heading, dispensable)
        }
    }

    pub(crate) fn at_least(self, least: usize) -> Self {
        Self { least, ..self }
    }
}

/// Creates a cell with escaped text.
pub(crate) fn cell(text: &str, role: Role) -> Span {
    Span::clean(text, Style::of(role))
}

/// Draws a bar in eighths of a block or in ASCII. A value above zero is always
/// visible.
pub(crate) fn bar(part: u64, most: u64, cells: usize, has_blocks: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || most == 0 || cells == 0 {
        return String::new();
    }
    let steps = if has_blocks { 8 } else { 1 };
    let whole = cells as u128 * steps;
    let filled = (u128::from(part) * whole / u128::from(most)).clamp(1, whole);
    let filled = usize::try_from(filled).unwrap_or_default();
    if !has_blocks {
        return "#".repeat(filled);
    }
    let rest = EIGHTHS.get(filled % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(filled / 8))
}

/// Returns the width left at the end of the lines.
pub(crate) fn spare(columns: &[Column], rows: &[Vec<Span>], room: usize) -> usize {
    let widths = widths(columns, rows);
    let shown = chosen(columns, &widths, Some(room));
    let taken = shown.iter().filter_map(|at| widths.get(*at)).sum::<usize>();
    room.saturating_sub(taken + GAP * shown.len().saturating_sub(1))
}

fn widths(columns: &[Column], rows: &[Vec<Span>]) -> Vec<usize> {
    columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let widest = cells.map(|cell| width(&cell.text)).max();
            widest.unwrap_or_default().max(width(&column.heading))
        })
        .collect()
}

/// Lays out the rows with their headings. `None` means unlimited width.
pub(crate) fn lines(columns: &[Column], rows: &[Vec<Span>], room: Option<usize>) -> Vec<Line> {
    let mut widths = widths(columns, rows);
    let shown = chosen(columns, &widths, room);
    give_way(columns, &mut widths, &shown, room);
    let heading: Vec<Span> = columns
        .iter()
        .map(|column| cell(&column.heading, Role::Accent))
        .collect();
    std::iter::once(&heading)
        .chain(rows)
        .map(|row| line(columns, &widths, &shown, row, room))
        .collect()
}

/// Lays out the rows with the last column below the others, for a narrow
/// terminal.
pub(crate) fn folded(columns: &[Column], rows: &[Vec<Span>], room: usize) -> Vec<Line> {
    let Some((_, columns)) = columns.split_last() else {
        return Vec::new();
    };
    let heads: Vec<Vec<Span>> = rows
        .iter()
        .map(|row| row.iter().take(columns.len()).cloned().collect())
        .collect();
    let mut lines = lines(columns, &heads, Some(room)).into_iter();
    let mut all: Vec<Line> = lines.next().into_iter().collect();
    for (line, row) in lines.zip(rows) {
        all.push(line);
        let last = row.get(columns.len()).filter(|last| !last.text.is_empty());
        all.extend(last.map(|last| {
            let blanks = Span::role(" ".repeat(GAP), Role::Normal);
            truncated(&[blanks, last.clone()], room)
        }));
    }
    all
}

/// Returns the headings of non-empty columns that do not fit.
pub(crate) fn left_out<'a>(
    columns: &'a [Column],
    rows: &[Vec<Span>],
    room: Option<usize>,
) -> Vec<&'a str> {
    let shown = chosen(columns, &widths(columns, rows), room);
    let holds = |at: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(at));
        cells.any(|cell| !cell.text.is_empty())
    };
    let missing = columns.iter().enumerate();
    let missing = missing.filter(|(at, _)| !shown.contains(at) && holds(*at));
    let headings = missing.map(|(_, column)| column.heading.as_ref());
    headings.filter(|heading| !heading.is_empty()).collect()
}

/// Mentions missing columns in a narrow terminal.
pub(crate) fn note(missing: &[&str], room: Option<usize>) -> Vec<Line> {
    let Some(room) = room.filter(|room| *room < NARROW && !missing.is_empty()) else {
        return Vec::new();
    };
    let mut rows = vec!["no room for".to_owned()];
    for (at, heading) in missing.iter().enumerate() {
        let comma = if at + 1 < missing.len() { "," } else { "" };
        let word = format!("{heading}{comma}");
        match rows.last_mut() {
            Some(row) if width(row) + 1 + width(&word) <= room => {
                row.push(' ');
                row.push_str(&word);
            }
            _ => rows.push(word),
        }
    }
    let line = |row: &String| truncated(&[cell(row, Role::Accent)], room);
    rows.iter().map(line).collect()
}

/// Returns the columns that fit.
fn chosen(columns: &[Column], widths: &[usize], room: Option<usize>) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let Some(room) = room else {
        return shown;
    };
    let needed = |shown: &[usize]| {
        let end = shown.last().copied();
        let cells = shown.iter().map(|&at| {
            let wide = widths.get(at).copied().unwrap_or_default();
            let least = columns.get(at).map_or(0, |column| column.least);
            if Some(at) == end && least > 0 {
                wide.min(least)
            } else {
                wide
            }
        });
        cells.sum::<usize>() + GAP * shown.len().saturating_sub(1)
    };
    let rank = |at: usize| columns.get(at).map_or(0, |column| column.dispensable);
    while needed(&shown) > room {
        let Some(least) = shown.iter().copied().max_by_key(|at| rank(*at)) else {
            break;
        };
        if rank(least) == 0 {
            break;
        }
        shown.retain(|at| *at != least);
    }
    shown
}

/// Cuts a name so that the figures after it fit.
fn give_way(columns: &[Column], widths: &mut [usize], shown: &[usize], room: Option<usize>) {
    let Some((_, before)) = shown.split_last() else {
        return;
    };
    let taken = shown.iter().filter_map(|at| widths.get(*at)).sum::<usize>();
    let taken = taken + GAP * before.len();
    let excess = taken.saturating_sub(room.unwrap_or(usize::MAX));
    let least = |at: usize| columns.get(at).map_or(0, |column| column.least);
    let name = before.iter().copied().find(|at| least(*at) > 0);
    if let Some((at, wide)) = name.and_then(|at| Some((at, widths.get_mut(at)?))) {
        *wide = (*wide).min(wide.saturating_sub(excess).max(least(at)));
    }
}

fn line(
    columns: &[Column],
    widths: &[usize],
    shown: &[usize],
    row: &[Span],
    room: Option<usize>,
) -> Line {
    let mut line = Line::new();
    for (place, &at) in shown.iter().enumerate() {
        let is_last = place + 1 == shown.len();
        let mut span = row.get(at).cloned().unwrap_or_default();
        let wide = widths.get(at).copied().unwrap_or_default();
        if !is_last && width(&span.text) > wide {
            let cut = truncated(std::slice::from_ref(&span), wide);
            span.text = cut.into_iter().map(|span| span.text).collect();
        }
        let blanks = wide.saturating_sub(width(&span.text));
        let is_right = columns.get(at).is_some_and(|column| column.is_right);
        let (before, behind) = match (is_right, is_last) {
            (true, true) => (blanks, 0),
            (true, false) => (blanks, GAP),
            (false, true) => (0, 0),
            (false, false) => (0, blanks + GAP),
        };
        line.push(Span::role(" ".repeat(before), Role::Normal));
        line.push(span);
        line.push(Span::role(" ".repeat(behind), Role::Normal));
    }
    line.retain(|span| !span.text.is_empty());
    if let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    line.retain(|span| !span.text.is_empty());
    match room {
        Some(room) => truncated(&line, room),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(room: Option<usize>) -> Vec<String> {
        let columns = [
            Column::left("AGENT", 0),
            Column::right("TURNS", 2),
            Column::left("TITLE", 0).at_least(8),
        ];
        let row = |agent: &str, turns: &str, title: &str| {
            vec![
                cell(agent, Role::Normal),
                cell(turns, Role::Normal),
                cell(title, Role::Normal),
            ]
        };
        let rows = [
            row("claude", "3", "Mend\tthe\u{1b}[2J tests of everything"),
            row("日本", "12", ""),
        ];
        let text = |line: Line| line.into_iter().map(|span| span.text).collect();
        lines(&columns, &rows, room).into_iter().map(text).collect()
    }

    #[test]
    fn columns_are_aligned_and_clean() {
        assert_eq!(
            table(None),
            [
                "AGENT   TURNS  TITLE",
                "claude      3  Mend    the\\x1B[2J tests of everything",
                "日本       12",
            ]
        );
    }

    #[test]
    fn a_narrow_place_says_what_is_missing() {
        let columns = [
            Column::left("AGENT", 0),
            Column::left("ID", 1),
            Column::right("COST", 2),
            Column::left("TITLE", 0).at_least(8),
        ];
        let row = |texts: [&str; 4]| texts.map(|text| cell(text, Role::Normal)).to_vec();
        let rows = [
            row(["claude", "4f2a9c11", "", "Mend the tests of everything"]),
            row(["codex", "77aa", "", ""]),
        ];
        assert_eq!(left_out(&columns, &rows, Some(18)), ["ID"]);
        assert!(left_out(&columns, &rows, None).is_empty());
        let text = |line: Line| -> String { line.into_iter().map(|span| span.text).collect() };
        let lines = |lines: Vec<Line>| -> Vec<String> { lines.into_iter().map(text).collect() };
        assert_eq!(
            lines(folded(&columns, &rows, 18)),
            [
                "AGENT   ID",
                "claude  4f2a9c11",
                "  Mend the tests …",
                "codex   77aa",
            ]
        );
        assert_eq!(
            lines(note(&["TIME", "TURNS", "COST"], Some(24))),
            ["no room for TIME, TURNS,", "COST"]
        );
        assert!(note(&["TIME"], Some(80)).is_empty() && note(&[], Some(20)).is_empty());
    }

    #[test]
    fn a_name_gives_way_to_figures() {
        let columns = [
            Column::left("MODEL", 0).at_least(4),
            Column::right("INPUT", 0),
            Column::right("OUTPUT", 0),
        ];
        let row = ["a-model-of-some-length", "3.1M", "12.5K"];
        let rows = [row.map(|text| cell(text, Role::Normal)).to_vec()];
        let text = |line: Line| -> String { line.into_iter().map(|span| span.text).collect() };
        let table = |room: usize| -> Vec<String> {
            let lines = lines(&columns, &rows, Some(room));
            lines.into_iter().map(text).collect()
        };
        assert_eq!(
            table(25),
            ["MODEL       INPUT  OUTPUT", "a-model-o…   3.1M   12.5K"]
        );
        assert_eq!(table(10)[1], "a-m…   3.…");
    }

    #[test]
    fn bars_are_measured_by_the_longest() {
        assert_eq!(bar(8, 8, 4, true), "████");
        assert_eq!(bar(5, 8, 4, true), "██▌");
        assert_eq!(bar(1, 8000, 4, true), "▏");
        assert_eq!(bar(0, 8, 4, true), "");
        assert_eq!(bar(5, 8, 4, false), "##");
        assert_eq!(bar(u64::MAX, u64::MAX, 4, false), "####");
    }

    #[test]
    fn what_does_not_fit_is_cut_or_left_out() {
        assert_eq!(
            table(Some(24)),
            [
                "AGENT   TURNS  TITLE",
                "claude      3  Mend    …",
                "日本       12",
            ]
        );
        assert_eq!(
            table(Some(16)),
            ["AGENT   TITLE", "claude  Mend   …", "日本"]
        );
    }
}
