//! Redacts secrets, home directories and e-mail addresses in events, so that a
//! run can be published.
//!
//! Each value is replaced by a label that stays the same throughout: `[GitHub
//! token 1]`, `[email 2]`, `/home/user1`. Secrets are recognised by their
//! format (`redact/shapes.rs`), by the name they are assigned to
//! (`redact/assigned.rs`), by the sentence around them (`redact/sentence.rs`)
//! or by their randomness (`redact/guess.rs`); personal data is in
//! `redact/people.rs`. No program finds every secret: read the output before
//! you publish it.
//!
//! ```
//! use unspool::redact::Redactor;
//!
//! let mut redactor = Redactor::new();
//! let text = redactor.text("mail ann@example.com, then ann@example.com again");
//! assert_eq!(text.as_deref(), Some("mail [email 1], then [email 1] again"));
//! assert!(!redactor.report().is_empty());
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use regex::{Captures, Regex};

use crate::event::{Body, Event, Payload, ToolUse};

mod assigned;
mod guess;
mod people;
mod sentence;
mod shapes;

use shapes::Shape;

/// HTTP headers whose value is secret, apart from its scheme.
const HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Inserted to separate words; a noncharacter that does not occur in text.
const MARK: char = '\u{FDD0}';

/// Maximum length of an argument preview in events.
const PREVIEW: usize = 40;

/// Replaces secrets and personal data, each value always by the same label.
pub struct Redactor {
    /// Compiled one by one: a single `RegexSet` is many times slower on
    /// random-looking text, the most common input here.
    shapes: Vec<(Regex, &'static Shape)>,
    /// Labels by value. A value keeps its first label, even if it later matches
    /// as another kind.
    labels: HashMap<(bool, String), (&'static str, usize)>,
    /// Numbers of private keys. A truncated key shares the number of the
    /// complete one.
    private_keys: BTreeMap<String, usize>,
    /// Matches the home directory of the current user, if known.
    home: Option<Regex>,
    has_home: bool,
    report: Report,
}

/// Counts of replacements by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    counts: BTreeMap<&'static str, Count>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    different: usize,
    places: usize,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Creates a redactor that has seen no values yet.
    pub fn new() -> Self {
        let compiled = |shape: &'static Shape| {
            let pattern = Regex::new(shape.pattern).ok()?;
            Some((pattern, shape))
        };
        Self {
            shapes: shapes::all().filter_map(compiled).collect(),
            labels: HashMap::new(),
            private_keys: BTreeMap::new(),
            home: None,
            has_home: false,
            report: Report::default(),
        }
    }

    /// Also replaces this home directory with `~`, wherever it is.
    pub fn with_home(mut self, home: &str) -> Self {
        let home = home.trim_end_matches('/');
        if home.starts_with('/') && home.len() > 1 {
            let pattern = format!(r"(?P<s>{})(?P<end>[^A-Za-z0-9_.-]|$)", regex::escape(home));
            self.home = Regex::new(&pattern).ok();
        }
        self
    }

    /// Returns the counts so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Redacts an event. Join the deltas of a message first with [`Joiner`].
    pub fn event(&mut self, event: &mut Event) {
        if let Body::ToolUse(call) = &mut event.body {
            self.redact_preview(call);
        }
        event.change_texts(&mut |key, text| self.field(key, text));
    }

    /// Redacts a text; returns `None` if nothing was found.
    pub fn text(&mut self, text: &str) -> Option<String> {
        let mut changed = self.replace_home(text);
        let with_marks = with_marks(changed.as_deref().unwrap_or(text));
        let has_marks = with_marks.is_some();
        changed = with_marks.or(changed);
        let shapes = std::mem::take(&mut self.shapes);
        for (pattern, shape) in &shapes {
            let current = changed.as_deref().unwrap_or(text);
            let replace = |found: &Captures<'_>| self.replace(found, shape);
            if let Cow::Owned(next) = pattern.replace_all(current, replace) {
                changed = Some(next);
            }
        }
        self.shapes = shapes;
        if has_marks {
            changed = changed.map(|text| text.replace(MARK, ""));
        }
        changed.filter(|changed| changed != text)
    }

    fn replace_home(&mut self, text: &str) -> Option<String> {
        let home = self.home.as_ref()?;
        let places = home.find_iter(text).count();
        if places == 0 {
            return None;
        }
        let count = self.report.counts.entry(people::HOME).or_default();
        // The user's own home counts once, in addition to those that shapes
        // find.
        if !std::mem::replace(&mut self.has_home, true) {
            count.different += 1;
        }
        count.places += places;
        Some(home.replace_all(text, "~$end").into_owned())
    }

    /// Redacts a JSON string; the name of its field can mark it as a secret.
    fn field(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        if let Some(key) = key.filter(|key| is_header(key)) {
            // Redact it like a printed header, so that it gets the same label.
            let head = format!("{key}: ");
            let header = self.text(&format!("{head}{text}"))?;
            return Some(header.strip_prefix(&head).unwrap_or(&header).to_owned());
        }
        let kind = key.and_then(|key| guess::kind_of_field(key, text));
        match kind {
            // Prefer the kind of a known format to that of the field's name.
            Some(kind) if !self.has_known_shape(text) => Some(self.label(kind, text)),
            _ => self.text(text),
        }
    }

    fn has_known_shape(&self, text: &str) -> bool {
        let mut known = self.shapes.iter().take(shapes::KNOWN.len());
        known.any(|(pattern, _)| pattern.is_match(text))
    }

    /// Returns the match with its secret replaced.
    fn replace(&mut self, found: &Captures<'_>, shape: &Shape) -> String {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let Some(secret) = found.name("s") else {
            return whole.to_owned();
        };
        if !(shape.check)(found) {
            return whole.to_owned();
        }
        let start = secret.start() - found.get(0).map_or(0, |whole| whole.start());
        let (before, rest) = whole.split_at(start);
        let after = rest.get(secret.len()..).unwrap_or_default();
        let kind = shape.kind.unwrap_or_else(|| {
            let name = found.name("name").map_or("", |name| name.as_str());
            guess::kind_of_name(name).unwrap_or("secret")
        });
        format!("{before}{}{after}", self.label(kind, secret.as_str()))
    }

    /// Returns the label of a value, assigning one if needed.
    fn label(&mut self, kind: &'static str, secret: &str) -> String {
        let is_home = kind == people::HOME;
        let key = (is_home, shapes::fingerprint(kind, secret));
        let known = self.labels.get(&key).copied();
        let known = known.or_else(|| self.label_of_same_key(kind, &key.1));
        let kind = known.map_or(kind, |(kind, _)| kind);
        let count = self.report.counts.entry(kind).or_default();
        count.places += 1;
        let number = known.map_or_else(
            || {
                count.different += 1;
                count.different - usize::from(is_home && self.has_home)
            },
            |(_, number)| number,
        );
        if kind == shapes::PRIVATE_KEY {
            self.private_keys.insert(key.1.clone(), number);
        }
        self.labels.insert(key, (kind, number));
        match (is_home, secret) {
            (true, people::ROOT) => format!("/home/user{number}"),
            (true, _) => format!("user{number}"),
            _ => format!("[{kind} {number}]"),
        }
    }

    /// Finds the label of a private key of which a shorter or longer part was
    /// seen.
    fn label_of_same_key(&self, kind: &str, key: &str) -> Option<(&'static str, usize)> {
        if kind != shapes::PRIVATE_KEY {
            return None;
        }
        let whole = self.private_keys.range(key.to_owned()..).next();
        let whole = whole.filter(|(other, _)| other.starts_with(key));
        let cut = self.private_keys.range(..key.to_owned()).next_back();
        let cut = cut.filter(|(other, _)| key.starts_with(&**other));
        let number = whole.into_iter().chain(cut).map(|(_, number)| *number);
        number.min().map(|number| (shapes::PRIVATE_KEY, number))
    }

    /// Redacts a truncated preview through the full argument: a truncated
    /// secret matches no format.
    fn redact_preview(&mut self, call: &mut ToolUse) {
        let Some(kept) = call.arg.strip_suffix('…') else {
            return;
        };
        let Some(input) = &call.input else {
            return;
        };
        let mut whole = None;
        let mut find = |text: &str| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(at) = text.find(kept) {
                whole = text.get(at..).map(str::to_owned);
            }
        };
        if let Ok(value) = serde_json::from_str(input.get()) {
            each_string(&value, &mut find);
        }
        if let Some(redacted) = whole.and_then(|whole| self.text(&whole)) {
            call.arg = cut(&redacted);
        }
    }
}

/// Inserts [`MARK`] after each escape such as `\n` in JSON text, so that a word
/// starts there. Returns `None` if there is none.
fn with_marks(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_end = |at: usize| {
        matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'))
            && bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
    };
    if text.contains(MARK) {
        return None;
    }
    let (mut with_marks, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices('\\').filter(|(at, _)| is_end(*at)) {
        with_marks.push_str(text.get(from..at + 2)?);
        with_marks.push(MARK);
        from = at + 2;
    }
    with_marks.push_str(text.get(from..)?);
    (from > 0).then_some(with_marks)
}

fn is_header(key: &str) -> bool {
    HEADERS
        .iter()
        .any(|header| key.eq_ignore_ascii_case(header))
}

fn each_string(value: &serde_json::Value, take: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => take(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| each_string(item, take)),
        serde_json::Value::Object(fields) => {
            fields.values().for_each(|field| each_string(field, take));
        }
        _ => {}
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= PREVIEW {
        return text.to_owned();
    }
    text.chars().take(PREVIEW - 1).chain(['…']).collect()
}

impl Report {
    /// Returns true if nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Report {
    /// Formats like `2 GitHub tokens (in 5 places), 1 email`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (kind, count)) in self.counts.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            let many = match (count.different, kind.strip_suffix("ory")) {
                (1, _) => (*kind).to_owned(),
                (_, Some(stem)) => format!("{stem}ories"),
                _ if kind.ends_with("sh") => format!("{kind}es"),
                _ => format!("{kind}s"),
            };
            write!(f, "{comma}{} {many}", count.different)?;
            if count.places > count.different {
                write!(f, " (in {} places)", count.places)?;
            }
        }
        Ok(())
    }
}

/// Joins the deltas of messages and outputs, so that no secret is split between
/// events.
///
/// Messages grow until their turn ends; events after a message's first delta
/// are held until then.
#[derive(Default)]
pub struct Joiner {
    waiting: Vec<Event>,
    /// Growing messages by kind and id: their position in `waiting`, and the
    /// text so far.
    open: BTreeMap<(&'static str, String), (usize, String)>,
    next: u64,
}

impl Joiner {
    /// Adds an event; returns the complete events, renumbered.
    pub fn push(&mut self, mut event: Event) -> Vec<Event> {
        let closes = matches!(event.body, Body::TurnEnd(_)) && event.agent.is_none();
        let kind = event.body.kind();
        if let Some((id, text)) = piece(&mut event.body) {
            let (id, text) = (id.to_owned(), std::mem::take(text).into_string());
            if let Some((at, whole)) = self.open.get_mut(&(kind, id.clone())) {
                whole.push_str(&text);
                // The raw frame of the first delta may contain part of a
                // secret.
                if let Some(first) = self.waiting.get_mut(*at) {
                    first.raw = None;
                    append_media(&mut first.body, event.body);
                }
                return Vec::new();
            }
            self.open.insert((kind, id), (self.waiting.len(), text));
        }
        self.waiting.push(event);
        if closes || self.open.is_empty() {
            return self.finish();
        }
        Vec::new()
    }

    /// Returns the held events at the end of the input.
    pub fn finish(&mut self) -> Vec<Event> {
        for (at, whole) in std::mem::take(&mut self.open).into_values() {
            let event = self.waiting.get_mut(at);
            if let Some((_, text)) = event.and_then(|event| piece(&mut event.body)) {
                *text = Payload::from(whole);
            }
        }
        let mut whole = std::mem::take(&mut self.waiting);
        for event in &mut whole {
            event.seq = self.next;
            self.next += 1;
        }
        whole
    }
}

/// Moves the media of a delta to the first delta of its message.
fn append_media(first: &mut Body, next: Body) {
    if let Body::Text(first) | Body::Reasoning(first) = first
        && let Body::Text(next) | Body::Reasoning(next) = next
    {
        first.media.extend(next.media);
    }
}

/// Returns the id and text of a delta.
fn piece(body: &mut Body) -> Option<(&str, &mut Payload)> {
    match body {
        Body::Text(message) | Body::Reasoning(message) if message.delta => {
            Some((&message.id, &mut message.text))
        }
        Body::ToolOutput(output) => Some((&output.id, &mut output.text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
