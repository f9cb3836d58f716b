//! Reading a page: folding, searching, filtering, jumping.

use serde_json::json;

use crate::chromium::Tab;
use crate::{ERRORS, MARKDOWN, PARITY, page, page_of_events};

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn without_the_script_everything_is_there_and_folds() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    tab.open(&page.path, "");
    assert_eq!(
        tab.eval("getComputedStyle(document.querySelector('.bar')).display"),
        "none"
    );
    assert_eq!(
        tab.eval("getComputedStyle(document.querySelector('.copy')).display"),
        "none"
    );
    let text = tab.eval("document.querySelector('main').textContent");
    let text = text.as_str().unwrap();
    for words in [
        "I'll start by reading",
        "def farewell(name):",
        "src/util.py:6:    # TODO",
        "line 8 of the report",
        "24 total",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert_eq!(
        tab.eval("document.querySelector('.tool details').open"),
        false
    );
    tab.click(".tool summary");
    assert_eq!(
        tab.eval("document.querySelector('.tool details').open"),
        true
    );
    assert_eq!(
        tab.eval("document.querySelector('.tool pre').checkVisibility()"),
        true
    );
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn search_finds_what_is_folded_and_goes_there() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    tab.keys("/TITLE_case");
    tab.until("document.querySelector('#hits').textContent !== ''");
    let all = "(document.querySelector('#run').textContent.match(/title_case/g) || []).length";
    let count = tab.eval(all).as_u64().unwrap();
    assert!(count > 3);
    tab.until(&format!(
        "document.querySelector('#hits').textContent === '{count}'"
    ));
    assert_eq!(tab.eval("CSS.highlights.get('hit').size"), count);
    tab.call(
        "Input.dispatchKeyEvent",
        json!({"type": "keyDown", "key": "Enter"}),
    );
    assert_eq!(
        tab.eval("document.querySelector('#hits').textContent"),
        format!("1 of {count}")
    );
    assert_eq!(
        tab.eval("[...CSS.highlights.get('now')][0].toString()"),
        "title_case"
    );
    assert_eq!(
        tab.eval(
            "[...CSS.highlights.get('now')][0].startContainer.parentElement.checkVisibility()"
        ),
        true
    );
    tab.keys("nn");
    assert_eq!(
        tab.eval("document.querySelector('#hits').textContent"),
        format!("3 of {count}")
    );
    tab.keys("NNN");
    assert_eq!(
        tab.eval("document.querySelector('#hits').textContent"),
        format!("{count} of {count}")
    );
    let seen = "(() => { const r = [...CSS.highlights.get('now')][0].getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; })()";
    assert_eq!(tab.eval(seen), true);
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn kinds_are_counted_and_hidden() {
    let page = page(ERRORS);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    let shown = "[...document.querySelectorAll('article')].filter(e => e.checkVisibility()).length";
    let all = tab.eval(shown).as_u64().unwrap();
    let tools = tab
        .eval("document.querySelectorAll('article.tool').length")
        .as_u64()
        .unwrap();
    assert_eq!(
        tab.eval("document.querySelector('[data-kind=tool] small').textContent"),
        tools.to_string()
    );
    tab.click("[data-kind=tool]");
    assert_eq!(tab.eval(shown).as_u64().unwrap(), all - tools);
    assert_eq!(
        tab.eval("document.querySelector('[data-kind=tool]').ariaPressed"),
        "false"
    );
    tab.click("[data-kind=tool]");
    tab.click("[data-kind=failed]");
    let bad = tab
        .eval("document.querySelectorAll('article.failed').length")
        .as_u64()
        .unwrap();
    assert_eq!(tab.eval(shown).as_u64().unwrap(), bad);
    assert!(bad > 2 && bad < all);
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn a_link_leads_to_an_entry_and_opens_it() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.open(&page.path, "#e7");
    assert_eq!(tab.eval("document.querySelector('#e7 details').open"), true);
    assert_eq!(
        tab.eval("document.querySelector('#e7').classList.contains('current')"),
        true
    );
    let top = "(() => { const t = document.querySelector('#e7').getBoundingClientRect().top; return t + 1 >= document.querySelector('.bar').getBoundingClientRect().bottom && t < innerHeight; })()";
    assert_eq!(tab.eval(top), true);
    tab.click("#e2 .gutter a");
    assert_eq!(tab.eval("location.hash"), "#e2");
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn a_link_opens_all_parts_of_an_entry() {
    let edit = |path: &str| {
        format!(r#"{{"op":"update","path":"{path}","hunks":[{{"lines":["-a","+b"]}}]}}"#)
    };
    let events = format!(
        "{}\n{}\n{}\n",
        r#"{"kind":"session","seq":0,"provider":"claude"}"#,
        r#"{"kind":"tool_use","id":"1","name":"Edit","category":"edit","input":{"file_path":"a"}}"#,
        format_args!(
            r#"{{"kind":"tool_result","id":"1","status":"ok","edits":[{},{}]}}"#,
            edit("a"),
            edit("b")
        )
    );
    let page = page_of_events(&events);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    tab.keys("z");
    let closed = "document.querySelectorAll('#e1 details:not([open])').length";
    tab.until(&format!("{closed} === 2"));
    tab.open(&page.path, "#e1");
    assert_eq!(tab.eval(closed), 0);
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn a_prompt_is_markdown_and_pasted_text_stays_as_it_is() {
    let prompt = "# Fix `x`\n\nDo **this**\nthen <b>that</b>\n\nerror: oh\n  --> src/a.rs:1:2\n\nsrc/*.rs, tests/*.rs and __init__.py";
    let events = format!(
        "{}\n{}\n",
        r#"{"kind":"session","seq":0,"provider":"claude"}"#,
        serde_json::json!({"kind": "user", "text": prompt})
    );
    let page = page_of_events(&events);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    let text = |selector: &str| format!("document.querySelector('{selector}').innerText");
    assert_eq!(tab.eval("document.title"), "Fix x");
    assert_eq!(tab.eval(&text("h1")), "Fix x");
    assert_eq!(tab.eval(&text(".prompt h4 code")), "x");
    assert_eq!(tab.eval(&text(".prompt p")), "Do this\nthen <b>that</b>");
    assert_eq!(tab.eval(&text(".prompt p b")), "this");
    assert_eq!(
        tab.eval(&text(".prompt pre")),
        "error: oh\n  --> src/a.rs:1:2"
    );
    assert_eq!(
        tab.eval(&text(".prompt p:last-of-type")),
        "src/*.rs, tests/*.rs and __init__.py"
    );
    tab.keys("c");
    assert_eq!(tab.eval(&text("#outline a")), "Fix x");
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn keys_go_from_place_to_place() {
    let page = page(MARKDOWN);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    let here = "document.querySelector('main .current').id";
    tab.keys("JJ");
    assert_eq!(tab.eval(here), "e2");
    tab.keys("K");
    assert_eq!(tab.eval(here), "e1");
    let scrolled = tab.eval("scrollY").as_f64().unwrap();
    tab.keys("j");
    tab.until(&format!("scrollY > {scrolled}"));
    tab.keys("k");
    tab.until(&format!("Math.abs(scrollY - {scrolled}) < 1"));
    tab.keys("d");
    assert_eq!(
        tab.eval("document.querySelector('main .current').matches('.edit')"),
        true
    );
    tab.keys("ge");
    assert_eq!(
        tab.eval("document.querySelector('main .current').matches('.failed')"),
        true
    );
    tab.keys("P");
    assert_eq!(
        tab.eval("document.querySelector('main .current').matches('.prompt')"),
        true
    );
    let open = "[...document.querySelectorAll('main details')].map(fold => fold.open).join()";
    let at_first = tab.eval(open);
    tab.keys("a");
    tab.until("!document.querySelector('main details:not(.more):not([open])')");
    tab.keys("z");
    tab.until("!document.querySelector('main details:not(.more)[open]')");
    tab.keys("=");
    tab.until(&format!("{open} === '{}'", at_first.as_str().unwrap()));
    let fold = "document.querySelector('main .current details').open";
    tab.keys("ge");
    let was_open = tab.eval(fold).as_bool().unwrap();
    tab.keys("o");
    assert_eq!(tab.eval(fold), !was_open);
    tab.keys("l");
    assert_eq!(tab.eval(fold), true);
    tab.keys("h");
    assert_eq!(tab.eval(fold), false);
    tab.keys("c");
    assert_eq!(
        tab.eval("document.querySelector('#outline').checkVisibility()"),
        true
    );
    assert_eq!(
        tab.eval("document.querySelector('#outline a').textContent.length > 3"),
        true
    );
    tab.keys("?");
    assert_eq!(tab.eval("document.querySelector('#keys').open"), true);
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn changes_stand_side_by_side() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    tab.keys("ds");
    tab.until("document.querySelector('.edit .columns')");
    let column = |index: u8, class: &str| {
        format!(
            "document.querySelector('.edit .columns').children[{index}].querySelector('.lines.{class}')?.textContent ?? ''"
        )
    };
    let left = tab.eval(&column(0, "removed"));
    assert!(
        left.as_str().unwrap().contains("\"Hello, \" + title_case"),
        "{left}"
    );
    let right = tab.eval(&column(1, "added"));
    assert!(right.as_str().unwrap().contains("f\"Hello"), "{right}");
    assert_eq!(tab.eval(&column(1, "removed")), "");
    let heights = "(() => { const [a, b] = [...document.querySelector('.edit .columns').children].map(c => c.lastElementChild.getBoundingClientRect().bottom); return Math.abs(a - b) < 1; })()";
    assert_eq!(tab.eval(heights), true);
    assert_eq!(
        tab.eval("document.querySelector('.edit .diff > .rows').checkVisibility()"),
        false
    );
    tab.keys("s");
    assert_eq!(
        tab.eval("document.querySelector('.edit .diff > .rows').checkVisibility()"),
        true
    );
    assert_eq!(
        tab.eval("document.querySelector('.edit .columns').checkVisibility()"),
        false
    );
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn copying_gives_the_text() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    tab.eval("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }");
    // Where nothing hovers, the first tap shows the button.
    tab.click(".edit .plain .copy");
    tab.click(".edit .plain .copy");
    let copied = tab.eval("window.copied");
    assert!(
        copied
            .as_str()
            .unwrap()
            .contains("\n-    return \"Hello, \" + title_case(name)"),
        "{copied}"
    );
    assert!(
        copied.as_str().unwrap().contains("\n+    return f\"Hello"),
        "{copied}"
    );
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn a_long_run_stays_usable() {
    let line = "the quick brown fox jumps over the lazy dog, and so on to the end\n".repeat(300);
    let mut events = String::new();
    for index in 0..500 {
        let id = format!("c{index}");
        let input = json!({"command": format!("run {index}")});
        events += &json!({"kind": "tool_use", "seq": 2 * index, "id": id, "name": "Bash", "category": "execute", "arg": "run", "input": input}).to_string();
        events.push('\n');
        let output = format!("{line}needle {index}\n");
        events += &json!({"kind": "tool_result", "seq": 2 * index + 1, "id": id, "name": "Bash", "status": "ok", "output": output}).to_string();
        events.push('\n');
    }
    assert!(events.len() > 9_000_000);
    let page = page_of_events(&events);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    // The longest time for which the page did not answer.
    tab.eval("window.longest = 0; new PerformanceObserver(list => { for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration); }).observe({entryTypes: ['longtask']})");
    tab.keys("/needle");
    tab.until("document.querySelector('#hits').textContent === '500'");
    tab.keys("\u{1b}");
    let longest = tab.eval("window.longest").as_f64().unwrap();
    assert!(longest < 1000.0, "{longest} ms");
    tab.was_quiet();
}
