//! Tests that each recording is recognised automatically, and only by its
//! provider.

use unspool::Reader;

use crate::files;

#[test]
fn every_recording_is_recognised() {
    for recording in files::recordings() {
        let mut reader = Reader::new();
        reader.push(&std::fs::read(&recording.path).unwrap());
        reader.finish();
        let name = reader.provider().map_or("raw", |provider| provider.name);
        assert_eq!(name, recording.provider, "{}", recording.name);
    }
}

/// A stream read from its middle is recognised or passed on unrecognised, but
/// never taken for another provider's.
#[test]
fn no_line_is_claimed_by_another_provider() {
    for recording in files::recordings() {
        let bytes = std::fs::read(&recording.path).unwrap();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut reader = Reader::new();
            reader.push(line);
            reader.finish();
            if let Some(provider) = reader.provider() {
                let line = String::from_utf8_lossy(line);
                let line: String = line.chars().take(200).collect();
                assert_eq!(
                    provider.name, recording.provider,
                    "{}: {line}",
                    recording.name
                );
            }
        }
    }
}
