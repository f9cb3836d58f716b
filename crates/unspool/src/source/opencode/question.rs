//! Questions to the user: events of the server, and calls of the tool `question`.

use super::part::{Progress, ToolPart};
use crate::event::{Prompt, ToolStatus};
use crate::json::Json;
use crate::source::Emitter;

/// The answer of a user who closed the question.
const DISMISSED: &str = "dismissed";
/// The answer of a user who answered only the others.
const UNANSWERED: &str = "unanswered";

/// Reads a list of questions.
pub(super) fn prompts(questions: Json<'_>) -> Vec<Prompt> {
    questions.array().into_iter().map(prompt).collect()
}

/// Emits the answers to questions: a list of labels for each. Without a list the
/// user dismissed them.
pub(super) fn answer(prompts: Vec<Prompt>, answers: Json<'_>, out: &mut Emitter) {
    let is_dismissed = !answers.is_array();
    let mut answers = answers.array().into_iter().map(|labels| {
        let labels: Vec<String> = labels.array().into_iter().map(Json::string).collect();
        labels.join(", ")
    });
    for prompt in prompts {
        let answer = answers.next().filter(|answer| !answer.is_empty());
        let nothing = if is_dismissed { DISMISSED } else { UNANSWERED };
        out.prompt(Prompt {
            answer: answer.unwrap_or_else(|| nothing.to_owned()),
            ..prompt
        });
    }
}

/// Emits the questions of a call with their answers; returns false if the call
/// asks none.
pub(super) fn of_call(tool: &ToolPart<'_>, out: &mut Emitter) -> bool {
    let prompts = if tool.is_question() {
        prompts(tool.questions())
    } else {
        Vec::new()
    };
    if prompts.is_empty() {
        return false;
    }
    if tool.progress() != Progress::Finished {
        for prompt in prompts {
            out.prompt(prompt);
        }
        return true;
    }
    match tool.outcome(false, out) {
        outcome if outcome.status == ToolStatus::Ok && !tool.answers().is_array() => {
            let answer = outcome.output.to_string();
            for prompt in prompts {
                let answer = answer.clone();
                out.prompt(Prompt { answer, ..prompt });
            }
        }
        outcome if matches!(outcome.status, ToolStatus::Ok | ToolStatus::Rejected) => {
            answer(prompts, tool.answers(), out);
        }
        // The call failed before anybody answered.
        _ => return false,
    }
    true
}

fn prompt(question: Json<'_>) -> Prompt {
    let options = question.get("options").array();
    Prompt {
        question: question.get("question").string(),
        options: options
            .into_iter()
            .map(|option| option.get("label").string())
            .collect(),
        ..Prompt::default()
    }
}
