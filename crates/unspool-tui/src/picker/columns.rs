//! Columns of a long list. Widths are measured once; a row is laid out when it is
//! painted.

use unicode_segmentation::UnicodeSegmentation as _;
use unspool::doc::{Line, Role, Span, Style, append};
use unspool::layout::{width, width::cluster};

/// Space between two columns.
const GAP: usize = 2;
/// Minimum width of the last column before other columns are dropped.
const LEAST: usize = 24;

/// A column. The last one gets the remaining space.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    dispensable: u8,
    most: usize,
    is_matched: bool,
    keeps_end: bool,
}

impl Column {
    /// Creates a column that is searched and never dropped.
    pub const fn new(heading: &'static str) -> Self {
        Self {
            heading,
            dispensable: 0,
            most: usize::MAX,
            is_matched: true,
            keeps_end: false,
        }
    }

    /// Allows the column to be dropped; higher numbers go first.
    pub const fn dispensable(self, dispensable: u8) -> Self {
        Self {
            dispensable,
            ..self
        }
    }

    /// Excludes the column from the search.
    pub const fn unmatched(self) -> Self {
        Self {
            is_matched: false,
            ..self
        }
    }

    /// Limits the width; longer texts lose their start, which suits paths.
    pub const fn keeping_end(self, most: usize) -> Self {
        Self {
            most,
            keeps_end: true,
            ..self
        }
    }

    pub(super) fn is_matched(&self) -> bool {
        self.is_matched
    }
}

/// The columns with their measured widths.
pub(super) struct Columns {
    columns: Vec<Column>,
    widths: Vec<usize>,
}

impl Columns {
    pub(super) fn new<'a>(columns: &[Column], rows: impl Iterator<Item = &'a [Span]>) -> Self {
        let mut widths: Vec<usize> = columns.iter().map(|one| width(one.heading)).collect();
        for row in rows {
            for (wide, cell) in widths.iter_mut().zip(row) {
                *wide = (*wide).max(width(&cell.text));
            }
        }
        for (wide, column) in widths.iter_mut().zip(columns) {
            *wide = (*wide).min(column.most);
        }
        Self {
            columns: columns.to_vec(),
            widths,
        }
    }

    /// Returns the columns that fit, each with its width.
    fn shown(&self, room: usize) -> Vec<(usize, usize)> {
        let last = self.columns.len().saturating_sub(1);
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let wide = |at: usize| self.widths.get(at).copied().unwrap_or_default();
        let before = |shown: &[usize]| {
            let others = shown.iter().filter(|at| **at != last);
            others.map(|at| wide(*at) + GAP).sum::<usize>()
        };
        let rank = |at: usize| self.columns.get(at).map_or(0, |column| column.dispensable);
        while before(&shown) + LEAST.min(wide(last)) > room {
            let Some(next) = shown.iter().copied().max_by_key(|at| rank(*at)) else {
                break;
            };
            if rank(next) == 0 {
                break;
            }
            shown.retain(|at| *at != next);
        }
        let rest = room.saturating_sub(before(&shown));
        let cells = |at: usize| if at == last { rest } else { wide(at) };
        shown.into_iter().map(|at| (at, cells(at))).collect()
    }

    /// Lays out the headings.
    pub(super) fn heading(&self, room: usize) -> Line {
        let style = Style::of(Role::Accent);
        let cells: Vec<Span> = self
            .columns
            .iter()
            .map(|column| Span::new(column.heading, style))
            .collect();
        self.line(&cells, &[], room)
    }

    /// Lays out a row and highlights the matching clusters, given per searched
    /// column.
    pub(super) fn line(&self, cells: &[Span], marks: &[Vec<u32>], room: usize) -> Line {
        let mut line = Line::new();
        for (place, (at, wide)) in self.shown(room).into_iter().enumerate() {
            let Some((cell, column)) = cells.get(at).zip(self.columns.get(at)) else {
                continue;
            };
            if place > 0 {
                append(&mut line, blanks(GAP));
            }
            let matched = self.columns.iter().take(at).filter(|one| one.is_matched);
            let marked = column.is_matched.then(|| marks.get(matched.count()));
            let marked = marked.flatten().map_or(&[][..], Vec::as_slice);
            for span in fitted(cell, marked, wide, column.keeps_end) {
                append(&mut line, span);
            }
        }
        line
    }
}

/// Fits a cell into an exact width. A wider one is cut so that its matches stay
/// visible.
pub(crate) fn fitted(cell: &Span, marks: &[u32], room: usize, keeps_end: bool) -> Line {
    let mut line = Line::new();
    let clusters = clusters(&cell.text, marks);
    let cells = clusters.last().map_or(0, Cluster::end);
    let skipped = skipped(&clusters, room, keeps_end);
    let kept = clusters.iter().skip_while(|one| one.start < skipped);
    let begin = kept.clone().next().map_or(cells, |one| one.start);
    let mut left = room;
    let ellipsis = || Span::role("…", Role::Accent);
    if begin > 0 && left > 0 {
        append(&mut line, ellipsis());
        left -= 1;
    }
    let is_cut = cells - begin > left;
    let end = begin + left.saturating_sub(usize::from(is_cut));
    for one in kept.take_while(|one| one.end() <= end) {
        let style = if one.is_marked { mark() } else { cell.style };
        append(&mut line, Span::new(one.text, style));
        left -= one.wide;
    }
    if is_cut && left > 0 {
        append(&mut line, ellipsis());
        left -= 1;
    }
    append(&mut line, blanks(left));
    line
}

/// A grapheme cluster of a cell.
struct Cluster<'a> {
    text: &'a str,
    /// Width of the text before it.
    start: usize,
    wide: usize,
    is_marked: bool,
}

impl Cluster<'_> {
    fn end(&self) -> usize {
        self.start + self.wide
    }
}

fn clusters<'a>(text: &'a str, marks: &[u32]) -> Vec<Cluster<'a>> {
    let mut start = 0;
    let cluster = |(number, text): (usize, &'a str)| {
        let wide = cluster(text);
        let one = Cluster {
            text,
            start,
            wide,
            is_marked: u32::try_from(number).is_ok_and(|number| marks.contains(&number)),
        };
        start += wide;
        one
    };
    text.graphemes(true).enumerate().map(cluster).collect()
}

/// Returns the width hidden at the start.
fn skipped(clusters: &[Cluster<'_>], room: usize, keeps_end: bool) -> usize {
    let cells = clusters.last().map_or(0, Cluster::end);
    if cells <= room {
        return 0;
    }
    let mut marked = clusters.iter().filter(|one| one.is_marked);
    let (first, last) = (marked.clone().next(), marked.next_back());
    let first = first.map_or(usize::MAX, |one| one.start);
    let last = last.map_or(0, Cluster::end);
    if keeps_end {
        let usual = cells - room.saturating_sub(1);
        // Show the matches if they are all in the part that would be cut.
        return if last > usual {
            usual
        } else {
            usual.min(first)
        };
    }
    if last < room {
        return 0;
    }
    // One cell on each side is for the ellipsis.
    last.saturating_sub(room.saturating_sub(2)).min(first)
}

/// Returns the style of matches, visible even without colours.
fn mark() -> Style {
    Style::of(Role::Colorful).bold().underline()
}

fn blanks(cells: usize) -> Span {
    Span::role(" ".repeat(cells), Role::Normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::new("STARTED").unmatched().dispensable(2),
        Column::new("PROJECT").dispensable(1).keeping_end(10),
        Column::new("TITLE"),
    ];

    fn columns() -> (Columns, Vec<Vec<Span>>) {
        let row = |texts: [&str; 3]| texts.map(|text| Span::role(text, Role::Normal)).to_vec();
        let rows = vec![
            row(["2 h ago", "~/very/long/way/shop", "Fix the test"]),
            row(["now", "~/日本語/日本語", "漢字漢字漢字漢字漢字漢字漢字"]),
        ];
        let columns = Columns::new(&COLUMNS, rows.iter().map(Vec::as_slice));
        (columns, rows)
    }

    fn text(line: &Line) -> String {
        line.iter().map(|span| span.text.as_str()).collect()
    }

    #[test]
    fn rows_fill_the_width_exactly() {
        let (columns, rows) = columns();
        assert_eq!(
            text(&columns.heading(45)).trim_end(),
            "STARTED  PROJECT     TITLE"
        );
        assert_eq!(
            text(&columns.line(&rows[0], &[], 45)).trim_end(),
            "2 h ago  …/way/shop  Fix the test"
        );
        assert_eq!(
            text(&columns.line(&rows[1], &[], 45)).trim_end(),
            "now      …語/日本語  漢字漢字漢字漢字漢字漢…"
        );
        for room in 0..80 {
            for row in &rows {
                let line = columns.line(row, &[], room);
                assert_eq!(width(&text(&line)), room, "{line:?}");
            }
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_dropped() {
        let (columns, rows) = columns();
        let shown = |room| text(&columns.line(&rows[0], &[], room));
        assert_eq!(shown(40).trim_end(), "…/way/shop  Fix the test");
        assert_eq!(shown(30).trim_end(), "Fix the test");
        assert_eq!(shown(6), "Fix t…");
    }

    #[test]
    fn marks_are_those_of_the_column() {
        let (columns, rows) = columns();
        let line = columns.line(&rows[0], &[vec![0, 19], vec![4, 5]], 60);
        let marked: Vec<&str> = line
            .iter()
            .filter(|span| span.style == mark())
            .map(|span| span.text.as_str())
            .collect();
        assert_eq!(marked, ["p", "th"], "the first one is cut away");
    }

    #[test]
    fn matches_stay_visible() {
        let title = Span::role("Make it ignore punctuation and add a test", Role::Normal);
        let path = Span::role("~/very/long/way/shop", Role::Normal);
        let shown = |cell, marks: &[u32], keeps_end| text(&fitted(cell, marks, 12, keeps_end));
        assert_eq!(shown(&title, &[], false), "Make it ign…");
        assert_eq!(shown(&title, &[37, 38, 39, 40], false), "…add a test ");
        assert_eq!(shown(&title, &[15, 16], false), "… ignore pu…");
        assert_eq!(shown(&path, &[], true), "…ng/way/shop");
        assert_eq!(shown(&path, &[2, 3], true), "…very/long/…");
    }
}
