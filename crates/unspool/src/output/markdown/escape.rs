//! Escapes text for Markdown and for the HTML that GitHub accepts in it.
//!
//! Text is shown literally: no markup, no HTML, no notifications. A name after
//! `@`, an issue number after `#` or `GH-` and an issue URL would notify people
//! or leave a reference; an invisible character, which GitHub keeps, prevents
//! that.

use std::fmt::Write as _;

/// An invisible character that breaks a word.
const BREAK: &str = "&#8203;";

/// Escapes text within a line of Markdown.
pub(super) fn inner(text: &str) -> String {
    escaped(text, |character| {
        matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$'
        )
    })
}

/// Escapes text at the start of a line of Markdown.
pub(super) fn line_start(text: &str) -> String {
    let mut out = inner(text);
    if let Some(at) = marker(&out) {
        out.insert(at, '\\');
    }
    out
}

/// Escapes text within HTML.
pub(super) fn html(text: &str) -> String {
    escaped(text, |_| false)
}

/// Wraps text in an inline code span.
pub(super) fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.trim().is_empty() {
        return text;
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    let is_padded = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let pad = if is_padded { " " } else { "" };
    // A bar ends a table cell, even in code.
    let text = text.replace('|', "\u{2502}");
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Wraps text in a fence that nothing inside can close.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// Returns a link address in angle brackets; `None` if GitHub would leave a
/// reference there.
pub(super) fn address(address: &str) -> Option<String> {
    let lower = address.to_ascii_lowercase();
    if lower.contains("github.com/") && lower.matches('/').count() > 4 {
        return None;
    }
    let mut out = String::new();
    for character in address.chars() {
        match character {
            '<' | '>' | '"' | '\\' | '|' | ' ' | '\n' | '`' => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "%{byte:02X}");
                }
            }
            character if character.is_control() => {}
            character => out.push(character),
        }
    }
    Some(format!("<{out}>"))
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

fn escaped(text: &str, with_backslash: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut previous = [' ', ' ', ' '];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => {
                out.push('@');
                out.push_str(BREAK);
            }
            '#' if next.is_ascii_digit() => {
                out.push('#');
                out.push_str(BREAK);
            }
            '-' if next.is_ascii_digit() && is_issue(&previous) => {
                out.push('-');
                out.push_str(BREAK);
            }
            '/' if is_host(&out) => {
                out.push_str(BREAK);
                out.push('/');
            }
            '\n' => out.push('\n'),
            character if character.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            character => {
                if with_backslash(character) {
                    out.push('\\');
                }
                out.push(character);
            }
        }
        previous = [previous[1], previous[2], character];
    }
    out
}

fn is_issue(previous: &[char; 3]) -> bool {
    let [before, g, h] = previous;
    !before.is_alphanumeric() && g.eq_ignore_ascii_case(&'g') && h.eq_ignore_ascii_case(&'h')
}

fn is_host(out: &str) -> bool {
    const HOST: &str = "github.com";
    let tail = out.len().checked_sub(HOST.len());
    let tail = tail.and_then(|at| out.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(HOST))
}

/// Returns the offset of a heading, list or rule marker at the start of a line.
fn marker(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let rest = line.get(start..)?;
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    match rest.chars().nth(digits)? {
        '.' | ')' if digits > 0 => Some(start + digits),
        '#' | '+' | '-' | '=' | ':' if digits == 0 => Some(start),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_notified() {
        assert_eq!(line_start("ask @octocat"), "ask @&#8203;octocat");
        assert_eq!(
            line_start("fixes #12, o/r#3"),
            "fixes #&#8203;12, o/r#&#8203;3"
        );
        assert_eq!(
            line_start("GH-4 gh-5 agh-6"),
            "GH-&#8203;4 gh-&#8203;5 agh-6"
        );
        assert_eq!(
            line_start("https://github.com/o/r/issues/1"),
            "https://github.com&#8203;/o/r/issues/1"
        );
        assert_eq!(address("https://github.com/o/r/issues/1"), None);
        assert_eq!(html("@a"), "@&#8203;a");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(line_start("# a"), "\\# a");
        assert_eq!(line_start("12. a"), "12\\. a");
        assert_eq!(line_start("- a"), "\\- a");
        assert_eq!(
            line_start("<b>*a*_b_`c`[d](e)"),
            "&lt;b&gt;\\*a\\*\\_b\\_\\`c\\`\\[d\\](e)"
        );
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("", "a\n````\nb"), "`````\na\n````\nb\n`````");
        assert_eq!(address("x> <y").as_deref(), Some("<x%3E%20%3Cy>"));
    }
}
