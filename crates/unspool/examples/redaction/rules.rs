//! Applies the rules of another program: regular expressions with keywords, a
//! minimum entropy and exceptions, as gitleaks has them.

use std::{fs, io};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

#[derive(Deserialize)]
struct RawRule {
    id: String,
    regex: Option<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default, rename = "secretGroup")]
    secret_group: usize,
    #[serde(default)]
    allowlists: Vec<RawAllowed>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawAllowed {
    regexes: Vec<String>,
    #[serde(rename = "regexTarget")]
    target: String,
    stopwords: Vec<String>,
    condition: String,
    paths: Vec<String>,
}

#[derive(Deserialize)]
struct RawConfig {
    #[serde(default)]
    allowlist: RawAllowed,
    rules: Vec<RawRule>,
}

struct Allowed {
    regexes: Vec<Regex>,
    target: String,
    stopwords: Vec<String>,
}

struct Rule {
    id: String,
    pattern: Regex,
    entropy: f64,
    keywords: Vec<String>,
    group: usize,
    allowed: Vec<Allowed>,
}

/// All rules of a file.
pub(crate) struct Rules {
    rules: Vec<Rule>,
    allowed: Allowed,
}

fn compiled(pattern: &str) -> io::Result<Regex> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(100_000_000)
        .build()
        .map_err(io::Error::other)
}

fn exceptions(raw: &RawAllowed) -> io::Result<Allowed> {
    Ok(Allowed {
        regexes: raw
            .regexes
            .iter()
            .map(|regex| compiled(regex))
            .collect::<io::Result<_>>()?,
        target: raw.target.clone(),
        stopwords: raw.stopwords.clone(),
    })
}

impl Rules {
    pub(crate) fn read(path: &str) -> io::Result<Self> {
        let config: RawConfig = serde_json::from_slice(&fs::read(path)?)?;
        let mut rules = Vec::new();
        for raw in config.rules {
            let Some(regex) = raw.regex else {
                continue;
            };
            // Exceptions for certain paths do not apply to text.
            let for_text = raw
                .allowlists
                .iter()
                .filter(|allowed| allowed.condition != "AND" || allowed.paths.is_empty());
            rules.push(Rule {
                pattern: compiled(&regex)?,
                id: raw.id,
                entropy: raw.entropy,
                keywords: raw
                    .keywords
                    .iter()
                    .map(|word| word.to_lowercase())
                    .collect(),
                group: raw.secret_group,
                allowed: for_text.map(exceptions).collect::<io::Result<_>>()?,
            });
        }
        Ok(Self {
            rules,
            allowed: exceptions(&config.allowlist)?,
        })
    }

    /// Replaces each secret with a label.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for rule in &self.rules {
            let is_possible = rule.keywords.is_empty()
                || rule
                    .keywords
                    .iter()
                    .any(|word| lower.contains(word.as_str()));
            if is_possible {
                found.extend(rule.matches(text, &self.allowed));
            }
        }
        found.sort_unstable();
        let (mut redacted, mut from) = (Vec::new(), 0);
        for (number, (start, end, id)) in found.into_iter().enumerate() {
            if start < from {
                continue;
            }
            redacted.extend_from_slice(&text.as_bytes()[from..start]);
            redacted.extend_from_slice(format!("[{} {number}]", id.replace('-', " ")).as_bytes());
            from = end;
        }
        redacted.extend_from_slice(&text.as_bytes()[from..]);
        String::from_utf8_lossy(&redacted).into_owned()
    }
}

impl Rule {
    fn matches<'a>(
        &'a self,
        text: &'a str,
        global: &'a Allowed,
    ) -> impl Iterator<Item = (usize, usize, &'a str)> {
        self.pattern
            .captures_iter(text.as_bytes())
            .filter_map(move |found| {
                let whole = found.get(0)?;
                let first = || {
                    found
                        .iter()
                        .skip(1)
                        .flatten()
                        .find(|group| !group.is_empty())
                };
                let secret = match self.group {
                    0 => first().unwrap_or(whole),
                    group => found.get(group)?,
                };
                let line = line_around(text.as_bytes(), whole.start(), whole.end());
                let mut exceptions = self.allowed.iter().chain([global]);
                let is_allowed = exceptions
                    .any(|allowed| allowed.allows(secret.as_bytes(), whole.as_bytes(), line));
                let is_random = self.entropy == 0.0 || entropy(secret.as_bytes()) > self.entropy;
                (is_random && !is_allowed).then_some((
                    secret.start(),
                    secret.end(),
                    self.id.as_str(),
                ))
            })
    }
}

impl Allowed {
    fn allows(&self, secret: &[u8], whole: &[u8], line: &[u8]) -> bool {
        let target = match self.target.as_str() {
            "match" => whole,
            "line" => line,
            _ => secret,
        };
        let lower = secret.to_ascii_lowercase();
        let lower = String::from_utf8_lossy(&lower);
        self.regexes.iter().any(|regex| regex.is_match(target))
            || self
                .stopwords
                .iter()
                .any(|word| lower.contains(word.as_str()))
    }
}

fn line_around(text: &[u8], start: usize, end: usize) -> &[u8] {
    let from = text[..start].iter().rposition(|byte| *byte == b'\n');
    let to = text[end..].iter().position(|byte| *byte == b'\n');
    &text[from.map_or(0, |at| at + 1)..to.map_or(text.len(), |at| end + at)]
}

#[expect(clippy::cast_precision_loss, reason = "lengths of words")]
fn entropy(word: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in word {
        counts[usize::from(*byte)] += 1;
    }
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| f64::from(*count) / word.len() as f64)
        .map(|share| -share * share.log2())
        .sum()
}
