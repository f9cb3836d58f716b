//! Events → what is shown of a run, in order: the entries of a [`Session`], with
//! tokens and cost told once a turn however often the agent tells them, the
//! empty lines between, and who speaks where several sub-agents work at once.
//!
//! [`Transcript`] decides about the order, [`Spacing`] about what stands between
//! two entries; between the two a caller may leave entries out. Every view of a
//! run that is read from top to bottom goes through both.
//!
//! ```
//! use unspool::formatter::{Config, Formatter};
//! use unspool::transcript::{Spacing, Transcript};
//! use unspool::Reader;
//!
//! let mut reader = Reader::new();
//! reader.push(b"Any text is a run, if a poor one.\n");
//! reader.finish();
//!
//! let formatter = Formatter::new(Config::default());
//! let (mut transcript, mut spacing) = (Transcript::new(), Spacing::new());
//! let mut page = String::new();
//! let mut show = |entry| {
//!     if spacing.before(&entry).gap {
//!         page.push('\n');
//!     }
//!     page += &formatter.format_entry(&entry, 60);
//! };
//! for event in reader.events() {
//!     transcript.event(event, &mut show);
//! }
//! transcript.finish(&mut show);
//! assert!(page.contains("if a poor one."));
//! ```

use std::sync::Arc;

use crate::event::{self, Agent, Body, Event, Usage};
use crate::session::{Entry, Item, Session};
use crate::stats::{Apart, Run, Stats, Told};

/// The entries of a run in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    session: Session,
    /// Tokens and cost since they were last told.
    spent: Option<Spent>,
    /// Those of a turn that has ended while calls are open. If nothing follows
    /// they come behind the calls, else before what follows.
    due: Option<Spent>,
    /// All that was told so far: agents that tell totals are told as the
    /// others, by what each turn added.
    told: Told,
    run: Run,
    /// What of that is of runs that may go on.
    apart: Apart<(Option<Spent>, Told)>,
    /// The root agent did something since its last turn ended.
    in_turn: bool,
    /// The last time that an event told.
    clock: Option<String>,
    /// The open entry that the last event changed.
    touched: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Spent {
    stats: Stats,
    time: Option<String>,
}

impl Spent {
    /// The same at the end of the turn, where that is known.
    fn until(self, end: Option<&String>) -> Self {
        let time = end.cloned().or(self.time);
        Self { time, ..self }
    }
}

impl Transcript {
    /// A run in which nothing has happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is not finished, oldest first: see [`Session::open`].
    pub fn open(&self) -> &[Entry] {
        self.session.open()
    }

    /// The number of the open entry that the last event began or changed.
    pub fn touched(&self) -> Option<u64> {
        self.touched
    }

    /// The open entry with this number.
    pub fn open_entry(&self, number: u64) -> Option<&Entry> {
        self.session.open_entry(number)
    }

    /// The message that is shown next: see [`Session::current`].
    pub fn current(&self) -> Option<&Entry> {
        self.session.current()
    }

    /// What is finished but waits for a message: see [`Session::waiting`].
    pub fn waiting(&self) -> &[Entry] {
        self.session.waiting()
    }

    /// Takes the next event and hands out the entries that it finishes.
    pub fn event(&mut self, event: Event, finished: &mut dyn FnMut(Entry)) {
        self.touched = None;
        if let Some(time) = &event.time {
            self.clock.get_or_insert_default().clone_from(time);
        }
        match &event.body {
            Body::Session(session) if event.agent.is_none() => self.turn_to(session, finished),
            Body::TurnEnd(_) if event.agent.is_none() => self.in_turn = false,
            Body::Usage(_) | Body::State(_) => {}
            _ => self.in_turn = true,
        }
        if let Body::Usage(usage) = &event.body {
            self.session.step(event.agent.as_deref(), finished);
            // The window that is told of is the root agent's.
            if event.agent.is_some() && is_window_alone(usage) {
                return;
            }
            let spent = self.spent.get_or_insert_default();
            spent.stats.event(&event);
            spent.time.clone_from(&self.clock);
            return;
        }
        if !matches!(event.body, Body::State(_)) {
            usage(&mut self.due, &mut self.told, finished);
        }
        let Self {
            session,
            spent,
            due,
            told,
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
            usage(due, told, finished);
        }
    }

    /// The events that follow may be another run's. What one has spent in a turn
    /// that goes on is told when that ends.
    fn turn_to(&mut self, session: &event::Session, finished: &mut dyn FnMut(Entry)) {
        let left = self.run.clone();
        if !self.run.is_over(session) {
            return;
        }
        usage(&mut self.due, &mut self.told, finished);
        if !std::mem::take(&mut self.in_turn) {
            usage(&mut self.spent, &mut self.told, finished);
        }
        let kept = (self.spent.take(), std::mem::take(&mut self.told));
        if let Some((mut spent, mut told)) = self.apart.put(left, kept) {
            usage(&mut spent, &mut told, finished);
        }
        if let Some((run, (spent, told))) = self.apart.take(session) {
            self.in_turn = true;
            (self.run, self.spent, self.told) = (run, spent, told);
        }
    }

    /// The stream has ended: what is open is handed out as it is.
    pub fn finish(&mut self, finished: &mut dyn FnMut(Entry)) {
        self.session.finish(finished);
        usage(&mut self.due, &mut self.told, finished);
        for (mut spent, mut told) in self.apart.drain() {
            usage(&mut spent, &mut told, finished);
        }
        usage(&mut self.spent, &mut self.told, finished);
    }
}

/// Whether nothing was spent, as far as this tells.
fn is_window_alone(usage: &Usage) -> bool {
    usage.input_tokens.is_none() && usage.output_tokens.is_none() && usage.cost_usd.is_none()
}

fn usage(spent: &mut Option<Spent>, told: &mut Told, finished: &mut dyn FnMut(Entry)) {
    if let Some(spent) = spent.take() {
        finished(Entry {
            number: u64::MAX,
            time: spent.time,
            agent: None,
            item: Item::Usage(spent.stats.usage_beyond(told)),
        });
    }
}

/// What stands between two entries: calls stand together, prose stands apart,
/// and a sub-agent that has a name is told when it appears, unless its call
/// stands right above it, and any whenever it speaks after another.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    /// Whether the last entry was prose, once there was one.
    last: Option<bool>,
    /// The sub-agents that work, and whether each spoke last at its depth.
    working: Vec<(Arc<Agent>, bool)>,
    /// The call that was shown last, if nothing followed it.
    call: Option<String>,
}

/// What stands before an entry.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Before {
    /// An empty line.
    pub gap: bool,
    /// The sub-agent that speaks, where somebody else did so before.
    pub speaker: Option<Arc<Agent>>,
}

/// Sub-agents that are remembered; most agents tell when one has ended.
const MOST_WORKING: usize = 256;

impl Spacing {
    /// Nothing was shown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What stands before this entry, which is shown next.
    pub fn before(&mut self, entry: &Entry) -> Before {
        let is_prose = matches!(
            entry.item,
            Item::Text(_) | Item::User(_) | Item::Reasoning(_)
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
            self.working
                .retain(|(agent, _)| agent.parent != tool.call.id);
        }
        let speaker = entry.agent.as_ref().filter(|agent| agent.depth > 0)?;
        let mut is_named = false;
        let mut is_new = true;
        let mut is_alone = true;
        for (agent, spoke) in &mut self.working {
            if agent.id == speaker.id {
                is_new = false;
                is_named = std::mem::replace(spoke, true);
            } else if agent.depth == speaker.depth {
                *spoke = false;
                is_alone = false;
            }
        }
        if is_new {
            // An id says nothing but that it is another one.
            let is_nobody = is_alone && speaker.name.is_empty();
            is_named = is_nobody || call.is_some_and(|call| call == speaker.parent);
            if self.working.len() >= MOST_WORKING {
                self.working.remove(0);
            }
            self.working.push((speaker.clone(), true));
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
    fn usage_is_told_once_a_turn() {
        let entries = entries(&[
            r#"{"kind":"usage","input_tokens":5}"#,
            r#"{"kind":"text","id":"a","text":"hi"}"#,
            r#"{"kind":"usage","input_tokens":7}"#,
            r#"{"kind":"turn_end","status":"completed"}"#,
            r#"{"kind":"usage","input_tokens":1}"#,
        ]);
        let told: Vec<Option<u64>> = entries
            .iter()
            .filter_map(|entry| match &entry.item {
                Item::Usage(usage) => Some(usage.input_tokens),
                _ => None,
            })
            .collect();
        assert_eq!(told, [Some(12), Some(1)]);
    }

    #[test]
    fn totals_are_told_by_what_each_turn_added() {
        let end = r#"{"kind":"turn_end","status":"completed"}"#;
        let told = |lines: &[&str]| -> Vec<(Option<u64>, Option<f64>)> {
            let usage = |entry: Entry| match entry.item {
                Item::Usage(usage) => Some((usage.input_tokens, usage.cost_usd)),
                _ => None,
            };
            entries(lines).into_iter().filter_map(usage).collect()
        };
        let totals = told(&[
            r#"{"kind":"usage","input_tokens":5,"cost_usd":0.5,"cumulative":true}"#,
            end,
            r#"{"kind":"usage","input_tokens":12,"cost_usd":0.75,"cumulative":true}"#,
            end,
            // Another process counts anew.
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
        let mixed = told(&[
            r#"{"kind":"usage","input_tokens":5}"#,
            end,
            r#"{"kind":"usage","input_tokens":6}"#,
            r#"{"kind":"usage","input_tokens":30,"cost_usd":0.5,"cumulative":true}"#,
            end,
            r#"{"kind":"usage","input_tokens":3}"#,
            end,
        ]);
        let costs = told(&[
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
    fn the_window_of_a_sub_agent_is_no_news() {
        let entries = entries(&[
            r#"{"kind":"usage","context_used":5,"agent":{"id":"x","depth":1}}"#,
            r#"{"kind":"usage","input_tokens":7,"agent":{"id":"x","depth":1}}"#,
        ]);
        assert_eq!(entries.len(), 1);
    }

    #[test]
    fn prose_stands_apart() {
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
    fn usage_is_last_also_behind_calls_that_never_ended() {
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
    fn sub_agents_are_named_when_they_appear_and_take_turns() {
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
