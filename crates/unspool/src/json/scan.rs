//! Scans JSON text, skipping values without decoding them.
//!
//! Checks the structure and skips a string by searching for its closing quote.
//! A scan therefore accepts only JSON if the text also passes
//! `has_valid_escapes` or is known to be valid. If a scan gives up (`None`: a
//! key with escapes, deep nesting, invalid JSON), the caller falls back to
//! `serde_json`.

use super::Json;

/// A position in a JSON text.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Maximum nesting depth.
const DEEPEST: u32 = 64;

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next byte that is not whitespace.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Skips whitespace; returns true at the end of the text.
    pub(crate) fn skip_to_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Skips the next value and returns it.
    pub(crate) fn value(&mut self) -> Option<Json<'a>> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Some(Json(self.text.get(start..self.at)?))
    }

    /// Scans an object; the visitor must consume the value of each key.
    pub(crate) fn object(
        &mut self,
        mut visit: impl FnMut(&'a str, &mut Self) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.key()?;
            visit(key, self)?;
            if self.separator(b'}')? {
                return Some(());
            }
        }
    }

    /// Scans an array; the visitor must consume each item.
    pub(crate) fn array(&mut self, mut visit: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            visit(self)?;
            if self.separator(b']')? {
                return Some(());
            }
        }
    }

    /// Skips the next value.
    pub(crate) fn skip(&mut self) -> Option<()> {
        // One bit per open value: 1 for an object.
        let (mut kinds, mut depth) = (0_u64, 0);
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let is_object = open == b'{';
                    if self.peek()? == if is_object { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        depth += 1;
                        kinds = kinds << 1 | u64::from(is_object);
                        if depth > DEEPEST {
                            return None;
                        }
                        if is_object {
                            self.any_key()?;
                        }
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.number()?,
            }
            loop {
                if depth == 0 {
                    return Some(());
                }
                let is_object = kinds & 1 == 1;
                if !self.separator(if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.any_key()?;
                    }
                    break;
                }
                depth -= 1;
                kinds >>= 1;
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Consumes the comma or bracket after a value; returns true for the
    /// bracket.
    fn separator(&mut self, bracket: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(false),
            byte => (byte == bracket).then_some(true),
        }
    }

    /// Reads a key without escapes, and its colon.
    fn key(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let text = self.text.get(self.at..)?;
        let key = text.get(..length_without_escapes(text)?)?;
        self.at += key.len() + 1;
        self.expect(b':')?;
        Some(key)
    }

    fn any_key(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        let rest = self.text.get(self.at + 1..)?;
        match length_without_escapes(rest) {
            Some(length) => self.at += length + 2,
            None => self.string()?,
        }
        self.expect(b':')
    }

    /// Skips a string. A quote ends it if an even number of backslashes
    /// precedes it.
    fn string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes().get(self.at + 1..)?;
        let mut from = 0;
        loop {
            let quote = from + memchr::memchr(b'"', bytes.get(from..)?)?;
            let before = bytes.get(..quote)?.iter().rev();
            let escapes = before.take_while(|byte| **byte == b'\\').count();
            if escapes.is_multiple_of(2) {
                self.at += quote + 2;
                return Some(());
            }
            from = quote + 1;
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes())
            .then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.byte() == Some(b'-'));
        let starts_with_zero = self.byte() == Some(b'0');
        let digits = self.digits()?;
        if starts_with_zero && digits > 1 {
            return None;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> Option<usize> {
        let rest = self.text.as_bytes().get(self.at..)?.iter();
        let count = rest.take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(count)
    }
}

/// Returns the length of a key without escapes. Keys are short, so a loop is
/// faster than setting up a search.
fn length_without_escapes(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let length = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (bytes.get(length) == Some(&b'"')).then_some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::json::has_valid_escapes;

    fn walk(text: &str) -> Option<&str> {
        let mut cursor = Cursor::new(text);
        let value = cursor.value()?;
        (has_valid_escapes(text) && cursor.skip_to_end()).then(|| value.raw())
    }

    fn valid(text: &str) -> Option<&str> {
        serde_json::from_str::<&RawValue>(text)
            .ok()
            .map(RawValue::get)
    }

    fn token() -> impl Strategy<Value = &'static str> {
        prop::sample::select(&[
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\\"\"", "\"\\\\\"", "\"", "\\", "\\n",
            "\\x", "\\u00e9", "\\u12", "true", "nul", "null", "false", "0", "01", "-1", "1.5",
            "1.", "2e8", "-", " ", "é", "\t",
        ])
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            any::<f64>()
                .prop_filter("a number", |n| n.is_finite())
                .prop_map(|n| format!("{n:e}")),
            any::<i64>().prop_map(|n| n.to_string()),
            Just("null".to_owned()),
            Just(" true ".to_owned()),
            Just("\"\\\\\\\"\\ud800\"".to_owned()),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5)
                    .prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|fields| {
                    let field = |(key, value): (String, String)| {
                        format!("{}: {value}", serde_json::to_string(&key).unwrap())
                    };
                    format!(
                        "{{{}}}",
                        fields
                            .into_iter()
                            .map(field)
                            .collect::<Vec<_>>()
                            .join(" , ")
                    )
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn only_json_is_accepted(tokens in prop::collection::vec(token(), 0..12)) {
            let text = tokens.concat();
            if let Some(value) = walk(&text) {
                prop_assert_eq!(Some(value), valid(&text), "{}", text);
            }
        }

        #[test]
        fn json_is_accepted(text in json()) {
            prop_assert_eq!(walk(&text), valid(&text));
        }

        #[test]
        fn damaged_json_is_rejected(text in json(), at in any::<prop::sample::Index>()) {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes.remove(at);
            if let Ok(text) = String::from_utf8(bytes)
                && let Some(value) = walk(&text)
            {
                prop_assert_eq!(Some(value), valid(&text), "{}", text);
            }
        }
    }

    #[test]
    fn deep_nesting_gives_up() {
        let deep = "[".repeat(100_000);
        assert!(Cursor::new(&deep).value().is_none());
    }
}
