//! Wrapping, case by case.

use super::*;
use crate::doc::{Role, Style};

fn plain(lines: &[Line]) -> Vec<String> {
    lines
        .iter()
        .map(|line| line.iter().map(|span| span.text.as_str()).collect())
        .collect()
}

/// Returns the pieces of a line cut at the column.
fn cut(line: &[Span], cells: usize) -> Vec<String> {
    let text = joined(line);
    let mut found = Vec::new();
    ranges(line, Room::even(Some(cells)), Break::Anywhere, &mut found);
    let part = |range: Range<usize>| text.get(range).unwrap_or_default().to_owned();
    found.into_iter().map(part).collect()
}

fn wrapped(text: &str, cells: usize) -> Vec<String> {
    let line = [Span::new(text, Style::default())];
    plain(&wrap(&line, Room::even(Some(cells))))
}

#[test]
fn breaks_at_blanks_and_drops_them() {
    assert_eq!(
        wrapped("the quick   brown fox", 10),
        ["the quick", "brown fox"]
    );
    assert_eq!(wrapped("a  b", 10), ["a  b"]);
    assert_eq!(wrapped("", 10), [""]);
    assert_eq!(wrapped(&" ".repeat(40), 10), [""]);
}

#[test]
fn breaks_after_slashes_and_hyphens_like_the_specification() {
    assert_eq!(wrapped("(codex-rs)", 8), ["(codex-", "rs)"]);
    assert_eq!(
        wrapped("(codex-rs/tui/src/markdown.rs:32-60).", 19),
        ["(codex-rs/tui/src/", "markdown.rs:32-60)."]
    );
}

#[test]
fn keeps_the_hyphens_of_options() {
    assert_eq!(
        wrapped("cargo test --workspace", 14),
        ["cargo test", "--workspace"]
    );
}

#[test]
fn keeps_schemes_with_their_hosts() {
    assert_eq!(
        wrapped("see https://example.com/a", 20),
        ["see", "https://example.com/", "a"]
    );
}

#[test]
fn cuts_words_that_are_longer_than_a_line() {
    assert_eq!(wrapped("see abcdefghij", 4), ["see", "abcd", "efgh", "ij"]);
}

#[test]
fn wide_characters_are_never_halved() {
    assert_eq!(wrapped("漢字漢字漢", 5), ["漢字", "漢字", "漢"]);
    assert_eq!(wrapped("👩‍👩‍👧👩‍👩‍👧", 3), ["👩‍👩‍👧", "👩‍👩‍👧"]);
}

#[test]
fn a_cluster_wider_than_a_line_is_cut() {
    let conjunct = "क्".repeat(20) + "क";
    let lines = wrapped(&conjunct, 5);
    assert_eq!(lines.concat(), conjunct);
    assert!(lines.iter().all(|line| width::width(line) <= 5));
}

#[test]
fn line_ends_are_kept() {
    assert_eq!(wrapped("a\n\nb", 10), ["a", "", "b"]);
}

#[test]
fn cutting_keeps_blanks() {
    let line = [Span::new("ab  cd", Style::default())];
    assert_eq!(cut(&line, 3), ["ab ", " cd"]);
}

#[test]
fn styles_follow_their_text() {
    let bold = Style::default().bold();
    let line = [
        Span::role("one ", Role::Accent),
        Span::new("two three", bold),
    ];
    assert_eq!(
        wrap(&line, Room::even(Some(8))),
        [
            vec![Span::role("one ", Role::Accent), Span::new("two", bold)],
            vec![Span::new("three", bold)]
        ]
    );
}

#[test]
fn the_first_line_has_its_own_room() {
    let line = [Span::new("aa bb cc", Style::default())];
    let room = Room {
        first: Some(2),
        rest: Some(5),
    };
    assert_eq!(plain(&wrap(&line, room)), ["aa", "bb cc"]);
    let room = Room {
        first: Some(7),
        rest: Some(3),
    };
    let line = [Span::new("a bcdefg", Style::default())];
    assert_eq!(plain(&wrap(&line, room)), ["a", "bcd", "efg"]);
}
