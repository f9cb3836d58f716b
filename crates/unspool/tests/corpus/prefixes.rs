//! Every prefix of every recording: no panic, and nothing that was said is
//! taken back by what follows.

use unspool::{Event, Reader};

use crate::files;

/// Of recordings up to this size every prefix is tried. Of larger ones every
/// prefix that ends near the end of a line, where the state changes, and every
/// so many in between.
const SMALL: usize = 4096;
const NEAR: usize = 24;
const STRIDE: usize = 61;

#[test]
fn every_prefix_ends_cleanly_and_begins_like_the_whole() {
    files::everywhere(|recording| {
        let bytes = std::fs::read(&recording.path).unwrap();
        let whole = files::events(recording);
        let near = if bytes.len() <= SMALL { SMALL } else { NEAR };
        let mut reader = files::reader(recording);
        let mut seen = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            for cut in cuts(line.len(), near) {
                finish_early(reader.clone(), &line[..cut]);
            }
            reader.push(line);
            for event in reader.events() {
                let same = whole.get(seen) == Some(&event);
                assert!(same, "{}: event {seen}", recording.name);
                seen += 1;
            }
        }
    });
}

fn cuts(length: usize, near: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |cut| *cut < near || length - cut < near || cut % STRIDE == 0)
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
