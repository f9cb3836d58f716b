//! Tests that the events do not depend on the chunks of the input.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use unspool::Event;

use crate::files::{self, Recording};

fn in_chunks(
    recording: &Recording,
    bytes: &[u8],
    sizes: impl Iterator<Item = usize>,
) -> Vec<Event> {
    let mut reader = files::reader(recording);
    let mut events = Vec::new();
    let mut rest = bytes;
    for size in sizes {
        if rest.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at(size.clamp(1, rest.len()));
        reader.push(chunk);
        events.extend(reader.events());
        rest = tail;
    }
    reader.push(rest);
    reader.finish();
    events.extend(reader.events());
    events
}

#[test]
fn equal_chunks_of_any_size_give_the_same_events() {
    files::everywhere(|recording| {
        let bytes = std::fs::read(&recording.path).unwrap();
        let whole = files::events(recording);
        for size in [1, 64, 4097] {
            let events = in_chunks(recording, &bytes, std::iter::repeat(size));
            assert!(events == whole, "{} in chunks of {size}", recording.name);
        }
    });
}

#[test]
fn random_chunks_give_the_same_events() {
    files::everywhere(|recording| {
        let bytes = std::fs::read(&recording.path).unwrap();
        let whole = files::events(recording);
        let sizes = proptest::collection::vec(1..=bytes.len().max(2), 1..40);
        let config = Config {
            cases: 8,
            failure_persistence: None,
            ..Config::default()
        };
        TestRunner::new(config)
            .run(&sizes, |sizes| {
                let events = in_chunks(recording, &bytes, sizes.into_iter());
                prop_assert!(events == whole, "{}", recording.name);
                Ok(())
            })
            .unwrap();
    });
}
