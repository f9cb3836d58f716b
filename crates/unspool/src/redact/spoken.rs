//! Is it a secret? For values that stand in a sentence: `token q7Rk2Zp…`,
//! `the password is hunter2`.
//!
//! Sentences are about keys and tokens far more often than they give one away:
//! a value must look like one, unless a colon presents it. Called by the rows of
//! `redact/shapes.rs`.

use regex::Captures;

use super::guess::{self, entropy, is_code, is_name, is_path, is_placeholder, looks_random};
use super::named::is_type;

/// Bits that a character of such a value carries at least.
const RANDOM: f64 = 3.4;
/// A word that is longer is data.
const LONGEST: usize = 128;
/// What a description of a secret begins with.
const DESCRIPTIONS: &[&str] = &[
    "base64", "base32", "sha1", "sha2", "sha5", "md5", "bcrypt", "argon2", "utf-", "utf8", "http",
    "oauth", "aes", "rsa", "hs256", "rs256", "ed25519", "x509",
];

fn group<'a>(found: &'a Captures<'_>, name: &str) -> &'a str {
    found.name(name).map_or("", |group| group.as_str())
}

/// For a telling word, a blank and a value.
pub(super) fn is_called(found: &Captures<'_>) -> bool {
    found.name("after").is_none() && looks_issued(group(found, "s"))
}

/// For `password is VALUE`.
pub(super) fn is_said(found: &Captures<'_>) -> bool {
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
    let is_no_word = value.contains(|c: char| c.is_ascii_digit() || "!@#$%^&*+=".contains(c));
    looks_issued(value) || (is_password && has_letter && is_no_word)
}

/// Whether a program made it up: letters and figures in no order. Checksums and
/// ids are nothing but hexadecimal digits.
fn looks_issued(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let figures = count(u8::is_ascii_digit);
    let upper = count(u8::is_ascii_uppercase);
    let lower = count(u8::is_ascii_lowercase);
    let is_hex = word
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_mixed = figures >= 1 && upper >= 2 && lower >= 2 && !is_camel(word);
    let is_plain = figures >= 3 && upper.min(lower) == 0 && restless(word, 25);
    (16..=LONGEST).contains(&word.len())
        && !is_hex
        && (is_mixed && restless(word, 35) || is_plain)
        && !is_name(word)
        && !is_path(word)
        && !is_code(word)
        && entropy(word) >= RANDOM
}

/// Whether capital letters do nothing but begin words.
fn is_camel(word: &str) -> bool {
    let bytes = word.as_bytes();
    let mut pairs = bytes.iter().zip(bytes.iter().skip(1));
    pairs.all(|(one, next)| !one.is_ascii_uppercase() || next.is_ascii_lowercase())
}

/// Whether capital letters, small ones and figures follow each other in at least
/// so many of a hundred places. Names change less often.
fn restless(word: &str, least: usize) -> bool {
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
