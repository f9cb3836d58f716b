//! Finds values again that were recognised elsewhere in the run, where nothing
//! around them says that they are secret.

use std::collections::HashMap;
use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Further values are not looked for, so that memory stays bounded.
const MOST: usize = 20_000;
/// Longer values are found by their format.
const LONGEST: usize = 4096;

/// The values to look for, with their kinds.
#[derive(Default)]
pub(super) struct Learned {
    values: HashMap<String, &'static str>,
    /// Built when it is needed, in the order of `forms`.
    automaton: Option<AhoCorasick>,
    forms: Vec<(String, &'static str)>,
}

impl Learned {
    pub(super) fn add(&mut self, kind: &'static str, value: &str) {
        if self.values.len() < MOST && !self.values.contains_key(value) && is_distinct(kind, value)
        {
            self.values.insert(value.to_owned(), kind);
            self.automaton = None;
        }
    }

    /// Returns each place of a known value: start, end, kind and value.
    pub(super) fn places(&mut self, text: &str) -> Vec<(usize, usize, &'static str, &str)> {
        if self.values.is_empty() {
            return Vec::new();
        }
        if self.automaton.is_none() {
            self.build();
        }
        let Some(automaton) = &self.automaton else {
            return Vec::new();
        };
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        let mut places = Vec::new();
        for found in automaton.find_iter(text) {
            let before = found.start().checked_sub(1).and_then(|at| bytes.get(at));
            let Some((value, kind)) = self.forms.get(found.pattern().as_usize() / FORMS) else {
                continue;
            };
            if !is_word(before) && !is_word(bytes.get(found.end())) {
                places.push((found.start(), found.end(), *kind, value.as_str()));
            }
        }
        places
    }

    fn build(&mut self) {
        let mut forms: Vec<(String, &'static str)> = self
            .values
            .iter()
            .map(|(value, kind)| (value.clone(), *kind))
            .collect();
        forms.sort_unstable();
        self.forms = forms;
        let patterns = self.forms.iter().flat_map(|(value, _)| forms_of(value));
        self.automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns)
            .ok();
    }
}

/// The number of forms of a value.
const FORMS: usize = 4;

/// Returns a value as it is, in JSON, in a URL and in base64.
fn forms_of(value: &str) -> [String; FORMS] {
    let json = value.replace('\\', "\\\\").replace('"', "\\\"");
    let mut url = String::new();
    for c in value.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~') || !c.is_ascii() {
            url.push(c);
        } else {
            let _ = write!(url, "%{:02X}", u32::from(c));
        }
    }
    [value.to_owned(), json, url, STANDARD.encode(value)]
}

/// Returns true if a value is so unusual that it means the secret wherever it
/// is. A password `test` is replaced only where it is one.
fn is_distinct(kind: &str, value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let letters = has(u8::is_ascii_alphabetic);
    let mixed = has(u8::is_ascii_digit) || has(u8::is_ascii_punctuation);
    let cases =
        value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) && has(u8::is_ascii_lowercase);
    let least = match (mixed, cases) {
        (true, _) if has(u8::is_ascii_digit) => 6,
        (true, _) => 8,
        (_, true) => 10,
        _ => 12,
    };
    let is_person = kind == "email" || kind == super::people::HOME;
    !is_person
        && letters
        && (least..=LONGEST).contains(&value.len())
        && !value.contains('\n')
        && (mixed || cases || kind == "password")
}
