//! Converts the output of a command to lines, as a terminal would finally show
//! it.
//!
//! Colours and attributes are kept, as entries of the 256-colour palette.
//! Carriage returns, backspaces, tabs, erasing and cursor moves act on a grid
//! that grows downwards, so that a progress bar shows its last state; other
//! sequences are dropped. The grid has no right edge, because the width that
//! the command assumed is unknown.
//!
//! A tab is four blanks, as everywhere else. Only if the cursor moves within
//! the line, or to other lines, does a tab go to the terminal's next tab stop,
//! every 8 columns, because the output then depends on columns.
//!
//! The cursor can only reach the last rows; rows above are finished and cost no
//! more than their text. [`head`] stops early, because most views show only the
//! first few lines.

mod painted;

use std::borrow::Cow;

use crate::doc::{Line, Role, Span, Style};
use crate::sanitize;
use crate::terminal::{Attributes, Grid, Run};
use painted::Painted;

/// The first lines of an output, and the number of further ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The first lines.
    pub lines: Vec<Line>,
    /// Number of lines after them.
    pub more: usize,
}

/// Returns all lines of an output, without trailing empty ones.
pub fn lines(output: &str) -> Vec<Line> {
    head(output, usize::MAX).lines
}

/// Returns the first `limit` lines of an output. Later lines are only counted,
/// as long as they cannot change the first ones.
pub fn head(output: &str, limit: usize) -> Head {
    let output = without_empty_end(output);
    if output.is_empty() {
        return Head::default();
    }
    let early = if reaches_back(output) {
        None
    } else {
        early(output, limit)
    };
    early.unwrap_or_else(|| interpreted(output, limit))
}

/// Returns the last `count` lines of an output, without trailing empty ones.
pub fn tail(output: &str, count: usize) -> Vec<Line> {
    let output = without_empty_end(output);
    if count == 0 || output.is_empty() {
        return Vec::new();
    }
    if reaches_back(output) {
        let mut lines = interpreted(output, usize::MAX).lines;
        return lines.split_off(lines.len().saturating_sub(count));
    }
    let mut ends = memchr::memrchr3_iter(b'\n', 0x0B, 0x0C, output.as_bytes());
    let start = ends.nth(count - 1).map_or(0, |at| at + 1);
    let (before, last) = output.split_at(start);
    let colours = open_colours(before);
    if colours.is_empty() && is_plain(last) {
        return plain_lines(last);
    }
    interpreted(&(colours + last), usize::MAX).lines
}

/// Returns the colour sequences of a text since its last reset, which also apply
/// to the text after it.
fn open_colours(text: &str) -> String {
    const START: &str = "\u{1b}[";
    let mut open = String::new();
    for piece in text.split(START).skip(1) {
        let end = piece.find(|c: char| !matches!(c, ' '..='?'));
        match end.and_then(|end| piece.split_at_checked(end)) {
            Some(("" | "0", rest)) if rest.starts_with('m') => open.clear(),
            Some((parameters, rest)) if rest.starts_with('m') => {
                open.extend([START, parameters, "m"]);
            }
            _ => {}
        }
    }
    open
}

/// Returns the head of an output whose lines are independent; `None` if a
/// sequence continues after the first lines.
fn early(output: &str, limit: usize) -> Option<Head> {
    first_lines(output, limit, line_ends(output).count() + 1)
}

/// Returns the first lines of a text that is the start of `count` independent
/// lines; `None` if a sequence continues after them.
pub(super) fn first_lines(output: &str, limit: usize, count: usize) -> Option<Head> {
    let end = match limit.checked_sub(1) {
        Some(last) => line_ends(output).nth(last).unwrap_or(output.len()),
        None => 0,
    };
    let shown = output.get(..end)?;
    let lines = if limit == 0 {
        Vec::new()
    } else if is_plain(shown) {
        plain_lines(shown)
    } else {
        complete_lines(shown)?
    };
    Some(Head {
        more: count.saturating_sub(lines.len()),
        lines,
    })
}

fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    memchr::memchr3_iter(b'\n', 0x0B, 0x0C, text.as_bytes())
}

/// Removes trailing lines without visible content.
fn without_empty_end(output: &str) -> &str {
    let mut output = output;
    loop {
        output = output.trim_end_matches(['\n', '\r', '\u{B}', '\u{C}']);
        let start = output
            .rfind(['\n', '\u{B}', '\u{C}'])
            .map_or(0, |line_end| line_end + 1);
        let (before, last) = output.split_at(start);
        let shows_nothing = last.trim_matches(' ').is_empty()
            || (!is_plain(last) && !reaches_back(last) && interpreted(last, 1).lines.is_empty());
        if output.is_empty() || !shows_nothing {
            return output;
        }
        output = before;
    }
}

/// Returns true if text has no sequences and no cursor moves.
fn is_plain(text: &str) -> bool {
    !text
        .bytes()
        .any(|byte| byte < b' ' && byte != b'\n' || byte == 0x7F)
        && !text.contains(|c| ('\u{80}'..='\u{9F}').contains(&c))
}

fn plain_lines(text: &str) -> Vec<Line> {
    text.split('\n')
        .map(|line| match sanitize::line(line.trim_end_matches(' ')) {
            line if line.is_empty() => Line::new(),
            line => vec![Span::new(line, Style::default())],
        })
        .collect()
}

/// Returns the lines of text that more text follows; `None` if it ends inside a
/// sequence.
fn complete_lines(text: &str) -> Option<Vec<Line>> {
    let mut painted = Painted::default();
    let mut parser = vte::Parser::new();
    painted.paint(&mut parser, text);
    let mut probe = Probe::default();
    parser.advance(&mut probe, b"x");
    if !probe.printed {
        return None;
    }
    Some(painted.into_lines().unwrap_or_else(|| {
        let mut grid = Grid::default();
        advance_by_line(&mut grid, text);
        lines_of(grid)
    }))
}

/// Writes independent lines to a grid, each with its kind of tab.
fn advance_by_line(grid: &mut Grid, text: &str) {
    let mut parser = vte::Parser::new();
    let mut start = 0;
    for end in line_ends(text).map(|at| at + 1).chain([text.len()]) {
        let line = text.get(start..end).unwrap_or_default();
        grid.stops = line.contains('\t') && moves(line);
        parser.advance(grid, line.as_bytes());
        start = end;
    }
}

/// Returns true if the cursor moves to another column of the line.
fn moves(line: &str) -> bool {
    let content = line.trim_end_matches(['\n', '\r', '\u{B}', '\u{C}']);
    let is_move = |sequence: &str| {
        let last = sequence.find(|c: char| !matches!(c, ' '..='?'));
        let last = last.and_then(|at| sequence.get(at..));
        last.is_some_and(|last| last.starts_with(['C', 'D', 'G']))
    };
    content.contains(['\r', '\u{8}']) || content.split("\u{1b}[").skip(1).any(is_move)
}

/// Detects if a character is printed or part of a sequence.
#[derive(Default)]
struct Probe {
    printed: bool,
}

impl vte::Perform for Probe {
    fn print(&mut self, _: char) {
        self.printed = true;
    }
}

fn interpreted(text: &str, limit: usize) -> Head {
    let mut grid = Grid::default();
    if reaches_back(text) {
        grid.stops = true;
        vte::Parser::new().advance(&mut grid, text.as_bytes());
    } else {
        advance_by_line(&mut grid, text);
    }
    let mut lines = lines_of(grid);
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    let more = lines.len().saturating_sub(limit);
    lines.truncate(limit);
    Head { lines, more }
}

/// Converts the rows of a grid into lines.
fn lines_of(grid: Grid) -> Vec<Line> {
    let rows = grid.into_rows().into_iter();
    rows.map(|row| row.into_iter().map(span).collect())
        .collect()
}

fn span(run: Run) -> Span {
    let look = style(run.attributes);
    match sanitize::line(&run.text) {
        Cow::Owned(text) => Span::new(text, look),
        Cow::Borrowed(_) => Span::new(run.text, look),
    }
}

/// Converts the attributes of a terminal into a style.
fn style(attributes: Attributes) -> Style {
    Style {
        role: attributes.foreground.map_or(Role::Normal, Role::Literal),
        background: attributes.background,
        bold: attributes.bold,
        italic: attributes.italic,
        underline: attributes.underline,
        strike: attributes.strike,
        dim: attributes.dim,
        reverse: attributes.reverse,
    }
}

/// Returns true if a byte ends a sequence that is not a control sequence.
fn is_final(byte: u8) -> bool {
    (0x30..=0x7E).contains(&byte)
}

/// Returns true if text has a sequence that can move the cursor to lines above,
/// erase them, or stay open and swallow newlines.
fn reaches_back(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr3(0x1B, 0xC2, 0xC2, rest) {
        let (lead, after) = rest.split_at(at + 1);
        rest = after;
        if lead.ends_with(&[0xC2]) {
            // C1 controls: the same as ESC and a letter.
            if after
                .first()
                .is_some_and(|byte| (0x80..=0x9F).contains(byte))
            {
                return true;
            }
            continue;
        }
        match after.split_first() {
            Some((b'[', parameters)) => {
                // A newline inside a sequence takes effect, and the sequence
                // continues after it.
                let last = parameters
                    .iter()
                    .find(|byte| !(0x20..=0x3F).contains(*byte));
                if !matches!(last, Some(b'm' | b'K' | b'C' | b'D' | b'G' | b'h' | b'l')) {
                    return true;
                }
            }
            Some((b'(' | b')', set)) if set.first().is_none_or(|byte| is_final(*byte)) => {}
            Some((b'=' | b'>', _)) | None => {}
            Some(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::doc::Role;

    fn shown(output: &str) -> Vec<String> {
        text(&lines(output))
    }

    fn text(lines: &[Line]) -> Vec<String> {
        lines
            .iter()
            .map(|line| line.iter().map(|span| span.text.as_str()).collect())
            .collect()
    }

    #[test]
    fn a_colour_ends_at_its_reset() {
        let lines = lines("\u{1b}[31ma \u{1b}[0m b");
        let roles: Vec<_> = lines[0].iter().map(|span| span.style.role).collect();
        assert_eq!(roles, [Role::Literal(1), Role::Normal]);
    }

    #[test]
    fn erasing_also_erases_overwritten_text() {
        assert_eq!(shown("abc\u{1b}[1K\rx\u{1b}[3G\u{1b}[1Kd"), ["  d"]);
        assert_eq!(shown("abc\u{1b}[1K\rx\u{1b}[3Gd"), ["x d"]);
    }

    #[test]
    fn plain_output_is_split_into_lines() {
        assert_eq!(shown("a\nb \n\nc\n\n"), ["a", "b", "", "c"]);
        assert_eq!(shown(""), [] as [&str; 0]);
        assert_eq!(shown("ok\taxi\t0.3s\r\nx"), ["ok    axi    0.3s", "x"]);
    }

    #[test]
    fn a_progress_bar_shows_its_last_state() {
        assert_eq!(
            shown("10%\r 50%\r100%\u{1b}[K done\r\nend"),
            ["100% done", "end"]
        );
        assert_eq!(shown("building 99%\rok\u{1b}[K"), ["ok"]);
        assert_eq!(shown("abc\u{8}\u{8}x"), ["axc"]);
        assert_eq!(
            shown("a: 1\nb: 1\n\u{1b}[2Aa: 2\u{1b}[K\n\u{1b}[Bend"),
            ["a: 2", "b: 1", "end"]
        );
        assert_eq!(shown("old\n\u{1b}[H\u{1b}[2Jnew"), ["new"]);
    }

    #[test]
    fn tabs_use_tab_stops_if_the_cursor_moves() {
        assert_eq!(shown("a\tb\rx"), ["x       b"]);
        assert_eq!(shown("abcdefgh\tb\u{1b}[17Gc"), ["abcdefgh        c"]);
        assert_eq!(shown("a\tb\u{8}c\na\tb\r\n"), ["a       c", "a    b"]);
        assert_eq!(shown("a\tb\nc\u{1b}[A\u{1b}[9Gd"), ["a       d", "c"]);
        assert_eq!(shown("a\tb\u{1b}[K\u{1b}[31mc"), ["a    bc"]);
    }

    #[test]
    fn cursor_moves_and_erasing() {
        assert_eq!(shown("abcdef\u{1b}[4D\u{1b}[1K"), ["   def"]);
        assert_eq!(shown("a\u{1b}[3Cb\u{1b}[2Gc"), ["ac  b"]);
        assert_eq!(shown("1\n2\n3\u{1b}[1;2Hx\u{1b}[3dy"), ["1x", "2", "3 y"]);
        assert_eq!(shown("1\n2\n3\u{1b}[2A\u{1b}[J"), ["1"]);
        assert_eq!(shown("漢字\rab"), ["ab字"]);
        assert_eq!(shown("漢字\ra"), ["a 字"]);
        assert_eq!(shown("e\u{301}x"), ["e\u{301}x"]);
    }

    #[test]
    fn colours_are_kept() {
        let lines = lines("\u{1b}[1;31mE\u{1b}[0m: \u{1b}[38;2;255;0;0mx\u{1b}[38:5:200;48;5;3my");
        let line = &lines[0];
        let roles: Vec<_> = line.iter().map(|span| span.style.role).collect();
        assert_eq!(
            roles,
            [
                Role::Literal(1),
                Role::Normal,
                Role::Literal(196),
                Role::Literal(200)
            ]
        );
        assert!(line[0].style.bold && !line[1].style.bold);
        assert_eq!(line[3].style.background, Some(3));
    }

    #[test]
    fn other_sequences_are_dropped_and_controls_shown() {
        assert_eq!(
            shown(
                "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{1b}]8;;http://x\u{1b}\\c\u{1b}]8;;\u{1b}\\\u{1b}P1$q\u{1b}\\d\u{7}\u{0}e"
            ),
            ["abcde"]
        );
        assert_eq!(shown("a\u{202e}b"), ["a\\u{202E}b"]);
        assert_eq!(shown("\u{1b}[ma\u{202e}b"), ["a\\u{202E}b"]);
        assert_eq!(shown("a\u{9b}2Jb").len(), 1);
        assert_eq!(shown("👩‍👩‍👧\u{1b}[m"), ["👩‍👩‍👧"]);
    }

    #[test]
    fn hostile_cursor_moves_do_not_exhaust_memory() {
        let output = "x\u{1b}[9999C\u{1b}[9999By\u{1b}[65535;65535Hz\u{1b}[65535d\n".repeat(3000);
        let cells: usize = lines(&output)
            .iter()
            .flatten()
            .map(|span| span.text.len())
            .sum();
        assert!(cells < 4_000_000, "{cells}");
        let long = "\u{1b}[m".to_owned() + &"x".repeat(100_000);
        assert_eq!(shown(&long).concat().len(), 100_000);
    }

    #[test]
    fn the_head_counts_the_rest() {
        let head = head("1\n2\n3\n4\n", 2);
        assert_eq!(
            (text(&head.lines), head.more),
            (vec!["1".into(), "2".into()], 2)
        );
        assert_eq!(super::head("1\n2", 0).more, 2);
        assert_eq!(super::head("1\n2", 2).more, 0);
        for output in [
            "1\n2\n\u{1b}[3\n4\nm\n",
            "1\n2\u{1b}(\nB",
            "1\n2\u{1b}(é\n\n`",
        ] {
            let all = lines(output);
            let head = super::head(output, 1);
            assert_eq!(
                (all.len(), head.lines.len() + head.more),
                (2, 2),
                "{output:?}"
            );
        }
        let head = super::head("1\n2\n3\u{1b}[2Ax", 1);
        assert_eq!((text(&head.lines), head.more), (vec!["1x".into()], 2));
    }

    proptest! {
        #[test]
        fn the_head_equals_the_start_of_the_whole(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "a", "bc ", "漢", "\n", "\n", "\r", "\u{8}", "\t", "\u{1b}[31m", "\u{1b}[0m",
                    "\u{1b}[44m", "\u{1b}[K", "\u{1b}[A", "\u{1b}[2C", "\u{1b}[1K", "\u{1b}]0;t", "\u{7}", "\u{1b}[J",
                    "\u{1b}[2J", "\u{1b}[H", "\u{9b}A", "\u{1b}", "[", "\u{202e}", "\u{301}",
                ]),
                0..30,
            ),
            limit in 0usize..4,
        ) {
            let output = pieces.concat();
            let all = lines(&output);
            let head = head(&output, limit);
            prop_assert_eq!(head.lines.len() + head.more, all.len());
            prop_assert_eq!(&head.lines[..], &all[..head.lines.len()]);
            let end = tail(&output, limit);
            prop_assert_eq!(&end[..], &all[all.len().saturating_sub(limit)..]);
        }

        #[test]
        fn lines_are_always_clean(output in any::<String>()) {
            for line in lines(&output) {
                prop_assert!(line.iter().all(|span| !span.text.contains(char::is_control)));
            }
        }
    }
}
