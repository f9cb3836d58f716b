//! Checks that diffs and patches neither panic nor produce unsafe output. Two
//! texts separated by a zero byte give a change that contains both.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::doc::entry::{Detail, parts};
use unspool::doc::{Block, word_diff};
use unspool::event::{Edit, Edits};
use unspool::layout::split;
use unspool::patch;
use unspool::session::{Entry, Item};

const WIDTH: usize = 50;

fn show(edits: Vec<Edit>) {
    let entry = Entry::new(Item::Edit(Edits::new(edits)));
    unspool_fuzz::assert_safe(&unspool_fuzz::plain().format_entry(&entry, WIDTH), WIDTH);
    for block in parts(&entry, &Detail::default())
        .into_iter()
        .flat_map(|part| part.blocks)
    {
        if let Block::Diff(lines) = block {
            for line in split::side_by_side(&word_diff::mark_words(lines), WIDTH) {
                let text: String = line.iter().map(|span| span.text.as_str()).collect();
                unspool_fuzz::assert_safe(&text, WIDTH);
            }
        }
    }
}

/// Returns the lines of one side of a change.
fn side(edit: &Edit, sign: char) -> Vec<&str> {
    let lines = edit.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines
        .filter_map(|line| line.strip_prefix(' ').or_else(|| line.strip_prefix(sign)))
        .collect()
}

/// Splits a text into lines like a diff: a lone carriage return also ends one.
fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.lines().map(str::to_owned).collect()
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    show(patch::unified("a.rs", &text));
    show(patch::begin_patch(&text));
    let _ = patch::hunks(&text);
    let Some((old, new)) = text.split_once('\0') else {
        return;
    };
    let edit = patch::from_texts("a.rs", Some(old), new, false);
    if old != new {
        assert_eq!(side(&edit, '-'), lines(old));
        assert_eq!(side(&edit, '+'), lines(new));
    }
    show(vec![patch::from_texts("a.rs", Some(old), new, true)]);
});
