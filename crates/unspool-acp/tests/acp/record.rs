//! Recordings survive a kill of the process that writes them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use unspool::{Event, Reader};
use unspool_acp::{Phase, Update};

use crate::world::World;

const FILE: &str = "UNSPOOL_TEST_RECORD";
const RUNS: u64 = 20;

/// Records one conversation. The tests below run it in another process, to kill it,
/// and name the file.
#[test]
fn conversation() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::env::var_os(FILE);
    let file = file.map_or_else(|| folder.path().join("run.jsonl"), PathBuf::from);
    let path = fake_agent::recording("codex/parity");
    let flags = ["--delay", "3", path.to_str().unwrap()];
    let mut world = World::with(&flags, |settings| settings.record = Some(file));
    world.until(|world| world.client.phase() == Phase::Ready);
    world.say("Go.");
    world.until(|world| world.client.phase() == Phase::Ready);
    world.client.close();
    world.until(World::is_ended);
}

fn start(file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "record::conversation", "--quiet"])
        .env(FILE, file)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the complete lines of a recording, without the fields that differ from run
/// to run.
fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |at| text.get(..at).unwrap());
    whole
        .lines()
        .map(|line| {
            Event::from_json(line).unwrap();
            let mut line: Value = serde_json::from_str(line).unwrap();
            let fields = line.as_object_mut().unwrap();
            fields.remove("time");
            fields.remove("cwd");
            line
        })
        .collect()
}

#[test]
fn a_kill_at_any_point_loses_at_most_the_last_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("whole.jsonl");
    assert!(start(&file).wait().unwrap().success());
    let (whole, size) = (lines(&file), size(&file));
    assert!(whole.len() > 50, "{}", whole.len());
    let mut lengths = Vec::new();
    for run in 0..RUNS {
        let file = folder.path().join(format!("{run}.jsonl"));
        let mut child = start(&file);
        wait_for_size(&mut child, &file, size * run / RUNS);
        // At a random point between two messages.
        thread::sleep(Duration::from_micros(run * 137));
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = lines(&file);
        assert!(kept == whole.get(..kept.len()).unwrap(), "run {run}");
        lengths.push(kept.len());
    }
    // Enough of them were killed in the middle.
    let in_between = lengths.iter();
    let in_between = in_between.filter(|length| **length > 0 && **length < whole.len());
    assert!(in_between.count() >= 10, "{lengths:?}");
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

fn wait_for_size(child: &mut Child, file: &Path, bytes: u64) {
    while size(file) < bytes && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_recording_reads_back_as_it_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let path = fake_agent::recording("gemini/thinking");
    let flags = [path.to_str().unwrap()];
    let mut world = World::with(&flags, |settings| settings.record = Some(file.clone()));
    world.until(|world| world.client.phase() == Phase::Ready);
    assert!(!file.exists(), "nothing was said yet");
    world.say("Think.");
    world.until(|world| world.client.phase() == Phase::Ready);
    world.client.close();
    world.until(World::is_ended);
    assert_eq!(world.client.record_path(), Some(&*file));
    let mut reader = Reader::new();
    reader.push(&std::fs::read(&file).unwrap());
    reader.finish();
    let shown: Vec<Event> = world
        .updates
        .into_iter()
        .filter_map(|update| match update {
            Update::Event(event) => Some(event),
            _ => None,
        })
        .collect();
    let kept: Vec<Event> = reader.events().collect();
    assert_eq!(kept, shown);
    assert!(kept.len() > 10);
}
