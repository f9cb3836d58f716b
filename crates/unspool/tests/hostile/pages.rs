//! Markup in every string of every event: a page shows it as text and contains
//! only its own elements and attributes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use unspool::Event;
use unspool::doc::card::card;
use unspool::doc::entry::{Detail, Reasoning};
use unspool::output::About;
use unspool::output::html::Html;
use unspool::page::{Options, Page};

use crate::fields::{cases, inside, poisoned};
use crate::markup::{middle, text};
use crate::samples::samples;
use crate::{entries, events};

/// Part of every hostile text, to find it again.
const MARK: &str = "zqmark";

const TEXTS: &[&str] = &[
    "zqmark<zz a='b' c=\"d\" onclick=alert(1)>&lt;&amp;&#60;zz&#62;</zz><!-- x --><![CDATA[ y ]]>",
    "zqmark</style></script></title></textarea></pre></details><script>alert(1)</script><img src=x onerror=alert(1)>\"'`",
    "zqmark\u{2028}\u{2029}\u{202E}<b\u{0}onload=x>\" onmouseover=\"alert(1)\" x=' y=`",
    "zqmark [l](javascript:alert(1)) [m](data:text/html,x) <javascript:alert(1)> [v](vbscript:x) [w](JaVaScRiPt:x) \
     [h](http://a/\"onmouseover=\"x) [i](<https://a/ '><zz>>) ![j](javascript:x) <https://a/?b=\"c>",
    "zqmark\n```<zz>\"\n<script>x</script>\n```\n\n| <zz> | b |\n|---|---|\n| \"</td><zz> | `<zz>` |\n\n- <zz>\n\n> <zz>\n\n# <zz>\n",
    // Noncharacters, which pages must not contain.
    "zqmark\u{FDD0}\u{FDEF}\u{FFFE}\u{1FFFF}`\u{10FFFE}`\n\u{1B}[31m\u{FDEF}",
    "\u{1B}[31m<zz>\u{1B}[0m zqmark\n     1\u{2192}<zz>\n     2\t\"'><zz>\n",
];

/// Suffixes of paths to strings that no card shows: times, ids, words of closed
/// sets, options of questions.
const INVISIBLE: &[&str] = &[
    "/time",
    "/id",
    "/tool_id",
    "/kind",
    "/parent",
    "/status",
    "/priority",
    "/level",
    "/category",
    "/reason",
    "/raw",
    "/default",
    // Only a known name of a format is shown.
    "/mime",
    "/data",
];

/// Kinds shown at the top of a page, or only in interactive views.
const HIDDEN: &[&str] = &["session ", "state "];

fn is_invisible(name: &str) -> bool {
    INVISIBLE.iter().any(|end| name.ends_with(end))
        || HIDDEN.iter().any(|kind| name.starts_with(kind))
        || name.starts_with("permission /options/")
}

fn page(lines: &[u8]) -> String {
    let detail = Detail::default().with_reasoning(Reasoning::Full);
    let mut html = Html::new(Vec::new(), &About::default(), None).unwrap();
    for entry in entries(&events(lines)) {
        if let Some(card) = card(&entry, &detail) {
            html.card(&card).unwrap();
        }
    }
    String::from_utf8(html.finish(&[]).unwrap()).unwrap()
}

/// A sample, the event's index, and the path to a string.
type Case<'a> = (&'a Vec<Value>, usize, String);

/// Checks the page of hostile events; returns true if they are visible.
fn check(sample: &[Value], at: usize, path: &str) -> bool {
    let mut is_seen = false;
    for (index, hostile) in TEXTS.iter().enumerate() {
        let lines = poisoned(sample, at, path, index % 2 == 0, &inside(hostile));
        let page = page(&lines);
        match text(middle(&page)) {
            Ok(text) => is_seen |= text.contains(MARK),
            Err(error) => panic!(
                "{error} in the page of\n{}",
                String::from_utf8_lossy(&lines)
            ),
        }
    }
    is_seen
}

#[test]
fn markup_in_any_field_is_text() {
    let samples = samples();
    let cases = cases(&samples);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let name =
        |(sample, at, path): &Case<'_>| format!("{} {path}", sample[*at]["kind"].as_str().unwrap());
    let all: BTreeSet<String> = cases.iter().map(name).collect();
    let seen = std::thread::scope(|scope| {
        let parts = cases.chunks(cases.len().div_ceil(cores));
        let threads = parts.map(|part| {
            scope.spawn(move || {
                let seen = part
                    .iter()
                    .filter(|(sample, at, path)| check(sample, *at, path));
                seen.map(name).collect::<BTreeSet<String>>()
            })
        });
        let threads: Vec<_> = threads.collect();
        let sets = threads.into_iter().map(|thread| thread.join().unwrap());
        sets.reduce(|a, b| &a | &b).unwrap()
    });
    let mut unseen = all.difference(&seen);
    assert_eq!(unseen.find(|name| !is_invisible(name)), None);
}

/// A PNG of 2×1 pixels.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAADklEQVR42mP4z8DwH4QBEfcD/f6tu5kAAAAASUVORK5CYII=";

/// Returns the page of a prompt with these media.
fn page_with(media: &Value, options: Options) -> String {
    let event = json!({"kind": "user", "seq": 0, "text": "See", "media": media});
    let mut html = Vec::new();
    let mut page = Page::html(&mut html, options);
    page.event(Event::from_json(&event.to_string()).unwrap())
        .unwrap();
    page.finish().unwrap();
    let html = String::from_utf8(html).unwrap();
    if let Err(error) = text(middle(&html)) {
        panic!("{error} in the page of {event}");
    }
    html
}

#[test]
fn a_page_embeds_pictures_and_nothing_else() {
    let whole = json!([{"mime": "image/png", "name": "a\"b", "data": PNG}]);
    let page = page_with(&whole, Options::default());
    assert_eq!(page.matches("<img ").count(), 1);
    assert!(page.contains(&format!("src=\"data:image/png;base64,{PNG}\"")));
    assert!(page.contains("alt=\"[image a&quot;b PNG]\""), "{page}");
    let svg = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4=";
    // A picture that claims 65,535 pixels in both directions.
    let bomb = "iVBORw0KGgoAAAANSUhEUgAA//8AAP//CAYAAAA=";
    for (mime, data) in [
        ("image/svg+xml", svg),
        ("image/png", svg),
        ("image/png\"><script>alert(1)</script>", "AAAA"),
        ("image/png", "iVBORw0KGgo\"><script>alert(1)</script>"),
        ("image/png", &format!("{PNG} onerror=alert(1)")),
        ("image/png", &format!("data:image/png;base64,{PNG}")),
        ("text/html", "PGI+aGk8L2I+"),
        ("application/pdf", "JVBERi0xLjcK"),
        ("image/png", bomb),
    ] {
        let hostile = json!([{"mime": mime, "data": data, "name": "https://example.com/x.png"}]);
        let page = page_with(&hostile, Options::default());
        assert!(!page.contains("<img "), "{mime} {data}");
        assert!(page.contains("https://example.com/x.png"), "{mime} {data}");
    }
}

#[test]
fn the_pictures_of_a_page_are_limited() {
    let two = json!([{"mime": "image/png", "data": PNG}, {"mime": "image/png", "data": PNG}]);
    let count = |max: u64| {
        let page = page_with(&two, Options::default().with_max_media(max));
        page.matches("<img ").count()
    };
    // Each has 71 bytes and may take a quarter.
    assert_eq!(count(284), 2);
    assert_eq!(count(283), 0);
    assert_eq!(count(0), 0);
    let four = json!(vec![
        json!({"mime": "image/png", "bytes": 1, "data": PNG});
        5
    ]);
    let page = page_with(&four, Options::default().with_max_media(284_u64));
    assert_eq!(page.matches("<img ").count(), 4);
}

#[test]
fn the_top_of_a_page_is_text_too() {
    for hostile in TEXTS {
        let about = About {
            title: (*hostile).to_owned(),
            facts: vec![((*hostile).to_owned(), (*hostile).to_owned())],
        };
        let html = Html::new(Vec::new(), &about, None).unwrap();
        let figures = [("Turns".to_owned(), (*hostile).to_owned())];
        let page = String::from_utf8(html.finish(&figures).unwrap()).unwrap();
        assert_eq!(page.matches("<script").count(), 1);
        assert_eq!(page.matches("</style").count(), 1);
        assert_eq!(page.matches("</title").count(), 1);
        assert!(!page.contains("<zz"));
        assert!(!page.contains("<img"));
        let shown = text(middle(&page)).unwrap();
        assert!(shown.contains(MARK));
    }
}
