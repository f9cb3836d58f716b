//! Calls of which the agent has not said how they ended.
//!
//! A turn that went well may leave some open, and what is said of them after it
//! still counts for a moment. Then they are given up: told as stopped, so that
//! they do not seem to run, now or in the next turn. One that is told of again
//! begins anew, as what it was announced as; but where the turn was canceled, only
//! one that did its work after all. Used by `journal.rs`, for what came from the
//! agent alone.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use unspool::Event;
use unspool::event::{Body, ToolResult, ToolStatus, TurnStatus};

/// Calls that may be open at once; more are not watched.
const OPEN: usize = 1024;
/// How long after a turn its calls may end.
pub(super) const MOMENT: Duration = Duration::from_secs(1);
/// Calls that were given up and are remembered.
const GIVEN_UP: usize = 64;

/// By their ids, as they were announced.
#[derive(Default)]
pub(super) struct Unfinished {
    open: BTreeMap<String, Event>,
    /// Those of a turn that is over.
    left: Vec<String>,
    /// When that ended.
    over: Option<Instant>,
    given_up: BTreeMap<String, GivenUp>,
}

/// A call that was told as stopped.
struct GivenUp {
    call: Event,
    /// The person wanted that.
    is_canceled: bool,
}

/// What is to be told of a conversation that goes on before anything else is: how
/// all ended that was open when whoever kept it was killed. An end of the turn that
/// only the reader told, without a time, is taken out and among it.
pub(crate) fn ends_of(past: &mut Vec<Event>) -> Vec<Body> {
    let end = past.pop_if(|last| {
        let is_cut =
            matches!(&last.body, Body::TurnEnd(end) if end.status == TurnStatus::Interrupted);
        is_cut && last.time.is_none()
    });
    let mut unfinished = Unfinished::default();
    let mut told = Vec::new();
    for event in past.iter() {
        unfinished.take(event.clone(), &mut told);
        told.clear();
    }
    let ends = unfinished.give_up_all().into_iter().chain(end);
    ends.map(|event| event.body).collect()
}

impl Unfinished {
    /// Takes an event and hands it out, with what has to stand before it.
    pub(super) fn take(&mut self, event: Event, out: &mut Vec<Event>) {
        match &event.body {
            Body::ToolUse(call) => {
                self.left.retain(|left| *left != call.id);
                self.given_up.remove(&call.id);
                if self.open.len() < OPEN || self.open.contains_key(&call.id) {
                    self.open.insert(call.id.clone(), event.clone());
                }
            }
            Body::ToolOutput(output) => self.left.retain(|left| *left != output.id),
            Body::ToolResult(result) => {
                let is_late = self.open.remove(&result.id).is_none();
                let given_up = self.given_up.remove(&result.id).filter(|_| is_late);
                if let Some(given_up) = given_up {
                    let is_done = result.status == ToolStatus::Ok || !result.edits.is_empty();
                    if given_up.is_canceled && !is_done {
                        return;
                    }
                    out.push(given_up.call);
                }
            }
            Body::TurnEnd(end) if event.agent.is_none() => match end.status {
                TurnStatus::Completed => self.turn_over(),
                // Whoever shows it knows what that means for calls.
                TurnStatus::Canceled => {
                    drop(self.give_up_all());
                    let given_up = self.given_up.values_mut();
                    given_up.for_each(|given_up| given_up.is_canceled = true);
                }
                _ => out.extend(self.give_up_all()),
            },
            _ => {}
        }
        out.push(event);
    }

    /// Whether a call is open.
    pub(super) fn contains(&self, call: &str) -> bool {
        self.open.contains_key(call)
    }

    /// What is open belongs to a turn that is over.
    pub(super) fn turn_over(&mut self) {
        self.left = self.open.keys().cloned().collect();
        self.over = Some(Instant::now());
    }

    /// Whether something is left open by a turn.
    pub(super) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// Nothing more was said of what a turn left open, if that was a while ago.
    pub(super) fn give_up_left(&mut self) -> Vec<Event> {
        if self.over.is_some_and(|over| over.elapsed() < MOMENT) {
            return Vec::new();
        }
        let left = std::mem::take(&mut self.left);
        let events = left.iter().filter_map(|id| self.open.remove(id));
        let events = events.collect();
        self.stopped(events)
    }

    /// Nothing more will be said.
    pub(super) fn give_up_all(&mut self) -> Vec<Event> {
        self.left.clear();
        let events = std::mem::take(&mut self.open).into_values().collect();
        self.stopped(events)
    }

    fn stopped(&mut self, mut calls: Vec<Event>) -> Vec<Event> {
        calls.sort_by_key(|call| call.seq);
        let mut ends = Vec::new();
        for call in calls {
            let Body::ToolUse(told) = &call.body else {
                continue;
            };
            let id = told.id.clone();
            let result = ToolResult {
                id: id.clone(),
                name: told.name.clone(),
                status: ToolStatus::Canceled,
                ..ToolResult::default()
            };
            ends.push(Event {
                body: Body::ToolResult(result),
                agent: call.agent.clone(),
                seq: 0,
                time: None,
                raw: None,
            });
            if self.given_up.len() < GIVEN_UP {
                let given_up = GivenUp {
                    call: Event { time: None, ..call },
                    is_canceled: false,
                };
                self.given_up.insert(id, given_up);
            }
        }
        ends
    }
}
