//! Calls that another event may represent, such as a plan. They are held back
//! until their result decides it; a call without such an event is emitted like
//! any other, so that none is lost.

use std::sync::Arc;

use super::calls::Phase;
use super::{Call, Emitter};
use crate::event::{Agent, RawJson, ToolUse};
use crate::json::Json;
use crate::tool;

/// A call that is held back.
#[derive(Clone)]
pub(super) struct Withheld {
    /// The provider's id for it.
    pub(super) call: String,
    pub(super) event: ToolUse,
    agent: Option<Arc<Agent>>,
}

impl Emitter {
    /// Emits a call of one of the agent's built-in tools. A plan call without a
    /// list usually fails, and is then a warning only.
    pub fn builtin_tool_use(&mut self, call: Call<'_>) {
        let json = call.input.as_ref().map_or(Json::NULL, RawJson::json);
        if tool::is_plan_tool(call.name) && tool::plan(call.name, json).is_none() {
            self.withhold(call);
        } else {
            self.tool_use(call);
        }
    }

    /// Holds a call back until its result. A failed call becomes a warning. Any
    /// other is emitted then, unless [`Emitter::forget_withheld`] dropped it; one
    /// without a result is emitted at the end of the turn.
    pub fn withhold(&mut self, call: Call<'_>) {
        if call.id.is_empty() {
            self.tool_use(call);
            return;
        }
        let id = call.id.to_owned();
        if let Some(event) = self.admit(call, Phase::Plan) {
            self.end_message();
            self.forget_withheld(&id);
            self.withheld.push(Withheld {
                call: id,
                event,
                agent: self.agent.clone(),
            });
        }
    }

    /// Drops a call that was held back: another event represents it.
    pub fn forget_withheld(&mut self, call: &str) {
        self.withheld.retain(|withheld| withheld.call != call);
    }

    pub(super) fn take_withheld(&mut self, call: &str) -> Option<Withheld> {
        let mut withheld = self.withheld.iter();
        let index = withheld.position(|withheld| withheld.call == call)?;
        Some(self.withheld.remove(index))
    }

    /// Emits the calls that are held back: the turn ends without their results.
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
