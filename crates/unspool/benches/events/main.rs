//! Measures reading events against parsing JSON alone.
//!
//! `cargo bench -p unspool --bench events` runs both on the same bytes,
//! interleaved, and prints medians and their ratio, which is meaningful even on
//! a noisy machine. The input is generated, or read from
//! `UNSPOOL_BENCH_INPUT=FILE`.

use std::hint::black_box;

#[path = "../shared/side_by_side.rs"]
mod side_by_side;

use side_by_side::{CHUNK, each_event, typed_parse};

fn main() {
    side_by_side::run(&[
        ("typed borrowed parse", typed_parse),
        ("bytes → events", events),
        ("bytes → events → JSONL", events_as_json),
    ]);
}

fn events(input: &[u8]) {
    each_event(input, |event| {
        black_box(&event);
    });
}

fn events_as_json(input: &[u8]) {
    let mut out = Vec::with_capacity(CHUNK);
    each_event(input, |event| {
        out.clear();
        serde_json::to_writer(&mut out, &event).expect("memory");
        black_box(&out);
    });
}
