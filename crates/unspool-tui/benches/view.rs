//! Cost of a transcript with 1, 10, 100 and so on to 1,000,000 entries: adding
//! events, memory, a frame after each kind of movement, and the time from a piece
//! of an answer to its frame. Prints a Markdown table.
//!
//! `cargo bench -p unspool-tui --bench view`

#![expect(clippy::print_stdout, reason = "this is what a benchmark is for")]

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use unspool::Event;
use unspool::doc::entry::Detail;
use unspool::formatter::{Config, Formatter};
use unspool_tui::keys::Action;
use unspool_tui::transcript::{Look, Pane};

/// Number of frames. Their median is printed, and the slowest.
const FRAMES: usize = 200;

const SIZES: [usize; 7] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

fn event(line: &str) -> Event {
    Event::from_json(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Number of entries in a round: a prompt, a thought, calls and an answer.
const ROUND: usize = 10;

/// Creates an entry.
fn entry(number: usize, take: &mut dyn FnMut(Event)) {
    let (round, place) = (number / ROUND, number % ROUND);
    match place {
        0 => take(event(&format!(
            r#"{{"kind":"user","text":"prompt {round}: look at the parser and mend it"}}"#
        ))),
        1 => take(event(&format!(
            r#"{{"kind":"reasoning","id":"r{round}","text":"First I look at it, and then I think about what to do."}}"#
        ))),
        9 => take(event(&format!(
            r#"{{"kind":"text","id":"m{round}","text":"All tests of **round {round}** pass now:\n\n- one\n- two\n"}}"#
        ))),
        call => {
            let id = format!("t{round}x{call}");
            let output = "test case ... ok\\n".repeat(20);
            take(event(&format!(
                r#"{{"kind":"tool_use","id":"{id}","name":"Bash","category":"execute","input":{{"command":"make {id}"}}}}"#
            )));
            take(event(&format!(
                r#"{{"kind":"tool_result","id":"{id}","name":"Bash","status":"ok","output":"{output}"}}"#
            )));
        }
    }
}

/// Returns the resident memory of this process, in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok());
    pages.map_or(0, |pages: usize| pages * 4096)
}

/// One row per operation, one column per size.
#[derive(Default)]
struct Table {
    rows: Vec<(&'static str, Vec<String>)>,
}

impl Table {
    fn put(&mut self, name: &'static str, value: String) {
        match self.rows.iter_mut().find(|(row, _)| *row == name) {
            Some((_, values)) => values.push(value),
            None => self.rows.push((name, vec![value])),
        }
    }

    /// Records the median and returns the slowest.
    fn record(&mut self, name: &'static str, mut times: Vec<Duration>) -> Duration {
        times.sort_unstable();
        self.put(name, milliseconds(times[times.len() / 2]));
        times.last().copied().unwrap_or_default()
    }

    fn print(&self) {
        let sizes = SIZES.map(|size| format!(" {size} |"));
        println!("| entries |{}", sizes.concat());
        println!("|---|{}", "---:|".repeat(SIZES.len()));
        for (name, values) in &self.rows {
            println!("| {name} | {} |", values.join(" | "));
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

fn main() {
    let mut table = Table::default();
    for entries in SIZES {
        measure(entries, &mut table);
    }
    table.print();
}

fn measure(entries: usize, table: &mut Table) {
    let formatter = Formatter::new(Config::default());
    let detail = Detail::default();
    let mut pane = Pane::new(Look { formatter, detail });
    let mut terminal =
        Terminal::new(TestBackend::new(120, 40)).unwrap_or_else(|error| panic!("{error}"));
    let mut frame = |pane: &mut Pane| {
        let began = Instant::now();
        let drawn = terminal.draw(|frame| pane.draw(frame, frame.area()));
        assert!(drawn.is_ok());
        began.elapsed()
    };
    let before = memory();
    let mut took = Duration::ZERO;
    for number in 0..entries {
        entry(number, &mut |event| {
            let began = Instant::now();
            pane.event(event);
            took += began.elapsed();
        });
    }
    let used = memory().saturating_sub(before);
    table.put("taken in, ms", milliseconds(took));
    table.put("memory, MB", (used >> 20).to_string());
    table.put("the first frame, ms", milliseconds(frame(&mut pane)));
    let mut slowest = Duration::ZERO;
    for (name, action) in [
        ("a line down", Action::Down),
        ("a page down", Action::PageDown),
        ("to the end", Action::End),
        ("a page up", Action::PageUp),
        ("to the previous prompt", Action::PreviousPrompt),
        ("to the beginning", Action::Top),
        ("fold all", Action::FoldAll),
        ("to the next error, if any", Action::NextError),
    ] {
        let move_once = |_| {
            let began = Instant::now();
            pane.act(action);
            frame(&mut pane);
            began.elapsed()
        };
        slowest = slowest.max(table.record(name, (0..FRAMES).map(move_once).collect()));
    }
    pane.act(Action::ResetFolds);
    pane.act(Action::End);
    frame(&mut pane);
    let piece = |_| {
        let piece = r#"{"kind":"text","id":"last","delta":true,"text":"a few more words, "}"#;
        let piece = event(piece);
        let began = Instant::now();
        pane.event(piece);
        frame(&mut pane);
        began.elapsed()
    };
    let pieces = (0..FRAMES * 10).map(piece).collect();
    slowest = slowest.max(table.record("a piece of an answer", pieces));
    table.put("the slowest of these", milliseconds(slowest));
    let began = Instant::now();
    pane.search(&format!("round {}", entries / 2 / ROUND));
    while pane
        .search_words()
        .is_some_and(|(_, count)| count.contains(['+', '…']))
    {
        pane.tick();
    }
    table.put("searched, ms", milliseconds(began.elapsed()));
}
