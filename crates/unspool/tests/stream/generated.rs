//! Generates Markdown with all constructs, nested, truncated and mixed.

use proptest::prelude::*;

const WORDS: &[&str] = &[
    "a",
    "word",
    "*em*",
    "**bold**",
    "_x_",
    "`code`",
    "``a ` b``",
    "~~gone~~",
    "*open",
    "**open",
    "`open",
    "[a](b)",
    "[a](",
    "![i](j)",
    "<https://c.d>",
    "<b>",
    "</b>",
    "<br>",
    "<!-- c -->",
    "<!--",
    "<?x",
    "&amp;",
    "&#27;",
    "\\*",
    "[a]",
    "[b]",
    "[a][b]",
    "[t][a]",
    "[b][]",
    "[c d][]",
    "![a][b]",
    "[^1]",
    "[^n]",
    "[^1][a]",
    "arr[0]",
    "x[i][j]",
    "[x](<a b>)",
    "漢字",
    "👩‍👩‍👧",
    "|",
    "a|b",
    "  ",
    "-",
    "1.",
    "#",
    "=",
    ">",
    "http://e.f",
    "\\",
    "*a [b* c]",
    "[a [^1] b](c)",
];

const LINES: &[&str] = &[
    "",
    "",
    "",
    "",
    " ",
    "   ",
    "\t",
    "# head",
    "## head ##",
    "#",
    "head\n====",
    "head\n---",
    "---",
    "***",
    "* * *",
    "- item",
    "- item",
    "* item",
    "+ item",
    "-",
    "- [ ] task",
    "- [x] done",
    "1. one",
    "2. two",
    "1) par",
    "7. seven",
    "> quote",
    "> quote",
    ">",
    "> - item",
    "> > deep",
    "> ```",
    ">     code",
    "- - nested",
    "- > quote",
    "- ```rust",
    "1. ```",
    "- # head",
    "-     code",
    "```",
    "```",
    "```rust",
    "~~~",
    "~~~ python",
    "````",
    "  ```",
    "   ```",
    "    ```",
    "``` x`y",
    "fn main() { let a = \"b\"; }",
    "/* open",
    "close */",
    "    indented",
    "\tindented",
    "  two",
    "   three",
    "     five",
    "| a | b |",
    "|---|:-:|",
    "| a | b |\n|---|---|",
    "| c | d | e |",
    "a | b",
    "-|-",
    "<div>",
    "</div>",
    "<!-- x",
    "-->",
    "<script>",
    "</script>",
    "<pre>",
    "<a href=\"x\">",
    "<?php",
    "?>",
    "[a]: /u",
    "[b]: <v> 'title'",
    "[a]: /w \"t",
    "title\"",
    "[c d]:",
    "/late",
    "[A]: /upper",
    "[^1]: note",
    "[^n]: more\n    again",
    "[^1]:",
    "[a]: /u\n[b]: /v",
    "hard  ",
    "hard\\",
    "text",
    "lazy",
    "text",
    "\u{1b}[31m",
    "\u{202e}",
    "end",
    "[a]",
    "see [b] and [t][a]",
    "[^1]",
    "  - two",
    "    - four",
    "   1. three",
    "\t- tab",
    "-\ttab",
    "1.\ttab",
    "  | c",
    "====",
    "  > q",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(LINES).prop_map(str::to_owned),
        2 => prop::collection::vec(prop::sample::select(WORDS), 1..6).prop_map(|w| w.join(" ")),
    ]
}

/// Generates lines, some indented or quoted as a whole.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let leaf = prop::collection::vec(line(), 1..8);
    leaf.prop_recursive(3, 40, 3, |inner| {
        let prefix = prop::sample::select(&["> ", "  ", "   ", "    ", "- ", "1. ", "\t"][..]);
        (prop::collection::vec(inner, 1..3), prefix).prop_map(|(groups, prefix)| {
            let rest = match prefix {
                "- " => "  ",
                "1. " => "   ",
                other => other,
            };
            let indent = |(index, line): (usize, String)| {
                let prefix = if index == 0 { prefix } else { rest };
                format!("{prefix}{}", line.replace('\n', &format!("\n{rest}")))
            };
            groups
                .concat()
                .into_iter()
                .enumerate()
                .map(indent)
                .collect()
        })
    })
}

/// Generates a message with any kind of line end.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let ends = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let groups = prop::collection::vec(lines(), 1..5);
    (groups, ends, any::<bool>()).prop_map(|(groups, end, ended)| {
        let mut text = groups.concat().join("\n").replace('\n', end);
        if ended {
            text.push_str(end);
        }
        text
    })
}

/// Generates special characters in any order.
pub(crate) fn soup() -> impl Strategy<Value = String> {
    const SIGNS: &[&str] = &[
        "\n", "\n", "\n\n", "\n", " ", "  ", "    ", "\t", "-", "*", "_", "`", "```", "~~~", "#",
        ">", "[", "]", "(", ")", ":", "|", "|-|", "<", "/", "!", "^", "\\", "&", "1", ".", "a",
        "b", "\r", "=", "- ", "1. ", "[a]", "[a]: b", "[^", "\"", "<!--", "-->", "{", "é",
    ];
    prop::collection::vec(prop::sample::select(SIGNS), 0..60).prop_map(|signs| signs.concat())
}
