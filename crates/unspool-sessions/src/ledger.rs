//! What a session used and did, entry by entry, each with a key: two entries
//! with the same key are the same thing, written down twice.
//!
//! Nothing may be counted twice, and agents write things down again:
//!
//! | who | what is repeated | key |
//! |---|---|---|
//! | Claude Code | a forked or branched session copies messages with their times; what its sub-agents did lies beside its origin alone, and is read from there | time and figures |
//! | Codex | a fork copies the counts of its origin, with new times | the counts so far, within the family of the fork |
//! | Codex sub-agents | may begin with a copy of their caller's counts | the same |
//! | OpenCode, Qwen Code | a fork copies messages with their times | time and figures |
//! | anybody | totals that replace each other | only what a total adds to the one before, of the same run |
//! | live streams | have no times | session and position; `tally` takes them from one record of a session alone |
//!
//! A total that comes after amounts (Claude's `cost-state`) covers the newest
//! amounts that add up to its tokens: its cost is laid on them, and what it has
//! beyond them is an entry of its own.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unspool::Event;
use unspool::event::{Body, Level, Session, ToolStatus, Usage};
use unspool::source::Forks;
use unspool::stats::Run;

use crate::agents::Agents;

/// Entries that are kept apart; further ones are added up by day.
const MOST: usize = 100_000;
/// Names that are told apart; those that come later share the last one.
const NAMES: usize = 1000;
const DAY: i64 = 86_400_000;

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    #[serde(rename = "i", default)]
    pub input: u64,
    #[serde(rename = "o", default)]
    pub output: u64,
    #[serde(rename = "c", default)]
    pub cached: u64,
    #[serde(rename = "r", default)]
    pub reasoning: u64,
    /// In US dollars; `None` where nobody says.
    #[serde(rename = "$", default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Figures {
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            cached: usage.cached_tokens.unwrap_or_default(),
            reasoning: usage.reasoning_tokens.unwrap_or_default(),
            cost: usage
                .cost_usd
                .filter(|cost| cost.is_finite() && *cost >= 0.0),
        }
    }

    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }

    /// What these have beyond others.
    fn beyond(&self, other: &Self) -> Self {
        let cost = self.cost.map(|cost| cost - other.cost.unwrap_or_default());
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
            cost: cost.filter(|cost| *cost > 0.0),
        }
    }

    fn is_nothing(&self) -> bool {
        self.tokens() == 0 && self.cost.is_none()
    }

    /// What a message costs, measured by others: tokens that are written are
    /// dear, those from a cache cheap.
    #[expect(clippy::cast_precision_loss, reason = "a share, not a count")]
    fn weight(&self) -> f64 {
        let fresh = self.input.saturating_sub(self.cached);
        self.output as f64 * 5.0 + fresh as f64 + self.cached as f64 * 0.1 + 1e-9
    }

    fn hashed(&self, key: Key) -> Key {
        let counts = [self.input, self.output, self.cached, self.reasoning];
        let cost = self.cost.unwrap_or_default().to_bits();
        let key = counts.iter().fold(key, |key, count| key.number(*count));
        key.number(cost)
    }
}

/// One thing that was used or done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(rename = "k")]
    pub(crate) key: u64,
    /// When, in milliseconds; `None` where nobody says.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<i64>,
    #[serde(rename = "w")]
    pub(crate) what: What,
    /// The key is made of its place alone: another record of the same session may
    /// hold the same under another key.
    #[serde(rename = "p", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_place: bool,
}

/// What an entry is about. Names are positions in the ledger's lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum What {
    #[serde(rename = "u")]
    Usage { model: usize, figures: Figures },
    #[serde(rename = "c")]
    Calls {
        model: usize,
        tool: usize,
        count: u64,
        failed: u64,
        ms: u64,
    },
    #[serde(rename = "n")]
    Turns { model: usize, count: u64, ms: u64 },
    #[serde(rename = "e")]
    Errors { model: usize, count: u64 },
}

impl What {
    /// The model that used or did it.
    pub(crate) fn model(&self) -> usize {
        let (Self::Usage { model, .. }
        | Self::Calls { model, .. }
        | Self::Turns { model, .. }
        | Self::Errors { model, .. }) = self;
        *model
    }

    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::Usage { .. })
    }

    fn set_model(&mut self, to: usize) {
        let (Self::Usage { model, .. }
        | Self::Calls { model, .. }
        | Self::Turns { model, .. }
        | Self::Errors { model, .. }) = self;
        *model = to;
    }
}

/// The entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Keys mean something only among the sessions of one origin.
    pub(crate) within_family: bool,
    pub(crate) models: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

impl Ledger {
    /// How many times usage was told in a way that tells when.
    pub(crate) fn timed_usage(&self) -> u64 {
        let is_timed = |entry: &&Entry| !entry.by_place && entry.what.is_usage();
        self.entries.iter().filter(is_timed).count() as u64
    }

    /// Tokens and cost of the session.
    pub(crate) fn figures(&self) -> Figures {
        let mut sum = Figures::default();
        for entry in &self.entries {
            if let What::Usage { figures, .. } = &entry.what {
                sum.add(figures);
            }
        }
        sum
    }
}

/// Writes a ledger as the events of a session pass.
#[derive(Default)]
pub(crate) struct Clerk {
    agents: Agents,
    ledger: Ledger,
    session: String,
    is_fork: bool,
    /// The model of each agent, by its id; the root's is empty.
    models: BTreeMap<String, usize>,
    totals: BTreeMap<String, Total>,
    /// Several runs may follow each other in one file.
    run: Run,
    /// What the chains of totals begin with: the first run may be copied by a
    /// fork, the others are known by their session.
    seed: u64,
    /// Amounts that no total has covered yet, as positions of entries.
    uncovered: Vec<usize>,
    keys: HashSet<u64>,
    /// Calls without a result: entry and beginning.
    calls: HashMap<String, (usize, Option<i64>)>,
    /// The newest key: what has no name of its own is known by it.
    anchor: u64,
    since_anchor: u64,
    turn_began: Option<i64>,
    now: Option<i64>,
    /// Entries that further ones are added to.
    sums: HashMap<(u8, usize, usize, i64), usize>,
}

/// The totals that one agent told so far.
#[derive(Default)]
struct Total {
    figures: Figures,
    /// The key of all totals up to here.
    chain: u64,
    /// Told something that its caller had not told before.
    is_own: bool,
}

impl Clerk {
    /// A ledger for the session in this place, which stands for its id if it has
    /// none.
    pub(crate) fn new(place: &str, agents: Agents) -> Self {
        Self {
            agents,
            session: place.to_owned(),
            ..Self::default()
        }
    }

    /// Takes the event into the ledger.
    pub(crate) fn event(&mut self, event: &Event) {
        let time = event.time.as_deref();
        let time = time.and_then(|time| time.parse::<Timestamp>().ok());
        let time = time.map(Timestamp::as_millisecond);
        self.now = time.or(self.now);
        let agent = event.agent.as_ref().map_or("", |agent| agent.id.as_str());
        match &event.body {
            Body::Session(session) => {
                if agent.is_empty() {
                    if self.run.record(session) {
                        self.next_run(session);
                    }
                    if !session.id.is_empty() {
                        self.session.clone_from(&session.id);
                    }
                    self.is_fork = !session.forked_from.is_empty();
                    self.ledger.within_family =
                        self.agents.forks(&session.provider) == Forks::KeepCounts;
                }
                if !session.model.is_empty() {
                    let model = position(&mut self.ledger.models, &session.model);
                    self.models.insert(agent.to_owned(), model);
                }
            }
            Body::User(_) if agent.is_empty() => {
                self.turn_began = self.turn_began.or(time);
            }
            Body::Usage(usage) if usage.cumulative => self.total(usage, agent, time),
            Body::Usage(usage) => self.amount(&Figures::of(usage), agent, time),
            Body::ToolUse(call) => self.call(&call.id, &call.name, agent, time),
            Body::ToolResult(result) => {
                let failed = result.status == ToolStatus::Error;
                self.result(&result.id, failed, result.duration_ms);
            }
            Body::Notice(notice) if notice.level == Level::Error => {
                let key = match time.filter(|_| !self.ledger.within_family) {
                    Some(_) => self.named("error", time).text(&notice.text.as_str()),
                    None => self.unnamed("error", time),
                };
                let model = self.model(agent);
                self.put(key, time, What::Errors { model, count: 1 });
            }
            Body::TurnEnd(end) if agent.is_empty() => {
                let began = self.turn_began.take();
                let span = self.now.zip(began);
                let span = span.map(|(now, began)| now.saturating_sub(began));
                let span = span.and_then(|span| u64::try_from(span).ok());
                let ms = end.duration_ms.or(span).unwrap_or_default();
                let key = match time.zip(began).filter(|_| !self.ledger.within_family) {
                    Some((_, began)) => self.named("turn", time).number(began.cast_unsigned()),
                    None => self.unnamed("turn", time),
                };
                let model = self.model(agent);
                let count = 1;
                self.put(key, time, What::Turns { model, count, ms });
            }
            _ => {}
        }
    }

    /// The ledger of all that passed. What came before a model was named is the
    /// first one's.
    pub(crate) fn finish(mut self) -> Ledger {
        let first = self.ledger.models.iter().position(|name| !name.is_empty());
        let unnamed = self.ledger.models.iter().position(String::is_empty);
        if let (Some(first), Some(unnamed)) = (first, unnamed) {
            for entry in &mut self.ledger.entries {
                if entry.what.model() == unnamed {
                    entry.what.set_model(first);
                }
            }
        }
        self.ledger
    }

    /// Another run begins: it counts from the beginning.
    fn next_run(&mut self, session: &Session) {
        self.totals.clear();
        self.uncovered.clear();
        self.models.clear();
        self.seed = Key::new("run").text(&session.id).number(self.seed).0;
    }

    fn model(&mut self, agent: &str) -> usize {
        let known = self.models.get(agent).or_else(|| self.models.get(""));
        match known {
            Some(model) => *model,
            None => position(&mut self.ledger.models, ""),
        }
    }

    fn amount(&mut self, figures: &Figures, agent: &str, time: Option<i64>) {
        if figures.is_nothing() {
            return;
        }
        let key = figures.hashed(self.named("usage", time));
        let what = What::Usage {
            model: self.model(agent),
            figures: *figures,
        };
        if let Some(at) = self.put(key, time, what) {
            self.uncovered.push(at);
        }
    }

    fn total(&mut self, usage: &Usage, agent: &str, time: Option<i64>) {
        let new = Figures::of(usage);
        let before = self.totals.get(agent).map(|total| total.figures);
        let is_first = before.is_none();
        let mut before = before.unwrap_or_default();
        if (1..before.tokens()).contains(&new.tokens()) {
            // A new process counts from the beginning.
            before = Figures::default();
        }
        let mut added = new.beyond(&before);
        if is_first && self.is_fork {
            added = request_alone(added, usage.context_used);
        }
        let seed = self.seed;
        let total = self.totals.entry(agent.to_owned());
        let total = total.or_insert_with(|| Total {
            chain: seed,
            ..Total::default()
        });
        total.figures = Figures {
            cost: new.cost.or(total.figures.cost),
            ..if new.tokens() == 0 {
                total.figures
            } else {
                new
            }
        };
        total.chain = new.hashed(Key(total.chain)).0;
        if !self.uncovered.is_empty() {
            return self.cover(added, agent, time);
        }
        if added.is_nothing() {
            return;
        }
        let key = self.key_of_total(agent, &new, time);
        let Some(key) = key else { return };
        let model = self.model(agent);
        self.put(
            key,
            time,
            What::Usage {
                model,
                figures: added,
            },
        );
    }

    /// What a total is known by; `None` if the caller told it before.
    fn key_of_total(&mut self, agent: &str, new: &Figures, time: Option<i64>) -> Option<Key> {
        if !self.ledger.within_family {
            return Some(new.hashed(self.named("total", time)));
        }
        let total = self.totals.get_mut(agent)?;
        let shared = Key::new("total").number(total.chain);
        if agent.is_empty() {
            return Some(shared);
        }
        if !total.is_own && self.keys.contains(&shared.0) {
            return None;
        }
        total.is_own = true;
        Some(shared.text(agent))
    }

    /// Lays the cost of a total on the amounts that it covers.
    fn cover(&mut self, total: Figures, agent: &str, time: Option<i64>) {
        let mut covered = Vec::new();
        let mut sum = Figures::default();
        for at in std::mem::take(&mut self.uncovered).into_iter().rev() {
            if total.tokens() > 0 && sum.tokens() >= total.tokens() {
                break;
            }
            if let Some(figures) = self.figures_at(at) {
                sum.add(figures);
                covered.push((at, figures.weight()));
            }
        }
        let mut rest = Figures {
            cost: None,
            ..total.beyond(&sum)
        };
        if let Some(cost) = total.cost.filter(|_| sum.cost.is_none()) {
            let whole: f64 = covered.iter().map(|(_, weight)| weight).sum::<f64>() + rest.weight();
            rest.cost = (rest.tokens() > 0).then(|| cost * rest.weight() / whole);
            let laid = cost - rest.cost.unwrap_or_default();
            let weights: f64 = covered.iter().map(|(_, weight)| weight).sum();
            for (at, weight) in &covered {
                if let Some(figures) = self.figures_at(*at) {
                    figures.cost = Some(laid * weight / weights);
                }
            }
        }
        if rest.tokens() == 0 {
            return;
        }
        let newest = covered
            .first()
            .and_then(|(at, _)| self.ledger.entries.get(*at));
        let key = rest.hashed(Key::new("rest").number(newest.map_or(0, |entry| entry.key)));
        let model = self.model(agent);
        let what = What::Usage {
            model,
            figures: rest,
        };
        // Of what no message tells, another record may have the messages.
        self.put(key, time, what);
    }

    fn figures_at(&mut self, at: usize) -> Option<&mut Figures> {
        match &mut self.ledger.entries.get_mut(at)?.what {
            What::Usage { figures, .. } => Some(figures),
            _ => None,
        }
    }

    fn call(&mut self, id: &str, name: &str, agent: &str, time: Option<i64>) {
        // A call may be told again, with more of its input.
        if !id.is_empty() && self.calls.contains_key(id) {
            return;
        }
        let key = if self.ledger.within_family {
            Key::new("call")
        } else {
            self.named("call", time)
        };
        let key = match id {
            "" => self.unnamed("call", time),
            id => key.text(id).text(name),
        };
        let what = What::Calls {
            model: self.model(agent),
            tool: position(&mut self.ledger.tools, name),
            count: 1,
            failed: 0,
            ms: 0,
        };
        if let Some(at) = self.put(key, time, what)
            && !id.is_empty()
        {
            self.calls.insert(id.to_owned(), (at, time));
        }
    }

    fn result(&mut self, id: &str, has_failed: bool, took: Option<u64>) {
        let Some((at, began)) = self.calls.remove(id) else {
            return;
        };
        let span = self.now.zip(began);
        let span = span.and_then(|(now, began)| u64::try_from(now - began).ok());
        let entry = self.ledger.entries.get_mut(at);
        if let Some(What::Calls { failed, ms, .. }) = entry.map(|entry| &mut entry.what) {
            *failed += u64::from(has_failed);
            *ms = ms.saturating_add(took.or(span).unwrap_or_default());
        }
    }

    /// The beginning of a key of something that tells what it is.
    fn named(&mut self, kind: &str, time: Option<i64>) -> Key {
        let key = Key::new(kind);
        if let Some(time) = time {
            return key.number(time.cast_unsigned());
        }
        self.since_anchor += 1;
        let place = self.ledger.entries.len() as u64 + self.since_anchor;
        key.text(&self.session).number(place)
    }

    /// The key of something that is known by what came before it alone.
    fn unnamed(&mut self, kind: &str, time: Option<i64>) -> Key {
        self.since_anchor += 1;
        let key = Key::new(kind).number(self.anchor).number(self.since_anchor);
        if self.ledger.within_family {
            return key;
        }
        match time.or(self.now) {
            Some(time) => key.number(time.cast_unsigned()),
            None => key.text(&self.session),
        }
    }

    /// Writes an entry down, unless it was written before. Gives its position
    /// if it stands there for itself.
    fn put(&mut self, key: Key, time: Option<i64>, what: What) -> Option<usize> {
        let by_place = time.is_none();
        let time = time.or(self.now);
        if self.ledger.entries.len() >= MOST {
            self.sum_up(time, what);
            return None;
        }
        if !self.keys.insert(key.0) {
            return None;
        }
        (self.anchor, self.since_anchor) = (key.0, 0);
        self.ledger.entries.push(Entry {
            key: key.0,
            time,
            what,
            by_place,
        });
        Some(self.ledger.entries.len() - 1)
    }

    /// Adds to the entry of the day.
    fn sum_up(&mut self, time: Option<i64>, what: What) {
        let day = time.unwrap_or_default().div_euclid(DAY);
        let kind = match &what {
            What::Usage { model, .. } => (0, *model, 0, day),
            What::Calls { model, tool, .. } => (1, *model, *tool, day),
            What::Turns { model, .. } => (2, *model, 0, day),
            What::Errors { model, .. } => (3, *model, 0, day),
        };
        let at = self.sums.get(&kind).copied();
        let sum = at.and_then(|at| self.ledger.entries.get_mut(at));
        match (sum.map(|entry| &mut entry.what), what) {
            (Some(What::Usage { figures, .. }), What::Usage { figures: more, .. }) => {
                figures.add(&more);
            }
            (Some(What::Calls { count, .. }), What::Calls { .. })
            | (Some(What::Turns { count, .. }), What::Turns { .. })
            | (Some(What::Errors { count, .. }), What::Errors { .. }) => *count += 1,
            (_, what) => {
                let key = Key::new("sum")
                    .text(&self.session)
                    .number(day.cast_unsigned());
                let key = key.number(self.sums.len() as u64).0;
                self.sums.insert(kind, self.ledger.entries.len());
                self.ledger.entries.push(Entry {
                    key,
                    time,
                    what,
                    by_place: true,
                });
            }
        }
    }
}

/// The first total of a fork that did not copy the totals before it: what the
/// last request took, in the proportions of the whole.
fn request_alone(total: Figures, request: Option<u64>) -> Figures {
    let Some(request) = request.filter(|request| *request < total.tokens()) else {
        return total;
    };
    let share = |count: u64| {
        let part = u128::from(count) * u128::from(request) / u128::from(total.tokens().max(1));
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    Figures {
        input: share(total.input),
        output: share(total.output),
        cached: share(total.cached),
        reasoning: share(total.reasoning),
        cost: None,
    }
}

fn position(names: &mut Vec<String>, name: &str) -> usize {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        if names.len() < NAMES {
            names.push(name.to_owned());
        }
        names.len() - 1
    })
}

/// A hash that stays the same from run to run (FNV-1a).
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    pub(crate) fn new(kind: &str) -> Self {
        Self(0xcbf2_9ce4_8422_2325).text(kind)
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).bytes(&[0xff])
    }

    pub(crate) fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }
}
