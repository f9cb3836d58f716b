//! Plans that a call proposes. The agent may refuse the list, so the plan waits
//! in the queue for the result of its call, and later events wait with it: the
//! order stays, and a refused plan is never emitted. A plan that would delay
//! something a person waits for leaves the queue and follows its result.

use super::Emitter;
use crate::event::{Body, Event, Plan};

/// Events that wait for a plan at most.
const MOST_HELD: u64 = 64;

/// A plan whose call has no result yet.
#[derive(Clone)]
pub(super) struct ProposedPlan {
    /// The provider's id of the call.
    call: String,
    place: Place,
}

#[derive(Clone)]
enum Place {
    /// In the queue, under this number.
    Queued(u64),
    /// Outside the queue, until the result.
    Aside(Box<Event>),
}

impl Emitter {
    /// Queues the plan of a call, or replaces it if the call is known better.
    pub(super) fn propose_plan(&mut self, call: &str, plan: Plan) {
        let known = self.proposed.iter_mut().find(|known| known.call == call);
        match known.map(|known| &mut known.place) {
            Some(Place::Aside(event)) => event.body = Body::Plan(plan),
            Some(Place::Queued(seq)) => {
                let seq = *seq;
                if let Some(event) = self.events.iter_mut().rfind(|event| event.seq == seq) {
                    event.body = Body::Plan(plan);
                }
            }
            None => {
                let seq = self.seq;
                self.plan(plan);
                self.proposed.push(ProposedPlan {
                    call: call.to_owned(),
                    place: Place::Queued(seq),
                });
            }
        }
    }

    /// Decides about the plan of a call: a refused one is dropped.
    pub(super) fn decide_plan(&mut self, call: &str, is_accepted: bool) {
        let index = self.proposed.iter().position(|plan| plan.call == call);
        let Some(plan) = index.map(|index| self.proposed.remove(index)) else {
            return;
        };
        match plan.place {
            Place::Aside(event) if is_accepted => self.next_event(*event),
            Place::Queued(seq) if !is_accepted => drop(self.take_out(seq)),
            _ => {}
        }
    }

    /// Accepts all plans without a result: the turn or the input ends.
    pub(crate) fn accept_plans(&mut self) {
        for plan in std::mem::take(&mut self.proposed) {
            if let Place::Aside(event) = plan.place {
                self.next_event(*event);
            }
        }
    }

    /// Returns true if events wait for the result of a plan's call.
    pub(crate) fn is_waiting_for_plan(&self) -> bool {
        self.first_queued_plan().is_some()
    }

    /// Takes undecided plans out of the queue, so that later events do not wait.
    pub(crate) fn set_plans_aside(&mut self) {
        for index in 0..self.proposed.len() {
            if let Some(Place::Queued(seq)) = self.proposed.get(index).map(|plan| &plan.place)
                && let Some(event) = self.take_out(*seq)
                && let Some(plan) = self.proposed.get_mut(index)
            {
                plan.place = Place::Aside(Box::new(event));
            }
        }
    }

    /// Lets the event that was just queued pass undecided plans, if a person waits
    /// for it or if too many events wait.
    pub(super) fn pass_plans(&mut self) {
        let Some(first) = self.first_queued_plan() else {
            return;
        };
        let last = self.events.back().map(|event| &event.body);
        let is_awaited = matches!(
            last,
            Some(
                Body::User(_)
                    | Body::Text(_)
                    | Body::Reasoning(_)
                    | Body::ToolOutput(_)
                    | Body::Permission(_)
                    | Body::Prompt(_)
            )
        );
        if is_awaited || self.seq - first > MOST_HELD {
            self.set_plans_aside();
        }
    }

    /// Returns the number of the first plan that blocks the queue.
    pub(super) fn first_queued_plan(&self) -> Option<u64> {
        self.proposed.iter().find_map(|plan| match plan.place {
            Place::Queued(seq) => Some(seq),
            Place::Aside(_) => None,
        })
    }

    /// Removes an event from the queue; later ones move up.
    fn take_out(&mut self, seq: u64) -> Option<Event> {
        let index = self.events.iter().rposition(|event| event.seq == seq)?;
        let event = self.events.remove(index)?;
        let move_up = |number: &mut u64| {
            if *number > seq {
                *number -= 1;
            }
        };
        for later in self.events.iter_mut().skip(index) {
            move_up(&mut later.seq);
        }
        self.undecided.iter_mut().for_each(move_up);
        for plan in &mut self.proposed {
            if let Place::Queued(number) = &mut plan.place {
                move_up(number);
            }
        }
        self.seq -= 1;
        Some(event)
    }
}
