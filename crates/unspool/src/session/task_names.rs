//! Names sub-agents after the task that started them.

use std::sync::Arc;

use crate::event::{Agent, Category, ToolUse};
use crate::recent::RecentMap;
use crate::tool;

/// Maximum number of remembered tasks.
const MOST: usize = 256;

/// The tasks given to sub-agents, by the call.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskNames(RecentMap<String, Task, MOST>);

/// A task that a call gave to a sub-agent.
#[derive(Clone, Debug)]
struct Task {
    name: String,
    /// The agent, named after the task.
    agent: Option<Arc<Agent>>,
}

impl TaskNames {
    /// Renames the agent after its task, if the call states one: its kind does
    /// not distinguish it from others that run at the same time.
    pub(super) fn named_after_task(&mut self, agent: Arc<Agent>) -> Arc<Agent> {
        if agent.parent.is_empty() {
            return agent;
        }
        let Some(task) = self.0.get_mut(&agent.parent) else {
            return agent;
        };
        match &task.agent {
            Some(named) if named.id == agent.id && named.depth == agent.depth => Arc::clone(named),
            _ => {
                let named = Arc::new(Agent {
                    name: task.name.clone(),
                    ..agent.as_ref().clone()
                });
                task.agent = Some(Arc::clone(&named));
                named
            }
        }
    }

    /// Records the task that a call gives to a sub-agent.
    pub(super) fn record(&mut self, call: &ToolUse) {
        if call.category != Category::Task || call.arg.is_empty() {
            return;
        }
        let input = call.input.as_ref().map(|input| input.json().object());
        let name = input.and_then(|input| tool::task_description(&input));
        let task = Task {
            name: name.unwrap_or_else(|| call.arg.clone()),
            agent: None,
        };
        self.0.insert(call.id.clone(), task);
    }
}
