//! Decides if a value in a sentence is a secret: `token q7Rk2Zp…`, `the
//! password is hunter2`.
//!
//! Most sentences with such words contain no secret, so the value must look
//! like one, unless a colon introduces it.

use regex::Captures;

use super::assigned::is_type;
use super::guess::{self, entropy, is_code, is_path, is_placeholder, is_prefixed_id, looks_random};

/// Minimum entropy of such a value, in bits per character.
const RANDOM: f64 = 3.4;
/// Longer words are data.
const LONGEST: usize = 128;
/// Prefixes of words that describe a secret, such as algorithms and encodings.
const DESCRIPTIONS: &[&str] = &[
    "base64", "base32", "sha1", "sha2", "sha5", "md5", "bcrypt", "argon2", "utf-", "utf8", "http",
    "oauth", "aes", "rsa", "hs256", "rs256", "ed25519", "x509",
];

fn group<'a>(found: &'a Captures<'_>, name: &str) -> &'a str {
    found.name(name).map_or("", |group| group.as_str())
}

/// Checks a value directly after a word such as `token`.
pub(super) fn is_introduced_secret(found: &Captures<'_>) -> bool {
    found.name("after").is_none() && looks_generated(group(found, "s"))
}

/// Checks a match of `password is VALUE`.
pub(super) fn is_stated_secret(found: &Captures<'_>) -> bool {
    let value = group(found, "s");
    let lower = value.to_ascii_lowercase();
    if is_placeholder(value)
        || is_code(value)
        || is_type(value)
        || DESCRIPTIONS.iter().any(|word| lower.starts_with(word))
    {
        return false;
    }
    let is_password = guess::kind_of_name(group(found, "name")) == Some("password");
    if group(found, "sign").contains([':', '=']) {
        return is_password || looks_random(value);
    }
    let has_letter = value.contains(|c: char| c.is_ascii_alphabetic());
    let has_digit_or_symbol =
        value.contains(|c: char| c.is_ascii_digit() || "!@#$%^&*+=".contains(c));
    looks_generated(value) || (is_password && has_letter && has_digit_or_symbol)
}

/// Returns true for a generated value: mixed letters and digits. Excludes plain
/// hexadecimal, which is mostly checksums and ids.
fn looks_generated(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let upper = count(u8::is_ascii_uppercase);
    let lower = count(u8::is_ascii_lowercase);
    let is_hex = word
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_mixed = digits >= 1 && upper >= 2 && lower >= 2 && !is_camel(word);
    let is_plain = digits >= 3 && upper.min(lower) == 0 && changes_class(word, 25);
    (16..=LONGEST).contains(&word.len())
        && !is_hex
        && (is_mixed && changes_class(word, 35) || is_plain)
        && !is_prefixed_id(word)
        && !is_path(word)
        && !is_code(word)
        && entropy(word) >= RANDOM
}

/// Returns true if capital letters only start words.
fn is_camel(word: &str) -> bool {
    let bytes = word.as_bytes();
    let mut pairs = bytes.iter().zip(bytes.iter().skip(1));
    pairs.all(|(one, next)| !one.is_ascii_uppercase() || next.is_ascii_lowercase())
}

/// Returns true if at least `least` percent of neighbouring characters differ
/// in class (upper case, lower case, digit). Names change less often.
fn changes_class(word: &str, least: usize) -> bool {
    let sort = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let bytes = word.as_bytes();
    let changes = bytes
        .iter()
        .zip(bytes.iter().skip(1))
        .filter(|(one, next)| sort(**one) != sort(**next));
    changes.count() * 100 >= bytes.len().saturating_sub(1) * least
}
