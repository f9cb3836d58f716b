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
        tab.eval("getComputedStyle(document.querySelector('.cp')).display"),
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
    tab.click("[data-kind=bad]");
    let bad = tab
        .eval("document.querySelectorAll('article.bad').length")
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
        tab.eval("document.querySelector('#e7').classList.contains('here')"),
        true
    );
    let top = "(() => { const t = document.querySelector('#e7').getBoundingClientRect().top; return t + 1 >= document.querySelector('.bar').getBoundingClientRect().bottom && t < innerHeight; })()";
    assert_eq!(tab.eval(top), true);
    tab.click("#e2 .at a");
    assert_eq!(tab.eval("location.hash"), "#e2");
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn keys_go_from_place_to_place() {
    let page = page(MARKDOWN);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    let here = "document.querySelector('.here').id";
    tab.keys("jj");
    assert_eq!(tab.eval(here), "e2");
    tab.keys("k");
    assert_eq!(tab.eval(here), "e1");
    tab.keys("d");
    assert_eq!(
        tab.eval("document.querySelector('.here').matches('.edit')"),
        true
    );
    tab.keys("ge");
    assert_eq!(
        tab.eval("document.querySelector('.here').matches('.bad')"),
        true
    );
    tab.keys("P");
    assert_eq!(
        tab.eval("document.querySelector('.here').matches('.prompt')"),
        true
    );
    tab.keys("o");
    tab.until("!document.querySelector('main details:not(.more):not([open])')");
    tab.keys("o");
    tab.until("!document.querySelector('main details:not(.more)[open]')");
    tab.keys("l");
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
    tab.until("document.querySelector('.edit .two')");
    let column = |index: u8, class: &str| {
        format!(
            "document.querySelector('.edit .two').children[{index}].querySelector('.t.{class}')?.textContent ?? ''"
        )
    };
    let left = tab.eval(&column(0, "d"));
    assert!(
        left.as_str().unwrap().contains("\"Hello, \" + title_case"),
        "{left}"
    );
    let right = tab.eval(&column(1, "a"));
    assert!(right.as_str().unwrap().contains("f\"Hello"), "{right}");
    assert_eq!(tab.eval(&column(1, "d")), "");
    let heights = "(() => { const [a, b] = [...document.querySelector('.edit .two').children].map(c => c.lastElementChild.getBoundingClientRect().bottom); return Math.abs(a - b) < 1; })()";
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
        tab.eval("document.querySelector('.edit .two').checkVisibility()"),
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
    tab.click(".edit .told .cp");
    tab.click(".edit .told .cp");
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
