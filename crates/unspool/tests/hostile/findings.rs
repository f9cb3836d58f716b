//! Minimised findings of the fuzzers.

use serde_json::json;
use unspool::doc::{Role, Span, capture};
use unspool::layout;

use crate::{entries, events, events_of, formatter};

/// The opening and its line count match the whole output, even if an escape
/// sequence spans a newline.
#[test]
fn sequences_that_span_newlines_are_counted() {
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

/// A joiner after an escaped character counted as part of an emoji in layout,
/// but not in output.
#[test]
fn a_joiner_after_an_invisible_character_fits_the_width() {
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
fn a_wide_character_moves_to_a_line_with_space() {
    let line = [Span::role("漢字", Role::Normal)];
    for cells in 0..6 {
        let cut = layout::truncated(&line, cells);
        let shown: String = cut.iter().map(|span| span.text.as_str()).collect();
        let expected = ["", "…", "…", "漢…", "漢字", "漢字"][cells];
        assert_eq!(shown, expected, "{cells}");
    }
}

/// An invalid timestamp was emitted, and rejected when the event was read back.
#[test]
fn invalid_timestamps_are_dropped() {
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
