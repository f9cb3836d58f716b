//! Checks that no line is too wide and that only blanks are lost, both when
//! wrapping and when cutting. The first byte selects the width, the second
//! where the style changes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::doc::{Block, Line, Role, Span, Style};
use unspool::{layout, sanitize};

fn solid(text: &str) -> String {
    text.split(' ').flat_map(str::lines).collect()
}

fn written(lines: &[Line], width: usize) -> String {
    let mut written = String::new();
    for line in lines {
        let text: String = line.iter().map(|span| span.text.as_str()).collect();
        let cells = layout::width(&text);
        assert!(cells <= width, "{cells} > {width}: {line:?}");
        written.push_str(&text);
    }
    written
}

fuzz_target!(|data: &[u8]| {
    let [width, size, bytes @ ..] = data else {
        return;
    };
    let width = 2 + usize::from(*width);
    let text = String::from_utf8_lossy(bytes);
    let text = sanitize::text(&text);
    let characters: Vec<char> = text.chars().collect();
    let spans: Line = characters
        .chunks(usize::from(*size) + 1)
        .enumerate()
        .map(|(index, piece)| {
            let style = Style::of(Role::Normal);
            let style = if index % 2 == 0 { style } else { style.bold() };
            Span::new(piece.iter().collect::<String>(), style)
        })
        .collect();
    let block = Block::Paragraph(spans.clone());
    let lines = layout::layout(&[block], Some(width), &[], &[]);
    assert_eq!(solid(&written(&lines, width)), solid(&text));
    let one_line = sanitize::line(&text);
    let spans = [Span::role(one_line.clone(), Role::Normal)];
    let rows = layout::folded(&spans, width);
    assert_eq!(written(&rows, width), one_line);
    written(&[layout::truncated(&spans, width)], width);
});
