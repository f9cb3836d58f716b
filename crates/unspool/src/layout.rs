//! Blocks → lines at an exact width.
//!
//! [`layout`] is the interface for whole documents, [`Printer`] for those that are
//! still being written. The caller gives the prefix of the first
//! line and of all others (`• ` and two spaces, `  └ ` and four), and gets lines
//! of which none is wider than the page, prefixes included, as long as the
//! prefixes leave two cells. Without a width, each paragraph is one line.
//!
//! A block, an item of a list and a line of code look the same whatever follows
//! them (a table does not), so that a stream can lay out what is finished.
//! Nested blocks are indented as long as a readable width is left, then no
//! further.
//!
//! [`layout_into`] hands the same lines to a [`Sink`] in borrowed pieces, so
//! that text can be written without making spans of it first.
//!
//! Called by the back ends that write lines; HTML and Markdown take the blocks.
//!
//! ```
//! use unspool::doc::{markdown, Role, Span};
//! use unspool::layout::layout;
//!
//! let blocks = markdown::blocks("A paragraph that is longer than the page is wide.");
//! let (first, rest) = ([Span::role("• ", Role::Accent)], [Span::role("  ", Role::Normal)]);
//! let lines = layout(&blocks, Some(24), &first, &rest);
//! assert_eq!(lines.len(), 3);
//! ```

mod diff;
mod link;
mod marks;
mod pen;
mod printer;
#[cfg(test)]
mod properties;
mod sink;
pub mod split;
mod table;
pub mod width;
mod wrap;

pub use link::is_clickable;
pub use printer::Printer;
pub use sink::{Lines, Piece, Sink};
pub use width::width;

use crate::doc::{Block, Line, Role, Span, Style};
use wrap::{Break, Room};

/// How wide lines may be, in cells; `None` leaves paragraphs on one line.
pub type Width = Option<usize>;

/// Pages up to this many columns are not wrapped: see [`columns`].
pub const MIN_COLUMNS: usize = 30;

/// The width for a terminal of so many columns: unwrapped up to
/// [`MIN_COLUMNS`].
pub fn columns(columns: usize) -> Width {
    (columns > MIN_COLUMNS).then_some(columns)
}

/// What lines are laid out for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// How wide lines may be.
    pub width: Width,
    /// How links appear.
    pub links: Links,
    /// What is struck through stands between `~~`, for back ends without
    /// styles.
    pub marks: bool,
}

impl From<Width> for Page {
    fn from(width: Width) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }
}

/// How links appear in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// As `text (address)`.
    #[default]
    Address,
    /// As their text, where the back end can make that clickable.
    Text,
}

/// Lays blocks out, one empty line between two of them. `first` is put before
/// the first line, `rest` before all others.
pub fn layout(blocks: &[Block], page: impl Into<Page>, first: &[Span], rest: &[Span]) -> Vec<Line> {
    let mut lines = Lines::default();
    layout_into(blocks, page, first, rest, &mut lines);
    lines.finish()
}

/// The same, line by line into a sink.
pub fn layout_into(
    blocks: &[Block],
    page: impl Into<Page>,
    first: &[Span],
    rest: &[Span],
    sink: &mut dyn Sink,
) {
    pen::Pen::new(page.into(), sink).write(blocks, first, rest);
}

/// The beginning of a line that is wider than so many cells, and `…`.
pub fn truncated(line: &[Span], cells: usize) -> Line {
    if width::of_line(line) <= cells {
        return line.to_vec();
    }
    let Some(room) = cells.checked_sub(1) else {
        return Line::new();
    };
    let rows = folded(line, room);
    let mut head = rows.into_iter().next().unwrap_or_default();
    if width::of_line(&head) > room {
        head.clear();
    }
    head.push(Span::role("…", Role::Accent));
    head
}

/// The rows that a line takes on a terminal of so many columns.
pub fn folded(line: &[Span], columns: usize) -> Vec<Line> {
    wrap::broken(line, Room::even(Some(columns.max(1))), Break::Anywhere)
}

fn bold(line: &[Span]) -> Line {
    let mut line = line.to_vec();
    for span in &mut line {
        span.style.bold = true;
    }
    line
}

fn blanks(cells: usize) -> Span {
    Span::new(" ".repeat(cells), Style::default())
}

/// Drops the blanks at the end of a line.
fn trim(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        line.pop();
    }
}
