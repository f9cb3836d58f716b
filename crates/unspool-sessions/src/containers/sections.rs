//! Text files in which each session starts with a line that names its start.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::HEAD;
use crate::agents::Agents;

/// The bytes of one session in its file.
pub(super) struct Section {
    pub(super) from: u64,
    pub(super) to: u64,
    /// The rest of the line that starts it.
    pub(super) started: String,
}

/// Returns true if the file starts with a session. A file that cannot be read does
/// not.
pub(crate) fn has_sections(path: &Path, agents: Agents) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && starts(&head, agents).is_some()
}

/// Returns the starts of an agent's sessions if a file with this head holds some.
pub(super) fn starts(head: &[u8], agents: Agents) -> Option<&'static [&'static str]> {
    let head = String::from_utf8_lossy(head);
    let head = head.trim_start();
    let all = agents.saved().map(|saved| saved.sections);
    all.into_iter()
        .find(|starts| starts.iter().any(|start| head.starts_with(start)))
}

/// Finds the sessions of a file.
pub(super) fn read(file: File, starts: &[&str]) -> io::Result<Vec<Section>> {
    let mut lines = BufReader::new(file);
    let mut sections: Vec<Section> = Vec::new();
    let (mut at, mut line) = (0_u64, Vec::new());
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        let started = starts
            .iter()
            .find_map(|start| line.strip_prefix(start.as_bytes()));
        if let Some(started) = started {
            sections.push(Section {
                from: at,
                to: at,
                started: String::from_utf8_lossy(started).trim().to_owned(),
            });
        }
        at += length as u64;
        if let Some(section) = sections.last_mut() {
            section.to = at;
        }
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::super::Container;
    use super::*;

    #[test]
    fn a_history_is_read_session_by_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".aider.chat.history.md");
        let text = "\n# aider chat started at 2026-11-15 10:00:00\n\n#### one\n\n\
                    # aider chat started at 2026-11-16 11:00:00\n\n#### two\n";
        std::fs::write(&path, text).unwrap();
        let agents = Agents::new(unspool::source::BUILTIN);
        assert!(has_sections(&path, agents));
        let container = Container::open(&path, agents).unwrap().unwrap();
        let parts = container.parts();
        let started: Vec<&str> = parts.iter().map(|part| part.started.as_str()).collect();
        assert_eq!(started, ["2026-11-15 10:00:00", "2026-11-16 11:00:00"]);
        let mut second = String::new();
        let mut input = container.input("2").unwrap();
        input.bytes.read_to_string(&mut second).unwrap();
        assert!(second.starts_with("# aider chat started at 2026-11-16"));
        assert!(second.ends_with("#### two\n"));
        assert!(container.input("3").is_err());
        assert!(container.input("0").is_err());
    }
}
