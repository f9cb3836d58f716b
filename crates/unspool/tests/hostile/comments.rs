//! Markup in every string of every event: a comment shows it as text, notifies
//! nobody, fits its limit and is well-formed.

use html5gum::{Token, Tokenizer};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use unspool::doc::card::card;
use unspool::doc::entry::{Detail, Reasoning};
use unspool::output::About;
use unspool::output::markdown::{Markdown, SMALLEST};

use crate::fields::{cases, inside, poisoned};
use crate::samples::samples;
use crate::{entries, events};

const TEXTS: &[&str] = &[
    "@zz #12 GH-3 <zz a=\"b\">&lt;zz&gt;</zz></details></summary></code><!-- x --> **a** _b_ `c` ~~d~~ $e$",
    "\n````\n@zz\n```\n~~~~~\n<zz>\n# @zz\n\n@zz\n---\n- #1\n1. #2\n> @zz\n===\n",
    "[a](javascript:x) [b](https://github.com/o/r/issues/1) ![c](https://a/b) https://github.com/o/r/pull/2 <https://a/@zz> [@zz](https://a/|b)",
    "| @zz | `a|b` |\n|---|---|\n| <zz> | #1 |\n\n```@zz\n</details>\n```",
    "``` ` `` ```` @zz\\",
];

const ELEMENTS: &[&str] = &["details", "summary", "b", "i", "s", "code", "sub", "br"];

fn comment(lines: &[u8], limit: usize, title: &str) -> String {
    let detail = Detail::default()
        .with_reasoning(Reasoning::Full)
        .with_highlight(false);
    let about = About {
        title: title.to_owned(),
        facts: vec![("Agent".to_owned(), title.to_owned())],
    };
    let mut comment = Markdown::new(Vec::new(), about, limit);
    for entry in entries(&events(lines)) {
        if let Some(card) = card(&entry, &detail) {
            comment.card(&card);
        }
    }
    let figures = [("Turns".to_owned(), "1".to_owned())];
    String::from_utf8(comment.finish(&figures).unwrap()).unwrap()
}

/// Fails if the comment contains foreign markup or would notify people.
fn check(comment: &str) -> Result<(), String> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut html, mut words, mut headings) = (String::new(), String::new(), 0);
    let mut in_code = false;
    for event in Parser::new_ext(comment, options) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(text) if !in_code => words.push_str(&text),
            Event::Html(text) | Event::InlineHtml(text) => html.push_str(&text),
            Event::Start(Tag::Heading { level, .. }) => {
                headings += 1;
                if (headings == 1) != (level as usize == 3) {
                    return Err(format!("a heading of level {level}"));
                }
            }
            Event::Start(Tag::Image { .. }) => return Err("an image".to_owned()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_ours = dest_url.starts_with("http") && !dest_url.contains("github.com");
                if !is_ours {
                    return Err(format!("a link to {dest_url}"));
                }
            }
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell,
            ) => {
                words.push('\n');
            }
            _ => {}
        }
    }
    words.push_str(&checked_html(&html)?);
    notifies_nobody(&words)
}

/// Returns the text of HTML outside code, if all its elements are ours.
fn checked_html(html: &str) -> Result<String, String> {
    let (mut open, mut words) = (Vec::new(), String::new());
    for token in Tokenizer::new(html) {
        match token.map_err(|error| error.to_string())? {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                if !ELEMENTS.contains(&name.as_str()) || !tag.attributes.is_empty() {
                    return Err(format!("<{name}>"));
                }
                if name != "br" {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                if open.pop().as_deref() != Some(&name) {
                    return Err(format!("</{name}>"));
                }
            }
            Token::String(text) if open.last().is_none_or(|name| name != "code") => {
                words.push_str(&String::from_utf8_lossy(&text));
            }
            Token::String(_) => {}
            other => return Err(format!("{other:?}")),
        }
    }
    if open.is_empty() {
        Ok(words)
    } else {
        Err(format!("{open:?} is never closed"))
    }
}

fn notifies_nobody(words: &str) -> Result<(), String> {
    let followed = |mark: &str, by: fn(char) -> bool| {
        let mut rest = words.split(mark).skip(1);
        rest.any(|rest| rest.chars().next().is_some_and(by))
    };
    if followed("@", char::is_alphanumeric) {
        return Err("somebody is named".to_owned());
    }
    let is_digit = |c: char| c.is_ascii_digit();
    if followed("#", is_digit) || followed("GH-", is_digit) || words.contains("github.com/") {
        return Err("an issue is named".to_owned());
    }
    Ok(())
}

#[test]
fn markup_in_any_field_is_text() {
    let samples = samples();
    for (sample, at, path) in cases(&samples) {
        for (index, text) in TEXTS.iter().enumerate() {
            let lines = poisoned(sample, at, &path, index % 2 == 0, &inside(text));
            let comment = comment(&lines, 65_000, text);
            if let Err(error) = check(&comment) {
                panic!(
                    "{error} in\n{comment}\nof\n{}",
                    String::from_utf8_lossy(&lines)
                );
            }
        }
    }
}

/// More than is kept in memory, and then more than fits.
#[test]
fn a_long_answer_is_shortened_twice() {
    for block in ["[^f]: y\n", "a\n\n", "Words of a paragraph.\n\n"] {
        let text = block.repeat(20 * SMALLEST / block.len());
        let answer = serde_json::json!({"kind": "text", "seq": 0, "id": "a", "text": text});
        let comment = comment(answer.to_string().as_bytes(), SMALLEST, "t");
        assert!(comment.len() <= SMALLEST, "{}", comment.len());
        check(&comment).unwrap();
    }
}

#[test]
fn a_comment_fits_and_is_well_formed() {
    let mut lines = Vec::new();
    for (index, sample) in samples().iter().enumerate() {
        for event in sample {
            let text = event
                .to_string()
                .replace("a\\nb\\n", &"a long line of output\\n".repeat(30 * index));
            lines.extend(text.into_bytes());
            lines.push(b'\n');
        }
    }
    let answer = serde_json::json!({"kind": "text", "seq": 0, "id": "last", "text": "The end, zqlast.\n\n```\ncode\n```\n"});
    lines.extend(answer.to_string().into_bytes());
    let whole = comment(&lines, usize::MAX, "t");
    assert!(whole.len() > 100_000, "{}", whole.len());
    check(&whole).unwrap();
    assert!(!whole.contains("Left out"));
    for limit in [SMALLEST, 6000, 10_000, 30_000, 65_000, 90_000] {
        let comment = comment(&lines, limit, &"@".repeat(500));
        assert!(comment.len() <= limit, "{} of {limit}", comment.len());
        assert!(comment.len() > limit / 3, "{} of {limit}", comment.len());
        check(&comment).unwrap();
        assert!(comment.contains("Left out to fit"));
        assert!(comment.contains("The end, zqlast."));
    }
}
