//! Statistics of a run: turns, calls, time, tokens and cost.
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

mod figures;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use figures::{format_count, format_duration};

use crate::event::{Body, Event, Level, Session, ToolStatus, TurnStatus, Usage};
use crate::recent::{RecentQueue, RecentSet};

/// Statistics of one run, updated event by event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The model named last.
    pub model: String,
    /// The models that did something, in order, each once.
    models: Vec<String>,
    /// True if the model named last is listed.
    is_listed: bool,
    /// Number of finished turns.
    pub turns: u64,
    /// Number of tool calls, including those of sub-agents.
    pub tools: u64,
    /// Number of failed tool calls.
    pub failed_tools: u64,
    /// Number of error notices.
    pub errors: u64,
    /// Duration of the turns in milliseconds, as reported by the agent.
    pub turn_ms: u64,
    /// Tokens and cost.
    pub usage: Usage,
    /// Status of the last turn.
    pub status: Option<TurnStatus>,
    /// Status of an earlier run in the same stream whose last turn did not
    /// succeed, if any.
    pub earlier: Option<TurnStatus>,
    /// Bytes of input that were skipped.
    pub left_out: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// Open calls, so that a repeated `tool_use` is not counted again.
    calls: RecentSet<String, MAX_OPEN>,
    /// Cumulative usage by agent id; empty for the root agent.
    totals: BTreeMap<String, Usage>,
    /// Totals of a loaded session before it continues, by agent id.
    loaded: BTreeMap<String, Usage>,
    run: Run,
    /// Amounts and totals of paused runs.
    paused: PausedRuns<(Usage, BTreeMap<String, Usage>)>,
    /// Usage of runs that no longer continue.
    spent: Option<Usage>,
}

/// State of runs that another run interrupted, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PausedRuns<T>(RecentQueue<(Run, T), MAX_PAUSED>);

impl<T> Default for PausedRuns<T> {
    fn default() -> Self {
        Self(RecentQueue::default())
    }
}

/// Maximum number of paused runs.
const MAX_PAUSED: usize = 16;

impl<T> PausedRuns<T> {
    /// Stores the state of a run; returns the oldest state if there are too
    /// many.
    pub(crate) fn put(&mut self, run: Run, what: T) -> Option<T> {
        self.0.push((run, what)).map(|(_, what)| what)
    }

    /// Takes the state of the run that continues with this session.
    pub(crate) fn take(&mut self, session: &Session) -> Option<(Run, T)> {
        self.0.take(|(run, _)| run.is_continued_by(session))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, what)| what)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain().map(|(_, what)| what)
    }
}

/// Identifies a run. A stream can contain several runs, one after the other or
/// interleaved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    provider: String,
    id: String,
}

impl Run {
    /// Records the session; returns true if it belongs to another run.
    pub fn record(&mut self, session: &Session) -> bool {
        let differs = |known: &str, new: &str| !known.is_empty() && !new.is_empty() && known != new;
        let is_new = differs(&self.provider, &session.provider) || differs(&self.id, &session.id);
        if is_new {
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
        is_new
    }

    /// Returns true if the session belongs to this run: by its id, or by the
    /// provider if the session has no other field.
    fn is_continued_by(&self, session: &Session) -> bool {
        let by_provider = Session {
            provider: session.provider.clone(),
            ..Session::default()
        };
        let is_same = |known: &str, new: &str| !new.is_empty() && known == new;
        is_same(&self.provider, &session.provider)
            && (is_same(&self.id, &session.id) || *session == by_provider)
    }
}

/// Usage already reported, by agent id.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportedUsage(BTreeMap<String, Usage>);

/// Returns the growth of a total, or all of it if the total restarted.
fn difference(total: &Usage, reported: &Usage) -> Usage {
    let tokens = |total: Option<u64>, reported: Option<u64>| {
        total.map(|total| total.checked_sub(reported.unwrap_or(0)).unwrap_or(total))
    };
    let cost = total.cost_usd.map(|total| {
        let before = reported.cost_usd.unwrap_or(0.0);
        if total < before {
            total
        } else {
            total - before
        }
    });
    Usage {
        input_tokens: tokens(total.input_tokens, reported.input_tokens),
        output_tokens: tokens(total.output_tokens, reported.output_tokens),
        cached_tokens: tokens(total.cached_tokens, reported.cached_tokens),
        reasoning_tokens: tokens(total.reasoning_tokens, reported.reasoning_tokens),
        cost_usd: cost,
        ..Usage::default()
    }
}

/// Maximum number of listed models.
const MAX_MODELS: usize = 16;

/// Maximum number of open calls.
const MAX_OPEN: usize = 4096;

impl Stats {
    /// Counts an event. The history of a loaded session is not counted: it was when
    /// it ran.
    pub fn event(&mut self, event: &Event) {
        if event.replayed {
            self.history(event);
            return;
        }
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
            Body::State(state) if state.name == "model" => {
                let model = state.value.as_ref().map(|value| value.json().string());
                self.name_model(&model.unwrap_or_default());
            }
            Body::Text(_) | Body::Reasoning(_) if event.agent.is_none() => self.list_model(),
            Body::ToolUse(call) => {
                if event.agent.is_none() {
                    self.list_model();
                }
                let is_new = call.id.is_empty() || self.calls.add(&call.id);
                self.tools += u64::from(is_new);
            }
            Body::ToolResult(result) => {
                self.calls.remove(&result.id);
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

    /// Remembers the totals of a loaded session. Those that were counted here before
    /// it was loaded continue.
    fn history(&mut self, event: &Event) {
        let agent = event.agent.as_ref().map_or("", |agent| &agent.id);
        match &event.body {
            Body::Usage(usage) if usage.cumulative && !self.totals.contains_key(agent) => {
                let loaded = self.loaded.entry(agent.to_owned()).or_default();
                replace(loaded, usage);
            }
            Body::Notice(notice) => self.left_out += notice.left_out.unwrap_or_default(),
            _ => {}
        }
    }

    fn session(&mut self, session: &Session) {
        self.name_model(&session.model);
        let left = self.run.clone();
        if self.run.record(session) {
            let failed = self
                .status
                .filter(|status| *status != TurnStatus::Completed);
            self.earlier = self.earlier.or(failed);
            self.loaded.clear();
            let amounts = std::mem::take(&mut self.usage);
            let totals = std::mem::take(&mut self.totals);
            if let Some((amounts, totals)) = self.paused.put(left, (amounts, totals)) {
                let spent = self.spent.get_or_insert_default();
                sum(spent, &of_run(&amounts, &totals));
            }
            if let Some((run, (amounts, totals))) = self.paused.take(session) {
                (self.run, self.usage, self.totals) = (run, amounts, totals);
            }
        }
    }

    fn name_model(&mut self, model: &str) {
        if !model.is_empty() && model != self.model {
            model.clone_into(&mut self.model);
            self.is_listed = false;
        }
    }

    /// Lists the model named last: it does something.
    fn list_model(&mut self) {
        if self.is_listed || self.model.is_empty() {
            return;
        }
        self.is_listed = true;
        if !self.models.contains(&self.model) && self.models.len() < MAX_MODELS {
            self.models.push(self.model.clone());
        }
    }

    /// Returns the models that the root agent used, in order; the one named
    /// last if none did anything yet.
    pub fn models(&self) -> &[String] {
        if self.models.is_empty() && !self.model.is_empty() {
            return std::slice::from_ref(&self.model);
        }
        &self.models
    }

    /// Returns true if any event had a timestamp.
    pub fn has_times(&self) -> bool {
        self.first.is_some()
    }

    /// Returns the duration in milliseconds: the agent's own value, or the time
    /// between the first and the last event.
    pub fn duration_ms(&self) -> Option<u64> {
        if self.turn_ms > 0 {
            return Some(self.turn_ms);
        }
        let span = self.last?.duration_since(self.first?);
        u64::try_from(span.as_millis()).ok()
    }

    /// Returns tokens and cost, without counting anything twice.
    pub fn usage(&self) -> Usage {
        let mut all = self.spent.clone().unwrap_or_default();
        for (amounts, totals) in self.paused.iter() {
            sum(&mut all, &of_run(amounts, totals));
        }
        sum(&mut all, &of_run(&self.usage, &self.totals));
        Usage {
            cumulative: true,
            ..all
        }
    }

    /// Returns the usage since the last report: amounts in full, totals by
    /// their growth.
    pub(crate) fn usage_since(&self, reported: &mut ReportedUsage) -> Usage {
        let mut growth: Option<Usage> = None;
        for (agent, total) in &self.totals {
            let reported = reported.0.entry(agent.clone()).or_default();
            sum(growth.get_or_insert_default(), &difference(total, reported));
            replace(reported, total);
        }
        let growth = growth.unwrap_or_default();
        let (amounts, all) = (&self.usage, self.usage());
        let amount = |growth: Option<u64>, amount: Option<u64>| amount.filter(|_| growth.is_none());
        let unreported = Usage {
            input_tokens: amount(growth.input_tokens, amounts.input_tokens),
            output_tokens: amount(growth.output_tokens, amounts.output_tokens),
            cached_tokens: amount(growth.cached_tokens, amounts.cached_tokens),
            reasoning_tokens: amount(growth.reasoning_tokens, amounts.reasoning_tokens),
            cost_usd: amounts.cost_usd.filter(|_| growth.cost_usd.is_none()),
            ..Usage::default()
        };
        // The root agent's total includes all amounts.
        sum(reported.0.entry(String::new()).or_default(), &unreported);
        Usage {
            input_tokens: growth.input_tokens.or(unreported.input_tokens),
            output_tokens: growth.output_tokens.or(unreported.output_tokens),
            cached_tokens: growth.cached_tokens.or(unreported.cached_tokens),
            reasoning_tokens: growth.reasoning_tokens.or(unreported.reasoning_tokens),
            // Totals of cost are often rounded; amounts are not.
            cost_usd: amounts.cost_usd.or(growth.cost_usd),
            cumulative: false,
            ..all
        }
    }

    fn add(&mut self, usage: &Usage, agent: &str) {
        if usage.cumulative {
            let added = self.loaded.get(agent).map(|loaded| Usage {
                context_used: usage.context_used,
                context_size: usage.context_size,
                cumulative: true,
                ..difference(usage, loaded)
            });
            let total = self.totals.entry(agent.to_owned()).or_default();
            replace(total, added.as_ref().unwrap_or(usage));
        } else {
            sum(&mut self.usage, usage);
        }
    }
}

/// Returns the usage of one run: its amounts plus the totals of its agents.
fn of_run(amounts: &Usage, totals: &BTreeMap<String, Usage>) -> Usage {
    let mut total = Usage::default();
    for of_agent in totals.values() {
        sum(&mut total, of_agent);
    }
    // Only the root agent's context window is shown.
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
    fn the_models_that_did_something_are_listed() {
        let models = |lines: &[&str]| {
            let mut stats = Stats::default();
            for line in lines {
                stats.event(&Event::from_json(line).unwrap());
            }
            stats.models().join(" ")
        };
        let named = |model: &str| format!(r#"{{"kind":"session","model":"{model}"}}"#);
        let text = r#"{"kind":"text","id":"a","text":"x"}"#;
        let below = r#"{"kind":"text","id":"b","text":"x","agent":{"id":"s","depth":1}}"#;
        let switched = r#"{"kind":"state","name":"model","value":"c"}"#;
        let (a, b) = (named("a"), named("b"));
        assert_eq!(models(&[&a]), "a");
        assert_eq!(models(&[&a, &b, below, text]), "b", "the first did nothing");
        assert_eq!(models(&[&a, text, &b, text, &a, text]), "a b");
        assert_eq!(models(&[&a, text, switched, text]), "a c");
        assert_eq!(models(&[text]), "");
    }

    #[test]
    fn a_repeated_tool_use_is_counted_once() {
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
    fn the_history_of_a_loaded_session_is_not_counted() {
        let mut stats = Stats::default();
        let mut count = |line: &str| stats.event(&Event::from_json(line).unwrap());
        let session = r#"{"kind":"session","provider":"acp","id":"s"}"#;
        let history = [
            r#"{"kind":"user","replayed":true,"time":"2026-11-15T10:00:00Z","text":"a"}"#,
            r#"{"kind":"tool_use","replayed":true,"id":"c","name":"Read","category":"read"}"#,
            r#"{"kind":"tool_result","replayed":true,"id":"c","status":"error"}"#,
            r#"{"kind":"notice","replayed":true,"level":"error","text":"no"}"#,
            r#"{"kind":"usage","replayed":true,"input_tokens":20,"cost_usd":2.0,"cumulative":true}"#,
        ];
        count(session);
        for line in history {
            count(line);
        }
        count(r#"{"kind":"tool_use","id":"d","name":"Read","category":"read"}"#);
        count(r#"{"kind":"usage","input_tokens":25,"cost_usd":2.5,"cumulative":true}"#);
        // It is loaded once more.
        count(session);
        for line in history {
            count(line);
        }
        count(r#"{"kind":"usage","input_tokens":30,"cost_usd":3.0,"cumulative":true}"#);
        assert_eq!((stats.tools, stats.failed_tools, stats.errors), (1, 0, 0));
        assert!(!stats.has_times());
        let usage = stats.usage();
        assert_eq!((usage.input_tokens, usage.cost_usd), (Some(10), Some(1.0)));
    }

    #[test]
    fn consecutive_runs_add_up() {
        let mut stats = Stats::default();
        let mut tell = |body: Body| {
            stats.event(&Event {
                seq: 0,
                time: None,
                agent: None,
                replayed: false,
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
    fn interleaved_runs_add_up() {
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
                    replayed: false,
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
