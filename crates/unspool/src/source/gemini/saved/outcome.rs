//! Results of calls in a saved session: status, output, exit code and edits, from
//! the text for the model and the text on display.

use crate::event::{Category, Payload, ToolStatus, Usage};
use crate::json::{Json, Object};
use crate::source::usage::{Names, add};
use crate::source::{Outcome, gemini_shared};

/// The texts of a tool, for the model and for the display.
pub(super) struct ToolText<'a> {
    output: Json<'a>,
    pub(super) error: Json<'a>,
    display: Json<'a>,
}

impl<'a> ToolText<'a> {
    pub(super) fn new(response: Json<'a>, display: Json<'a>) -> Self {
        let response = response.object();
        Self {
            output: response.get("output"),
            error: response.get("error"),
            display,
        }
    }

    pub(super) fn outcome(&self, name: &str, failed: bool) -> Outcome {
        if failed {
            let output = [self.error, self.display, self.output]
                .into_iter()
                .find(|text| text.is_string())
                .map_or_else(Payload::default, Json::payload);
            return Outcome {
                status: gemini_shared::failure(&output.as_str()),
                output,
                ..Outcome::default()
            };
        }
        if crate::source::category(name) == Category::Execute {
            return self.command();
        }
        let output = if self.output.is_null() && self.display.is_string() {
            self.display
        } else {
            self.output
        };
        Outcome {
            output: output.payload(),
            edits: gemini_shared::display_edits(self.display),
            ..Outcome::default()
        }
    }

    /// Reads the result of a command from its display. Output of a terminal has padded
    /// cells; then the text for the model is better.
    fn command(&self) -> Outcome {
        let text = self.output.str().unwrap_or_default();
        let shell = gemini_shared::shell_text(&text);
        let display = self.display.str();
        let stopped = display
            .as_deref()
            .and_then(gemini_shared::displayed_failure);
        let ended = shell.as_ref().map_or(ToolStatus::Ok, |shell| shell.status);
        let exit_code = shell.as_ref().and_then(|shell| shell.exit_code);
        // Only the text for the model says that a signal or a time limit stopped it.
        let is_killed = ended != ToolStatus::Ok && exit_code.is_none();
        let output = match (display, shell) {
            (Some(_), _) if stopped.is_some() || !is_killed => self.display.payload(),
            (_, Some(shell)) => shell.output.into(),
            (Some(_), None) => self.display.payload(),
            (None, None) => self.output.payload(),
        };
        Outcome {
            status: stopped.unwrap_or(ended),
            output,
            exit_code,
            ..Outcome::default()
        }
    }
}

/// Reads the result of a call in a saved message.
pub(super) fn outcome(call: &Object<'_>, name: &str, status: &str) -> Outcome {
    let display = call.get("resultDisplay");
    let response = gemini_shared::parts(call.get("result"))
        .into_iter()
        .map(|part| part.get("functionResponse").get("response"))
        .find(|response| response.is_object())
        .unwrap_or(Json::NULL);
    let mut outcome = ToolText::new(response, display).outcome(name, status != "success");
    if status == "cancelled" && outcome.status == ToolStatus::Error {
        outcome.status = ToolStatus::Canceled;
    }
    if outcome.status == ToolStatus::Ok {
        outcome.status = gemini_shared::sub_agent_failure(display).unwrap_or_default();
    }
    if outcome.status == ToolStatus::Ok && outcome.edits.is_empty() {
        outcome.edits = gemini_shared::input_edits(name, &call.get("args").object());
    }
    outcome
}

/// Reads the tokens of a message, whose thoughts are counted apart.
pub(super) fn usage(tokens: &Object<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["input"],
        output: &["output"],
        cached: &["cached"],
        reasoning: &["thoughts"],
    };
    let mut usage = NAMES.read(tokens);
    if usage.output_tokens.is_some() {
        add(&mut usage.output_tokens, usage.reasoning_tokens);
    }
    usage
}
