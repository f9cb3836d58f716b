//! Calls of which the agent has not said how they ended.
//!
//! A turn that went well may leave some open. Of those nothing is known but that no
//! result came: nothing is told of them, and a result that comes after all, however
//! late, is theirs. They do not seem to run, which views ask for ([`Unfinished::left`]),
//! unless something is heard of them again. What is announced under the id of one in a
//! later turn is another call (`journal.rs` gives it another id).
//!
//! Those of a turn that failed, or in which the agent went away, were stopped, which is
//! told. One that is told of again after that begins anew, as what it was announced
//! as; but where the turn was canceled, only one that did its work after all. Used by
//! `journal.rs`, for what came from the agent alone.

use std::collections::BTreeMap;

use unspool::Event;
use unspool::event::{Body, ToolResult, ToolStatus, TurnStatus};

/// Calls that may be open at once; more are not watched.
const OPEN: usize = 1024;
/// Calls that were given up and are remembered.
const GIVEN_UP: usize = 64;

/// By their ids, as they were announced.
#[derive(Default)]
pub(super) struct Unfinished {
    open: BTreeMap<String, Event>,
    /// Those of a turn that went well and is over.
    left: BTreeMap<String, Event>,
    /// Those of earlier turns.
    old: BTreeMap<String, Event>,
    given_up: BTreeMap<String, GivenUp>,
}

/// A call that was told as stopped.
struct GivenUp {
    call: Event,
    /// The person wanted that.
    is_canceled: bool,
}

/// Calls that earlier turns left open, by their ids.
#[derive(Clone, Debug, Default)]
pub struct LeftoverCalls(BTreeMap<String, Event>);

/// What is to be told of a conversation that goes on before anything else is: how
/// all ended that was open when whoever kept it was killed; and what got no result. An
/// end of the turn that only the reader told, without a time, is taken out and among
/// what is told.
pub fn close_interrupted(past: &mut Vec<Event>) -> (Vec<Body>, LeftoverCalls) {
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
    let ends = unfinished.give_up_open().into_iter().chain(end);
    let ends = ends.map(|event| event.body).collect();
    (ends, unfinished.all_left())
}

impl Unfinished {
    /// Takes an event and hands it out, with what has to stand before it.
    pub(super) fn take(&mut self, event: Event, out: &mut Vec<Event>) {
        match &event.body {
            Body::ToolUse(call) => {
                self.left.remove(&call.id);
                self.given_up.remove(&call.id);
                if self.open.len() < OPEN || self.open.contains_key(&call.id) {
                    self.open.insert(call.id.clone(), event.clone());
                }
            }
            Body::ToolOutput(output) => {
                let left = self.take_left(&output.id);
                self.open.extend(left.map(|call| (output.id.clone(), call)));
            }
            Body::ToolResult(result) => {
                let open = self.open.remove(&result.id);
                let is_late = open.or_else(|| self.take_left(&result.id)).is_none();
                let given_up = self.given_up.remove(&result.id).filter(|_| is_late);
                if let Some(given_up) = given_up {
                    let is_done = result.status == ToolStatus::Ok || !result.edits.is_empty();
                    if given_up.is_canceled && !is_done {
                        return;
                    }
                    out.push(given_up.call);
                }
            }
            Body::User(_) if event.agent.is_none() => self.old.append(&mut self.left),
            Body::TurnEnd(end) if event.agent.is_none() => match end.status {
                TurnStatus::Completed => self.turn_over(),
                // Whoever shows it knows what that means for calls.
                TurnStatus::Canceled => {
                    drop(self.give_up_open());
                    self.forget_left();
                    let given_up = self.given_up.values_mut();
                    given_up.for_each(|given_up| given_up.is_canceled = true);
                }
                // What was left before is no part of this, but shown as it is.
                _ => {
                    out.extend(self.give_up_open());
                    self.forget_left();
                }
            },
            _ => {}
        }
        out.push(event);
    }

    /// Whether a call is open.
    pub(super) fn contains(&self, call: &str) -> bool {
        let all = [&self.open, &self.left, &self.old];
        all.iter().any(|calls| calls.contains_key(call))
    }

    /// What is open belongs to a turn that is over.
    pub(super) fn turn_over(&mut self) {
        self.left.append(&mut self.open);
        while self.left.len() + self.old.len() > OPEN && self.old.pop_first().is_some() {}
    }

    /// The calls that turns left open, of which nothing was heard since.
    pub(super) fn left(&self) -> impl Iterator<Item = &str> {
        self.left.keys().chain(self.old.keys()).map(String::as_str)
    }

    /// Whether this is the id of a call that a turn before the last prompt left open.
    pub(super) fn is_old(&self, call: &str) -> bool {
        self.old.contains_key(call)
    }

    fn take_left(&mut self, call: &str) -> Option<Event> {
        self.left.remove(call).or_else(|| self.old.remove(call))
    }

    /// Nothing more will be said of this turn.
    pub(super) fn give_up_open(&mut self) -> Vec<Event> {
        let events = std::mem::take(&mut self.open).into_values().collect();
        self.stopped(events)
    }

    /// One that goes on where another was: calls with these ids are other calls.
    pub(super) fn after(left: LeftoverCalls) -> Self {
        Self {
            old: left.0,
            ..Self::default()
        }
    }

    /// All that was left open, for the next one.
    pub(super) fn all_left(&self) -> LeftoverCalls {
        let left = self.left.iter().chain(&self.old);
        LeftoverCalls(left.map(|(id, call)| (id.clone(), call.clone())).collect())
    }

    fn forget_left(&mut self) {
        let left = std::mem::take(&mut self.left);
        let old = std::mem::take(&mut self.old);
        for call in left.into_values().chain(old.into_values()) {
            self.forget(call);
        }
    }

    fn stopped(&mut self, mut calls: Vec<Event>) -> Vec<Event> {
        calls.sort_by_key(|call| call.seq);
        let mut ends = Vec::new();
        for call in calls {
            let Body::ToolUse(told) = &call.body else {
                continue;
            };
            let mut end =
                Event::new(ToolResult::new(&told.id, ToolStatus::Canceled).with_name(&told.name));
            end.agent.clone_from(&call.agent);
            ends.push(end);
            self.forget(call);
        }
        ends
    }

    /// Keeps a call for the case that it is told of again.
    fn forget(&mut self, mut call: Event) {
        let Body::ToolUse(told) = &call.body else {
            return;
        };
        if self.given_up.len() < GIVEN_UP {
            let id = told.id.clone();
            call.time = None;
            let is_canceled = false;
            self.given_up.insert(id, GivenUp { call, is_canceled });
        }
    }
}
