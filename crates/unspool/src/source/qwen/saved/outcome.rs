//! Results of calls in a saved session: status, output and exit code, from the
//! text for the model and the text on display.

use crate::event::{ToolStatus, Usage};
use crate::json::{Json, Object};
use crate::source::usage::Names;
use crate::source::{Outcome, gemini_shared};

/// Reads the result of a call.
pub(super) fn outcome(details: &Object<'_>, response: &Object<'_>, is_command: bool) -> Outcome {
    let (output, error) = (response.get("output"), response.get("error"));
    let text_field = if error.is_null() { output } else { error };
    let text = text_field.str().unwrap_or_default();
    let failed = match details.get("status").str().as_deref() {
        Some("success") => false,
        Some(_) => true,
        None => !error.is_null(),
    };
    let mut outcome = Outcome {
        output: text_field.payload(),
        ..Outcome::default()
    };
    if is_command {
        command(details.get("resultDisplay"), &text, &mut outcome);
    }
    outcome.status = match details.get("errorType").str().as_deref() {
        Some("execution_denied") => ToolStatus::Rejected,
        _ if outcome.status != ToolStatus::Ok => outcome.status,
        _ if failed => gemini_shared::failure(&text),
        _ => ToolStatus::Ok,
    };
    if outcome.status == ToolStatus::Ok {
        let failure = gemini_shared::sub_agent_failure(details.get("resultDisplay"));
        outcome.status = failure.unwrap_or_default();
    }
    let canceled = details.get("status").str().as_deref() == Some("cancelled");
    if canceled && outcome.status == ToolStatus::Error {
        outcome.status = ToolStatus::Canceled;
    }
    outcome
}

/// Reads the result of a command from its display, else from the text for the
/// model.
fn command(display: Json<'_>, text: &str, outcome: &mut Outcome) {
    let display = gemini_shared::shell_display(&display.object(), text);
    if let Some(shell) = display.or_else(|| gemini_shared::shell_text(text)) {
        outcome.output = shell.output.into();
        outcome.exit_code = shell.exit_code;
        outcome.status = shell.status;
    }
}

/// Reads the tokens of an answer. Some APIs count the reasoning in it, others
/// in the total alone.
pub(super) fn usage(tokens: &Object<'_>) -> Usage {
    const NAMES: Names = Names {
        input: &["promptTokenCount"],
        output: &["candidatesTokenCount"],
        cached: &["cachedContentTokenCount"],
        reasoning: &["thoughtsTokenCount"],
    };
    let usage = NAMES.read(tokens);
    let total = tokens.get("totalTokenCount").u64();
    let apart = total
        .zip(usage.input_tokens)
        .map_or(0, |(total, input)| total.saturating_sub(input));
    Usage {
        output_tokens: usage.output_tokens.map(|answer| answer.max(apart)),
        ..usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_output_hides_the_text_for_the_model() {
        let result = |text: &str| {
            let details = format!(
                r#"{{"status":"error","resultDisplay":{{"type":"shell_result","exitCode":1,"output":"","text":"{text}"}}}}"#
            );
            let details = Json::parse(&details).unwrap().object();
            let outcome = outcome(&details, &Object::default(), true);
            (outcome.output.to_string(), outcome.exit_code)
        };
        let for_model =
            r"Command: x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 1";
        assert_eq!(result(for_model), (String::new(), Some(1)));
        assert_eq!(result("It broke"), ("It broke".to_owned(), Some(1)));
    }
}
