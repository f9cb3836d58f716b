//! Is it a secret? For values of names that leave no doubt: `DB_PASSWORD`,
//! `apiToken`, `aws_secret_access_key`.
//!
//! What such a name gets is a secret whatever it looks like, unless it stands
//! for one (that is decided before) or is code: then it names the place where
//! the secret is. Called by `redact/guess.rs`.

/// What such a name is followed by when it is about a secret, not one.
const ABOUT: &[&str] = &[
    "arn",
    "attempts",
    "authentication",
    "budget",
    "class",
    "cmd",
    "command",
    "count",
    "dir",
    "enabled",
    "endpoint",
    "env",
    "error",
    "expires",
    "expiry",
    "field",
    "file",
    "form",
    "format",
    "header",
    "hint",
    "id",
    "index",
    "input",
    "kind",
    "label",
    "len",
    "length",
    "limit",
    "location",
    "manager",
    "max",
    "message",
    "method",
    "min",
    "mode",
    "msg",
    "name",
    "path",
    "pattern",
    "policy",
    "pos",
    "position",
    "prefix",
    "prompt",
    "provider",
    "ref",
    "regex",
    "required",
    "reset",
    "rule",
    "rules",
    "service",
    "size",
    "source",
    "span",
    "store",
    "stream",
    "suffix",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "validator",
    "var",
    "version",
];

/// Passes that let nobody in.
const PASSES: &[&str] = &[
    "all", "band", "by", "compute", "current", "depth", "final", "first", "high", "last", "low",
    "main", "multi", "next", "num", "one", "opt", "prev", "render", "second", "shader", "shadow",
    "single", "test", "tests", "third", "two",
];

/// How names and values are put together.
pub(super) struct Assignment<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    /// The sign between them, with the blanks around it.
    pub(super) sign: &'a str,
    pub(super) value: &'a str,
    /// What stands directly behind the value, as far as it tells something.
    pub(super) after: &'a str,
}

/// The words of a name: `dbPassword`, `DB_PASSWORD` and `db-password` have the
/// same.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let is_start = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || (before.is_ascii_uppercase()
                    && rest.peek().is_some_and(char::is_ascii_lowercase)));
        if !c.is_ascii_alphanumeric() || is_start {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a name has the word `pass`, as a password.
pub(super) fn has_pass(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        word == "pass" && before.is_none_or(|before| !PASSES.contains(&before.as_str()))
    })
}

/// Whether a name says without doubt that its value is a secret.
pub(super) fn is_telling(name: &str) -> bool {
    let words = words(name);
    let is_one = |word: &String| {
        // `PGPASSWORD`
        word.ends_with("password")
            || matches!(
                word.as_str(),
                "password"
                    | "passwd"
                    | "passphrase"
                    | "pwd"
                    | "pw"
                    | "secret"
                    | "token"
                    | "apikey"
                    | "credential"
                    | "credentials"
            )
    };
    let is_pair = |pair: &[String]| {
        matches!(pair, [of, key] if key == "key"
            && matches!(of.as_str(), "api" | "access" | "private" | "secret" | "encryption" | "signing" | "master" | "account"))
    };
    let tells = words.iter().any(is_one) || words.windows(2).any(is_pair) || has_pass(&words);
    tells && !is_about(name)
}

/// Whether a name is that of something about a secret.
pub(super) fn is_about(name: &str) -> bool {
    let words = words(name);
    words
        .last()
        .is_some_and(|last| ABOUT.contains(&last.as_str()))
}

/// Whether what stands in quotes, or is a field of JSON, is a secret.
pub(super) fn is_quoted_secret(kind: &str, name: &str, value: &str) -> bool {
    let lowest = if kind == "password" { 4 } else { 6 };
    if value.len() < lowest
        || value.contains(char::is_whitespace)
        || value.contains(['{', '}', '<', '>'])
        || is_reference(value)
        || is_type(value)
    {
        return false;
    }
    if kind == "password" {
        return true;
    }
    // `token: "keyword.control"` is how grammars are written, and
    // `credentials: "include"` how pages are fetched.
    let is_lone = words(name).len() == 1;
    let is_short = value.contains('.') || value.len() < 12;
    !(is_number(value) || is_word(value) && (is_lone && is_short || is_telling(value)))
}

/// Whether what stands there without quotes is a secret. Names of variables
/// are not, as far as they can be told from one.
pub(super) fn is_bare_secret(given: &Assignment<'_>) -> bool {
    let Assignment { kind, value, .. } = *given;
    if is_reference(value) || is_type(value) || (kind != "password" && is_number(value)) {
        return false;
    }
    let is_colon = given.sign.contains(':');
    let is_loose = !is_colon && given.sign.len() > 1;
    if !value.bytes().all(is_of_names) {
        let is_path = value.contains('/')
            && !value
                .bytes()
                .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        let is_sum = ["&&", "||", "=="].iter().any(|sign| value.contains(sign));
        return !is_sum && (kind == "password" || !is_path);
    }
    // `token = lexer`: whoever writes configuration so writes quotes.
    if is_loose || is_part_of_code(given) {
        return false;
    }
    if is_colon && is_word(value) {
        let is_lone = words(given.name).len() == 1;
        return given.after.is_empty()
            && !value.starts_with(|c: char| c.is_ascii_uppercase())
            && (kind == "password" || !is_lone);
    }
    true
}

/// Whether what is around a name shows that it is a variable's.
fn is_part_of_code(given: &Assignment<'_>) -> bool {
    if given.after.trim_start().starts_with(['(', '[', '{', '<']) {
        return true;
    }
    // Variables of the environment are set by shells alone.
    let is_set_by_shell =
        !given.name.bytes().any(|byte| byte.is_ascii_lowercase()) && !given.sign.contains(':');
    !is_set_by_shell
        && (given.after.starts_with([',', ';', ')'])
            || given.value.contains('.') && is_word(given.value)
            || is_word(given.value) && (given.value == given.name || is_telling(given.value)))
}

/// Paths, addresses, variables.
fn is_reference(value: &str) -> bool {
    let is_variable = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_' || c == '{' || c == '(')
    };
    value.contains("::")
        || value.contains("->")
        || value.contains("://")
        || value.contains('…')
        || value.starts_with(['/', '.', '~', '&', '@', '|', '!', '='])
        || value.split('$').skip(1).any(is_variable)
}

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
            | "same-origin"
            | "invalid"
            | "incorrect"
            | "missing"
            | "expired"
            | "hidden"
            | "inherit"
    )
}

fn is_number(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'_')
}

pub(super) fn is_word(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| is_of_names(byte) && !byte.is_ascii_digit())
}

fn is_of_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}
