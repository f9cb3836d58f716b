//! Deceptive text: reordering and invisible characters are made visible;
//! look-alike letters are left unchanged, in every output.

use serde_json::json;
use unspool::doc::card::card;
use unspool::output::About;
use unspool::output::html::Html;
use unspool::output::markdown::Markdown;

use crate::{answers, entries, events, formatter};

/// Returns lines with a path or command in every heading.
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

/// Returns the output of the events: text per entry, and exports.
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
fn reordered_text_is_visible() {
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
fn invisible_characters_are_visible() {
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

/// Blanks other than U+0020 are shown in commands and paths, but kept in prose.
#[test]
fn unusual_blanks_are_visible() {
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

/// Letters of other scripts, full-width letters, and symbols that resemble a
/// slash or a dot: none is normalised, none is lost.
#[test]
fn look_alike_letters_are_unchanged() {
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
        // A comment escapes markup; none of these is.
        let letters = name.split(['.', '-']).next().unwrap();
        assert!(comment.contains(letters), "{name:?} in {comment:?}");
    }
}
