//! The plan that `TaskCreate` and `TaskUpdate` change item by item.
//!
//! The result decides: it contains the item's number, or that there is no such
//! item. So the plan is emitted when a result changed or listed it.

use super::Claude;
use crate::event::{Payload, Plan, PlanEntry, RawJson, ToolStatus};
use crate::json::Json;
use crate::recent::RecentMap;
use crate::source::{Emitter, Outcome};
use crate::tool;

/// Maximum number of plan items and of calls without a result.
const REMEMBERED: usize = 512;

#[derive(Clone, Default)]
pub(super) struct Tasks {
    /// Calls without a result.
    open: RecentMap<String, Open, REMEMBERED>,
    /// The items in order, with their numbers.
    items: Vec<(String, PlanEntry)>,
}

#[derive(Clone)]
struct Open {
    tool: Tool,
    input: Option<RawJson>,
}

#[derive(Clone, Copy, PartialEq)]
enum Tool {
    Create,
    Update,
    List,
}

impl Tasks {
    /// Records a call; returns false if it is not one of the task tools.
    pub(super) fn call(&mut self, call: &str, name: &str, input: Json<'_>) -> bool {
        let tool = match name {
            "TaskCreate" => Tool::Create,
            "TaskUpdate" => Tool::Update,
            "TaskList" => Tool::List,
            _ => return false,
        };
        if !self.is_open(call) {
            let input = input.into();
            self.open.insert(call.to_owned(), Open { tool, input });
        }
        true
    }

    pub(super) fn is_open(&self, call: &str) -> bool {
        self.open.contains(call)
    }

    /// Applies a successful call; returns true if the plan is to be emitted.
    fn apply(&mut self, open: &Open, details: Json<'_>, output: &str) -> bool {
        let input = open
            .input
            .as_ref()
            .map_or(Json::NULL, RawJson::json)
            .object();
        match open.tool {
            Tool::Create => {
                let given = details.get("task").get("id").display().into_owned();
                // A sub-agent's result is only text: "Task #3 created …".
                let id = if given.is_empty() {
                    number_in(output)
                } else {
                    given
                };
                let entry = PlanEntry {
                    text: input.get("subject").string(),
                    ..PlanEntry::default()
                };
                // Results of parallel calls come in any order.
                let number = |id: &str| id.parse::<u64>().unwrap_or(u64::MAX);
                let mut items = self.items.iter();
                let place = items.position(|(known, _)| number(known) > number(&id));
                self.items
                    .insert(place.unwrap_or(self.items.len()), (id, entry));
                if self.items.len() > REMEMBERED {
                    self.items.remove(0);
                }
                true
            }
            Tool::Update => {
                let id = input.get("taskId").display();
                let Some((_, entry)) = self.items.iter_mut().find(|(known, _)| *known == id) else {
                    return false;
                };
                let before = entry.clone();
                if let Some(status) = input.get("status").str() {
                    entry.status = tool::plan_status(&status);
                }
                if let Some(subject) = input.get("subject").str() {
                    entry.text = subject.into_owned();
                }
                *entry != before
            }
            Tool::List => self.replace(details.get("tasks")),
        }
    }

    fn replace(&mut self, tasks: Json<'_>) -> bool {
        if !tasks.is_array() {
            return false;
        }
        let items = tasks.array().into_iter().map(|task| {
            let fields = task.object();
            let entry = PlanEntry {
                text: fields.get("subject").string(),
                status: tool::plan_status(&fields.get("status").string()),
                priority: String::new(),
            };
            (fields.get("id").display().into_owned(), entry)
        });
        self.items = items.take(REMEMBERED).collect();
        true
    }
}

/// Appends the item's number to the output of a failed call.
fn with_item(open: &Open, output: Payload) -> Payload {
    let input = open.input.as_ref().map_or(Json::NULL, RawJson::json);
    let item = input.object().get("taskId").display();
    if item.is_empty() || output.as_str().contains(&*item) {
        return output;
    }
    format!("{output}: #{item}").into()
}

/// Reads the number in a text such as `Task #3 created successfully`.
fn number_in(text: &str) -> String {
    let number = text.split_once('#').map_or("", |(_, rest)| rest);
    number.chars().take_while(char::is_ascii_digit).collect()
}

impl Claude {
    pub(super) fn task_result(
        &mut self,
        call: &str,
        details: Json<'_>,
        mut outcome: Outcome,
        out: &mut Emitter,
    ) {
        let Some(open) = self.tasks.open.remove(call) else {
            return;
        };
        // An update of a missing item fails without an error.
        let output = outcome.output.as_str();
        let failed = match details.get("success").bool() {
            Some(success) => !success,
            None => open.tool == Tool::Update && !output.starts_with("Updated task"),
        };
        if outcome.status == ToolStatus::Ok && failed {
            outcome.status = ToolStatus::Error;
        }
        let is_changed =
            outcome.status == ToolStatus::Ok && self.tasks.apply(&open, details, &output);
        drop(output);
        if outcome.status != ToolStatus::Ok {
            outcome.output = with_item(&open, outcome.output);
        }
        if outcome.status == ToolStatus::Ok {
            // The plan represents the call.
            out.forget_withheld(call);
        }
        out.tool_result(call, outcome);
        if is_changed {
            out.plan(Plan {
                entries: self
                    .tasks
                    .items
                    .iter()
                    .map(|(_, entry)| entry.clone())
                    .collect(),
                explanation: String::new(),
            });
        }
    }
}
