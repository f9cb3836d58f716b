//! Renders a text in pieces, as a live view does, and compares with the whole.

use unspool::doc::stream::{Part, Stream};
use unspool::doc::{Line, Role, Span, markdown};
use unspool::layout::{Printer, columns, layout};

/// The widths compared.
const WIDTHS: [usize; 3] = [0, 40, 80];

/// Window size of the view, in bytes.
pub(crate) const WINDOW: usize = 4096;

/// A way to cut a text into pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut<'a> {
    /// Pieces of these sizes, in characters, repeatedly.
    Sizes(&'a [usize]),
    Lines,
    Whole,
}

impl Cut<'_> {
    pub(crate) fn pieces(self, text: &str) -> Vec<&str> {
        match self {
            Self::Sizes(sizes) => by_sizes(text, sizes),
            Self::Lines => text.split_inclusive('\n').collect(),
            Self::Whole => vec![text],
        }
    }
}

fn by_sizes<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        let end = rest.char_indices().nth(*size);
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

fn prefixes() -> [[Span; 1]; 2] {
    ["• ", "  "].map(|text| [Span::role(text, Role::Accent)])
}

/// Renders the text at once, at each width.
pub(crate) fn whole(text: &str) -> [Vec<Line>; 3] {
    let [first, rest] = prefixes();
    let blocks = markdown::blocks(text);
    WIDTHS.map(|width| layout(&blocks, columns(width), &first, &rest))
}

/// The lines that a view has printed, at each width.
pub(crate) struct View {
    pub(crate) stream: Stream,
    printers: [Printer; 3],
    written: [Vec<Line>; 3],
}

impl View {
    pub(crate) fn new() -> Self {
        let [first, rest] = prefixes();
        Self {
            stream: Stream::new(),
            printers: WIDTHS.map(|width| Printer::new(columns(width), &first, &rest)),
            written: [const { Vec::new() }; 3],
        }
    }

    /// Prints finished lines.
    pub(crate) fn write(&mut self) {
        let parts: Vec<Part> = self.stream.take_finished().collect();
        for (printer, lines) in self.printers.iter_mut().zip(&mut self.written) {
            lines.extend(printer.print(&parts));
        }
    }

    /// Refreshes the open lines; returns the bytes of text in them.
    pub(crate) fn paint(&mut self) -> usize {
        self.stream.refresh(WINDOW);
        self.write();
        let painted = self.printers.each_ref().map(|printer| {
            let lines = printer.preview(self.stream.open());
            lines.iter().flatten().map(|span| span.text.len()).sum()
        });
        painted.into_iter().max().unwrap_or(0)
    }

    pub(crate) fn finish(mut self) -> [Vec<Line>; 3] {
        self.stream.finish();
        self.write();
        assert!(self.stream.open().is_empty(), "nothing is open at the end");
        self.written
    }
}

/// Compares the pieces of each cut with the whole, refreshing every given
/// number of pieces.
pub(crate) fn check(text: &str, ways: &[(Cut<'_>, usize)]) {
    let expected = whole(text);
    for (cut, look) in ways {
        let mut view = View::new();
        for (index, piece) in cut.pieces(text).into_iter().enumerate() {
            view.stream.push(piece);
            if *look > 0 && index % look == 0 {
                view.paint();
            } else {
                view.write();
            }
        }
        compare(
            &view.finish(),
            &expected,
            &format!("{text:?} {cut:?} {look}"),
        );
    }
}

pub(crate) fn compare(lines: &[Vec<Line>; 3], expected: &[Vec<Line>; 3], case: &str) {
    for (lines, expected) in lines.iter().zip(expected) {
        if lines != expected {
            assert_eq!(shown(lines), shown(expected), "{case}");
            assert_eq!(lines, expected, "{case}");
        }
    }
}

fn shown(lines: &[Line]) -> Vec<String> {
    lines
        .iter()
        .map(|line| line.iter().map(|span| span.text.as_str()).collect())
        .collect()
}
