//! Checks that the events do not depend on the chunks, that the events of a
//! prefix are the first of the whole, and that the input may end anywhere. The
//! first byte selects the provider (0: automatic), the second the chunk size
//! and the length of the prefix.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::Event;
use unspool::source::{BUILTIN, Provider};

fn in_chunks(from: Option<Provider>, bytes: &[u8], size: usize) -> Vec<Event> {
    let mut reader = unspool_fuzz::reader(from);
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        reader.push(piece);
        events.extend(reader.events());
    }
    reader.finish();
    events.extend(reader.events());
    events
}

/// Returns the events of a prefix, without those that its end adds.
fn of_prefix(from: Option<Provider>, bytes: &[u8]) -> Vec<Event> {
    let mut reader = unspool_fuzz::reader(from);
    reader.push(bytes);
    let events = reader.events().collect();
    reader.finish();
    for _ in reader.events() {}
    events
}

fuzz_target!(|data: &[u8]| {
    let [from, size, bytes @ ..] = data else {
        return;
    };
    let choice = usize::from(*from) % (BUILTIN.len() + 1);
    let from = choice.checked_sub(1).map(|index| BUILTIN[index]);
    let mut reader = unspool_fuzz::reader(from);
    reader.push(bytes);
    reader.finish();
    // Events that are read back keep their numbers.
    let is_own = bytes.windows(5).any(|word| word == b"\"seq\"");
    let whole: Vec<Event> = reader.events().collect();
    assert_eq!(in_chunks(from, bytes, usize::from(*size) + 1), whole);
    let cut = bytes.len() * usize::from(*size) / 256;
    let beginning = of_prefix(from, &bytes[..cut]);
    assert_eq!(beginning, whole[..beginning.len()]);
    for (number, event) in whole.iter().enumerate().filter(|_| !is_own) {
        assert_eq!(event.seq, number as u64);
    }
});
