//! Markdown in pieces comes out as in one go.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "stream/generated.rs"]
mod generated;

use proptest::prelude::*;
use unspool::doc::stream::Stream;
use unspool::doc::{Line, Role, Span, markdown};
use unspool::layout::{Printer, columns, layout};

/// The widths at which everything is compared.
const WIDTHS: [usize; 3] = [0, 40, 80];

fn prefixes() -> [[Span; 1]; 2] {
    ["• ", "  "].map(|text| [Span::role(text, Role::Accent)])
}

fn whole(text: &str, width: usize) -> Vec<Line> {
    let [first, rest] = prefixes();
    layout(&markdown::blocks(text), columns(width), &first, &rest)
}

/// Shows pieces as a view does: what is finished is written once, what is open
/// is looked at every so many pieces. Gives what was written and what was open
/// before the end.
fn streamed<'a>(
    pieces: impl Iterator<Item = &'a str>,
    width: usize,
    look: usize,
) -> (Vec<Line>, Vec<usize>) {
    let [first, rest] = prefixes();
    let mut stream = Stream::new();
    let mut printer = Printer::new(columns(width), &first, &rest);
    let mut lines = Vec::new();
    let mut written = Vec::new();
    for (index, piece) in pieces.enumerate() {
        stream.push(piece);
        if look > 0 && index % look == 0 {
            let parts: Vec<_> = stream.open(4096).to_vec();
            lines.extend(printer.print(&stream.take_finished().collect::<Vec<_>>()));
            printer.preview(&parts);
        } else {
            lines.extend(printer.print(&stream.take_finished().collect::<Vec<_>>()));
        }
        written.push(lines.len());
    }
    stream.finish();
    lines.extend(printer.print(&stream.take_finished().collect::<Vec<_>>()));
    (lines, written)
}

fn shown(lines: &[Line]) -> Vec<String> {
    lines
        .iter()
        .map(|line| line.iter().map(|span| span.text.as_str()).collect())
        .collect()
}

/// Pieces of so many characters each, again and again.
fn pieces<'a>(text: &'a str, sizes: &'a [usize]) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = *sizes.next()?;
        let end = rest
            .char_indices()
            .nth(size.max(1))
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn check(text: &str, sizes: &[usize], look: usize) {
    for width in WIDTHS {
        let expected = whole(text, width);
        let (lines, _) = streamed(pieces(text, sizes), width, look);
        if lines != expected {
            assert_eq!(shown(&lines), shown(&expected), "{text:?} {sizes:?} {look}");
            assert_eq!(lines, expected, "{text:?} {sizes:?} {look}");
        }
    }
}

fn check_all(text: &str) {
    for look in [0, 1] {
        for sizes in [&[1][..], &[8], &[3, 1, 17], &[usize::MAX]] {
            check(text, sizes, look);
        }
        for width in WIDTHS {
            let (lines, _) = streamed(text.split_inclusive('\n'), width, look);
            assert_eq!(lines, whole(text, width), "{text:?} by lines {look}");
        }
    }
}

fn config() -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: wanted.and_then(|cases| cases.parse().ok()).unwrap_or(1000),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pieces_come_out_as_in_one_go(
        text in generated::document(),
        sizes in prop::collection::vec(1usize..40, 1..6),
        look in 0usize..4,
    ) {
        check(&text, &sizes, look);
    }

    #[test]
    fn single_characters_come_out_as_in_one_go(text in generated::document()) {
        check(&text, &[1], 1);
    }

    #[test]
    fn any_text_comes_out_as_in_one_go(
        text in generated::soup(),
        sizes in prop::collection::vec(1usize..20, 1..4),
        look in 0usize..2,
    ) {
        check(&text, &sizes, look);
    }
}
