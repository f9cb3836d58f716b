//! Snapshots of the screen at three sizes.

use crate::picture::svg;
use crate::run::{Run, is_read, varied};
use crate::terminal::Size;
use crate::world::wait_until;

fn picture(name: &str, size: Size) {
    let run = Run::of(&varied());
    let start = run.start(size, &[]);
    let terminal = start.start();
    is_read(&terminal);
    insta::assert_snapshot!(name, terminal.text());
    let keep = |what: &str| {
        let svg = svg(&terminal, size, |text| text);
        insta::assert_binary_snapshot!(&format!("{name}-{what}.svg"), svg);
    };
    keep("picture");
    for (key, words, what) in [
        (&b"?"[..], "Keys", "help"),
        (b":", "Commands", "palette"),
        (b"f", "Filter", "filter"),
    ] {
        terminal.press(key);
        terminal.wait_for(words);
        keep(what);
        terminal.press(b"\x1b");
        wait_until("it to go", || !terminal.text().contains(words));
    }
    terminal.press(b"/caller\r");
    wait_until("what is found", || {
        let text = terminal.text();
        text.contains("of 3 entries") && text.contains("/caller")
    });
    keep("search");
}

#[test]
fn narrow() {
    picture("narrow", (40, 20));
}

#[test]
fn usual() {
    picture("usual", (80, 24));
}

#[test]
fn wide() {
    picture("wide", (160, 50));
}

#[test]
fn marks_suffice_without_colours() {
    let run = Run::of(&varied());
    let terminal = run.start((80, 30), &[]).variable("NO_COLOR", "1").start();
    is_read(&terminal);
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(!bytes.contains("38;5;") && !bytes.contains("48;5;"));
    let text = terminal.text();
    for mark in ["✓ Delegated", "✓ Edit", "✗ Ran cargo test", "▌ ›"] {
        assert!(text.contains(mark), "{mark}:\n{text}");
    }
}
