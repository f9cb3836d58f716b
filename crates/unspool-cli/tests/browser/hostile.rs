//! A run made to do harm: markup, scripts and addresses in every place.

use serde_json::json;

use crate::chromium::Tab;
use crate::page_of_events;

const HARM: &[&str] = &[
    "<script>window.harm = 1; alert(1)</script>",
    "<img src=x onerror='window.harm = 1'><svg onload=alert(1)>",
    "\"><iframe src=\"https://harm.example/\"></iframe>",
    "</style></script></title></textarea><script>alert(1)</script>",
    "<!--<script>\u{2028}<style>*{display:none}</style><base href=https://harm.example/>",
    "[a](javascript:alert(1)) [b](JAVASCRIPT:alert(1)) [c](data:text/html,<script>alert(1)</script>) [d](vbscript:x) <javascript:alert(1)>",
    "![i](https://harm.example/i.png) <link rel=stylesheet href=https://harm.example/s.css><meta http-equiv=refresh content='0;https://harm.example/'>",
];

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn nothing_in_a_run_does_anything() {
    let mut events = String::new();
    let mut add = |event: serde_json::Value| {
        events += &event.to_string();
        events.push('\n');
    };
    for (index, harm) in HARM.iter().enumerate() {
        let id = format!("c{index}");
        add(
            json!({"kind": "session", "seq": 0, "provider": harm, "model": harm, "cwd": harm, "title": harm, "version": harm}),
        );
        for kind in ["user", "text", "reasoning", "notice", "context"] {
            add(
                json!({"kind": kind, "seq": 0, "id": format!("{kind}{index}"), "text": harm, "title": harm, "level": "error"}),
            );
        }
        add(
            json!({"kind": "text", "seq": 0, "id": format!("code{index}"), "text": format!("```{harm}\n{harm}\n```\n\n| {harm} |\n|---|\n| {harm} |\n")}),
        );
        add(
            json!({"kind": "tool_use", "seq": 0, "id": id, "name": harm, "category": "execute", "arg": harm, "input": {"command": harm}}),
        );
        let edits = json!([{"op": "update", "path": harm, "hunks": [{"old_start": 1, "new_start": 1, "lines": [format!(" {harm}"), format!("-{harm}"), format!("+{harm}")]}]}]);
        add(
            json!({"kind": "tool_result", "seq": 0, "id": id, "name": harm, "status": "ok", "output": harm}),
        );
        add(json!({"kind": "edit", "seq": 0, "edits": edits}));
        add(json!({"kind": "unknown", "seq": 0, "text": harm, "raw": harm}));
    }
    let page = page_of_events(&events);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    tab.keys("osl/script");
    tab.until("document.querySelector('#hits').textContent.length > 1");
    assert_eq!(tab.eval("typeof window.harm"), "undefined");
    assert_eq!(tab.eval("document.scripts.length"), 1);
    assert_eq!(tab.eval("document.querySelectorAll('style').length"), 1);
    assert_eq!(
        tab.eval("document.querySelectorAll('img, svg, iframe, base, link, object, embed').length"),
        0
    );
    let addresses = "[...document.querySelectorAll('a')].filter(a => !/^(#|https?:|mailto:)/.test(a.getAttribute('href'))).length";
    assert_eq!(tab.eval(addresses), 0);
    let handlers = "[...document.querySelectorAll('main *')].flatMap(e => e.getAttributeNames()).filter(name => /^on|^style$|^src/.test(name)).length";
    assert_eq!(tab.eval(handlers), 0);
    let text = tab.eval("document.querySelector('main').textContent");
    for harm in HARM {
        let harm = harm.replace('\u{2028}', "\\u{2028}");
        assert!(text.as_str().unwrap().contains(&harm), "{harm}");
    }
    assert!(
        tab.eval("document.title")
            .as_str()
            .unwrap()
            .contains("<script>")
    );
    tab.was_quiet();
}

/// The policy holds even if markup got through.
#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn the_policy_stops_what_is_not_ours() {
    let page =
        page_of_events("{\"kind\":\"text\",\"seq\":0,\"id\":\"a\",\"text\":\"hello zzz\"}\n");
    let html = std::fs::read_to_string(&page.path).unwrap();
    let harm = "<script>window.harm = 1</script><img src=x onerror='window.harm = 1'><style>main{display:none}</style>";
    std::fs::write(&page.path, html.replace("zzz", harm)).unwrap();
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    assert_eq!(tab.eval("typeof window.harm"), "undefined");
    assert_eq!(
        tab.eval("document.querySelector('main').checkVisibility()"),
        true
    );
    assert_eq!(
        tab.eval("document.querySelector('.bar').hidden"),
        false,
        "our own script runs"
    );
}
