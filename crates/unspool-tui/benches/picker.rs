//! Cost of a key in a list of 10,000 and of 100,000 rows: the median of seven
//! rounds, for each letter of a few queries.
//!
//! `cargo bench -p unspool-tui`

#![expect(clippy::print_stdout, reason = "this is what a benchmark is for")]

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use unspool::doc::{Span, Style};
use unspool_tui::picker::{Column, Picker, Row};

/// Number of rounds. Their median is printed.
const ROUNDS: usize = 7;

const WORDS: [&str; 16] = [
    "Fix", "the", "flaky", "test", "of", "parser", "explain", "why", "build", "fails", "add",
    "docs", "漢字", "refactor", "session", "library",
];

/// Creates a realistic list with titles of up to 24 words.
fn picker(count: usize) -> Picker {
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap_or_default() % below
    };
    let mut row = |number: usize| {
        let length = 3 + random(22);
        let title: Vec<&str> = (0..length)
            .filter_map(|_| WORDS.get(random(16)).copied())
            .collect();
        let project = format!("~/work/project-{}/service-{}", random(40), random(9));
        let agents = ["claude", "codex", "gemini"];
        let agent = agents.get(random(3)).copied().unwrap_or_default();
        let cell = |text: &str| Span::clean(text, Style::default());
        Row {
            cells: vec![cell(agent), cell(&project), cell(&title.join(" "))],
            hidden: vec![format!("{number:08x}-2f32-47b8-a4b2-4aaf01525eff")],
        }
    };
    let columns = [
        Column::new("AGENT"),
        Column::new("PROJECT"),
        Column::new("TITLE"),
    ];
    Picker::new(&columns, (0..count).map(&mut row).collect())
}

fn main() {
    for count in [10_000, 100_000] {
        let began = Instant::now();
        let mut picker = picker(count);
        println!("{count} rows are made in {:.1?}", began.elapsed());
        let mut dearest = Duration::ZERO;
        for query in [
            "flaky test",
            "claude prsr 'docs",
            "!codex fix$",
            "2f32 漢字",
        ] {
            let rounds: Vec<Vec<Duration>> =
                (0..ROUNDS).map(|_| round(&mut picker, query)).collect();
            let times = (0..query.chars().count()).map(|at| median(&rounds, at));
            let times: Vec<Duration> = times.collect();
            println!("  {query}: {times:.1?}");
            dearest = dearest.max(times.into_iter().max().unwrap_or_default());
        }
        println!("  the dearest key: {dearest:.1?}");
    }
}

/// Measures each key while a query is typed and deleted again.
fn round(picker: &mut Picker, query: &str) -> Vec<Duration> {
    let type_in = |character| key(picker, KeyCode::Char(character));
    let times = query.chars().map(type_in).collect();
    while !picker.query().is_empty() {
        key(picker, KeyCode::Backspace);
    }
    times
}

fn median(rounds: &[Vec<Duration>], at: usize) -> Duration {
    let mut times: Vec<Duration> = rounds
        .iter()
        .filter_map(|round| round.get(at).copied())
        .collect();
    times.sort_unstable();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}

fn key(picker: &mut Picker, code: KeyCode) -> Duration {
    let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    let began = Instant::now();
    picker.event(&event);
    began.elapsed()
}
