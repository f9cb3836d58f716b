//! References and what waits for them.
//!
//! A reference of the form `[text][label]` or `[label][]` waits for its
//! definition, and all that follows waits behind it, for at most [`PATIENCE`]
//! bytes. One of the form `[label]` is a link only if the definition came
//! before; a definition that came too late for one is shown where it stands, so
//! that its address is not lost. The first definition of a label counts.
//!
//! Everything here happens in the order of the message and depends on nothing
//! but the message, so that the pieces in which it came make no difference.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};

use super::part::{Part, Place};
use crate::doc::markdown::{self, Code, Definition, LONGEST_ADDRESS, Reference, comparable};
use crate::doc::{Block, Line, Role, Span, Style, append};
use crate::sanitize;

/// How many bytes of the message may wait.
const PATIENCE: usize = 256 * 1024;

/// How many labels are remembered.
const MOST: usize = 1 << 16;

/// How many bytes of addresses references may stand for in all, for each byte of
/// the message so far, and at the start: a short label may have a long address.
/// A reference beyond that stays as it is written.
const UNFOLDED: usize = 8;
const UNFOLDED_AT_START: usize = 100_000;

/// The text of a unit.
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where it stands in the message.
    pub(super) at: usize,
    pub(super) place: Place,
}

impl Source<'_> {
    fn kept(self) -> Source<'static> {
        Source {
            text: Cow::Owned(self.text.into_owned()),
            ..self
        }
    }
}

/// What is ready but for what stands before it, or for a definition.
struct Waiting {
    parts: Vec<Part>,
    at: usize,
    /// What to parse again when a definition has come.
    source: Option<Source<'static>>,
    /// How many labels are not defined.
    missing: usize,
    changed: bool,
}

#[derive(Default)]
pub(super) struct References {
    /// What can be handed out.
    pub(super) finished: Vec<Part>,
    /// Where a label was defined, and its address.
    defined: HashMap<String, (usize, String)>,
    /// Labels of the form `[label]` that came before any definition.
    unlinked: HashSet<String>,
    waiting: VecDeque<Waiting>,
    /// How many have waited and do no longer.
    released: usize,
    /// Who waits for a label, counted from the first that ever waited.
    wanted: HashMap<String, Vec<usize>>,
    /// Bytes of addresses that references stand for.
    unfolded: usize,
    pub(super) parsed_bytes: usize,
}

impl References {
    pub(super) fn has_definitions(&self) -> bool {
        !self.defined.is_empty()
    }

    /// The address of a label for a link at this place of the message.
    pub(super) fn resolve(&self, label: &str, shortcut: bool, at: usize) -> Option<String> {
        let (defined_at, address) = self.defined.get(label)?;
        (!shortcut || *defined_at < at).then(|| address.clone())
    }

    /// Hands out a part that refers to nothing.
    pub(super) fn hand(&mut self, part: Part, at: usize) {
        self.put(vec![part], at, None, Vec::new());
    }

    /// Hands out a unit that was parsed with others.
    pub(super) fn hand_parsed(
        &mut self,
        source: Source<'_>,
        parts: Vec<Part>,
        references: Vec<Reference>,
    ) {
        let missing = self.missing(references);
        self.put(parts, source.at, Some(source), missing);
    }

    /// Parses a unit by itself and hands it out.
    pub(super) fn hand_source(&mut self, source: Source<'_>, code: Code<'_>) {
        let (parts, references) = self.rendered(&source, code);
        let missing = self.missing(references);
        self.put(parts, source.at, Some(source), missing);
    }

    /// Takes up definitions that stand between units, and shows those that came
    /// too late, lines that follow each other as one paragraph.
    pub(super) fn define_shown(&mut self, definitions: Vec<Definition>, text: &str, base: usize) {
        let mut shown = Line::new();
        let mut last = None;
        for definition in definitions {
            let range = definition.range.clone();
            let between = last.and_then(|end| text.get(end..range.start));
            let adjacent = between.is_some_and(|text| text.matches('\n').count() == 1);
            if !adjacent {
                self.show(&mut shown, base + range.start);
            }
            last = Some(range.end);
            if self.define(&definition, base) {
                add_line(&mut shown, &definition);
            }
        }
        self.show(&mut shown, base + last.unwrap_or(0));
    }

    fn show(&mut self, line: &mut Line, at: usize) {
        if !line.is_empty() {
            self.hand(Part::new(Block::Paragraph(std::mem::take(line))), at);
        }
    }

    /// Takes up a definition. Says whether it came too late for a link.
    pub(super) fn define(&mut self, definition: &Definition, base: usize) -> bool {
        let label = comparable(&definition.label);
        let at = base + definition.range.start;
        if self.defined.len() >= MOST || self.defined.contains_key(&label) {
            return false;
        }
        self.release(at);
        for index in self.wanted.remove(&label).unwrap_or_default() {
            let index = index.checked_sub(self.released);
            if let Some(waiting) = index.and_then(|index| self.waiting.get_mut(index)) {
                waiting.missing -= 1;
                waiting.changed = true;
            }
        }
        let late = self.unlinked.contains(&label);
        let address = markdown::shortened(&definition.address).into_owned();
        self.defined.insert(label, (at, address));
        self.release(at);
        late
    }

    /// Nothing more will come.
    pub(super) fn release_all(&mut self) {
        while self.release_first() {}
        self.wanted.clear();
    }

    /// What waits, about the last `window` bytes.
    pub(super) fn last(&self, window: usize) -> Vec<Part> {
        let Some(end) = self.waiting.back().map(|waiting| waiting.at) else {
            return Vec::new();
        };
        let far = |waiting: &Waiting| waiting.at + window < end;
        let first = self.waiting.partition_point(far);
        let parts = self.waiting.iter().skip(first);
        parts.flat_map(|waiting| waiting.parts.clone()).collect()
    }

    /// The labels to wait for. Remembers those that are not waited for.
    fn missing(&mut self, references: Vec<Reference>) -> Vec<String> {
        let mut missing = Vec::new();
        for reference in references {
            if self.defined.contains_key(&reference.label) {
                continue;
            }
            if !reference.shortcut {
                missing.push(reference.label);
            } else if self.unlinked.len() < MOST {
                self.unlinked.insert(reference.label);
            }
        }
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    fn put(
        &mut self,
        parts: Vec<Part>,
        at: usize,
        source: Option<Source<'_>>,
        missing: Vec<String>,
    ) {
        self.release(at);
        if missing.is_empty() && self.waiting.is_empty() {
            self.finish(parts);
            return;
        }
        let index = self.released + self.waiting.len();
        self.waiting.push_back(Waiting {
            parts,
            at,
            source: source.filter(|_| !missing.is_empty()).map(Source::kept),
            missing: missing.len(),
            changed: false,
        });
        for label in missing {
            self.wanted.entry(label).or_default().push(index);
        }
    }

    /// Lets those go, in order, that have all they want or have waited long
    /// enough at this place of the message.
    fn release(&mut self, at: usize) {
        while let Some(first) = self.waiting.front() {
            if first.missing > 0 && at.saturating_sub(first.at) <= PATIENCE {
                break;
            }
            self.release_first();
        }
    }

    fn release_first(&mut self) -> bool {
        let Some(first) = self.waiting.pop_front() else {
            return false;
        };
        self.released += 1;
        let parts = match first.source.filter(|_| first.changed) {
            Some(source) => self.rendered(&source, Code::Once).0,
            None => first.parts,
        };
        self.finish(parts);
        true
    }

    fn rendered(&mut self, source: &Source<'_>, code: Code<'_>) -> (Vec<Part>, Vec<Reference>) {
        self.parsed_bytes += source.text.len();
        let most = UNFOLDED_AT_START + UNFOLDED * (source.at + source.text.len());
        let unfolded = Cell::new(self.unfolded);
        let parsed = markdown::parse(&source.text, code, |label, shortcut| {
            let address = self.resolve(label, shortcut, source.at)?;
            let sum = unfolded.get() + address.len();
            (sum <= most).then(|| {
                unfolded.set(sum);
                address
            })
        });
        self.unfolded = unfolded.get();
        let mut parts = Vec::new();
        let mut references = Vec::new();
        for unit in parsed.units {
            parts.extend(source.place.parts(unit.content));
            references.extend(unit.references);
        }
        (parts, references)
    }

    /// Hands parts out, the next items of a list with those before them.
    fn finish(&mut self, parts: Vec<Part>) {
        for part in parts {
            match (self.finished.last_mut().map(|last| &mut last.block), part) {
                (
                    Some(Block::List { items, .. }),
                    Part {
                        continued: true,
                        block: Block::List { items: more, .. },
                    },
                ) => items.extend(more),
                (_, part) => self.finished.push(part),
            }
        }
    }
}

/// A definition as a line of its own.
fn add_line(line: &mut Line, definition: &Definition) {
    if !line.is_empty() {
        append(line, Span::new("\n", Style::default()));
    }
    let label = format!("[{}]: ", sanitize::line(&definition.label));
    append(line, Span::role(label, Role::Accent));
    let address = sanitize::line(&definition.address).into_owned();
    let style = Style {
        underline: true,
        ..Style::default()
    };
    append(
        line,
        Span {
            link: (address.len() <= LONGEST_ADDRESS).then(|| address.clone()),
            text: address,
            style,
        },
    );
}
