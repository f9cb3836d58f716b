//! Scripts of "code mode": the model writes JavaScript that calls tools, and
//! waits for scripts that go on in the background.
//!
//! What a script's tools did has items of its own, which nothing but their order
//! links to the script. So a script is shown only if it failed, or if nothing
//! else tells what it did; otherwise it is kept as state.

use super::output::Output;
use crate::event::{Category, RawJson, ToolStatus};
use crate::json::Json;
use crate::source::{Call, Emitter, Outcome};

/// The name of the tool that runs scripts.
pub(super) const NAME: &str = "exec";

/// The scripts that are not over, oldest first.
#[derive(Clone, Default)]
pub(super) struct Scripts {
    open: Vec<Script>,
}

#[derive(Clone)]
struct Script {
    id: String,
    input: Option<RawJson>,
    /// Its name while it goes on in the background.
    cell: Option<String>,
    /// The call that waits for it.
    wait: String,
    /// What it has printed.
    text: String,
    /// Whether an item told what it did.
    told: bool,
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
            told: false,
        });
    }

    /// An item told what a script did.
    pub(super) fn told(&mut self) {
        for script in &mut self.open {
            script.told = true;
        }
    }

    /// A call waits for a script: it is the script that is shown.
    pub(super) fn wait(&mut self, id: &str, cell: &str) -> bool {
        let waited_for = |script: &&mut Script| script.cell.as_deref() == Some(cell);
        let Some(script) = self.open.iter_mut().find(waited_for) else {
            return false;
        };
        id.clone_into(&mut script.wait);
        true
    }

    /// Whether this call is a script that runs, or waits for one.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.iter().any(|script| script.is(id))
    }

    /// What a script, or a call that waits for it, gave back.
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
        if script.told && status == ToolStatus::Ok {
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
                ..Outcome::default()
            },
        );
    }

    /// The turn is over: scripts that nothing else told of are shown.
    pub(super) fn release(&mut self, out: &mut Emitter) {
        for script in self.open.drain(..).filter(|script| !script.told) {
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

/// The first line of a script that is no remark.
fn first_statement(code: &str) -> &str {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    code.lines().map(str::trim).find(is_code).unwrap_or(code)
}
