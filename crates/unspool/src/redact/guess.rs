//! Judges values: random ones, passwords that a person chose, words, code,
//! placeholders.

use regex::Captures;

use super::{assigned, names};

/// Minimum entropy of a random value, in bits per character.
const RANDOM: f64 = 3.0;
/// Minimum entropy of a random word without any context.
const VERY_RANDOM: f64 = 4.3;
/// Longer words are data, such as pictures or archives.
const LONGEST: usize = 128;

/// The evidence that a value itself gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// Generated: nobody writes it by hand.
    Random,
    /// Letters with digits or symbols, such as `hunter2` or `version2`.
    Mixed,
    /// Letters, or only digits.
    Word,
}

/// Returns the evidence that a value gives.
pub(super) fn strength(value: &str) -> Strength {
    if looks_random(value) {
        return Strength::Random;
    }
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let others = value
        .bytes()
        .any(|byte| byte.is_ascii_digit() || b"!@#$%^&*+=?~(".contains(&byte));
    if letters && others {
        Strength::Mixed
    } else {
        Strength::Word
    }
}

pub(super) fn digits(value: &str) -> usize {
    value.bytes().filter(u8::is_ascii_digit).count()
}

/// Returns true for a value that only a program would choose.
pub(super) fn looks_random(value: &str) -> bool {
    if value.len() < 12 || value.contains(char::is_whitespace) || is_code(value) || is_url(value) {
        return false;
    }
    let is_hex = value
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    if is_hex {
        return value.len() >= 16 && digits(value) >= 4 && letters >= 2 && entropy(value) >= 2.5;
    }
    // Versions, models and dates are words and numbers with separators.
    let longest = value
        .split(['-', '_', '.', ':'])
        .max_by_key(|part| part.len());
    let longest = longest.unwrap_or_default();
    longest.len() >= 10 && entropy(value) >= RANDOM && !is_path(value) && is_mixture(longest)
}

/// Returns true for letters and digits in no order that words have.
fn is_mixture(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let upper = count(u8::is_ascii_uppercase);
    let lower = count(u8::is_ascii_lowercase);
    if upper.min(lower) == 0 {
        return digits >= 3 && upper + lower >= 3 && changes_class(word, 22);
    }
    let is_long = word.len() >= 20 && changes_class(word, 40);
    (digits >= 1 || is_long) && changes_class(word, 30) && !is_camel(word)
}

/// Returns true for a generated value: mixed letters and digits. Excludes plain
/// hexadecimal, which is mostly checksums and ids.
pub(super) fn looks_generated(word: &str) -> bool {
    let is_hex = word
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (16..=LONGEST).contains(&word.len()) && !is_hex && !is_prefixed_id(word) && looks_random(word)
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

/// Returns true if several words are a passphrase rather than a sentence.
pub(super) fn is_phrase(value: &str) -> bool {
    const SENTENCE_WORDS: [&str; 40] = [
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
        "sign",
        "login",
        "log",
        "forgot",
        "reset",
        "show",
        "hide",
        "new",
        "at",
        "least",
        "characters",
        "no",
        "on",
        "by",
        "if",
        "from",
    ];
    (8..=100).contains(&value.len())
        && value.is_ascii()
        && !value.contains(['\n', '\t', ',', '=', ';', '"', '\\'])
        && !value.starts_with(|c: char| c.is_ascii_uppercase())
        && !is_code(value)
        && !is_template(value)
        && !has_word_of(value, &SENTENCE_WORDS)
}

fn has_word_of(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| words.contains(&word.to_lowercase().as_str()))
}

/// Returns true for a password set in a shell: `PGPASSWORD="a b c"`. Any quoted
/// text counts, unless it asks for a password.
pub(super) fn is_set_by_shell(name: &str, value: &str) -> bool {
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
        && !names::is_metadata_name(name)
        && !is_placeholder(value)
        && !is_template(value)
        && !is_reference(value)
        && !has_word_of(value, &PROMPT_WORDS)
}

/// Checks a match of a format with separate name and value, such as XML
/// attributes.
pub(super) fn is_separate_value_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    assigned::quoted_kind(group("name"), group("s").trim_end()).is_some()
}

/// Checks a match of the option pattern. A value after a blank may be the next
/// word of a sentence.
pub(super) fn is_option_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    if is_placeholder(value) || is_reference(value) || is_template(value) || is_label(value) {
        return false;
    }
    let Some(kind) = names::kind_of_name(name) else {
        return false;
    };
    let is_password = kind == "password";
    match strength(value) {
        Strength::Random => true,
        Strength::Mixed => is_password || value.len() >= 8 && digits(value) >= 2,
        Strength::Word => {
            let is_assigned = group("sign").starts_with('=');
            is_assigned && (is_password || value.len() >= 8) && !is_type(value)
        }
    }
}

/// Checks a value that follows the name of a secret, with nothing but a blank
/// between them.
pub(super) fn is_set_secret(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    let (name, value) = (group("name"), group("s"));
    names::kind_of_name(name).is_some()
        && !names::is_metadata_name(name)
        && !is_placeholder(value)
        && !is_code(value)
        && !is_reference(value)
        && strength(value) != Strength::Word
}

/// Returns true for a word that is a secret without any context. `before` and
/// `after` are the rest of its line.
pub(super) fn is_random_word(before: &str, word: &str, after: &str) -> bool {
    // Checksums, pictures and path components are long and random too.
    if word.len() > LONGEST
        || before.ends_with(['.', '\\', '~', '@', '%'])
        || is_checksum(before)
        || after.starts_with('\\')
    {
        return false;
    }
    let longest = word.split(['-', '_']).max_by_key(|part| part.len());
    let longest = longest.unwrap_or_default();
    let count = |is: fn(&u8) -> bool| longest.bytes().filter(is).count();
    let is_mixed = count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2;
    is_mixed
        && !is_prefixed_id(word)
        && !is_path(word)
        && !is_file(word)
        && !is_alphabet(word)
        && entropy(word) >= VERY_RANDOM
        && looks_random(word)
        && decoded(word).is_none()
}

/// Returns true for the name of a checksum before a value.
fn is_checksum(before: &str) -> bool {
    const NAMES: &[&str] = &[
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "md5",
        "h1",
        "base64",
        "integrity",
    ];
    let name = before.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    if before.len() - name.len() > 4 {
        return false;
    }
    let is_end = |ending: &&str| {
        let start = name.len().checked_sub(ending.len());
        let end = start.and_then(|start| name.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    before.len() > name.len() && NAMES.iter().any(is_end)
}

/// Returns true if nothing else is on the line, as in certificates.
pub(super) fn is_row(before: &str, after: &str) -> bool {
    let before = before.trim_matches(['+', '-', ' ', '\t', '>', '"', '\'']);
    before.is_empty()
        && after
            .trim_matches(['\r', ' ', '\\', '"', '\'', ','])
            .is_empty()
}

/// Returns true for the start of a picture, a document or an archive in base64.
fn is_file(word: &str) -> bool {
    const STARTS: &[&str] = &[
        "iVBORw0KGgo",
        "/9j/",
        "R0lGOD",
        "UklGR",
        "JVBERi0",
        "UEsDB",
        "H4sI",
        "PHN2Zy",
        "MII",
        "MFkw",
        "MHYw",
        "MCow",
        "d09GM",
        "AAABAA",
        "Qk0",
        "AGFzbQ",
        "data",
    ];
    STARTS.iter().any(|start| word.starts_with(start))
}

/// Returns true if no character occurs twice.
fn is_alphabet(word: &str) -> bool {
    let mut seen = [false; 256];
    word.len() > 40
        && word
            .bytes()
            .all(|byte| !std::mem::replace(&mut seen[usize::from(byte)], true))
}

/// Returns true for ids of agents and APIs: a short prefix, a separator and the
/// rest.
pub(super) fn is_prefixed_id(word: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "toolu", "srvtoolu", "call", "msg", "req", "resp", "ses", "prt", "item", "rs", "fc",
        "chatcmpl", "run", "thread", "gen", "event", "evt", "tooluse", "sha256", "sha512", "sha1",
        "rollout", "asst", "h1", "ws", "ctc", "cmpl",
    ];
    let mut prefixes = word.split(['_', '-']).take(2);
    prefixes.any(|prefix| PREFIXES.contains(&prefix))
}

pub(super) fn is_path(word: &str) -> bool {
    let parts = word.split('/').count() - 1;
    parts * 12 > word.len()
        || parts > 0 && word.split(['/', '_', '-', '.']).all(|part| part.len() < 16)
        || parts > 0
            && word
                .rsplit('/')
                .next()
                .is_some_and(|last| last.contains('.'))
}

/// Returns true for a placeholder such as `changeme`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const PARTS: &[&str] = &[
        "changeme",
        "change-me",
        "change_me",
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
    const WORDS: &[&str] = &[
        "your",
        "todo",
        "null",
        "none",
        "nil",
        "undefined",
        "true",
        "false",
        "fixme",
        "insert",
    ];
    let Some(first) = value.chars().next() else {
        return true;
    };
    let is_open = match first {
        '<' => value.contains('>'),
        '{' => value.contains('}'),
        // Also the start of a label that contains a blank.
        '[' => true,
        '$' => !value.starts_with("$2") && !value.starts_with("$1$"),
        '%' => value.len() < 4 || value.starts_with("%(") || value.ends_with('%'),
        '*' | '&' => value
            .chars()
            .skip(1)
            .all(|c| c.is_ascii_alphabetic() || c == '*'),
        _ => false,
    };
    if is_open || value.chars().all(|c| c == first) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    // A long random key can contain any short word.
    let is_issued = value.len() >= 24 && looks_random(value) && entropy(value) >= 3.7;
    let is_example = ["example", "sample"]
        .iter()
        .any(|word| lower.contains(word));
    let mut of_value = lower.split(|c: char| !c.is_ascii_alphanumeric());
    lower.starts_with("your")
        || is_example && !is_issued
        || PARTS.iter().any(|part| lower.contains(part)) && (!is_issued || value.contains("XXXX"))
        || of_value.any(|word| WORDS.contains(&word))
}

/// Checks a match that is a secret unless it is a placeholder.
pub(super) fn is_no_placeholder(found: &Captures<'_>) -> bool {
    let secret = found.name("s");
    secret.is_some_and(|secret| !is_placeholder(secret.as_str()))
}

/// Checks a password in a place where commands and URLs have one.
pub(super) fn is_chosen(found: &Captures<'_>) -> bool {
    let value = found.name("s").map_or("", |s| s.as_str());
    !is_placeholder(value) && !is_template(value) && !is_label(value)
}

/// Checks the password of a URL. A number with a slash is a port.
pub(super) fn is_url_password(found: &Captures<'_>) -> bool {
    let value = found.name("s").map_or("", |s| s.as_str());
    let port = value.bytes().take_while(u8::is_ascii_digit).count();
    let is_port = port > 0 && value.get(port..).is_some_and(|rest| rest.starts_with('/'));
    is_chosen(found) && !is_port && !value.contains("%s")
}

/// Checks the value of an `Authorization` header.
pub(super) fn is_credential(found: &Captures<'_>) -> bool {
    let value = found.name("s").map_or("", |s| s.as_str());
    !is_placeholder(value)
        && !is_type(value)
        && !names::is_secret_name(value)
        && (strength(value) == Strength::Random
            || value.len() >= 8 && digits(value) >= 1
            || decoded(value).is_some_and(|text| text.contains(':')))
}

/// Returns the text that a value holds in base64.
pub(super) fn decoded(value: &str) -> Option<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    let value = value.trim_end_matches('=');
    let bytes = STANDARD_NO_PAD
        .decode(value)
        .or_else(|_| URL_SAFE_NO_PAD.decode(value))
        .ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().all(is_text).then_some(text)
}

/// Checks a private key: code that writes or looks for one has only its frame.
pub(super) fn is_private_key(found: &Captures<'_>) -> bool {
    let key = found.name("s").map_or("", |s| s.as_str());
    key.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c))
        .any(|run| run.len() >= 16)
}

/// Checks a cookie: at least one of its values has to look like a session.
pub(super) fn is_cookie(found: &Captures<'_>) -> bool {
    let value = found.name("s").map_or("", |s| s.as_str());
    let is_session = |pair: &str| {
        pair.split_once('=').is_some_and(|(name, value)| {
            let value = value.trim_matches(['"', ' ', '\t', '\r']);
            let is_name = name.trim().bytes().all(|byte| byte.is_ascii_graphic());
            is_name
                && !name.trim().is_empty()
                && value.len() >= 8
                && value.bytes().all(|byte| byte.is_ascii_graphic())
                && !is_placeholder(value)
                && !is_code(value)
                && (digits(value) >= 2 || strength(value) == Strength::Random)
        })
    };
    value.split(';').any(is_session)
}

/// Returns true for expressions.
pub(super) fn is_code(value: &str) -> bool {
    // Base64 ends with `=`.
    let text = value.trim_end_matches('=');
    ["::", "->", "&&", "||", "==", "…"]
        .iter()
        .any(|sign| text.contains(sign))
        || text.contains(['(', ')', '<', '>', '{', '}'])
}

fn is_url(value: &str) -> bool {
    value.contains("://") || value.starts_with("//") || value.starts_with("www.")
}

/// Returns true for paths, URLs and variables.
pub(super) fn is_reference(value: &str) -> bool {
    let is_variable = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_' || c == '{' || c == '(')
    };
    let is_odd = value.starts_with(['/', '.', '~', '&', '@', '|', '=', ':']);
    value.contains("::")
        || value.contains("->")
        || is_url(value)
        || value.contains('…')
        || is_odd && !looks_random(value)
        || value.split('$').skip(1).any(is_variable)
}

/// Returns true if other text is to be inserted.
pub(super) fn is_template(value: &str) -> bool {
    let is_open = |open: char, close: char| {
        value
            .split_once(open)
            .is_some_and(|(_, rest)| rest.contains(close))
    };
    is_open('{', '}') || is_open('<', '>') || value.contains("%s") || value.contains("%(")
}

/// Returns true for names of types, states and options.
pub(super) fn is_type(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "string"
            | "str"
            | "bytes"
            | "text"
            | "required"
            | "optional"
            | "integer"
            | "number"
            | "boolean"
            | "object"
            | "array"
            | "varchar"
            | "unknown"
            | "symbol"
            | "buffer"
            | "include"
            | "omit"
            | "same-origin"
            | "invalid"
            | "incorrect"
            | "missing"
            | "expired"
            | "hidden"
            | "inherit"
            | "secretstr"
            | "default"
            | "disabled"
            | "enabled"
            | "basic"
            | "bearer"
            | "vec<u8>"
            | "any"
            | "option"
            | "self"
            | "this"
            | "void"
            | "usize"
            | "public"
            | "private"
            | "static"
            | "changed"
            | "encrypted"
            | "hashed"
            | "plain"
            | "plaintext"
            | "supplied"
            | "provided"
            | "empty"
            | "blank"
            | "prompt"
            | "stdin"
            | "interactive"
            | "denied"
            | "accepted"
            | "rejected"
            | "failed"
            | "found"
            | "valid"
            | "wrong"
    )
}

/// Returns true for the name of a field or a label instead of its value:
/// `new-password`, `Passwort`.
pub(super) fn is_label(value: &str) -> bool {
    const VOCABULARY: &[&str] = &[
        "access",
        "again",
        "api",
        "auth",
        "bind",
        "change",
        "client",
        "code",
        "confirm",
        "confirmation",
        "contrasena",
        "credential",
        "credentials",
        "current",
        "db",
        "enter",
        "field",
        "forgot",
        "haslo",
        "heslo",
        "input",
        "invalid",
        "is",
        "kennwort",
        "key",
        "login",
        "lösenord",
        "my",
        "new",
        "no",
        "old",
        "parola",
        "pass",
        "passord",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "passwort",
        "pw",
        "pwd",
        "repeat",
        "required",
        "reset",
        "root",
        "salasana",
        "secret",
        "secrets",
        "senha",
        "the",
        "token",
        "tokens",
        "user",
        "username",
        "value",
        "wachtwoord",
        "with",
        "without",
    ];
    if digits(value) == 0 && !value.is_ascii() {
        return true;
    }
    if value
        .bytes()
        .any(|byte| !byte.is_ascii_alphabetic() && !b"-_. :".contains(&byte))
    {
        return false;
    }
    let words = names::words(value);
    is_type(value) || words.iter().all(|word| VOCABULARY.contains(&word.as_str()))
}

/// Returns true for `settings.token`: names joined by dots.
pub(super) fn is_dotted(value: &str) -> bool {
    let mut parts = value.split('.');
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !looks_random(part)
    };
    parts.all(is_name)
}

/// Returns true for a name with a word of secrets in it, such as `user_token2`.
pub(super) fn refers_to_secret(value: &str) -> bool {
    let words = names::words(value.trim_end_matches(|c: char| c.is_ascii_digit()));
    words.len() > 1 && digits(value) < 3 && names::is_secret_name(&words.join("_"))
        || matches!(words.as_slice(), [one] if is_label(one))
}

pub(super) fn is_word(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-'))
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
