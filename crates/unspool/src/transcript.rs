//! Orders the entries of a run for display.
//!
//! [`Transcript`] yields the entries of a [`Session`] and reports usage once
//! per turn, however often the agent sends it. [`Spacing`] decides on the empty
//! line before an entry and on the name of the sub-agent that speaks. Between
//! the two, a caller may drop entries. Every view that reads from top to bottom
//! uses both.
//!
//! ```
//! use unspool::event::{Body, Event, Message, User};
//! use unspool::formatter::{Config, Formatter};
//! use unspool::transcript::{Spacing, Transcript};
//!
//! let events = [
//!     Event::new(User::new("Say hello")),
//!     Event::new(Body::Text(Message::new("m1", "Hello."))),
//! ];
//! let formatter = Formatter::new(Config::default().with_plain_text(true));
//! let (mut transcript, mut spacing) = (Transcript::new(), Spacing::new());
//! let mut text = String::new();
//! let mut show = |entry| {
//!     if spacing.before(&entry).gap {
//!         text.push('\n');
//!     }
//!     text += &formatter.format_entry(&entry, 60);
//!     text.push('\n');
//! };
//! for event in events {
//!     transcript.event(event, &mut show);
//! }
//! transcript.finish(&mut show);
//! assert_eq!(text, "› Say hello\n\n• Hello.\n");
//! ```

use std::sync::Arc;

use crate::event::{self, Agent, Body, Event, Usage};
use crate::recent::RecentMap;
use crate::session::{Entry, Item, Session};
use crate::stats::{PausedRuns, ReportedUsage, Run, Stats};

/// The entries of a run, in display order.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    session: Session,
    /// Usage since the last report.
    spent: Option<TurnUsage>,
    /// Usage of a turn that ended while calls are open. It is reported after
    /// the calls, or before the next event.
    due: Option<TurnUsage>,
    /// Usage reported so far. Agents that send totals are reported by the
    /// growth per turn.
    reported: ReportedUsage,
    run: Run,
    /// Usage of paused runs.
    paused: PausedRuns<(Option<TurnUsage>, ReportedUsage)>,
    /// True if the root agent did something since its last turn ended.
    in_turn: bool,
    /// The last timestamp of an event.
    clock: Option<String>,
    /// The open entry that the last event changed.
    touched: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct TurnUsage {
    stats: Stats,
    time: Option<String>,
}

impl TurnUsage {
    /// Sets the time to the end of the turn, if known.
    fn until(self, end: Option<&String>) -> Self {
        let time = end.cloned().or(self.time);
        Self { time, ..self }
    }
}

impl Transcript {
    /// Creates an empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the open entries, oldest first: see [`Session::open`].
    pub fn open(&self) -> &[Entry] {
        self.session.open()
    }

    /// Returns the number of the open entry that the last event added or
    /// changed.
    pub fn touched(&self) -> Option<u64> {
        self.touched
    }

    /// Returns the open entry with this number.
    pub fn open_entry(&self, number: u64) -> Option<&Entry> {
        self.session.open_entry(number)
    }

    /// Returns the message that is yielded next: see [`Session::current`].
    pub fn current(&self) -> Option<&Entry> {
        self.session.current()
    }

    /// Returns the finished entries that wait for a message: see
    /// [`Session::waiting`].
    pub fn waiting(&self) -> &[Entry] {
        self.session.waiting()
    }

    /// Processes an event and yields the entries that it finishes.
    pub fn event(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        self.touched = None;
        if let Some(time) = &event.time {
            self.clock.get_or_insert_default().clone_from(time);
        }
        match &event.body {
            Body::Session(session) if event.agent.is_none() => self.switch_run(session, finished),
            Body::TurnEnd(_) if event.agent.is_none() => self.in_turn = false,
            Body::Usage(_) | Body::State(_) => {}
            _ => self.in_turn = true,
        }
        if let Body::Usage(usage) = &event.body {
            self.session
                .end_sub_agent_message(event.agent.as_deref(), finished);
            // Only the root agent's context window is shown.
            if event.agent.is_some() && has_window_only(usage) {
                return;
            }
            let spent = self.spent.get_or_insert_default();
            spent.stats.event(&event);
            spent.time.clone_from(&self.clock);
            return;
        }
        if !matches!(event.body, Body::State(_)) {
            usage(&mut self.due, &mut self.reported, finished);
        }
        let Self {
            session,
            spent,
            due,
            reported,
            touched,
            ..
        } = self;
        session.apply(event, &mut |entry| {
            if matches!(entry.item, Item::TurnEnd(_)) && entry.agent.is_none() {
                *due = spent.take().map(|spent| spent.until(entry.time.as_ref()));
            }
            finished(entry);
        });
        *touched = session.touched();
        if session.open().is_empty() {
            usage(due, reported, finished);
        }
    }

    /// Switches to another run. The usage of an unfinished turn is reported
    /// when the turn ends.
    fn switch_run(&mut self, session: &event::Session, finished: &mut dyn FnMut(Entry)) {
        let left = self.run.clone();
        if !self.run.record(session) {
            return;
        }
        usage(&mut self.due, &mut self.reported, finished);
        if !std::mem::take(&mut self.in_turn) {
            usage(&mut self.spent, &mut self.reported, finished);
        }
        let kept = (self.spent.take(), std::mem::take(&mut self.reported));
        if let Some((mut spent, mut reported)) = self.paused.put(left, kept) {
            usage(&mut spent, &mut reported, finished);
        }
        if let Some((run, (spent, reported))) = self.paused.take(session) {
            self.in_turn = true;
            (self.run, self.spent, self.reported) = (run, spent, reported);
        }
    }

    /// Ends the stream: yields all open entries unfinished.
    pub fn finish(&mut self, finished: &mut dyn FnMut(Entry)) {
        self.session.finish(finished);
        usage(&mut self.due, &mut self.reported, finished);
        for (mut spent, mut reported) in self.paused.drain() {
            usage(&mut spent, &mut reported, finished);
        }
        usage(&mut self.spent, &mut self.reported, finished);
    }
}

/// Returns true if the usage contains only the context window.
fn has_window_only(usage: &Usage) -> bool {
    usage.input_tokens.is_none() && usage.output_tokens.is_none() && usage.cost_usd.is_none()
}

fn usage(
    spent: &mut Option<TurnUsage>,
    reported: &mut ReportedUsage,
    finished: &mut dyn FnMut(Entry),
) {
    if let Some(spent) = spent.take() {
        finished(Entry {
            number: u64::MAX,
            time: spent.time,
            agent: None,
            folder: None,
            item: Item::Usage(spent.stats.usage_since(reported)),
        });
    }
}

/// Decides what separates two entries: tool calls are grouped, prose is set
/// apart. A sub-agent with a name is announced when it first appears, unless
/// its call is directly above, and every sub-agent when it speaks after another
/// one.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    /// True if the last entry was prose; `None` at the start.
    last: Option<bool>,
    /// The active sub-agents, with true for the one that spoke last at its
    /// depth.
    active: RecentMap<String, (Arc<Agent>, bool), MAX_ACTIVE>,
    /// The call shown last, if nothing followed it.
    call: Option<String>,
}

/// The separation before an entry.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Before {
    /// True for an empty line.
    pub gap: bool,
    /// The sub-agent to announce, if another one spoke before.
    pub speaker: Option<Arc<Agent>>,
}

/// Maximum number of remembered sub-agents; most agents report their end.
const MAX_ACTIVE: usize = 256;

impl Spacing {
    /// Creates the spacing for an empty page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the separation before an entry and records it as shown.
    pub fn before(&mut self, entry: &Entry) -> Before {
        let is_prose = matches!(
            entry.item,
            Item::Text(_) | Item::User(_) | Item::Reasoning(_) | Item::Media(_)
        );
        let last = self.last.replace(is_prose);
        Before {
            gap: last.is_some_and(|was_prose| was_prose || is_prose),
            speaker: self.speaker(entry),
        }
    }

    fn speaker(&mut self, entry: &Entry) -> Option<Arc<Agent>> {
        let call = self.call.take();
        if let Item::Tool(tool) = &entry.item {
            self.call = Some(tool.call.id.clone());
            self.active
                .retain(|_, (agent, _)| agent.parent != tool.call.id);
        }
        let speaker = entry.agent.as_ref().filter(|agent| agent.depth > 0)?;
        let mut is_named = false;
        let mut is_new = true;
        let mut is_alone = true;
        for (agent, spoke) in self.active.values_mut() {
            if agent.id == speaker.id {
                is_new = false;
                is_named = std::mem::replace(spoke, true);
            } else if agent.depth == speaker.depth {
                *spoke = false;
                is_alone = false;
            }
        }
        if is_new {
            // Without a name there is nothing to announce.
            let is_nobody = is_alone && speaker.name.is_empty();
            is_named = is_nobody || call.is_some_and(|call| call == speaker.parent);
            self.active
                .insert(speaker.id.clone(), (speaker.clone(), true));
        }
        (!is_named).then(|| speaker.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(lines: &[&str]) -> Vec<Entry> {
        let mut transcript = Transcript::new();
        let mut entries = Vec::new();
        for line in lines {
            let event = Event::from_json(line).unwrap();
            transcript.event(event, &mut |entry| entries.push(entry));
        }
        transcript.finish(&mut |entry| entries.push(entry));
        entries
    }

    #[test]
    fn usage_is_reported_once_per_turn() {
        let entries = entries(&[
            r#"{"kind":"usage","input_tokens":5}"#,
            r#"{"kind":"text","id":"a","text":"hi"}"#,
            r#"{"kind":"usage","input_tokens":7}"#,
            r#"{"kind":"turn_end","status":"completed"}"#,
            r#"{"kind":"usage","input_tokens":1}"#,
        ]);
        let reported: Vec<Option<u64>> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::Usage(usage) => Some(usage.input_tokens),
                _ => None,
            })
            .collect();
        assert_eq!(reported, [Some(12), Some(1)]);
    }

    #[test]
    fn totals_are_reported_by_the_growth_per_turn() {
        let end = r#"{"kind":"turn_end","status":"completed"}"#;
        let reported = |lines: &[&str]| -> Vec<(Option<u64>, Option<f64>)> {
            let usage = |entry: Entry| match entry.item {
                Item::Usage(usage) => Some((usage.input_tokens, usage.cost_usd)),
                _ => None,
            };
            entries(lines).into_iter().filter_map(usage).collect()
        };
        let totals = reported(&[
            r#"{"kind":"usage","input_tokens":5,"cost_usd":0.5,"cumulative":true}"#,
            end,
            r#"{"kind":"usage","input_tokens":12,"cost_usd":0.75,"cumulative":true}"#,
            end,
            // Another process starts counting at zero.
            r#"{"kind":"usage","input_tokens":2,"cost_usd":0.25,"cumulative":true}"#,
            end,
        ]);
        assert_eq!(
            totals,
            [
                (Some(5), Some(0.5)),
                (Some(7), Some(0.25)),
                (Some(2), Some(0.25))
            ]
        );
        let mixed = reported(&[
            r#"{"kind":"usage","input_tokens":5}"#,
            end,
            r#"{"kind":"usage","input_tokens":6}"#,
            r#"{"kind":"usage","input_tokens":30,"cost_usd":0.5,"cumulative":true}"#,
            end,
            r#"{"kind":"usage","input_tokens":3}"#,
            end,
        ]);
        let costs = reported(&[
            r#"{"kind":"usage","cost_usd":0.004}"#,
            r#"{"kind":"usage","cost_usd":0.01,"cumulative":true}"#,
            end,
            r#"{"kind":"usage","cost_usd":0.003}"#,
            r#"{"kind":"usage","cost_usd":0.01,"cumulative":true}"#,
            end,
        ]);
        assert_eq!(costs, [(None, Some(0.004)), (None, Some(0.003))]);
        assert_eq!(
            mixed,
            [(Some(5), None), (Some(25), Some(0.5)), (Some(3), None)]
        );
    }

    #[test]
    fn the_window_of_a_sub_agent_is_ignored() {
        let entries = entries(&[
            r#"{"kind":"usage","context_used":5,"agent":{"id":"x","depth":1}}"#,
            r#"{"kind":"usage","input_tokens":7,"agent":{"id":"x","depth":1}}"#,
        ]);
        assert_eq!(entries.len(), 1);
    }

    #[test]
    fn prose_is_set_apart() {
        let mut spacing = Spacing::new();
        let gaps: Vec<bool> = entries(&[
            r#"{"kind":"text","id":"a","text":"hi"}"#,
            r#"{"kind":"plan","entries":[]}"#,
            r#"{"kind":"notice","level":"info","text":"b"}"#,
            r#"{"kind":"user","text":"c"}"#,
        ])
        .iter()
        .map(|entry| spacing.before(entry).gap)
        .collect();
        assert_eq!(gaps, [false, true, false, true]);
    }

    #[test]
    fn usage_follows_unfinished_calls() {
        let call = r#"{"kind":"tool_use","id":"t","name":"Bash"}"#;
        let usage = r#"{"kind":"usage","input_tokens":5}"#;
        let end = r#"{"kind":"turn_end","status":"completed"}"#;
        let kinds = |lines: &[&str]| -> String {
            let kind = |entry: &Entry| match entry.item {
                Item::Tool(_) => 't',
                Item::Usage(_) => 'u',
                Item::TurnEnd(_) => 'e',
                _ => '.',
            };
            entries(lines).iter().map(kind).collect()
        };
        assert_eq!(kinds(&[call, usage, end]), "etu");
        let next = r#"{"kind":"user","text":"go on"}"#;
        assert_eq!(kinds(&[call, usage, end, next]), "eu.t");
    }

    #[test]
    fn sub_agents_are_announced_when_they_appear_and_alternate() {
        let said = |agent: &str, depth: u32| {
            format!(
                r#"{{"kind":"text","id":"{agent}","text":"x","agent":{{"id":"{agent}","parent":"call-{agent}","depth":{depth},"name":"{agent}"}}}}"#
            )
        };
        let named = |lines: &[String]| -> String {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let mut spacing = Spacing::new();
            let speakers = entries(&lines).into_iter().map(|entry| {
                let speaker = spacing.before(&entry).speaker;
                speaker.map_or("-".to_owned(), |agent| agent.id.clone())
            });
            speakers.collect()
        };
        let (a, b, deep) = (said("a", 1), said("b", 1), said("d", 2));
        let ended = r#"{"kind":"tool_result","id":"call-a","name":"Task","status":"ok"}"#;
        let alternating = [&a, &a, &b, &b, &a, &deep, &a].map(Clone::clone);
        assert_eq!(named(&alternating), "a-b-ad-");
        let in_sequence = [a.clone(), ended.to_owned(), b.clone(), b];
        assert_eq!(named(&in_sequence), "a-b-");
        let nobody = a.replace(r#","name":"a""#, "");
        assert_eq!(named(&[nobody]), "-");
        let below_its_call = [ended.to_owned(), a.clone(), a];
        assert_eq!(named(&below_its_call), "---");
    }
}
