//! Calls in the model's conversation: names, inputs, and patches in shell
//! commands.

use std::borrow::Cow;

use crate::event::{Category, Edit, RawJson};
use crate::json::{Json, Object};
use crate::patch;
use crate::source::codex::{change, item};
use crate::source::{Call, Emitter};
use crate::tool;

/// An open call.
#[derive(Clone, Default)]
pub(super) struct Open {
    pub(super) name: String,
    /// Edits of a patch, if it succeeds.
    pub(super) edits: Vec<Edit>,
}

/// Emits a `function_call`, whose arguments are usually JSON in a string.
pub(super) fn function(id: &str, payload: &Object<'_>, out: &mut Emitter) -> Open {
    let arguments = payload.get("arguments");
    let decoded = arguments.str();
    let input = decoded
        .as_deref()
        .and_then(Json::parse)
        .filter(|json| json.is_object())
        .unwrap_or(arguments);
    let name = name(payload);
    if crate::source::category(&name) == Category::Execute
        && let Some(patch) = patch_in_command(input)
    {
        return apply_patch(id, &patch, input.into(), out);
    }
    let category = match name.as_str() {
        // Waits for a script in the background.
        "wait" => Category::Execute,
        _ => crate::source::category(&name),
    };
    // A message to another agent serves as the preview.
    let message = input.get("message").str();
    let arg = message.filter(|_| tool::arg(category, input).is_empty());
    out.builtin_tool_use(Call {
        id,
        name: &name,
        category: Some(category),
        arg,
        input: input.into(),
        ..Call::default()
    });
    let edits = Vec::new();
    Open { name, edits }
}

/// Emits a `custom_tool_call`, whose input is plain text.
pub(super) fn custom(id: &str, payload: &Object<'_>, out: &mut Emitter) -> Open {
    let name = name(payload);
    let input = payload.get("input");
    if name == "apply_patch" {
        return apply_patch(id, &input.string(), input.into(), out);
    }
    out.tool_use(Call {
        id,
        name: &name,
        input: input.into(),
        ..Call::default()
    });
    let edits = Vec::new();
    Open { name, edits }
}

/// Emits a call of a tool that the model's provider or Codex defines.
pub(super) fn built_in(id: &str, name: &str, input: Option<RawJson>, out: &mut Emitter) -> Open {
    let prompt = input
        .as_ref()
        .map(|input| input.json().get("revised_prompt"));
    let arg = prompt.and_then(|prompt| prompt.str().map(|text| text.into_owned().into()));
    out.tool_use(Call {
        id,
        name,
        arg,
        input,
        ..Call::default()
    });
    Open {
        name: name.to_owned(),
        edits: Vec::new(),
    }
}

fn apply_patch(id: &str, patch: &str, input: Option<RawJson>, out: &mut Emitter) -> Open {
    let name = "apply_patch".to_owned();
    let edits = patch::begin_patch(patch);
    let first = edits.first().map(|edit| edit.path.clone());
    out.tool_use(Call {
        id,
        name: &name,
        category: Some(change::category(&edits)),
        arg: first.map(Cow::Owned),
        input,
        ..Call::default()
    });
    Open { name, edits }
}

/// Returns the tool's name. MCP tools are `server.tool`; the wire has a namespace
/// `mcp__SERVER`, or `mcp__SERVER__TOOL` or `SERVER__TOOL`.
fn name(payload: &Object<'_>) -> String {
    let name = payload.get("name").string();
    let namespace = payload.get("namespace").string();
    if let Some(server) = namespace.strip_prefix("mcp__") {
        return item::mcp_name(server, &name);
    }
    match name.strip_prefix("mcp__").unwrap_or(&name).split_once("__") {
        Some((server, tool)) => item::mcp_name(server, tool),
        None => name,
    }
}

/// Returns the patch in a command that calls `apply_patch`, which Codex applies
/// itself.
fn patch_in_command(input: Json<'_>) -> Option<String> {
    let fields = input.object();
    let command = ["command", "cmd"]
        .iter()
        .map(|key| fields.get(key))
        .find(|value| !value.is_null())?;
    let words: Vec<String> = match command.str() {
        Some(line) => vec![line.into_owned()],
        None => command.array().into_iter().map(Json::string).collect(),
    };
    let calls = words
        .iter()
        .any(|word| word.contains("apply_patch") || word.contains("applypatch"));
    let text = words.into_iter().find(|word| word.contains(BEGIN))?;
    let (_, body) = text.split_once(BEGIN).filter(|_| calls)?;
    let body = body.split_once("\n*** End Patch").map_or(body, |(b, _)| b);
    Some(format!("{BEGIN}{body}\n*** End Patch\n"))
}

const BEGIN: &str = "*** Begin Patch";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EditOp;

    #[test]
    fn patches_are_found_in_commands() {
        let find = |input| patch_in_command(Json::parse(input).unwrap());
        let direct = r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"]}"#;
        let here = r#"{"cmd":"cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n"}"#;
        for input in [direct, here] {
            let edits = patch::begin_patch(&find(input).unwrap());
            assert_eq!((edits.len(), edits[0].op), (1, EditOp::Add));
            assert_eq!(edits[0].hunks[0].lines, ["+x"]);
        }
        assert_eq!(find(r#"{"cmd":"echo apply_patch"}"#), None);
        assert_eq!(find(r#"{"cmd":"cat '*** Begin Patch'"}"#), None);
    }

    #[test]
    fn mcp_tools_have_the_name_of_their_server() {
        let name = |payload| name(&Json::parse(payload).unwrap().object());
        assert_eq!(
            name(r#"{"namespace":"mcp__tiny","name":"add"}"#),
            "tiny.add"
        );
        assert_eq!(name(r#"{"name":"mcp__tiny__add_it"}"#), "tiny.add_it");
        assert_eq!(name(r#"{"name":"tiny__add"}"#), "tiny.add");
        assert_eq!(
            name(r#"{"namespace":"multi_agent_v1","name":"spawn_agent"}"#),
            "spawn_agent"
        );
    }
}
