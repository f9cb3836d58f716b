//! Checks that an answer in pieces is laid out like the whole. The first byte
//! selects the width, the second the size of the pieces and the refresh
//! interval.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::formatter::{Config, Formatter};
use unspool::session::{Entry, Item, Text};

fuzz_target!(|data: &[u8]| {
    let [width, size, bytes @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let width = 20 + usize::from(*width);
    let formatter = Formatter::new(Config::default());
    let entry = Entry::new(Item::Text(Text::new(text.clone())));
    let expected = formatter.text(&formatter.lines(&entry, width));
    unspool_fuzz::assert_safe(&unspool_fuzz::plain().format_entry(&entry, width), width);
    let mut open = formatter.open_text(&entry, width);
    let mut lines = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(usize::from(*size) % 32 + 1);
    for (index, piece) in pieces.enumerate() {
        lines.extend(open.push(&piece.iter().collect::<String>()));
        if index % (usize::from(*size) / 32 + 1) == 0 {
            lines.extend(open.refresh());
            let _ = open.open();
        }
    }
    lines.extend(open.finish());
    assert_eq!(formatter.text(&lines), expected);
});
