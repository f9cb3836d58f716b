//! Lays out diffs in the agentformatter format: the line number ends in column
//! 7, the sign is in column 9, the text follows and continues below itself.

use std::fmt::Write as _;

use crate::doc::{DiffLine, Role, Sign, Span, Style};
use crate::layout::pen::{Margin, Part, Pen};
use crate::layout::wrap::{Break, Room};
use crate::layout::{Piece, width};

/// The last column of line numbers.
const NUMBER: usize = 7;

/// Cells before the text: number, blank and sign.
const GUTTER: usize = NUMBER + 2;

/// Below this width, line numbers are omitted.
const READABLE: usize = GUTTER + 10;

/// Padding for lines without a number.
const BLANKS: &str = "                                ";

/// Writes the lines of a diff.
pub(super) fn write(changes: &[DiffLine], pen: &mut Pen<'_>, margin: &mut Margin<'_>) {
    let room = pen.even_room(margin);
    let numbered = room.is_none_or(|room| room >= READABLE);
    let mut gutter = String::new();
    for change in changes {
        match change {
            DiffLine::Gap => {
                let indent = if numbered { GUTTER - 1 } else { 0 };
                gutter.clear();
                gutter.push_str(blanks(indent));
                gutter.push('⋮');
                pen.begin(margin);
                pen.piece(Piece::new(&gutter, Style::of(Role::Accent)));
                pen.end();
            }
            DiffLine::More(count) => {
                let noun = if *count == 1 { "line" } else { "lines" };
                // Each of these characters takes one cell.
                let text: String = format!("… +{count} {noun}")
                    .chars()
                    .take(room.unwrap_or(usize::MAX))
                    .collect();
                let room = room.map_or(GUTTER, |room| room.saturating_sub(width::width(&text)));
                gutter.clear();
                gutter.push_str(blanks(if numbered { GUTTER.min(room) } else { 0 }));
                gutter.push_str(&text);
                pen.begin(margin);
                pen.piece(Piece::new(&gutter, Style::of(Role::Accent)));
                pen.end();
            }
            DiffLine::Line {
                number,
                sign,
                spans,
                ..
            } => {
                gutter.clear();
                if numbered {
                    number_into(&mut gutter, *number, room);
                }
                write_line(&gutter, *sign, spans, room, pen, margin);
            }
        }
    }
}

fn write_line(
    gutter: &str,
    sign: Sign,
    spans: &[Span],
    room: Option<usize>,
    pen: &mut Pen<'_>,
    margin: &mut Margin<'_>,
) {
    let (glyph, role) = match sign {
        Sign::Context => (" ", Role::Normal),
        Sign::Added => ("+", Role::Green),
        Sign::Removed => ("-", Role::Red),
    };
    let cells = gutter.len() + 1;
    let room = room.map(|room| room.saturating_sub(cells).max(1));
    let mut is_first = true;
    let mut visit = |pen: &mut Pen<'_>, part: Part<'_>| match part {
        Part::Begin => {
            pen.begin(margin);
            if std::mem::take(&mut is_first) {
                pen.piece(Piece::new(gutter, Style::of(Role::Accent)));
                pen.piece(Piece::new(glyph, Style::of(role)));
            } else {
                pen.piece(Piece::new(blanks(cells), Style::default()));
            }
        }
        Part::Piece(piece) => pen.piece(Piece {
            style: with_diff_color(piece.style, role),
            ..piece
        }),
        Part::End => pen.end(),
    };
    pen.broken(spans, Break::Anywhere, Room::even(room), &mut visit);
}

fn blanks(cells: usize) -> &'static str {
    BLANKS.get(..cells).unwrap_or(BLANKS)
}

/// Writes the number right-aligned; blank if unknown or if there is no space.
fn number_into(gutter: &mut String, number: Option<u64>, room: Option<usize>) {
    if let Some(number) = number {
        // Writing to a String cannot fail.
        let _ = write!(gutter, "{number:>NUMBER$} ");
    }
    let is_enough = room.is_none_or(|room| room >= gutter.len() + READABLE - GUTTER);
    if gutter.is_empty() || !is_enough {
        gutter.clear();
        gutter.push_str(blanks(NUMBER + 1));
    }
}

/// Gives text without a colour of its own the diff's colour.
fn with_diff_color(style: Style, role: Role) -> Style {
    match style.role {
        Role::Normal => Style { role, ..style },
        _ => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::Block;
    use crate::layout::{Width, layout};

    fn change(number: Option<u64>, sign: Sign, text: &str) -> DiffLine {
        DiffLine::Line {
            number,
            old: None,
            sign,
            spans: vec![Span::new(text, Style::default())],
        }
    }

    fn shown(changes: Vec<DiffLine>, width: Width) -> String {
        let lines = layout(&[Block::Diff(changes)], width, &[], &[]);
        let lines: Vec<String> = lines
            .iter()
            .map(|line| line.iter().map(|span| span.text.as_str()).collect())
            .map(|line: String| line.trim_end().to_owned())
            .collect();
        lines.join("\n")
    }

    #[test]
    fn columns_match_the_specification() {
        let changes = vec![
            change(Some(20), Sign::Context, "    \"axi/tools\""),
            DiffLine::Gap,
            change(Some(23), Sign::Context, ""),
            change(
                Some(24),
                Sign::Added,
                "const description = \"This line is very long. It will wrap eventually.\"",
            ),
            change(Some(117), Sign::Removed, "}"),
            change(None, Sign::Removed, "x"),
        ];
        let expected = "     20      \"axi/tools\"
        ⋮
     23
     24 +const description = \"This line is very long. It will wrap eventua
         lly.\"
    117 -}
        -x";
        assert_eq!(shown(changes, Some(74)), expected);
    }

    #[test]
    fn colours_follow_the_sign() {
        let changes = Block::Diff(vec![
            change(Some(1), Sign::Added, "a"),
            change(Some(1), Sign::Context, "b"),
        ]);
        let lines = layout(&[changes], None, &[], &[]);
        let roles: Vec<_> = lines[0].iter().map(|span| span.style.role).collect();
        assert_eq!(roles, [Role::Accent, Role::Green]);
        let roles: Vec<_> = lines[1].iter().map(|span| span.style.role).collect();
        assert_eq!(roles, [Role::Accent, Role::Normal]);
    }

    #[test]
    fn narrow_pages_omit_line_numbers() {
        let changes = vec![change(Some(1), Sign::Added, "abcdefghij"), DiffLine::Gap];
        assert_eq!(shown(changes, Some(8)), "+abcdefg\n hij\n⋮");
    }
}
