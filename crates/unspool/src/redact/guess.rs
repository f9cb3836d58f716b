//! Is it a secret? For what has no shape of its own: values that are assigned to
//! telling names, and words that look random.

use regex::Captures;

use super::named::{self, Assignment, is_word};

/// Bits that a character of a random word carries at least.
const RANDOM: f64 = 3.0;
/// The same for a word that stands alone, with nothing to tell what it is.
const VERY_RANDOM: f64 = 4.3;
/// A word that is longer is data: a picture, an archive.
const LONGEST: usize = 128;

/// What the value of something with this name is; `None` if the name tells
/// nothing.
pub(super) fn kind_of_name(name: &str) -> Option<&'static str> {
    let words = named::words(name);
    let parted = words.join("_");
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    let holds = |words: &[&str]| {
        let is_in = |word: &&str| name.contains(word) || parted.contains(word);
        words.iter().any(is_in)
    };
    let has_short = words.iter().any(|word| word == "pw");
    if has_short
        || holds(&["password", "passwd", "passphrase", "pwd", "sshpass"])
        || named::has_pass(&words)
    {
        return Some("password");
    }
    // Numbers of tokens, names of tokens, where a key is: no secrets.
    let innocent = [
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
    if holds(&innocent) {
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

/// Whether the value of a field of this name is a secret, and what kind of one.
pub(super) fn kind_of_field(name: &str, value: &str) -> Option<&'static str> {
    let kind = kind_of_name(name)?;
    let is_sentence = value.contains(char::is_whitespace) && named::is_about(name);
    let is_secret = (!is_sentence && is_secret_value(kind, value))
        || (!is_placeholder(value)
            && named::is_telling(name)
            && named::is_quoted_secret(kind, name, value));
    is_secret.then_some(kind)
}

/// Whether a value that has such a name is what the name says.
fn is_secret_value(kind: &str, value: &str) -> bool {
    if is_placeholder(value) {
        return false;
    }
    if value.contains(char::is_whitespace) {
        // Nothing else is made of words.
        return kind == "password" && is_phrase(value);
    }
    if kind == "password" {
        return value.len() >= 4 && !is_code(value);
    }
    value.len() >= 8 && looks_random(value)
}

/// Whether several words are a password, not a sentence about one.
fn is_phrase(value: &str) -> bool {
    const TALK: [&str; 24] = [
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
        && !has_word_of(value, &TALK)
}

fn has_word_of(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| words.contains(&word.to_lowercase().as_str()))
}

/// For the pattern of assignments.
pub(super) fn is_assigned_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    let Some(kind) = kind_of_name(name) else {
        return false;
    };
    // What is quoted is a value; what is not may be code, and a word is no
    // password there.
    if found.name("q").is_some() {
        let is_set = kind == "password" && group("sign") == "=" && is_set_by_shell(name, value);
        return is_set || kind_of_field(name, value).is_some();
    }
    let given = Assignment {
        kind,
        name,
        sign: group("sign"),
        value,
        after: group("after"),
    };
    // `PASS: test_of_login` is what runners of tests say.
    if given.sign.contains(':') && name.eq_ignore_ascii_case("pass") {
        return false;
    }
    if !is_placeholder(value) && named::is_telling(name) && named::is_bare_secret(&given) {
        return true;
    }
    let is_call = given.after.starts_with(['(', '[']);
    !is_call && !is_code(value) && !is_word(value) && is_secret_value(kind, value)
}

/// For the patterns of files that keep names and values apart.
pub(super) fn is_kept_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    kind_of_field(group("name"), group("s").trim_end()).is_some()
}

/// Whether a shell sets a password: `PGPASSWORD="a b c"`. Whatever stands in the
/// quotes is one, but for words that ask for it.
fn is_set_by_shell(name: &str, value: &str) -> bool {
    const ASKING: [&str; 8] = [
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
        && !named::is_about(name)
        && !is_placeholder(value)
        && !is_code(value)
        && !has_word_of(value, &ASKING)
}

/// For the pattern of options: what follows one after a blank may be the next
/// word of a sentence.
pub(super) fn is_option_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    if group("sign").starts_with('=') {
        return kind_of_field(name, value).is_some();
    }
    kind_of_name(name).is_some_and(|kind| is_secret_value(kind, value))
}

/// For words that stand alone.
pub(super) fn is_random_word(found: &Captures<'_>) -> bool {
    // Checksums, pictures and parts of paths are long and random too.
    if found.name("mark").is_some() {
        return false;
    }
    let word = found.name("s").map_or("", |word| word.as_str());
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let mixed = count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_lowercase) >= 3;
    mixed
        && !is_name(word)
        && !is_path(word)
        && word.len() <= LONGEST
        && entropy(word) >= VERY_RANDOM
}

/// Ids of agents and interfaces: a short word, a line, and the rest.
pub(super) fn is_name(word: &str) -> bool {
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

/// Whether it stands for a secret without being one.
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
    // These are short enough to stand in a secret by chance.
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
    // The keys in documentation end like that, and so do those made from them.
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

/// For what can be nothing but a secret, unless it stands for one.
pub(super) fn is_no_placeholder(found: &Captures<'_>) -> bool {
    let secret = found.name("s");
    secret.is_some_and(|secret| !is_placeholder(secret.as_str()))
}

/// Whether it has the random look of a key: letters and figures with few
/// repetitions.
pub(super) fn looks_random(value: &str) -> bool {
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let figures = value.bytes().filter(u8::is_ascii_digit).count();
    let needed = RANDOM.min(expected(value.len()));
    letters && figures >= 2 && !is_code(value) && entropy(value) >= needed
}

/// What a short random word of this length carries a character.
fn expected(length: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "lengths of words")]
    let length = length as f64;
    length.log2() * 0.8
}

/// Expressions of programs, types, paths, addresses, versions.
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

/// Shannon's entropy, in bits a character.
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
