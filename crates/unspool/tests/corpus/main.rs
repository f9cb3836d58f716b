//! Tests over the corpus of recorded runs in `tests/corpus`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod files;
mod snapshots;
