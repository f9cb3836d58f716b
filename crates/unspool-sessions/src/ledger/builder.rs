//! Builds a ledger from the events of a session.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use unspool::Event;
use unspool::event::{Body, Level, Session, ToolStatus, Usage};
use unspool::source::Forks;
use unspool::stats::Run;

use super::{Activity, Entry, Figures, Key, Ledger};
use crate::agents::Agents;

/// Maximum number of separate entries. Further ones are summed up by day.
const MAX_ENTRIES: usize = 100_000;
/// Maximum number of models, and of tools. Further ones share the last name.
const MAX_NAMES: usize = 1000;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Builds a ledger from the events of a session.
#[derive(Default)]
pub(crate) struct LedgerBuilder {
    agents: Agents,
    ledger: Ledger,
    session: String,
    is_fork: bool,
    /// The model of each agent, by the agent's id; that of the root is empty.
    models: BTreeMap<String, usize>,
    totals: BTreeMap<String, Total>,
    /// The current run. One file may hold several.
    run: Run,
    /// The start of the chains of totals. It is 0 in the first run, which a fork may
    /// copy, and depends on the session in the others.
    seed: u64,
    /// Positions of the amounts that no total has covered yet.
    uncovered: Vec<usize>,
    keys: HashSet<u64>,
    /// Calls without a result: position of the entry, and time of the call.
    calls: HashMap<String, (usize, Option<i64>)>,
    /// The newest key, from which keys of entries without an identity are made.
    anchor: u64,
    since_anchor: u64,
    turn_started: Option<i64>,
    now: Option<i64>,
    /// Positions of the entries that sum up further ones, by kind, model, tool and day.
    sums: HashMap<(u8, usize, usize, i64), usize>,
}

/// The totals of one agent so far.
#[derive(Default)]
struct Total {
    figures: Figures,
    /// A hash of all totals so far.
    chain: u64,
    /// True after the first total that is not a copy of the caller's.
    is_past_copy: bool,
}

impl LedgerBuilder {
    /// Starts a ledger. `place` replaces the id of a session that has none.
    pub(crate) fn new(place: &str, agents: Agents) -> Self {
        Self {
            agents,
            session: place.to_owned(),
            ..Self::default()
        }
    }

    /// Adds the next event. The history of a loaded session was counted when it ran;
    /// only its totals matter, from which the next ones are counted.
    pub(crate) fn event(&mut self, event: &Event) {
        if event.replayed {
            if let Body::Usage(usage) = &event.body
                && usage.cumulative
            {
                let agent = event.agent.as_ref().map_or("", |agent| agent.id.as_str());
                self.loaded_total(&Figures::of(usage), agent);
            }
            return;
        }
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
                    self.ledger.is_keyed_by_origin =
                        self.agents.forks(&session.provider) == Forks::KeepCounts;
                }
                if !session.model.is_empty() {
                    let model = position(&mut self.ledger.models, &session.model);
                    self.models.insert(agent.to_owned(), model);
                }
            }
            Body::User(_) if agent.is_empty() => {
                self.turn_started = self.turn_started.or(time);
            }
            Body::Usage(usage) if usage.cumulative => self.total(usage, agent, time),
            Body::Usage(usage) => self.amount(&Figures::of(usage), agent, time),
            Body::ToolUse(call) => self.call(&call.id, &call.name, agent, time),
            Body::ToolResult(result) => {
                let failed = result.status == ToolStatus::Error;
                self.result(&result.id, failed, result.duration_ms);
            }
            Body::Notice(notice) if notice.level == Level::Error => {
                let key = match time.filter(|_| !self.ledger.is_keyed_by_origin) {
                    Some(_) => self.key_by_time("error", time).text(&notice.text.as_str()),
                    None => self.key_by_order("error", time),
                };
                let model = self.model(agent);
                self.push(key, time, Activity::Errors { model, count: 1 });
            }
            Body::TurnEnd(end) if agent.is_empty() => {
                let began = self.turn_started.take();
                let span = self.now.zip(began);
                let span = span.map(|(now, began)| now.saturating_sub(began));
                let span = span.and_then(|span| u64::try_from(span).ok());
                let ms = end.duration_ms.or(span).unwrap_or_default();
                let key = match time.zip(began).filter(|_| !self.ledger.is_keyed_by_origin) {
                    Some((_, began)) => {
                        self.key_by_time("turn", time).number(began.cast_unsigned())
                    }
                    None => self.key_by_order("turn", time),
                };
                let model = self.model(agent);
                let count = 1;
                self.push(key, time, Activity::Turns { model, count, ms });
            }
            _ => {}
        }
    }

    /// Returns the ledger. Entries before the first name of a model get that model.
    pub(crate) fn finish(mut self) -> Ledger {
        let first = self.ledger.models.iter().position(|name| !name.is_empty());
        let unnamed = self.ledger.models.iter().position(String::is_empty);
        if let (Some(first), Some(unnamed)) = (first, unnamed) {
            for entry in &mut self.ledger.entries {
                if entry.activity.model() == unnamed {
                    entry.activity.set_model(first);
                }
            }
        }
        self.ledger
    }

    /// Resets the totals for another run.
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
        if figures.is_zero() {
            return;
        }
        let key = figures.hashed(self.key_by_time("usage", time));
        let activity = Activity::Usage {
            model: self.model(agent),
            figures: *figures,
        };
        if let Some(at) = self.push(key, time, activity) {
            self.uncovered.push(at);
        }
    }

    /// Starts the totals of an agent at those of the loaded session, unless it was
    /// counted here before.
    fn loaded_total(&mut self, figures: &Figures, agent: &str) {
        let chain = self.seed;
        let total = self.totals.entry(agent.to_owned());
        let total = total.or_insert_with(|| Total {
            chain,
            ..Total::default()
        });
        if total.chain == chain {
            total.figures = *figures;
        }
    }

    fn total(&mut self, usage: &Usage, agent: &str, time: Option<i64>) {
        let new = Figures::of(usage);
        let before = self.totals.get(agent).map(|total| total.figures);
        let is_first = before.is_none();
        let mut before = before.unwrap_or_default();
        if (1..before.tokens()).contains(&new.tokens()) {
            // A new process counts from zero.
            before = Figures::default();
        }
        let mut added = new.minus(&before);
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
        if added.is_zero() {
            return;
        }
        let key = self.key_of_total(agent, &new, time);
        let Some(key) = key else { return };
        let model = self.model(agent);
        self.push(
            key,
            time,
            Activity::Usage {
                model,
                figures: added,
            },
        );
    }

    /// Returns the key of a total; `None` if it is a copy of the caller's.
    fn key_of_total(&mut self, agent: &str, new: &Figures, time: Option<i64>) -> Option<Key> {
        if !self.ledger.is_keyed_by_origin {
            return Some(new.hashed(self.key_by_time("total", time)));
        }
        let total = self.totals.get_mut(agent)?;
        let shared = Key::new("total").number(total.chain);
        if agent.is_empty() {
            return Some(shared);
        }
        if !total.is_past_copy && self.keys.contains(&shared.0) {
            return None;
        }
        total.is_past_copy = true;
        Some(shared.text(agent))
    }

    /// Distributes the cost of a total over the amounts that it covers.
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
            ..total.minus(&sum)
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
        let activity = Activity::Usage {
            model,
            figures: rest,
        };
        // Another record may have the messages of the rest.
        self.push(key, time, activity);
    }

    fn figures_at(&mut self, at: usize) -> Option<&mut Figures> {
        match &mut self.ledger.entries.get_mut(at)?.activity {
            Activity::Usage { figures, .. } => Some(figures),
            _ => None,
        }
    }

    fn call(&mut self, id: &str, name: &str, agent: &str, time: Option<i64>) {
        // A call may be repeated with more of its input.
        if !id.is_empty() && self.calls.contains_key(id) {
            return;
        }
        let key = if self.ledger.is_keyed_by_origin {
            Key::new("call")
        } else {
            self.key_by_time("call", time)
        };
        let key = match id {
            "" => self.key_by_order("call", time),
            id => key.text(id).text(name),
        };
        let activity = Activity::Calls {
            model: self.model(agent),
            tool: position(&mut self.ledger.tools, name),
            count: 1,
            failed: 0,
            ms: 0,
        };
        if let Some(at) = self.push(key, time, activity)
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
        if let Some(Activity::Calls { failed, ms, .. }) = entry.map(|entry| &mut entry.activity) {
            *failed += u64::from(has_failed);
            *ms = ms.saturating_add(took.or(span).unwrap_or_default());
        }
    }

    /// Starts the key of an entry that is identified by its time, or else its position.
    fn key_by_time(&mut self, kind: &str, time: Option<i64>) -> Key {
        let key = Key::new(kind);
        if let Some(time) = time {
            return key.number(time.cast_unsigned());
        }
        self.since_anchor += 1;
        let place = self.ledger.entries.len() as u64 + self.since_anchor;
        key.text(&self.session).number(place)
    }

    /// Returns the key of an entry that is identified by the entries before it.
    fn key_by_order(&mut self, kind: &str, time: Option<i64>) -> Key {
        self.since_anchor += 1;
        let key = Key::new(kind).number(self.anchor).number(self.since_anchor);
        if self.ledger.is_keyed_by_origin {
            return key;
        }
        match time.or(self.now) {
            Some(time) => key.number(time.cast_unsigned()),
            None => key.text(&self.session),
        }
    }

    /// Adds an entry, unless its key is known. Returns its position if it is a separate
    /// entry.
    fn push(&mut self, key: Key, time: Option<i64>, activity: Activity) -> Option<usize> {
        let is_positional = time.is_none();
        let time = time.or(self.now);
        if self.ledger.entries.len() >= MAX_ENTRIES {
            self.sum_up(time, activity);
            return None;
        }
        if !self.keys.insert(key.0) {
            return None;
        }
        (self.anchor, self.since_anchor) = (key.0, 0);
        self.ledger.entries.push(Entry {
            key: key.0,
            time,
            activity,
            is_positional,
        });
        Some(self.ledger.entries.len() - 1)
    }

    /// Adds to the sum of the day.
    fn sum_up(&mut self, time: Option<i64>, activity: Activity) {
        let day = time.unwrap_or_default().div_euclid(DAY);
        let kind = match &activity {
            Activity::Usage { model, .. } => (0, *model, 0, day),
            Activity::Calls { model, tool, .. } => (1, *model, *tool, day),
            Activity::Turns { model, .. } => (2, *model, 0, day),
            Activity::Errors { model, .. } => (3, *model, 0, day),
        };
        let at = self.sums.get(&kind).copied();
        let sum = at.and_then(|at| self.ledger.entries.get_mut(at));
        match (sum.map(|entry| &mut entry.activity), activity) {
            (Some(Activity::Usage { figures, .. }), Activity::Usage { figures: more, .. }) => {
                figures.add(&more);
            }
            (Some(Activity::Calls { count, .. }), Activity::Calls { .. })
            | (Some(Activity::Turns { count, .. }), Activity::Turns { .. })
            | (Some(Activity::Errors { count, .. }), Activity::Errors { .. }) => *count += 1,
            (_, activity) => {
                let key = Key::new("sum")
                    .text(&self.session)
                    .number(day.cast_unsigned());
                let key = key.number(self.sums.len() as u64).0;
                self.sums.insert(kind, self.ledger.entries.len());
                self.ledger.entries.push(Entry {
                    key,
                    time,
                    activity,
                    is_positional: true,
                });
            }
        }
    }
}

/// Returns the part of the last request in the first total of a fork that did not copy
/// the totals before it, in the proportions of the total.
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
        if names.len() < MAX_NAMES {
            names.push(name.to_owned());
        }
        names.len() - 1
    })
}
