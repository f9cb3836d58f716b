//! Takes secrets, home directories and e-mail addresses out of events, so that a
//! run can be shown to others.
//!
//! What is replaced gets a name and a number, the same one each time:
//! `[GitHub token 1]`, `[email 2]`, `/home/user1`. Secrets are told by their
//! known shapes (`redact/shapes.rs`), by the names that they are assigned to
//! (`redact/named.rs`), by sentences that give them away (`redact/spoken.rs`), and
//! by looking random (`redact/guess.rs`); people by `redact/people.rs`. No program
//! can find all of them: read what you publish.
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

mod guess;
mod named;
mod people;
mod shapes;
mod spoken;

use shapes::Shape;

/// Headers that are a secret but for their first words.
const HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Parts words; no character of any text.
const MARK: char = '\u{FDD0}';

/// Longest preview of an argument, as events have it.
const PREVIEW: usize = 40;

/// Replaces what others should not see, each thing by the same words.
pub struct Redactor {
    /// Each by itself: all of them as one set are many times slower on what looks
    /// random, which is where they have most to do.
    shapes: Vec<(Regex, &'static Shape)>,
    /// What was replaced, and by what: a secret has one name, whatever it was
    /// taken for later.
    names: HashMap<(bool, String), (&'static str, usize)>,
    /// The numbers of the private keys among them: one that was cut stands beside
    /// the whole one.
    private_keys: BTreeMap<String, usize>,
    /// The home directory of whoever runs this, if it is known.
    home: Option<Regex>,
    has_home: bool,
    report: Report,
}

/// How much was replaced, by what it was.
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
    /// One that has seen nothing yet.
    pub fn new() -> Self {
        let compiled = |shape: &'static Shape| {
            let pattern = Regex::new(shape.pattern).ok()?;
            Some((pattern, shape))
        };
        Self {
            shapes: shapes::all().filter_map(compiled).collect(),
            names: HashMap::new(),
            private_keys: BTreeMap::new(),
            home: None,
            has_home: false,
            report: Report::default(),
        }
    }

    /// One that also knows this home directory, wherever it lies, and writes `~`
    /// for it.
    pub fn with_home(mut self, home: &str) -> Self {
        let home = home.trim_end_matches('/');
        if home.starts_with('/') && home.len() > 1 {
            let pattern = format!(r"(?P<s>{})(?P<end>[^A-Za-z0-9_.-]|$)", regex::escape(home));
            self.home = Regex::new(&pattern).ok();
        }
        self
    }

    /// What was replaced so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The event without what others should not see. Pieces of a message that
    /// is still being written must be joined before: see [`Joined`].
    pub fn event(&mut self, event: &mut Event) {
        if let Body::ToolUse(call) = &mut event.body {
            self.cut_preview(call);
        }
        event.change_texts(&mut |key, text| self.field(key, text));
    }

    /// A text without what others should not see; `None` if there is nothing in
    /// it.
    pub fn text(&mut self, text: &str) -> Option<String> {
        let mut changed = self.without_home(text);
        let parted = parted(changed.as_deref().unwrap_or(text));
        let is_parted = parted.is_some();
        changed = parted.or(changed);
        let shapes = std::mem::take(&mut self.shapes);
        for (pattern, shape) in &shapes {
            let current = changed.as_deref().unwrap_or(text);
            let replace = |found: &Captures<'_>| self.replace(found, shape);
            if let Cow::Owned(next) = pattern.replace_all(current, replace) {
                changed = Some(next);
            }
        }
        self.shapes = shapes;
        if is_parted {
            changed = changed.map(|text| text.replace(MARK, ""));
        }
        changed.filter(|changed| changed != text)
    }

    fn without_home(&mut self, text: &str) -> Option<String> {
        let home = self.home.as_ref()?;
        let places = home.find_iter(text).count();
        if places == 0 {
            return None;
        }
        let count = self.report.counts.entry(people::HOME).or_default();
        // All of them are one, beside those that shapes find.
        if !std::mem::replace(&mut self.has_home, true) {
            count.different += 1;
        }
        count.places += places;
        Some(home.replace_all(text, "~$end").into_owned())
    }

    /// A text in a field of JSON, whose name may tell that it is a secret.
    fn field(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        if let Some(key) = key.filter(|key| is_header(key)) {
            // As it stands where headers are printed, so that it gets one name.
            let head = format!("{key}: ");
            let header = self.text(&format!("{head}{text}"))?;
            return Some(header.strip_prefix(&head).unwrap_or(&header).to_owned());
        }
        let kind = key.and_then(|key| guess::kind_of_field(key, text));
        match kind {
            // What has a shape of its own is called by it everywhere.
            Some(kind) if !self.has_known_shape(text) => Some(self.name(kind, text)),
            _ => self.text(text),
        }
    }

    fn has_known_shape(&self, text: &str) -> bool {
        let mut known = self.shapes.iter().take(shapes::KNOWN.len());
        known.any(|(pattern, _)| pattern.is_match(text))
    }

    /// What stands in the place of a match: all of it, but for its secret.
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
        format!("{before}{}{after}", self.name(kind, secret.as_str()))
    }

    /// The name that a secret has from now on.
    fn name(&mut self, kind: &'static str, secret: &str) -> String {
        let is_home = kind == people::HOME;
        let key = (is_home, shapes::essence(kind, secret));
        let known = self.names.get(&key).copied();
        let known = known.or_else(|| self.cut_or_whole(kind, &key.1));
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
        self.names.insert(key, (kind, number));
        match (is_home, secret) {
            (true, people::ROOT) => format!("/home/user{number}"),
            (true, _) => format!("user{number}"),
            _ => format!("[{kind} {number}]"),
        }
    }

    /// The name of a key of which more was seen, or less, where an output was cut.
    fn cut_or_whole(&self, kind: &str, key: &str) -> Option<(&'static str, usize)> {
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

    /// A preview that was cut may end inside a secret, where no shape fits any
    /// more: what it was cut from tells.
    fn cut_preview(&mut self, call: &mut ToolUse) {
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

/// The text with a mark behind each line end that is written `\n`, as in JSON: the
/// word behind it begins there. `None` if there is no such line end.
fn parted(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_end = |at: usize| {
        matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'))
            && bytes.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
    };
    if text.contains(MARK) {
        return None;
    }
    let (mut parted, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices('\\').filter(|(at, _)| is_end(*at)) {
        parted.push_str(text.get(from..at + 2)?);
        parted.push(MARK);
        from = at + 2;
    }
    parted.push_str(text.get(from..)?);
    (from > 0).then_some(parted)
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
    /// Whether nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Report {
    /// `2 GitHub tokens (in 5 places), 1 email`
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

/// Joins the pieces of messages and outputs, so that no secret is cut in two.
///
/// Messages grow until their turn ends; what came behind the first piece of one
/// waits until then.
#[derive(Default)]
pub struct Joined {
    waiting: Vec<Event>,
    /// What grows, by kind and id: where it waits, and its text so far.
    open: BTreeMap<(&'static str, String), (usize, String)>,
    next: u64,
}

impl Joined {
    /// Takes an event, and gives those that are whole, numbered anew.
    pub fn push(&mut self, mut event: Event) -> Vec<Event> {
        let closes = matches!(event.body, Body::TurnEnd(_)) && event.agent.is_none();
        let kind = event.body.kind();
        if let Some((id, text)) = piece(&mut event.body) {
            let (id, text) = (id.to_owned(), std::mem::take(text).into_string());
            if let Some((at, whole)) = self.open.get_mut(&(kind, id.clone())) {
                whole.push_str(&text);
                // What its first piece came in may hold half of a secret.
                if let Some(first) = self.waiting.get_mut(*at) {
                    first.raw = None;
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

    /// All that waits: nothing grows any more.
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

/// Id and text of a piece of something that grows.
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
