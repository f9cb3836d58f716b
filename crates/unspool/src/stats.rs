//! What a run amounted to: turns, calls, time, tokens, cost.
//!
//! ```
//! use unspool::stats::Stats;
//! use unspool::Event;
//!
//! let mut stats = Stats::default();
//! for line in [
//!     r#"{"kind":"tool_use","id":"c1","name":"Bash","category":"execute","input":{}}"#,
//!     r#"{"kind":"tool_result","id":"c1","status":"error"}"#,
//!     r#"{"kind":"turn_end","status":"completed"}"#,
//! ] {
//!     stats.event(&Event::from_json(line)?);
//! }
//! assert_eq!((stats.turns, stats.tools, stats.failed_tools), (1, 1, 1));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::collections::{BTreeMap, HashSet, VecDeque};

use jiff::Timestamp;

use crate::event::{Body, Event, Level, Session, ToolStatus, TurnStatus, Usage};

/// Figures of one run, counted as its events pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The model, as it was last named.
    pub model: String,
    /// Turns that ended.
    pub turns: u64,
    /// Tool calls, those of sub-agents included.
    pub tools: u64,
    /// Calls that failed.
    pub failed_tools: u64,
    /// Notices of errors.
    pub errors: u64,
    /// Time that the turns took, as the agent says, in milliseconds.
    pub turn_ms: u64,
    /// Tokens and cost.
    pub usage: Usage,
    /// How the last turn ended.
    pub status: Option<TurnStatus>,
    /// How the last turns of runs ended that came before this one in the same
    /// stream, if one of them did not succeed.
    pub earlier: Option<TurnStatus>,
    /// Bytes of the input that were not read.
    pub left_out: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    calls: OpenCalls,
    /// Totals that replace each other, by the agent that they are of; the root
    /// agent has no name.
    totals: BTreeMap<String, Usage>,
    run: Run,
    /// Amounts and totals of runs that may go on.
    apart: Apart<(Usage, BTreeMap<String, Usage>)>,
    /// Tokens and cost of the runs before those.
    spent: Option<Usage>,
}

/// What runs have that others came between, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Apart<T>(Vec<(Run, T)>);

impl<T> Default for Apart<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Runs that may go on.
const MOST_APART: usize = 16;

impl<T> Apart<T> {
    /// Puts away what a run has. Gives back what the oldest one had, if there are
    /// too many.
    pub(crate) fn put(&mut self, run: Run, what: T) -> Option<T> {
        self.0.push((run, what));
        (self.0.len() > MOST_APART).then(|| self.0.remove(0).1)
    }

    /// What the run had that goes on with this session, if one does.
    pub(crate) fn take(&mut self, session: &Session) -> Option<(Run, T)> {
        let at = self.0.iter().position(|(run, _)| run.goes_on(session))?;
        Some(self.0.remove(at))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, what)| what)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain(..).map(|(_, what)| what)
    }
}

/// The run that events are of: several may follow each other in one stream, or
/// be mixed in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    provider: String,
    id: String,
}

impl Run {
    /// Takes what is told of the session, and says whether it is another one.
    pub fn is_over(&mut self, session: &Session) -> bool {
        let differs = |known: &str, new: &str| !known.is_empty() && !new.is_empty() && known != new;
        let is_over = differs(&self.provider, &session.provider) || differs(&self.id, &session.id);
        if is_over {
            *self = Self::default();
        }
        for (known, new) in [
            (&mut self.provider, &session.provider),
            (&mut self.id, &session.id),
        ] {
            if !new.is_empty() {
                known.clone_from(new);
            }
        }
        is_over
    }

    /// Whether a session is this run's: by its id, or, where the provider alone is
    /// told, by that.
    fn goes_on(&self, session: &Session) -> bool {
        let by_provider = Session {
            provider: session.provider.clone(),
            ..Session::default()
        };
        let is_same = |known: &str, new: &str| !new.is_empty() && known == new;
        is_same(&self.provider, &session.provider)
            && (is_same(&self.id, &session.id) || *session == by_provider)
    }
}

/// What has been told of tokens and cost, by the agent that it is of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(BTreeMap<String, Usage>);

/// What a total has grown by; all of it where it began anew.
fn difference(total: &Usage, told: &Usage) -> Usage {
    let tokens = |total: Option<u64>, told: Option<u64>| {
        total.map(|total| total.checked_sub(told.unwrap_or(0)).unwrap_or(total))
    };
    let cost = total.cost_usd.map(|total| {
        let before = told.cost_usd.unwrap_or(0.0);
        if total < before {
            total
        } else {
            total - before
        }
    });
    Usage {
        input_tokens: tokens(total.input_tokens, told.input_tokens),
        output_tokens: tokens(total.output_tokens, told.output_tokens),
        cached_tokens: tokens(total.cached_tokens, told.cached_tokens),
        reasoning_tokens: tokens(total.reasoning_tokens, told.reasoning_tokens),
        cost_usd: cost,
        ..Usage::default()
    }
}

/// Calls without a result: what more becomes known of one is no other call.
#[derive(Clone, Debug, Default, PartialEq)]
struct OpenCalls {
    ids: HashSet<String>,
    /// As they came, also those that have ended since.
    order: VecDeque<String>,
}

impl OpenCalls {
    /// More than these are not told apart.
    const MOST: usize = 4096;

    fn begins(&mut self, id: &str) -> bool {
        if id.is_empty() || !self.ids.insert(id.to_owned()) {
            return id.is_empty();
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > Self::MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }

    fn end(&mut self, id: &str) {
        self.ids.remove(id);
        if self.ids.is_empty() {
            self.order.clear();
        }
    }
}

impl Stats {
    /// Counts the event.
    pub fn event(&mut self, event: &Event) {
        if let Some(time) = event
            .time
            .as_deref()
            .and_then(|time| time.parse::<Timestamp>().ok())
        {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
        match &event.body {
            Body::Session(session) if event.agent.is_none() => self.session(session),
            Body::ToolUse(call) => self.tools += u64::from(self.calls.begins(&call.id)),
            Body::ToolResult(result) => {
                self.calls.end(&result.id);
                self.failed_tools += u64::from(result.status == ToolStatus::Error);
            }
            Body::Notice(notice) => {
                self.errors += u64::from(notice.level == Level::Error);
                self.left_out += notice.left_out.unwrap_or_default();
            }
            Body::Usage(usage) => {
                let agent = event.agent.as_ref().map_or("", |agent| &agent.id);
                self.add(usage, agent);
            }
            Body::TurnEnd(end) if event.agent.is_none() => {
                self.turns += 1;
                self.turn_ms += end.duration_ms.unwrap_or_default();
                self.status = Some(end.status);
            }
            _ => {}
        }
    }

    fn session(&mut self, session: &Session) {
        if !session.model.is_empty() {
            self.model.clone_from(&session.model);
        }
        let left = self.run.clone();
        if self.run.is_over(session) {
            let failed = self
                .status
                .filter(|status| *status != TurnStatus::Completed);
            self.earlier = self.earlier.or(failed);
            let amounts = std::mem::take(&mut self.usage);
            let totals = std::mem::take(&mut self.totals);
            if let Some((amounts, totals)) = self.apart.put(left, (amounts, totals)) {
                let spent = self.spent.get_or_insert_default();
                sum(spent, &of_run(&amounts, &totals));
            }
            if let Some((run, (amounts, totals))) = self.apart.take(session) {
                (self.run, self.usage, self.totals) = (run, amounts, totals);
            }
        }
    }

    /// Whether an event told when it happened.
    pub fn has_times(&self) -> bool {
        self.first.is_some()
    }

    /// How long it took in milliseconds: the agent's own figure, or the time
    /// between the first and the last event.
    pub fn duration_ms(&self) -> Option<u64> {
        if self.turn_ms > 0 {
            return Some(self.turn_ms);
        }
        let span = self.last?.duration_since(self.first?);
        u64::try_from(span.as_millis()).ok()
    }

    /// Tokens and cost, without counting anything twice.
    pub fn usage(&self) -> Usage {
        let mut all = self.spent.clone().unwrap_or_default();
        for (amounts, totals) in self.apart.iter() {
            sum(&mut all, &of_run(amounts, totals));
        }
        sum(&mut all, &of_run(&self.usage, &self.totals));
        Usage {
            cumulative: true,
            ..all
        }
    }

    /// The same without what was told before: of amounts nothing was told, of
    /// totals what came before.
    pub(crate) fn usage_beyond(&self, told: &mut Told) -> Usage {
        let mut news: Option<Usage> = None;
        for (agent, total) in &self.totals {
            let told = told.0.entry(agent.clone()).or_default();
            sum(news.get_or_insert_default(), &difference(total, told));
            replace(told, total);
        }
        let news = news.unwrap_or_default();
        let (amounts, all) = (&self.usage, self.usage());
        let amount = |news: Option<u64>, amount: Option<u64>| amount.filter(|_| news.is_none());
        let untold = Usage {
            input_tokens: amount(news.input_tokens, amounts.input_tokens),
            output_tokens: amount(news.output_tokens, amounts.output_tokens),
            cached_tokens: amount(news.cached_tokens, amounts.cached_tokens),
            reasoning_tokens: amount(news.reasoning_tokens, amounts.reasoning_tokens),
            cost_usd: amounts.cost_usd.filter(|_| news.cost_usd.is_none()),
            ..Usage::default()
        };
        // The root agent's total counts all.
        sum(told.0.entry(String::new()).or_default(), &untold);
        Usage {
            input_tokens: news.input_tokens.or(untold.input_tokens),
            output_tokens: news.output_tokens.or(untold.output_tokens),
            cached_tokens: news.cached_tokens.or(untold.cached_tokens),
            reasoning_tokens: news.reasoning_tokens.or(untold.reasoning_tokens),
            // Totals of money are often rounded, which amounts are not.
            cost_usd: amounts.cost_usd.or(news.cost_usd),
            cumulative: false,
            ..all
        }
    }

    fn add(&mut self, usage: &Usage, agent: &str) {
        if usage.cumulative {
            let total = self.totals.entry(agent.to_owned()).or_default();
            replace(total, usage);
        } else {
            sum(&mut self.usage, usage);
        }
    }
}

/// Tokens and cost of one run, of its amounts and the totals of its agents.
fn of_run(amounts: &Usage, totals: &BTreeMap<String, Usage>) -> Usage {
    let mut total = Usage::default();
    for of_agent in totals.values() {
        sum(&mut total, of_agent);
    }
    // The window that is told of is the root agent's.
    if let Some(root) = totals.get("") {
        total.context_used = root.context_used.or(total.context_used);
        total.context_size = root.context_size.or(total.context_size);
    }
    let pick = |total: Option<u64>, amount: Option<u64>| total.or(amount);
    Usage {
        input_tokens: pick(total.input_tokens, amounts.input_tokens),
        output_tokens: pick(total.output_tokens, amounts.output_tokens),
        cached_tokens: pick(total.cached_tokens, amounts.cached_tokens),
        reasoning_tokens: pick(total.reasoning_tokens, amounts.reasoning_tokens),
        cost_usd: total.cost_usd.or(amounts.cost_usd),
        context_used: pick(total.context_used, amounts.context_used),
        context_size: pick(total.context_size, amounts.context_size),
        cumulative: true,
    }
}

fn replace(total: &mut Usage, new: &Usage) {
    let newer = |total: &mut Option<u64>, new: Option<u64>| *total = new.or(*total);
    newer(&mut total.input_tokens, new.input_tokens);
    newer(&mut total.output_tokens, new.output_tokens);
    newer(&mut total.cached_tokens, new.cached_tokens);
    newer(&mut total.reasoning_tokens, new.reasoning_tokens);
    newer(&mut total.context_used, new.context_used);
    newer(&mut total.context_size, new.context_size);
    total.cost_usd = new.cost_usd.or(total.cost_usd);
}

fn sum(sum: &mut Usage, new: &Usage) {
    let add = |sum: &mut Option<u64>, new: Option<u64>| {
        if let Some(new) = new {
            *sum = Some(sum.unwrap_or_default().saturating_add(new));
        }
    };
    add(&mut sum.input_tokens, new.input_tokens);
    add(&mut sum.output_tokens, new.output_tokens);
    add(&mut sum.cached_tokens, new.cached_tokens);
    add(&mut sum.reasoning_tokens, new.reasoning_tokens);
    if let Some(cost) = new.cost_usd {
        sum.cost_usd = Some(sum.cost_usd.unwrap_or_default() + cost);
    }
    // The window is a level, not an amount.
    sum.context_used = new.context_used.or(sum.context_used);
    sum.context_size = new.context_size.or(sum.context_size);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cumulative: bool) -> Usage {
        Usage {
            input_tokens: Some(input),
            cumulative,
            ..Usage::default()
        }
    }

    #[test]
    fn a_call_of_which_more_becomes_known_is_counted_once() {
        let mut stats = Stats::default();
        for line in [
            r#"{"kind":"tool_use","id":"a","name":"read","category":"read"}"#,
            r#"{"kind":"tool_use","id":"a","name":"read","category":"read","arg":"f"}"#,
            r#"{"kind":"tool_use","id":"b","name":"bash","category":"execute"}"#,
            r#"{"kind":"tool_result","id":"a","status":"ok"}"#,
            r#"{"kind":"tool_use","id":"","name":"c","category":"other"}"#,
            r#"{"kind":"tool_use","id":"","name":"d","category":"other"}"#,
        ] {
            stats.event(&Event::from_json(line).unwrap());
        }
        assert_eq!(stats.tools, 4);
    }

    #[test]
    fn totals_replace_and_amounts_add_up() {
        let mut stats = Stats::default();
        stats.add(&usage(5, false), "");
        stats.add(&usage(7, false), "");
        assert_eq!(stats.usage().input_tokens, Some(12));
        stats.add(&usage(20, true), "");
        stats.add(&usage(30, true), "");
        assert_eq!(stats.usage().input_tokens, Some(30));
    }

    #[test]
    fn runs_that_follow_each_other_add_up() {
        let mut stats = Stats::default();
        let mut tell = |body: Body| {
            stats.event(&Event {
                seq: 0,
                time: None,
                agent: None,
                body,
                raw: None,
            });
        };
        for (id, tokens, status) in [
            ("a", 20, TurnStatus::Failed),
            ("a", 30, TurnStatus::Interrupted),
            ("b", 5, TurnStatus::Completed),
        ] {
            tell(Body::Session(Session {
                provider: "claude".to_owned(),
                id: id.to_owned(),
                ..Session::default()
            }));
            tell(Body::Usage(usage(tokens, true)));
            tell(Body::TurnEnd(crate::event::TurnEnd {
                status,
                ..Default::default()
            }));
        }
        assert_eq!(stats.usage().input_tokens, Some(35));
        assert_eq!(stats.earlier, Some(TurnStatus::Interrupted));
        assert_eq!(stats.status, Some(TurnStatus::Completed));
    }

    #[test]
    fn runs_that_are_mixed_add_up() {
        let mut stats = Stats::default();
        let mut tell = |provider: &str, id: &str, tokens: u64, cumulative: bool| {
            let session = Session {
                provider: provider.to_owned(),
                id: id.to_owned(),
                ..Session::default()
            };
            for body in [
                Body::Session(session),
                Body::Usage(usage(tokens, cumulative)),
            ] {
                stats.event(&Event {
                    seq: 0,
                    time: None,
                    agent: None,
                    body,
                    raw: None,
                });
            }
        };
        tell("claude", "a", 20, true);
        tell("qwen", "b", 3, false);
        tell("claude", "", 30, true);
        tell("qwen", "", 4, false);
        tell("qwen", "", 7, true);
        tell("claude", "c", 5, true);
        assert_eq!(stats.usage().input_tokens, Some(30 + 7 + 5));
    }

    #[test]
    fn totals_of_several_agents_add_up() {
        let mut stats = Stats::default();
        stats.add(&usage(20, true), "");
        stats.add(&usage(7, true), "helper");
        stats.add(&usage(9, true), "helper");
        stats.add(&usage(30, true), "");
        assert_eq!(stats.usage().input_tokens, Some(39));
    }
}
