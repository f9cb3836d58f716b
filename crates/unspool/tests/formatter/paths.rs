//! Paths in headings, relative to the folder of the run on request.

use serde_json::{Value, json};
use unspool::Event;
use unspool::doc::entry::Detail;
use unspool::formatter::{Config, Formatter};
use unspool::page::{Options, Page};

use crate::events::{OWN, plain, texts};

fn relative() -> Config {
    plain().with_detail(Detail::default().with_relative_paths(true))
}

fn session(cwd: &str) -> Value {
    json!({"kind": "session", "provider": "claude", "cwd": cwd})
}

fn call(name: &str, category: &str, input: &Value) -> Value {
    json!({"kind": "tool_use", "id": name, "name": name, "category": category, "input": input})
}

fn shown(config: Config, events: &[Value]) -> Vec<String> {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    texts(config, OWN, &lines.join("\n"), 0)
}

fn calls() -> Vec<Value> {
    let patch = "*** Begin Patch\n*** Update File: /p/a.rs\n*** Move to: /p/b.rs\n*** Delete File: /q/c.rs\n*** End Patch";
    vec![
        call("1", "read", &json!({"file_path": "/p/src/a.rs"})),
        call("2", "edit", &json!({"path": "/p/src/a.rs"})),
        call("3", "write", &json!({"filePath": "/q/src/a.rs"})),
        call("4", "list", &json!({"path": "/p/"})),
        call("5", "list", &json!({"pattern": "/p/**/*.rs"})),
        call("6", "search", &json!({"pattern": "/p/x", "path": "/p/src"})),
        call("7", "edit", &json!(patch)),
        call("8", "execute", &json!({"command": "cat /p/src/a.rs"})),
        call("9", "other", &json!({"path": "/p/src/a.rs"})),
    ]
}

#[test]
fn paths_in_headings_are_relative_to_the_folder_on_request() {
    let mut events = vec![session("/p")];
    events.extend(calls());
    assert_eq!(
        shown(relative(), &events),
        [
            "• Read src/a.rs",
            "• Edit src/a.rs",
            "• Add /q/src/a.rs",
            "• List .",
            "• Find **/*.rs",
            "• Search /p/x in src",
            "• Rename a.rs → b.rs\n• Delete /q/c.rs",
            "• Running cat /p/src/a.rs",
            "• Tool 9 {\"path\":\"/p/src/a.rs\"}",
        ]
    );
    let whole = shown(plain(), &events);
    assert_eq!(whole[0], "• Read /p/src/a.rs");
    assert_eq!(whole, shown(relative(), &calls()), "no folder is known");
}

#[test]
fn the_folder_may_arrive_late_and_change() {
    let read = |id: &str| call(id, "read", &json!({"file_path": "/p/src/a.rs"}));
    let done = |id: &str| json!({"kind": "tool_result", "id": id, "status": "ok"});
    let mut other = session("");
    other["id"] = "another".into();
    let events = [
        read("1"),
        session("/p"),
        done("1"),
        read("2"),
        session("/p/src/"),
        done("2"),
        read("3"),
        json!({"kind": "session", "provider": "claude", "model": "m"}),
        read("4"),
        other,
        read("5"),
        session("/"),
        read("6"),
    ];
    let whole = "• Read /p/src/a.rs";
    assert_eq!(
        shown(relative(), &events),
        [
            whole,
            "• Read src/a.rs",
            "• Read src/a.rs",
            "• Read src/a.rs",
            "• Read a.rs",
            "• Read a.rs",
            whole,
            whole
        ]
    );
}

#[test]
fn a_sub_agent_does_not_change_the_folder() {
    let mut below = session("/p/src");
    below["agent"] = json!({"id": "s", "depth": 1});
    let events = [
        session("/p"),
        below,
        call("1", "read", &json!({"file_path": "/p/src/a.rs"})),
    ];
    assert_eq!(shown(relative(), &events), ["• Read src/a.rs"]);
}

#[test]
fn windows_paths_are_relative_too() {
    let events = [
        session(r"C:\Users\me\p"),
        call(
            "1",
            "read",
            &json!({"file_path": r"c:\Users\me\p\src\a.rs"}),
        ),
        call("2", "edit", &json!({"file_path": r"C:\Users\me\p2\a.rs"})),
    ];
    assert_eq!(
        shown(relative(), &events),
        [r"• Read src\a.rs", r"• Edit C:\Users\me\p2\a.rs"]
    );
}

#[test]
fn events_keep_the_whole_path_and_pages_show_it_on_hover() {
    let mut events = vec![session("/p")];
    events.extend(calls());
    let events: Vec<Event> = events
        .iter()
        .map(|event| Event::from_json(&event.to_string()).unwrap())
        .collect();
    let written = serde_json::to_string(&events).unwrap();
    assert!(written.contains("\"/p/src/a.rs\""), "{written}");
    let mut html = Vec::new();
    let mut page = Page::html(&mut html, Options::default());
    for event in events.clone() {
        page.event(event).unwrap();
    }
    page.finish().unwrap();
    let html = String::from_utf8(html).unwrap();
    for expected in [
        "<span class=\"heading\" title=\"/p/src/a.rs\">",
        "<span class=\"heading\" title=\"/p/a.rs → /p/b.rs\">",
        " src/a.rs</span>",
        "/q/c.rs",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    assert!(!html.contains("title=\"/q"), "{html}");
    let text = Formatter::new(plain()).format_run(events, 0);
    assert!(text.contains("• Read /p/src/a.rs"), "{text}");
}
