//! Scripts of "code mode": the model writes JavaScript that calls tools, and
//! waits for scripts that continue in the background.
//!
//! The calls of a script have items of their own, which only their order links to
//! the script. So a script is emitted as a call only if it failed or no item
//! covers it; otherwise as state.

use super::output::Output;
use crate::event::{Category, RawJson, ToolStatus};
use crate::json::Json;
use crate::source::{Call, Emitter, Outcome};

/// The name of the tool that runs scripts.
pub(super) const NAME: &str = "exec";

/// Open scripts, oldest first.
#[derive(Clone, Default)]
pub(super) struct Scripts {
    open: Vec<Script>,
}

#[derive(Clone)]
struct Script {
    id: String,
    input: Option<RawJson>,
    /// Its name while it runs in the background.
    cell: Option<String>,
    /// The call that waits for it.
    wait: String,
    /// Its output so far.
    text: String,
    /// An item shows what it did.
    covered: bool,
}

impl Scripts {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn begin(&mut self, id: &str, input: Json<'_>, out: &mut Emitter) {
        out.state("script", input);
        self.open.push(Script {
            id: id.to_owned(),
            input: input.into(),
            cell: None,
            wait: String::new(),
            text: String::new(),
            covered: false,
        });
    }

    /// Marks the open scripts as covered by an item.
    pub(super) fn mark_covered(&mut self) {
        for script in &mut self.open {
            script.covered = true;
        }
    }

    /// Records a call that waits for a script; returns false if there is no such
    /// script.
    pub(super) fn wait(&mut self, id: &str, cell: &str) -> bool {
        let waited_for = |script: &&mut Script| script.cell.as_deref() == Some(cell);
        let Some(script) = self.open.iter_mut().find(waited_for) else {
            return false;
        };
        id.clone_into(&mut script.wait);
        true
    }

    /// Returns true if the call is an open script or waits for one.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.iter().any(|script| script.is(id))
    }

    /// Reads the output of a script or of a call that waits for it.
    pub(super) fn output(&mut self, id: &str, output: Output, out: &mut Emitter) {
        let Some(index) = self.open.iter().position(|script| script.is(id)) else {
            return;
        };
        if let Some(script) = self.open.get_mut(index).filter(|_| output.cell.is_some()) {
            script.text.push_str(&output.text);
            script.cell = output.cell;
            return;
        }
        let script = self.open.remove(index);
        let status = output.status(NAME);
        if script.covered && status == ToolStatus::Ok {
            out.hide_call(&script.id, NAME);
            return;
        }
        script.show(out);
        let text = script.text + &output.text;
        let reason = text.split_once("Script error:\n").map(|(_, reason)| reason);
        out.tool_result(
            &script.id,
            Outcome {
                status,
                output: reason.unwrap_or(&text).into(),
                duration_ms: output.duration_ms,
                media: output.media,
                ..Outcome::default()
            },
        );
    }

    /// Emits scripts that no item covers, at the end of the turn.
    pub(super) fn release(&mut self, out: &mut Emitter) {
        for script in self.open.drain(..).filter(|script| !script.covered) {
            script.show(out);
        }
    }
}

impl Script {
    fn is(&self, id: &str) -> bool {
        self.id == id || (!id.is_empty() && self.wait == id)
    }

    fn show(&self, out: &mut Emitter) {
        let code = self.input.as_ref().map(|input| input.json().string());
        let code = code.as_deref().unwrap_or_default();
        out.tool_use(Call {
            id: &self.id,
            name: NAME,
            category: Some(Category::Execute),
            arg: Some(first_statement(code).into()),
            input: self.input.clone(),
            ..Call::default()
        });
    }
}

/// Returns the first line of a script that is not a comment.
fn first_statement(code: &str) -> &str {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    code.lines().map(str::trim).find(is_code).unwrap_or(code)
}
