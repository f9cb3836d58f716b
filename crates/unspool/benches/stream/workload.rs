//! Generates messages of a given size: a typical answer, and messages that are
//! one block.

const PROSE: &str = "The reader keeps **one** frame and hands it to the source; see `Reader::push` \
and [the notes](https://example.com/notes) for the *order* of events.";

const CODE: &str = "```rust\nfn main() {\n    let reader = Reader::new(\"input\");\n    \
for event in reader.events() {\n        println!(\"{event:?}\"); // all of them\n    }\n}\n```\n";

const TABLE: &str = "| option | meaning | default |\n|---|:-:|--:|\n| `--width` | columns | 80 |\n\
| `--theme` | colours, *dark* or light | auto |\n| `--lines` | lines of a body | 5 |\n";

pub(crate) fn messages(size: usize) -> Vec<(&'static str, String)> {
    let words = format!("{PROSE} ");
    vec![
        ("answer", answer(size)),
        (
            "fence",
            filled("```\n", "let total = items.len() + 1;\n", size),
        ),
        (
            "highlighted fence",
            filled("```rust\n", "let total = items.len() + 1;\n", size),
        ),
        ("paragraph", filled("", &words, size)),
        ("list", filled("", &format!("- {PROSE}\n"), size)),
        (
            "loose list",
            filled("", &format!("1. {PROSE}\n\n   {PROSE}\n\n"), size),
        ),
        (
            "table",
            filled("| a | b |\n|---|---|\n", "| some words | `code` |\n", size),
        ),
        (
            "nested quotes",
            filled("", &format!("> > > {PROSE}\n"), size),
        ),
        ("one item", filled("- ", &format!("  {PROSE}\n"), size)),
    ]
}

/// Generates headings, prose, lists, code, tables and quotes, as a model writes
/// them.
pub(crate) fn answer(size: usize) -> String {
    let section = format!(
        "## Section\n\n{PROSE} {PROSE}\n\n{PROSE} {PROSE} {PROSE}\n\n{CODE}\n\
1. **First**: {PROSE}\n2. **Second**: {PROSE}\n   - {PROSE}\n\n{TABLE}\n> {PROSE}\n\n"
    );
    filled("", &section, size)
}

fn filled(head: &str, line: &str, size: usize) -> String {
    head.to_owned() + &line.repeat(size / line.len())
}
