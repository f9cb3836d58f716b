//! A borrowed, lenient view of JSON.
//!
//! [`Json`] is one undecoded value. Access parses one level at a time and never
//! fails: a missing field or a value of another type is `null`, the first of
//! two equal keys wins, lone surrogates become U+FFFD. Values that nobody reads
//! are skipped without decoding. [`scan`] handles common JSON; `serde_json` is
//! the fallback.

mod escapes;
pub(crate) mod scan;
mod unescape;

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::SmallVec;

pub(crate) use escapes::has_valid_escapes;
use scan::Cursor;

/// One JSON value, undecoded.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// The value of a missing field.
    pub const NULL: Json<'static> = Json("null");

    /// Returns `text` as one JSON value if it is valid; NULs, a byte order mark
    /// and whitespace around it are ignored.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = trim(text);
        let mut cursor = Cursor::new(text);
        if let Some(json) = cursor.value()
            && cursor.skip_to_end()
            && has_valid_escapes(text)
        {
            return Some(json);
        }
        serde_json::from_str::<&RawValue>(text)
            .ok()
            .map(|raw| Self(raw.get()))
    }

    /// Wraps a text that is known to be valid.
    pub(crate) fn trusted(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns the JSON text.
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// Returns true if it is `null` or missing.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns true if it is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns true if it is an array.
    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Returns true if it is a string.
    pub fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    /// Returns the field `key` of an object. To read several fields,
    /// [`Json::object`] is faster.
    pub fn get(self, key: &str) -> Json<'a> {
        if !self.is_object() {
            return Json::NULL;
        }
        let mut found = None;
        let walked = Cursor::new(self.0).object(|name, cursor| {
            if name == key {
                found = Some(cursor.value()?);
                // Stop: the rest does not matter.
                return None;
            }
            cursor.skip()
        });
        if walked.is_some() || found.is_some() {
            return found.unwrap_or(Json::NULL);
        }
        let _ = serde_json::Deserializer::from_str(self.0).deserialize_map(Find {
            key,
            found: &mut found,
        });
        found.unwrap_or(Json::NULL)
    }

    /// Returns the fields of an object; empty for any other value.
    pub fn object(self) -> Object<'a> {
        if !self.is_object() {
            return Object::default();
        }
        let mut fields = SmallVec::new();
        let walked = Cursor::new(self.0).object(|name, cursor| {
            fields.push((Cow::Borrowed(name), cursor.value()?));
            Some(())
        });
        if walked.is_some() {
            return Object(fields);
        }
        serde_json::Deserializer::from_str(self.0)
            .deserialize_map(Fields)
            .map(Object)
            .unwrap_or_default()
    }

    /// Returns the items of an array; empty for any other value.
    pub fn array(self) -> Vec<Json<'a>> {
        if !self.is_array() {
            return Vec::new();
        }
        let mut items = Vec::new();
        let walked = Cursor::new(self.0).array(|cursor| {
            items.push(cursor.value()?);
            Some(())
        });
        if walked.is_some() {
            return items;
        }
        serde_json::Deserializer::from_str(self.0)
            .deserialize_seq(Items)
            .unwrap_or_default()
    }

    /// Returns the text of a string.
    pub fn str(self) -> Option<Cow<'a, str>> {
        if !self.is_string() {
            return None;
        }
        let inner = self.0.get(1..self.0.len().saturating_sub(1))?;
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        if let Some(text) = unescape::unescaped(inner) {
            return Some(Cow::Owned(text));
        }
        // Only lone surrogates fail here.
        match serde_json::from_str::<String>(self.0) {
            Ok(text) => Some(Cow::Owned(text)),
            Err(_) => serde_json::Deserializer::from_str(self.0)
                .deserialize_bytes(LossyString)
                .ok(),
        }
    }

    /// Returns the text of a string, empty for any other value.
    pub fn string(self) -> String {
        self.str().unwrap_or_default().into_owned()
    }

    /// Returns text in any form that agents send: a string as it is, `null` as
    /// empty, any other value as its JSON text.
    pub fn display(self) -> Cow<'a, str> {
        match self.str() {
            Some(text) => text,
            None if self.is_null() => Cow::Borrowed(""),
            None => Cow::Borrowed(self.0),
        }
    }

    /// Returns a non-negative integer.
    pub fn u64(self) -> Option<u64> {
        self.i64().and_then(|number| u64::try_from(number).ok())
    }

    /// Returns an integer, also one written as `3.0`.
    pub fn i64(self) -> Option<i64> {
        self.0.parse::<i64>().ok().or_else(|| {
            let number = self.f64()?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be whole and small"
            )]
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        })
    }

    /// Returns a number.
    pub fn f64(self) -> Option<f64> {
        // Building the error for another type costs more than parsing a number.
        let is_number = self
            .0
            .starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_number.then(|| serde_json::from_str(self.0).ok())?
    }

    /// Returns a boolean.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns true if it is `true`.
    pub fn is_true(self) -> bool {
        self.0 == "true"
    }
}

/// The value of a missing field.
impl Default for Json<'_> {
    fn default() -> Self {
        Json::NULL
    }
}

/// Removes NULs, a byte order mark and whitespace around a JSON value.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '\0' | '\u{feff}' | ' ' | '\t' | '\r' | '\n'))
}

/// The fields of one JSON object, in order.
#[derive(Clone, Debug, Default)]
pub struct Object<'a>(FieldList<'a>);

/// Holds the fields of most objects without a heap allocation.
type FieldList<'a> = SmallVec<[(Cow<'a, str>, Json<'a>); 8]>;

impl<'a> Object<'a> {
    /// Returns the first field called `key`, or `null`.
    pub fn get(&self, key: &str) -> Json<'a> {
        self.iter()
            .find(|(name, _)| *name == key)
            .map_or(Json::NULL, |(_, value)| value)
    }

    /// Returns true if there is a field called `key`, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.iter().any(|(name, _)| name == key)
    }

    /// Returns true if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = FieldList<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = SmallVec::new();
        while let Some(key) = map.next_key_seed(LossyString)? {
            fields.push((key, Json(map.next_value::<&RawValue>()?.get())));
        }
        Ok(fields)
    }
}

struct Find<'k, 'f, 'de> {
    key: &'k str,
    found: &'f mut Option<Json<'de>>,
}

impl<'de> Visitor<'de> for Find<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(LossyString)? {
            if key == self.key {
                *self.found = Some(Json(map.next_value::<&RawValue>()?.get()));
                // Stop: the rest does not matter.
                return Err(serde::de::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Json<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&RawValue>()? {
            items.push(Json(item.get()));
        }
        Ok(items)
    }
}

/// Reads a string as bytes, the only way past `serde_json`'s check for lone
/// surrogates, and replaces those.
struct LossyString;

impl<'de> DeserializeSeed<'de> for LossyString {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_bytes(self)
    }
}

impl<'de> Visitor<'de> for LossyString {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(lossy(bytes)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
}

/// Replaces each lone surrogate with one U+FFFD. It arrives as three bytes,
/// which `from_utf8_lossy` would replace with three.
fn lossy(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).replace("\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFD}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_never_fails() {
        let json = Json::parse("\0\0{\"a\":{\"b\":[1,2.0,\"x\"]},\"a\":5}").unwrap();
        let items = json.get("a").get("b").array();
        assert_eq!(items.iter().filter_map(|i| i.i64()).sum::<i64>(), 3);
        assert_eq!(items[2].string(), "x");
        assert!(json.get("nothing").get("at").get("all").is_null());
        assert_eq!(json.object().get("a").raw(), "{\"b\":[1,2.0,\"x\"]}");
    }

    #[test]
    fn survives_deep_nesting_and_lone_surrogates() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Json::parse(&deep).unwrap().get("a").is_array());
        let json = Json::parse(r#"{"\ud800k":"a\udfffb"}"#).unwrap();
        assert_eq!(
            json.object().iter().next().unwrap().1.string(),
            "a\u{FFFD}b"
        );
    }

    #[test]
    fn rejects_invalid_json() {
        assert!(Json::parse("{\"a\":").is_none());
        assert!(Json::parse("hello").is_none());
        assert!(Json::parse("{} {}").is_none());
    }
}
