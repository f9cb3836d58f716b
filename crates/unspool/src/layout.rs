//! Lays out blocks as lines at an exact width.
//!
//! [`layout`] handles whole documents, [`Printer`] documents that are still
//! arriving. The caller passes the prefix of the first line and of all others
//! (`• ` and two spaces, `  └ ` and four). No line is wider than the page,
//! prefixes included, as long as the prefixes leave two cells. Without a width,
//! each paragraph is one line.
//!
//! The look of a block, a list item or a line of code does not depend on what
//! follows (a table's does), so a stream can lay out finished parts. Nested
//! blocks are indented as long as a readable width is left.
//!
//! [`layout_into`] passes the lines to a [`Sink`] as borrowed pieces, so text
//! can be written without building spans.
//!
//! Used by the back ends that write lines; HTML and Markdown render blocks
//! directly.
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
#[cfg(feature = "markdown")]
mod printer;
#[cfg(test)]
mod properties;
mod sink;
pub mod split;
mod table;
pub mod width;
mod wrap;

pub use link::is_clickable;
#[cfg(feature = "markdown")]
pub use printer::Printer;
pub use sink::{Lines, Piece, Sink};
pub use width::width;

use crate::doc::{Block, Line, Role, Span, Style};
use wrap::{Break, Room};

/// The maximum line width in cells; `None` keeps each paragraph on one line.
pub type Width = Option<usize>;

/// Output for terminals up to this many columns is not wrapped: see
/// [`columns`].
pub const MIN_COLUMNS: usize = 30;

/// Returns the width for a terminal of this size: unwrapped up to
/// [`MIN_COLUMNS`].
pub fn columns(columns: usize) -> Width {
    (columns > MIN_COLUMNS).then_some(columns)
}

/// Layout settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The maximum line width.
    pub width: Width,
    /// The rendering of links.
    pub links: Links,
    /// Writes struck-out text between `~~`, for back ends without styles.
    pub marks: bool,
    /// Writes the markers of lists in italics, like the text beside them.
    pub italic: bool,
}

impl From<Width> for Page {
    fn from(width: Width) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }
}

/// The rendering of links in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// `text (address)`.
    #[default]
    Address,
    /// The text only, for back ends that make it clickable.
    Text,
}

/// Lays out blocks with an empty line between them. `first` is the prefix of
/// the first line, `rest` of all others.
pub fn layout(blocks: &[Block], page: impl Into<Page>, first: &[Span], rest: &[Span]) -> Vec<Line> {
    let mut lines = Lines::default();
    layout_into(blocks, page, first, rest, &mut lines);
    lines.finish()
}

/// Lays out blocks like [`layout`], writing each line to a sink.
pub fn layout_into(
    blocks: &[Block],
    page: impl Into<Page>,
    first: &[Span],
    rest: &[Span],
    sink: &mut dyn Sink,
) {
    pen::Pen::new(page.into(), sink).write(blocks, first, rest);
}

/// Cuts a line to this many cells; a cut line ends in `…`.
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

/// Splits a line into the rows it takes on a terminal of this width.
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

/// Removes trailing blanks.
fn trim(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        line.pop();
    }
}
