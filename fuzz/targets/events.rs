//! Checks that events written and read back are equal, look the same and are
//! safe. The first byte selects the provider, the second the width.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::source::BUILTIN;

fuzz_target!(|data: &[u8]| {
    let [from, width, bytes @ ..] = data else {
        return;
    };
    let choice = usize::from(*from) % (BUILTIN.len() + 1);
    let from = choice.checked_sub(1).map(|index| BUILTIN[index]);
    let events = unspool_fuzz::events(from, bytes);
    let mut printed = String::new();
    for event in &events {
        let line = serde_json::to_string(event).expect("an event is JSON");
        assert!(!line.contains('\n'), "an event is one line");
        printed.push_str(&line);
        printed.push('\n');
    }
    let own = unspool::source::provider("unspool");
    let again = unspool_fuzz::events(own, printed.as_bytes());
    assert_eq!(events, again);
    let width = 20 + usize::from(*width);
    let shown = unspool_fuzz::shown(&events, width);
    assert_eq!(unspool_fuzz::shown(&again, width), shown);
    unspool_fuzz::assert_safe(&shown, width);
});
