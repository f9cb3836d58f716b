//! What a transcript costs at 1, 10, 100 and so on to 1,000,000 entries: taking the
//! events, memory for each, a frame after each kind of move, and the time from a
//! piece of an answer to the frame that shows it.
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

/// Frames of which the slowest and the median are told.
const FRAMES: usize = 200;

fn event(line: &str) -> Event {
    Event::from_json(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Entries of a round: a prompt, a thought, calls and an answer.
const ROUND: usize = 10;

/// One entry of a run.
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

/// The memory of this process, in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok());
    pages.map_or(0, |pages: usize| pages * 4096)
}

fn told(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    println!("  {name:28} median {median:>9.1?}   slowest {slowest:>9.1?}");
}

fn main() {
    for entries in [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] {
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
        println!(
            "{entries} {}",
            if entries == 1 { "entry" } else { "entries" }
        );
        println!(
            "  taken in {took:.1?}, {} bytes of memory an entry, {} MB",
            used / pane.len().max(1),
            used >> 20
        );
        println!("  the first frame {:.1?}", frame(&mut pane));
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
            told(name, (0..FRAMES).map(move_once).collect());
        }
        pane.act(Action::FoldAsAtFirst);
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
        told(
            "a piece of an answer",
            (0..FRAMES * 10).map(piece).collect(),
        );
        let began = Instant::now();
        pane.search(&format!("round {}", entries / 2 / ROUND));
        let mut slices = 0;
        while pane
            .search_words()
            .is_some_and(|(_, count)| count.contains(['+', '…']))
        {
            pane.tick();
            slices += 1;
        }
        println!("  searched in {:.1?}, {slices} slices", began.elapsed());
    }
}
