//! Titles: one line of plain text for headings and lists.
//!
//! The titles of sessions are written by models and the prompts by people; both
//! use Markdown, which a list of sessions or the title of a window cannot show.

use crate::sanitize;

/// Returns a Markdown text as one line without its marks, sanitised.
///
/// Characters that only look like marks stay: those of paths and patterns.
///
/// ```
/// use unspool::doc::title;
///
/// assert_eq!(title::plain("**Fix** `x`"), "Fix x");
/// assert_eq!(title::plain("# Sort src/*.rs and tests/*.rs"), "Sort src/*.rs and tests/*.rs");
/// ```
pub fn plain(text: &str) -> String {
    let text = text.trim();
    let line = if has_marks(text) {
        without_marks(text)
    } else {
        text.to_owned()
    };
    let line = if line.trim().is_empty() { text } else { &line };
    sanitize::line(&single_spaced(line)).into_owned()
}

/// Returns the first line with content as plain text.
///
/// ```
/// use unspool::doc::title;
///
/// assert_eq!(title::first_line("\n## **Fix** it\n\nNow."), "Fix it");
/// ```
pub fn first_line(text: &str) -> String {
    let is_fence = |line: &&str| line.starts_with("```") || line.starts_with("~~~");
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    plain(lines.find(|line| !is_fence(line)).unwrap_or(first))
}

/// Returns true if the text may hold marks: most titles hold none.
fn has_marks(text: &str) -> bool {
    let starts = text.starts_with(|c: char| "#>-+".contains(c) || c.is_ascii_digit());
    starts || text.contains(|c: char| "*_`~[\\&!".contains(c))
}

fn single_spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(not(feature = "markdown"))]
fn without_marks(text: &str) -> String {
    text.to_owned()
}

#[cfg(feature = "markdown")]
fn without_marks(text: &str) -> String {
    use std::fmt::Write as _;

    use super::markdown::is_emphasis;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    let mut line = String::new();
    // The next number of each open list.
    let mut numbers: Vec<Option<u64>> = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        // A mark that is none is text.
        let mut mark = |length: usize| {
            if !is_emphasis(text, &range) {
                line.push_str(
                    text.get(range.start..range.start + length)
                        .unwrap_or_default(),
                );
            }
        };
        match event {
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => mark(1),
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => mark(2),
            Event::Start(Tag::Strikethrough) | Event::End(TagEnd::Strikethrough) => {
                let is_double = text
                    .get(range.clone())
                    .is_some_and(|text| text.starts_with("~~"));
                mark(if is_double { 2 } else { 1 });
            }
            Event::Start(Tag::List(start)) => numbers.push(start),
            Event::End(TagEnd::List(_)) => {
                numbers.pop();
            }
            Event::Start(Tag::Item) => {
                if let Some(Some(number)) = numbers.last_mut() {
                    // Writing to a String cannot fail.
                    let _ = write!(line, "{number}. ");
                    *number = number.saturating_add(1);
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                line.push_str(&text);
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock,
            ) => line.push(' '),
            _ => {}
        }
    }
    line
}

#[cfg(all(test, feature = "markdown"))]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed() {
        for (text, shown) in [
            ("**Fix** `x`", "Fix x"),
            ("# The parser", "The parser"),
            ("- one thing", "one thing"),
            ("2. second", "2. second"),
            ("> quoted *words*", "quoted words"),
            ("See [the page](https://x.test)", "See the page"),
            ("![a picture](x.png)", "a picture"),
            ("~~old~~ new", "old new"),
            ("a  b\n\nc", "a b c"),
            ("``` rust", "``` rust"),
            ("---", "---"),
        ] {
            assert_eq!(plain(text), shown, "{text}");
        }
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "Fix __init__.py",
            "#123 is back",
            "src/*.rs and tests/*.rs",
            "2*3*4 is 24",
            "snake_case_name",
            "a < b && c > d",
            "<b>bold</b>",
            "Use Vec<T> here",
            "C:\\Users\\x",
            "*args and **kwargs",
            "array[0] = x",
            "-v is a flag",
        ] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(plain("**a**\u{1b}[2J"), r"a\x1B[2J");
        assert_eq!(plain("&#27;[2J *x*"), r"\x1B[2J x");
        assert_eq!(plain("**\u{202e}x**"), r"\u{202E}x");
    }

    #[test]
    fn the_first_line_with_text_is_taken() {
        assert_eq!(first_line("```rust\nfn x() {}\n```"), "fn x() {}");
        assert_eq!(first_line("\n\n**Do**\nthis"), "Do");
        assert_eq!(first_line("```"), "```");
        assert_eq!(first_line(""), "");
    }
}
