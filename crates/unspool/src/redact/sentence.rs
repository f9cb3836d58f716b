//! Decides if a value in a sentence is a secret: `token q7Rk2Zp…`, `the
//! password is hunter2`.
//!
//! Most sentences with such words contain no secret, so the value must look
//! like one, unless a colon or quotes introduce it.

use regex::Captures;

use super::guess::{self, Strength, is_label, is_placeholder, is_template, is_type};
use super::names;

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
    found.name("after").is_none() && guess::looks_generated(group(found, "s"))
}

/// Checks a match of `password is VALUE`.
pub(super) fn is_stated_secret(found: &Captures<'_>) -> bool {
    let value = group(found, "s");
    let lower = value.to_ascii_lowercase();
    if is_placeholder(value)
        || is_template(value)
        || guess::is_reference(value)
        || is_type(value)
        || is_label(value)
        || DESCRIPTIONS.iter().any(|word| lower.starts_with(word))
    {
        return false;
    }
    let is_password = names::kind_of_name(group(found, "name")) == Some("password");
    let is_quoted = found.name("q").is_some();
    match guess::strength(value) {
        Strength::Random => true,
        Strength::Mixed => is_password && !guess::is_code(value) || is_quoted && value.len() >= 8,
        Strength::Word => {
            let is_literal = group(found, "sign").contains([':', '=']) || is_quoted;
            is_password && is_literal && !guess::is_code(value) && !value.contains('_')
        }
    }
}
