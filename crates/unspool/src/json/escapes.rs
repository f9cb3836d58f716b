//! Checks string contents, which [`scan`](super::scan) skips: control
//! characters and invalid escapes.
//!
//! Every byte of a stream is checked here, so most are processed many at a
//! time, and only blocks with uncommon escapes one escape at a time.

use std::ops::Range;

/// Bytes processed together.
const LANES: usize = 32;

/// Returns true if a text has no control characters, only valid JSON escapes
/// and no backslash at its end.
pub(crate) fn has_valid_escapes(text: &str) -> bool {
    const BLOCK: usize = 256;
    let bytes = text.as_bytes();
    if bytes
        .last()
        .is_some_and(|last| *last < b' ' || *last == b'\\')
    {
        return false;
    }
    (0..bytes.len()).step_by(BLOCK).all(|start| {
        let block = start..bytes.len().min(start + BLOCK);
        has_common_escapes(bytes, &block) || is_valid(bytes, &block)
    })
}

/// Returns true if a block has no control characters and only common escapes.
/// One pass without branches: both halves of `\\` are treated as the start of
/// an escape, so the result may be falsely `false`, but never falsely `true`.
fn has_common_escapes(bytes: &[u8], block: &Range<usize>) -> bool {
    // The very last byte has no next one; the caller checks it.
    let length = block.len().min(bytes.len() - block.start - 1);
    let these = bytes
        .get(block.start..)
        .and_then(|bytes| bytes.get(..length));
    let next = bytes
        .get(block.start + 1..)
        .and_then(|bytes| bytes.get(..length));
    let (these, rest) = these.unwrap_or_default().as_chunks::<LANES>();
    let (next, next_rest) = next.unwrap_or_default().as_chunks::<LANES>();
    let mut uncommon = [0; LANES];
    for (these, next) in these.iter().zip(next) {
        uncommon =
            std::array::from_fn(|lane| uncommon[lane] | is_uncommon(these[lane], next[lane]));
    }
    let uncommon = uncommon.iter().fold(0, |all, uncommon| all | uncommon);
    let pairs = rest.iter().zip(next_rest);
    pairs.fold(uncommon, |uncommon, (byte, next)| {
        uncommon | is_uncommon(*byte, *next)
    }) == 0
}

/// Returns 1 for a control character or a backslash before an uncommon letter,
/// else 0.
fn is_uncommon(byte: u8, next: u8) -> u8 {
    let is = |byte: u8, other: u8| u8::from(byte == other);
    let is_common = is(next, b'n') | is(next, b'"') | is(next, b'\\') | is(next, b't');
    u8::from(byte < b' ') | (is(byte, b'\\') & (1 - is_common))
}

/// Checks any block exactly, given that everything before it is valid.
fn is_valid(bytes: &[u8], block: &Range<usize>) -> bool {
    let before = bytes.get(..block.start).unwrap_or_default();
    let open = before.iter().rev().take_while(|byte| **byte == b'\\');
    // After an odd number of backslashes, the last one starts an escape.
    let mut at = block.start + open.count() % 2;
    let these = bytes.get(block.clone()).unwrap_or_default();
    let least = these.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    if least < b' ' {
        return false;
    }
    for offset in memchr::memchr_iter(b'\\', these) {
        let escape = block.start + offset;
        // Skip the second half of `\\`.
        if escape < at {
            continue;
        }
        at = escape + 2;
        match bytes.get(escape + 1) {
            Some(b'n' | b'"' | b'\\' | b't' | b'/' | b'r' | b'b' | b'f') => {}
            Some(b'u') => {
                let digits = bytes.get(at..at + 4).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes [`has_valid_escapes`] byte by byte.
    fn has_valid_escapes_slow(text: &str) -> bool {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let hex = |digit: char| digit.is_ascii_hexdigit();
            let length = match first {
                '\\' if rest.starts_with("\\u") => {
                    let digits = rest.chars().skip(2).take(4);
                    6 * usize::from(digits.filter(|digit| hex(*digit)).count() == 4)
                }
                '\\' => 2 * usize::from(rest.get(1..2).is_some_and(|c| "n\"\\t/rbf".contains(c))),
                '\0'..' ' => 0,
                other => other.len_utf8(),
            };
            if length == 0 {
                return false;
            }
            rest = rest.get(length..).unwrap();
        }
        !text.ends_with('\\')
    }

    proptest! {
        #[test]
        fn block_boundaries_make_no_difference(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "a", "\\", "\\\\", r"\n", r"\u001b", r"\u00", r"\x", r"\/", "é", "\"", "\u{1}",
                ]),
                0..12,
            ),
            before in 240_usize..260,
        ) {
            let text = "x".repeat(before) + &pieces.concat() + "y";
            prop_assert_eq!(has_valid_escapes(&text), has_valid_escapes_slow(&text), "{:?}", text);
            let text = "\\".repeat(before) + &pieces.concat() + "y";
            prop_assert_eq!(has_valid_escapes(&text), has_valid_escapes_slow(&text), "{:?}", text);
        }
    }
}
