//! Every prefix of every recording: no panic, and nothing that was said is
//! taken back by what follows.

use unspool::{Event, Reader};

use crate::files;

/// Within a line longer than twice this, only the prefixes near its ends are
/// tried, and every so many in between.
const NEAR: usize = 512;
const STRIDE: usize = 211;

#[test]
fn every_prefix_ends_cleanly_and_begins_like_the_whole() {
    for recording in files::recordings() {
        let bytes = std::fs::read(&recording.path).unwrap();
        let whole = files::events(&recording);
        let mut reader = files::reader(&recording);
        let mut seen = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            for cut in cuts(line.len()) {
                finish_early(reader.clone(), &line[..cut]);
            }
            reader.push(line);
            for event in reader.events() {
                assert!(
                    whole.get(seen) == Some(&event),
                    "{}: event {seen}",
                    recording.name
                );
                seen += 1;
            }
        }
    }
}

fn cuts(length: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |cut| *cut < NEAR || length - cut < NEAR || cut % STRIDE == 0)
}

/// The stream ends here. What comes must be sound in itself.
fn finish_early(mut reader: Reader, rest: &[u8]) {
    reader.push(rest);
    reader.finish();
    let events: Vec<Event> = reader.events().collect();
    for pair in events.windows(2) {
        assert_eq!(pair[0].seq + 1, pair[1].seq);
    }
}
