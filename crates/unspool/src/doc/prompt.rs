//! Converts a person's message to blocks.
//!
//! People write Markdown in prompts, and paste logs, listings and diffs between
//! it without fences. A message is therefore split into chunks at its empty
//! lines. A chunk that Markdown would change beyond its marks is shown as
//! written: [`Form::Columns`] where positions matter, else [`Form::Literal`].
//! The rest is Markdown in which line breaks stay and marks inside of words and
//! paths are text.

use super::{Block, Span, Style, clean_lines};
use crate::sanitize;

/// Converts a message to blocks, with or without highlighted code.
pub(super) fn blocks(text: &str, highlight: bool) -> Vec<Block> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut blocks = Vec::new();
    for run in runs(&text) {
        match run.form {
            Form::Markdown => blocks.extend(markdown(run.text, highlight)),
            Form::Literal => blocks.push(paragraph(run.text)),
            Form::Columns => {
                let lines = clean_lines(run.text.trim_end(), Style::default());
                blocks.push(Block::Verbatim(lines));
            }
        }
    }
    blocks
}

#[cfg(feature = "markdown")]
fn markdown(text: &str, highlight: bool) -> Vec<Block> {
    super::markdown::message_blocks(text, highlight)
}

#[cfg(not(feature = "markdown"))]
fn markdown(text: &str, _highlight: bool) -> Vec<Block> {
    vec![paragraph(text)]
}

fn paragraph(text: &str) -> Block {
    let text = sanitize::text(text.trim_matches('\n'));
    Block::Paragraph(vec![Span::new(text, Style::default())])
}

/// The layout of one part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Markdown,
    /// A paragraph without marks.
    Literal,
    /// Preformatted text.
    Columns,
}

/// Consecutive chunks of one form.
struct Run<'a> {
    form: Form,
    text: &'a str,
}

/// Splits a text into runs.
fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<(Form, usize, usize)> = Vec::new();
    let mut is_in_list = false;
    for (start, end) in chunks(text) {
        let chunk = text.get(start..end).unwrap_or_default();
        let form = match form(chunk) {
            // A further paragraph of the last item.
            Form::Columns if is_in_list && is_continuation(chunk) => Form::Markdown,
            form => form,
        };
        is_in_list = form == Form::Markdown && (is_item(chunk) || is_indented(chunk) && is_in_list);
        match runs.last_mut() {
            // Two pasted texts stay apart.
            Some((last, _, until)) if *last == form && form == Form::Markdown => *until = end,
            _ => runs.push((form, start, end)),
        }
    }
    let run = |(form, start, end)| Run {
        form,
        text: text.get(start..end).unwrap_or_default(),
    };
    runs.into_iter().map(run).collect()
}

/// Returns the ranges between empty lines. A fenced block is in one chunk.
fn chunks(text: &str) -> Vec<(usize, usize)> {
    let mut chunks = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut fence: Option<(char, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim().is_empty() && fence.is_none() {
            chunks.extend(open.take());
        } else {
            open = Some((open.map_or(at, |(start, _)| start), end));
        }
        fence = after(fence, line.trim());
        at = end;
    }
    chunks.extend(open);
    chunks
}

/// Returns the open fence after a line: its character and length.
fn after(fence: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
    match (fence, mark) {
        (None, Some(mark)) if length >= 3 => {
            let info = line.trim_start_matches(mark);
            (mark == '~' || !info.contains('`')).then_some((mark, length))
        }
        (Some((open, least)), Some(mark)) if mark == open && length >= least => {
            let is_closed = line.trim_start_matches(mark).is_empty();
            fence.filter(|_| !is_closed)
        }
        _ => fence,
    }
}

fn form(chunk: &str) -> Form {
    let lines: Vec<&str> = chunk.lines().collect();
    if lines.iter().any(|line| after(None, line.trim()).is_some()) || is_table(&lines) {
        return Form::Markdown;
    }
    if is_in_columns(&lines) {
        return Form::Columns;
    }
    let is_literal = |line: &&str| is_definition(line) || is_markup(line);
    if lines.iter().any(is_literal) || is_misnumbered(&lines) {
        return Form::Literal;
    }
    Form::Markdown
}

/// Returns true if the position of characters matters: logs, listings, traces,
/// diffs and code without a fence.
fn is_in_columns(lines: &[&str]) -> bool {
    let is_list = lines.first().is_some_and(|line| is_item(line));
    let marks = |mark: char| lines.iter().any(|line| line.starts_with(mark));
    let has_gap = |line: &&&str| gap(line.trim()) >= 2;
    let is_drawn = |c: char| matches!(c, '\u{2500}'..='\u{259F}');
    (!is_list && lines.iter().any(|line| is_indented(line)))
        || lines.iter().any(|line| gap(line.trim()) >= 3)
        || lines.iter().filter(has_gap).count() >= 2
        || (marks('+') && marks('-'))
        || lines
            .iter()
            .any(|line| line.contains(is_drawn) || line.starts_with(">>"))
        || lines.windows(2).any(is_underlined)
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Returns true if all lines are indented, but not like code.
fn is_continuation(chunk: &str) -> bool {
    chunk.lines().all(is_indented)
}

/// Returns the widest run of blanks inside of a line. A tab counts as four,
/// and two blanks after a sentence as one.
fn gap(line: &str) -> usize {
    let (mut widest, mut width, mut before) = (0, 0, ' ');
    for c in line.chars() {
        match c {
            ' ' => width += 1,
            '\t' => width += 4,
            _ => {
                let is_sentence = width == 2 && matches!(before, '.' | '!' | '?' | ':' | ',');
                if !is_sentence {
                    widest = widest.max(width);
                }
                (width, before) = (0, c);
            }
        }
    }
    widest
}

/// Returns true for a line under which another one is drawn: a heading in
/// Markdown, which loses the line.
fn is_underlined(lines: &[&str]) -> bool {
    let is_drawn = |line: &str| {
        let line = line.trim();
        !line.is_empty() && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'))
    };
    matches!(lines, [text, under] if !is_drawn(text) && is_drawn(under))
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..).unwrap_or_default();
    let mark = if digits > 0 {
        rest.strip_prefix(['.', ')'])
    } else {
        rest.strip_prefix(['-', '*', '+'])
    };
    mark.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns true if the second line is the rule of a table.
fn is_table(lines: &[&str]) -> bool {
    let is_rule = |line: &str| {
        let mut characters = line.trim().chars();
        line.contains('-') && line.contains('|') && characters.all(|c| " |:-".contains(c))
    };
    matches!(lines, [head, rule, ..] if head.contains('|') && is_rule(rule))
}

/// Returns true for `[label]: address`, which Markdown does not show.
fn is_definition(line: &str) -> bool {
    let label = line.trim_start().strip_prefix('[');
    label.is_some_and(|label| label.contains("]:"))
}

/// Returns true for a line that starts with a tag.
fn is_markup(line: &str) -> bool {
    let tag = line.trim_start().strip_prefix('<');
    tag.is_some_and(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)))
}

/// Returns true if Markdown would number the lines of the chunk anew.
fn is_misnumbered(lines: &[&str]) -> bool {
    let number = |line: &&str| -> Option<u64> {
        let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
        is_item(line).then(|| digits.parse().ok()).flatten()
    };
    let numbers: Vec<u64> = lines.iter().filter_map(number).collect();
    numbers.windows(2).any(|pair| match pair {
        [first, second] => first.checked_add(1) != Some(*second),
        _ => false,
    })
}

#[cfg(all(test, feature = "markdown"))]
mod tests {
    use super::*;

    /// Returns the forms and texts of a message in short.
    fn shown(text: &str) -> Vec<String> {
        let plain = |line: &[Span]| -> String {
            let mark = |span: &Span| match (span.style.bold, span.style.italic, span.style.role) {
                (_, _, crate::doc::Role::Accent) => format!("<{}>", span.text),
                (true, ..) => format!("B({})", span.text),
                (_, true, _) => format!("I({})", span.text),
                _ => span.text.clone(),
            };
            line.iter().map(mark).collect()
        };
        blocks(text, false)
            .iter()
            .map(|block| match block {
                Block::Paragraph(line) => plain(line),
                Block::Heading(level, line) => format!("h{level} {}", plain(line)),
                Block::Verbatim(lines) | Block::Code { lines, .. } => {
                    let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
                    format!("pre {}", lines.join("\n"))
                }
                Block::List { items, .. } => format!("list {}", items.len()),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn markdown_is_rendered_and_line_breaks_stay() {
        let text = "# Fix `x`\n\nDo it **now**,\nplease.\n\n- one\n- two\n\n  more of two\n\n```sh\nls  -l\n\nls\n```";
        let expected = [
            "h1 Fix <x>",
            "Do it B(now),\nplease.",
            "list 2",
            "pre ls  -l\n\nls",
        ];
        assert_eq!(shown(text), expected);
    }

    #[test]
    fn pasted_text_is_shown_as_written() {
        for text in [
            "error: oh\n  --> src/a.rs:1:2\n   |\n 1 | x",
            "Traceback:\n  File \"x.py\", line 1\nValueError: *x*",
            "total 8\n-rw-r--r--  1 root  12 a_b_\n-rw-r--r--  1 root  99 c_d_",
            "Name\tSize\na_\t1_",
            "Results\n=======\n1 passed",
            "- old line\n+ new line",
            ">>> print(__name__)",
            "def f():\n    # comment\n    return 1\n# done",
            "┌──┐\n│ *│\n└──┘",
        ] {
            assert_eq!(shown(text), [format!("pre {}", text.replace('\t', "    "))]);
        }
        for text in [
            "[error]: done",
            "<task>\nDo *this*\n</task>",
            "7. seven\n9. nine",
            "&amp; is not & and C:\\_x\\*y",
            "src/*.rs and tests/*.rs",
            "see __init__.py",
            "2*3*4",
            "a\\\nb",
            "one <br> two",
        ] {
            assert_eq!(shown(text), [text]);
        }
    }

    #[test]
    fn no_character_of_a_message_can_act() {
        assert_eq!(shown("**a**\u{1b}[2J"), ["B(a)\\x1B[2J"]);
        assert_eq!(shown("a\tb\u{1b}"), ["pre a    b\\x1B"]);
        assert_eq!(shown("a\r\nb\rc"), ["a\nb\nc"]);
    }
}
