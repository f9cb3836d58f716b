//! File changes.

use serde_json::json;

use crate::events::{Call, OWN, shows, shows_call, shows_line};

/// Checks an edit outside tool calls.
#[track_caller]
fn shows_edit(edit: &str, width: usize, expected: &str) {
    let line = format!(r#"{{"kind":"edit","seq":0,"edits":[{edit}]}}"#).replace('\n', "");
    shows(OWN, &line, width, &[expected]);
}

const EDIT: &str = r#"{"op":"update","path":"some/file.go","hunks":[
{"old_start":18,"new_start":18,"lines":[" \t\"axi/codeai/llmstream\"","+\t\"axi/codeai/prompt\""," \t\"axi/codeai/tools/coretools\""]},
{"old_start":22,"new_start":23,"lines":[" ","+const agentName = \"CodAgent\"","+"," func main() {"]},
{"old_start":44,"new_start":47,"lines":[" ","-\tsystemPrompt, err := loadSystemPrompt(sandboxDir)","-\tif err != nil {","-\t\treturn err","-\t}","+\tmodelID := llmstream.ModelID(\"gpt-5\")","+\tsystemPrompt := prompt.GetFullPrompt(agentName, modelID)"," ","-\tagentInstance, err := agent.NewAgent(llmstream.ModelID(\"gpt-5\"), systemPrompt, buildTools(sandboxDir))","+\tagentInstance, err := agent.NewAgent(modelID, systemPrompt, buildTools(sandboxDir))"," \tif err != nil {"]},
{"old_start":116,"new_start":117,"lines":[" \treturn filepath.Clean(cwd), nil","-}","-","-func loadSystemPrompt(repoRoot string) (string, error) {","-\tpath := filepath.Join(repoRoot, \"codeai\", \"agent-prototype\", \"generic-prompt.md\")","-\tdata, err := os.ReadFile(path)","-\tif err != nil {","-\t\treturn \"\", err","-\t}","-\treturn string(data), nil"," }"]}]}"#;

#[test]
fn patches_have_line_numbers() {
    shows_edit(
        EDIT,
        0,
        r#"«g •» «c* Edit» some/file.go
     «a 18»      "axi/codeai/llmstream"
     «a 19» «g +    "axi/codeai/prompt"»
     «a 20»      "axi/codeai/tools/coretools"
        «a ⋮»
     «a 23»
     «a 24» «g +const agentName = "CodAgent"»
     «a 25» «g +»
     «a 26»  func main() {
        «a ⋮»
     «a 47»
     «a 45» «r -    systemPrompt, err := loadSystemPrompt(sandboxDir)»
     «a 46» «r -    if err != nil {»
     «a 47» «r -        return err»
     «a 48» «r -    }»
     «a 48» «g +    modelID := llmstream.ModelID("gpt-5")»
     «a 49» «g +    systemPrompt := prompt.GetFullPrompt(agentName, modelID)»
     «a 50»
     «a 50» «r -    agentInstance, err := agent.NewAgent(llmstream.ModelID("gpt-5"), systemPrompt, buildTools(sandboxDir))»
     «a 51» «g +    agentInstance, err := agent.NewAgent(modelID, systemPrompt, buildTools(sandboxDir))»
     «a 52»      if err != nil {
        «a ⋮»
    «a 117»      return filepath.Clean(cwd), nil
    «a 117» «r -}»
    «a 118» «r -»
    «a 119» «r -func loadSystemPrompt(repoRoot string) (string, error) {»
    «a 120» «r -    path := filepath.Join(repoRoot, "codeai", "agent-prototype", "generic-prompt.md")»
    «a 121» «r -    data, err := os.ReadFile(path)»
    «a 122» «r -    if err != nil {»
    «a 123» «r -        return "", err»
    «a 124» «r -    }»
    «a 125» «r -    return string(data), nil»
    «a 118»  }"#,
    );
}

#[test]
fn deletions_and_renames() {
    shows_edit(
        r#"{"op":"delete","path":"some/file.go"}"#,
        80,
        "«g •» «c* Delete» some/file.go",
    );
    shows_edit(
        r#"{"op":"move","path":"some/file.go","new_path":"some/other.go"}"#,
        80,
        "«g •» «c* Rename» some/file.go «a →» some/other.go",
    );
}

#[test]
fn a_rename_with_changes_is_an_edit() {
    shows_edit(
        r#"{"op":"move","path":"some/file.go","new_path":"some/other.go","hunks":[{"old_start":18,"new_start":18,"lines":[" \t\"axi/codeai/llmstream\"","+\t\"axi/codeai/prompt\""," \t\"axi/codeai/tools/coretools\""]}]}"#,
        80,
        r#"«g •» «c* Edit» some/file.go «a →» some/other.go
     «a 18»      "axi/codeai/llmstream"
     «a 19» «g +    "axi/codeai/prompt"»
     «a 20»      "axi/codeai/tools/coretools""#,
    );
}

const LONG: &str = r#"{"op":"update","path":"some/file.go","hunks":[{"old_start":24,"new_start":24,"lines":["+const description = \"This line is very long. It will wrap eventually.\"","+"," func main() {"]}]}"#;

#[test]
fn long_lines_continue_under_the_text() {
    shows_edit(
        LONG,
        74,
        r#"«g •» «c* Edit» some/file.go
     «a 24» «g +const description = "This line is very long. It will wrap eventua»
         «g lly."»
     «a 25» «g +»
     «a 26»  func main() {"#,
    );
}

#[test]
fn long_lines_stay_whole_without_a_width() {
    for width in [0, 30] {
        shows_edit(
            LONG,
            width,
            r#"«g •» «c* Edit» some/file.go
     «a 24» «g +const description = "This line is very long. It will wrap eventually."»
     «a 25» «g +»
     «a 26»  func main() {"#,
        );
    }
}

const PATCH: &str = "\
*** Begin Patch
*** Update File: a.go
@@ func f() {
 \tx
-\ty
+\tz
@@ func g() {
+w
*** Delete File: b.go
*** Update File: c.go
*** Move to: d.go
*** Add File: e.go
+package e
*** End Patch";

/// The expected patch without anchors; only the new file has line numbers.
fn patched(bullet: char) -> String {
    format!(
        "\
«{bullet} •» «c* Edit» a.go
             x
        «r -    y»
        «g +    z»
        «a ⋮»
        «g +w»
«{bullet} •» «c* Delete» b.go
«{bullet} •» «c* Rename» c.go «a →» d.go
«{bullet} •» «c* Add» e.go
      «a 1» «g +package e»"
    )
}

#[test]
fn apply_patch_shows_the_patch_while_it_runs_and_afterwards() {
    let input = json!({ "patch": PATCH });
    for call in [
        Call::with_text("apply_patch", PATCH),
        Call::new("apply_patch", &input),
    ] {
        let (running, done) = (patched('a'), patched('g'));
        shows_call(&call.succeeded("ok"), [&running, &done]);
    }
}

#[test]
fn a_patch_that_failed_shows_its_changes_and_the_reason() {
    let call = Call::with_text("apply_patch", PATCH);
    shows_call(
        &call.failed("no such line: x"),
        [
            &patched('a'),
            &format!("{}\n  «a └» «r Error: no such line: x»", patched('r')),
        ],
    );
}

#[test]
fn an_invalid_patch_has_only_a_heading() {
    let call = Call::with_text("apply_patch", "nonsense");
    shows_line(&call.announced(), "«a •» «c* Edit» nonsense");
}
