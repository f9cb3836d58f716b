//! Which call gave which work to a sub-agent: sub-agents are called by what they
//! do.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Agent, Category, ToolUse};
use crate::tool;

/// Calls of which it is remembered what work they gave to a sub-agent.
const MOST: usize = 256;

/// The work that was given, the latest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Errands(VecDeque<Errand>);

/// Work that a call gave to a sub-agent.
#[derive(Clone, Debug)]
struct Errand {
    call: String,
    work: String,
    /// The agent that does it, under the name of its work.
    agent: Option<Arc<Agent>>,
}

impl Errands {
    /// The agent under the name of what it does, where its call tells that:
    /// its kind alone does not tell it from others that work beside it.
    pub(super) fn by_its_work(&mut self, agent: Arc<Agent>) -> Arc<Agent> {
        let its = |errand: &&mut Errand| !agent.parent.is_empty() && errand.call == agent.parent;
        let Some(errand) = self.0.iter_mut().rev().find(its) else {
            return agent;
        };
        match &errand.agent {
            Some(named) if named.id == agent.id && named.depth == agent.depth => Arc::clone(named),
            _ => {
                let named = Arc::new(Agent {
                    name: errand.work.clone(),
                    ..agent.as_ref().clone()
                });
                errand.agent = Some(Arc::clone(&named));
                named
            }
        }
    }

    /// Remembers the work that a call gives to a sub-agent.
    pub(super) fn remember(&mut self, call: &ToolUse) {
        if call.category != Category::Task || call.arg.is_empty() {
            return;
        }
        let input = call.input.as_ref().map(|input| input.json().object());
        let work = input.and_then(|input| tool::errand(&input));
        self.0.retain(|errand| errand.call != call.id);
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(Errand {
            call: call.id.clone(),
            work: work.unwrap_or_else(|| call.arg.clone()),
            agent: None,
        });
    }
}
