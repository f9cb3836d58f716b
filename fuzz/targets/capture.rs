//! Checks that command output contains no control characters, and that its
//! first lines do not depend on the limit, which the first byte selects.

#![no_main]

use libfuzzer_sys::fuzz_target;
use unspool::doc::capture;

fuzz_target!(|data: &[u8]| {
    let [limit, bytes @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let all = capture::lines(&text);
    for span in all.iter().flatten() {
        unspool_fuzz::assert_safe(&span.text, 0);
        assert!(!span.text.contains('\n'));
    }
    let head = capture::head(&text, usize::from(*limit));
    assert_eq!(head.lines.len() + head.more, all.len());
    assert_eq!(head.lines, all[..head.lines.len()]);
});
