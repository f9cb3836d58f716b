//! Decides if a value without a known format is a secret: by the name it is
//! assigned to, or by its randomness.

use regex::Captures;

use super::assigned::{self, Assignment, is_word};

/// Minimum entropy of a random value, in bits per character.
const RANDOM: f64 = 3.0;
/// Minimum entropy of a random word without any context.
const VERY_RANDOM: f64 = 4.3;
/// Longer words are data, such as pictures or archives.
const LONGEST: usize = 128;

/// Returns the kind of secret that a name suggests, or `None`.
pub(super) fn kind_of_name(name: &str) -> Option<&'static str> {
    let words = assigned::words(name);
    let snake_case = words.join("_");
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    let holds = |words: &[&str]| {
        let is_in = |word: &&str| name.contains(word) || snake_case.contains(word);
        words.iter().any(is_in)
    };
    let has_short = words.iter().any(|word| word == "pw");
    if has_short
        || holds(&["password", "passwd", "passphrase", "pwd", "sshpass"])
        || assigned::has_pass(&words)
    {
        return Some("password");
    }
    // Token counts, token names and key locations are not secrets.
    let harmless = [
        "tokens",
        "token_count",
        "token_type",
        "token_usage",
        "tokenizer",
        "token_id",
        "token_limit",
        "author",
        "authority",
        "authors",
        "public_key",
        "keyword",
        "secret_name",
        "token_name",
        "token_url",
        "auth_url",
        "key_id",
        "auth_type",
        "auth_mode",
        "auth_method",
    ];
    if holds(&harmless) {
        return None;
    }
    if holds(&[
        "api_key",
        "apikey",
        "access_key",
        "accesskey",
        "private_key",
        "encryption_key",
        "signing_key",
        "master_key",
        "account_key",
        "app_key",
    ]) {
        return Some("key");
    }
    if holds(&["token"]) {
        return Some("token");
    }
    if holds(&["secret"]) {
        return Some("secret");
    }
    holds(&["credential", "auth"]).then_some("credential")
}

/// Returns the kind of secret if a field with this name and value is one.
pub(super) fn kind_of_field(name: &str, value: &str) -> Option<&'static str> {
    let kind = kind_of_name(name)?;
    let is_sentence = value.contains(char::is_whitespace) && assigned::is_metadata_name(name);
    let is_secret = (!is_sentence && is_secret_value(kind, value))
        || (!is_placeholder(value)
            && assigned::is_secret_name(name)
            && assigned::is_quoted_secret(kind, name, value));
    is_secret.then_some(kind)
}

/// Returns true if the value looks like a secret of this kind.
fn is_secret_value(kind: &str, value: &str) -> bool {
    if is_placeholder(value) {
        return false;
    }
    if value.contains(char::is_whitespace) {
        // Only passwords can contain blanks.
        return kind == "password" && is_phrase(value);
    }
    if kind == "password" {
        return value.len() >= 4 && !is_code(value);
    }
    value.len() >= 8 && looks_random(value)
}

/// Returns true if several words are a passphrase rather than a sentence.
fn is_phrase(value: &str) -> bool {
    const SENTENCE_WORDS: [&str; 24] = [
        "a",
        "an",
        "the",
        "your",
        "is",
        "are",
        "be",
        "to",
        "for",
        "of",
        "in",
        "or",
        "and",
        "with",
        "not",
        "must",
        "enter",
        "please",
        "password",
        "passwords",
        "passphrase",
        "required",
        "invalid",
        "incorrect",
    ];
    (8..=100).contains(&value.len())
        && !value.contains(['\n', '\t'])
        && !is_code(value)
        && !has_word_of(value, &SENTENCE_WORDS)
}

fn has_word_of(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| words.contains(&word.to_lowercase().as_str()))
}

/// Checks a match of the assignment pattern.
pub(super) fn is_assigned_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    let Some(kind) = kind_of_name(name) else {
        return false;
    };
    // A quoted text is a value. An unquoted one may be code, so a plain word is
    // not a password.
    if found.name("q").is_some() {
        let is_set = kind == "password" && group("sign") == "=" && is_set_by_shell(name, value);
        return is_set || kind_of_field(name, value).is_some();
    }
    let assignment = Assignment {
        kind,
        name,
        sign: group("sign"),
        value,
        after: group("after"),
    };
    // Test runners print `PASS: test_of_login`.
    if assignment.sign.contains(':') && name.eq_ignore_ascii_case("pass") {
        return false;
    }
    if !is_placeholder(value)
        && assigned::is_secret_name(name)
        && assigned::is_bare_secret(&assignment)
    {
        return true;
    }
    let is_call = assignment.after.starts_with(['(', '[']);
    !is_call && !is_code(value) && !is_word(value) && is_secret_value(kind, value)
}

/// Checks a match of a format with separate name and value, such as XML
/// attributes.
pub(super) fn is_separate_value_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    kind_of_field(group("name"), group("s").trim_end()).is_some()
}

/// Returns true for a password set in a shell: `PGPASSWORD="a b c"`. Any quoted
/// text counts, unless it asks for a password.
fn is_set_by_shell(name: &str, value: &str) -> bool {
    const PROMPT_WORDS: [&str; 8] = [
        "your",
        "enter",
        "please",
        "password",
        "must",
        "required",
        "invalid",
        "incorrect",
    ];
    !name.bytes().any(|byte| byte.is_ascii_lowercase())
        && !assigned::is_metadata_name(name)
        && !is_placeholder(value)
        && !is_code(value)
        && !has_word_of(value, &PROMPT_WORDS)
}

/// Checks a match of the option pattern. A value after a blank may be the next
/// word of a sentence.
pub(super) fn is_option_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    if group("sign").starts_with('=') {
        return kind_of_field(name, value).is_some();
    }
    kind_of_name(name).is_some_and(|kind| is_secret_value(kind, value))
}

/// Checks a random word without context.
pub(super) fn is_random_word(found: &Captures<'_>) -> bool {
    // Checksums, pictures and path components are long and random too.
    if found.name("mark").is_some() {
        return false;
    }
    let word = found.name("s").map_or("", |word| word.as_str());
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let mixed = count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_lowercase) >= 3;
    mixed
        && !is_prefixed_id(word)
        && !is_path(word)
        && word.len() <= LONGEST
        && entropy(word) >= VERY_RANDOM
}

/// Returns true for ids of agents and APIs: a short prefix, a separator and the
/// rest.
pub(super) fn is_prefixed_id(word: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "toolu", "srvtoolu", "call", "msg", "req", "resp", "ses", "prt", "item", "rs", "fc",
        "chatcmpl", "run", "thread", "gen", "event", "evt", "tooluse", "sha256", "sha512", "sha1",
        "rollout", "asst",
    ];
    let prefix = word.split(['_', '-']).next().unwrap_or_default();
    PREFIXES.contains(&prefix)
}

pub(super) fn is_path(word: &str) -> bool {
    let parts = word.split('/').count() - 1;
    parts * 12 > word.len() || word.split(['/', '_', '-']).all(|part| part.len() < 16)
}

/// Returns true for a placeholder such as `changeme`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let parts = [
        "changeme",
        "change-me",
        "placeholder",
        "dummy",
        "redacted",
        "xxx",
        "****",
        "....",
        "…",
        "env.",
        "environ",
        "getenv",
        "process.",
        "secrets.",
    ];
    // These are short enough to occur in a secret by chance, so compare whole
    // words.
    let words = [
        "your",
        "todo",
        "null",
        "none",
        "nil",
        "undefined",
        "true",
        "false",
    ];
    // Example keys in documentation contain `example`, but a random key can
    // too.
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let is_issued = value.len() >= 24
        && count(u8::is_ascii_digit) >= 1
        && count(u8::is_ascii_uppercase) >= 4
        && count(u8::is_ascii_lowercase) >= 4
        && entropy(value) >= VERY_RANDOM - 0.5;
    let is_example = lower.contains("example") && !is_issued;
    let mut of_value = lower.split(|c: char| !c.is_ascii_alphanumeric());
    value.starts_with(['$', '<', '{', '[', '%', '&', '*'])
        || lower.starts_with("your")
        || is_example
        || parts.iter().any(|part| lower.contains(part))
        || of_value.any(|word| words.contains(&word))
        || value
            .bytes()
            .all(|byte| byte == value.bytes().next().unwrap_or_default())
}

/// Checks a match that is a secret unless it is a placeholder.
pub(super) fn is_no_placeholder(found: &Captures<'_>) -> bool {
    let secret = found.name("s");
    secret.is_some_and(|secret| !is_placeholder(secret.as_str()))
}

/// Returns true for letters and digits with high entropy.
pub(super) fn looks_random(value: &str) -> bool {
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let needed = RANDOM.min(expected_entropy(value.len()));
    letters && digits >= 2 && !is_code(value) && entropy(value) >= needed
}

/// Returns the entropy expected of a short random word of this length.
fn expected_entropy(length: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "lengths of words")]
    let length = length as f64;
    length.log2() * 0.8
}

/// Returns true for expressions, types, paths and addresses.
pub(super) fn is_code(value: &str) -> bool {
    value.contains("::")
        || value.contains("->")
        || value.contains("//")
        || value.starts_with(['/', '.', '~', '&', '@', '|', '!', '='])
        || value.contains(['(', ')', '<', '>', '{', '}', '$', '…'])
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "string" | "str" | "bytes" | "text" | "required" | "optional"
        )
}

/// Returns the Shannon entropy in bits per character.
#[expect(clippy::cast_precision_loss, reason = "lengths of words")]
pub(super) fn entropy(word: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in word.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = word.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
