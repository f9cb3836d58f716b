//! What a command wrote to its terminal leaves no control character, and the
//! first lines are the same whether all are asked for or not. The first byte
//! says how many are.

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
        unspool_fuzz::is_safe(&span.text, 0);
        assert!(!span.text.contains('\n'));
    }
    let head = capture::head(&text, usize::from(*limit));
    assert_eq!(head.lines.len() + head.more, all.len());
    assert_eq!(head.lines, all[..head.lines.len()]);
});
