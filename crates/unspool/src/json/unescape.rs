//! Unescapes JSON strings in one allocation.
//!
//! Handles all escapes except surrogates, which occur in pairs: the caller
//! passes those strings to `serde_json`.

/// Unescapes the inside of a valid string; returns `None` if it has surrogates.
pub(super) fn unescaped(inner: &str) -> Option<String> {
    // An escape is never shorter than its character.
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let letter = *rest.as_bytes().get(at + 1)?;
        let (character, length) = match letter {
            b'n' => ('\n', 2),
            b't' => ('\t', 2),
            b'"' | b'\\' | b'/' => (char::from(letter), 2),
            b'r' => ('\r', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{C}', 2),
            b'u' => {
                let code = u32::from_str_radix(rest.get(at + 2..at + 6)?, 16).ok()?;
                (char::from_u32(code)?, 6)
            }
            _ => return None,
        };
        text.push(character);
        rest = rest.get(at + length..)?;
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unescaped;

    proptest! {
        #[test]
        fn agrees_with_serde_json(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "word", " ", "é", "漢", r"\n", r"\t", r#"\""#, r"\\", r"\/", r"\r", r"\b", r"\f",
                    r"\u001b", r"\u00E9", r"\u6f22", r"\ud83d\ude42", r"\ud800", r"\uDC00",
                ]),
                0..20,
            ),
        ) {
            let inner = pieces.concat();
            let read = serde_json::from_str::<String>(&format!("\"{inner}\"")).ok();
            if inner.contains(r"\ud8") || inner.contains(r"\uDC") {
                prop_assert_eq!(unescaped(&inner), None);
            } else {
                prop_assert_eq!(unescaped(&inner), read);
            }
        }
    }

    #[test]
    fn invalid_escapes_are_rejected() {
        for inner in [r"\x", "\\", r"\u12", r"\u12é4"] {
            assert_eq!(unescaped(inner), None, "{inner}");
        }
    }
}
