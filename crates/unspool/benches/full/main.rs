//! Measures the mode `full` against parsing JSON alone.
//!
//! `cargo bench -p unspool --bench full` runs all on the same bytes,
//! interleaved, and prints medians and their ratio, which is meaningful even on
//! a noisy machine. The input is generated, or read from
//! `UNSPOOL_BENCH_INPUT=FILE`.

use std::hint::black_box;

use unspool::formatter::{Config, Formatter};
use unspool::session::Session;

#[path = "../shared/side_by_side.rs"]
mod side_by_side;

use side_by_side::{each_event, typed_parse};

const WIDTH: usize = 80;

fn main() {
    side_by_side::run(&[
        ("typed borrowed parse", typed_parse),
        ("bytes → events", events),
        ("bytes → full, plain", plain),
        ("bytes → full, colours", colours),
    ]);
}

fn events(input: &[u8]) {
    each_event(input, |event| {
        black_box(&event);
    });
}

fn plain(input: &[u8]) {
    full(input, Config::default().with_plain_text(true));
}

fn colours(input: &[u8]) {
    full(input, Config::default());
}

fn full(input: &[u8], config: Config) {
    let formatter = Formatter::new(config);
    let mut session = Session::new();
    each_event(input, |event| {
        session.apply(event, &mut |entry| {
            black_box(formatter.format_entry(&entry, WIDTH));
        });
    });
    session.finish(&mut |entry| {
        black_box(formatter.format_entry(&entry, WIDTH));
    });
}
