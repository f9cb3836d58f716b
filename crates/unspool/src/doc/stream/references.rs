//! Resolves link references in a growing message.
//!
//! A reference of the form `[text][label]` or `[label][]` waits for its
//! definition, and everything after it waits too, for at most [`PATIENCE`]
//! bytes. The form `[label]` is a link only if the definition came before; a
//! definition that came too late is shown as text, so that its address is not
//! lost. The first definition of a label wins.
//!
//! The result depends only on the message, never on the pieces in which it
//! arrived.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};

use super::part::{Part, Place};
use crate::doc::markdown::{self, Code, Definition, LONGEST_ADDRESS, Reference, normalized};
use crate::doc::{Block, Line, Role, Span, Style, append};
use crate::sanitize;

/// Maximum bytes of the message that may wait.
const PATIENCE: usize = 256 * 1024;

/// Maximum number of labels remembered.
const MOST: usize = 1 << 16;

/// Limit on the total bytes of addresses that references expand to, per byte of
/// the message and as a fixed allowance: a short label may have a long address.
/// References beyond the limit stay text.
const EXPANSION_FACTOR: usize = 8;
const EXPANSION_ALLOWANCE: usize = 100_000;

/// The source text of a unit.
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// Its offset in the message.
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

/// A unit that waits for a definition, or for a unit before it.
struct Waiting {
    parts: Vec<Part>,
    at: usize,
    /// The source to parse again after a definition has arrived.
    source: Option<Source<'static>>,
    /// Number of undefined labels.
    missing: usize,
    changed: bool,
}

#[derive(Default)]
pub(super) struct References {
    /// Parts that can be returned.
    pub(super) finished: Vec<Part>,
    /// Offset and address of each defined label.
    defined: HashMap<String, (usize, String)>,
    /// Labels used as `[label]` before any definition.
    unlinked: HashSet<String>,
    waiting: VecDeque<Waiting>,
    /// Number of units that no longer wait.
    released: usize,
    /// Units that wait for a label, by their index among all that ever waited.
    waiting_for: HashMap<String, Vec<usize>>,
    /// Total bytes of addresses that references expanded to.
    expanded: usize,
    pub(super) parsed_bytes: usize,
}

impl References {
    pub(super) fn has_definitions(&self) -> bool {
        !self.defined.is_empty()
    }

    /// Returns the address of a label for a link at this offset of the message.
    pub(super) fn resolve(&self, label: &str, shortcut: bool, at: usize) -> Option<String> {
        let (defined_at, address) = self.defined.get(label)?;
        (!shortcut || *defined_at < at).then(|| address.clone())
    }

    /// Queues a part without references.
    pub(super) fn queue_part(&mut self, part: Part, at: usize) {
        self.queue(vec![part], at, None, Vec::new());
    }

    /// Queues a unit that was parsed together with others.
    pub(super) fn queue_parsed(
        &mut self,
        source: Source<'_>,
        parts: Vec<Part>,
        references: Vec<Reference>,
    ) {
        let missing = self.missing(references);
        self.queue(parts, source.at, Some(source), missing);
    }

    /// Parses a unit alone and queues it.
    pub(super) fn queue_source(&mut self, source: Source<'_>, code: Code<'_>) {
        let (parts, references) = self.rendered(&source, code);
        let missing = self.missing(references);
        self.queue(parts, source.at, Some(source), missing);
    }

    /// Records definitions between units. Shows those that came too late;
    /// adjacent lines become one paragraph.
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
            self.queue_part(Part::new(Block::Paragraph(std::mem::take(line))), at);
        }
    }

    /// Records a definition; returns true if it came too late for a link.
    pub(super) fn define(&mut self, definition: &Definition, base: usize) -> bool {
        let label = normalized(&definition.label);
        let at = base + definition.range.start;
        if self.defined.len() >= MOST || self.defined.contains_key(&label) {
            return false;
        }
        self.release(at);
        for index in self.waiting_for.remove(&label).unwrap_or_default() {
            let index = index.checked_sub(self.released);
            if let Some(waiting) = index.and_then(|index| self.waiting.get_mut(index)) {
                waiting.missing -= 1;
                waiting.changed = true;
            }
        }
        let late = self.unlinked.contains(&label);
        let address = markdown::cut_address(&definition.address).into_owned();
        self.defined.insert(label, (at, address));
        self.release(at);
        late
    }

    /// Releases everything at the end of the message.
    pub(super) fn release_all(&mut self) {
        while self.release_first() {}
        self.waiting_for.clear();
    }

    /// Returns the waiting parts of about the last `window` bytes.
    pub(super) fn last(&self, window: usize) -> Vec<Part> {
        let Some(end) = self.waiting.back().map(|waiting| waiting.at) else {
            return Vec::new();
        };
        let far = |waiting: &Waiting| waiting.at + window < end;
        let first = self.waiting.partition_point(far);
        let parts = self.waiting.iter().skip(first);
        parts.flat_map(|waiting| waiting.parts.clone()).collect()
    }

    /// Returns the labels to wait for, and remembers those used as `[label]`.
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

    fn queue(
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
            self.waiting_for.entry(label).or_default().push(index);
        }
    }

    /// Releases units from the front that are complete or have waited long
    /// enough at this offset.
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
        let most = EXPANSION_ALLOWANCE + EXPANSION_FACTOR * (source.at + source.text.len());
        let expanded = Cell::new(self.expanded);
        let parsed = markdown::parse(&source.text, code, |label, shortcut| {
            let address = self.resolve(label, shortcut, source.at)?;
            let sum = expanded.get() + address.len();
            (sum <= most).then(|| {
                expanded.set(sum);
                address
            })
        });
        self.expanded = expanded.get();
        let mut parts = Vec::new();
        let mut references = Vec::new();
        for unit in parsed.units {
            parts.extend(source.place.parts(unit.content));
            references.extend(unit.references);
        }
        (parts, references)
    }

    /// Adds parts to the finished ones, merging continued list items.
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

/// Appends a definition as a line of text.
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
