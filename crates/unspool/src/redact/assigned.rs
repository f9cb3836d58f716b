//! Finds values that are assigned to the name of a secret, in the notations of
//! code, configuration, logs and prose, and decides if they are secrets.
//!
//! A name alone proves nothing: code is full of tokens and passwords that are
//! types, variables and fields. The value has to look like one, and the less it
//! does, the more its notation has to say that it is a literal.

use std::sync::LazyLock;

use regex::Regex;

use super::guess::{self, Strength};
use super::names::{self, is_metadata_name, is_secret_name, kind_of_name, words};

/// Words in the names of secrets.
static CORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)pass|pwd|pswd|psk|pw\b|kennwort|senha|contrasena|secret|token|key|credential|creds|auth|jwt",
    )
    .ok()
});

/// Longest name, and longest value.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4096;

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`, `:=`, `=>`
    Equals,
    Colon,
    /// `==`, `!=`
    Compared,
    /// `name("value")`, `"name", "value"`
    Argument,
    /// `| name | value |`
    Cell,
}

/// A name and the value assigned to it.
struct Assignment<'a> {
    kind: &'static str,
    name: &'a str,
    /// The line up to the name.
    head: &'a str,
    sign: Sign,
    /// True if blanks surround the sign.
    is_loose: bool,
    /// True if at least one blank follows the sign.
    has_gap: bool,
    is_quoted: bool,
    value: &'a str,
    /// The text after the value, up to the end of the line.
    after: &'a str,
}

/// Calls `found` with the range and kind of each secret.
pub(super) fn each(text: &str, mut found: impl FnMut(std::ops::Range<usize>, &'static str)) {
    let Some(core) = &*CORE else {
        return;
    };
    let mut done = 0;
    for word in core.find_iter(text) {
        if word.start() < done {
            continue;
        }
        let start = name_start(text, word.start(), done);
        let end = name_end(text, word.end());
        let start = with_first_word(text, start, end);
        done = end;
        let Some(name) = text.get(start..end) else {
            continue;
        };
        let Some(kind) = kind_of_name(name) else {
            continue;
        };
        if let Some((range, assignment)) = parsed(text, start, end, kind)
            && assignment.is_secret()
        {
            done = range.end;
            found(range, kind);
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn name_start(text: &str, at: usize, least: usize) -> usize {
    let bytes = text.as_bytes().get(least..at).unwrap_or_default();
    let length = bytes.iter().rev().take(LONGEST_NAME);
    at - length.take_while(|byte| is_name_byte(**byte)).count()
}

/// Returns the start of `API key` and `secret key`.
fn with_first_word(text: &str, start: usize, end: usize) -> usize {
    let is_key = text
        .get(start..end)
        .is_some_and(|name| name.eq_ignore_ascii_case("key"));
    let head = text.get(..start).filter(|_| is_key);
    let word = head
        .and_then(|head| head.strip_suffix(' '))
        .and_then(|head| {
            let length = head.bytes().rev().take(12);
            let length = length.take_while(u8::is_ascii_alphabetic).count();
            head.get(head.len() - length..)
        });
    let is_secret = word.is_some_and(|word| {
        [
            "api",
            "access",
            "secret",
            "private",
            "encryption",
            "signing",
            "master",
            "account",
        ]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
    });
    match word {
        Some(word) if is_secret => start - 1 - word.len(),
        _ => start,
    }
}

fn name_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    let length = bytes.iter().take(LONGEST_NAME);
    at + length.take_while(|byte| is_name_byte(**byte)).count()
}

/// Reads what follows a name. Returns the range of the value.
fn parsed<'a>(
    text: &'a str,
    start: usize,
    end: usize,
    kind: &'static str,
) -> Option<(std::ops::Range<usize>, Assignment<'a>)> {
    let line_start = text
        .get(..start)?
        .rfind('\n')
        .map_or(0, |newline| newline + 1)
        .max(start.saturating_sub(200));
    let line_start = (line_start..=start).find(|at| text.is_char_boundary(*at))?;
    let rest = line(text.get(end..)?);
    let mut at = skip(rest, 0, 4, |c| matches!(c, '"' | '\'' | '`' | '*' | ']'));
    let blanks = skip(rest, at, 8, |c| c == ' ' || c == '\t') - at;
    let (sign, length) = sign(rest.get(at + blanks..)?)?;
    at += blanks + length;
    if sign == Sign::Cell && !is_cell(text.get(line_start..start)?, rest) {
        return None;
    }
    let value_at = skip(rest, at, 8, |c| c == ' ' || c == '\t');
    // `**Password:** value`
    let value_at = skip(rest, value_at, 3, |c| c == '*');
    let mut value_at = skip(rest, value_at, 8, |c| c == ' ' || c == '\t');
    let gap = value_at - at;
    let mut sign = sign;
    // `password: &str = "value"`
    if sign == Sign::Colon
        && let Some(typed) = after_type(rest.get(value_at..)?)
    {
        (sign, value_at) = (Sign::Equals, value_at + typed);
    }
    let is_shell = sign == Sign::Equals && blanks + gap == 0;
    let (from, to, is_quoted) = value(rest, value_at, sign, is_shell)?;
    let assignment = Assignment {
        kind,
        name: text.get(start..end)?,
        head: text.get(line_start..start)?,
        sign,
        is_loose: blanks > 0,
        has_gap: gap > 0,
        is_quoted,
        value: rest.get(from..to)?,
        after: rest.get(to + usize::from(is_quoted)..)?,
    };
    Some((end + from..end + to, assignment))
}

/// Returns true if a name and the rest of its line are cells of a table.
fn is_cell(head: &str, rest: &str) -> bool {
    let head = head.trim_end_matches([' ', '*', '`']);
    let mut cells = rest.split('|').skip(1);
    let is_one = cells.next().is_some_and(|cell| {
        !cell.trim().is_empty() && (cell.ends_with(' ') || rest.trim_end().ends_with('|'))
    });
    head.ends_with('|') && is_one && cells.next().is_some()
}

/// Returns the current line, without what is too long to matter.
fn line(rest: &str) -> &str {
    let end = rest.find('\n').unwrap_or(rest.len());
    let end = end.min(LONGEST_VALUE + LONGEST_NAME);
    let end = (0..=end).rev().find(|at| rest.is_char_boundary(*at));
    rest.get(..end.unwrap_or_default()).unwrap_or_default()
}

fn skip(text: &str, at: usize, most: usize, is: fn(char) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.chars().take(most).take_while(|c| is(*c)).count()
}

fn sign(rest: &str) -> Option<(Sign, usize)> {
    const SIGNS: &[(&str, Sign)] = &[
        ("::", Sign::Colon),
        (":=", Sign::Equals),
        ("=>", Sign::Equals),
        ("===", Sign::Compared),
        ("==", Sign::Compared),
        ("!==", Sign::Compared),
        ("!=", Sign::Compared),
        ("=", Sign::Equals),
        (":", Sign::Colon),
        ("|", Sign::Cell),
        ("(", Sign::Argument),
        (",", Sign::Argument),
    ];
    let (text, sign) = SIGNS.iter().find(|(text, _)| rest.starts_with(text))?;
    (*text != "::").then_some((*sign, text.len()))
}

/// Returns the offset of the value in `&str = "value"`.
fn after_type(rest: &str) -> Option<usize> {
    let (before, after) = rest.split_once('=')?;
    let is_type = |c: char| c.is_ascii_alphanumeric() || "&'<>[]., |_:?".contains(c);
    let blanks = after.len() - after.trim_start_matches(' ').len();
    let is_literal = after.trim_start().starts_with(['"', '\'', 'b', 'r']);
    let is_name = before.starts_with(|c: char| c.is_ascii_alphabetic() || c == '&');
    (before.len() <= 48
        && before.ends_with(' ')
        && is_name
        && before.chars().all(is_type)
        && is_literal)
        .then_some(before.len() + 1 + blanks)
}

/// Returns the start and end of a value, and if it is quoted.
fn value(rest: &str, at: usize, sign: Sign, is_shell: bool) -> Option<(usize, usize, bool)> {
    let mut chars = rest.get(at..)?.chars();
    let mut from = at;
    let mut first = chars.next()?;
    if matches!(first, 'b' | 'r' | 'u' | '@' | '$') && rest.get(at + 1..)?.starts_with(['"', '\''])
    {
        from += 1;
        first = chars.next()?;
    }
    if matches!(first, '"' | '\'' | '`') {
        let inner = rest.get(from + 1..)?;
        let mut escaped = false;
        for (offset, c) in inner.char_indices() {
            if c == first && !escaped {
                return Some((from + 1, from + 1 + offset, true));
            }
            escaped = c == '\\' && !escaped;
        }
        return None;
    }
    if sign == Sign::Argument || sign == Sign::Compared {
        return None;
    }
    let bare = rest.get(at..)?;
    let mut end = bare.find(|c: char| c.is_whitespace() || "\"'`\\<>|".contains(c));
    if !is_shell || bare.starts_with('(') {
        let stop = bare.find(|c: char| ",;(){}[]".contains(c));
        end = end.into_iter().chain(stop).min();
    } else if let Some(stop) = bare.find([';', ')', ',']) {
        // `PASSWORD=x;` and `;Password=x;`
        end = Some(end.map_or(stop, |end| end.min(stop)));
    }
    let mut end = end.unwrap_or(bare.len());
    if let Some(stop) = bare.get(..end)?.find("&&") {
        end = stop;
    }
    // `?token=x&page=2`
    let mut from_and = 0;
    while let Some(and) = bare.get(from_and..end)?.find('&').map(|and| from_and + and) {
        let name = bare.get(and + 1..end)?;
        let length = name.bytes().take_while(|byte| is_name_byte(*byte)).count();
        if length > 0 && name.get(length..)?.starts_with('=') {
            end = and;
            break;
        }
        from_and = and + 1;
    }
    (end > 0).then_some((at, at + end, false))
}

impl Assignment<'_> {
    fn is_secret(&self) -> bool {
        let least = if self.is_password() { 4 } else { 6 };
        let name = self.name.replace(' ', "_");
        if self.value.len() < least
            || self.value.len() > LONGEST_VALUE
            || guess::is_placeholder(self.value)
            || is_metadata_name(&name)
            || is_file_name(&name)
        {
            return false;
        }
        if self.is_quoted {
            self.is_quoted_secret()
        } else {
            self.is_bare_secret()
        }
    }

    fn is_password(&self) -> bool {
        self.kind == "password"
    }

    fn is_quoted_secret(&self) -> bool {
        if self.sign == Sign::Compared || self.sign == Sign::Argument {
            let strength = guess::strength(self.value);
            let is_plain = !self.value.contains([' ', '/', '.', '_']);
            return match strength {
                Strength::Random => !names::is_vague(self.name),
                Strength::Mixed => self.is_password() && is_plain && self.sign == Sign::Compared,
                Strength::Word => false,
            };
        }
        // Only shells set variables without blanks around the sign.
        let is_set = self.is_password()
            && self.sign == Sign::Equals
            && !self.is_loose
            && !self.has_gap
            && guess::is_set_by_shell(self.name, self.value);
        is_set || quoted_kind(self.name, self.value).is_some()
    }

    fn is_bare_secret(&self) -> bool {
        let value = self.value.trim_end_matches(['.', ':']);
        if guess::is_code(value) || guess::is_type(value) || guess::is_reference(value) {
            return false;
        }
        let strength = guess::strength(value);
        if self.sign == Sign::Cell {
            return strength == Strength::Random
                || strength == Strength::Mixed
                    && guess::digits(value) > 0
                    && (self.is_password() || value.len() >= 8);
        }
        let is_call = self.after.trim_start().starts_with(['(', '[', '{', '<'])
            && !self.after.starts_with(" {");
        if is_call || self.is_named_like(value) {
            return false;
        }
        if names::is_vague(self.name) {
            return strength == Strength::Random && self.is_set_by_shell();
        }
        if self.is_query() {
            return self.is_password() || strength != Strength::Word || value.len() >= 16;
        }
        if self.is_set_by_shell() {
            return self.is_shell_value(value, strength);
        }
        match strength {
            Strength::Random => !(self.sign == Sign::Colon && !self.has_gap && is_position(value)),
            Strength::Mixed => self.is_mixed_value(value),
            Strength::Word => self.is_word_value(value),
        }
    }

    /// Returns true if the value is a variable, or refers to one.
    fn is_named_like(&self, value: &str) -> bool {
        let is_name = value.bytes().all(is_name_byte);
        let has_part = value.contains('.') && guess::is_dotted(value);
        is_name && (value == self.name || has_part || guess::refers_to_secret(value))
    }

    /// Returns true for `?name=` and `&name=`.
    fn is_query(&self) -> bool {
        self.sign == Sign::Equals
            && !self.is_loose
            && !self.has_gap
            && self.head.ends_with(['?', '&'])
            && self.head.contains(['/', '='])
    }

    /// Returns true for `NAME=value`.
    fn is_set_by_shell(&self) -> bool {
        let is_constant = !self.name.bytes().any(|byte| byte.is_ascii_lowercase());
        is_constant && self.sign == Sign::Equals && !self.is_loose && !self.has_gap
    }

    fn is_shell_value(&self, value: &str, strength: Strength) -> bool {
        if self.is_password() {
            return !guess::is_label(value);
        }
        match strength {
            Strength::Random => true,
            Strength::Mixed => value.len() >= 6 && !is_plain_path(value),
            Strength::Word => {
                words(self.name).len() > 1 && value.len() >= 8 && !value.contains(['.', '_', '/'])
            }
        }
    }

    /// Returns true if only indentation and marks of lists, diffs and listings
    /// precede the name.
    fn starts_line(&self) -> bool {
        let head = self.head.trim_start();
        let head = head.trim_start_matches(|c: char| c.is_ascii_digit());
        let head =
            head.trim_start_matches(['→', '|', ':', '\t', ' ', '+', '-', '*', '#', '>', '$']);
        matches!(
            head.trim_end(),
            "" | "export" | "set" | "local" | "ENV" | "ARG" | "\"" | "'"
        )
    }

    /// Returns true if nothing but a comment follows.
    fn ends_line(&self) -> bool {
        let after = self.after.trim_start();
        after.is_empty() || after.len() < self.after.len() && after.starts_with('#')
    }

    /// Returns true for `a=1 password=x b=2`: logs and inventories.
    fn is_among_pairs(&self) -> bool {
        let is_pair = |word: Option<&str>| {
            word.and_then(|word| word.split_once('='))
                .is_some_and(|(name, value)| {
                    !name.is_empty() && name.bytes().all(is_name_byte) && !value.is_empty()
                })
        };
        let is_tight = self.sign == Sign::Equals && !self.is_loose && !self.has_gap;
        is_tight
            && self.head.ends_with([' ', '\t'])
            && (self.after.starts_with(' ') && is_pair(self.after.split_whitespace().next())
                || self.after.is_empty() && is_pair(self.head.split_whitespace().next_back()))
    }

    /// Returns true for `;Password=x;`.
    fn is_property(&self) -> bool {
        let head = self.head.trim_end();
        self.sign == Sign::Equals
            && !self.has_gap
            && (head.ends_with(';') || self.after.starts_with(';'))
            && (head.contains('=') || head.contains("//"))
            && (self.after.is_empty() || self.after.starts_with([';', '"', '\'', '`', ' ']))
    }

    /// Decides on letters with digits or symbols: `hunter2`.
    fn is_mixed_value(&self, value: &str) -> bool {
        let is_free = self.after.is_empty()
            || self
                .after
                .starts_with([' ', '\t', '"', '\'', '`', '&', '\\', '|', '.']);
        let has_symbol = value.contains(['!', '@', '#', '%', '^', '+', '?', '~']);
        if self.is_property() {
            return true;
        }
        if self.sign == Sign::Colon && !self.has_gap {
            return self.is_password() && has_symbol && is_free && !value.contains(['/', ':']);
        }
        let is_literal = is_free && (self.starts_line() || !self.is_loose);
        if self.is_password() {
            return is_literal || has_symbol && !self.is_loose && !value.contains('/');
        }
        is_literal
            && value.len() >= 8
            && !is_plain_path(value)
            && (guess::digits(value) >= 3 || value.contains(['#', '$', '!']))
            && (words(self.name).len() > 1 || !value.contains(['_', '-', '.']))
    }

    /// Decides on a plain word: `correcthorse`.
    fn is_word_value(&self, value: &str) -> bool {
        if !guess::is_word(value) || guess::is_label(value) {
            return self.is_password() && self.is_property();
        }
        if self.is_password() && (self.is_property() || self.is_among_pairs()) {
            return true;
        }
        let is_plain = value.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_setting = self.starts_line()
            && self.ends_line()
            && is_plain
            && if self.sign == Sign::Colon {
                self.has_gap && !self.is_loose
            } else {
                !self.is_loose && !self.has_gap && self.head.is_empty()
            };
        let least = if self.is_password() { 6 } else { 8 };
        is_setting && value.len() >= least && (self.is_password() || words(self.name).len() > 1)
    }
}

/// Returns the kind of secret if a quoted value or JSON string with this name is
/// one.
pub(super) fn quoted_kind(name: &str, value: &str) -> Option<&'static str> {
    let kind = kind_of_name(name)?;
    if guess::is_placeholder(value) || is_metadata_name(name) || is_file_name(name) {
        return None;
    }
    if value.contains(char::is_whitespace) {
        let is_phrase = kind == "password" && guess::is_phrase(value);
        return is_phrase.then_some(kind);
    }
    if guess::is_reference(value) || guess::is_type(value) || guess::is_template(value) {
        return None;
    }
    let strength = guess::strength(value);
    let is_secret = if kind == "password" {
        value.len() >= 4 && !guess::is_label(value)
    } else if names::is_vague(name) {
        strength == Strength::Random && guess::looks_generated(value)
    } else {
        match strength {
            Strength::Random => value.len() >= 8,
            Strength::Mixed => is_mixed_literal(kind, name, value),
            Strength::Word => is_word_literal(name, value),
        }
    };
    is_secret.then_some(kind)
}

fn is_mixed_literal(kind: &str, name: &str, value: &str) -> bool {
    let is_lone = words(name).len() == 1 && kind != "secret";
    let least = if is_lone { 10 } else { 8 };
    let has_parts = value.contains(['.', '/', ':', ' ']);
    value.len() >= least
        && !guess::refers_to_secret(value)
        && !is_plain_path(value)
        && (!has_parts || value.contains(['#', '$', '!', '(']) || guess::digits(value) >= 3)
        && (!is_lone || guess::digits(value) >= 3)
}

fn is_word_literal(name: &str, value: &str) -> bool {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_lowercase());
    is_secret_name(name)
        && words(name).len() > 1
        && value.len() >= 12
        && is_plain
        && !guess::is_label(value)
}

/// Returns true for `47:self`, a line number in the output of grep.
fn is_position(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit()) && value.contains([':', '.'])
}

fn is_plain_path(value: &str) -> bool {
    value.contains('/')
        && !value
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Returns true for `token.rs` and `src.token.go`.
fn is_file_name(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "rs", "py", "js", "ts", "tsx", "jsx", "go", "c", "h", "cc", "cpp", "hpp", "java", "kt",
        "rb", "php", "cs", "swift", "md", "txt", "json", "yml", "yaml", "toml", "html", "css",
        "sh", "snap", "lock", "log", "xml", "sql", "vue", "scala", "ex", "exs", "lua", "zig",
        "mjs",
    ];
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}
