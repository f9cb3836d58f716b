//! Tests over the corpus of recorded runs in `tests/corpus`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod answers;
mod chunks;
mod fields;
mod files;
mod ids;
mod parity;
#[path = "../stream/pieces.rs"]
mod pieces;
mod prefixes;
mod read_back;
mod recognition;
mod renamed;
mod rules;
mod shown;
mod snapshots;
mod stream;
mod transports;
mod widths;
