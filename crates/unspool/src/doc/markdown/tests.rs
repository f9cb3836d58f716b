//! Tests of common and hostile Markdown.

use super::*;
use crate::doc::{Role, Span};

/// Summarises blocks: one line per block, indented by nesting.
fn outline(text: &str) -> String {
    let mut output = String::new();
    describe(&blocks(text), 0, &mut output);
    output
}

fn describe(blocks: &[Block], depth: usize, output: &mut String) {
    for block in blocks {
        let mut put = |text: String| {
            output.push_str(&"  ".repeat(depth));
            output.push_str(&text);
            output.push('\n');
        };
        match block {
            Block::Paragraph(line) => put(marked(line)),
            Block::Heading(level, line) => put(format!("h{level} {}", marked(line))),
            Block::List { start, items } => {
                put(format!("list {start:?}"));
                for item in items {
                    output.push_str(&"  ".repeat(depth));
                    let apart = if item.apart { " apart" } else { "" };
                    let loose = if item.loose { " loose" } else { "" };
                    output.extend([format!(" item {:?}{apart}{loose}\n", item.done)]);
                    describe(&item.blocks, depth + 1, output);
                }
            }
            Block::Quote(inner) => {
                put("quote".to_owned());
                describe(inner, depth + 1, output);
            }
            Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => lines
                .iter()
                .for_each(|line| put(format!("|{}", joined(line)))),
            Block::Table(table) => {
                put(format!("table {:?}", table.alignments));
                for row in std::iter::once(&table.header).chain(&table.rows) {
                    let cells: Vec<String> = row.iter().map(|cell| marked(cell)).collect();
                    output.extend([format!(" {}\n", cells.join(" / "))]);
                }
            }
            Block::Rule => put("rule".to_owned()),
            Block::Diff(_) => put("diff".to_owned()),
            Block::Media(_) => put("media".to_owned()),
        }
    }
}

fn joined(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// Returns the text with style markers: `*i*`, `**b**`, `` `accent` ``,
/// `<link>`.
fn marked(line: &[Span]) -> String {
    line.iter()
        .map(|span| {
            let mut shown = span.text.replace('\n', "⏎");
            if span.style.role == Role::Accent {
                shown = format!("`{shown}`");
            }
            if span.style.bold {
                shown = format!("**{shown}**");
            }
            if span.style.italic {
                shown = format!("*{shown}*");
            }
            if span.style.strike {
                shown = format!("~{shown}~");
            }
            match &span.link {
                Some(address) => format!("{shown}<{address}>"),
                None => shown,
            }
        })
        .collect()
}

#[test]
fn inline_styles() {
    assert_eq!(
        outline("a *b* **c *d*** `e` ~~f~~ g\nh  \ni<br>j <b>k</b> &amp; \\*l\\*"),
        "a *b* **c *****d*** `e` ~f~ g h⏎i⏎j <b>k</b> & *l*\n"
    );
}

#[test]
fn links_and_images() {
    assert_eq!(
        outline("[n]: o\n\n[a **b**](u) <https://c.d> ![alt](i.png) ![](j.png) [![k](l)](m) [n]"),
        "a <u>**b**<u> https://c.d<https://c.d> alt<i.png> j.png<j.png> k<m> n<o>\n"
    );
}

#[test]
fn headings_rules_quotes_and_code() {
    let source = "# One\n\nTwo\n---\n\n> q\n> r\n>\n> s\n\n***\n\n```rust\nfn a() {}\n\tb\n```\n\n    c\n\n<div>\nd\n</div>\n";
    assert_eq!(
        outline(source),
        "h1 One\nh2 Two\nquote\n  q r\n  s\nrule\n|fn a() {}\n|    b\n|c\n|<div>\n|d\n|</div>\n"
    );
}

#[test]
fn lists_nest_and_are_tight_or_loose() {
    assert_eq!(
        outline("- a\n  - [x] b\n  - [ ] c\n- d\n  ```\n  e\n  ```\n"),
        "list None\n item None\n  a\n  list None\n   item Some(true)\n    b\n   item Some(false)\n    c\n item None\n  d\n  |e\n"
    );
    assert_eq!(
        outline("3. a\n\n   b\n4. c\n"),
        "list Some(3)\n item None loose\n  a\n  b\n item None apart\n  c\n"
    );
}

#[test]
fn empty_lines_between_items_are_those_of_the_source() {
    assert_eq!(
        outline("- a\n- b\n\n- c\n- d\n"),
        "list None\n item None\n  a\n item None\n  b\n item None apart\n  c\n item None\n  d\n"
    );
    assert_eq!(
        outline("> - a\n>\n> - b\n>   - c\n>\n>   - d\n> - e\n"),
        "quote\n  list None\n   item None\n    a\n   item None apart\n    b\n    list None\n     item None\n      c\n     item None apart\n      d\n   item None\n    e\n"
    );
}

#[test]
fn a_shortcut_reference_needs_an_earlier_definition() {
    assert_eq!(
        outline("[a]: b\n\n[a] [c] [x][c] [c][]\n\n[c] [d]\n\n[c]: e\n[d]: f\n\n[d]\n"),
        "a<b> [c] x<e> c<e>\n[c] [d]\n`[c]: `e<e>⏎`[d]: `f<f>\nd<f>\n"
    );
    assert_eq!(outline("[a][b]\n\n[b]: c\n\nd\n"), "a<c>\nd\n");
}

#[test]
fn tables_and_footnotes() {
    assert_eq!(
        outline("| a | b |\n|:-:|--:|\n| `c` | **d**<br>e |\n| f |\n"),
        "table [Center, Right]\n a / b\n `c` / **d**⏎e\n f\n"
    );
    assert_eq!(
        outline("a[^1] [^a-z]\n\n[^1]: b\n[^2]: c\n\n    d\n"),
        "a`[^1]` `[^a-z]`\n`[^1]: `b\n`[^2]: `c\nd\n"
    );
}

#[test]
fn control_characters_are_escaped_everywhere() {
    let source = "&#27;[2J `\u{1b}` [a](<\u{1b}>)\n\n```\n\u{1b}]0;\u{7}\n```\n\n<p \u{202e}>\n\n| \u{9b} |\n|-|\n| &#x202e; |\n";
    let shown = outline(source);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
    assert!(!shown.contains('\u{202E}'));
    assert!(shown.contains("\\x1B[2J") && shown.contains("|\\x1B]0;\\x07"));
}

#[test]
fn units_know_where_they_start() {
    let source = "# a\n\nb\nc\n\n- d\n- e\n\n---\n\n> f\n";
    let parsed = parse(source, Code::Once, |_, _| None);
    let starts: Vec<&str> = parsed
        .units
        .iter()
        .map(|unit| source.get(unit.range.start..).expect("a boundary"))
        .map(|rest| rest.lines().next().expect("a line"))
        .collect();
    assert_eq!(starts, ["# a", "b", "- d", "- e", "---", "> f"]);
}

#[test]
fn nesting_beyond_the_limit_is_flattened() {
    fn depth(blocks: &[Block]) -> usize {
        let inner = |block: &Block| match block {
            Block::Quote(blocks) => 1 + depth(blocks),
            Block::List { items, .. } => {
                1 + items
                    .iter()
                    .map(|item| depth(&item.blocks))
                    .max()
                    .unwrap_or(0)
            }
            _ => 0,
        };
        blocks.iter().map(inner).max().unwrap_or(0)
    }
    for source in [
        ">".repeat(20_000) + "a",
        "- ".repeat(20_000) + "a",
        "1. > ".repeat(10_000) + "a",
        (0..300).map(|n| " ".repeat(2 * n) + "- a\n").collect(),
        "> ".repeat(2000) + "a\n" + &"b\n".repeat(2000),
    ] {
        let blocks = blocks(&source);
        assert!(depth(&blocks) <= DEEPEST);
        let mut shown = String::new();
        describe(&blocks, 0, &mut shown);
        assert!(shown.contains('a'));
    }
}

#[test]
fn hostile_text_parses_in_time() {
    let many = 20_000;
    let table = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(500),
        "-|".repeat(500),
        "|\n".repeat(many)
    );
    for source in [
        "[".repeat(many),
        "![".repeat(many),
        "*a _b ".repeat(many),
        "**a ".repeat(many) + &"b** ".repeat(many),
        "`".repeat(many) + "a",
        (1..300).map(|n| "`".repeat(n) + " ").collect(),
        "<!--".repeat(many),
        "<a ".repeat(many),
        "[a](".repeat(many),
        "&".repeat(many),
        "\\".repeat(many),
        "~~a".repeat(many),
        "[^a]: ".repeat(many),
        "[^a]\n".repeat(many),
        "```\n".repeat(many),
        table,
    ] {
        assert!(outline(&source).len() <= 40 * source.len());
    }
}
