//! What the fuzzers found, each made as small as it can be.

use serde_json::json;
use unspool::doc::{Role, Span, capture};
use unspool::layout;

use crate::{entries, events, events_of, formatter};

/// The first lines and the number of those that follow are those of the whole,
/// also where a sequence goes on after a line end.
#[test]
fn sequences_over_line_ends_are_counted_right() {
    for output in [
        "a\nb\n\u{1B}[1\n2\nm\n",
        "a\nb\u{1B}(\nB",
        "a\nb\u{1B}(é\n\n`",
    ] {
        let all = capture::lines(output);
        assert_eq!(all.len(), 2, "{output:?}");
        for limit in 0..4 {
            let head = capture::head(output, limit);
            assert_eq!(head.lines.len() + head.more, 2, "{limit} of {output:?}");
            assert_eq!(head.lines, all[..head.lines.len()], "{limit} of {output:?}");
        }
    }
}

/// A joiner behind a character that is shown by its number was taken for a part
/// of an emoji when lines were laid out, and not when they were written.
#[test]
fn a_joiner_behind_an_invisible_character_fits_the_width() {
    let text = format!("{}\u{FE0F}\u{200D}🌈", "x".repeat(64));
    let line = json!({"kind": "text", "seq": 0, "id": "a", "text": text}).to_string();
    for entry in entries(&events(line.as_bytes())) {
        for width in 31..=100 {
            let shown = formatter(true).format_entry(&entry, width);
            let widest = shown.lines().map(layout::width).max();
            assert!(widest <= Some(width), "{widest:?} at {width} in {shown}");
        }
    }
}

#[test]
fn a_wide_character_is_no_part_of_a_line_that_has_no_room_for_it() {
    let line = [Span::role("漢字", Role::Normal)];
    for cells in 0..6 {
        let cut = layout::truncated(&line, cells);
        let shown: String = cut.iter().map(|span| span.text.as_str()).collect();
        let expected = ["", "…", "…", "漢…", "漢字", "漢字"][cells];
        assert_eq!(shown, expected, "{cells}");
    }
}

/// A time that is none was given on, and refused when the event was read back.
#[test]
fn what_is_no_time_is_no_time_of_an_event() {
    for (time, expected) in [
        ("2026-11-15T18:25:53.829Z", true),
        ("2026-11-1�5T18:25:53.829Z", false),
        ("soon", false),
        ("", false),
    ] {
        let line = json!({"type": "message", "timestamp": time, "role": "user", "content": "x"});
        let told = events_of("gemini", line.to_string().as_bytes());
        assert_eq!(told[0].time.is_some(), expected, "{time:?}");
        let mut printed = String::new();
        for event in &told {
            printed.push_str(&serde_json::to_string(event).unwrap());
            printed.push('\n');
        }
        assert_eq!(events(printed.as_bytes()), told);
    }
}
