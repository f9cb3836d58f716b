//! Messages that are one huge block, or that provoke repeated parsing: the work
//! stays proportional to the message, and the open part stays small.

use crate::pieces::{self, Cut, View, WINDOW};

const SIZE: usize = 400_000;

/// Maximum bytes parsed per byte of the message.
const MOST: usize = 5;

fn filled(head: &str, line: &str) -> String {
    head.to_owned() + &line.repeat(SIZE / line.len())
}

fn numbered(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        text.push_str(&line(number));
        if text.len() > SIZE {
            break;
        }
    }
    text
}

fn check(name: &str, text: &str) {
    let mut view = View::new();
    for (index, piece) in Cut::Sizes(&[8]).pieces(text).into_iter().enumerate() {
        view.stream.push(piece);
        view.write();
        if index % 512 == 0 {
            let painted = view.paint();
            assert!(painted < 20 * WINDOW, "{name}: {painted} bytes are painted");
        }
    }
    let before_end = view.stream.parsed_bytes();
    assert!(
        before_end <= MOST * text.len(),
        "{name}: {before_end} bytes parsed of {}",
        text.len()
    );
    view.stream.finish();
    let parsed = view.stream.parsed_bytes();
    assert!(
        parsed <= MOST * text.len(),
        "{name}: {parsed} bytes parsed of {}",
        text.len()
    );
    pieces::compare(&view.finish(), &pieces::whole(text), name);
}

#[test]
fn one_fence() {
    check("fence", &filled("```\n", "let a = [1, 2, 3];\n"));
    check("one line", &filled("```rust\n", "a + "));
    check("fence in an item", &filled("- ```\n", "  a = b\n"));
    check("fence in a quote", &filled("> ```\n", "> a = b\n"));
}

#[test]
fn one_paragraph() {
    check("no line ends", &filled("", "some *words* and `code` "));
    check("lines", &filled("", "some words\n"));
    check("one word", &filled("", "a"));
    check("open signs", &filled("", "*a [b "));
}

#[test]
fn one_list() {
    check("tight", &filled("", "- an item of a list\n"));
    check("loose", &filled("", "1. an item\n\n   and more of it\n\n"));
    check("one item", &filled("- a\n", "  more of it\n"));
    check("one loose item", &filled("- a\n", "\n  more of it\n"));
    check("nested", &filled("- a\n", "  - b\n    - c\n"));
}

#[test]
fn one_table() {
    check(
        "table",
        &filled("| a | b |\n|---|---|\n", "| cell | `other` |\n"),
    );
    let text = filled("| a | b |\n|---|---|\n", "| c | d |\n") + &filled("\n", "text\n\n");
    check("table and text", &text);
}

#[test]
fn one_quote() {
    check("quote", &filled("", "> quoted words\n"));
    check("nested", &filled("", "> > > > quoted words\n"));
    check("deep", &filled("", &(">".repeat(200) + " a\n")));
    check("paragraphs", &filled("", "> quoted\n>\n"));
}

#[test]
fn one_block_of_other_kinds() {
    check("html", &filled("<!--\n", "text\n\n"));
    check("indented", &filled("", "    code\n\n"));
    check("footnote", &filled("[^1]: a\n", "\n    more\n"));
    check("empty lines", &filled("", "\n"));
    check("carriage returns", &filled("", "a\r\rb\r"));
    check("rules", &filled("", "***\n"));
    check("short paragraphs", &filled("", "a\n\n"));
}

#[test]
fn references() {
    check("waiting", &filled("[a][late]\n\n", "text\n\n"));
    check("all waiting", &numbered(|n| format!("[a][b{n}]\n\n")));
    check("shortcuts", &numbered(|n| format!("see [b{n}]\n\n")));
    check("definitions", &numbered(|n| format!("[b{n}]: c\n\n")));
    check(
        "definitions after a paragraph",
        &(filled("", "text\n") + &numbered(|n| format!("\n[b{n}]: c\n"))),
    );
    check(
        "defined before",
        &numbered(|n| format!("[b{n}]: c\n\n[a][b{n}] and [b{n}]\n\n")),
    );
    let waiting = numbered(|n| format!("[a][b{n}]\n\n"));
    check(
        "defined late",
        &(waiting + &numbered(|n| format!("[b{n}]: c\n\n"))),
    );
    check(
        "footnotes",
        &numbered(|n| format!("text[^{n}]\n\n[^{n}]: b\n\n")),
    );
}
