//! Tests the output of every recording: `text` mode prints only the answers,
//! and events that were written and read back are shown in the same way.

use unspool::answer::Answer;
use unspool::event::Body;
use unspool::formatter::{Config, Formatter};
use unspool::session::{Entry, Session};
use unspool::{Event, Reader};

use crate::files;

pub(crate) fn entries(events: &[Event]) -> Vec<Entry> {
    let mut session = Session::new();
    let mut entries = Vec::new();
    for event in events {
        session.apply(event.clone(), &mut |entry| entries.push(entry));
    }
    session.finish(&mut |entry| entries.push(entry));
    entries
}

pub(crate) fn formatter(plain_text: bool) -> Formatter {
    Formatter::new(Config::default().with_plain_text(plain_text))
}

/// Returns the root agent's answers, each followed by a newline. A final form
/// that does not extend the deltas is a message of its own.
fn answers(events: &[Event]) -> String {
    let mut messages: Vec<(&str, String)> = Vec::new();
    for event in events.iter().filter(|event| event.agent.is_none()) {
        let Body::Text(message) = &event.body else {
            continue;
        };
        let text = message.text.as_str();
        match messages.last_mut().filter(|(id, _)| *id == message.id) {
            Some((_, open)) if message.delta => open.push_str(&text),
            Some((_, open)) if text.starts_with(open.as_str()) => *open = text.into_owned(),
            _ => messages.push((&message.id, text.into_owned())),
        }
    }
    let lines: Vec<String> = messages.into_iter().map(|(_, text)| text + "\n").collect();
    lines.concat()
}

#[test]
fn text_mode_is_the_answer_and_a_newline() {
    for (recording, events) in files::all_events() {
        let mut answer = Answer::text();
        let mut out = Vec::new();
        for event in events {
            answer.event(event, &mut out).unwrap();
        }
        answer.finish(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            answers(events),
            "{}",
            recording.name
        );
    }
}

#[test]
fn kinds_other_than_text_write_nothing_in_text_mode() {
    for (recording, events) in files::all_events() {
        let mut answer = Answer::text();
        let mut out = Vec::new();
        let is_silent = |event: &&Event| {
            !matches!(event.body, Body::Text(_) | Body::TurnEnd(_)) || event.agent.is_some()
        };
        for event in events.iter().filter(is_silent) {
            answer.event(event, &mut out).unwrap();
        }
        answer.finish(&mut out).unwrap();
        assert!(out.is_empty(), "{}", recording.name);
    }
}

#[test]
fn only_texts_matter_in_text_mode() {
    for (recording, events) in files::all_events() {
        let is_answer =
            |event: &&Event| matches!(event.body, Body::Text(_)) && event.agent.is_none();
        let texts: Vec<Event> = events.iter().filter(is_answer).cloned().collect();
        let all = written(Answer::text(), events);
        assert_eq!(written(Answer::text(), &texts), all, "{}", recording.name);
    }
}

fn written(mut answer: Answer, events: &[Event]) -> String {
    let mut out = Vec::new();
    for event in events {
        answer.event(event, &mut out).unwrap();
    }
    answer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// An event of an unknown future kind, with fields that matter in other kinds.
const FUTURE: &str = r#"{"kind":"hologram","seq":9,"id":"a","text":"boo","delta":true,"name":"Bash","category":"execute","arg":"rm","status":"failed"}"#;

#[test]
fn an_unknown_kind_changes_no_answer() {
    for (recording, events) in files::all_events() {
        let mut reader = Reader::new();
        for event in events {
            reader.push(serde_json::to_string(event).unwrap().as_bytes());
            reader.push(b"\n");
            reader.push(FUTURE.as_bytes());
            reader.push(b"\n");
        }
        reader.finish();
        let more: Vec<Event> = reader.events().collect();
        let unknown = more.iter().filter(|event| event.body.kind() == "unknown");
        assert!(unknown.count() >= events.len(), "{}", recording.name);
        for answer in [Answer::text(), Answer::verbose()] {
            let name = &recording.name;
            assert_eq!(
                written(answer.clone(), &more),
                written(answer, events),
                "{name}"
            );
        }
    }
}

#[test]
fn an_unknown_kind_inside_an_open_message_changes_nothing() {
    let lines = [
        r#"{"kind":"text","seq":0,"id":"a","text":"Hel","delta":true}"#,
        FUTURE,
        r#"{"kind":"text","seq":2,"id":"a","text":"lo","delta":true}"#,
        FUTURE,
        r#"{"kind":"text","seq":4,"id":"b","text":"Bye"}"#,
    ];
    let mut reader = Reader::new();
    reader.push(lines.join("\n").as_bytes());
    reader.finish();
    let events: Vec<Event> = reader.events().collect();
    assert_eq!(written(Answer::text(), &events), "Hello\nBye\n");
}

#[test]
fn events_read_back_are_shown_as_the_original() {
    let formatter = formatter(false);
    for (recording, events) in files::all_events() {
        let mut reader = Reader::new();
        for event in events {
            reader.push(serde_json::to_string(event).unwrap().as_bytes());
            reader.push(b"\n");
        }
        reader.finish();
        let back: Vec<Event> = reader.events().collect();
        let show = |events: &[Event]| -> Vec<String> {
            let entries = entries(events);
            let texts = entries
                .iter()
                .map(|entry| formatter.format_entry(entry, 80));
            texts.collect()
        };
        assert_eq!(show(&back), show(events), "{}", recording.name);
    }
}
