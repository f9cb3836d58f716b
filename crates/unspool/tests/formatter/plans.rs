//! Plans: the explanation and the highlighted step.

use serde_json::{Value, json};

use crate::events::{CODALOTL, Call, shows, shows_line};

fn plan(explanation: &str, steps: &[(&str, &str)]) -> Call {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(step, status)| json!({"step": step, "status": status}))
        .collect();
    let input = json!({"explanation": explanation, "plan": steps});
    Call::new("update_plan", &input)
}

#[test]
fn a_plan_shows_its_explanation_and_steps() {
    let call = plan(
        "Need to align CodeUnit authorizer with updated SPEC behavior for read-only restrictions and adjust tests accordingly.",
        &[
            (
                "Inspect SPEC changes and current CodeUnit authorizer implementation",
                "completed",
            ),
            (
                "Update codeunit authorizer logic to apply read restrictions only to read_file tool and keep write restrictions for all tools",
                "in_progress",
            ),
            (
                "Revise tests to cover new behavior and run go test for package",
                "pending",
            ),
        ],
    );
    shows(
        CODALOTL,
        &call.succeeded("Plan updated"),
        0,
        &["\
«g •» «c* Update Plan»
  «a └ Need to align CodeUnit authorizer with updated SPEC behavior for read-only restrictions and adjust tests accordingly.»
    «a ✔ Inspect SPEC changes and current CodeUnit authorizer implementation»
    «c* □ Update codeunit authorizer logic to apply read restrictions only to read_file tool and keep write restrictions for all tools»
    «a □ Revise tests to cover new behavior and run go test for package»"],
    );
}

#[test]
fn a_plan_without_an_explanation_starts_with_its_steps() {
    for message in ["", " \n"] {
        let call = plan(message, &[("a", "completed"), ("b", "pending")]);
        shows_line(
            &call.announced(),
            "«g •» «c* Update Plan»\n  «a └ ✔ a»\n    «c* □ b»",
        );
    }
    let call = plan("", &[("a", "pending"), ("b", "pending")]);
    shows_line(
        &call.announced(),
        "«g •» «c* Update Plan»\n  «a └» «c* □ a»\n    «a □ b»",
    );
}

#[test]
fn only_the_first_open_step_is_highlighted() {
    let steps = [
        ("a", "completed"),
        ("b", "pending"),
        ("c", "in_progress"),
        ("d", "completed"),
    ];
    shows_line(
        &plan("Why.", &steps).announced(),
        "\
«g •» «c* Update Plan»
  «a └ Why.»
    «a ✔ a»
    «c* □ b»
    «a □ c»
    «a ✔ d»",
    );
    shows_line(
        &plan("Why.", &[("a", "completed"), ("b", "completed")]).announced(),
        "«g •» «c* Update Plan»\n  «a └ Why.»\n    «a ✔ a»\n    «a ✔ b»",
    );
}

#[test]
fn a_rejected_plan_is_a_warning() {
    shows(
        CODALOTL,
        &plan("Why.", &[("a", "pending")]).failed("bad plan"),
        80,
        &["«r •» «r* Warning»«r : bad plan»"],
    );
}
