//! Generates secrets of many kinds in the places where people and programs
//! write them.
//!
//! The values are made at run time from a fixed seed, so that no file of the
//! repository contains one. Shared by the test of the figures and by
//! `examples/redaction`.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all contexts have one signature, and some take not every kind"
)]

use std::fmt::Write as _;

use super::kinds::{self, Form, Kind};

/// A text that contains one secret.
pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) context: &'static str,
    pub(crate) text: String,
    /// Parts of the secret that must not remain.
    pub(crate) parts: Vec<String>,
}

impl Case {
    /// Returns true if the redacted text no longer contains the secret.
    pub(crate) fn is_hidden_in(&self, redacted: &str) -> bool {
        let shown = without_colours(redacted);
        self.parts.iter().all(|part| !shown.contains(part.as_str()))
    }
}

/// A generator of pseudo-random numbers: splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or_default()
    }

    /// Returns characters of an alphabet written like `a-z0-9_`.
    pub(crate) fn of(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = expanded(alphabet);
        (0..length)
            .map(|_| alphabet[self.below(alphabet.len())])
            .collect()
    }

    pub(crate) fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

fn expanded(alphabet: &str) -> Vec<char> {
    let chars: Vec<char> = alphabet.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if at + 2 < chars.len() && chars[at + 1] == '-' {
            all.extend(chars[at]..=chars[at + 2]);
            at += 3;
        } else {
            all.push(chars[at]);
            at += 1;
        }
    }
    all
}

/// Expands a value's pattern: `{A-Z0-9*16}` is 16 characters of that alphabet,
/// `{word}` a plain word; everything else is literal.
pub(crate) fn made(pattern: &str, random: &mut Random) -> String {
    let mut value = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        value.push_str(before);
        let (field, tail) = after.split_once('}').expect("a closing brace");
        match field.rsplit_once('*') {
            Some((alphabet, length)) => {
                value.push_str(&random.of(alphabet, length.parse().expect("a length")));
            }
            None => value.push_str(random.one_of(kinds::WORDS)),
        }
        rest = tail;
    }
    value + rest
}

/// Returns all cases: each kind in each context, and variants of some.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, kind) in kinds::KINDS.iter().enumerate() {
        let mut random = Random::new(number as u64 + 1);
        for (context, write) in CONTEXTS {
            let value = made(kind.value, &mut random);
            let Some(text) = write(kind, &value, number) else {
                continue;
            };
            cases.push(case(kind, context, text.clone(), &value));
            // Every second one also in the disguises of terminals and logs.
            match (number + cases.len()) % 4 {
                0 => cases.push(case(
                    kind,
                    "coloured",
                    coloured(&text, &value, number),
                    &value,
                )),
                1 => cases.push(case(
                    kind,
                    "JSON in JSON",
                    nested(&text, number % 2 + 1),
                    &value,
                )),
                _ => {}
            }
        }
    }
    cases
}

fn case(kind: &Kind, context: &'static str, text: String, value: &str) -> Case {
    let mut parts = Vec::new();
    for line in value.lines().filter(|line| !line.starts_with("-----")) {
        let half = line.len() / 2;
        if half >= 8 && line.is_ascii() {
            let (first, second) = line.split_at(half);
            parts.extend([first.to_owned(), second.to_owned()]);
        } else {
            parts.push(line.to_owned());
        }
    }
    Case {
        kind: kind.id,
        context,
        text,
        parts,
    }
}

type Template = fn(&Kind, &str, usize) -> Option<String>;

pub(crate) const CONTEXTS: &[(&str, Template)] = &[
    ("env file", env),
    ("JSON", json),
    ("YAML", yaml),
    ("shell command", shell),
    ("code literal", code),
    ("URL", url),
    ("log line", log),
    ("Markdown prose", prose),
];

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

fn env(kind: &Kind, value: &str, _: usize) -> Option<String> {
    let line = match kind.form {
        Form::Value if value.contains([' ', '\n', '#', '$']) => {
            format!("{}='{value}'", kind.name)
        }
        Form::Value => format!("{}={value}", kind.name),
        Form::Line(line) => format!("DEPLOY_COMMAND='{}'", line.replace("{}", value)),
        Form::File(line) => line.replace("{}", value),
    };
    Some(format!("# settings\nPORT=8080\n{line}\nDEBUG=true\n"))
}

fn json(kind: &Kind, value: &str, number: usize) -> Option<String> {
    let name = match number % 2 {
        0 => kind.name.to_lowercase(),
        _ => camel(kind.name),
    };
    Some(match kind.form {
        Form::Value => format!(
            "{{\n  \"port\": 8080,\n  \"{name}\": {},\n  \"debug\": true\n}}",
            quoted(value)
        ),
        Form::Line(line) | Form::File(line) => format!(
            r#"{{"command": {}, "timeout": 30}}"#,
            quoted(&line.replace("{}", value))
        ),
    })
}

fn yaml(kind: &Kind, value: &str, _: usize) -> Option<String> {
    let name = kind.name.to_lowercase();
    Some(match kind.form {
        Form::Value if value.contains('\n') => {
            let block = value.replace('\n', "\n    ");
            format!("app:\n  {name}: |\n    {block}\n  port: 8080\n")
        }
        Form::Value if value.contains([':', '#', ' ', '$', '!', '@', '*', '&', '%']) => {
            format!("app:\n  {name}: \"{value}\"\n  port: 8080\n")
        }
        Form::Value => format!("app:\n  {name}: {value}\n  port: 8080\n"),
        Form::Line(line) | Form::File(line) => {
            let block = line.replace("{}", value).replace('\n', "\n      ");
            format!("steps:\n  - run: |\n      {block}\n    shell: bash\n")
        }
    })
}

fn shell(kind: &Kind, value: &str, number: usize) -> Option<String> {
    let name = kind.name;
    Some(match kind.form {
        Form::Value if value.contains([' ', '\n', '#', '$', '!', '&', '*']) => {
            format!("$ export {name}='{value}'\n$ ./deploy --verbose")
        }
        Form::Value => match number % 3 {
            0 => format!("$ {name}={value} ./deploy --verbose"),
            1 => format!("$ docker run -d -e {name}={value} -p 8080:80 app:latest"),
            _ => format!("$ export {name}={value} && ./deploy --verbose"),
        },
        Form::Line(line) => format!("$ cd /srv/app && {}", line.replace("{}", value)),
        Form::File(line) => format!("$ cat <<'EOF' > file\n{}\nEOF", line.replace("{}", value)),
    })
}

fn code(kind: &Kind, value: &str, number: usize) -> Option<String> {
    let name = match kind.form {
        Form::Value => kind.name,
        _ => "COMMAND",
    };
    let value = match kind.form {
        Form::Value => value.to_owned(),
        Form::Line(line) | Form::File(line) => line.replace("{}", value),
    };
    let literal = quoted(&value);
    Some(match number % 3 {
        0 => format!("const {} = {literal};\nrun();\n", camel(name)),
        1 => format!(
            "import os\n\n{} = {literal}\n\ndef run():\n    pass\n",
            name.to_lowercase()
        ),
        _ => format!("pub const {name}: &str = {literal};\n"),
    })
}

fn url(kind: &Kind, value: &str, _: usize) -> Option<String> {
    let encoded = percent_encoded(value);
    match kind.form {
        Form::Value if value.contains('\n') => None,
        Form::Value if kind.name.contains("PASS") => Some(format!(
            "DATABASE_URL=postgres://app:{encoded}@db.internal:5432/app?sslmode=require"
        )),
        Form::Value => Some(format!(
            "GET https://api.example.com/v1/items?page=2&{}={encoded}&sort=asc 200",
            kind.name.to_lowercase()
        )),
        Form::Line(_) | Form::File(_) => None,
    }
}

fn log(kind: &Kind, value: &str, number: usize) -> Option<String> {
    let name = kind.name.to_lowercase();
    let head = "2026-11-02T10:22:31.123Z INFO  [worker-3]";
    Some(match kind.form {
        Form::Value => {
            let value = value.replace('\n', "\\n");
            match (number % 2, value.contains(' ')) {
                (_, true) => format!("{head} connecting {name}=\"{value}\" retries=3"),
                (0, _) => format!("{head} connecting {name}={value} retries=3"),
                _ => format!("{head} loaded config {{{name}: \"{value}\", retries: 3}}"),
            }
        }
        Form::Line(line) | Form::File(line) => {
            format!("{head} running: {}", line.replace("{}", value))
        }
    })
}

fn prose(kind: &Kind, value: &str, number: usize) -> Option<String> {
    let name = kind.name.to_lowercase().replace('_', " ");
    Some(match kind.form {
        Form::Value if value.contains('\n') => {
            format!("Here is the key:\n\n```\n{value}\n```\n\nKeep it safe.")
        }
        Form::Value => match number % 3 {
            0 => format!("I set it up. The {name} is `{value}`, so keep it safe."),
            1 => format!("## Access\n\n- **User:** admin\n- **{name}:** {value}\n"),
            _ => {
                let name = name.replace(' ', "_");
                format!("| setting | value |\n|---|---|\n| port | 8080 |\n| {name} | {value} |\n")
            }
        },
        Form::Line(line) => format!("Run `{}` and wait.", line.replace("{}", value)),
        Form::File(line) => format!("The file is:\n\n```\n{}\n```\n", line.replace("{}", value)),
    })
}

fn camel(name: &str) -> String {
    let mut text = String::new();
    for (at, word) in name.to_lowercase().split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if at > 0 => text.extend(first.to_uppercase()),
            Some(first) => text.push(first),
            None => {}
        }
        text.push_str(letters.as_str());
    }
    text
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// Colours a text as tools do: a match inside of the secret as grep, or names
/// and values in colours of their own.
fn coloured(text: &str, value: &str, number: usize) -> String {
    let line = value.lines().last().unwrap_or(value);
    if !text.contains(line) || !line.is_ascii() || number.is_multiple_of(2) {
        let signs = ["=", ": ", "\"", "'", "`"];
        return signs.iter().fold(text.to_owned(), |text, sign| {
            text.replace(sign, &format!("\u{1b}[0m{sign}\u{1b}[38;5;214m"))
        });
    }
    let (first, second) = line.split_at(line.len() / 3);
    let match_of_grep = format!("\u{1b}[01;31m\u{1b}[K{first}\u{1b}[m\u{1b}[K{second}");
    text.replace(line, &match_of_grep)
}

fn without_colours(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        shown.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |end| after.get(end + 1..).unwrap_or_default());
    }
    shown + rest
}

fn nested(text: &str, levels: usize) -> String {
    (0..levels).fold(text.to_owned(), |text, level| {
        format!(r#"{{"id":{level},"arguments":{}}}"#, quoted(&text))
    })
}
