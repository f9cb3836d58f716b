//! Requests of the server for permission or for input.

use crate::event::{Category, Permission, PermissionOption, Prompt};
use crate::json::{Json, Object};
use crate::source::codex::item;
use crate::tool;

/// A question without an answer.
#[derive(Clone)]
pub(super) enum Question {
    Approval {
        tool_id: String,
    },
    /// Questions to the user, with their ids.
    Input {
        prompts: Vec<(String, Prompt)>,
    },
}

pub(super) fn permission(id: &str, tool_id: &str, params: &Object<'_>) -> Permission {
    let reason = params.get("reason").string();
    let command = item::pick(params, &["command"]);
    let decisions = params.get("availableDecisions").array();
    Permission {
        id: id.to_owned(),
        tool_id: tool_id.to_owned(),
        title: match command {
            Some(command) if reason.is_empty() => tool::arg(Category::Execute, command.json()),
            _ => reason,
        },
        options: decisions.into_iter().map(option).collect(),
        outcome: String::new(),
    }
}

fn option(decision: Json<'_>) -> PermissionOption {
    let id = word(decision);
    let kind = match id.as_str() {
        "accept" => "allow_once",
        "decline" | "cancel" => "reject_once",
        id if id.starts_with("accept") => "allow_always",
        _ => "reject_always",
    };
    PermissionOption {
        name: id.clone(),
        kind: kind.to_owned(),
        id,
    }
}

/// Reads a decision: a word, or an object with one field of that name.
pub(super) fn word(decision: Json<'_>) -> String {
    match decision.str() {
        Some(word) => word.into_owned(),
        None => decision
            .object()
            .iter()
            .next()
            .map(|(word, _)| word.to_owned())
            .unwrap_or_default(),
    }
}

pub(super) fn prompts(params: &Object<'_>) -> Vec<(String, Prompt)> {
    let questions = params.get("questions").array();
    questions
        .into_iter()
        .map(|question| {
            let fields = question.object();
            let options = fields.get("options").array();
            let prompt = Prompt {
                question: fields.get("question").string(),
                options: options
                    .into_iter()
                    .map(|option| option.get("label").string())
                    .collect(),
                ..Prompt::default()
            };
            (fields.get("id").string(), prompt)
        })
        .collect()
}

/// Joins the questions with their answers: `{"ID":{"answers":["…"]}}`.
pub(super) fn answer(
    prompts: Vec<(String, Prompt)>,
    answers: Json<'_>,
) -> impl Iterator<Item = Prompt> {
    prompts.into_iter().map(move |(id, prompt)| {
        let given = answers.get(&id).get("answers").array();
        let given: Vec<String> = given.into_iter().map(Json::string).collect();
        Prompt {
            answer: given.join(", "),
            ..prompt
        }
    })
}
