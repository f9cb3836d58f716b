//! Tests that events are read back without loss.

use unspool::{Event, Reader};

use crate::files;

#[test]
fn events_read_back_are_the_events_written() {
    for (recording, events) in files::all_events() {
        let mut reader = Reader::new();
        for event in events {
            let line = serde_json::to_string(event).unwrap();
            assert!(
                !line.contains('\n'),
                "{}: an event is one line",
                recording.name
            );
            reader.push(line.as_bytes());
            reader.push(b"\n");
        }
        reader.finish();
        let back: Vec<Event> = reader.events().collect();
        assert!(back == *events, "{}", recording.name);
        if !events.is_empty() {
            assert_eq!(reader.provider().unwrap().name, "unspool");
        }
    }
}
