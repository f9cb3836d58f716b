//! Small input that could expand: the output stays proportional to the input,
//! no line is too wide, and cuts are marked. `bench/linear` measures the cost.

use serde_json::{Value, json};
use unspool::doc::card::card;
use unspool::doc::entry::Detail;
use unspool::output::About;
use unspool::output::html::Html;
use unspool::{layout, session};

use crate::{entries, events, formatter};

const WIDTH: usize = 80;

/// Formats events coloured, plain and as a page. Fails if the output is more
/// than `times` as long as the input, plus a constant.
fn shown(lines: &str, times: usize) -> String {
    let entries = entries(&events(lines.as_bytes()));
    let most = times * lines.len() + 100_000;
    let mut page = Html::new(Vec::new(), &About::default(), None).unwrap();
    let mut all = String::new();
    let mut coloured = 0;
    for entry in &entries {
        let text = formatter(true).format_entry(entry, WIDTH);
        let widest = text.lines().map(layout::width).max().unwrap_or(0);
        assert!(widest <= WIDTH, "{widest}");
        all.push_str(&text);
        coloured += formatter(false).format_entry(entry, WIDTH).len();
        if let Some(card) = card(entry, &Detail::default()) {
            page.card(&card).unwrap();
        }
    }
    let page = page.finish(&[]).unwrap().len();
    for length in [all.len(), coloured, page] {
        assert!(length <= most, "{length} bytes of {}", lines.len());
    }
    all
}

fn answer(text: &str) -> String {
    json!({"kind": "text", "seq": 0, "id": "a", "text": text}).to_string()
}

fn call(category: &str, input: &str, output: &str) -> String {
    let result = json!({"kind": "tool_result", "seq": 1, "id": "1", "name": "frob", "status": "ok", "output": output});
    format!(
        "{{\"kind\":\"tool_use\",\"seq\":0,\"id\":\"1\",\"name\":\"frob\",\"category\":\"{category}\",\"input\":{input}}}\n{result}"
    )
}

fn edit(lines: &[String]) -> String {
    let edit: Value = json!({"op": "update", "path": "a", "hunks": [{"lines": lines}]});
    json!({"kind": "edit", "seq": 0, "edits": [edit]}).to_string()
}

#[test]
fn a_line_of_ten_million_columns() {
    let long = "x".repeat(10_000_000);
    assert!(shown(&answer(&long), 3).len() > long.len());
    shown(&call("execute", "{}", &long), 3);
    shown(&edit(&[format!("-{long}"), format!("+{long}y")]), 4);
    let command = json!({ "command": long }).to_string();
    shown(&call("execute", &command, "ok"), 3);
    let code = answer(&format!("```rust\n{long}\n```"));
    assert!(shown(&code, 3).len() > long.len());
}

#[test]
fn stacked_combining_marks() {
    let tower = format!("e{} x", "\u{301}".repeat(1_000_000));
    shown(&answer(&tower), 3);
    shown(&call("execute", "{}", &tower), 3);
    shown(&call("execute", "{}", &format!("\u{1B}[1m{tower}")), 3);
    shown(&edit(&[format!("+{tower}")]), 3);
}

#[test]
fn json_that_expands() {
    let escapes = format!("\"{}\"", r"\u0007\u202e".repeat(100_000));
    shown(&call("other", &format!("{{\"a\":{escapes}}}"), "ok"), 6);
    shown(
        &format!("{{\"kind\":\"text\",\"seq\":0,\"text\":{escapes}}}"),
        6,
    );
    let digits = format!(
        "{{\"n\":{},\"m\":1e{},\"o\":-0.{}1}}",
        "9".repeat(1_000_000),
        "9".repeat(100_000),
        "0".repeat(100_000)
    );
    shown(&call("other", &digits, &digits), 4);
    let keys: Vec<String> = (0..1_000_000).map(|n| format!("\"k{n}\":{n},")).collect();
    let keys = keys.concat();
    shown(&call("other", &format!("{{{keys}\"z\":0}}"), "ok"), 8);
}

/// A header with many columns makes every short row as long: missing and empty
/// cells cost nothing.
#[test]
fn tables_that_expand() {
    let head = "|a".repeat(2000) + "|\n" + &"|-".repeat(2000) + "|\n";
    shown(&answer(&(head + &"|b|\n".repeat(10_000))), 40);
}

#[test]
fn links_that_expand() {
    let address = "u".repeat(300_000);
    let uses = "[a]\n\n".repeat(500);
    let text = shown(&answer(&format!("[a]: https://{address}\n\n{uses}")), 20);
    assert_eq!(
        text.matches("u…").count(),
        500,
        "the address is cut, and says so"
    );
    let uses = "[a]\n\n".repeat(20_000);
    let text = shown(&answer(&format!("[a]: https://{address}\n\n{uses}")), 20);
    assert!(text.ends_with("[a]"), "the rest is as it is written");
    let words = "*a* b ".repeat(500);
    let text = shown(&answer(&format!("[{words}](https://{address})")), 20);
    assert!(
        text.contains("u…)"),
        "it is shown, because it cannot be clicked"
    );
}

#[test]
fn containers_that_expand() {
    for sign in ["> ", "- ", "1. > - "] {
        let text = shown(&answer(&format!("{}the words", sign.repeat(100_000))), 20);
        assert!(text.contains("the words"), "{sign}");
    }
}

/// Unfinished calls: the oldest are yielded as they are, and a later result is
/// shown on its own.
#[test]
fn unfinished_calls() {
    const CALLS: usize = 20_000;
    let mut open = session::Session::new();
    let mut handed = Vec::new();
    for number in 0..CALLS {
        let line = json!({"kind": "tool_use", "seq": number, "id": format!("t{number}"), "name": "Bash", "category": "execute", "arg": "ls"});
        for event in events(line.to_string().as_bytes()) {
            open.apply(event, &mut |entry| handed.push(entry));
        }
        assert!(open.open().len() <= 1001, "{}", open.open().len());
    }
    assert!(handed.len() > CALLS - 1001);
    let line = json!({"kind": "tool_result", "seq": CALLS, "id": "t0", "name": "Bash", "status": "ok", "output": "late"});
    for event in events(line.to_string().as_bytes()) {
        open.apply(event, &mut |entry| handed.push(entry));
    }
    let last = formatter(true).format_entry(handed.last().unwrap(), WIDTH);
    assert!(last.contains("late"), "{last}");
}
