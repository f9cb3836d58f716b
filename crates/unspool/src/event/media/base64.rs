//! Base64 that is read from its start, or only measured.
//!
//! The text may be escaped as in a JSON string: some writers escape `/`, `+` or
//! `=`, and some break lines.

/// Returns the size of the content; `None` if the text does not start as base64.
pub(super) fn size(text: &str) -> Option<u64> {
    value(characters(text).next()?)?;
    let is_plain = memchr::memchr3(b'\\', b' ', b'\n', text.as_bytes()).is_none();
    let digits = if is_plain {
        text.trim_end_matches('=').len()
    } else {
        characters(text).map_while(value).count()
    };
    Some(digits as u64 * 3 / 4)
}

/// Decodes the content as it is read, up to the first character that is not
/// base64.
pub(super) fn decoded(text: &str) -> impl Iterator<Item = u8> {
    let mut values = characters(text).map_while(value);
    let (mut bits, mut count) = (0_u16, 0);
    std::iter::from_fn(move || {
        while count < 8 {
            bits = bits << 6 | u16::from(values.next()?);
            count += 6;
        }
        count -= 8;
        Some((bits >> count).to_le_bytes()[0])
    })
}

/// Returns true if the text is nothing but base64 in the standard alphabet, and
/// complete.
pub(super) fn is_strict(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.as_bytes().iter().all(is_digit)
}

/// Returns the characters without line breaks and JSON escapes.
fn characters(text: &str) -> impl Iterator<Item = u8> {
    let mut bytes = text.bytes();
    std::iter::from_fn(move || {
        loop {
            return match bytes.next()? {
                b' ' | b'\n' | b'\r' | b'\t' => continue,
                b'\\' => match bytes.next()? {
                    b'n' | b'r' | b't' => continue,
                    b'u' => Some(unicode(&mut bytes)),
                    other => Some(other),
                },
                other => Some(other),
            };
        }
    })
}

/// Reads the four digits of an escaped ASCII character; others become NUL,
/// which is not base64.
fn unicode(bytes: &mut impl Iterator<Item = u8>) -> u8 {
    let code = bytes.take(4).try_fold(0_u32, |code, digit| {
        Some(code << 4 | char::from(digit).to_digit(16)?)
    });
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or_default()
}

/// Returns the value of a digit, in the standard or the URL alphabet.
fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        decoded(text).collect()
    }

    #[test]
    fn sizes_and_bytes_agree() {
        let cases: [(&str, &[u8]); 8] = [
            ("aGk=", b"hi"),
            ("aGk", b"hi"),
            ("aGkh", b"hi!"),
            ("aA==", b"h"),
            (r"\/\/79", b"\xff\xfe\xfd"),
            (r"aG\nk\r\nh", b"hi!"),
            (r"aGk\u003d", b"hi"),
            ("__79", b"\xff\xfe\xfd"),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text), expected, "{text}");
            assert_eq!(size(text), Some(expected.len() as u64), "{text}");
        }
    }

    #[test]
    fn broken_text_ends_the_content() {
        assert_eq!(bytes("aGk!aGk"), b"hi");
        assert_eq!(bytes("\\u12"), b"");
        assert_eq!(bytes("\\"), b"");
        assert_eq!(size("<omitted>"), None);
        assert_eq!(size(""), None);
    }

    #[test]
    fn strict_text_needs_no_escapes() {
        assert!(is_strict("aGk="));
        for text in ["aGk", "aGk=\"", "a Gk", "a===", "aG_k", "aGk=aGk="] {
            assert!(!is_strict(text), "{text}");
        }
    }
}
