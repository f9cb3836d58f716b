//! Redacts secrets, home directories and e-mail addresses in events, so that a
//! run can be published.
//!
//! Each value is replaced by a label that stays the same throughout: `[GitHub
//! token 1]`, `[email 2]`, `/home/user1`. Secrets are recognised by their format
//! (`redact/vendors.rs`), by the command or URL that contains them
//! (`redact/shapes.rs`), by the name they are assigned to (`redact/assigned.rs`)
//! or by the sentence around them (`redact/sentence.rs`). A name alone is not
//! enough: the value has to look like one (`redact/guess.rs`). Personal data is
//! in `redact/people.rs`. Texts are scanned without colours and with escapes
//! decoded (`redact/view.rs`).
//!
//! No program finds every secret: read the output before you publish it.
//!
//! ```
//! use unspool::redact::Redactor;
//!
//! let mut redactor = Redactor::new();
//! let text = redactor.text("mail ann@example.com, then ann@example.com again");
//! assert_eq!(text.as_deref(), Some("mail [email 1], then [email 1] again"));
//! assert!(!redactor.report().is_empty());
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::event::{Body, Event, ToolUse};

mod assigned;
mod columns;
mod guess;
mod join;
mod learned;
mod names;
mod people;
mod report;
mod sentence;
mod shapes;
mod spans;
mod vendors;
mod view;

pub use join::Joiner;
pub use report::Report;

use learned::Learned;
use shapes::Shape;
use spans::Spans;
use view::View;

/// HTTP headers whose value is secret, apart from its scheme.
const HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// The kind of the current user's own home directory.
const OWN_HOME: &str = "own home";

/// Maximum length of an argument preview in events.
const PREVIEW: usize = 40;

/// Longest base64 word that is decoded.
const LONGEST_ENCODED: usize = 65_536;

/// Compiled one by one: a single `RegexSet` is many times slower on
/// random-looking text, the most common input here.
static PATTERNS: LazyLock<Vec<(Regex, &'static Shape)>> = LazyLock::new(|| {
    let compiled = |shape: &'static Shape| {
        let pattern = Regex::new(shape.pattern).ok()?;
        Some((pattern, shape))
    };
    shapes::all().filter_map(compiled).collect()
});

static LONG_WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)[A-Za-z0-9+/_-]{32,}={0,2}").ok());

/// Replaces secrets and personal data, each value always by the same label.
pub struct Redactor {
    /// Labels by value. A value keeps its first label, even if it later matches
    /// as another kind.
    labels: HashMap<(bool, String), (&'static str, usize)>,
    /// Numbers of private keys. A truncated key shares the number of the
    /// complete one.
    private_keys: BTreeMap<String, usize>,
    learned: Learned,
    /// Matches the home directory of the current user, if known.
    home: Option<Regex>,
    has_home: bool,
    report: Report,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Creates a redactor that has seen no values yet.
    pub fn new() -> Self {
        Self {
            labels: HashMap::new(),
            private_keys: BTreeMap::new(),
            learned: Learned::default(),
            home: None,
            has_home: false,
            report: Report::default(),
        }
    }

    /// Also replaces this home directory with `~`, wherever it is.
    pub fn with_home(mut self, home: &str) -> Self {
        let home = home.trim_end_matches('/');
        if home.starts_with('/') && home.len() > 1 {
            let pattern = format!(r"(?P<s>{})(?:[^A-Za-z0-9_.-]|$)", regex::escape(home));
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

    /// Redacts values in an event that were recognised in any other event,
    /// where nothing around them says that they are secret. Call it for each
    /// event after all of them went through [`Redactor::event`].
    pub fn second_pass(&mut self, event: &mut Event) {
        event.change_texts(&mut |_, text| self.known_values(text));
    }

    /// Redacts a text; returns `None` if nothing was found.
    pub fn text(&mut self, text: &str) -> Option<String> {
        let base = view::without_sequences(text);
        let shown = base.as_ref().map_or(text, |view| view.text.as_str());
        let mut spans = Spans::default();
        let views = view::decoded(shown, base.as_ref());
        for view in views.escaped.iter().rev() {
            scan(&view.text, &mut add_to(&mut spans, Some(view)));
        }
        {
            let mut add = add_to(&mut spans, base.as_ref());
            if let Some(home) = &self.home {
                for found in home.captures_iter(shown) {
                    if let Some(home) = found.name("s") {
                        add(home.range(), OWN_HOME, home.as_str());
                    }
                }
            }
            scan(shown, &mut add);
        }
        if let Some(view) = &views.percent {
            scan(&view.text, &mut add_to(&mut spans, Some(view)));
        }
        self.replaced(text, spans)
    }

    fn known_values(&mut self, text: &str) -> Option<String> {
        let base = view::without_sequences(text);
        let shown = base.as_ref().map_or(text, |view| view.text.as_str());
        let mut spans = Spans::default();
        for (start, end, kind, value) in self.learned.places(shown) {
            add_to(&mut spans, base.as_ref())(start..end, kind, value);
        }
        self.replaced(text, spans)
    }

    /// Returns the text with labels for its spans, or `None` if it stays the
    /// same.
    fn replaced(&mut self, text: &str, spans: Spans) -> Option<String> {
        if spans.is_empty() {
            return None;
        }
        let (mut redacted, mut from) = (String::with_capacity(text.len()), 0);
        for (start, span) in spans.into_sorted() {
            redacted.push_str(text.get(from..start)?);
            redacted.push_str(&self.label(span.kind, &span.value));
            from = span.end;
            for part in span.rest {
                // Keep the colours inside of a value, so that they end.
                let between = text.get(from..part.start).unwrap_or_default();
                if between.starts_with("\u{1b}[") {
                    redacted.push_str(between);
                }
                from = part.end;
            }
        }
        redacted.push_str(text.get(from..)?);
        (redacted != text).then_some(redacted)
    }

    /// Redacts a JSON string; the name of its field can mark it as a secret.
    fn field(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        if let Some(key) = key.filter(|key| is_header(key)) {
            // Redact it like a printed header, so that it gets the same label.
            let head = format!("{key}: ");
            let header = self.text(&format!("{head}{text}"))?;
            return Some(header.strip_prefix(&head).unwrap_or(&header).to_owned());
        }
        let kind = key.and_then(|key| assigned::quoted_kind(key, text));
        match kind {
            // Prefer the kind of a known format to that of the field's name.
            Some(kind) if !has_known_shape(text) => Some(self.label(kind, text)),
            _ => self.text(text),
        }
    }

    /// Returns the label of a value, assigning one if needed.
    fn label(&mut self, kind: &'static str, secret: &str) -> String {
        if kind == OWN_HOME {
            return self.own_home();
        }
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
        self.learned.add(kind, &key.1);
        self.labels.insert(key, (kind, number));
        match (is_home, secret) {
            (true, people::ROOT) => format!("/home/user{number}"),
            (true, _) => format!("user{number}"),
            _ => format!("[{kind} {number}]"),
        }
    }

    /// Counts the user's own home once, in addition to those that shapes find.
    fn own_home(&mut self) -> String {
        let count = self.report.counts.entry(people::HOME).or_default();
        if !std::mem::replace(&mut self.has_home, true) {
            count.different += 1;
        }
        count.places += 1;
        "~".to_owned()
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

/// Takes the range, the kind and the value of a secret.
type Add<'a> = &'a mut dyn FnMut(Range<usize>, &'static str, &str);

/// Returns a function that adds the finds in a view to `spans`.
fn add_to<'a>(
    spans: &'a mut Spans,
    view: Option<&'a View>,
) -> impl FnMut(Range<usize>, &'static str, &str) + use<'a> {
    move |range, kind, value| {
        let ranges = view.map_or_else(|| vec![range.clone()], |view| view.original(&range));
        spans.add(ranges, kind, value);
    }
}

/// Finds secrets and personal data in a normalised text.
fn scan(text: &str, add: Add<'_>) {
    for (number, (pattern, shape)) in PATTERNS.iter().enumerate() {
        if number == shapes::assigned_at() {
            let mut found = |range: Range<usize>, kind| {
                let value = text.get(range.clone()).unwrap_or_default();
                add(range, kind, value);
            };
            assigned::each(text, &mut found);
            columns::each(text, &mut found);
        }
        if number == shapes::words_at() {
            scan_words(text, add);
        }
        let is_possible =
            |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if !shape.needs.is_empty() && !shape.needs.iter().any(|word| is_possible(word)) {
            continue;
        }
        for found in pattern.captures_iter(text) {
            if let Some(secret) = found.name("s").filter(|_| (shape.check)(&found)) {
                let kind = shape.kind.unwrap_or_else(|| {
                    let name = found.name("name").map_or("", |name| name.as_str());
                    names::kind_of_name(name).unwrap_or("secret")
                });
                add(secret.range(), kind, secret.as_str());
            }
        }
    }
}

/// Finds random words, and base64 words whose text contains a secret.
fn scan_words(text: &str, add: Add<'_>) {
    let Some(pattern) = &*LONG_WORD else {
        return;
    };
    // The end of the last line that is base64 as a whole, as in certificates.
    let mut row_end = None;
    for word in pattern.find_iter(text) {
        let before = line_before(text, word.start());
        // `data:image/svg+xml;base64,…`
        if before.ends_with("base64,") {
            continue;
        }
        if let Some(kind) = kind_of_encoded(word.as_str()) {
            add(word.range(), kind, word.as_str());
            continue;
        }
        let after = text.get(word.end()..).unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        let is_next = row_end.and_then(|end| text.get(end..word.start()));
        let is_next = is_next.is_some_and(|between| between.trim_end().len() < 8);
        if guess::is_row(before, after) && (word.len() >= 60 || is_next) {
            row_end = Some(word.end());
            continue;
        }
        if guess::is_random_word(before, word.as_str(), after) {
            add(word.range(), "secret", word.as_str());
        }
    }
}

/// Returns the end of a line, up to an offset.
fn line_before(text: &str, at: usize) -> &str {
    let start = at.saturating_sub(64);
    let start = (start..=at).find(|at| text.is_char_boundary(*at));
    let before = text.get(start.unwrap_or(at)..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// Returns the kind of a secret in a base64 word.
fn kind_of_encoded(word: &str) -> Option<&'static str> {
    // Most words are not text; their start shows it.
    word.get(..16).and_then(guess::decoded)?;
    let inner = guess::decoded(word).filter(|_| word.len() <= LONGEST_ENCODED)?;
    let mut kind = None;
    scan(&inner, &mut |_, found, _| {
        let is_person = found == people::HOME || found == "email";
        kind = kind.or((!is_person).then_some(found));
    });
    kind
}

fn has_known_shape(text: &str) -> bool {
    let mut known = PATTERNS.iter().take(vendors::SHAPES.len());
    known.any(|(pattern, _)| pattern.is_match(text))
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

#[cfg(test)]
mod tests;
