//! Property tests for every document: no line is wider than the page, and only
//! whitespace is lost.

use proptest::prelude::*;

use super::{Links, Page, layout, width};
use crate::doc::{Alignment, Block, DiffLine, Line, ListItem, Role, Sign, Span, Style, Table};

/// Sanitised text fragments with unusual widths.
const PIECES: &[&str] = &[
    "a",
    "word",
    "longer",
    "/",
    "-",
    "--flag",
    " ",
    "  ",
    " ",
    " ",
    "\u{A0}",
    "　",
    "漢",
    "字。",
    "ｶﾞ",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{FE0F}",
    "\u{200D}",
    "🙂",
    "👩‍👩‍👧",
    "❤️",
    "🇩",
    "🇪",
    "1️⃣",
    "👍🏽",
    "שלום",
    "مرحبا",
    "क्",
    "ष",
    "ᄀ",
    "ᅡ",
    "ᆨ",
    "กำ",
    "…",
    "(",
    ")",
    "0123456789",
    "\u{FFFD}",
    "https://example.com/a/very/long/path?with=query&and=more",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|v| v.concat()),
        1 => "\\PC{0,60}".prop_map(|text| text.replace(char::is_control, "")),
        1 => (1usize..300).prop_map(|n| "x".repeat(n)),
        1 => (1usize..80).prop_map(|n| "क्".repeat(n)),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    (
        text(),
        any::<bool>(),
        prop::option::weighted(0.1, Just("https://漢.example/a")),
    )
        .prop_map(|(text, bold, link)| Span {
            text,
            style: Style {
                bold,
                ..Style::of(Role::Accent)
            },
            link: link.map(str::to_owned),
        })
}

fn line() -> impl Strategy<Value = Line> {
    prop::collection::vec(span(), 0..5)
}

fn table() -> impl Strategy<Value = Block> {
    let row = || prop::collection::vec(line(), 0..7);
    let alignment = prop::sample::select(&[Alignment::Left, Alignment::Center, Alignment::Right]);
    let alignments = prop::collection::vec(alignment, 0..7);
    (alignments, row(), prop::collection::vec(row(), 0..4)).prop_map(
        |(alignments, header, rows)| {
            Block::Table(Table {
                alignments,
                header,
                rows,
            })
        },
    )
}

fn diff() -> impl Strategy<Value = Block> {
    let sign = prop::sample::select(&[Sign::Context, Sign::Added, Sign::Removed]);
    let change = (any::<Option<u64>>(), sign, line());
    let change = change.prop_map(|(number, sign, spans)| DiffLine::Line {
        number: number.map(|n| n >> (n % 64)),
        old: None,
        sign,
        spans,
    });
    let change = prop_oneof![1 => Just(DiffLine::Gap), 1 => (1..10_000usize).prop_map(DiffLine::More), 5 => change];
    prop::collection::vec(change, 0..5).prop_map(Block::Diff)
}

fn leaf() -> impl Strategy<Value = Block> {
    prop_oneof![
        4 => line().prop_map(Block::Paragraph),
        1 => line().prop_map(|line| Block::Heading(1, line)),
        1 => prop::collection::vec(line(), 0..4).prop_map(Block::Verbatim),
        1 => prop::collection::vec(line(), 0..4).prop_map(Block::Output),
        1 => table(),
        1 => diff(),
        1 => Just(Block::Rule),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    leaf().prop_recursive(24, 48, 2, |inner| {
        let blocks = prop::collection::vec(inner, 0..3);
        let item = (any::<Option<bool>>(), any::<[bool; 2]>(), blocks.clone());
        let item = item.prop_map(|(done, [apart, loose], blocks)| ListItem {
            done,
            apart,
            loose,
            blocks,
        });
        let list = (any::<Option<u64>>(), prop::collection::vec(item, 0..3));
        prop_oneof![
            1 => blocks.prop_map(Block::Quote),
            3 => list.prop_map(|(start, items)| Block::List { start, items }),
        ]
    })
}

fn joined(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

fn ink(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_line_is_wider_than_the_page(
        blocks in prop::collection::vec(block(), 0..4),
        columns in 31usize..200,
        hidden in any::<bool>(),
    ) {
        let links = if hidden { Links::Text } else { Links::Address };
        let page = Page { width: Some(columns), links, marks: hidden, italic: false };
        let prefix = |text: &str| [Span::role(text, Role::Accent)];
        for line in layout(&blocks, page, &prefix("  └ "), &prefix("    ")) {
            let text = joined(&line);
            prop_assert!(width(&text) <= columns, "{} > {columns}: {text}", width(&text));
            prop_assert!(!text.contains('\n'));
        }
    }

    #[test]
    fn wrapping_loses_white_space_only(line in line(), columns in 31usize..200) {
        let line: Line = line.into_iter().map(|span| Span { link: None, ..span }).collect();
        for block in [Block::Paragraph(line.clone()), Block::Verbatim(vec![line.clone()])] {
            let lines = layout(&[block], Some(columns), &[], &[]);
            let shown: String = lines.iter().map(|line| joined(line)).collect();
            prop_assert_eq!(ink(&shown), ink(&joined(&line)));
        }
    }

    #[test]
    fn tables_lose_white_space_only(block in table(), columns in 31usize..200) {
        let Block::Table(table) = &block else { unreachable!() };
        let shown: String = layout(std::slice::from_ref(&block), Some(columns), &[], &[])
            .iter()
            .map(|line| joined(line))
            .collect();
        let mut counts = std::collections::BTreeMap::new();
        for character in ink(&shown).chars() {
            *counts.entry(character).or_insert(0) += 1;
        }
        for character in table.rows.iter().flatten().flat_map(|cell| ink(&joined(cell)).chars().collect::<Vec<_>>()) {
            let count = counts.entry(character).or_insert(0);
            *count -= 1;
            prop_assert!(*count >= 0, "{character:?} is missing");
        }
    }

    #[test]
    fn unwrapped_paragraphs_are_one_line(line in line()) {
        let lines = layout(&[Block::Paragraph(line)], None, &[], &[]);
        prop_assert_eq!(lines.len(), 1);
    }
}

#[test]
fn lists_quotes_and_prefixes_look_as_documented() {
    let paragraph = |text: &str| Block::Paragraph(vec![Span::new(text, Style::default())]);
    let item = |done, blocks| ListItem {
        done,
        blocks,
        ..ListItem::default()
    };
    let inner = Block::List {
        start: Some(9),
        items: vec![
            item(None, vec![paragraph("nine is a long item that goes on")]),
            item(None, vec![paragraph("ten")]),
        ],
    };
    let blocks = [
        Block::List {
            start: None,
            items: vec![
                item(
                    Some(true),
                    vec![paragraph("done with a line that has to be wrapped")],
                ),
                item(None, vec![paragraph("nested"), inner]),
            ],
        },
        Block::Quote(vec![paragraph("one"), paragraph("two")]),
        Block::Rule,
    ];
    let prefix = |text: &str| [Span::role(text, Role::Accent)];
    let lines = layout(&blocks, Some(32), &prefix("• "), &prefix("  "));
    let shown: Vec<String> = lines.iter().map(|line| joined(line)).collect();
    let expected = [
        "• - [x] done with a line that",
        "        has to be wrapped",
        "  - nested",
        "    9. nine is a long item that",
        "       goes on",
        "    10. ten",
        "",
        "  │ one",
        "  │",
        "  │ two",
        "",
        "  ────────────────────────",
    ];
    assert_eq!(shown, expected);
}
