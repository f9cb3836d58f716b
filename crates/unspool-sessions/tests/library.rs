//! The crate as another program uses it: everything is passed in, and nothing is
//! printed.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use unspool::source::BUILTIN;
use unspool_sessions::agents::{Agents, Environment};
use unspool_sessions::digest::State;
use unspool_sessions::error::Error;
use unspool_sessions::index::{Index, Query, excerpt};
use unspool_sessions::input::Batch;
use unspool_sessions::library::Library;
use unspool_sessions::places::{Places, Records};
use unspool_sessions::progress::Progress;
use unspool_sessions::select::Selection;
use unspool_sessions::tally::{By, Grouping, Span, tally};

const SESSION: &str = r#"{"type":"user","sessionId":"5f0c9a52-6a1e-4d51-9a55-0d9f0c7f1a11","cwd":"/work/shop","version":"2.0.14","timestamp":"2026-11-15T10:00:00.000Z","uuid":"u1","message":{"role":"user","content":"Fix the flaky test"}}
{"type":"assistant","sessionId":"5f0c9a52-6a1e-4d51-9a55-0d9f0c7f1a11","cwd":"/work/shop","version":"2.0.14","timestamp":"2026-11-15T10:00:05.000Z","uuid":"u2","parentUuid":"u1","message":{"id":"m1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"It waits for a state now."}],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":20}}}
"#;

/// Returns places below a folder that stands for a home directory.
fn places(home: &Path) -> Places {
    let known = Agents::new(BUILTIN);
    Places {
        known,
        agents: known.named(&[]).unwrap(),
        environment: Environment {
            home: home.to_owned(),
            current: home.to_owned(),
            variable: |_| None,
        },
        folders: Vec::new(),
        records: None,
        cache: Some(home.join("cache")),
    }
}

fn refreshed(places: Places) -> (Library, Vec<Progress>) {
    let mut library = Library::new(places);
    let mut reported = Vec::new();
    library.refresh(&mut |progress| reported.push(progress));
    (library, reported)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_session_is_listed_opened_searched_and_summed_up() {
    let home = tempfile::tempdir().unwrap();
    let file = home
        .path()
        .join(".claude/projects/-work-shop/5f0c9a52.jsonl");
    write(&file, SESSION);
    let (library, reported) = refreshed(places(home.path()));
    assert!(reported.contains(&Progress { done: 1, total: 1 }));
    let row = library.by_id("5f0c").unwrap();
    assert_eq!(row.digest.heading(), "Fix the flaky test");
    assert_eq!(row.digest.project, "/work/shop");

    let mut events = 0;
    for mut input in row.open().unwrap() {
        let read = input.events(library.agents().reader_options(), |batch| {
            events += usize::from(matches!(batch, Batch::Event(_)));
            Ok::<_, Infallible>(())
        });
        read.unwrap().unwrap();
    }
    assert!(events > 2);

    let rows = Selection::default().rows(&library).unwrap();
    let index = Index::open(Some(&home.path().join("cache"))).unwrap();
    index.update(&rows, &mut |_| {}).unwrap();
    let query = Query::new(&["flaky".to_owned()], &[]).unwrap();
    let hits = index.search(&query, &rows, 10).unwrap();
    assert_eq!(excerpt(&hits[0], &query).len(), 1);

    let by_model = [Grouping::from(By::Model)];
    let sums = tally(&library, &rows, Span::default(), &by_model);
    assert_eq!(sums.total.figures.tokens(), 120);
    assert_eq!(sums.groups(0, &by_model[0])[0].0, ["claude-sonnet-4-5"]);
}

#[test]
fn a_second_refresh_reads_nothing_that_did_not_change() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".claude/projects/-p/a.jsonl"), SESSION);
    let (first, _) = refreshed(places(home.path()));
    assert_eq!((first.found, first.read), (1, 1));
    let (second, reported) = refreshed(places(home.path()));
    assert_eq!((second.found, second.read), (1, 0));
    assert!(reported.iter().all(|progress| progress.total == 0));
    assert_eq!(second.rows().len(), 1);
}

#[test]
fn a_recorded_conversation_runs_as_long_as_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let records = home.path().join("records");
    let events = r#"{"kind":"session","seq":0,"provider":"claude","id":"chat-1"}
{"kind":"user","seq":1,"text":"Fix the flaky test"}
"#;
    write(&records.join("chat.jsonl"), events);
    let answers: [fn(&Path) -> bool; 2] = [|_| true, |_| false];
    let states = answers.map(|is_being_written| {
        let mut places = places(home.path());
        places.records = Some(Records {
            folder: records.clone(),
            is_being_written,
        });
        let (library, _) = refreshed(places);
        assert!(library.rows()[0].is_record());
        library.rows()[0].state()
    });
    assert_eq!(states, [State::Running, State::CutOff]);
}

#[test]
fn errors_and_skipped_files_are_values() {
    let home = tempfile::tempdir().unwrap();
    let broken = home.path().join(".claude/projects/-p/broken.jsonl");
    write(&broken, "{\"type\":");
    let mut places = places(home.path());
    let missing = places.add_folder(Path::new("/no/such/folder")).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "/no/such/folder: no such file or directory"
    );
    places.cache = None;
    let (library, _) = refreshed(places);
    let reason = library.without_store.as_deref();
    assert_eq!(reason, Some("no folder for a cache is known"));
    assert_eq!(library.skipped()[0].path, broken);
    assert!(matches!(library.by_id("abc"), Err(Error::NoSuchSession(_))));
    let opened = unspool_sessions::open::open(Path::new("/no/such"), None, library.agents());
    let error = opened.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(
        error.full_text(),
        "cannot read /no/such: No such file or directory (os error 2)"
    );
}
