//! Shared by the benchmarks: the input, the baseline parse, and interleaved
//! runs.

#![expect(clippy::print_stdout, reason = "a benchmark reports")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use unspool::{Event, Reader};

#[path = "workload.rs"]
mod workload;

/// The allocator of the command `unspool`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 15;

/// Bytes per chunk.
pub(crate) const CHUNK: usize = 1 << 17;

/// A name and the function to measure.
pub(crate) type Measured = (&'static str, fn(&[u8]));

/// Runs all on the same bytes, interleaved, and prints medians and their ratio
/// to the first. `--once NAME` runs one of them once and prints nothing, for
/// counting instructions.
pub(crate) fn run(measured: &[Measured]) {
    let input = match std::env::var_os("UNSPOOL_BENCH_INPUT") {
        Some(path) => std::fs::read(path).expect("a readable workload"),
        None => workload::claude(20 << 20),
    };
    if let Some(name) = std::env::args().skip_while(|word| word != "--once").nth(1) {
        let once = measured.iter().find(|(known, _)| *known == name);
        let (_, run) = once.expect("a name that is measured");
        return run(&input);
    }
    let mut times = vec![Vec::with_capacity(ROUNDS); measured.len()];
    for _ in 0..ROUNDS {
        for ((_, run), times) in measured.iter().zip(&mut times) {
            let start = Instant::now();
            run(black_box(&input));
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times.into_iter().map(median).collect();
    let base = medians.first().map_or(1.0, Duration::as_secs_f64);
    println!(
        "{:.1} MB, median of {ROUNDS} rounds",
        input.len() as f64 / 1e6
    );
    for ((name, _), time) in measured.iter().zip(medians) {
        let seconds = time.as_secs_f64();
        let speed = input.len() as f64 / 1e6 / seconds;
        println!(
            "{name:24} {speed:8.0} MB/s  {:.2}× the parse",
            seconds / base
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Parses only the envelope of each line: the baseline.
pub(crate) fn typed_parse(input: &[u8]) {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "parsing is what is measured")]
    struct Line<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        subtype: Option<Cow<'a, str>>,
        #[serde(borrow)]
        session_id: Option<Cow<'a, str>>,
        #[serde(borrow)]
        parent_tool_use_id: Option<Cow<'a, str>>,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        event: Option<&'a RawValue>,
        #[serde(borrow)]
        tool_use_result: Option<&'a RawValue>,
    }
    for line in input
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let line: Line<'_> = serde_json::from_slice(line).expect("a valid line");
        black_box(&line);
    }
}

pub(crate) fn each_event(input: &[u8], mut visit: impl FnMut(Event)) {
    let mut reader = Reader::new();
    for chunk in input.chunks(CHUNK) {
        reader.push(chunk);
        reader.events().for_each(&mut visit);
    }
    reader.finish();
    reader.events().for_each(&mut visit);
}
