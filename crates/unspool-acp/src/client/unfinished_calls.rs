//! Tool calls without a result.
//!
//! A turn that completes may leave calls open. They get no result, but one that
//! arrives later is still theirs. Views must not show them as running
//! ([`UnfinishedCalls::leftover_ids`]) until there is new output. A new call with the
//! same id in a later turn is a different call; `journal.rs` gives it another id.
//!
//! The open calls of a turn that failed, or whose agent is gone, get a canceled
//! result. If such a call reports again, it is announced anew. If the turn was
//! canceled by the user, that holds only for a call that succeeded after all.
//!
//! Used by `journal.rs`, for events from the agent only.

use std::collections::BTreeMap;

use unspool::Event;
use unspool::event::{Body, ToolResult, ToolStatus, TurnStatus};

/// Maximum number of open calls. Further calls are not tracked.
const MAX_OPEN: usize = 1024;
/// Maximum number of canceled calls that are remembered.
const MAX_CANCELED: usize = 64;

/// Unfinished calls, each with its announcement, by their ids.
#[derive(Default)]
pub(super) struct UnfinishedCalls {
    open: BTreeMap<String, Event>,
    /// Left open by the last turn, which completed.
    leftover: BTreeMap<String, Event>,
    /// Left open by earlier turns.
    earlier: BTreeMap<String, Event>,
    canceled: BTreeMap<String, CanceledCall>,
}

struct CanceledCall {
    announcement: Event,
    /// The user canceled the turn.
    is_by_user: bool,
}

/// Calls that earlier turns left open.
#[derive(Clone, Debug, Default)]
pub struct LeftoverCalls(BTreeMap<String, Event>);

/// Closes a conversation that continues after its recorder was killed.
///
/// Returns the results of the calls that were open at that time, followed by the end
/// of the turn, and the calls that earlier turns left open. A last turn end without a
/// time comes from the reader and not from the recording: it is removed from `past`
/// and returned instead.
pub fn close_interrupted(past: &mut Vec<Event>) -> (Vec<Body>, LeftoverCalls) {
    let end = past.pop_if(|last| last.is_interruption() && last.time.is_none());
    let mut unfinished = UnfinishedCalls::default();
    let mut processed = Vec::new();
    for event in past.iter() {
        unfinished.process(event.clone(), &mut processed);
        processed.clear();
    }
    let ends = unfinished.cancel_open().into_iter().chain(end);
    let ends = ends.map(|event| event.body).collect();
    (ends, unfinished.leftover_calls())
}

impl UnfinishedCalls {
    /// Continues after a client that left these calls open.
    pub(super) fn with_leftover(leftover: LeftoverCalls) -> Self {
        Self {
            earlier: leftover.0,
            ..Self::default()
        }
    }

    /// Appends an event to `out`, after the events that have to precede it.
    pub(super) fn process(&mut self, event: Event, out: &mut Vec<Event>) {
        match &event.body {
            Body::ToolUse(call) => {
                self.leftover.remove(&call.id);
                self.canceled.remove(&call.id);
                if self.open.len() < MAX_OPEN || self.open.contains_key(&call.id) {
                    self.open.insert(call.id.clone(), event.clone());
                }
            }
            Body::ToolOutput(output) => {
                let call = self.remove_leftover(&output.id);
                self.open.extend(call.map(|call| (output.id.clone(), call)));
            }
            Body::ToolResult(result) => {
                let open = self.open.remove(&result.id);
                let is_late = open.or_else(|| self.remove_leftover(&result.id)).is_none();
                let canceled = self.canceled.remove(&result.id).filter(|_| is_late);
                if let Some(canceled) = canceled {
                    let is_done = result.status == ToolStatus::Ok || !result.edits.is_empty();
                    if canceled.is_by_user && !is_done {
                        return;
                    }
                    out.push(canceled.announcement);
                }
            }
            Body::User(_) if event.agent.is_none() => self.earlier.append(&mut self.leftover),
            Body::TurnEnd(end) if event.agent.is_none() => match end.status {
                TurnStatus::Completed => self.end_turn(),
                // Views end the open calls of a canceled turn themselves.
                TurnStatus::Canceled => {
                    drop(self.cancel_open());
                    self.cancel_leftover();
                    for canceled in self.canceled.values_mut() {
                        canceled.is_by_user = true;
                    }
                }
                _ => {
                    out.extend(self.cancel_open());
                    self.cancel_leftover();
                }
            },
            _ => {}
        }
        out.push(event);
    }

    /// Returns true if a call has no result.
    pub(super) fn contains(&self, call: &str) -> bool {
        let all = [&self.open, &self.leftover, &self.earlier];
        all.iter().any(|calls| calls.contains_key(call))
    }

    /// Marks the open calls as leftovers of a turn that has ended.
    pub(super) fn end_turn(&mut self) {
        self.leftover.append(&mut self.open);
        while self.leftover.len() + self.earlier.len() > MAX_OPEN
            && self.earlier.pop_first().is_some()
        {}
    }

    /// Returns the calls that turns left open and that were silent since.
    pub(super) fn leftover_ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.leftover.keys().chain(self.earlier.keys());
        ids.map(String::as_str)
    }

    /// Returns the same calls for the next client of the conversation.
    pub(super) fn leftover_calls(&self) -> LeftoverCalls {
        let calls = self.leftover.iter().chain(&self.earlier);
        LeftoverCalls(calls.map(|(id, call)| (id.clone(), call.clone())).collect())
    }

    /// Returns true if a turn before the last prompt left a call with this id open.
    pub(super) fn is_from_earlier_turn(&self, call: &str) -> bool {
        self.earlier.contains_key(call)
    }

    fn remove_leftover(&mut self, call: &str) -> Option<Event> {
        let leftover = self.leftover.remove(call);
        leftover.or_else(|| self.earlier.remove(call))
    }

    /// Cancels the open calls and returns their results.
    pub(super) fn cancel_open(&mut self) -> Vec<Event> {
        let mut calls: Vec<Event> = std::mem::take(&mut self.open).into_values().collect();
        calls.sort_by_key(|call| call.seq);
        let mut results = Vec::new();
        for call in calls {
            let Body::ToolUse(announced) = &call.body else {
                continue;
            };
            let result = ToolResult::new(&announced.id, ToolStatus::Canceled);
            let mut result = Event::new(result.with_name(&announced.name));
            result.agent.clone_from(&call.agent);
            results.push(result);
            self.remember_canceled(call);
        }
        results
    }

    /// Cancels the leftover calls without results: views show them as ended already.
    fn cancel_leftover(&mut self) {
        let leftover = std::mem::take(&mut self.leftover);
        let earlier = std::mem::take(&mut self.earlier);
        for call in leftover.into_values().chain(earlier.into_values()) {
            self.remember_canceled(call);
        }
    }

    fn remember_canceled(&mut self, mut announcement: Event) {
        let Body::ToolUse(call) = &announcement.body else {
            return;
        };
        if self.canceled.len() < MAX_CANCELED {
            let id = call.id.clone();
            announcement.time = None;
            let canceled = CanceledCall {
                announcement,
                is_by_user: false,
            };
            self.canceled.insert(id, canceled);
        }
    }
}
