//! Cuts bodies to the line limit and adds a line that counts the omitted ones.
//!
//! Processes only the lines shown, however long the output is, unless there is
//! a search.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

use super::envelope;
use crate::doc::entry::{Detail, Excerpt, Part};
use crate::doc::{Block, Line, Role, Span, Style, capture, clean_lines, from_first_line};
use crate::event::Payload;
use crate::sanitize;

/// Maximum characters of a line, unless the line limit is off.
const LONGEST_LINE: usize = 400;

/// Lines shown above a search match.
const CONTEXT: usize = 1;

/// The shown part of a text, with the numbers of lines omitted before and
/// after.
pub(super) struct Head<'a> {
    pub(super) before: usize,
    pub(super) text: Cow<'a, str>,
    pub(super) after: usize,
}

/// Returns the sanitised lines to show, with counts of the omitted ones.
pub(crate) fn excerpt_lines(
    text: &str,
    style: Style,
    detail: &Detail,
    excerpt: Excerpt,
) -> Vec<Line> {
    let head = head(text, detail);
    let mut lines = clean_lines(&head.text, style);
    if head.before > 0 || !has_end(excerpt, lines.len(), head.after) {
        return shown(head.before, lines, head.after, detail);
    }
    let text = sanitize::text(text.trim_end());
    let count = lines.len() - 1;
    let start = memchr::memrchr_iter(b'\n', text.as_bytes()).nth(count - 1);
    let end = start.and_then(|at| text.get(at + 1..)).unwrap_or_default();
    lines.truncate(1);
    ends(lines, head.after, clean_lines(end, style), detail)
}

/// Returns true if the last lines of a body are shown, given the numbers of its
/// first lines and of those after them.
fn has_end(excerpt: Excerpt, first: usize, after: usize) -> bool {
    excerpt == Excerpt::Tail && first > 1 && after > 0
}

/// Joins the first and the last lines with the number of those between.
fn ends(mut first: Vec<Line>, between: usize, mut last: Vec<Line>, detail: &Detail) -> Vec<Line> {
    for line in first.iter_mut().chain(&mut last) {
        cut(line, detail);
    }
    first.extend(rest_line(between));
    first.append(&mut last);
    first
}

/// Selects the lines to show.
pub(super) fn head<'a>(text: &'a str, detail: &Detail) -> Head<'a> {
    let text = from_first_line(text.trim_end());
    let limit = detail.lines.unwrap_or(usize::MAX);
    if let Some(window) = search_window(text, detail, limit) {
        return window;
    }
    let end = match limit.checked_sub(1) {
        None => 0,
        Some(last) => memchr::memchr2_iter(b'\n', b'\r', text.as_bytes())
            .filter(|at| {
                !text
                    .as_bytes()
                    .get(*at..)
                    .is_some_and(|rest| rest.starts_with(b"\r\n"))
            })
            .nth(last)
            .unwrap_or(text.len()),
    };
    let (head, rest) = text.split_at(end);
    let after = match rest.strip_prefix(['\n', '\r']).unwrap_or(rest) {
        "" => 0,
        rest => sanitize::text(rest).lines().count(),
    };
    Head {
        before: 0,
        text: Cow::Borrowed(head),
        after,
    }
}

/// Selects the lines around the first search match, if it lies beyond the
/// limit.
fn search_window<'a>(text: &str, detail: &Detail, limit: usize) -> Option<Head<'a>> {
    let search = detail.search.as_ref().filter(|_| limit > 0)?;
    let text = sanitize::text(text);
    let lines: Vec<&str> = text.lines().collect();
    let found = lines.iter().position(|line| search.matches(line))?;
    let (start, end) = window(found, lines.len(), limit)?;
    Some(Head {
        before: start,
        text: Cow::Owned(lines.get(start..end)?.join("\n")),
        after: lines.len() - end,
    })
}

/// Returns the range of `limit` lines around a match, if it lies beyond the
/// limit.
pub(super) fn window(found: usize, count: usize, limit: usize) -> Option<(usize, usize)> {
    let above = CONTEXT.min(limit.saturating_sub(1));
    let start = found.checked_sub(above).filter(|_| found >= limit)?;
    Some((start, start.saturating_add(limit).min(count)))
}

/// Returns the lines of terminal output to show.
pub(super) fn captured(text: &str, detail: &Detail, excerpt: Excerpt) -> Vec<Line> {
    let limit = detail.lines.unwrap_or(usize::MAX);
    if let Some(search) = detail.search.as_ref().filter(|_| limit > 0) {
        let mut lines = capture::lines(text);
        let text = |line: &Line| -> String { line.iter().map(|span| span.text.as_str()).collect() };
        let found = lines.iter().position(|line| search.matches(&text(line)));
        if let Some((start, end)) = found.and_then(|at| window(at, lines.len(), limit)) {
            let after = lines.len() - end;
            lines.truncate(end);
            return shown(start, lines.split_off(start), after, detail);
        }
    }
    let mut head = capture::head(text, limit);
    if head.lines.first().is_some_and(is_blank) {
        return captured_below_blanks(text, limit, detail, excerpt);
    }
    if has_end(excerpt, head.lines.len(), head.more) {
        let last = capture::tail(text, head.lines.len() - 1);
        head.lines.truncate(1);
        return ends(head.lines, head.more, last, detail);
    }
    shown(0, head.lines, head.more, detail)
}

/// Returns the lines to show of output that starts with blank lines, for
/// example because it moved the cursor down.
fn captured_below_blanks(text: &str, limit: usize, detail: &Detail, excerpt: Excerpt) -> Vec<Line> {
    let mut lines = capture::lines(text);
    let blank = lines.iter().take_while(|line| is_blank(line)).count();
    lines.drain(..blank);
    let is_cut = lines.len() > limit;
    let after = if is_cut { lines.len() - limit } else { 0 };
    if has_end(excerpt, limit, after) {
        let last = lines.split_off(after + 1);
        lines.truncate(1);
        return ends(lines, after, last, detail);
    }
    lines.truncate(lines.len() - after);
    shown(0, lines, after, detail)
}

fn is_blank(line: &Line) -> bool {
    line.iter().all(|span| span.text.trim().is_empty())
}

/// Returns the first lines of a long output after its header; `None` if that
/// requires processing all of it.
pub(super) fn opening(
    output: &Payload,
    detail: &Detail,
    exit_code: Option<i64>,
) -> Option<Vec<Line>> {
    if detail.search.is_some() {
        return None;
    }
    let head = opening_head(output, detail.lines?, exit_code)?;
    if head.lines.first().is_some_and(is_blank) {
        return None;
    }
    Some(shown(0, head.lines, head.more, detail))
}

fn opening_head(output: &Payload, shown: usize, exit_code: Option<i64>) -> Option<capture::Head> {
    let opening = output.opening(shown.checked_add(envelope::LONGEST_HEADER + 2)?)?;
    if opening.ends_in_tag {
        return None;
    }
    let text = envelope::without_preamble(&opening.text, exit_code);
    let header = opening.text.strip_suffix(text)?;
    let skipped = memchr::memchr_iter(b'\n', header.as_bytes()).count();
    let count = opening.lines.saturating_sub(skipped);
    // After many blank lines, too few lines may be left.
    if text.lines().count() <= shown || count <= shown {
        return None;
    }
    capture::first_lines(text, shown, count)
}

/// Adds counts of the omitted lines before and after.
fn shown(before: usize, mut lines: Vec<Line>, after: usize, detail: &Detail) -> Vec<Line> {
    for line in &mut lines {
        cut(line, detail);
    }
    if !lines.is_empty() {
        lines.splice(..0, rest_line(before));
        lines.extend(rest_line(after));
    }
    lines
}

/// Cuts a very long line, unless the line limit is off.
pub(super) fn cut(line: &mut Line, detail: &Detail) {
    let bytes: usize = line.iter().map(|span| span.text.len()).sum();
    if bytes <= LONGEST_LINE || detail.lines.is_none() {
        return;
    }
    let mut left = LONGEST_LINE;
    for index in 0..line.len() {
        let Some(span) = line.get_mut(index) else {
            return;
        };
        let mut clusters = span.text.grapheme_indices(true);
        let Some((end, _)) = clusters.nth(left) else {
            left -= span.text.graphemes(true).count();
            continue;
        };
        span.text.truncate(end);
        line.truncate(index + 1);
        line.push(Span::role("…", Role::Accent));
        return;
    }
}

/// Cuts the lines of a text in the same way.
pub(super) fn cut_text<'a>(text: Cow<'a, str>, detail: &Detail) -> Cow<'a, str> {
    let is_long = |line: &str| line.len() > LONGEST_LINE;
    if detail.lines.is_none() || !text.lines().any(is_long) {
        return text;
    }
    let mut lines = clean_lines(&text, Style::default());
    for line in &mut lines {
        cut(line, detail);
    }
    let text = |line: Line| -> String { line.into_iter().map(|span| span.text).collect() };
    let lines: Vec<String> = lines.into_iter().map(text).collect();
    Cow::Owned(lines.join("\n"))
}

/// Returns the line that counts omitted lines.
pub(super) fn rest_line(more: usize) -> Option<Line> {
    let noun = if more == 1 { "line" } else { "lines" };
    (more > 0).then(|| vec![Span::role(format!("… +{more} {noun}"), Role::Accent)])
}

/// Renders lines as a paragraph that wraps between words.
pub(super) fn prose(lines: Vec<Line>) -> Part {
    let mut paragraph = Line::new();
    for (index, line) in lines.into_iter().enumerate() {
        if index > 0 {
            paragraph.push(Span::role("\n", Role::Normal));
        }
        paragraph.extend(line);
    }
    Part::response(vec![Block::Paragraph(paragraph)])
}

pub(crate) fn verbatim(lines: Vec<Line>) -> Option<Part> {
    (!lines.is_empty()).then(|| Part::response(vec![Block::Output(lines)]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Json;

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let detail = Detail::default();
        let span = |text: &str| Span::new(text, Style::default());
        let mut line = vec![span(&"a".repeat(399)), span("e\u{301}e\u{301}")];
        cut(&mut line, &detail);
        let texts: Vec<&str> = line.iter().skip(1).map(|span| span.text.as_str()).collect();
        assert_eq!(texts, ["e\u{301}", "…"]);
        let mut fits = vec![span(&"é".repeat(400))];
        cut(&mut fits, &detail);
        assert_eq!(fits.len(), 1);
    }

    proptest! {
        #[test]
        fn the_opening_equals_that_of_the_whole_output(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "word", "  ", "\n", "\n", "\n", "\t", "\r\n", "é", "漢", "\u{301}", "\u{1b}[31m",
                    "\u{1b}[0m", "\u{1b}[44m", "\u{1b}[K", "\u{1b}[2D",
                ]),
                0..60,
            ),
            shown in 1usize..4,
        ) {
            let text = "x".repeat(64) + &"\n".repeat(envelope::LONGEST_HEADER) + &pieces.concat();
            let literal = serde_json::to_string(&text).unwrap();
            let payload = Json::parse(&literal).unwrap().payload();
            if let Some(head) = opening_head(&payload, shown, None) {
                prop_assert_eq!(head, capture::head(&text, shown), "{:?}", text);
            }
        }
    }
}
