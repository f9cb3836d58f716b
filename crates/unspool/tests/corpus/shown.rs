//! What every recording shows: never wider than asked, the same with and
//! without colours, and in `text` mode the answer alone.

use unspool::answer::Answer;
use unspool::event::Body;
use unspool::formatter::{Config, Formatter};
use unspool::layout;
use unspool::session::{Entry, Session};
use unspool::{Event, Reader};

use crate::files;

fn entries(events: &[Event]) -> Vec<Entry> {
    let mut session = Session::new();
    let mut entries = Vec::new();
    for event in events {
        session.apply(event.clone(), &mut |entry| entries.push(entry));
    }
    session.finish(&mut |entry| entries.push(entry));
    entries
}

fn formatter(plain_text: bool) -> Formatter {
    Formatter::new(Config {
        plain_text,
        ..Config::default()
    })
}

/// What a terminal prints of a text.
fn stripped(text: &str) -> String {
    struct Printed(String);
    impl vte::Perform for Printed {
        fn print(&mut self, character: char) {
            self.0.push(character);
        }
        fn execute(&mut self, byte: u8) {
            self.0.push(char::from(byte));
        }
    }
    let mut printed = Printed(String::new());
    vte::Parser::new().advance(&mut printed, text.as_bytes());
    printed.0
}

#[test]
fn no_line_is_wider_than_asked_and_colours_change_no_text() {
    let (plain, coloured) = (formatter(true), formatter(false));
    files::everywhere(|recording| {
        for entry in entries(&files::events(recording)) {
            for width in [0, 31, 40, 80, 120, 200] {
                let text = plain.format_entry(&entry, width);
                let name = &recording.name;
                assert_eq!(
                    stripped(&coloured.format_entry(&entry, width)),
                    text,
                    "{name} at {width}"
                );
                assert!(
                    text.chars().all(|c| c == '\n' || !c.is_control()),
                    "{name} at {width}: a control character in {text:?}"
                );
                for line in text.lines().filter(|_| width > 0) {
                    let cells = layout::width(line);
                    assert!(cells <= width, "{name} at {width}: {cells} in {line:?}");
                }
            }
        }
    });
}

/// The answers of the root agent, each followed by a line end. A final form
/// that does not go on where the stream stopped is a message of its own.
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
fn text_mode_is_the_answer_and_a_line_end() {
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
