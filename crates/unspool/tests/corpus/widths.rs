//! Tests that no line is wider than requested, at any width, and that colours
//! do not change the text.
//!
//! Entries with equal documents are tested once. An entry is laid out at every
//! width up to that of its widest line; beyond it, the layout does not change,
//! which is checked at a few widths.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use unspool::doc::entry::{self, Detail};
use unspool::layout;
use unspool::session::Entry;

use crate::files;
use crate::shown::{entries, formatter};

const WIDTHS: std::ops::RangeInclusive<usize> = 31..=200;
/// Wider than any line of the corpus.
const UNBOUNDED: usize = 1 << 24;

/// Returns all entries of the corpus with the name of their recording, without
/// duplicates.
fn distinct() -> Vec<(&'static str, Entry)> {
    let mut seen = HashSet::new();
    let mut distinct = Vec::new();
    for (recording, events) in files::all_events() {
        for entry in entries(events) {
            let document = entry::parts(&entry, &Detail::default());
            if seen.insert(format!("{} {document:?}", entry.depth())) {
                distinct.push((recording.name.as_str(), entry));
            }
        }
    }
    assert!(distinct.len() > 1000, "only {} entries", distinct.len());
    distinct
}

fn everywhere(check: impl Fn(&str, &Entry) + Sync) {
    let entries = distinct();
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((name, entry)) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(name, entry);
                }
            });
        }
    });
}

fn widest(text: &str) -> usize {
    text.lines().map(layout::width).max().unwrap_or(0)
}

#[test]
fn no_line_is_wider_than_requested() {
    let formatter = formatter(true);
    everywhere(|name, entry| {
        let natural = formatter.format_entry(entry, UNBOUNDED);
        let needed = widest(&natural);
        for width in WIDTHS.take_while(|width| *width < needed) {
            let text = formatter.format_entry(entry, width);
            let cells = widest(&text);
            assert!(cells <= width, "{name} at {width}: {cells} in\n{text}");
        }
        for width in [needed, needed + 1, needed + 7, 200] {
            if width >= needed.max(*WIDTHS.start()) {
                assert_eq!(
                    formatter.format_entry(entry, width),
                    natural,
                    "{name} at {width}"
                );
            }
        }
    });
}

/// Returns the text that a terminal prints.
fn stripped(text: &str) -> String {
    struct Printed(String);
    impl vte::Perform for Printed {
        fn print(&mut self, character: char) {
            self.0.push(character);
        }
        fn execute(&mut self, byte: u8) {
            self.0.push(char::from(byte));
        }
    }
    let mut printed = Printed(String::new());
    vte::Parser::new().advance(&mut printed, text.as_bytes());
    printed.0
}

/// Returns true if the text is partly struck out, which plain text marks with `~~`.
fn is_struck(coloured: &str) -> bool {
    ["\u{1b}[9m", ";9m", "\u{1b}[9;", ";9;"]
        .iter()
        .any(|code| coloured.contains(code))
}

#[test]
fn colours_change_no_text() {
    let (plain, coloured) = (formatter(true), formatter(false));
    everywhere(|name, entry| {
        for width in [0, 31, 40, 57, 80, 120, 163, 200] {
            let text = plain.format_entry(entry, width);
            let colours = coloured.format_entry(entry, width);
            if is_struck(&colours) {
                assert!(text.contains("~~"), "{name} at {width}: {text}");
            } else {
                assert_eq!(stripped(&colours), text, "{name} at {width}");
            }
            let is_clean = text.chars().all(|c| c == '\n' || !c.is_control());
            assert!(
                is_clean,
                "{name} at {width}: a control character in {text:?}"
            );
        }
    });
}
