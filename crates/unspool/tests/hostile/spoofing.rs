//! Text that wants to be taken for another: order that is turned round and
//! characters that nobody sees are shown as what they are; letters that look alike
//! are left as they are, in whatever way they are shown.

use serde_json::json;
use unspool::doc::card::card;
use unspool::output::About;
use unspool::output::html::Html;
use unspool::output::markdown::Markdown;

use crate::{answers, entries, events, formatter};

/// A path or a command in every place where one stands in a heading.
fn lines(text: &str) -> String {
    let call = |name: &str, category: &str, input| json!({"kind": "tool_use", "seq": 0, "id": name, "name": name, "category": category, "arg": text, "input": input});
    let edit =
        |op: &str| json!({"op": op, "path": text, "new_path": text, "hunks": [{"lines": ["+a"]}]});
    let lines = [
        call("Bash", "execute", json!({"command": text})),
        call("Read", "read", json!({"file_path": text})),
        call("Write", "write", json!({"file_path": text})),
        call("Grep", "search", json!({"pattern": text, "path": text})),
        call("WebFetch", "fetch", json!({"url": text})),
        json!({"kind": "edit", "seq": 1, "edits": [edit("add"), edit("update"), edit("delete"), edit("move")]}),
        json!({"kind": "permission", "seq": 2, "id": "p", "tool_id": "Bash", "title": text, "options": [{"id": "y", "name": text, "kind": "allow_once"}]}),
        json!({"kind": "text", "seq": 3, "id": "a", "text": format!("`{text}`")}),
    ];
    lines.map(|line| line.to_string()).join("\n")
}

/// What is shown of the events as text, each entry by itself, and as exports.
fn shown(lines: &str) -> (Vec<String>, [String; 3]) {
    let events = events(lines.as_bytes());
    let detail = unspool::doc::entry::Detail::default();
    let mut page = Html::new(Vec::new(), &About::default(), None).unwrap();
    let mut comment = Markdown::new(Vec::new(), About::default(), 60_000);
    let mut texts = Vec::new();
    for entry in entries(&events) {
        texts.push(formatter(true).format_entry(&entry, 0));
        if let Some(card) = card(&entry, &detail) {
            page.card(&card).unwrap();
            comment.card(&card);
        }
    }
    texts.retain(|text| !text.is_empty());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let page = text(page.finish(&[]).unwrap());
    let comment = text(comment.finish(&[]).unwrap());
    (texts, [page, comment, answers(&events)])
}

#[test]
fn order_that_is_turned_round_is_seen() {
    let (texts, exports) = shown(&lines("src/\u{202E}txt.sr\u{2066}/x\u{2069}"));
    assert!(texts.len() >= 8, "{texts:?}");
    for text in &texts {
        assert!(
            text.contains(r"src/\u{202E}txt.sr\u{2066}/x\u{2069}"),
            "{text}"
        );
    }
    for text in texts.iter().chain(&exports) {
        assert!(
            !text.contains(['\u{202E}', '\u{2066}', '\u{2069}']),
            "{text}"
        );
    }
}

#[test]
fn what_nobody_sees_is_seen() {
    let (texts, exports) = shown(&lines("rm\u{200B} -r\u{AD}f\u{2060} a\u{E0041}b"));
    for text in &texts {
        assert!(
            text.contains(r"rm\u{200B} -r\u{00AD}f\u{2060} a\u{E0041}b"),
            "{text}"
        );
    }
    for text in texts.iter().chain(&exports) {
        assert!(
            !text.contains(['\u{200B}', '\u{AD}', '\u{2060}', '\u{E0041}']),
            "{text}"
        );
    }
}

/// What looks like a blank and is none, in a command or a path; words keep it.
#[test]
fn a_blank_that_is_none_is_seen() {
    for (blank, number) in [
        ("\u{A0}", "00A0"),
        ("\u{2003}", "2003"),
        ("\u{3000}", "3000"),
    ] {
        let (texts, [page, comment, answers]) = shown(&lines(&format!("ls{blank};rm")));
        let seen = format!("ls\\u{{{number}}};rm");
        let is_prose = |text: &&String| {
            text.starts_with("• Permission") || text.starts_with(&format!("• ls{blank}"))
        };
        let (prose, exact): (Vec<_>, Vec<_>) = texts.iter().partition(is_prose);
        assert!(prose.len() >= 2 && exact.len() >= 6, "{texts:?}");
        for text in exact {
            assert!(text.contains(&seen) && !text.contains(blank), "{text}");
        }
        assert!(page.contains(&seen) && page.contains(blank), "{page}");
        assert!(comment.contains(number), "{comment}");
        assert!(answers.contains(blank), "{answers}");
    }
}

/// Letters of other scripts, full-width ones, and signs that look like a slash or a
/// dot: nothing is folded into what it looks like, nothing is lost.
#[test]
fn letters_that_look_alike_stay_what_they_are() {
    for name in [
        "раypal/рackage.json",
        "scоpe/ａｄｍｉｎ.sh",
        "a∕b⁄c․d",
        "ΑΒΕ.ｅｘｅ",
        "cafe\u{301}/café",
    ] {
        let (texts, [page, comment, _]) = shown(&lines(name));
        for text in texts.iter().chain([&page]) {
            assert!(text.contains(name), "{name:?} in {text:?}");
        }
        // A comment escapes what is markup; none of these is.
        let letters = name.split(['.', '-']).next().unwrap();
        assert!(comment.contains(letters), "{name:?} in {comment:?}");
    }
}
