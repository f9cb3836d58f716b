//! The change of a file, in the format of the agentformatter document: the
//! number ends in column 7, the sign stands in column 9, the text after it, and
//! what does not fit continues under the text.

use crate::doc::{DiffLine, Line, Role, Sign, Span, Style};
use crate::layout::blanks;
use crate::layout::wrap::{Room, cut};

/// The column in which numbers end.
const NUMBER: usize = 7;

/// The cells before the text: the number, a blank, the sign.
const GUTTER: usize = NUMBER + 2;

/// With less room than this the numbers are left out.
const READABLE: usize = GUTTER + 10;

pub(super) fn lines(changes: &[DiffLine], room: Option<usize>) -> Vec<Line> {
    let numbered = room.is_none_or(|room| room >= READABLE);
    changes
        .iter()
        .flat_map(|change| match change {
            DiffLine::Gap => vec![gap(numbered)],
            DiffLine::Line {
                number,
                sign,
                spans,
            } => {
                let gutter = if numbered {
                    gutter(*number, room)
                } else {
                    String::new()
                };
                change_lines(&gutter, *sign, spans, room)
            }
        })
        .collect()
}

fn gap(numbered: bool) -> Line {
    let indent = if numbered { GUTTER - 1 } else { 0 };
    vec![Span::role(format!("{}⋮", " ".repeat(indent)), Role::Accent)]
}

fn change_lines(gutter: &str, sign: Sign, spans: &[Span], room: Option<usize>) -> Vec<Line> {
    let (glyph, role) = match sign {
        Sign::Context => (" ", Role::Normal),
        Sign::Added => ("+", Role::Green),
        Sign::Removed => ("-", Role::Red),
    };
    let cells = gutter.len() + 1;
    let text: Line = spans.iter().map(|span| painted(span, role)).collect();
    let room = room.map(|room| room.saturating_sub(cells).max(1));
    let mut output = Vec::new();
    for piece in cut(&text, Room::even(room)) {
        let mut line = if output.is_empty() {
            vec![Span::role(gutter, Role::Accent), Span::role(glyph, role)]
        } else {
            vec![blanks(cells)]
        };
        line.extend(piece);
        output.push(line);
    }
    output
}

/// The number in its column; blank where it is not known or leaves no room.
fn gutter(number: Option<u64>, room: Option<usize>) -> String {
    let text = number.map(|number| format!("{number:>NUMBER$} "));
    let enough = |text: &String| room.is_none_or(|room| room >= text.len() + READABLE - GUTTER);
    text.filter(enough)
        .unwrap_or_else(|| " ".repeat(NUMBER + 1))
}

/// Text without a colour of its own takes that of the change.
fn painted(span: &Span, role: Role) -> Span {
    let style = match span.style.role {
        Role::Normal => Style { role, ..span.style },
        _ => span.style,
    };
    Span {
        style,
        ..span.clone()
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
    fn columns_are_those_of_the_document() {
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
        let lines = lines(&[change(Some(1), Sign::Added, "a")], None);
        let roles: Vec<_> = lines[0].iter().map(|span| span.style.role).collect();
        assert_eq!(roles, [Role::Accent, Role::Green, Role::Green]);
    }

    #[test]
    fn numbers_give_way_where_there_is_no_room() {
        let changes = vec![change(Some(1), Sign::Added, "abcdefghij"), DiffLine::Gap];
        assert_eq!(shown(changes, Some(8)), "+abcdefg\n hij\n⋮");
    }
}
