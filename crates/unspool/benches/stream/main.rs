//! Measures rendering an answer in pieces against rendering it at once.
//!
//! `cargo bench -p unspool --bench stream` renders each message once, and then
//! in pieces of eight characters through a stream: finished parts are laid out
//! after each piece, the open part after every 512 pieces (at 60 frames a
//! second, an agent that writes 250 KB a second). The ratio is meaningful even
//! on a noisy machine. The last lines show the cost of rendering a small
//! message from scratch for each piece.

#![expect(clippy::print_stdout, reason = "a benchmark reports")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use unspool::doc::markdown;
use unspool::doc::stream::{Part, Stream};
use unspool::layout::{Printer, layout};

mod workload;

const ROUNDS: usize = 5;
const SIZE: usize = 1 << 20;
const PIECE: usize = 8;
const REFRESH: usize = 512;
const WIDTH: usize = 100;

/// The text of a screen of 50 lines.
const WINDOW: usize = 50 * WIDTH;

fn main() {
    println!("1 MB in pieces of {PIECE} characters, median of {ROUNDS} rounds");
    for (name, text) in workload::messages(SIZE) {
        let mut once = Vec::new();
        let mut pieces = Vec::new();
        let mut parsed = 0;
        for _ in 0..ROUNDS {
            once.push(timed(|| in_one_go(&text)));
            pieces.push(timed(|| parsed = in_pieces(&text)));
        }
        let (once, pieces) = (median(once), median(pieces));
        println!(
            "{name:20} one go {:6.1} ms   pieces {:6.1} ms   {:.2}×   parsed {:.2} bytes a byte",
            once.as_secs_f64() * 1e3,
            pieces.as_secs_f64() * 1e3,
            pieces.as_secs_f64() / once.as_secs_f64(),
            parsed as f64 / text.len() as f64,
        );
    }
    println!("from scratch for each piece");
    for size in [4 << 10, 8 << 10, 16 << 10] {
        let text = workload::answer(size);
        let once = timed(|| in_one_go(&text));
        let from_scratch = timed(|| from_scratch(&text));
        let pieces = timed(|| {
            in_pieces(&text);
        });
        println!(
            "{:3} KB: {:5.0}× one go; in pieces {:.1}×",
            size >> 10,
            from_scratch.as_secs_f64() / once.as_secs_f64(),
            pieces.as_secs_f64() / once.as_secs_f64(),
        );
    }
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn in_one_go(text: &str) {
    let blocks = markdown::blocks(black_box(text));
    black_box(layout(&blocks, Some(WIDTH), &[], &[]));
}

/// Returns the number of bytes parsed.
fn in_pieces(text: &str) -> usize {
    let mut stream = Stream::new();
    let mut printer = Printer::new(Some(WIDTH), &[], &[]);
    for (index, piece) in pieces(text).enumerate() {
        stream.push(piece);
        let paints = index % REFRESH == REFRESH - 1;
        if paints {
            stream.refresh(WINDOW);
        }
        let finished: Vec<Part> = stream.take_finished().collect();
        black_box(printer.print(&finished));
        if paints {
            black_box(printer.preview(stream.open()));
        }
    }
    stream.finish();
    let finished: Vec<Part> = stream.take_finished().collect();
    black_box(printer.print(&finished));
    stream.parsed_bytes()
}

fn from_scratch(text: &str) {
    let mut end = 0;
    for piece in pieces(text) {
        end += piece.len();
        in_one_go(text.get(..end).unwrap_or_default());
    }
}

/// Splits the text, which is ASCII.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len().div_ceil(PIECE)).filter_map(|index| {
        let start = index * PIECE;
        text.get(start..text.len().min(start + PIECE))
    })
}
