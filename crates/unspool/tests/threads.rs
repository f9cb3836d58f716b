//! The types that a program keeps for the length of a run can be moved to
//! another thread.

use unspool::answer::Answer;
use unspool::event::Event;
use unspool::formatter::Formatter;
use unspool::redact::{Joiner, Redactor};
use unspool::session::{Entry, Session};
use unspool::stats::Stats;
use unspool::timeline::Timeline;
use unspool::transcript::{Spacing, Transcript};
use unspool::{Reader, ReaderOptions};

const fn is_send<T: Send>() {}
const fn is_send_and_sync<T: Send + Sync>() {}

const _: () = {
    is_send::<Reader>();
    is_send_and_sync::<ReaderOptions>();
    is_send_and_sync::<Event>();
    is_send_and_sync::<Entry>();
    is_send_and_sync::<Session>();
    is_send_and_sync::<Formatter>();
    is_send_and_sync::<Answer>();
    is_send_and_sync::<Stats>();
    is_send_and_sync::<Transcript>();
    is_send_and_sync::<Spacing>();
    is_send_and_sync::<Timeline>();
    is_send_and_sync::<Redactor>();
    is_send_and_sync::<Joiner>();
};

#[test]
fn a_reader_goes_on_in_another_thread() {
    let mut reader = Reader::new();
    reader.push(br#"{"kind":"text","seq":0,"te"#);
    let read = std::thread::spawn(move || {
        reader.push(br#"xt":"Hello","id":"m1"}"#);
        reader.finish();
        reader.events().count()
    });
    assert_eq!(read.join().ok(), Some(1));
}
