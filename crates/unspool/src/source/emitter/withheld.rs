//! Calls that are better told in another way, as plans are, but of which that
//! is certain only when their result is here. Until then they are kept back; one
//! that nothing else told of is shown like any other call, so that none is lost.

use std::sync::Arc;

use super::{Call, Emitter, Phase};
use crate::event::{Agent, RawJson, ToolUse};
use crate::json::Json;
use crate::tool;

/// A call that is kept back.
#[derive(Clone)]
pub(super) struct Withheld {
    /// The provider's id for it.
    pub(super) call: String,
    pub(super) event: ToolUse,
    agent: Option<Arc<Agent>>,
}

impl Emitter {
    /// A call of one of the agent's own tools. One of its plan tool that holds
    /// no list has failed, as a rule, and is told by that alone.
    pub fn own_tool_use(&mut self, call: Call<'_>) {
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        if tool::is_plan_tool(call.name) && tool::plan(call.name, json).is_none() {
            self.withhold(call);
        } else {
            self.tool_use(call);
        }
    }

    /// Keeps a call back until its result is here. One that failed is a warning;
    /// one that did not is shown then, unless
    /// [`Emitter::forget_withheld`] says that something else tells it. Without a result it is shown at the end of
    /// the turn.
    pub fn withhold(&mut self, call: Call<'_>) {
        if call.id.is_empty() {
            self.tool_use(call);
            return;
        }
        let id = call.id.to_owned();
        if let Some(event) = self.admit(call, Phase::Plan) {
            self.forget_withheld(&id);
            self.withheld.push(Withheld {
                call: id,
                event,
                agent: self.agent.clone(),
            });
        }
    }

    /// Something else tells what a call did that was kept back.
    pub fn forget_withheld(&mut self, call: &str) {
        self.withheld.retain(|withheld| withheld.call != call);
    }

    pub(super) fn take_withheld(&mut self, call: &str) -> Option<Withheld> {
        let mut withheld = self.withheld.iter();
        let index = withheld.position(|withheld| withheld.call == call)?;
        Some(self.withheld.remove(index))
    }

    /// The turn ends: no result will come.
    pub(super) fn release_withheld(&mut self) {
        let outer = self.agent.clone();
        for withheld in std::mem::take(&mut self.withheld) {
            if let Some(known) = self.calls.get_mut(&withheld.call) {
                known.phase = Phase::Open;
            }
            self.agent = withheld.agent;
            self.show_call(withheld.event);
        }
        self.agent = outer;
    }
}
