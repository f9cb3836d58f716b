//! Decides if a value assigned to an unambiguous name is a secret:
//! `DB_PASSWORD`, `apiToken`, `aws_secret_access_key`.
//!
//! Such a value is a secret whatever it looks like, unless it is a placeholder
//! (excluded earlier) or code that refers to the secret.

/// Last words of names that describe a secret instead of holding it.
const METADATA_WORDS: &[&str] = &[
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

/// Words before `pass` that make it something other than a password.
const OTHER_PASSES: &[&str] = &[
    "all", "band", "by", "compute", "current", "depth", "final", "first", "high", "last", "low",
    "main", "multi", "next", "num", "one", "opt", "prev", "render", "second", "shader", "shadow",
    "single", "test", "tests", "third", "two",
];

/// A name and the value assigned to it.
pub(super) struct Assignment<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    /// The operator between them, with surrounding blanks.
    pub(super) sign: &'a str,
    pub(super) value: &'a str,
    /// The text directly after the value, if it is significant.
    pub(super) after: &'a str,
}

/// Splits a name into words: `dbPassword`, `DB_PASSWORD` and `db-password` give
/// the same ones.
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

/// Returns true if a name contains `pass` in the sense of password.
pub(super) fn has_pass(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        word == "pass" && before.is_none_or(|before| !OTHER_PASSES.contains(&before.as_str()))
    })
}

/// Returns true if the name means that its value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
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
    let is_secret = words.iter().any(is_one) || words.windows(2).any(is_pair) || has_pass(&words);
    is_secret && !is_metadata_name(name)
}

/// Returns true if the name describes a secret, such as `token_count`.
pub(super) fn is_metadata_name(name: &str) -> bool {
    let words = words(name);
    words
        .last()
        .is_some_and(|last| METADATA_WORDS.contains(&last.as_str()))
}

/// Returns true if a quoted value or JSON string is a secret.
pub(super) fn is_quoted_secret(kind: &str, name: &str, value: &str) -> bool {
    let shortest = if kind == "password" { 4 } else { 6 };
    if value.len() < shortest
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
    // Grammars contain `token: "keyword.control"`, web code `credentials:
    // "include"`.
    let is_lone = words(name).len() == 1;
    let is_short = value.contains('.') || value.len() < 12;
    !(is_number(value) || is_word(value) && (is_lone && is_short || is_secret_name(value)))
}

/// Returns true if an unquoted value is a secret. Tries to exclude variable
/// names.
pub(super) fn is_bare_secret(assignment: &Assignment<'_>) -> bool {
    let Assignment { kind, value, .. } = *assignment;
    if is_reference(value) || is_type(value) || (kind != "password" && is_number(value)) {
        return false;
    }
    let is_colon = assignment.sign.contains(':');
    let is_loose = !is_colon && assignment.sign.len() > 1;
    if !value.bytes().all(is_name_byte) {
        let is_path = value.contains('/')
            && !value
                .bytes()
                .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        let is_expression = ["&&", "||", "=="].iter().any(|sign| value.contains(sign));
        return !is_expression && (kind == "password" || !is_path);
    }
    // `token = lexer`: configuration in this style quotes its values.
    if is_loose || is_part_of_code(assignment) {
        return false;
    }
    if is_colon && is_word(value) {
        let is_lone = words(assignment.name).len() == 1;
        return assignment.after.is_empty()
            && !value.starts_with(|c: char| c.is_ascii_uppercase())
            && (kind == "password" || !is_lone);
    }
    true
}

/// Returns true if the surroundings show that the value is a variable.
fn is_part_of_code(assignment: &Assignment<'_>) -> bool {
    if assignment
        .after
        .trim_start()
        .starts_with(['(', '[', '{', '<'])
    {
        return true;
    }
    // Only shells set environment variables.
    let is_set_by_shell = !assignment
        .name
        .bytes()
        .any(|byte| byte.is_ascii_lowercase())
        && !assignment.sign.contains(':');
    !is_set_by_shell
        && (assignment.after.starts_with([',', ';', ')'])
            || assignment.value.contains('.') && is_word(assignment.value)
            || is_word(assignment.value)
                && (assignment.value == assignment.name || is_secret_name(assignment.value)))
}

/// Returns true for paths, URLs and variables.
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
        .all(|byte| is_name_byte(byte) && !byte.is_ascii_digit())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}
