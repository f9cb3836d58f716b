//! Prints the events of the files named on the command line.
//!
//! `cargo run -p unspool --example events -- session.jsonl`

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let mut reader = unspool::Reader::new();
        reader.push(&std::fs::read(path)?);
        reader.finish();
        for event in reader.events() {
            serde_json::to_writer(&mut out, &event)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
